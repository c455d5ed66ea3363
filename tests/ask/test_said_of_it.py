"""Moves that are denied, statistics that no validation has, rows beyond the last, and what a turn leaves."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.model import Answer, Run
from tests.analysis.support import run_of

from .support import answerer

RUN = run_of(
    {
        step: {
            "perf/max_memory_allocated_gb": 40.0 + 0.5 * step + 0.1 * (step % 3),
            "actor/entropy": 0.6 - 0.006 * step + 0.001 * (step % 4), "response_length/clip_ratio": 0.01 * (step % 7),
            "response_length/mean": 300.0 + step, "response_length/max": 1024.0 if step % 3 else 1000.0,
            "timing_s/gen": 30.0 + step, "timing_s/step": 60.0 + step,
            "actor/grad_norm": 4.0 if step > 20 else 0.5 + 0.01 * step,
            **({"val-core/math500/acc/mean@4": 0.5 + 0.004 * step} if step % 5 == 0 else {}),
        }
        for step in range(1, 41)
    }
)  # fmt: skip
OTHER = run_of(
    {
        step: {
            "actor/entropy": 0.9 if step == 7 else 0.3,
            **({"val-core/aime_2025/acc/mean@8": 0.1 + 0.002 * step} if step % 5 == 0 else {}),
        }
        for step in range(1, 41)
    },
    id="r1", name="other",
)  # fmt: skip
ROWS = run_of({row: {"loss": 2.0 - 0.05 * row} for row in range(30)}, step_axis="index")


def last(*turns: str, runs: tuple[Run, ...] = (RUN,)) -> Answer:
    state = None
    for turn in turns:
        made, state = answerer().ask(turn, runs, state=state)
    return made


def slots(made: Answer) -> dict[str, Any]:
    held: dict[str, Any] = made.to_json()["slots"]
    return held


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("perf/max_memory_allocated_gb didn't grow, right?", "**No"),
        ("perf/max_memory_allocated_gb has not gone up, right?", "**No"),
        ("perf/max_memory_allocated_gb didn't fall, right?", "**Yes"),
        ("actor/entropy didn't rise, right?", "**Yes"),
        ("actor/entropy hasn't fallen, right?", "**No"),
        ("显存没涨，leak 只在 host 对吧", "**不对"),
    ],
)
def test_move_that_is_denied_is_held_against_the_log(question: str, begins: str) -> None:
    assert last(question).answer.startswith(begins)


@pytest.mark.parametrize(
    ("question", "step"),
    [("clip_ratio@12 是几", 12), ("response_length/clip_ratio@12", 12), ("entropy@12 多少", 12)],
)
def test_step_behind_a_name_and_an_at_sign(question: str, step: int) -> None:
    assert slots(last(question))["steps"] == {"kind": "single", "values": [step]}


@pytest.mark.parametrize(
    "question", ["pass@8 多少", "what is best@16 at the end", "maj@4 最后多少", "eval 的 pass@8 呢"]
)
def test_statistic_over_answers_that_no_validation_has(question: str) -> None:
    made = last(question)
    assert made.verdict.code == "no_data"
    assert "mean@4" in made.answer


def test_statistic_that_the_validation_has_is_told() -> None:
    assert last("mean@4 最后多少").verdict.code == "answered"


@pytest.mark.parametrize("question", ["row 40 的 loss", "loss at row 40", "第 40 条的 loss"])
def test_row_beyond_the_last_is_no_data(question: str) -> None:
    made = last(question, runs=(ROWS,))
    assert made.verdict.code == "no_data"
    assert slots(made)["steps"] == {"kind": "single", "values": [40]}


@pytest.mark.parametrize(
    "question", ["A 和 B 的 entropy max 谁大", "两个 run 的最大 entropy 哪个大", "which run has the higher max entropy"]
)
def test_extremes_of_two_runs_are_compared_not_their_means(question: str) -> None:
    assert "0.9" in last(question, runs=(RUN, OTHER)).answer.split("\n")[0]


@pytest.mark.parametrize(
    ("turns", "metrics", "steps"),
    [
        (("step 3 的 timing_s/gen", "占 step 的几成", "step 1 呢"), "timing_s/gen", {"kind": "single", "values": [1]}),
        (("grad_norm 什么时候超过 3", "之前平均多少"), "actor/grad_norm", {"kind": "range", "values": [1, 20]}),
        (("grad_norm 什么时候超过 3", "之前呢，最大多少"), "actor/grad_norm", {"kind": "range", "values": [1, 20]}),
    ],
)
def test_follow_up_keeps_metric_and_operation(turns: tuple[str, ...], metrics: str, steps: dict[str, Any]) -> None:
    made = last(*turns)
    assert metrics in slots(made)["metrics"]
    assert slots(made)["steps"] == steps


def test_follow_up_share_of_another_step_is_a_share() -> None:
    assert "50.8%" in last("step 3 的 timing_s/gen", "占 step 的几成", "step 1 呢").answer  # 31 of 61 s


@pytest.mark.parametrize(
    "turns", [("step 5 的 response_length/mean", "上限是多少"), ("response_length/mean at 5", "the cap?")]
)
def test_follow_up_limit_of_a_length_is_of_the_run(turns: tuple[str, ...]) -> None:
    assert last(*turns).intent == "derive"


@pytest.mark.parametrize("turns", [("A 的 final val", "B 的呢"), ("final val of A", "and B?")])
def test_follow_up_about_another_run_takes_its_own_validation(turns: tuple[str, ...]) -> None:
    made = last(*turns, runs=(RUN, OTHER))
    assert slots(made)["metrics"] == ["val-core/aime_2025/acc/mean@8"]
    assert "0.18" in made.answer or "18" in made.answer
