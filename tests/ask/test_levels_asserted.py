"""What is said to have fallen or risen after a step: all at once at that step, or little by little from there."""

from __future__ import annotations

import pytest

from tests.analysis.support import run_of

from .support import answerer

#: A score that drops at step 31 and recovers a little; a time that jumps there; a length that does neither.
RUN = run_of(
    {
        step: {
            "critic/score/mean": (0.80 if step <= 30 else 0.40 + 0.002 * (step - 30)) + 0.01 * (step % 3),
            "timing_s/update_actor": (20.0 if step <= 30 else 70.0) + step % 4,
            "response_length/mean": 900.0 + 40.0 * (step * 7 % 11),
        }
        for step in range(1, 61)
    }
)  # fmt: skip


def first(question: str) -> str:
    return answerer().ask(question, (RUN,))[0].answer.split("\n")[0]


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("critic/score/mean 为什么在 step 30 之后掉了", "**对"),
        ("why did critic/score/mean fall after step 31", "**Yes"),
        ("critic/score/mean 在 step 31 之后掉了吧", "**对"),
        ("critic/score/mean fell after step 30, right?", "**Yes"),
        ("timing_s/update_actor 在 step 30 之后变长了对吧", "**对"),
        ("timing_s/update_actor got longer after step 30, right?", "**Yes"),
    ],
)
def test_drop_at_a_step_is_a_fall_after_it(question: str, begins: str) -> None:
    assert first(question).startswith(begins)


@pytest.mark.parametrize(
    "question",
    ["why did critic/score/mean fall after step 29", "critic/score/mean 在 step 29 之后掉了吧"],
)
def test_drop_within_the_part_is_not_denied(question: str) -> None:
    assert not first(question).startswith(("**不", "**没", "**日志没", "**No", "**The log does not"))


@pytest.mark.parametrize(
    "question",
    [
        "critic/score/mean 为什么在 step 30 之后一路下降",
        "why did critic/score/mean keep falling after step 30",
        "critic/score/mean 为什么在 step 30 之后涨了",
    ],
)
def test_level_is_no_steady_fall_and_no_rise(question: str) -> None:
    assert not first(question).startswith(("**对", "**Yes"))


@pytest.mark.parametrize(
    "question",
    [
        "response_length/mean 变短导致 timing_s/update_actor 变短的吧",
        "timing_s/update_actor fell because response_length/mean fell, right?",
    ],
)
def test_ends_that_differ_by_less_than_neighbours_are_no_move(question: str) -> None:
    assert first(question).startswith(("**不对", "**No"))
    assert "980" in first(question)
