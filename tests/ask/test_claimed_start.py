"""A move said to begin at a step, or to have come back: held against where the log shows it to begin and to end."""

from __future__ import annotations

import math
import random

import pytest

from assistant.model import Run
from tests.analysis.support import run_of

from .support import conversation, first_line, holds

ONSET, STEPS = 30, range(1, 81)
_DICE = random.Random(5)
_NOISE = {step: _DICE.gauss(0, 0.01) for step in STEPS}


def _row(step: int) -> dict[str, float]:
    since = max(step - ONSET, 0)
    return {
        "actor/entropy": round(0.45 * math.exp(-0.2 * since) * (1 + _NOISE[step]), 5),
        "timing_s/update_actor": (20.0 if step < ONSET else 60.0) * (1 + _NOISE[step]),
        "critic/score/mean": round(0.5 + _NOISE[step], 4),
        "eval_loss": round(1.4 - 0.01 * step if step <= 40 else 1.0 + 0.004 * (step - 40), 4),
        "val/acc": round(0.3 + 0.005 * step, 4),
    }


RUN: Run = run_of({step: _row(step) for step in STEPS})

LATE = (
    "actor/entropy 是从 step 50 开始掉的吧", "actor/entropy 是从第 50 步才开始降的吧？", "熵 从 step 50 起才往下掉对吗",
    "actor/entropy started falling at step 50, right?", "actor/entropy has been falling since step 50, right?",
    "timing_s/update_actor 是从 step 50 开始变慢的吧", "timing_s/update_actor 从 step 50 开始 explode 的吧",
    "timing_s/update_actor 从第 50 步才开始涨的对吧",
)  # fmt: skip
EARLY = ("timing_s/update_actor 是从 step 10 开始涨的吧", "timing_s/update_actor started rising at step 10, right?")
RIGHT = (
    "actor/entropy 是从 step 30 开始掉的吧", "timing_s/update_actor 从 step 30 开始涨的对吧",
    "actor/entropy started falling at step 31, right?",
)  # fmt: skip


@pytest.mark.parametrize("question", LATE)
def test_a_move_that_began_earlier_is_not_confirmed(question: str) -> None:
    line = first_line(conversation(RUN, question))
    assert line.startswith(("不对，更早", "No, earlier"))
    said = next(int(word) for word in line.replace("（", " ").split("step ")[1].split() if word.isdigit())
    assert abs(said - ONSET) <= 4


@pytest.mark.parametrize("question", EARLY)
def test_a_move_that_began_later_is_not_confirmed(question: str) -> None:
    line = first_line(conversation(RUN, question))
    assert line.startswith(("不对，step 10 时还没有", "No, not yet at step 10"))
    assert f"step {ONSET}" in line


@pytest.mark.parametrize("question", RIGHT)
def test_a_move_that_began_there_is_not_denied(question: str) -> None:
    assert not first_line(conversation(RUN, question)).startswith(("不对", "No"))


@pytest.mark.parametrize(
    "question",
    [
        "eval_loss 反弹了吧", "eval loss 反弹了，该 early stop 了吧", "eval_loss 后面回升了吗",
        "eval_loss 又涨回来了吧", "did the eval_loss bounce back?", "eval_loss went back up, right?",
    ],
)  # fmt: skip
def test_a_return_from_the_extreme_is_told_whatever_the_ends_are(question: str) -> None:
    answer = conversation(RUN, question)
    assert first_line(answer).startswith(("对", "Yes"))
    assert holds(answer, (1.16 - 1.0) / (1.39 - 1.0))


@pytest.mark.parametrize("question", ["val/acc 回落了吗", "val/acc 又掉回去了吧", "did val/acc fall back?"])
def test_a_metric_that_ends_at_its_extreme_did_not_return(question: str) -> None:
    assert first_line(conversation(RUN, question)).startswith(("没有", "No"))


@pytest.mark.parametrize(
    "question", ["eval_loss 什么时候开始反弹的", "eval_loss 反弹了多少", "why did eval_loss go back up"]
)
def test_when_and_how_far_are_other_questions(question: str) -> None:
    assert not first_line(conversation(RUN, question)).startswith(("对", "Yes", "没有", "No:"))
