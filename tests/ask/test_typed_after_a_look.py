"""Questions as they are typed in Chinese after a look at the log: every number against the log's own values."""

from __future__ import annotations

from collections.abc import Callable
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


def test_limit_that_held_is_told_to_have_held_from_where_it_was_crossed() -> None:
    answer = ask("loss 从第几步开始低于 0.2，一直保持住了吗", run_of({s: {"loss": 3.0 / s} for s in STEPS}))
    has(answer, "没有回来", "step 16")


def test_last_time_of_a_condition_asked_behind_its_count_is_that_of_the_condition() -> None:
    table = {step: {"reward": -1.0 if step in {2, 5, 9} else 1.0} for step in STEPS}
    answer = ask("reward 是负的步数有多少，最后一次是第几步", run_of(table, framework="TRL", format="trl"))
    has(answer, "3 个 step 为负", "最后一次低于 0 是在 step 9")


def test_falls_below_a_second_limit_are_counted_of_a_key_with_mean_in_it() -> None:
    values = {step: 0.72 if step in {10, 20, 30} else 0.6 for step in STEPS}
    run = run_of({step: {"critic/score/mean": value} for step, value in values.items()})
    has(ask("critic/score/mean 超过 0.7 之后又掉回 0.65 以下过几次", run), "step 10", "28 个 step 低于 0.65")


def test_overfitting_asked_beside_two_losses_is_judged_first() -> None:
    table: dict[int, dict[str, float]] = {step: {"train/loss": 0.5 - 0.01 * step} for step in STEPS}
    for step in (20, 40):
        table[step]["val/loss"] = 0.5
    answer = ask("train loss 比 val loss 低这么多，过拟合了吧", run_of(table))
    assert "过拟合" in answer.answer.split("\n")[0]


def test_distance_between_validations_is_told_with_their_number() -> None:
    table: dict[int, dict[str, float]] = {step: {"actor/entropy": 0.5} for step in STEPS}
    for step in range(10, 41, 10):
        table[step]["val/test_score/gsm8k"] = 0.4
    has(ask("validation 每隔多少步跑一次，一共跑了几次", run_of(table)), "每 10 步", "4 次")


@pytest.mark.parametrize(
    ("question", "value"),
    [("val loss 从最低点反弹了多少", "0.2"), ("val loss 从最低点回升了多少", "0.2")],
)
def test_move_off_an_extreme_is_the_last_value_against_it(question: str, value: str) -> None:
    table = {step: {"loss": 1.0, "val loss": round(1.0 + abs(step - 30) / 50, 3)} for step in STEPS}
    answer = ask(question, run_of(table, framework="nanoGPT", format="nanogpt"))
    has(answer, f"高 {value}", "step 30", "step 40")


@pytest.mark.parametrize("question", ["q_reward 从第几轮开始有值", "q_reward 从哪一步开始有值"])
def test_step_from_which_there_is_a_value_is_the_first_that_is_not_zero(question: str) -> None:
    run = run_of({step: {"q_reward": 0.0 if step < 14 else 0.7} for step in STEPS}, framework="", format="csv")
    has(ask(question, run), "step 14")


def test_last_steps_of_a_metric_logged_at_few_are_those_of_the_run() -> None:
    table: dict[int, dict[str, float]] = {step: {"train_loss": 9.0 - step / 10} for step in STEPS}
    for step in range(8, 41, 8):
        table[step]["val_loss"] = 10.0 - step / 10
    answer = ask("最后 20 步 val_loss 降了多少", run_of(table, framework="modded-nanogpt"))
    has(answer, "7.6（step 24）", "6（step 40）")


@pytest.mark.parametrize("word", ["异常值", "离群点", "极端值"])
def test_outliers_are_looked_for(word: str) -> None:
    table = {step: {"critic/rewards/min": -30.0 if step == 23 else -1.0 - 0.01 * (step % 4)} for step in STEPS}
    has(ask(f"critic/rewards/min 有没有{word}", run_of(table)), "step 23")


def test_why_something_would_exceed_a_limit_is_no_forecast() -> None:
    run = run_of({step: {"perf/mfu/actor": 0.8 + 0.3 * (step % 2)} for step in STEPS})
    assert ask("mfu 为什么会超过 1", run).intent != "forecast"


