"""Computations over a part of a run: each class in wordings of both languages, the truth computed from the data."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable

import pytest

from assistant.analysis.association import spearman
from tests.ask.computed_support import (
    ENTROPY,
    GEN,
    GRAD,
    HOLES,
    KL,
    LENGTH,
    LR,
    SCORE,
    ask,
    column,
    has,
    minus,
    run,
    shown,
)


def _extreme(
    metric: str, pick: Callable[..., int], first: int = 1, last: int = 80, without: tuple[int, ...] = ()
) -> tuple[int, float]:
    held = column(metric, first, last, without)
    step = pick(held, key=held.__getitem__)
    return step, held[step]


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("max entropy after step 40", 41, 80),
        ("what is the highest entropy since step 40?", 40, 80),
        ("maximum of actor/entropy from step 40 on", 40, 80),
        ("peak entropy before step 40", 1, 39),
        ("highest entropy up to step 40", 1, 40),
        ("max entropy for steps 40 and later", 40, 80),
        ("entropy 在 step 40 之后的最大值", 41, 80),
        ("从第 40 步起，entropy 最高是多少", 40, 80),
        ("第 40 步之前 entropy 的最大值", 1, 39),
        ("40 步以后 entropy 最高到多少", 41, 80),
        ("截至 step 40，entropy 最大是多少", 1, 40),
        ("max entropy in the second half of the run", 41, 80),
        ("前 10% 的 entropy 最大值", 1, 8),
        ("highest entropy in the last quarter of the run", 61, 80),
    ],
)
def test_open_range_extreme_is_that_of_the_part(question: str, first: int, last: int) -> None:
    step, value = _extreme(ENTROPY, max, first, last)
    answer = ask(question)
    has(answer, shown(ENTROPY, value, answer.language), f"step {step}")
    assert (answer.intent, answer.slots.op) == ("lookup", "max")


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("mean entropy after step 40", 41, 80),
        ("average entropy since step 40", 40, 80),
        ("what was the mean of entropy before step 40", 1, 39),
        ("entropy 在第 40 步之后平均多少", 41, 80),
        ("step 40 之前 entropy 的平均值", 1, 39),
        ("后半程 entropy 的均值", 41, 80),
        ("前 25% 的 entropy 均值", 1, 20),
        ("average entropy over the first 25% of the run", 1, 20),
        ("从 step 40 开始 entropy 的均值", 40, 80),
        ("mean entropy until step 40", 1, 40),
    ],
)
def test_open_range_mean_is_that_of_the_part(question: str, first: int, last: int) -> None:
    answer = ask(question)
    has(answer, shown(ENTROPY, statistics.fmean(column(ENTROPY, first, last).values()), answer.language))
    assert answer.slots.op == "mean"


@pytest.mark.parametrize(
    ("question", "limit", "first", "last"),
    [
        ("how many steps after step 40 have critic/score/mean above 0.5?", 0.5, 41, 80),
        ("how many steps before step 60 have critic/score/mean above 0.4?", 0.4, 1, 59),
        ("critic/score/mean 在 step 40 之后超过 0.5 的有几步", 0.5, 41, 80),
        ("step 60 之前 critic/score/mean 高于 0.4 的有多少步", 0.4, 1, 59),
        ("since step 50, how often was critic/score/mean above 0.5?", 0.5, 50, 80),
        ("从第 50 步起 critic/score/mean 超过 0.5 几次", 0.5, 50, 80),
    ],
)
def test_open_range_count_is_that_of_the_part(question: str, limit: float, first: int, last: int) -> None:
    count = sum(value > limit for value in column(SCORE, first, last).values())
    answer = ask(question)
    assert 0 < count < last - first
    has(answer, f"{count} 个 step" if answer.language == "zh" else f"at {count} steps")
    assert answer.slots.op == "count"


@pytest.mark.parametrize(
    "question",
    [
        "max of actor/entropy excluding step {s}",
        "highest actor/entropy except step {s}",
        "除了第 {s} 步，actor/entropy 最大是多少",
        "actor/entropy 的最大值，step {s} 除外",
        "maximum actor/entropy without step {s}",
        "去掉 step {s} 之后 actor/entropy 的最大值",
        "ignoring step {s}, what is the maximum of actor/entropy?",
        "不算第 {s} 步，actor/entropy 最高多少",
        "what's the max actor/entropy other than step {s}?",
        "排除 step {s}，actor/entropy 的峰值是多少",
        "leaving out step {s}, how high did actor/entropy peak?",
    ],
)
def test_excluded_step_takes_no_part(question: str) -> None:
    top, _ = _extreme(ENTROPY, max)
    step, value = _extreme(ENTROPY, max, without=(top,))
    answer = ask(question.format(s=top))
    has(answer, shown(ENTROPY, value, answer.language), f"step {step}")


@pytest.mark.parametrize(
    "question",
    [
        "critic/score/mean 超过 0.45 的第一步",
        "首个 critic/score/mean 超过 0.45 的 step",
        "first step where critic/score/mean exceeds 0.45",
        "the first step at which critic/score/mean is above 0.45",
        "critic/score/mean 最早在哪一步超过 0.45",
        "critic/score/mean 第一次高于 0.45 是哪步",
        "which step is the first with critic/score/mean over 0.45?",
        "when did critic/score/mean first go above 0.45",
        "第一个 critic/score/mean 大于 0.45 的步",
        "earliest step with critic/score/mean > 0.45",
    ],
)
def test_first_step_where_is_the_first_crossing(question: str) -> None:
    step = next(s for s, value in column(SCORE).items() if value > 0.45)
    assert step > 1
    answer = ask(question)
    has(answer, f"step {step}", shown(SCORE, column(SCORE)[step], answer.language))
    assert answer.slots.op == "first_crossing"


@pytest.mark.parametrize(
    "question",
    [
        "{m} 什么时候第一次到 {v}",
        "{m} 第一次达到 {v} 是哪一步",
        "when does {m} first reach {v}?",
        "first step where {m} hits {v}",
        "{m} 首次升到 {v} 在哪一步",
        "which step is the first with {m} at least {v}",
        "{m} 最早哪一步不低于 {v}",
        "first step where {m} >= {v}",
        "{m} 第一次 ≥ {v} 是哪一步",
        "when did {m} first get to {v}?",
    ],
)
def test_reach_the_value_itself_counts(question: str) -> None:
    held = column(SCORE)
    step, value = _extreme(SCORE, max)
    assert not any(other > value for other in held.values())  # above it there is nothing: only ≥ can hold
    has(ask(question.format(m=SCORE, v=value)), f"step {step}")


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("actor/ppo_kl 负的有几步", lambda v: v < 0),
        ("how many steps have negative actor/ppo_kl", lambda v: v < 0),
        ("actor/ppo_kl 为正的有多少步", lambda v: v > 0),
        ("how often is actor/ppo_kl positive?", lambda v: v > 0),
        ("actor/ppo_kl 小于零的步数", lambda v: v < 0),
        ("number of steps where actor/ppo_kl is below zero", lambda v: v < 0),
        ("how many steps have actor/ppo_kl between -0.0005 and 0.0005", lambda v: -0.0005 <= v <= 0.0005),
        ("actor/ppo_kl 在 -0.0005 到 0.0005 之间的有几步", lambda v: -0.0005 <= v <= 0.0005),
        ("actor/ppo_kl 至少 0.001 的有几步", lambda v: v >= 0.001),
        ("how many steps have actor/ppo_kl at least 0.001", lambda v: v >= 0.001),
        ("actor/ppo_kl 不超过 -0.001 的有几步", lambda v: v <= -0.001),
        ("how many steps have actor/ppo_kl of at most -0.001", lambda v: v <= -0.001),
        ("actor/ppo_kl 大于等于 0.0005 的步有多少个", lambda v: v >= 0.0005),
    ],
)
def test_count_condition_counts_the_steps(question: str, holds: Callable[[float], bool]) -> None:
    count = sum(holds(value) for value in column(KL).values())
    answer = ask(question)
    assert 0 < count < 80
    has(answer, f"{count} 个 step" if answer.language == "zh" else f"at {count} step")


@pytest.mark.parametrize(
    ("question", "limit", "below", "first"),
    [
        ("actor/entropy 在 step 40 之后有没有低于 0.1", 0.1, True, 41),
        ("did actor/entropy ever go below 0.1 after step 40?", 0.1, True, 41),
        ("actor/entropy 在 step 40 之后有没有低于 0.4", 0.4, True, 41),
        ("after step 40, was actor/entropy ever under 0.4?", 0.4, True, 41),
        ("从第 40 步起 actor/entropy 超过过 0.8 吗", 0.8, False, 40),
        ("since step 40, has actor/entropy ever exceeded 0.8?", 0.8, False, 40),
        ("第 10 步以后 actor/entropy 有没有超过 0.8", 0.8, False, 11),
        ("has actor/entropy been above 0.8 since step 10?", 0.8, False, 10),
        ("actor/entropy 有没有不到 0.2 的时候，step 20 之后", 0.2, True, 21),
        ("did actor/entropy drop below 0.3 after step 70", 0.3, True, 71),
    ],
)
def test_any_condition_is_answered_yes_or_no(question: str, limit: float, below: bool, first: int) -> None:
    hits = [s for s, v in column(ENTROPY, first).items() if (v < limit if below else v > limit)]
    answer = ask(question)
    told = answer.answer.lstrip("*")
    if hits:
        assert told.startswith(("有", "Yes", "`actor/entropy`"))
        assert f"step {hits[0]}" in told
    else:
        assert told.startswith(("没有", "No"))


@pytest.mark.parametrize(
    ("question", "rank", "high"),
    [
        ("second highest actor/entropy", 2, True),
        ("third lowest actor/entropy", 3, False),
        ("actor/entropy 第二高是多少", 2, True),
        ("actor/entropy 第三低的是哪一步", 3, False),
        ("the 2nd largest actor/entropy", 2, True),
        ("which step has the fourth highest actor/entropy?", 4, True),
        ("actor/entropy 次高的值", 2, True),
        ("what's the second-lowest value of actor/entropy", 2, False),
        ("actor/entropy 第 5 大", 5, True),
        ("actor/entropy 的第四小值", 4, False),
    ],
)
def test_rank_is_the_nth_value(question: str, rank: int, high: bool) -> None:
    step, value = sorted(column(ENTROPY).items(), key=lambda one: -one[1] if high else one[1])[rank - 1]
    answer = ask(question)
    has(answer, f"step {step}", shown(ENTROPY, value, answer.language))


@pytest.mark.parametrize(
    ("question", "count", "high", "first"),
    [
        ("which 3 steps had the lowest actor/entropy after step 20?", 3, False, 21),
        ("top 5 steps by actor/entropy", 5, True, 1),
        ("the 3 highest values of actor/entropy", 3, True, 1),
        ("actor/entropy 最高的三步", 3, True, 1),
        ("actor/entropy 最低的 4 个 step", 4, False, 1),
        ("actor/entropy 最大的五个值分别在哪", 5, True, 1),
        ("which five steps had the highest actor/entropy", 5, True, 1),
        ("step 20 之后 actor/entropy 最小的 3 步", 3, False, 21),
        ("list the three lowest actor/entropy steps", 3, False, 1),
        ("top-4 actor/entropy", 4, True, 1),
        ("哪 3 步的 actor/entropy 最高", 3, True, 1),
    ],
)
def test_top_names_each_step(question: str, count: int, high: bool, first: int) -> None:
    order = sorted(column(ENTROPY, first).items(), key=lambda one: -one[1] if high else one[1])
    answer = ask(question)
    has(answer, *(f"step {step}" for step, _ in order[:count]))
    assert f"step {order[count][0]}（" not in answer.answer
    assert f"step {order[count][0]} (" not in answer.answer


@pytest.mark.parametrize(
    ("question", "metric", "high", "other"),
    [
        ("actor/grad_norm 最大的一步，那一步 critic/score/mean 是多少", GRAD, True, SCORE),
        ("what is critic/score/mean at the step where actor/grad_norm is highest?", GRAD, True, SCORE),
        ("actor/entropy 最低时 critic/score/mean 是多少", ENTROPY, False, SCORE),
        ("when actor/entropy is lowest, what is critic/score/mean?", ENTROPY, False, SCORE),
        ("critic/score/mean at the step with the lowest actor/entropy", ENTROPY, False, SCORE),
        ("actor/grad_norm 峰值那一步的 actor/entropy", GRAD, True, ENTROPY),
        ("at the peak of actor/grad_norm, how large was actor/entropy?", GRAD, True, ENTROPY),
        ("critic/score/mean 最高那一步，对应的 actor/entropy 是多少", SCORE, True, ENTROPY),
        ("value of actor/entropy when critic/score/mean peaked", SCORE, True, ENTROPY),
        ("actor/ppo_kl 最小的那步 critic/score/mean 多少", KL, False, SCORE),
    ],
)
def test_at_extreme_of_one_the_other_is_told(question: str, metric: str, high: bool, other: str) -> None:
    step, value = _extreme(metric, max if high else min)
    answer = ask(question)
    has(
        answer,
        f"step {step}",
        shown(metric, value, answer.language),
        shown(other, column(other)[step], answer.language),
    )
    assert answer.slots.op == ("argmax" if high else "argmin")


def _longest(metric: str, up: bool) -> int:
    values, best, now = list(column(metric).values()), 0, 0
    for a, b in itertools.pairwise(values):
        now = now + 1 if (b > a if up else b < a) else 0
        best = max(best, now)
    return best


@pytest.mark.parametrize(
    ("question", "up"),
    [
        ("critic/score/mean 连续上升最长几步", True),
        ("longest rising streak of critic/score/mean", True),
        ("critic/score/mean 最多连续下降几步", False),
        ("how many steps in a row did critic/score/mean fall at most?", False),
        ("what is the longest run of consecutive increases of critic/score/mean", True),
        ("critic/score/mean 连涨最多几次，连续", True),
        ("longest consecutive decline of critic/score/mean", False),
        ("critic/score/mean 连续跌得最久是几步", False),
        ("most consecutive steps with critic/score/mean going up", True),
        ("critic/score/mean 一连上涨最多多少步", True),
    ],
)
def test_streak_is_the_longest_row(question: str, up: bool) -> None:
    length = _longest(SCORE, up)
    answer = ask(question)
    has(answer, f"{length} 次" if answer.language == "zh" else f"{length} in a row")


@pytest.mark.parametrize(
    ("question", "length", "high"),
    [
        ("Which 20-step window had the highest mean critic/score/mean?", 20, True),
        ("best 10-step window of actor/entropy by average, highest", 10, True),
        ("actor/entropy 平均最低的连续 15 步是哪段", 15, False),
        ("哪 10 步的滑动窗口里 actor/entropy 均值最高", 10, True),
        ("lowest 8-step average of actor/entropy", 8, False),
        ("window of 12 steps with the lowest mean actor/entropy", 12, False),
        ("连续 20 步平均 critic/score/mean 最高的窗口", 20, True),
        ("which 5 consecutive steps have the highest average actor/entropy", 5, True),
        ("actor/entropy 的 10 步窗口均值最大是哪段", 10, True),
        ("the 6-step stretch with the smallest mean critic/score/mean", 6, False),
    ],
)
def test_window_has_the_extreme_mean(question: str, length: int, high: bool) -> None:
    metric = ENTROPY if "entropy" in question else SCORE
    values = list(column(metric).values())
    means = {start + 1: statistics.fmean(values[start : start + length]) for start in range(len(values) - length + 1)}
    first = (max if high else min)(means, key=means.__getitem__)
    answer = ask(question)
    span = (
        f"step {first} 到 {first + length - 1}" if answer.language == "zh" else f"steps {first} to {first + length - 1}"
    )
    has(answer, span, shown(metric, means[first], answer.language))


@pytest.mark.parametrize(
    ("question", "of", "metric"),
    [
        ("actor/entropy 的中位数", statistics.median, ENTROPY),
        ("median of actor/entropy", statistics.median, ENTROPY),
        ("actor/entropy 的标准差是多少", statistics.stdev, ENTROPY),
        ("standard deviation of actor/entropy across steps", statistics.stdev, ENTROPY),
        ("sum of timing_s/gen", sum, GEN),
        ("timing_s/gen 加起来多少", sum, GEN),
        ("timing_s/gen 的总和", sum, GEN),
        ("actor/entropy 各步的方差", statistics.variance, ENTROPY),
        ("what's the median critic/score/mean?", statistics.median, SCORE),
        ("critic/score/mean 中位数多少", statistics.median, SCORE),
        ("total of timing_s/gen over the run", sum, GEN),
        ("timing_s/gen 总共多少秒", sum, GEN),
    ],
)
def test_statistic_is_computed(question: str, of: Callable[..., float], metric: str) -> None:
    value = of(column(metric).values())
    answer = ask(question)
    has(answer, shown("" if of is statistics.variance else metric, value, answer.language))


def test_statistics_several_are_all_told() -> None:
    held = list(column(ENTROPY).values())
    for question in (
        "actor/entropy 的中位数和标准差",
        "median and standard deviation of actor/entropy",
        "mean, median and std of actor/entropy",
    ):
        answer = ask(question)
        has(
            answer,
            shown(ENTROPY, statistics.median(held), answer.language),
            shown(ENTROPY, statistics.stdev(held), answer.language),
        )
    both = ask("average timing_s/gen and its total")
    has(both, shown(GEN, statistics.fmean(column(GEN).values()), "en"), shown(GEN, sum(column(GEN).values()), "en"))


@pytest.mark.parametrize(
    "question",
    [
        "how many steps are missing actor/grad_norm?",
        "which steps have no value of actor/grad_norm",
        "actor/grad_norm 缺了几步",
        "哪些步没有 actor/grad_norm",
        "which steps lack actor/grad_norm",
        "actor/grad_norm 在多少步上没有值",
        "actor/grad_norm is missing at which steps",
        "列出缺失 actor/grad_norm 的 step",
        "number of steps without a value for actor/grad_norm",
        "哪几步缺 actor/grad_norm",
    ],
)
def test_missing_names_the_steps(question: str) -> None:
    has(ask(question), *(str(step) for step in HOLES))


@pytest.mark.parametrize(
    "question",
    [
        "is critic/score/mean correlated with actor/entropy?",
        "critic/score/mean 和 actor/entropy 相关吗",
        "correlation between critic/score/mean and actor/entropy",
        "actor/entropy 与 critic/score/mean 的相关性",
        "do critic/score/mean and actor/entropy move together?",
        "critic/score/mean 跟 actor/entropy 有关系吗",
        "how strongly are critic/score/mean and actor/entropy correlated",
        "critic/score/mean 和 actor/entropy 是正相关还是负相关",
        "spearman of critic/score/mean and actor/entropy",
        "is there a relationship between critic/score/mean and actor/entropy",
    ],
)
def test_correlation_is_spearmans(question: str) -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    a, b = list(column(SCORE).values()), list(column(ENTROPY).values())
    rho = float(scipy_stats.spearmanr(a, b).statistic)
    assert spearman(a, b) == pytest.approx(rho)
    answer = ask(question)
    has(
        answer,
        shown("", rho, "en"),
        "80",
        "自相关" if answer.language == "zh" else "autocorrelated",
        "因果" if answer.language == "zh" else "causation",
    )


@pytest.mark.parametrize(
    "question",
    [
        "actor/lr 变过吗",
        "did actor/lr ever change?",
        "学习率变过没有",
        "is the learning rate constant?",
        "actor/lr 一直不变吗",
        "has actor/lr changed",
        "学习率是固定的吗",
        "does actor/lr change?",
        "actor/lr 有没有变过",
        "did the learning rate stay the same?",
    ],
)
def test_changed_constant_is_no(question: str) -> None:
    answer = ask(question)
    assert answer.answer.lstrip("*").startswith(("没变", "It did not change"))
    has(answer, shown(LR, 1e-6, "en"))
    assert answer.verdict.code == "flat"


def test_changed_moving_is_yes_with_its_range() -> None:
    for question in ("actor/entropy 变过吗", "did actor/entropy ever change?"):
        answer = ask(question)
        assert answer.answer.lstrip("*").startswith(("变了", "It changed"))
        has(answer, *(shown(ENTROPY, f(column(ENTROPY).values()), "en") for f in (min, max)))


def test_difference_at_the_end_is_signed() -> None:
    low, high = "train loss", "val loss"
    from tests.analysis.support import run_of

    table = {s: {low: 2.0 - 0.01 * s, high: 2.1 - 0.005 * s} for s in range(0, 50, 10)}
    made = run_of(table, framework="nanoGPT", format="nanogpt")  # type: ignore[arg-type]
    for question in (
        "how much does val loss exceed train loss at the end?",
        "val loss 比 train loss 高多少",
        "gap between val loss and train loss",
        "val loss 和 train loss 的差距是多少",
        "val loss minus train loss",
        "val loss 与 train loss 相差多少",
        "how much higher is val loss than train loss?",
        "by how much is val loss above train loss at the last step",
        "最后 val loss 减去 train loss 是多少",
        "how far apart are val loss and train loss",
    ):
        has(ask(question, made), minus(table[40][high], table[40][low]), "step 40")


def test_difference_of_unlike_quantities_is_refused() -> None:
    for question in (
        "gap between critic/score/mean and response_length/mean",
        "critic/score/mean 和 response_length/mean 相差多少",
    ):
        answer = ask(question)
        assert answer.verdict.code == "no_data"
        assert shown(LENGTH, column(LENGTH)[80], answer.language) not in answer.answer


def test_value_and_crossing_asked_at_once_both_are_told() -> None:
    step = next(s for s, value in column(ENTROPY).items() if value < 0.5)
    for question in (
        "actor/entropy 在 step 3 是多少，哪步降到 0.5 以下",
        "what is actor/entropy at step 3, and when does it drop below 0.5?",
    ):
        answer = ask(question)
        has(answer, shown(ENTROPY, column(ENTROPY)[3], answer.language), f"step {step}")


def test_part_beyond_the_log_is_said_to_be_empty() -> None:
    for question in ("max entropy after step 500", "entropy 在 step 500 之后的平均值"):
        answer = ask(question)
        assert answer.verdict.code == "no_data"


def test_both_languages_state_the_same_facts() -> None:
    pairs = (
        ("max entropy after step 40", "entropy 在 step 40 之后的最大值"),
        ("second highest actor/entropy", "actor/entropy 第二高是多少"),
        ("median of actor/entropy", "actor/entropy 的中位数"),
        ("how many steps have negative actor/ppo_kl", "actor/ppo_kl 负的有几步"),
        ("longest rising streak of critic/score/mean", "critic/score/mean 连续上升最长几步"),
    )
    for en, zh in pairs:
        stated = [{(f.name, f.metric, f.step, f.value) for f in ask(q).facts} for q in (en, zh)]
        assert stated[0] == stated[1]


def test_run_holds_no_ties() -> None:
    for metric in (SCORE, ENTROPY, KL, GRAD):
        held = run().series(metric)[1]
        assert len(set(held)) == len(held)
