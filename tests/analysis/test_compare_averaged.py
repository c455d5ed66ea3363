"""The averaged interval of a comparison holds the difference in 95 % of cases, neither less nor more; fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assistant.analysis.compare_averaged import GRID, PRIOR, Averaged, average, averaged, difference, mixed
from assistant.analysis.compare_factors import BOUND, FACTORS, KNOTS, TAILS, at_mean, factor_logs, features, tail_logs
from assistant.analysis.compare_noise import Noise
from evals.compare_fit import FAMILY, FAR, Cell, draw
from evals.trend_calibration import noise

DRAWS = 1000
#: 93 to 97 % is promised; two standard errors of so many draws are allowed on top.
LOW, HIGH = 0.93 - 0.016, 0.97 + 0.011
#: One family of twenty metrics in twenty may hold a false call; so many families, and two standard errors.
FAMILIES = DRAWS // FAMILY
MOST = 0.05 + 2 * (0.05 * 0.95 / FAMILIES) ** 0.5


def ar(n: int, rho: float, seed: int, count: int) -> np.ndarray:
    x = np.random.default_rng([17, seed, n, int(100 * rho)]).standard_normal((count, n))
    for t in range(1, n):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho * rho) * x[:, t]
    return x


CELLS = [
    *(Cell("ends", n, n, length) for n, length in ((3, 10), (5, 20), (10, 20), (10, 30), (20, 60))),
    Cell("ends", 5, 50, 100), Cell("ends", 50, 150, 260), Cell("runs", 30, 150, 225), Cell("next", 30, 90, 360),
    Cell("next", 10, 10, 60), Cell("runs", 5, 5, 20), Cell("runs", 10, 10, 40),
]  # fmt: skip


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.kind}-{cell.n}-{cell.m}-{cell.length}")
def test_difference_is_held_as_often_as_it_says_and_families_seldom_hold_a_false_call(cell: Cell) -> None:
    for rho in (0.0, 0.5, 0.9):
        drawn = draw(cell, rho, DRAWS, 17)
        assert LOW <= drawn.held() <= HIGH, rho
        assert drawn.families() <= MOST, rho


@pytest.mark.parametrize("cell", [CELLS[1], CELLS[3], CELLS[-2]], ids=str)
def test_draws_are_judged_as_the_product_judges_them(cell: Cell) -> None:
    drawn = draw(cell, 0.6, 60, 18)
    rng = np.random.default_rng([18, cell.n, cell.m, cell.length, 60, len(cell.kind)])
    one = noise(rng, 60, cell.length, 0.6)
    two = noise(rng, 60, cell.length, 0.6) if cell.kind == "runs" else one
    first, second = cell.windows
    over, beyond = drawn.over(), drawn.beyond()
    for row, (x, y) in enumerate(zip(one, two, strict=True)):
        found = difference((x, y), (first, second), same=cell.kind != "runs")
        assert isinstance(found, Averaged)
        delta = abs(y[slice(*second)].mean() - x[slice(*first)].mean())
        assert np.log(delta / found.half_width()) == pytest.approx(over[row], abs=2e-3)
        assert (found.p_value(delta) < FAR) == (beyond[row] > 0)


def test_difference_of_windows_of_very_unlike_length_is_the_conservative_one() -> None:
    values = ar(400, 0.0, 4, 1)[0]
    assert isinstance(difference((values, values), ((0, 1), (100, 400)), same=True), Noise)
    assert isinstance(difference((values, values), ((0, 1), (350, 400)), same=True), Noise)
    assert isinstance(difference((values, values), ((0, 1), (390, 400)), same=True), Averaged)
    assert isinstance(difference((values, values), ((0, 3), (350, 400)), same=True), Averaged)
    assert isinstance(difference((values, values), ((0, 1), (399, 400)), same=True), Averaged)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
@pytest.mark.parametrize(("length", "gap"), [(14, 5), (40, 9), (50, 25), (120, 40)])
def test_mixed_interval_of_single_steps_holds_the_difference_as_often_as_it_says(
    length: int, gap: int, rho: float
) -> None:
    """2000 differences a cell: 95 % has a standard error of 0.5; none of the cells was fitted."""
    assert 0.92 <= draw(Cell("next", 1, 1, length, gap), rho, 2000, 25).held() <= 0.98


def test_difference_of_points_without_enough_others_is_nothing() -> None:
    values = ar(6, 0.0, 4, 1)[0]
    assert average(values, (0, 2), (0, 3)) is None
    assert difference((values, values), ((0, 2), (3, 6)), same=True) is None


@pytest.mark.parametrize(("first", "second"), [((0, 4), (4, 9)), ((2, 5), (20, 30))])
@pytest.mark.parametrize("rho", [0.3, 0.88])
def test_mixed_variance_is_that_of_two_means_that_hang_together(
    first: tuple[int, int], second: tuple[int, int], rho: float
) -> None:
    """Against the covariance matrix of AR(1) noise, where both sides scatter alike."""
    values = ar(40, 0.5, 6, 1)[0]
    a, b = average(values, first, (0, second[0])), average(values, second, (first[1], 40))
    assert a is not None
    assert b is not None
    found, at = mixed(a, b, same=True), int(np.flatnonzero(rho == GRID)[0])
    assert found is not None
    place = np.arange(40)
    weights = [np.where((place >= start) & (place < stop), 1 / (stop - start), 0.0) for start, stop in (first, second)]
    matrix = rho ** np.abs(place[:, None] - place)
    own, other = (w @ matrix @ w for w in weights)
    shared = weights[0] @ matrix @ weights[1] / np.sqrt(own * other)
    expected = a.variance[at] + b.variance[at] - 2 * shared * np.sqrt(a.variance[at] * b.variance[at])
    assert found.variance[at] == pytest.approx(expected)
    apart = mixed(a, b, same=False)
    assert apart is not None
    assert apart.variance[at] == pytest.approx(a.variance[at] + b.variance[at])


def test_average_of_many_series_at_once_is_that_of_each() -> None:
    drawn = ar(40, 0.6, 7, 5)
    many = average(drawn, (3, 8), (0, 30))
    assert many is not None
    for row, values in enumerate(drawn):
        one = average(values, (3, 8), (0, 30))
        assert one is not None
        assert one.variance == pytest.approx(many.variance[row])
        assert one.support == pytest.approx(many.support[row], abs=1e-9)


def test_difference_of_sides_put_together_from_unlike_blocks_is_the_conservative_one() -> None:
    values = ar(1000, 0.0, 5, 1)[0]
    assert isinstance(difference((values, values), ((0, 20), (500, 1000)), same=True), Noise)
    assert isinstance(difference((values, values), ((0, 400), (600, 1000)), same=True), Averaged)


def test_averaged_of_levels_that_do_not_scatter_is_nothing() -> None:
    still = average(np.ones(40), (0, 15))
    assert still is not None
    assert averaged(still, still, same=False) is None


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


def test_averaged_p_value_and_half_width_agree_at_every_share() -> None:
    found = Averaged((0.3, 0.9), (7.5, 12.0), (0.6, 0.4), 0.4, factor=1.7, tail=0.6)
    for share in (0.5, 0.2, 0.05, 0.01, 0.0025, 1e-4):
        assert found.p_value(found.half_width(share)) == pytest.approx(share, rel=1e-4)
    plain = Averaged((0.3, 0.9), (7.5, 12.0), (0.6, 0.4), 0.4)
    assert found.half_width() == pytest.approx(1.7 * plain.half_width())
    assert found.half_width(0.0025) > 1.7 * plain.half_width(0.0025)


sides_drawn = st.builds(
    features, st.tuples(st.floats(1, 160), st.floats(1, 160)), st.integers(6, 320), st.floats(0, 0.9), st.floats(0, 1)
)  # fmt: skip


@given(sides_drawn, st.floats(0, 1))
def test_factors_stay_within_their_bounds(sides: np.ndarray, rho: float) -> None:
    assert FACTORS.shape == TAILS.shape == (len(KNOTS), len(sides))
    assert np.exp(-BOUND) * (1 - 1e-9) <= at_mean(factor_logs(sides), rho) <= np.exp(BOUND) * (1 + 1e-9)
    assert np.exp(-BOUND) * (1 - 1e-9) <= at_mean(tail_logs(sides), rho) <= 1
    assert len(PRIOR) == len(GRID)


def test_features_of_fewer_points_than_were_fitted_are_those_of_the_fewest() -> None:
    assert features((2, 2), 6, 0.4, 0.0) == pytest.approx(features((2, 2), 10, 0.4, 0.0))


def test_sides_of_one_length_have_the_factors_of_these_alone_and_order_does_not_matter() -> None:
    assert not features((20, 20), 80, 0.4, 0.5)[12:].any()
    assert features((20, 60), 80, 0.4, 0.5) == pytest.approx(features((60, 20), 80, 0.4, 0.5))
    assert features((1, 200), 80, 0.4, 0.5)[12:25].any() is np.False_
    assert features((3, 200), 80, 0.4, 0.5)[25:].any() is np.False_
