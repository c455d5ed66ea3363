"""A line's variance under correlated noise against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.analysis.ar_line import correlated, fit_line
from assistant.analysis.stats import without_spikes


def dense(n: int, rho: float) -> np.ndarray:
    place = np.arange(n)
    return np.where(place[:, None] == place, 1.0, rho ** np.abs(place[:, None] - place))


def ar(n: int, rho: float, seed: int) -> np.ndarray:
    x = np.random.default_rng([13, seed]).standard_normal(n)
    for t in range(1, n):
        x[t] = rho * x[t - 1] + np.sqrt(1 - rho * rho) * x[t]
    return x


@given(st.integers(2, 60), st.floats(0, 0.97), st.integers(0, 100))
def test_correlated_is_the_product_with_the_correlation_matrix(n: int, rho: float, seed: int) -> None:
    weights = np.random.default_rng(seed).standard_normal(n)
    assert correlated(weights, rho) == pytest.approx(dense(n, rho) @ weights, abs=1e-3)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("ahead", [1, 7, 40])
def test_deviation_is_that_of_dense_algebra(rho: float, ahead: int) -> None:
    n = 40
    values = ar(n, rho, 3) + 0.4 * np.arange(n)
    line = fit_line(np.arange(n), values)
    t = np.arange(n) - line.centre
    step = n - 1 + ahead
    weights = 1 / n + (step - line.centre) * t / (t @ t)
    assert line.at(step) == pytest.approx(weights @ without_spikes(values))
    root = dense(n, line.rho)
    assert line.deviation(step, point=False) == pytest.approx(
        line.scatter * np.sqrt(weights @ root @ weights), rel=1e-4
    )
    longer = dense(step + 1, line.rho)
    whole = np.concatenate([weights, np.zeros(ahead)])
    whole[step] = -1
    assert line.deviation(step, point=True) == pytest.approx(line.scatter * np.sqrt(whole @ longer @ whole), rel=1e-4)


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_scatter_is_that_of_the_noise_on_average(rho: float) -> None:
    found = [fit_line(np.arange(100), ar(100, rho, seed) + np.arange(100)).scatter ** 2 for seed in range(300)]
    assert np.mean(found) == pytest.approx(1.0, abs=0.08)


def test_fit_line_of_a_noiseless_line_is_exact() -> None:
    line = fit_line(np.arange(5, 65), 3.0 - 0.25 * np.arange(5, 65))
    assert line.at(100) == pytest.approx(-22)
    assert line.error(100, point=True) == pytest.approx(0, abs=1e-9)


def test_fit_line_takes_uneven_steps() -> None:
    steps = np.cumsum(1 + np.arange(30) % 3)
    assert fit_line(steps, 2.0 + 0.5 * steps).at(200) == pytest.approx(102)


@pytest.mark.parametrize(("n", "rho"), [(20, 0.3), (60, 0.7)])
def test_residual_correlation_is_right_on_average(n: int, rho: float) -> None:
    found = [fit_line(np.arange(n), ar(n, rho, seed)).rho for seed in range(400)]
    assert np.mean(found) == pytest.approx(rho, abs=0.06)
