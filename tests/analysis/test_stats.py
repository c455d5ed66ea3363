"""Statistics against scipy and against what their formulas promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from assistant.analysis.nulls import NORMAL, TABLES, critical
from assistant.analysis.stats import (
    autocorrelation,
    block_means,
    edge,
    kendall_score,
    mann_kendall,
    middle,
    robust_scale,
    scan_basis,
    theil_sen,
    unbiased,
    without_spikes,
)

tied = st.lists(st.integers(-5, 5).map(float), min_size=2, max_size=60)


def ar(n: int, rho: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    for t in range(1, n):
        x[t] = rho * x[t - 1] + math.sqrt(1 - rho * rho) * x[t]
    return x


# --- Kendall and Theil–Sen -------------------------------------------------------------------------------


@given(tied)
def test_kendall_score_equals_the_count_of_pairs(values: list[float]) -> None:
    signs = np.sign(np.subtract.outer(values, values))
    assert kendall_score(values) == np.tril(signs).sum()


@pytest.mark.parametrize("n", [10, 63, 64, 65, 500])
def test_kendall_score_over_pairs_equals_scipys_tau(n: int) -> None:
    values = ar(n, 0.4, n)
    tau = scipy_stats.kendalltau(np.arange(n), values).statistic
    assert kendall_score(values) / (n * (n - 1) / 2) == pytest.approx(tau, abs=1e-12)


def test_kendall_score_ties_agree_with_scipys_tau_b() -> None:
    values = np.random.default_rng(1).integers(0, 6, 80).astype(float)
    pairs = 80 * 79 / 2
    same = sum(k * (k - 1) / 2 for k in np.unique(values, return_counts=True)[1])
    tau = scipy_stats.kendalltau(np.arange(80), values).statistic
    assert kendall_score(values) / math.sqrt(pairs * (pairs - same)) == pytest.approx(tau, abs=1e-12)


def test_mann_kendall_many_points_agrees_with_scipys_asymptotic_p() -> None:
    for seed in range(10):
        values = ar(300, 0.0, seed) + 0.002 * np.arange(300)
        theirs = scipy_stats.kendalltau(np.arange(300), values, method="asymptotic").pvalue
        assert mann_kendall(values) == pytest.approx(theirs, abs=0.002)  # theirs has no continuity correction


@pytest.mark.parametrize("n", [7, 30, 121])
def test_theil_sen_agrees_with_scipy(n: int) -> None:
    steps = np.cumsum(np.random.default_rng(n).integers(1, 5, n))
    values = ar(n, 0.0, n) + 0.1 * steps
    slope, interval = theil_sen(steps, values)
    theirs = scipy_stats.theilslopes(values, steps)
    assert slope == pytest.approx(theirs.slope, rel=1e-12)
    assert interval is not None
    # the order statistic is rounded outwards here and to the nearest there
    slopes = np.sort([(b - a) / (t - s) for i, (s, a) in enumerate(zip(steps, values, strict=True))
                      for t, b in zip(steps[i + 1 :], values[i + 1 :], strict=True)])  # fmt: skip
    for mine, other in zip(interval, (theirs.low_slope, theirs.high_slope), strict=True):
        assert abs(np.abs(slopes - mine).argmin() - np.abs(slopes - other).argmin()) <= 1


def test_theil_sen_score_beyond_all_pairs_gives_no_interval() -> None:
    assert theil_sen(range(5), [1, 3, 2, 5, 4], score=11.0)[1] is None


# --- scatter, correlation, spikes ------------------------------------------------------------------------


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50))
def test_middle_is_the_median(values: list[float]) -> None:
    assert middle(np.array(values)) == np.median(values)


def test_robust_scale_agrees_with_scipy_and_ignores_outliers() -> None:
    values = ar(999, 0.0, 5)
    assert robust_scale(values) == pytest.approx(scipy_stats.median_abs_deviation(values, scale="normal"), rel=1e-4)
    values[:100] = 1e9
    assert robust_scale(values) < 1.5


@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_unbiased_autocorrelation_of_detrended_noise_is_right_on_average(n: int, rho: float) -> None:
    t = np.arange(n)
    found = []
    for seed in range(600):
        values = ar(n, rho, seed)
        found.append(unbiased(autocorrelation(values - np.polyval(np.polyfit(t, values, 1), t)), n))
    assert np.mean(found) == pytest.approx(rho, abs=0.12)


def test_autocorrelation_single_spikes_do_not_hide_it() -> None:
    values = ar(300, 0.8, 1)
    values[::40] += 100
    assert autocorrelation(values) > 0.5


def test_without_spikes_takes_spikes_and_leaves_jumps_slopes_and_noise() -> None:
    values = ar(200, 0.0, 2) + 8.0 * (np.arange(200) >= 100) + 0.02 * np.arange(200)
    spiked = values.copy()
    spiked[[30, 150]] += 60
    clean = without_spikes(spiked)
    assert abs(clean[30] - values[30]) < 5
    assert abs(clean[150] - values[150]) < 5
    others = np.delete(np.arange(200), [30, 150])
    assert np.mean(clean[others] == values[others]) > 0.97


@given(st.integers(1, 300), st.integers(1, 40))
def test_block_means_of_a_line_are_its_values_at_the_middles(n: int, width: int) -> None:
    means = block_means(np.arange(float(n)), width)
    whole = n // width
    assert np.allclose(means[:whole], np.arange(whole) * width + (width - 1) / 2)
    assert len(means) in {whole, whole + 1}


# --- tables ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["level", "slope"])
def test_scan_basis_rows_are_of_unit_length_and_orthogonal_to_what_is_no_change(kind: str) -> None:
    null, rows = scan_basis(30, kind)
    assert np.allclose(null @ null.T, np.eye(len(null)))
    assert np.allclose((rows * rows).sum(axis=1), 1)
    assert np.allclose(rows @ null.T, 0)
    assert len(rows) == 30 - 2 * edge(30, kind) + 1


@pytest.mark.parametrize("test", sorted(TABLES))
@given(n=st.integers(5, 2000), r=st.floats(-1, 1), more=st.floats(0, 1))
def test_critical_grows_with_the_autocorrelation_and_never_falls_below_the_normal_one(
    test: str, n: int, r: float, more: float
) -> None:
    low, high = critical(test, n, r), critical(test, n, min(1.0, r + more))  # type: ignore[arg-type]
    assert NORMAL - 1e-9 <= low <= high + 1e-9
