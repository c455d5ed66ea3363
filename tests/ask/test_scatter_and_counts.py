"""Whether a metric is noisy, ratios of statistics, percentiles, all keys of a group, rows of an epoch, cut answers."""

from __future__ import annotations

import random

import pytest

from tests.analysis.support import run_of, series_run
from tests.ask.support import answerer, first_line, holds


def _noisy(share: float, n: int = 60) -> list[float]:
    chance = random.Random(3)
    return [1.0 + chance.gauss(0, share) for _ in range(n)]


@pytest.mark.parametrize(
    ("share", "zh", "en"),
    [(0.01, "波动不大", "Not noisy"), (0.1, "有一些波动", "Somewhat"), (0.5, "波动大", "Yes, noisy")],
)
@pytest.mark.parametrize(
    "question", ["entropy 波动大吗", "entropy 抖得厉害不", "is the entropy noisy?", "entropy 起伏大不大"]
)
def test_spread_says_first_whether_it_is_large(share: float, zh: str, en: str, question: str) -> None:
    answer, _ = answerer().ask(question, [series_run("actor/entropy", _noisy(share))])
    assert first_line(answer).startswith((zh, en))
    assert answer.intent == "trend"
    assert answer.slots.metrics == ("actor/entropy",)


def test_spread_of_a_trend_is_that_of_its_neighbours() -> None:
    answer, _ = answerer().ask("grad_norm 波动大吗", [series_run("actor/grad_norm", [1 + 0.01 * s for s in range(80)])])
    assert first_line(answer).startswith("波动不大")


@pytest.mark.parametrize(
    ("question", "ratio"),
    [
        ("ratio of grad_norm max to its median?", 5.0),
        ("grad_norm max / mean ratio", 10.0 / (10 + 2 * 19) * 20),
        ("grad_norm 最大值和中位数的比值", 5.0),
    ],
)
def test_ratio_of_two_statistics_is_told_first(question: str, ratio: float) -> None:
    answer, _ = answerer().ask(question, [series_run("actor/grad_norm", [2.0] * 10 + [10.0] + [2.0] * 9)])
    assert holds(answer, ratio)


@pytest.mark.parametrize(
    "question", ["score 第 90 百分位多少", "the 90th percentile of the score", "score 均值的第 90 百分位"]
)
def test_percentile_is_told_first(question: str) -> None:
    answer, _ = answerer().ask(question, [series_run("critic/score/mean", [float(v) for v in range(101)])])
    assert "90" in first_line(answer)
    assert holds(answer, 90.0)


BATCH = run_of(
    {
        step: {"critic/score/mean": 0.5, "critic/score/max": 1.0, "critic/rewards/mean": 0.5, "actor/entropy": 0.3,
               "response_length/clip_ratio": 0.25 if step == 5 else 0.0, "response_length/mean": 300.0,
               "perf/total_num_tokens": 1000.0 * (30 - abs(step - 7)), "timing_s/step": 9.0}
        for step in range(1, 21)
    }
)  # fmt: skip


@pytest.mark.parametrize(
    "question",
    [
        "step 5 ALL critic metrics please",
        "step 5 所有 critic 相关 metrics 列一下，特别是 score mean",
        "all critic metrics at step 5",
    ],
)
def test_all_keys_of_a_group_are_listed(question: str) -> None:
    answer, _ = answerer().ask(question, [BATCH])
    assert {"critic/score/mean", "critic/score/max", "critic/rewards/mean"} <= set(answer.slots.metrics)
    assert "actor/entropy" not in answer.slots.metrics
    assert answer.slots.steps.values == (5,)


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("which step used the most tokens in total?", 7),
        ("哪一步用的 token 最多", 7),
        ("which step had the fewest tokens?", 20),
    ],
)
def test_step_with_most_tokens_is_named(question: str, step: int) -> None:
    answer, _ = answerer().ask(question, [BATCH])
    assert f"step {step}" in first_line(answer)
    assert answer.slots.metrics == ("perf/total_num_tokens",)


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("was any response cut at step 5, and how many?", "Yes:"),
        ("were any answers truncated at step 6, and how many?", "No:"),
        ("step 5 有没有回答被截断，有多少", "有："),
    ],
)  # fmt: skip
def test_whether_any_answer_was_cut_says_yes_or_no_first(question: str, start: str) -> None:
    answer, _ = answerer().ask(question, [BATCH])
    assert first_line(answer).startswith(start)
    assert answer.slots.metrics[0] == "response_length/clip_ratio"


@pytest.mark.parametrize(
    "question", ["how many rows per epoch?", "每个 epoch 几条记录", "how many logged rows per epoch"]
)
def test_rows_of_an_epoch_are_told_of_a_log_without_steps(question: str) -> None:
    run = run_of({row: {"loss": 1.0, "epoch": (row + 1) / 10} for row in range(30)}, step_axis="index")
    answer, _ = answerer().ask(question, [run])
    assert holds(answer, 10)
