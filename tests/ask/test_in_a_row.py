"""So many values in a row beyond a limit, windows named in brackets, another metric at several extremes."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.ask.in_a_row import row_in, rows
from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.support import conversation, first_line, holds

KL, REWARD, ENTROPY = "actor/kl_loss", "critic/rewards/mean", "actor/entropy"
#: Above 0.5 at steps 4–5, 9–14 and 20–40.
HIGH = {*range(4, 6), *range(9, 15), *range(20, 41)}


@lru_cache(maxsize=1)
def made() -> Run:
    return run_of(
        {
            step: {
                REWARD: (0.6 if step in HIGH else 0.3) + step / 10_000,
                KL: 0.01 + ((step * 7) % 41) / 1000, ENTROPY: 0.9 - step / 100,
            }
            for step in range(1, 41)
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("连续 20 步低于 0.06", 20), ("below 0.06 for 20 steps in a row", 20), ("3 consecutive evals above 0.5", 3),
        ("一连 5 个值", 5), ("连续 10 步平均", None), ("step 20", None), ("连续上涨", None),
    ],
)  # fmt: skip
def test_row_in_counts_values_in_a_row(text: str, number: int | None) -> None:
    found = row_in(text)
    assert (found and found[0]) == number


def test_rows_are_broken_where_a_value_is_lost() -> None:
    held = [True, True, False, True, True, True]
    assert rows(held, set(), 2) == [(0, 1), (3, 5)]
    assert rows(held, {5}, 3) == []


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("reward 第一次连续 5 步超过 0.5 是从哪步开始", 9),
        ("有没有连续 10 步 reward 高于 0.5", 20),
        ("when was the reward first above 0.5 for 6 steps in a row", 9),
        ("Did the reward stay above 0.5 for 2 consecutive steps?", 4),
    ],
)
def test_first_row_of_so_many_values(question: str, first: int) -> None:
    answer = conversation(made(), question)
    assert f"step {first}" in first_line(answer), answer.answer
    assert not first_line(answer).startswith(("没有", "No"))


@pytest.mark.parametrize(
    "question", ["有没有连续 30 步 reward 超过 0.5", "was the reward above 0.5 for 30 steps in a row"]
)
def test_row_that_is_nowhere_tells_the_longest(question: str) -> None:
    answer = conversation(made(), question)
    assert first_line(answer).startswith(("没有", "No"))
    assert "step 20" in first_line(answer)
    assert holds(answer, 21)


@pytest.mark.parametrize(
    "question",
    ["reward 的滑动平均（窗口 8）最高是在哪里", "where is the moving average (window=8) of the reward highest",
     "窗口大小 8 的 reward 滑动平均最高在哪段"],
)  # fmt: skip
def test_window_in_brackets_is_read(question: str) -> None:
    answer = conversation(made(), question)
    assert "step 33 到 40" in answer.answer or "steps 33 to 40" in answer.answer, answer.answer
    assert holds(answer, sum(0.6 + step / 10_000 for step in range(33, 41)) / 8)


@pytest.mark.parametrize(
    "question",
    ["kl 最大的三步分别是哪几步，对应的 reward 是多少", "what was the reward at the 3 steps with the highest kl",
     "kl 最大的 3 步 reward 各是多少"],
)  # fmt: skip
def test_other_metric_at_several_extremes(question: str) -> None:
    answer = conversation(made(), question)
    run = made()
    steps, values = run.series(KL)
    for step in sorted(steps, key=lambda s: -float(values[steps.index(s)]))[:3]:
        assert f"step {step}" in first_line(answer), answer.answer
        assert holds(answer, float(run.value(REWARD, step) or 0))
