"""Values against what is usual or the start, and the step at which a metric turns, in runs of which all is known."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has

SCORE, GRAD, LR, KL, LENGTH, STEP = (
    "critic/score/mean", "actor/grad_norm", "actor/lr", "actor/kl_loss", "response_length/mean", "timing_s/step",
)  # fmt: skip
VALIDATION = "val/loss"


@lru_cache(maxsize=1)
def made() -> Run:
    table = {
        step: {
            SCORE: round(0.9 - abs(step - 25) * 0.01 + 0.001 * (step % 3), 5),
            GRAD: 2.0 if step in {7, 33} else 0.5, LR: 1e-6 * (61 - step) / 60, KL: round(0.01 * step, 4),
            LENGTH: 400.0 - (250.0 if step >= 30 else 0.0) + step % 5,
            STEP: 100.0 + step % 2 + (150.0 if step == 12 else 0.0),
        }
        for step in range(1, 61)
    }  # fmt: skip
    return run_of(table)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("score 从第几步开始不升反降", ("step 25", "回落")),
        ("score 的拐点在哪，什么时候开始往下掉头", ("step 25",)),
        ("where is the turning point of the score, from which it goes down?", ("step 25",)),
        ("kl_loss 从哪步开始回落", ("没有回落", "60")),
    ],
)
def test_turning_names_the_extreme_and_what_follows(question: str, words: tuple[str, ...]) -> None:
    has(ask(question, made()), *words)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("grad norm 有没有哪步突然跳到平时的 3 倍以上", ("有：", "2 个", "7、33", "1.5")),
        ("actor/grad_norm 有几步超过中位数的 5 倍", ("没有", "2.5")),
        ("is the gradient norm ever 3 times its median?", ("Yes", "7, 33")),
    ],
)
def test_times_usual_counts_the_steps_beyond(question: str, words: tuple[str, ...]) -> None:
    has(ask(question, made()), GRAD, *words)


@pytest.mark.parametrize(
    "question", ["最慢的一步花了多久，比平均慢几倍", "how long was the slowest step against the average?"]
)
def test_extreme_against_the_mean_gives_both_and_the_ratio(question: str) -> None:
    values = [100.0 + step % 2 + (150.0 if step == 12 else 0.0) for step in range(1, 61)]
    answer = ask(question, made())
    has(answer, "step 12", f"{250.0 / (sum(values) / 60):.2f}")


def test_of_first_is_the_last_over_the_first() -> None:
    has(ask("lr 现在多少，还剩初始的百分之几", made()), LR, "1.67%")
    has(ask("score 现在是峰值的百分之几", made()), f"{100 * 0.55 / 0.901:.1f}%")


@pytest.mark.parametrize(
    ("question", "part"),
    [("长度塌掉之前 score 平均多少", range(1, 30)), ("score 在长度塌了之后平均多少", range(31, 61))],
)
def test_breakdown_of_a_metric_bounds_the_part_of_another(question: str, part: range) -> None:
    values = [made().value(SCORE, step) or 0.0 for step in part]
    answer = ask(question, made())
    assert list(answer.slots.metrics) == [SCORE]
    has(answer, f"{sum(values) / len(values):.3f}", LENGTH, "step 30")


@pytest.mark.parametrize(
    ("question", "metric", "step"), [("kl_loss 到 0.3 了没，第几步", KL, "step 30"), ("kl_loss 到 5 了吗", KL, "0.6")]
)
def test_whether_a_value_was_reached_is_told_with_the_step(question: str, metric: str, step: str) -> None:
    has(ask(question, made()), metric, step)


def test_first_crossing_with_an_extreme_beside_is_no_count() -> None:
    has(ask("score 第一次过 0.8 是哪步，最高是多少", made()), "第一次", "step 16", "step 25")


def test_steps_that_reach_a_value_are_counted() -> None:
    answer = ask("actor/grad_norm 到 2.0 的有几步", made())
    assert answer.slots.op == "count"
    has(answer, "有 2 个 step")
