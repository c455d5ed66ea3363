"""Stretches of so many steps, last values, changes over parts, conditions on differences, the form of a decay."""

from __future__ import annotations

import math
from functools import lru_cache

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has

SCORE, ENTROPY, LR = "critic/score/mean", "actor/entropy", "actor/lr"
TRAIN, VAL = "train loss", "val loss"


def _score(step: int) -> float:
    return round(0.1007 + 0.0101 * step + 0.0203 * (step % 3), 4)


@lru_cache(maxsize=4)
def made(form: str = "cosine") -> Run:
    ways = {step: (step - 1) / 59 for step in range(1, 61)}
    rate = {"cosine": lambda way: (1 + math.cos(math.pi * way)) / 2, "linear": lambda way: 1 - way}[form]
    return run_of(
        {
            step: {SCORE: _score(step), ENTROPY: round(1 / step + 0.1, 5), LR: 1e-6 * rate(way) + 1e-12}
            for step, way in ways.items()
        }
    )  # fmt: skip


@lru_cache(maxsize=1)
def losses() -> Run:
    table = {step: {TRAIN: round(3 - step / 20, 4), VAL: round(3 - step / 60, 4)} for step in range(1, 41)}
    return run_of(table, framework="nanoGPT", format="kv")


@pytest.mark.parametrize("question", ["score 每 20 步的平均各是多少", "mean score for every 20 steps"])
def test_stretches_give_a_mean_each(question: str) -> None:
    answer = ask(question, made())
    means = [sum(_score(s) for s in range(a, a + 20)) / 20 for a in (1, 21, 41)]
    has(answer, *(f"{mean:.3f}" for mean in means))


@pytest.mark.parametrize("question", ["score 最后三个值分别是多少", "score 最近 3 次各是多少"])
def test_last_values_are_told_one_by_one(question: str) -> None:
    has(ask(question, made()), *(f"step {step}（{_score(step):.3f}" for step in (58, 59, 60)))


def test_last_five_are_the_last_five() -> None:
    has(ask("score 最后 5 次平均", made()), f"{sum(_score(s) for s in range(56, 61)) / 5:.3f}")


def test_range_of_rounds_is_a_range() -> None:
    values = sorted(_score(step) for step in range(10, 21))
    has(ask("score 第 10 轮到第 20 轮的中位数", made()), f"{values[5]:.3f}"[:4])


def test_changes_of_two_parts_are_each_told_once() -> None:
    answer = ask("第 30 步以前 entropy 掉了多少，以后又掉了多少", made())
    has(answer, f"{1 / 29 - 1:.3f}", f"{1 / 60 - 1 / 30:.4f}"[:7])
    assert answer.answer.count("**") == 2


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("val loss 比 train loss 高出 1 以上是从哪步开始", "step 31"),
        ("val loss 比 train loss 高 0.5 的有几步", str(sum(s / 20 - s / 60 > 0.5 for s in range(1, 41)))),
    ],
)
def test_condition_on_a_difference_is_of_both(question: str, told: str) -> None:
    answer = ask(question, losses())
    assert set(answer.slots.metrics) == {TRAIN, VAL}
    has(answer, told)


@pytest.mark.parametrize(
    ("question", "form", "yes"),
    [
        ("学习率是余弦衰减吗", "cosine", True),
        ("学习率是线性降的吧", "cosine", False),
        ("is the learning rate decay linear?", "linear", True),
        ("learning_rate 是余弦衰减吗", "linear", False),
    ],
)
def test_form_of_the_decay_is_told_first(question: str, form: str, yes: bool) -> None:
    answer = ask(question, made(form)).answer.lstrip("*")
    assert answer.startswith(("是。", "Yes.") if yes else ("不是。", "No."))


def test_form_of_a_decay_printed_coarsely_is_not_told() -> None:
    table = {step: {LR: round(4e-8 * (1 - step / 60), 8), SCORE: _score(step)} for step in range(1, 61)}
    answer = ask("学习率是余弦衰减吗", run_of(table)).answer
    assert "不是" not in answer
    assert not answer.lstrip("*").startswith("是")


def test_plain_word_is_the_one_key_of_the_log_that_holds_it() -> None:
    table = {step: {"average reward score": step / 10, "act_loss": 0.1} for step in range(1, 61)}
    answer = ask("score 第一次超过 4 是哪步", run_of(table, framework="DeepSpeed-Chat", format="kv"))
    has(answer, "average reward score", "step 41")


def test_falls_are_counted_beside_the_trend() -> None:
    falls = sum(_score(step) < _score(step - 1) for step in range(2, 61))
    has(ask("score 一路涨吗，中间掉过几次", made()), f"{falls} 次")
