"""Questions as Chinese-speaking engineers put them: what is meant by a word, and what a plain answer has to hold."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.model import Answer, Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has
from tests.ask.support import answerer

STEPS = range(1, 41)
ENTROPY, LENGTH, GRAD, SCORE = "actor/entropy", "response_length/mean", "actor/grad_norm", "critic/score/mean"
RESERVED, ALLOCATED = "perf/max_memory_reserved_gb", "perf/max_memory_allocated_gb"
CORRELATION, EXPLAINED, VALUE_LOSS = (
    "training/rollout_actor_probs_pearson_corr", "critic/vf_explained_var", "critic/vf_loss",
)  # fmt: skip
VAL = "val-core/math500/acc/mean@1"


@lru_cache(maxsize=1)
def made() -> Run:
    return run_of(
        {
            step: {
                ENTROPY: round(0.5 + 0.005 * step, 4), LENGTH: 980.0 + 5 * (step % 9), GRAD: 0.4 - 0.009 * step,
                SCORE: round(0.3 + 0.01 * (step % 7), 4), RESERVED: 70.0 + step / 10, ALLOCATED: 60.0 + (step > 12),
                CORRELATION: 0.99 - 0.004 * step, EXPLAINED: 0.02 * step, VALUE_LOSS: 1.0 / step,
                "critic/grad_norm": 4.0, "timing_s/step": 100.0,
                **({VAL: 0.5 + step / 1000} if step % 10 == 0 else {}),
            }
            for step in STEPS
        }
    )  # fmt: skip


def told(question: str) -> Answer:
    return ask(question, made())


def value(metric: str, step: int) -> float:
    return float(made().value(metric, step) or 0)


def test_a_share_higher_than_the_start_is_no_share_of_it() -> None:
    answer = told("熵比刚开始高出三成多，这样正常吗")
    assert "从未降到" not in answer.answer
    assert answer.intent == "health"


def test_near_zero_is_no_step_zero() -> None:
    answer = told("grad norm 快到 0 了，还在降吗")
    assert "step 0 没有" not in answer.answer
    assert answer.slots.steps.kind in {"none", "all"}


@pytest.mark.parametrize(
    ("question", "metric"),
    [
        ("训练侧和推理侧概率的相关系数什么时候跌破 0.9", CORRELATION),
        ("价值函数的解释方差最后停在多少", EXPLAINED),
        ("评论家网络的损失最低是在哪一步", VALUE_LOSS),
        ("历次验证的得分都列给我", VAL),
        ("验证分数最后是多少", VAL),
    ],
)
def test_a_plain_name_means_one_metric(question: str, metric: str) -> None:
    assert list(told(question).slots.metrics) == [metric]


def test_a_limit_in_a_bare_numeral_counts_the_steps() -> None:
    count = sum(value(LENGTH, step) > 1000 for step in STEPS)
    has(told("回答平均长度过千的步数"), f"有 {count} 个 step")


def test_reserved_against_allocated_tells_the_difference() -> None:
    has(
        told("step 30 的 reserved 比 allocated 多几个 GB"),
        f"{value(RESERVED, 30) - value(ALLOCATED, 30):.1f}".rstrip("0").rstrip("."),
    )


def test_a_difference_at_a_step_keeps_that_step() -> None:
    assert told("step 30 的 critic/vf_loss 跟 critic/vf_explained_var 差多少").slots.steps.values == (30,)


@pytest.mark.parametrize("question", ["allocated memory 到哪个 step 就到顶了", "显存第几步到顶的"])
def test_the_step_of_a_ceiling_is_the_first_of_the_largest(question: str) -> None:
    has(told(question), "step 13")


@pytest.mark.parametrize("question", ["表里都记录了哪些列", "这份日志记了哪些指标"])
def test_all_columns_are_listed(question: str) -> None:
    has(told(question), *made().metrics)


def test_a_best_validation_before_a_breakdown_is_an_extreme() -> None:
    run = run_of(
        {
            step: {
                ENTROPY: 0.5, SCORE: 0.6 if step < 31 else 0.0, LENGTH: 700.0, GRAD: 0.5 if step < 31 else float("nan"),
                **({VAL: {10: 0.4, 20: 0.62, 30: 0.55}.get(step, 0.01)} if step % 10 == 0 else {}),
            }
            for step in STEPS
        }
    )  # fmt: skip
    has(ask("出 NaN 之前 best val 多少，哪个 step", run), "62", "step 20")


def test_from_the_top_to_the_end_tells_that_fall() -> None:
    run = run_of({step: {SCORE: [0.2, 0.5, 0.9, 0.4, 0.7, 0.6][step], ENTROPY: 0.5} for step in range(6)})
    answer = ask("score 从最高处到最后跌了多少", run)
    assert "低 0.300" in answer.answer.splitlines()[0]


def test_whether_to_go_on_is_advice() -> None:
    assert told("熵都快见底了，还接着训吗").intent == "advice"


def test_a_run_that_began_again_is_asked_for_in_plain_words() -> None:
    assert "restarts" in _topics("这份日志中途有没有断掉重来过")


def _topics(question: str) -> tuple[str, ...]:
    _, state = answerer().ask(question, [made()])
    assert state.query is not None
    return state.query.topics


# -- asked in passing --------------------------------------------------------------------------------------------------
def test_two_owners_of_one_metric_are_both_meant() -> None:
    ratio = sum(4.0 / value(GRAD, step) for step in STEPS) / len(STEPS)
    answer = told("critic 的 grad norm 比 actor 的大多少倍，按平均算")
    has(answer, GRAD, "critic/grad_norm", f"{ratio:.3g}")


def test_a_share_of_a_stage_in_plain_words_over_two_parts() -> None:
    run = run_of(
        {
            step: {
                "Generate time": 2.0 + (step > 20),
                "Training time": 1.0,
                "E2E latency": 4.0 + (step > 20),
                "act_loss": 0.1,
            }
            for step in STEPS
        },
        framework="DeepSpeed-Chat",
    )
    answer = ask("生成占一步的比例前 20 步和后 20 步有变化吗", run)
    has(answer, "50.0%", "60.0%")
    assert "Generate time" in answer.answer.splitlines()[0]
    has(ask("平均每步 E2E 多少秒", run), "4.5")


def test_below_a_limit_at_which_step_is_the_first() -> None:
    has(told("value loss 降到 0.05 以下是几步"), "step 21")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("critic/vf_loss 从头到尾缩了百分之几", "-97.5%"),
        ("critic/vf_loss 还剩百分之多少", "还剩最初的 2.5%"),
        ("grad norm 最后比最开始大还是小，几倍", "后者是前者的 9.77 倍"),
        ("value loss 第几步开始给正分", "step 1"),
    ],
)
def test_how_much_in_plain_words(question: str, text: str) -> None:
    has(told(question), text)


def test_a_count_of_tool_calls_that_is_not_logged_is_said_first() -> None:
    run = run_of({step: {"timing_s/agent_loop/tool_calls/mean": 2.0, SCORE: 0.5} for step in STEPS})
    assert ask("tool call 次数变化", run).answer.startswith("**日志没有记录工具调用的次数。")


def test_abbreviated_length_against_entropy_is_a_correlation() -> None:
    answer = told("resp len 和 entropy 反着走吗")
    assert set(answer.slots.metrics) == {LENGTH, ENTROPY}
    assert "Spearman" in answer.answer
