"""Limits told as a multiple of a metric's own value, lists of steps, and whether what was first met goes on."""

from __future__ import annotations

import pytest

from tests.analysis.support import run_of, series_run
from tests.ask.support import answerer, first_line, holds

#: Halves every ten steps: 8, 4, 2, 1 …
FALLING = run_of({step: {"actor/entropy": 8.0 / 2 ** ((step - 1) // 10), "actor/lr": 1e-6} for step in range(1, 51)})
GROWING = run_of({step: {"actor/kl_loss": 0.5 * step, "actor/lr": 1e-6} for step in range(1, 41)})


@pytest.mark.parametrize(
    ("question", "op", "step", "count"),
    [
        ("entropy 掉到一半以下是第几步", "first_crossing", 21, 30),
        ("how many steps was entropy below half of its first value?", "count", 21, 30),
        ("entropy 跌到初始值的四分之一以下一共多少步", "count", 31, 20),
        ("from which step is entropy less than a quarter of where it started?", "first_crossing", 31, 20),
        ("entropy 低于均值的 50% 有几步", "count", 31, 20),
        ("on how many steps was entropy below half of its peak?", "count", 21, 30),
    ],
)
def test_below_a_part_of_its_own_value_is_counted_from_that_value(
    question: str, op: str, step: int, count: int
) -> None:
    answer, _ = answerer().ask(question, [FALLING])
    assert answer.slots.op == op
    assert f"step {step}" in first_line(answer)
    assert holds(answer, count)


@pytest.mark.parametrize(
    ("question", "step", "count"),
    [
        ("kl 涨到初始值的十倍以上一共持续多少步", 11, 30),
        ("how many steps was kl more than ten times its initial value?", 11, 30),
        ("kl 是一开始的三十倍以上有几步", 31, 10),
        ("for how many steps was kl over 5 times its first value?", 6, 35),
    ],
)
def test_above_a_multiple_of_the_first_value_is_counted_from_that_value(question: str, step: int, count: int) -> None:
    answer, _ = answerer().ask(question, [GROWING])
    assert f"step {step}" in first_line(answer)
    assert holds(answer, count)


def test_multiple_never_reached_tells_the_nearest() -> None:
    answer, _ = answerer().ask("kl 超过初始值的 100 倍有几步", [GROWING])
    assert first_line(answer).startswith("没有")
    assert holds(answer, 20.0)


@pytest.mark.parametrize(
    ("values", "question", "told"),
    [
        ([0.1, 0.6, 0.4, 0.7, 0.8, 0.9], "since when is entropy above 0.5?", "from step 4 on it does"),
        ([0.1, 0.6, 0.4, 0.7, 0.8, 0.9], "entropy 从什么时候开始高于 0.5", "从 step 4 起才一直如此"),
        ([0.1, 0.6, 0.7, 0.8, 0.9, 0.9], "since when is entropy above 0.5?", "all 5 values from step 2"),
        ([0.1, 0.6, 0.4, 0.7, 0.3, 0.2], "since when is entropy above 0.5?", "the last of them at step 4"),
        ([0.1, 0.6, 0.4, 0.3, 0.3, 0.2], "entropy 从哪一步起高于 0.5", "只有这一次"),
    ],
)
def test_first_crossing_tells_whether_it_lasts(values: list[float], question: str, told: str) -> None:
    answer, _ = answerer().ask(question, [series_run("actor/entropy", values)])
    assert "step 2" in first_line(answer)
    assert told in answer.answer


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        ("which steps have entropy above 0.5?", "2, 5–9, 12"),
        ("entropy 高于 0.5 的是哪些 step", "2、5–9、12"),
        ("how many steps have entropy above 0.5?", "2, 5–9, 12"),
    ],
)
def test_steps_of_a_list_are_drawn_together_only_where_they_follow_each_other(question: str, steps: str) -> None:
    high = {2, 5, 6, 7, 8, 9, 12}
    run = series_run("actor/entropy", [0.9 if step in high else 0.1 for step in range(1, 16)])
    answer, _ = answerer().ask(question, [run])
    assert steps in answer.answer


WINDOWS = run_of({step: {"critic/score/mean": 0.1 if step <= 20 else 0.4, "actor/lr": 1e-6} for step in range(1, 61)})


@pytest.mark.parametrize(
    "question",
    [
        "by what factor did the score grow between the opening five steps and the closing five?",
        "by what factor did the score change from the first 10 steps to the last 10?",
        "score 从前 10 步到最后 10 步翻了几倍",
        "score 第一个 10 步到尾 10 步涨了几倍",
    ],
)
def test_factor_between_two_windows_is_that_of_their_means(question: str) -> None:
    answer, _ = answerer().ask(question, [WINDOWS])
    assert holds(answer, 0.4 / 0.1)


@pytest.mark.parametrize(
    "question", ["第一个 20 步和最后 20 步，score 的均值差多少", "头 20 步和尾 20 步 score 的平均差多少"]
)
def test_windows_told_otherwise_are_two_windows(question: str) -> None:
    answer, _ = answerer().ask(question, [WINDOWS])
    gaps = [f.value if f.delta is None else f.delta for f in answer.facts]
    assert any(isinstance(gap, float) and abs(gap - 0.3) < 1e-9 for gap in gaps)
