"""Everyday questions, put to runs of which every number is known: each is answered, and no other one in its place."""

from __future__ import annotations

import math
import re
from functools import lru_cache

import pytest

from assistant.ask import run_questions, unread
from assistant.model import KnowledgeError, Run
from tests.analysis.support import geometry, run_of
from tests.ask.computed_support import ask, has

SCORE, ENTROPY, KL, LR, GRAD = "critic/score/mean", "actor/entropy", "actor/kl_loss", "actor/lr", "actor/grad_norm"
LENGTH, LONGEST = "response_length/mean", "response_length/max"
STEPS = range(1, 61)


def _entropy(step: int) -> float:
    return round(0.8 * 0.96**step + 0.002 * (step % 3), 5)


def _score(step: int) -> float:
    """Rising but for one deep drop at step 31."""
    return round(0.2 + 0.008 * step + 0.01 * (step % 4) - (0.2 if step == 31 else 0.0), 5)


def _kl(step: int) -> float:
    """Above one at steps 20 to 29 and never again."""
    return round((1.5 if 20 <= step < 30 else 0.3) + 0.01 * (step % 5), 5)


@lru_cache(maxsize=1)
def made() -> Run:
    return run_of(
        {
            step: {
                SCORE: _score(step), ENTROPY: _entropy(step), KL: _kl(step),
                LR: min(step, 10) * 1e-7, LENGTH: 500.0 + step, LONGEST: 900.0 + (400 if step in {7, 33} else 0),
                "timing_s/gen": 50.0 + (30.0 if step == 17 else step / 10), "timing_s/update_actor": 40.0,
                "timing_s/step": 100.0 + (30.0 if step == 17 else step / 10),
            }
            for step in STEPS
        }
    )  # fmt: skip


@lru_cache(maxsize=1)
def small() -> Run:
    """A log of three metrics of a framework whose rules nobody knows."""
    table = {step: {"loss": round(2 / step + 0.01 * (step % 2), 5), "lr": 1e-5, "epoch": step / 50} for step in STEPS}
    return run_of(table, framework="LLaMA-Factory", format="jsonl")


# -- against another value of the same metric --------------------------------------------------------------------------
@pytest.mark.parametrize(
    "question",
    [
        "which step had the largest drop in score compared with the previous one?",
        "哪一步 score 跌得最多",
        "score 单步最大跌幅",
        "what was the biggest one-step fall of critic/score/mean",
        "score 掉得最狠的一步是哪步",
    ],
)
def test_neighbours_largest_drop_names_both_steps(question: str) -> None:
    answer = ask(question, made())
    has(answer, SCORE, "31", "30")
    assert answer.slots.op == "argmin"
    change = next(fact for fact in answer.facts if fact.kind == "change")
    assert (change.from_step, change.to_step) == (30, 31)
    assert change.delta == pytest.approx(_score(31) - _score(30))


@pytest.mark.parametrize(
    ("question", "factor"),
    [
        ("entropy 掉到初始的一半是在第几步", 0.5),
        ("when was entropy half of its initial value", 0.5),
        ("entropy 什么时候减半", 0.5),
        ("entropy 降到起始值的 30% 是哪一步", 0.3),
        ("which step did entropy fall to a quarter of where it started", 0.25),
    ],
)
def test_of_start_first_step_at_the_share_is_named(question: str, factor: float) -> None:
    first = next(step for step in STEPS if _entropy(step) <= factor * _entropy(1))
    answer = ask(question, made())
    assert f"step {first}" in answer.answer
    assert answer.slots.op == "first_crossing"


def test_of_start_never_reached_is_said_with_the_nearest() -> None:
    answer = ask("entropy 翻倍了吗", made())
    has(answer, "没有", f"{max(map(_entropy, STEPS)):.3g}")


def test_of_start_negative_start_is_refused() -> None:
    run = run_of({step: {SCORE: -1.0 + 0.1 * step} for step in STEPS})
    answer = ask("score 什么时候到初始值的 2 倍", run)
    assert answer.verdict.code == "no_data"
    assert "不是正数" in answer.answer


