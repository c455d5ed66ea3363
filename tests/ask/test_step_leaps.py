"""A step in a log too short for noise: factors are told of what has a size, never of what lies about zero."""

from __future__ import annotations

import pytest

from assistant.analysis import Ledger
from assistant.ask.answer_explain import NEAR_ZERO, _leaps
from assistant.ask.context import Context
from assistant.ask.query import Query
from assistant.model import Number
from tests.analysis.support import run_of

from .support import answerer


def leaps(metric: str, before: Number, after: Number, language: str = "en") -> list[str]:
    run = run_of({1: {metric: before}, 2: {metric: after}})
    context = Context(Query("", language, "explain"), (run,), answerer().resolver, Ledger((run,)))
    change = context.ledger.change(metric, 1, 2)
    assert change is not None
    return _leaps(context, [change])


@pytest.mark.parametrize(
    ("metric", "before", "after"),
    [
        ("actor/ppo_kl", 1.37e-05, 4.58e-07),
        ("actor/pg_clipfrac_lower", 2.54e-07, 5.09e-08),
        ("actor/pg_loss", 2.4e-04, -7.9e-04),
        ("policy/approxkl_avg", 3e-06, 9e-04),
    ],
)
def test_factor_between_two_values_near_zero_is_not_told(metric: str, before: float, after: float) -> None:
    assert max(abs(before), abs(after)) < NEAR_ZERO
    assert leaps(metric, before, after) == []


@pytest.mark.parametrize(
    ("metric", "before", "after"),
    [("response_length/min", 240, 8), ("actor/ppo_kl", 1e-5, 0.02), ("actor/lr", 1e-6, 1e-5), ("loss", 0.3, 2.1)],
)
def test_factor_of_what_has_a_size_is_told(metric: str, before: float, after: float) -> None:
    (told,) = leaps(metric, before, after)
    assert metric in told
