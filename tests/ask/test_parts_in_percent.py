"""Parts of a run told against each other in per cent or by how much, and bounds said as "after the first 20 steps"."""

from __future__ import annotations

import pytest

from assistant.ask.scope import bounds_named
from tests.analysis.support import run_of

from .support import answerer

#: Falls from 1.0 by a hundredth a step until step 50, level from there on.
FALLING = run_of({step: {"actor/entropy": round(1.0 - 0.01 * min(step, 50), 4)} for step in range(1, 101)})
FIRST, LAST = 0.895, 0.5
"""Means of the first and the last twenty steps."""


def values(question: str) -> list[float]:
    made, _ = answerer().ask(question, [FALLING])
    return [float(fact.value) for fact in made.facts if isinstance(fact.value, (int, float))]


@pytest.mark.parametrize(
    "question",
    [
        "和前 20 步比，后 20 步的 entropy 降了百分之几",
        "后 20 步的熵比前 20 步低百分之几",
        "熵后 20 步相对前 20 步跌了几个百分点",
        "by how many percent did entropy change from the first 20 steps to the last 20",
        "entropy of the last 20 steps vs the first 20 in percent",
    ],
)
def test_two_windows_in_percent_are_means_and_their_relative_difference(question: str) -> None:
    held = values(question)
    assert any(value == pytest.approx(FIRST) for value in held)
    assert any(value == pytest.approx(LAST) for value in held)
    assert any(value == pytest.approx(LAST / FIRST - 1) for value in held)


@pytest.mark.parametrize(
    "question",
    [
        "后 20 步比前 20 步 entropy 降了多少",
        "entropy 后 20 步相对前 20 步降了多少",
        "how much did entropy drop in the last 20 steps compared to the first 20",
    ],
)
def test_how_much_one_window_fell_against_the_other_is_the_difference_of_their_means(question: str) -> None:
    held = values(question)
    assert any(value == pytest.approx(FIRST - LAST) for value in held)
    assert not any(value == pytest.approx(-0.19) for value in held)  # the fall inside the first twenty steps


@pytest.mark.parametrize("question", ["前 20 步和后 20 步 entropy 分别降了多少", "entropy 前半程和后半程哪边降得多"])
def test_what_each_window_fell_by_stays_told_of_each(question: str) -> None:
    held = values(question)
    whole = [-0.19, 0.0] if "20" in question else [-0.49, 0.0]
    assert [value for value in held if value in whole or round(value, 4) in whole]


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("mean reward after the first 20 steps", "mean reward after step 20"),
        ("max once the first 5 steps are over", "max after step 5"),
        ("前 20 步之后 熵还降吗", "第20步之后 熵还降吗"),
        ("过了前 20 步,熵是多少", "第20步之后,熵是多少"),
        ("最后 20 步之前的均值", "第81步之前的均值"),
        ("the mean before the last 20 steps", "the mean before step 81"),
        ("前 20 步的均值", "前 20 步的均值"),
        ("after the first 500 steps", "after the first 500 steps"),
    ],
)
def test_bounds_named_by_counting_are_steps(typed: str, read: str) -> None:
    assert bounds_named(typed, list(range(1, 101))) == read


@pytest.mark.parametrize(
    ("question", "mean"),
    [
        ("mean entropy after the first 50 steps", 0.5),
        ("前 50 步之后 entropy 的平均值", 0.5),
        ("what is the average entropy before the last 50 steps", 0.745),
    ],
)
def test_what_lies_behind_the_first_steps_is_not_these_steps(question: str, mean: float) -> None:
    assert any(value == pytest.approx(mean) for value in values(question))


def test_did_it_keep_falling_is_a_course_and_no_forecast() -> None:
    made, _ = answerer().ask("has entropy continued to fall after the first 60 steps", [FALLING])
    assert (made.intent, made.verdict.code) == ("trend", "flat")
