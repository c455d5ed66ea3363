"""How many answers a printed share is of at least, and what that says of a benchmark whose size nobody knows."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.analysis import Ledger
from assistant.analysis.compare_validation import LEAST_ANSWERS, least_answers, validation_error

from .support import run_of

KEY = "val-core/own_tasks/acc/mean@4"


@given(st.integers(1, 3000), st.data())
def test_least_answers_are_never_more_than_there_were(answers: int, data: st.DataObject) -> None:
    right = data.draw(st.lists(st.integers(0, answers), min_size=1, max_size=5))
    digits = data.draw(st.sampled_from([2, 3, 4, 6, 17]))
    run = run_of({step: {KEY: round(n / answers, digits)} for step, n in enumerate(right)})
    found = least_answers(run, KEY)
    assert found is None or LEAST_ANSWERS <= found <= answers


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([41 / 64, 3 / 64, 40 / 64], 64),
        ([962 / 1319, 955 / 1319, 0.0], 1319),
        ([0.6406, 0.0469, 0.6094, 0.2031], 64),
        ([0.64, 0.57, 0.05], None),  # two digits fit any number of answers
        ([0.5, 0.25], None),
        ([0.0, 1.0], None),
        ([0.6372541, 0.4402113, 0.2299817], None),  # partial credit
    ],
)
def test_least_answers_are_the_smallest_number_that_fits_all(values: list[float], expected: int | None) -> None:
    run = run_of({step: {KEY: value} for step, value in enumerate(values)})
    assert least_answers(run, KEY) == expected


def test_shares_with_partial_credit_hardly_ever_seem_whole_numbers() -> None:
    dice = random.Random(5)
    found = [
        least_answers(run_of({step: {KEY: dice.random()} for step in range(3)}), KEY) is not None for _ in range(300)
    ]
    assert sum(found) <= 6


def test_error_of_a_share_of_unknown_problems_is_bound_by_its_digits() -> None:
    run = run_of({0: {KEY: 41 / 64}, 1: {KEY: 3 / 64}})
    ledger = Ledger((run,))
    error = validation_error(ledger, run, KEY, 0, {})
    assert error is not None
    assert error.basis == "share_bound"
    assert error.value == pytest.approx(math.sqrt(41 / 64 * 23 / 64 / 64))


def test_share_that_tells_nothing_of_its_size_has_no_error() -> None:
    run = run_of({0: {KEY: 0.5}, 1: {KEY: 0.25}})
    assert validation_error(Ledger((run,)), run, KEY, 0, {}) is None