@pytest.mark.parametrize(
    "question", ["step 31 的 score 比平均低多少", "how far is the score at step 31 below the mean"]
)
def test_against_mean_one_step_gives_the_distance(question: str) -> None:
    mean = math.fsum(map(_score, STEPS)) / len(STEPS)
    answer = ask(question, made())
    has(answer, f"{_score(31):.3f}", f"{mean:.3f}", f"{mean - _score(31):.3f}")


def test_against_mean_steps_above_it_are_counted() -> None:
    mean = math.fsum(map(_score, STEPS)) / len(STEPS)
    answer = ask("which steps have a score above average?", made())
    has(answer, f"at {sum(_score(step) > mean for step in STEPS)} steps")


# -- limits: came back, how long, always -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "question",
    [
        "did kl_loss ever cross 1, when, and did it come back?",
        "kl_loss 超过 1 之后又降回来了吗",
        "actor/kl_loss went above 1, did it recover?",
        "kl_loss 高于 1 之后有没有恢复",
    ],
)
def test_returned_after_crossing_says_so_with_first_last_and_latest(question: str) -> None:
    answer = ask(question, made())
    has(answer, "step 20", "step 29", "step 60", "10")
    assert re.match(r"\*\*(It came back|回来了)", answer.answer)


def test_returned_never_came_back_says_so() -> None:
    run = run_of({step: {ENTROPY: 0.5 if step < 10 else 0.05} for step in STEPS})
    answer = ask("entropy 低于 0.1 之后恢复了吗", run)
    assert answer.answer.startswith("**没有回来")
    has(answer, "step 10")


@pytest.mark.parametrize("question", ["score 到 0.5 用了多少步", "how many steps until the score passed 0.5"])
def test_steps_until_counts_from_the_first_value(question: str) -> None:
    first = next(step for step in STEPS if _score(step) > 0.5)
    answer = ask(question, made())
    has(answer, f"step {first}", str(first - 1))


def test_always_holds_is_yes_and_an_exception_is_no() -> None:
    assert ask("is entropy always above 0?", made()).answer.startswith("**Yes")
    answer = ask("kl_loss 是不是一直低于 1", made())
    assert answer.answer.startswith("**不是")
    has(answer, "10 个 step")


def test_at_crossing_tells_the_other_metric_there() -> None:
    answer = ask("when did kl_loss first exceed 1 and what was the score then", made())
    has(answer, "step 20", f"{_score(20):.3g}")


def test_counted_limit_on_means_tells_the_single_ones_too() -> None:
    answer = ask("哪几步回答长度超过 1000", made())
    has(answer, LONGEST, "7、33")


# -- schedules, trust, reference ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "question", ["学习率有没有warmup，到第几步结束？", "when did the lr warm-up end", "lr 的 warmup 到哪一步"]
)
def test_schedule_warmup_ends_where_the_rate_is_highest(question: str) -> None:
    answer = ask(question, made())
    has(answer, "step 10", "1e-06")
    assert answer.verdict.code in {"rising", "fluctuating"}


def test_schedule_constant_rate_has_no_warmup() -> None:
    answer = ask("有 warmup 吗", small())
    has(answer, "看不到 warmup", "1e-05")
    assert answer.verdict.code == "flat"


def test_schedule_without_a_rate_says_that_the_log_holds_none() -> None:
    answer = ask("有 warmup 吗", run_of({step: {SCORE: 0.1 * step} for step in STEPS}))
    assert "没有学习率" in answer.answer


@pytest.mark.parametrize(
    "question", ["score 一直涨，能放心吗", "can I trust this rise of the score?", "这次训练靠谱吗"]
)
def test_trust_findings_come_first(question: str) -> None:
    table = {
        step: {SCORE: 0.1 + 0.01 * step, LENGTH: 900.0 if step < 20 else 9.0 + 0.1 * (step % 3), ENTROPY: 0.4}
        for step in STEPS
    }
    answer = ask(question, run_of(table))
    assert answer.verdict.code in {"critical", "warning"}
    assert answer.findings
    assert "900" in answer.answer.split("\n\n")[0]


