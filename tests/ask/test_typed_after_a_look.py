"""Questions as they are typed in Chinese after a look at the log: every number against the log's own values."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has

STEPS = range(1, 41)
WOBBLE = (0.0, 0.03, -0.02, 0.01, -0.01)


@lru_cache(maxsize=1)
def made() -> Run:
    """Forty steps of an actor and a critic; the entropy crosses 0.5 for good after a relapse."""
    table = {}
    for step in STEPS:
        table[step] = {
            "critic/rewards/mean": round(0.1 + 0.01 * step + WOBBLE[step % 5], 4),
            "actor/entropy": 0.55 if step in {11, 12} else round(0.3 + 0.01 * step, 4),
            "actor/grad_norm": round(1.0 + 0.1 * (step % 7), 3),
            "critic/grad_norm": round(20.0 + 3.0 * (step % 5), 3),
            "response_length/mean": 300.0 + step,
            "response_length/max": 1200.0 + 2 * step,
            "response_length/min": 30.0,
            "timing_s/gen": 30.0 + step % 3,
            "timing_s/step": 60.0 + step % 4,
        }
    return run_of(table)


def _column(metric: str) -> list[float]:
    return [float(value) for value in made().series(metric)[1]]


@pytest.mark.parametrize(
    "question",
    [
        "最后一步 response_length 的 max 是 mean 的几倍",
        "response_length 的 max 是 mean 的几倍？拿最后一步算",
        "step 40 的 response_length/max 是 response_length/mean 的几倍",
    ],
)
def test_two_members_of_a_family_named_each_are_divided(question: str) -> None:
    has(ask(question, made()), "3.76")  # 1280 / 340


def test_two_members_of_a_family_over_the_run_are_divided_step_by_step() -> None:
    pairs = zip(_column("response_length/max"), _column("response_length/mean"), strict=True)
    ratios = [a / b for a, b in pairs]
    has(ask("response_length 的 max 是 mean 的几倍", made()), f"{sum(ratios) / len(ratios):.2f}")


@pytest.mark.parametrize(
    "question",
    ["reward 有几步是比前一步低的？", "reward 有几步下降了", "reward 有几次比前一步低", "reward 有多少步比上一步低"],
)
def test_steps_below_the_one_before_are_counted(question: str) -> None:
    values = _column("critic/rewards/mean")
    falls = sum(b < a for a, b in pairwise(values))
    has(ask(question, made()), f"{falls} 次")


def test_steps_above_the_one_before_are_counted() -> None:
    values = _column("critic/rewards/mean")
    rises = sum(b > a for a, b in pairwise(values))
    answer = ask("reward 有多少步比上一步高", made())
    has(answer, f"{rises} 次")
    assert answer.slots.op == "count"


@pytest.mark.parametrize(
    "question",
    [
        "entropy 从多少步开始就稳定在 0.5 以上了",
        "entropy 从哪步开始稳定在 0.5 以上",
        "entropy 什么时候开始一直高于 0.5",
    ],
)
def test_step_from_which_a_limit_holds_for_good_is_no_first_crossing(question: str) -> None:
    answer = ask(question, made())
    has(answer, "step 21")
    assert "第一次" not in answer.answer


@pytest.mark.parametrize("question", ["entropy 从哪一步起就没有低于 0.5 过", "entropy 从哪步起再也没低于 0.5"])
def test_limit_that_was_not_undercut_again_holds_from_its_step_on(question: str) -> None:
    has(ask(question, made()), "step 20")


@pytest.mark.parametrize("word", ["步数占比", "占总步数的比例", "步数占总步数的百分之几"])
def test_words_for_the_count_name_no_metric_beside_the_one_counted(word: str) -> None:
    table = {step: {"loss": 0.4 if step <= 10 else 0.8, "total_steps": 400.0, "percentage": step / 4} for step in STEPS}
    answer = ask(f"loss 小于 0.5 的{word}", run_of(table))
    has(answer, "25.0%")
    assert "total_steps" not in answer.answer
    assert "percentage" not in answer.answer


@pytest.mark.parametrize(
    "question",
    [
        "actor 和 critic 的 grad_norm 最后一步各是多少",
        "critic 和 actor 的 grad_norm 最后一步各是多少",
        "actor、critic 的 grad_norm 最后一步分别是多少",
        "what are the actor and critic grad norms at step 40",
    ],
)
def test_metric_of_two_owners_is_told_of_both(question: str) -> None:
    answer = ask(question, made())
    has(answer, "`actor/grad_norm`", "`critic/grad_norm`")
    assert {fact.metric for fact in answer.facts if fact.step == 40} >= {"actor/grad_norm", "critic/grad_norm"}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("最后一步的 entropy 是 0.7 吗", "对"),
        ("step 5 的 entropy 是 0.35 吗", "对"),
        ("step 5 的 entropy 是 0.62 吗", "不是 0.62"),
        ("timing_s/gen 平均是 31 秒吗", "对"),
        ("timing_s/gen 平均是 30.4 秒，对吧", "不对"),
        ("timing_s/step 平均是 61.5 秒，对吗", "对"),
        ("timing_s/step 平均要 1 分钟对吧", "对"),
    ],
)
def test_value_asked_by_yes_or_no_is_confirmed_or_denied_first(question: str, first: str) -> None:
    answer = ask(question, made())
    assert answer.answer.lstrip("*").startswith(first)


def test_mean_put_for_confirmation_is_told_as_a_mean() -> None:
    values = _column("timing_s/step")
    has(ask("timing_s/step 平均要 90 秒对吧", made()), "平均为", f"{sum(values) / len(values):.1f} 秒")


@lru_cache(maxsize=1)
def clocked() -> Run:
    """A log in milliseconds whose clock counts on from the start."""
    table = {
        step: {"val_loss": 5.0 - 0.04 * step, "train_time": 216.0 * step, "step_avg": 216.0 + 0.4 * (step % 3)}
        for step in STEPS
    }
    return run_of(table, framework="modded-nanogpt")


@pytest.mark.parametrize("question", ["step_avg 是 216ms，对吗", "step_avg 是 216ms 吗"])
def test_milliseconds_put_for_confirmation_are_those_of_the_log(question: str) -> None:
    assert ask(question, clocked()).answer.lstrip("*").startswith("对：")


@pytest.mark.parametrize(
    "question",
    [
        "val_loss 什么时候第一次低于 4.5，跑了多久到的",
        "到 step 13 跑了多久",
        "val_loss 降到 4.5 以下花了多长时间",
        "how long did it take to get val_loss below 4.5",
    ],
)
def test_time_to_a_place_is_the_clock_there(question: str) -> None:
    answer = ask(question, clocked())
    assert any(fact.step == 13 and fact.value == pytest.approx(2.808) for fact in answer.facts)
    assert not any(fact.step == 40 and fact.metric == "train_time" for fact in answer.facts)


@pytest.mark.parametrize("question", ["跑到第 8 步花了多久", "到 step 8 为止跑了多少秒"])
def test_time_to_a_step_is_the_sum_of_the_steps_before(question: str) -> None:
    spent = sum(_column("timing_s/step")[:8])
    assert any(fact.value == pytest.approx(spent) for fact in ask(question, made()).facts)


def test_time_to_a_limit_of_a_log_without_times_is_said_to_be_none() -> None:
    run = run_of({step: {"actor/entropy": 0.3 + 0.01 * step} for step in STEPS})
    has(ask("entropy 超过 0.5 花了多长时间", run), "没有记录耗时", "step 21")


@pytest.mark.parametrize("question", ["照这个速度跑到 100 步要多久", "跑到第 100 步要多久"])
def test_time_to_a_step_to_come_is_what_is_left(question: str) -> None:
    answer = ask(question, made())
    assert answer.intent == "forecast"
    assert any(fact.value == 60 for fact in answer.facts)


def _rewarded() -> Run:
    table = {
        step: {
            "reward": round(0.2 * step, 3), "rewards/format": round(1.0 + 0.01 * step, 3),
            "rewards/answer": round(-0.5 + 0.04 * step, 3), "rewards/length": round(0.9 - 0.01 * step, 3),
        }
        for step in STEPS
    }  # fmt: skip
    return run_of(table, framework="TRL", format="trl")


@pytest.mark.parametrize(
    "question",
    [
        "哪个奖励函数涨得最多",
        "三个奖励里哪个涨得最多",
        "rewards 里哪一项涨幅最大",
        "which reward function improved the most?",
    ],
)
def test_part_of_the_reward_that_rose_most_is_no_single_move_of_the_whole(question: str) -> None:
    answer = ask(question, _rewarded())
    has(answer, "`rewards/answer`", "-0.46", "1.1")
    assert answer.answer.index("`rewards/answer`") < 40


def test_highest_part_at_the_end_and_the_one_that_rose_most_are_both_told() -> None:
    answer = ask("三个 reward 分量里哪个最后最高，哪个涨得最多", _rewarded())
    has(answer, "最后最高的是 `rewards/format`：1.4", "变得最多的是 `rewards/answer`")


def test_part_of_the_reward_that_fell_most_is_the_one_that_fell() -> None:
    has(ask("哪个奖励跌得最多", _rewarded()), "变得最多的是 `rewards/length`：由 0.89 变为 0.5")


@lru_cache(maxsize=1)
def evaluated() -> Run:
    """Evaluations under keys of their own, one of them how many were scored."""
    table: dict[int, dict[str, float]] = {step: {"loss": 1.0 / step, "mean_reward": 0.5} for step in STEPS}
    for step in range(10, 41, 10):
        table[step] |= {
            "eval_n_scored": 150.0, "eval_total": 0.5 + step / 100, "eval_format": 1.0, "eval_prm": 0.9 - step / 1000,
        }  # fmt: skip
    return run_of(table, framework="", format="csv")


@pytest.mark.parametrize(
    "question", ["最后一次 eval 比第一次 eval 好吗", "eval 有提升吗", "最后一次评测和第一次评测相比有提升吗"]
)
def test_evaluations_first_against_last_tell_how_many_rose(question: str) -> None:
    answer = ask(question, evaluated())
    has(answer, "3 个评估指标里 1 个升、1 个降、1 个首尾相同", "0.6 → 0.9")
    assert "eval_n_scored" not in answer.answer


@pytest.mark.parametrize("question", ["有没有特别慢的 iter", "有没有特别慢的步，为什么慢", "哪些步特别慢"])
def test_slow_steps_are_told_with_the_validation_that_they_hold(question: str) -> None:
    table = {step: {"loss": 2.0 / step, "step_time": 900.0 if step % 10 == 0 else 60.0} for step in STEPS}
    for step in range(10, 41, 10):
        table[step]["val loss"] = 1.0
    answer = ask(question, run_of(table, framework="nanoGPT", format="nanogpt"))
    has(answer, "最慢的几步", "step 10", "step 40", "做了验证")


def test_slow_steps_of_a_log_that_times_stages_are_those_of_their_sum() -> None:
    table = {
        step: {"timing/gen": 90.0 if step == 17 else 20.0, "timing/update_actor": 30.0, "actor/entropy_loss": 0.3}
        for step in STEPS
    }
    has(ask("有没有特别慢的步", run_of(table)), "step 17", "120 秒", "各阶段耗时之和")


@pytest.mark.parametrize("question", ["平均一步多少秒", "一步要多久"])
def test_step_time_of_a_log_with_a_bar_is_that_of_the_bar(question: str) -> None:
    extras = {"total_steps": (400, 1), "seconds_per_step": (74.5, 1)}
    run = run_of({step: {"loss": 1.0 / step} for step in STEPS}, framework="TRL", format="trl", extras=extras)
    has(ask(question, run), "74.5 秒")


def test_step_time_of_a_log_that_prints_the_time_left_is_worked_out() -> None:
    extras = {"total_steps": (400, 1), "seconds_left": (3600.0, 40)}
    run = run_of({step: {"loss": 1.0 / step} for step in STEPS}, framework="LLaMA-Factory", extras=extras)
    has(ask("一步要多少秒", run), "10 秒", "360")


@pytest.mark.parametrize("question", ["这个跑到一半被 kill 了吧，跑了百分之几", "进度跑到百分之多少了", "跑了百分之几"])
def test_how_far_a_run_got_is_told_in_per_cent(question: str) -> None:
    run = run_of({step: {"loss": 1.0 / step} for step in STEPS}, extras={"total_steps": (160, 1)})
    answer = ask(question, run)
    has(answer, "25.0%", "160")
    assert "step 20" not in answer.answer