@pytest.mark.parametrize("question", ["第一个 iter 的 loss 是多少", "第一步的 loss 是多少"])
def test_first_step_of_a_log_that_counts_from_zero_is_zero(question: str) -> None:
    run = run_of({step: {"loss": 6.0 - 0.1 * step} for step in range(0, 200, 10)}, framework="nanoGPT")
    assert ask(question, run).slots.steps.values in {(0,), ()}
    has(ask(question, run), "step 0", "6")


def test_first_step_against_the_rest_is_a_factor() -> None:
    run = run_of({step: {"time": 640.0 if step == 0 else 64.0} for step in range(0, 200, 10)}, framework="nanoGPT")
    has(ask("第一个 iter 的 time 是其他的多少倍", run), "10 倍")


def test_loss_scale_is_no_loss() -> None:
    run = run_of({step: {"act_loss": 0.1, "cri_loss": 0.2} for step in STEPS}, framework="DeepSpeed-Chat")
    assert "`act_loss` 最近" not in ask("loss scale 掉到多少了", run).answer


def test_why_a_metric_rose_at_the_end_is_answered_for_that_metric() -> None:
    values = {step: 10.0 - 0.2 * step if step < 30 else 0.4 * step for step in STEPS}
    run = run_of(
        {step: {"value_loss": value, "other": 1.0} for step, value in values.items()}, framework="", format="csv"
    )
    answer = ask("value_loss 最后为啥又上去了", run)
    has(answer, "`value_loss`")
    assert "`other`" not in answer.answer


@pytest.mark.parametrize("question", ["学习率衰减到一半是哪一步", "lr 退火到初始值的一半是哪一步"])
def test_learning_rate_decayed_to_a_share_is_told_by_its_step(question: str) -> None:
    run = run_of({step: {"actor/lr": 1e-6 * (1 - step / 41), "actor/entropy": 0.4} for step in STEPS})
    has(ask(question, run), "step 21")


def _of(metric: str, value: Callable[[int], float], **fields: str) -> Run:
    return run_of({step: {metric: value(step)} for step in STEPS}, **fields)


@lru_cache(maxsize=1)
def two_epochs() -> Run:
    return run_of(
        {step: {"reward": 0.5 if step <= 20 else 0.8, "epoch": step / 20} for step in STEPS},
        framework="TRL", format="trl",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("第一个 epoch 的 reward 平均值", "0.5"),
        ("最后一个 epoch 的 reward 平均是多少", "0.8"),
        ("第 2 个 epoch 的 reward 均值", "0.8"),
        ("what is the mean reward in the first epoch", "0.5"),
    ],
)
def test_mean_of_an_epoch_is_over_all_its_steps(question: str, value: str) -> None:
    answer = ask(question, two_epochs())
    has(answer, value, "20 个值" if "epoch 的" in question else "20 values")


def test_epochs_set_against_each_other_are_two_parts() -> None:
    has(ask("第一个 epoch 和第二个 epoch 的 reward 平均差多少", two_epochs()), "0.5", "0.8", "0.3")


@pytest.mark.parametrize("question", ["loss 高于 0.6 的比例", "loss 高于 0.6 的步数比例"])
def test_share_of_steps_beyond_a_limit_is_told_in_per_cent(question: str) -> None:
    has(ask(question, _of("loss", lambda step: 0.7 if step % 4 == 0 else 0.5)), "25.0%")


@pytest.mark.parametrize("question", ["accuracy 为 1 的连续最长几步", "accuracy 连续为 1 的最长有几步"])
def test_longest_row_of_a_value_is_a_streak(question: str) -> None:
    has(ask(question, _of("accuracy", lambda step: float(8 <= step <= 12 or step == 20))), "最长 5 个值", "step 8")


@pytest.mark.parametrize(
    "question", ["loss 超过 1 的有几步，第一次和最后一次分别在哪", "loss 超过 1 的第一次和最后一次分别在哪一步"]
)
def test_first_and_last_of_a_condition_are_both_told(question: str) -> None:
    answer = ask(question, _of("loss", lambda step: 1.2 if step in {4, 9, 31} else 0.5))
    has(answer, "第一次高于 1 是在 step 4", "最后一次高于 1 是在 step 31")
    assert "step 39" not in answer.answer


