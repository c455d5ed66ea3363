"""95 % intervals hold the truth as often as they say; seeds are fixed, and widths that are off by a quarter fail."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.analysis.ar_line import fit_line
from assistant.analysis.forecast import forecasts_at
from assistant.analysis.pace import curvature
from assistant.analysis.trend import Trend, trend_of
from assistant.analysis.widths import LEAST_SLOPE, SEEN, TABLES, Interval, ahead_width, width
from evals.trend_widths import one_sided

#: Draws a cell; 93 to 97 % is promised, and two standard errors of so many draws are allowed on top.
DRAWS = 400
LOW, HIGH = 0.93 - 0.024, 0.97 + 0.016
#: The same of at least 95 %.
SURE = 0.95 - 0.022
CELLS = [(12, 0.0), (12, 0.9), (20, 0.9), (40, 0.5)]


def drawn(n: int, rho: float, length: int | None = None) -> np.ndarray:
    """AR(1) noise of unit variance, shape (DRAWS, length)."""
    x = np.random.default_rng([5, n, int(100 * rho)]).standard_normal((DRAWS, length or n))
    for t in range(1, x.shape[1]):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho * rho) * x[:, t]
    return x


def share(trends: list[Trend], slope: float) -> tuple[float, float]:
    """Of the intervals given, those that hold the slope; and how many are given."""
    given_ = [trend.interval for trend in trends if trend.interval is not None]
    return sum(low <= slope <= high for low, high in given_) / len(given_), len(given_) / len(trends)


@pytest.mark.parametrize(("n", "rho"), [(10, 0.9), (12, 0.0), (20, 0.9), (40, 0.5)])
@pytest.mark.parametrize("rise", [0.0, 30.0])
def test_slope_interval_holds_the_slope_as_often_as_promised(n: int, rho: float, rise: float) -> None:
    slope = rise / n
    held, told = share([trend_of(range(n), values + slope * np.arange(n)) for values in drawn(n, rho)], slope)
    assert LOW <= held <= HIGH
    assert told > 0.75


@pytest.mark.parametrize("n", [5, 7, LEAST_SLOPE - 1])
def test_slope_of_fewer_points_than_can_tell_the_correlation_has_no_interval(n: int) -> None:
    found = trend_of(range(n), np.arange(n) + 0.01 * drawn(n, 0.0)[0])
    assert (found.direction, found.interval) == ("rising", None)
    assert trend_of(range(n), drawn(n, 0.0)[1]).interval is None


@pytest.mark.parametrize(("n", "rho"), CELLS)
def test_widths_of_lines_and_points_hold_what_comes_as_often_as_promised(n: int, rho: float) -> None:
    """Beside the reach with which they were simulated; what is told of lines reaches further and holds more."""
    held, sure, told, steps, slope = np.zeros(5), np.zeros(2), 0, np.arange(n), 30.0 / n
    ahead, near = [n, n - 1 + n // 2, 2 * n - 1], [n, n - 1 + n // 2]
    for values in drawn(n, rho, 2 * n) + slope * np.arange(2 * n) - 100:
        line, bent = fit_line(steps, values[:n]), curvature(steps, values[:n])
        past = slope * ahead[1] - 100 - line.at(ahead[1])
        held[0] += abs(past) <= line.error(ahead[1], point=False)
        found = forecasts_at(steps, values[:n], near)
        if found[0].n < n or any(one.low is None or one.high is None for one in found):
            continue
        told += 1
        sure += [one.low <= values[at] <= one.high for one, at in zip(found, near, strict=True)]
        errors = [(at, values[at] - line.at(at), ahead_width(n, line.seen, at - n + 1.0), True) for at in ahead]
        errors.append((ahead[1], past, width("course", n, line.seen), False))
        for k, (at, error, factor, point) in enumerate(errors, start=1):
            half, bow = factor * line.deviation(at, point=point), one_sided(bent, at)
            held[k] += min(bow, 0.0) - half <= error <= half + max(bow, 0.0)
    shares = held / [DRAWS, *[told] * 4]
    assert told > 0.75 * DRAWS
    assert (shares >= LOW).all()
    assert (shares <= HIGH).all()
    assert (sure / told >= SURE).all()


def test_slope_interval_of_strongly_correlated_points_is_wider_than_that_of_independent_ones() -> None:
    spans = []
    for rho in (0.0, 0.9):
        found = [trend_of(range(40), values + np.arange(40)).interval for values in drawn(40, rho)[:50]]
        spans.append(np.median([high - low for low, high in filter(None, found)]))
    assert spans[1] > 1.5 * spans[0]


# --- the tables ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interval", sorted(TABLES))
@given(n=st.integers(5, 2000), seen=st.floats(-1, 1), more=st.floats(0, 2))
def test_width_never_falls_with_the_autocorrelation(interval: Interval, n: int, seen: float, more: float) -> None:
    # Of the next point the reach towards a bend holds more the stronger the correlation, and the width less.
    least = 0.5 if interval == "point_near" else 1.0
    assert width(interval, n, seen) >= 1.29
    assert least * width(interval, n, seen) <= width(interval, n, seen + more) * (1 + 1e-12)


@pytest.mark.parametrize("interval", sorted(TABLES))
def test_width_at_a_knot_is_the_tables(interval: Interval) -> None:
    for n, row in TABLES[interval].items():
        assert [width(interval, n, seen) for seen in SEEN] == pytest.approx(row)


def test_width_between_two_lengths_lies_between_theirs() -> None:
    low, middle, high = (width("line", n, 0.6) for n in (100, 70, 60))
    assert low < middle < high


@given(st.floats(1, 500), st.floats(-0.5, 0.95))
def test_ahead_width_goes_from_the_next_value_to_a_whole_length(distance: float, seen: float) -> None:
    ends = sorted((width("point_near", 50, seen), width("point_far", 50, seen)))
    assert ends[0] - 1e-9 <= ahead_width(50, seen, distance) <= ends[1] + 1e-9
    assert ahead_width(50, seen, 1) == pytest.approx(width("point_near", 50, seen))
    assert ahead_width(50, seen, 50) == pytest.approx(width("point_far", 50, seen))


def test_width_of_white_noise_in_a_long_series_is_the_normal_quantile() -> None:
    assert [width(name, 256, 0.0) for name in ("slope", "line")] == pytest.approx([1.96] * 2, rel=0.05)


def test_width_beside_a_long_reach_is_the_normal_quantile_of_one_side() -> None:
    assert [width(name, 256, 0.0) for name in ("course", "point_far")] == pytest.approx([1.645] * 2, rel=0.05)


def test_slope_width_begins_where_intervals_are_given() -> None:
    assert min(TABLES["slope"]) == LEAST_SLOPE
