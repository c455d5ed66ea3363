"""A run of which every number is known, and the ways in which an answer shows them."""

from __future__ import annotations

import random
from functools import lru_cache

from assistant.model import Answer, Number, Run
from assistant.write.numbers import format_number, signed
from tests.analysis.support import run_of
from tests.ask.support import answerer

STEPS = range(1, 81)
SCORE, ENTROPY, GRAD, KL = "critic/score/mean", "actor/entropy", "actor/grad_norm", "actor/ppo_kl"
LENGTH, GEN, LR = "response_length/mean", "timing_s/gen", "actor/lr"
#: Steps without a gradient norm.
HOLES = (7, 19, 44)


@lru_cache(maxsize=1)
def run() -> Run:
    """Eighty steps; no two values of a metric agree, so that each extreme, rank and crossing has one step."""
    dice = random.Random(11)
    table: dict[int, dict[str, Number]] = {}
    for step in STEPS:
        row: dict[str, Number] = {
            SCORE: round(0.2 + 0.005 * step + dice.gauss(0, 0.03), 5),
            ENTROPY: round(0.9 - 0.008 * step + dice.gauss(0, 0.02), 5),
            KL: round(dice.gauss(0, 1e-3), 7),
            LENGTH: round(900 + 4 * step + dice.gauss(0, 30), 2),
            GEN: round(120 + dice.uniform(-20, 20), 3),
            LR: 1e-6,
        }
        if step not in HOLES:
            row[GRAD] = round(0.5 + dice.expovariate(4), 5)
        table[step] = row
    return run_of(table)


def column(metric: str, first: int = 1, last: int = 80, without: tuple[int, ...] = ()) -> dict[int, float]:
    """A metric's values by step, over a part of the run."""
    steps, values = run().series(metric)
    return {s: float(v) for s, v in zip(steps, values, strict=True) if first <= s <= last and s not in without}


def ask(question: str, of: Run | None = None) -> Answer:
    """The answer; the language is the question's."""
    return answerer().ask(question, [of or run()])[0]


def shown(metric: str, value: float, language: str) -> str:
    """A value as an answer about its metric writes it."""
    kinds = {LENGTH: "tokens", GEN: "seconds"}
    return format_number(value, kinds.get(metric, "number"), language=language)


def has(answer: Answer, *texts: str) -> None:
    """Each text stands in the answer, and the first sentence is no other question's answer."""
    for text in texts:
        assert text in answer.answer, f"{answer.question!r}: {text!r} is not in {answer.answer!r}"
    assert answer.grounding.unsupported == ()


def minus(a: float, b: float) -> str:
    """A difference with its sign."""
    return signed(a - b)
