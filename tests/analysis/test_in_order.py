"""The latest values in order, and courses of one turn."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.analysis.in_order import BY_CHANCE, latest_in_order, one_turn, parted

FALLING = [0.52, 0.51, 0.58, 0.54, 0.55, 0.57, 0.54, 0.51, 0.50, 0.49, 0.47, 0.45]


def test_latest_in_order_fall_to_the_end_is_found_with_its_odds() -> None:
    row = latest_in_order(np.array(FALLING))
    assert row is not None
    assert (row.start, row.count, row.sign, row.outermost) == (5, 7, -1, True)
    assert row.odds == pytest.approx(math.factorial(7) / 2)


def test_latest_in_order_equal_neighbours_leave_fewer_orders() -> None:
    row = latest_in_order(np.array([*FALLING[:8], 0.51, *FALLING[9:]]))
    assert row is not None
    assert row.odds == pytest.approx(math.factorial(7) / 4)


@pytest.mark.parametrize(
    "values",
    [
        [*FALLING[:6], 0.54, 0.51, 0.52, 0.49, 0.47, 0.45],  # one rise on the way
        [0.5, 0.6, 0.5, 0.6, 0.55, 0.54, 0.53, 0.52],  # five in order: chance does that once in sixty times
        [0.1, 0.9, 0.5, 0.6, 0.49, 0.48, 0.47, 0.46, 0.45, 0.44],  # in order, but by a sixth of the range
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
        [],
    ],
)
def test_latest_in_order_what_chance_may_do_is_none(values: list[float]) -> None:
    assert latest_in_order(np.array(values)) is None


@given(st.lists(st.floats(-10, 10), min_size=6, max_size=40))
def test_latest_in_order_of_the_negative_is_the_opposite(values: list[float]) -> None:
    one, other = latest_in_order(np.array(values)), latest_in_order(-np.array(values))
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert (one.start, one.sign, one.outermost) == (other.start, -other.sign, other.outermost)


def test_latest_in_order_of_independent_values_is_as_rare_as_said() -> None:
    dice = random.Random(5)
    found = sum(latest_in_order(np.array([dice.random() for _ in range(14)])) is not None for _ in range(4000))
    assert found / 4000 <= BY_CHANCE


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ([1.219, 1.084, 1.025, 1.0116, 1.0125, 1.0197], 3),
        ([0.2, 0.3, 0.4, 0.4, 0.3], 2),
        ([3.0, 2.0, 1.0, 1.0, 2.0, 3.0], 2),
        ([1.0, 2.0, 3.0, 4.0, 5.0], None),
        ([1.0, 2.0, 1.0, 2.0, 1.0], None),
        ([1.0, 2.0, 1.0], None),
    ],
)
def test_one_turn_place_of_the_only_extreme(values: list[float], place: int | None) -> None:
    assert one_turn(np.array(values)) == place


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("way", [[], [0.3]])
def test_parted_finds_the_two_levels_and_what_lies_between(sign: int, way: list[float]) -> None:
    head, tail = [0.56, 0.57, 0.63, 0.55, 0.58, 0.60, 0.52], [0.08, 0.05, 0.06, 0.05, 0.06]
    found = parted(sign * np.array([*head, *way, *tail]))
    assert found is not None
    assert (found.until, found.start, found.sign) == (6, 7 + len(way), -sign)


@given(st.lists(st.floats(-10, 10), min_size=0, max_size=60))
def test_parted_sides_never_overlap(values: list[float]) -> None:
    data = np.array(values, dtype=np.float64)
    found = parted(data)
    if found is None:
        return
    head, tail = found.sign * data[: found.until + 1], found.sign * data[found.start :]
    assert tail.min() - head.max() >= (data.max() - data.min()) / 3 - 1e-12


def test_parted_leaves_scatter_and_slow_drift_alone() -> None:
    chance = random.Random(5)
    assert sum(parted(np.array([chance.random() for _ in range(20)])) is not None for _ in range(300)) <= 3
    assert parted(np.linspace(0, 1, 40)) is None