def test_value_asked_of_what_follows_a_step_told_is_of_that_part() -> None:
    answer = ask(
        "num_turns/mean 降到 2 是哪一步，之后一直是 2 吗", _of("num_turns/mean", lambda s: max(2.0, 8.0 - 0.3 * s))
    )
    has(answer, "step 20", "是：`num_turns/mean`")


@pytest.mark.parametrize("question", ["entropy 离 0.8 还差多少", "entropy 比 0.8 低多少", "entropy 距离 0.8 还有多远"])
def test_distance_to_a_number_is_that_of_the_last_value(question: str) -> None:
    has(ask(question, _of("actor/entropy", lambda step: 0.2 + 0.01 * step)), "比 0.8 低 0.2", "step 40")


def test_distance_in_steps_stays_a_forecast() -> None:
    run = _of("actor/entropy", lambda step: 0.2 + 0.01 * step)
    assert ask("entropy 还要多少步到 0.8", run).intent == "forecast"


def test_limit_that_mostly_holds_is_told_with_how_many_hold() -> None:
    run = _of("critic/score/mean", lambda step: 0.2 if step < 15 or step == 33 else 0.6)
    has(ask("critic/score/mean 从多少步开始就基本在 0.5 以上了", run), "step 15", "26 个值里有 25 个", "step 33")


def test_mean_after_a_step_asked_for_a_change_is_set_against_before() -> None:
    run = _of("loss", lambda step: 0.9 if step <= 20 else 0.6)
    has(ask("第 20 步之后 loss 均值有没有变低", run), "0.6", "降了")


def test_share_that_a_value_fell_to_is_told_of_its_first() -> None:
    run = _of("actor/lr", lambda step: 1e-6 * (1 - step / 50))
    has(ask("lr 现在降到初始的百分之几", run), f"{100 * (1 - 40 / 50) / (1 - 1 / 50):.1f}%")


def test_times_without_a_new_best_are_counted_from_it() -> None:
    table: dict[int, dict[str, float]] = {step: {"actor/entropy": 0.5} for step in STEPS}
    for step, score in zip(range(5, 41, 5), (0.1, 0.3, 0.5, 0.6, 0.55, 0.5, 0.58, 0.52), strict=True):
        table[step]["val/test_score/gsm8k"] = score
    has(ask("验证分连续几次没涨了", run_of(table)), "step 20", "4 个值")


@pytest.mark.parametrize("question", ["吞吐最高是多少", "吞吐最低掉到多少"])
def test_extreme_of_a_rate_is_of_the_steps_and_not_of_the_mean_so_far(question: str) -> None:
    table = {
        step: {"E2E latency": 4.0, "CurSamplesPerSec": 16.0 + step % 3, "AvgSamplesPerSec": 17.0} for step in STEPS
    }
    answer = ask(question, run_of(table, framework="DeepSpeed-Chat", format="deepspeed"))
    assert answer.answer.split("\n")[0].startswith("**`CurSamplesPerSec`")


@pytest.mark.parametrize(("word", "step"), [("往上", "step 10"), ("往下", "step 30")])
def test_step_from_which_a_metric_goes_one_way_is_told(word: str, step: str) -> None:
    up = word == "往上"
    run = _of("actor/entropy", lambda s: abs(s - 10) / 50 + 0.2 if up else 1.5 - abs(s - 30) / 50)
    has(ask(f"entropy 从哪步开始一路{word}的", run), step)


def test_stretches_of_a_metric_named_between_are_told_one_by_one() -> None:
    answer = ask("每 10 步的 score 均值列一下", _of("critic/score/mean", lambda step: 0.1 * ((step - 1) // 10)))
    has(answer, "4 段", "0.3")


@pytest.mark.parametrize("question", ["跑完 100 步大概得几天", "跑完 100 步大概要多少个小时"])
def test_time_for_a_number_of_steps_is_what_is_left(question: str) -> None:
    answer = ask(question, made())
    assert answer.intent == "forecast"
    assert any(fact.value == 60 for fact in answer.facts)
