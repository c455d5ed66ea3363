"""The averaged interval of a comparison holds the difference in 95 % of cases, neither less nor more; fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assistant.analysis.compare_averaged import (
    FACTORS,
    GRID,
    KNOTS,
    PRIOR,
    Averaged,
    average,
    averaged,
    difference,
    factor,
)
from assistant.analysis.compare_noise import Noise

DRAWS = 300
#: 93 to 97 % is promised; two standard errors of so many draws are allowed on top.
LOW, HIGH = 0.93 - 0.024, 0.97 + 0.016


def ar(n: int, rho: float, seed: int, count: int = DRAWS) -> np.ndarray:
    x = np.random.default_rng([17, seed, n, int(100 * rho)]).standard_normal((count, n))
    for t in range(1, n):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho * rho) * x[:, t]
    return x


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
@pytest.mark.parametrize(("points", "length"), [(10, 20), (10, 60), (20, 100)])
def test_difference_of_windows_is_held_as_often_as_it_says(points: int, length: int, rho: float) -> None:
    windows = (0, points), (length - points, length)
    held = 0
    for values in ar(length, rho, 1):
        found = difference((values, values), windows, same=True)
        assert isinstance(found, Averaged)
        held += found.p_value(values[-points:].mean() - values[:points].mean()) >= 0.05
    assert LOW <= held / DRAWS <= HIGH


@pytest.mark.parametrize("rho", [0.0, 0.7, 0.9])
def test_difference_of_runs_is_held_as_often_as_it_says(rho: float) -> None:
    part = (30, 40)
    held = 0
    for one, two in zip(ar(40, rho, 2), ar(40, rho, 3), strict=True):
        found = difference((one, two), (part, part), same=False)
        assert isinstance(found, Averaged)
        held += found.p_value(two[30:].mean() - one[30:].mean()) >= 0.05
    assert LOW <= held / DRAWS <= HIGH


def test_difference_of_fewer_than_ten_points_is_the_conservative_one() -> None:
    values = ar(60, 0.0, 4, 1)[0]
    assert average(values, (0, 9)) is None
    assert isinstance(difference((values, values), ((0, 9), (50, 60)), same=True), Noise)


def test_difference_of_sides_put_together_from_unlike_blocks_is_the_conservative_one() -> None:
    values = ar(1000, 0.0, 5, 1)[0]
    assert isinstance(difference((values, values), ((0, 20), (500, 1000)), same=True), Noise)
    assert isinstance(difference((values, values), ((0, 400), (600, 1000)), same=True), Averaged)


def test_averaged_of_levels_that_do_not_scatter_is_nothing() -> None:
    still = average(np.ones(40), (0, 15))
    assert still is not None
    assert averaged(still, still, same=True) is None


@given(st.integers(0, 50), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
@settings(max_examples=20, deadline=None)
def test_averaged_scales_with_the_unit_and_ignores_the_level(seed: int, unit: float, shift: float) -> None:
    values = ar(40, 0.5, seed, 1)[0]
    halves = []
    for series in (values, unit * values + shift):
        found = difference((series, series), ((0, 12), (28, 40)), same=True)
        assert found is not None
        halves.append(found.half_width())
    assert halves[1] == pytest.approx(unit * halves[0], rel=1e-3)


def test_averaged_of_one_correlation_is_students_t() -> None:
    found = Averaged((0.3,), (7.5,), (1.0,), 0.0)
    assert found.p_value(0.8) == pytest.approx(2 * stats.t.sf(0.8 / 0.3, 7.5))
    assert found.half_width() == pytest.approx(0.3 * stats.t.ppf(0.975, 7.5))


@given(st.floats(0.01, 10), st.floats(0.01, 10), st.floats(0.05, 0.95))
def test_averaged_half_width_lies_between_those_of_its_parts(one: float, two: float, share: float) -> None:
    found = Averaged((one, two), (12.0, 12.0), (share, 1 - share), 0.5)
    ends = sorted(error * stats.t.ppf(0.975, 12.0) for error in (one, two))
    assert ends[0] * (1 - 1e-6) <= found.half_width() <= ends[1] * (1 + 1e-6)
    assert found.p_value(found.half_width()) == pytest.approx(0.05, rel=1e-6)


def test_factor_at_a_knot_is_the_tables_and_beyond_them_the_nearest() -> None:
    for points, row in FACTORS.items():
        assert [factor(points, rho) for rho in KNOTS] == pytest.approx(row)
    assert factor(5, 0.3) == factor(20, 0.3)
    assert factor(10_000, 0.3) == factor(200, 0.3)
    assert factor(20, 0.6) > factor(30, 0.6) > factor(40, 0.6)
    assert len(PRIOR) == len(GRID)
