"""Runs in which nothing gets better: what to do, and whether it goes on."""

from __future__ import annotations

import random

import pytest

from assistant.model import Number, Run
from tests.analysis.support import run_of

from .support import conversation, first_line


def run(gain: float, *, seed: int = 1) -> Run:
    """Sixty steps of a verl run, validated every five, whose score and validation gain so much over it."""
    dice = random.Random(seed)
    table: dict[int, dict[str, Number]] = {}
    for step in range(61):
        row: dict[str, Number] = {}
        if step:
            row |= {
                "critic/score/mean": 0.43 + gain * step / 60 + 0.02 * dice.gauss(0, 1), "actor/grad_norm": 0.4,
                "actor/entropy": 0.5, "actor/pg_clipfrac": 0.001, "response_length/mean": 300.0 + dice.random(),
            }  # fmt: skip
        if step % 5 == 0:
            row["val-core/math500/acc/mean@1"] = round(0.42 + gain * step / 60 + 0.012 * dice.gauss(0, 1), 3)
        table[step] = row
    return run_of(table)


@pytest.mark.parametrize("question", ["next steps to make it learn?", "what would you change?", "接下来该怎么调"])
@pytest.mark.parametrize(("gain", "learns"), [(0.0, False), (0.3, True)])
def test_advice_where_nothing_gets_better_is_not_that_nothing_needs_changing(
    question: str, gain: float, learns: bool
) -> None:
    answer = conversation(run(gain), question)
    nothing = "Nothing in this log calls for" in answer.answer or "没有需要改动设置的迹象" in answer.answer
    checks = "tells right from wrong" in answer.answer or "能否分出对错" in answer.answer
    assert nothing is learns
    assert checks is not learns


@pytest.mark.parametrize(
    "question", ["is validation going to keep improving?", "is val acc going to keep rising?", "验证还会继续涨吗"]
)
@pytest.mark.parametrize(("gain", "learns"), [(0.0, False), (0.3, True)])
def test_going_on_is_said_to_have_not_begun_only_where_it_has_not(question: str, gain: float, learns: bool) -> None:
    head = first_line(conversation(run(gain), question))
    said = "not clearly improved so far" in head or "到目前为止没有明显变好" in head
    assert said is not learns
