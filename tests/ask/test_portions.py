"""A metric or a ratio over parts of a run: every number against one computed here from the log's own values."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from statistics import median

import numpy as np
import pytest

from assistant.ask.portions import portions_in, rest_of
from assistant.ask.scope import Scope
from assistant.model import Run
from assistant.write.numbers import percent
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has
from tests.ask.support import answerer

SCORE, ENTROPY, GEN, UPDATE, STEP = (
    "critic/score/mean", "actor/entropy", "timing_s/gen", "timing_s/update_actor", "timing_s/step",
)  # fmt: skip
STEPS = range(1, 61)


def _gen(step: int) -> float:
    return 40.0 + 7 * (step % 4) + (12.0 if step > 25 else 0.0)


@lru_cache(maxsize=1)
def made() -> Run:
    return run_of(
        {
            step: {
                SCORE: round(0.2 + 0.004 * step + 0.013 * (step % 5), 5),
                ENTROPY: round(0.9 - (0.01 * min(step, 30)) + 0.003 * (step % 3), 5),
                GEN: _gen(step), UPDATE: 30.0 + step % 3, STEP: 100.0 + _gen(step),
            }
            for step in STEPS
        }
    )  # fmt: skip


def _values(metric: str, steps: range) -> list[float]:
    return [float(made().value(metric, step) or 0) for step in steps]


def _shares(steps: range, metric: str = GEN, of: str = STEP) -> list[float]:
    return [a / b for a, b in zip(_values(metric, steps), _values(of, steps), strict=True)]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


@pytest.mark.parametrize(
    ("question", "rose"),
    [
        ("第 25 步以后生成耗时占整步的比例平均是多少，和前 25 步比是升了还是降了？", "升了"),
        ("gen 占一步的比例，前 25 步和 25 步之后各平均多少", "升了"),
        ("what share of the step does gen take on average after step 25, compared with the first 25 steps?", "rose"),
    ],
)
def test_share_over_two_parts_gives_both_means_and_the_way(question: str, rose: str) -> None:
    answer = ask(question, made())
    late, early = (f"{percent(100 * _mean(_shares(part)))}%" for part in (range(26, 61), range(1, 26)))
    first = answer.answer.split("\n")[0]
    assert late in first
    assert early in first
    assert rose in first
    assert "35" in first
    assert "25" in first
    assert answer.intent == "lookup"
    assert answer.verdict.code == "answered"


def test_share_over_one_part_is_of_that_part() -> None:
    first = ask("最后 20 步生成占一步的几成", made()).answer.split("\n")[0]
    assert f"{percent(100 * _mean(_shares(range(41, 61))))}%" in first
    assert "41" in first
    assert "60" in first


@pytest.mark.parametrize(
    "question",
    ["update_actor 和 gen 耗时的比值平均是多少", "what is the ratio of update_actor to gen time on average?"],
)
def test_ratio_of_two_metrics_is_averaged_over_steps(question: str) -> None:
    answer = ask(question, made())
    assert f"{_mean(_shares(STEPS, UPDATE, GEN)):.3f}" in answer.answer.split("\n")[0]
    assert set(answer.slots.metrics) == {GEN, UPDATE}


def test_ratio_at_one_step_is_of_that_step() -> None:
    first = ask("第 30 步 gen 是 update_actor 的几倍", made()).answer.split("\n")[0]
    assert "是 `timing_s/update_actor` 的 2.2 倍（66 秒对 30 秒" in first
    assert "30" in first


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("score 在 30 步之前平均多少，之后呢", _mean),
        ("score: median before step 30, and after that?", median),
        ("score 30 步之前的中位数和 30 步之后的中位数", median),
    ],
)
def test_two_parts_of_one_metric_are_both_told(question: str, told: Callable[[list[float]], float]) -> None:
    answer = ask(question, made())
    later = range(31, 61) if "步之后的" in question else range(30, 61)
    has(answer, SCORE)
    for part in (range(1, 30), later):
        assert f"{told(_values(SCORE, part)):.3f}" in answer.answer


@pytest.mark.parametrize(
    "question", ["step 30 之前和之后 entropy 的 slope 一样吗", "entropy 在 30 步之前和之后下降的速度差多少"]
)
def test_slopes_of_two_parts_are_told_apart(question: str) -> None:
    answer = ask(question, made())
    slope = np.polyfit(np.arange(1, 30, dtype=float), _values(ENTROPY, range(1, 30)), 1)[0]
    assert f"{slope:.3g}"[:7] in answer.answer.replace("−", "-")


@pytest.mark.parametrize("follow", ["之前呢", "那之前呢？", "and before that?", "前面的呢"])
def test_other_part_is_answered_after_one_part(follow: str) -> None:
    run = made()
    first = "step 40 之后 score 平均多少" if "b" not in follow else "what is the mean score after step 40?"
    state = answerer().ask(first, [run])[1]
    answer = answerer().ask(follow, [run], state=state)[0]
    assert f"{_mean(_values(SCORE, range(1, 41))):.3f}" in answer.answer
    assert answer.slots.steps.values == (1, 40)


def test_other_part_of_a_share_is_a_share() -> None:
    state = answerer().ask("step 25 之后 gen 占一步的比例平均多少", [made()])[1]
    answer = answerer().ask("之前呢", [made()], state=state)[0]
    assert f"{percent(100 * _mean(_shares(range(1, 26))))}%" in answer.answer


def test_portions_in_keeps_one_range_whole() -> None:
    found = portions_in("在 10 步和 30 步之间的平均", list(STEPS))
    assert [(one.first, one.last) for one in found] == [(10, 30)]


def test_rest_of_a_part_with_two_sides_is_none() -> None:
    assert rest_of(Scope(first=5, last=9), "之前呢") is None
    assert rest_of(Scope(first=5), "之后呢") is None
    other = rest_of(Scope(first=5), "之前呢")
    assert other is not None
    assert (other.first, other.last) == (None, 4)


def test_two_stages_of_a_step_are_each_a_part_of_it() -> None:
    answer = ask("gen 和 update_actor 占最后一步几成", made())
    for metric in (GEN, UPDATE):
        assert f"{percent(100 * _values(metric, range(60, 61))[0] / _values(STEP, range(60, 61))[0])}%" in answer.answer