def test_reference_range_is_told_with_where_the_log_stands() -> None:
    answer = ask("grad_norm 多少算正常", run_of({step: {GRAD: 0.1 + 0.01 * (step % 7)} for step in STEPS}))
    assert answer.intent == "define"
    has(answer, "0.1", "0.16")


# -- smoothing, correlation, scatter, pace -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "question", ["entropy 的 moving average 是降的吗", "smoothed over 10 steps, is entropy falling?"]
)
def test_smoothed_tells_both_ends_of_the_moving_average(question: str) -> None:
    width = 10 if "10" in question else 6
    ends = [math.fsum(map(_entropy, span)) / width for span in (STEPS[:width], STEPS[-width:])]
    answer = ask(question, made())
    has(answer, *(f"{value:.3g}" for value in ends))
    assert answer.verdict.code == "falling"


@pytest.mark.parametrize("question", ["which metric correlates most with the score?", "哪个指标和 score 最相关"])
def test_companions_names_the_metric_with_the_largest_rho(question: str) -> None:
    answer = ask(question, made())
    assert answer.intent == "lookup"
    assert LENGTH in answer.answer.split("\n\n")[0] or ENTROPY in answer.answer.split("\n\n")[0]


def test_noisiness_grows_where_the_scatter_grows() -> None:
    run = run_of({step: {SCORE: 1.0 + (0.001 if step < 30 else 0.2) * (-1) ** step} for step in STEPS})
    assert ask("score 的波动变小了吗", run).answer.startswith("**波动变大了")


@pytest.mark.parametrize("question", ["score 每 10 步涨多少", "how much does the score gain per 10 steps"])
def test_pace_is_per_so_many_steps(question: str) -> None:
    per_ten = (_score(60) - _score(1)) / 59 * 10
    has(ask(question, made()), f"{per_ten:.3g}")


def test_percent_change_is_relative_to_the_first_value() -> None:
    answer = ask("entropy 下降了百分之多少", made())
    assert re.search(r"-9\d\.?\d*%", answer.answer)


# -- parts of a step, counts -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "question",
    [
        "which step burnt the most time in generation, and how much of that step was it?",
        "哪一步 generation 最久，占那一步多少",
        "生成最慢的是哪步？占比多少",
    ],
)
def test_longest_share_is_of_the_longest_step(question: str) -> None:
    answer = ask(question, made())
    has(answer, "step 17", "61.5%")


def test_stage_growth_names_the_stage_that_grew_most() -> None:
    answer = ask("which stage grew the most from step 1 to step 60", made())
    assert "timing_s/gen" in answer.answer.split("\n\n")[0]
    assert answer.intent == "bottleneck"


def test_samples_are_trajectories_times_steps() -> None:
    run = run_of({step: {**geometry(), SCORE: 0.1 * step} for step in range(1, 6)})
    has(ask("一共训了多少条 response", run), "1,280", "256")


def test_steps_per_epoch_follow_from_two_epochs() -> None:
    has(ask("一个 epoch 多少步", small()), "50 步")


# -- several questions in one sentence ---------------------------------------------------------------------------------
def test_further_clause_asking_for_the_trend_is_answered() -> None:
    answer = ask("what is the score on average, and is it rising?", made())
    mean = math.fsum(map(_score, STEPS)) / len(STEPS)
    assert f"{mean:.3g}" in answer.answer
    assert any(fact.kind == "trend" for fact in answer.facts)


def test_further_clause_asking_for_what_came_after_an_extreme_is_answered() -> None:
    answer = ask("最高 kl_loss 是多少，出现在哪一步，之后掉了吗", made())
    low = min(_kl(step) for step in range(25, 61))
    has(answer, f"{_kl(24):.3g}", f"{low:.3g}")


def test_from_to_with_an_extreme_tells_both_ends_and_the_step() -> None:
    answer = ask("kl_loss 从多少到多少，最高是第几步", made())
    has(answer, f"{_kl(1):.3g}", f"{_kl(60):.3g}", "step 24")


