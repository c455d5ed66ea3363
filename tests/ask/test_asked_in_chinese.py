"""Values around a step, signs, gaps of stages, the last two values, and other things asked in a working day."""

from __future__ import annotations

from functools import lru_cache
from statistics import median

import pytest

from assistant.model import Missing, Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ENTROPY, SCORE, ask, column, has, shown

STEPS = range(1, 41)


@lru_cache(maxsize=1)
def timed() -> Run:
    return run_of(
        {
            step: {"timing_s/gen": 60.0, "timing_s/update_actor": 40.5, "timing_s/step": 110.0,
                   "actor/pg_loss": 0.01 if step % 4 else -0.02}
            for step in STEPS
        }
    )  # fmt: skip


def test_the_values_around_an_extreme_are_listed() -> None:
    answer = ask("熵最高那步前后各 2 步都是多少")
    values = column(ENTROPY)
    top = max(values, key=lambda step: values[step])
    first = max(1, top - 2)
    has(answer, *(shown(ENTROPY, values[step], "zh") for step in range(first, top + 3)))
    assert list(answer.slots.steps.values) == [first, top + 2]


def test_the_values_around_a_step_named_are_listed() -> None:
    values = column(SCORE)
    has(ask("critic/score/mean 第 30 步前后各 3 步"), *(shown(SCORE, values[step], "zh") for step in range(27, 34)))


def test_which_sign_is_more_frequent_is_counted() -> None:
    answer = ask("pg_loss 正的多还是负的多", timed())
    assert answer.answer.startswith("**正的多")
    has(answer, "30 个 step 为正", "10 个为负")


@pytest.mark.parametrize("question", ["生成比更新慢多少秒", "生成比训练多花多少时间"])
def test_one_stage_against_another_tells_the_gap(question: str) -> None:
    has(ask(question, timed()), "60 秒", "40.5 秒", "前者多 19.5 秒")


def test_the_last_two_values_are_set_against_each_other() -> None:
    values = column(SCORE)
    has(ask("critic/score/mean 最后两次差多少"), "step 80", "step 79", shown(SCORE, abs(values[80] - values[79]), "zh"))


def test_the_widest_gap_of_two_metrics_leads() -> None:
    run = run_of(
        {step: {"critic/vpred_mean": 0.5, "critic/returns/mean": 0.5 - (0.4 if step == 23 else 0.01)} for step in STEPS}
    )
    assert "step 23" in ask("vpred_mean 和 returns mean 差得最大的是哪步", run).answer.splitlines()[0]


def test_a_tenth_of_the_first_value_is_looked_for() -> None:
    run = run_of({step: {"critic/vf_loss": 10.0 / step} for step in STEPS})
    has(ask("critic 的损失什么时候降到初始的十分之一", run), "step 10")


def test_a_median_asked_beside_a_count_is_told() -> None:
    has(ask("critic/score/mean 中位数多少，有多少步超过 0.4"), shown(SCORE, median(column(SCORE).values()), "zh"))


def test_points_are_no_minutes() -> None:
    run = run_of({step: {"reward": 0.25 * step, "kl": 0.1} for step in STEPS}, framework="TRL")
    has(ask("reward 到 5 分是哪步", run), "step 20")
    assert "300" not in ask("reward 到 5 分是哪步", run).answer


def test_step_times_lost_in_a_cut_are_not_said_to_be_unlogged() -> None:
    table = {step: {"timing_s/step": 100.0, "timing_s/gen": 60.0, SCORE: 0.5} for step in STEPS}
    table[5] = {SCORE: 0.5}
    run = run_of(table, missing=(Missing("timing_s/step", 5, 5, "line_cut", 4096),))
    answer = ask("第 5 步比第 4 步慢在哪", run)
    assert "没有步时" not in answer.answer
    has(answer, "step 5")


def test_an_expansion_of_a_metric_asked_with_an_extreme_is_told_first() -> None:
    leads = ask("response_length/mean 有没有变长 最长哪步").answer.split("\n\n")
    assert "上升" in leads[0]
    assert "最大" in leads[1]


@pytest.mark.parametrize("question", ["entropy 掉得最快的一段", "熵降得最猛的那一段是哪"])
def test_the_steepest_stretch_is_asked_without_a_question_word(question: str) -> None:
    assert "降得最快的一段" in ask(question).answer.splitlines()[0]


def test_a_count_of_none_is_said_in_plain_words() -> None:
    assert ask("critic/score/mean 有几步超过 8").answer.startswith("**没有：")
    answer = ask("critic/score/mean 从未低于 -5 吗，低于 -5 的有几步").answer  # yes to the first, none to the second
    assert answer.startswith("**是：")
    assert "**没有：`critic/score/mean` 低于 -5 的有 0 个 step" in answer


def test_from_a_step_on_is_a_part_however_the_step_is_written() -> None:
    answer = ask("critic/score/mean step 40 之后还涨不")
    assert (answer.intent, answer.slots.steps.kind) == ("trend", "range")
    assert list(answer.slots.steps.values) == [40, 80]


def test_values_at_both_ends_are_no_judgement() -> None:
    answer = ask("熵开头和结尾各多少")
    values = column(ENTROPY)
    has(answer, shown(ENTROPY, values[1], "zh"), shown(ENTROPY, values[80], "zh"))
    assert answer.intent == "lookup"


def test_the_rank_of_a_steps_value_is_told() -> None:
    values = column(SCORE)
    place = sum(value > values[50] for value in values.values()) + 1
    has(ask("第 50 步的 critic/score/mean 排第几"), shown(SCORE, values[50], "zh"), f"第 {place}")


def test_a_third_in_figures_is_a_part_of_the_run() -> None:
    early, late = (list(column(ENTROPY, *part).values()) for part in ((1, 27), (54, 80)))
    answer = ask("熵前 1/3 和后 1/3 的平均差多少")
    has(answer, shown(ENTROPY, sum(early) / len(early), "zh"), shown(ENTROPY, sum(late) / len(late), "zh"))


def test_the_first_step_of_a_log_with_every_twentieth_is_its_first() -> None:
    run = run_of({step: {"kl": step / 1000, "reward": 0.5} for step in range(20, 420, 20)}, framework="TRL")
    has(ask("第一步的 kl 是多少", run), "step 20", "0.02")
    has(ask("kl 比第一步高了几倍", run), "step 400", "20 倍")


def test_another_metric_at_a_first_crossing_is_of_that_step() -> None:
    run = run_of({step: {"train loss": 3.0 - 0.1 * step, "val loss": 3.0 - 0.05 * step} for step in range(1, 21)})
    has(ask("train loss 第一次低于 1.55 的时候 val loss 是多少", run), "step 15", "2.25")
