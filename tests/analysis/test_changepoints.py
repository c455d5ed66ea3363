"""Change points: found where they are, and seldom where there are none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.analysis.changepoints import change_points, least_correlation
from evals.trend_calibration import noise


def ar(n: int, rho: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng([7, seed])
    x = rng.standard_normal(n)
    for t in range(1, n):
        x[t] = rho * x[t - 1] + math.sqrt(1 - rho * rho) * x[t]
    return x


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.7])
@pytest.mark.parametrize("n", [20, 60, 300])
def test_change_points_of_noise_are_told_in_at_most_one_series_of_twenty(n: int, rho: float) -> None:
    told = sum(bool(change_points(np.arange(n), ar(n, rho, seed))) for seed in range(250))
    assert told / 250 <= 0.05 + 0.03  # the promise and two standard errors


@pytest.mark.parametrize("n", [40, 200, 1000, 5000])
def test_change_points_of_a_jump_are_one_at_its_step(n: int) -> None:
    at = int(0.7 * n)
    told = [change_points(np.arange(n) * 5 + 100, ar(n, 0.0, s) + 4.0 * (np.arange(n) >= at)) for s in range(20)]
    found = [changes[0] for changes in told if [c.kind for c in changes] == ["level"]]
    assert len(found) >= 18
    assert np.median([abs((c.step - 100) // 5 - at) for c in found]) <= 1
    assert np.mean([c.after - c.before for c in found]) == pytest.approx(4, abs=0.4)
    assert np.median([c.strength for c in found]) == pytest.approx(4, rel=0.25)
    assert max(c.p_value for c in found) < 0.01


def test_change_points_of_a_jump_in_correlated_noise_are_found() -> None:
    found = [change_points(np.arange(200), ar(200, 0.5, s) + 4.0 * (np.arange(200) >= 90)) for s in range(40)]
    assert sum(any(abs(change.step - 90) <= 4 for change in told) for told in found) >= 36


def test_change_points_of_two_jumps_have_the_levels_between_them() -> None:
    t = np.arange(150)
    found = change_points(t, ar(150, 0.0, 1) + 6.0 * (t >= 50) - 3.0 * (t >= 110))
    assert [abs(change.step - at) <= 1 for change, at in zip(found, (50, 110), strict=True)] == [True, True]
    assert found[0].after == found[1].before == pytest.approx(6, abs=0.6)


def test_change_points_of_a_bend_give_slopes_per_step() -> None:
    steps = np.arange(0, 400, 2)
    values = ar(200, 0.0, 2) + 0.1 * np.minimum(steps, 200)
    [change] = change_points(steps, values)
    assert change.kind == "slope"
    assert abs(change.step - 200) <= 20
    assert change.before == pytest.approx(0.1, rel=0.2)
    assert change.after == pytest.approx(0.0, abs=0.02)


def test_change_points_of_a_line_are_seldom_told() -> None:
    t = np.arange(100)
    assert sum(bool(change_points(t, ar(100, 0.0, s) + 0.05 * t)) for s in range(100)) <= 8


def test_change_points_spikes_neither_make_nor_hide_a_jump() -> None:
    t = np.arange(120)
    jump = ar(120, 0.0, 3) + 5.0 * (t >= 60)
    still = ar(120, 0.0, 4)
    for place in (10, 33, 70, 95):
        jump[place] += 100
        still[place] -= 100
    assert [abs(change.step - 60) <= 1 for change in change_points(t, jump)] == [True]
    assert change_points(t, still) == ()


def test_change_points_of_a_level_that_came_and_went_are_both_ends() -> None:
    t = np.arange(240)
    found = change_points(t, ar(240, 0.0, 5) + 4.0 * ((t >= 100) & (t < 140)))
    assert {100, 140} <= {min((100, 140), key=lambda at: abs(at - change.step)) for change in found}


def test_change_points_at_most_as_many_as_asked_for() -> None:
    t = np.arange(800)
    values = ar(800, 0.0, 6) + np.repeat([0.0, 6.0, 2.0, 9.0, 1.0, 7.0, 0.0, 8.0], 100)
    assert len(change_points(t, values)) == 5
    assert len(change_points(t, values, most=2)) == 2


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 5.0] * 4, [3.0] * 50])
def test_change_points_of_few_or_equal_values_are_none(values: list[float]) -> None:
    assert change_points(range(len(values)), values) == ()


def test_change_points_of_a_noiseless_jump_are_exact() -> None:
    [change] = change_points(range(20), [0.0] * 12 + [1.0] * 8)
    assert (change.step, change.before, change.after, change.p_value) == (12, 0.0, 1.0, 0.0)


@settings(max_examples=60)
@given(st.lists(st.floats(-1e12, 1e12), max_size=80))
def test_change_points_of_anything_lie_inside_and_ascend(values: list[float]) -> None:
    found = change_points(range(len(values)), values)
    places = [change.step for change in found]
    assert places == sorted(set(places))
    assert all(0 < place < len(values) for place in places)
    assert all(0 <= change.p_value <= 1 and change.strength >= 0 for change in found)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.floats(1e-6, 1e6), st.floats(-1e3, 1e3))
def test_change_points_are_the_same_in_other_units(seed: int, unit: float, shift: float) -> None:
    values = ar(60, 0.3, seed) + 4.0 * (np.arange(60) >= 25)
    there = [change.step for change in change_points(range(60), values)]
    assert [change.step for change in change_points(range(60), unit * (values + shift))] == there


# --- correlation that a part hides ------------------------------------------------------------------------


@pytest.mark.parametrize(("rho", "low", "high"), [(0.0, -1.0, 0.1), (0.5, -0.1, 0.5), (0.9, 0.4, 0.9)])
def test_least_correlation_is_hardly_ever_much_above_the_true_one_whatever_the_level_does(
    rho: float, low: float, high: float
) -> None:
    jumps = 8.0 * (np.arange(200) > 60) - 8.0 * (np.arange(200) > 120)
    found = [least_correlation(row + jumps) for row in noise(np.random.default_rng(5), 200, 200, rho)]
    assert low <= np.median(found) <= high
    assert np.mean(np.array(found) <= rho + 0.1) >= 0.95


def test_change_points_of_strongly_correlated_noise_are_as_rare_as_of_other_noise() -> None:
    """Nominal 5 %, and two standard errors of 300 series; parts of a quarter look independent."""
    told = [bool(change_points(np.arange(160), row)) for row in noise(np.random.default_rng(6), 300, 160, 0.9)]
    assert np.mean(told) <= 0.05 + 2 * 0.0126
