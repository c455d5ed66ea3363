"""Advice on what has not happened: what to do first, not only what the log holds; and a spike beside a clean bill."""

from __future__ import annotations

import random

import pytest

from assistant.ask.advice_supposed import _way
from assistant.model import Number, Run
from tests.analysis.support import run_of

from .support import conversation, first_line


def healthy(n: int = 60, spike: int | None = None) -> Run:
    dice = random.Random(5)
    rows: dict[int, dict[str, Number]] = {}
    for step in range(1, n + 1):
        rows[step] = {
            "actor/grad_norm": 2.9 if step == spike else 0.3 + 0.03 * dice.random(),
            "actor/entropy": 0.4 + 0.01 * dice.gauss(0, 1),
            "actor/ppo_kl": 1e-4 * dice.gauss(0, 1),
            "actor/lr": 1e-6,
            "actor/pg_clipfrac": 0.002 + 0.0002 * dice.gauss(0, 1),
            "critic/score/mean": 0.3 + 0.004 * step + 0.01 * dice.gauss(0, 1),
            "response_length/mean": 500 + 5 * dice.gauss(0, 1),
        }
    return run_of(rows)


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        ("如果 grad_norm 到 100 了怎么办", "如果梯度范数真的突然变得很大"),
        ("假如 grad_norm 涨到 50 该怎么处理", "如果梯度范数真的突然变得很大"),
        ("what should I do if grad_norm reaches 80?", "Should the gradient norm really become that large"),
        ("lr 从 1e-6 调到 1e-5 行不行", "不建议一次大幅提高学习率"),
        ("should I raise the lr from 1e-6 to 5e-6?", "Raising the learning rate by a large factor"),
    ],
)
def test_supposed_case_is_advised_on_first(question: str, lead: str) -> None:
    assert first_line(conversation(healthy(), question)).startswith(lead)


@pytest.mark.parametrize(
    ("said", "way"),
    [
        ("lr 从 1e-6 调到 1e-5 行不行", "up"),
        ("lower the lr from 2e-6 to 1e-6?", "down"),
        ("学习率要不要降低到 1e-7", "down"),
        ("should we increase the learning rate to 1e-5", "up"),
        ("should I lower the learning rate?", ""),
        ("学习率是多少", ""),
        ("lr at step 3 and step 5", ""),
    ],
)
def test_way_of_a_supposed_setting(said: str, way: str) -> None:
    assert _way(said) == way


@pytest.mark.parametrize(("question", "word"), [("正常吗", "尖峰"), ("does anything look off?", "Apart from a spike")])
def test_clean_run_with_one_spike_says_so_at_once(question: str, word: str) -> None:
    line = first_line(conversation(healthy(spike=31), question))
    assert word in line
    assert "31" in line
    assert word not in first_line(conversation(healthy(), question))


@pytest.mark.parametrize("less", ["少点 words", "少一点字", "少点废话"])
def test_fewer_words_are_asked_for(less: str) -> None:
    run = healthy(spike=31)
    brief = conversation(run, "正常吗", "简短点").answer
    assert conversation(run, "正常吗", less).answer == brief
    assert len(brief) < len(conversation(run, "正常吗").answer)
