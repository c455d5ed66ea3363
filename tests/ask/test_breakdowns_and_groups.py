"""Before and after a breakdown, whole groups of keys at a step, steps that fit into a time, limits of follow-ups."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has
from tests.ask.support import answerer

SCORE, ENTROPY, LOSS, STEP = "critic/score/mean", "actor/entropy", "actor/pg_loss", "timing_s/step"
VALIDATION = "val-core/openai/gsm8k/acc/mean@1"
BROKEN = 31
"""First step without a finite loss."""


@lru_cache(maxsize=1)
def broken() -> Run:
    table = {
        step: {
            SCORE: round(0.3 + 0.005 * step, 5) if step < BROKEN else -1.0,
            ENTROPY: round(0.6 - 0.004 * step, 5) if step <= BROKEN else math.nan,
            LOSS: 0.01 * (step % 3) if step < BROKEN else math.nan,
            "critic/rewards/mean": round(0.2 + 0.005 * step, 5),
            STEP: 60.0 + step % 2, "timing_s/gen": 40.0,
        }
        for step in range(1, 51)
    }  # fmt: skip
    for step in range(10, 51, 10):
        table[step][VALIDATION] = 0.4 + step / 100 if step < BROKEN else 0.0
    return run_of(table)


@pytest.mark.parametrize(
    "question",
    [
        "NaN 之前最后一次验证多少",
        "如果 NaN 之前最后一个 eval 就停，gsm8k 是几分",
        "what was gsm8k at the last eval before the NaN?",
    ],
)
def test_before_a_nan_the_last_validation_is_told_with_its_step(question: str) -> None:
    answer = ask(question, broken())
    first = answer.answer.split("\n")[0]
    assert "70.0%" in first
    assert "30" in first
    has(answer, VALIDATION, str(BROKEN))


@pytest.mark.parametrize(
    "question", ["出现 NaN 之前 score 平均多少，之后呢", "mean score before the NaN and after that"]
)
def test_both_sides_of_a_nan_are_averaged(question: str) -> None:
    values = [0.3 + 0.005 * step for step in range(1, BROKEN)]
    has(ask(question, broken()), f"{sum(values) / len(values):.3f}", "-1", str(BROKEN))


def test_after_a_nan_without_finite_values_says_so() -> None:
    answer = ask("出现 NaN 之后熵最高多少", broken())
    assert answer.verdict.code == "no_data"
    has(answer, ENTROPY, str(BROKEN))


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("把最后一步 critic 相关的 metrics 全 dump 出来", 50),
        ("critic 那一组指标第 20 步的值", 20),
        ("list all critic metrics at step 20", 20),
        ("最后一步的 critic 都列一下", 50),
        ("step 20 各项 critic 全列", 20),
        ("critic/ 下面的 metrics 第 20 步都给我", 20),
    ],
)
def test_group_lists_every_key_of_it_at_the_step(question: str, step: int) -> None:
    answer = ask(question, broken())
    assert set(answer.slots.metrics) == {SCORE, "critic/rewards/mean"}
    assert {(fact.metric, fact.step) for fact in answer.facts if fact.kind == "value"} >= {
        (SCORE, step), ("critic/rewards/mean", step),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("第 20 步跟 score 有关的指标都给我", 20),
        ("20 步那里几个 score 都报一下", 20),
        ("everything to do with score at step 20", 20),
    ],
)
def test_word_that_is_no_group_lists_the_keys_that_hold_it(question: str, step: int) -> None:
    log = broken()
    columns = {**log.columns, "critic/score/max": log.columns["critic/rewards/mean"]}
    answer = ask(question, replace(log, columns=columns))
    assert set(answer.slots.metrics) == {SCORE, "critic/score/max"}
    assert "score/`" not in answer.answer


@pytest.mark.parametrize("question", ["score 第 20 步是多少", "score 和熵都正常吗", "最近 10 步 score 都列一下"])
def test_one_metric_asked_for_is_no_group(question: str) -> None:
    assert "名字里带" not in ask(question, broken()).answer


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        ("一晚上 8 小时能跑多少步", 476),
        ("how many steps fit into 8 hours?", 476),
        ("30 分钟能训几步", 29),
        ("一天能跑多少步", 1428),
    ],
)
def test_steps_in_a_time_are_the_time_over_the_mean_step(question: str, steps: int) -> None:
    assert f"{steps:,}" in ask(question, broken()).answer.split("\n")[0]


@pytest.mark.parametrize(("follow", "count"), [("50 秒呢", 50), ("60.5 秒呢", 25), ("超过 61 秒的呢", 0)])
def test_limit_with_a_unit_replaces_the_one_before(follow: str, count: int) -> None:
    state = answerer().ask("step 耗时超过 60 秒的有几步", [broken()])[1]
    answer = answerer().ask(follow, [broken()], state=state)[0]
    assert answer.slots.op == "count"
    assert f" {count} 个 step" in answer.answer


def test_last_validation_after_an_earlier_one_is_the_last() -> None:
    state = answerer().ask("GSM8K 第 10 步", [broken()])[1]
    answer = answerer().ask("最后一次", [broken()], state=state)[0]
    assert [fact.step for fact in answer.facts if fact.kind == "value"] == [50]


@pytest.mark.parametrize(
    "question", ["rollout 和 train 的 logprob 对得上吗", "训练和推理的概率一致吗", "rollout_corr/kl 正常吗"]
)
def test_a_finding_on_the_mismatch_is_told_of_its_other_measures(question: str) -> None:
    table = {}
    for step in range(1, 81):
        drift = 2e-4 + 1e-5 * (step % 3) + (0.0 if step < 40 else 0.05 * (step - 40))
        table[step] = {
            "rollout_corr/kl": drift, "rollout_corr/k3_kl": drift,
            "training/rollout_probs_diff_mean": 0.002 + drift / 10,
            "training/rollout_probs_diff_max": min(1.0, 0.3 + drift),
            SCORE: 0.6 - drift / 4, "actor/grad_norm": 0.2 + 3 * drift, ENTROPY: 0.4,
        }  # fmt: skip
    answer = ask(question, run_of(table))
    assert answer.verdict.code in {"warning", "critical"}
    assert "没有发现异常" not in answer.answer


def test_other_side_of_a_breakdown_is_answered_after_one_side() -> None:
    state = answerer().ask("NaN 之前 critic/rewards/mean 平均多少", [broken()])[1]
    answer = answerer().ask("之后呢", [broken()], state=state)[0]
    values = [0.2 + 0.005 * step for step in range(BROKEN + 1, 51)]
    has(answer, f"{sum(values) / len(values):.3f}")