# -- what is not there, and what is not computed -----------------------------------------------------------------------
@pytest.mark.parametrize(
    "question", ["grad_norm 有没有尖峰", "is the entropy healthy?", "reward 怎么样", "did the kl explode?"]
)
def test_absent_metric_is_said_to_be_absent(question: str) -> None:
    answer = ask(question, small())
    has(answer, "`loss`", "`lr`")
    assert answer.verdict.code == "no_data"


def test_absent_metric_whose_meaning_is_asked_is_not_replaced() -> None:
    answer = ask("vf_explained_var 为负说明什么", run_of({step: {"critic/vf_loss": 0.5} for step in STEPS}))
    assert answer.intent == "define"
    assert "explained" in answer.answer.split("\n\n")[0]
    assert "没有" in answer.answer


def test_unknown_name_is_not_taken_for_a_metric() -> None:
    answer = ask("hit rate 是什么", small())
    assert answer.verdict.code == "unknown_metric"
    assert "hit rate" in answer.answer


def test_qualified_name_is_taken_for_the_key_that_holds_the_word() -> None:
    run = run_of({step: {"mean_reward": 0.5, "eval_format": min(1.0, step / 20)} for step in STEPS}, framework=None)
    answer = ask("format reward 什么时候到 1 的", run)
    has(answer, "eval_format", "step 20")
    assert answer.slots.op == "first_crossing"


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("reward 的二阶导数是多少", "二阶导"),
        ("average score per epoch", "per epoch"),
        ("skewness of the score", "skewness"),
        ("score 的自相关系数", "自相关系数"),
    ],
)
def test_unread_operation_is_said_in_front(question: str, word: str) -> None:
    assert f"“{word}”" in ask(question, made()).answer.split("\n\n")[0]


def test_unread_operations_file_with_an_unknown_field_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    unread.operations.cache_clear()
    monkeypatch.setattr(unread.resources, "yaml_table", lambda path: {"odd": {"re": "x", "weight": 1}})
    with pytest.raises(KnowledgeError, match="odd"):
        unread.operations()
    unread.operations.cache_clear()


def test_penalty_is_derived_where_loss_over_kl_is_one_number() -> None:
    table = {s: {"loss": round(0.04 * (0.5 + s / 10), 4), "kl": 0.5 + s / 10, "reward": 0.1 * s} for s in STEPS}
    run = run_of(table, framework="TRL", format="hf-dict")
    has(ask("beta 是多少", run), "0.04")
    assert ask("beta 是多少", made()).verdict.code == "no_data"


@pytest.mark.parametrize(
    "question", ["rollout 和训练的 logprob 差得大吗", "is there a rollout/training logprob mismatch?"]
)
def test_mismatch_without_a_key_names_the_setting(question: str) -> None:
    has(ask(question, made()), "calculate_log_probs")


@pytest.mark.parametrize("question", ["平均一步几秒", "how many seconds does a step take?"])
def test_step_time_without_any_time_is_said_to_be_absent(question: str) -> None:
    answer = ask(question, small())
    assert answer.verdict.code == "no_data"
    assert "timing_s/step" in answer.answer


def test_statistics_apart_takes_pass_for_best_of_one_set() -> None:
    stem = "val-core/aime_2024/acc"
    run = run_of(
        {0: {f"{stem}/best@16/mean": 0.25, f"{stem}/maj@16/mean": 0.125, f"{stem}/mean@16": 0.1}, 1: {SCORE: 0.2}}
    )
    has(ask("aime24 pass@16 和 maj@16 差多少", run), "25.0%", "12.5%", "+12.5")


def test_lookup_without_steps_is_a_sentence_and_a_list_is_a_table() -> None:
    assert "| --- |" not in ask("entropy 多少", made()).answer
    assert "| --- |" in ask("list all values of entropy", made()).answer


def test_kinds_have_writers_that_exist() -> None:
    from importlib import import_module

    for kind in run_questions.kinds():
        module, _, function = kind.writer.partition(".")
        assert callable(getattr(import_module(f"assistant.ask.{module}"), function)), kind.name
