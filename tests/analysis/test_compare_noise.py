"""The noise model of comparisons against dense linear algebra, scipy and its own properties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assistant.analysis import compare_noise as noise

SMALL = [k for k, rho in enumerate(noise.RHOS) if rho <= 0.99]


def covariance(n: int, rho: float) -> np.ndarray:
    """Of stationary AR(1) noise with innovations of variance one."""
    place = np.arange(n)
    return rho ** np.abs(place[:, None] - place) / (1 - rho**2)


@pytest.mark.parametrize("freedom", [1, 2.5, 4, 17, 300, math.inf])
@pytest.mark.parametrize("t", [0.01, 0.7, 1.96, 4.5, 30])
def test_t_tail_agrees_with_scipy(t, freedom):
    assert noise.t_tail(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-8, abs=1e-300)


@pytest.mark.parametrize("freedom", [1, 4, 30, math.inf])
@pytest.mark.parametrize("probability", [0.9, 0.975, 0.9999])
def test_t_quantile_agrees_with_scipy(probability, freedom):
    assert noise.t_quantile(probability, freedom) == pytest.approx(stats.t.ppf(probability, freedom), rel=1e-8)


def test_cuts_are_the_quantiles_that_the_betas_name():
    for beta, cut in zip(noise.BETAS, noise.CUTS, strict=True):
        assert cut == pytest.approx(stats.chi2.ppf(1 - 2 * beta, 1), abs=1e-3)


@pytest.mark.parametrize("windows", [((0, 1), (1, 2)), ((0, 5), (7, 30)), ((20, 30), (2, 3)), ((3, 9), (9, 12))])
def test_window_variance_is_that_of_the_dense_covariance(windows):
    (a, b), (c, d) = windows
    weights = np.zeros(40)
    weights[a:b] -= 1 / (b - a)
    weights[c:d] += 1 / (d - c)
    found = noise.window_variance(*windows)
    for k in SMALL:
        assert found[k] == pytest.approx(weights @ covariance(40, noise.RHOS[k]) @ weights, rel=1e-8)
    steps = np.cumsum(weights[::-1])[::-1]  # a random walk: each innovation moves all later points
    assert found[-1] == pytest.approx(float(steps[1:] @ steps[1:]), rel=2e-2)


@pytest.mark.parametrize("started", [True, False])
def test_level_variance_is_that_of_the_dense_covariance(started):
    weights = np.zeros(30)
    weights[11:25] = 1 / 14
    found = noise.level_variance((11, 25), started=started)
    for k in SMALL:
        rho = noise.RHOS[k]
        # Started: the sum of innovations since the first point, weighted by powers of ρ.
        lower = np.tril(rho ** np.clip(np.arange(30)[:, None] - np.arange(30), 0, None))
        dense = lower @ lower.T if started else covariance(30, rho)
        assert found[k] == pytest.approx(weights @ dense @ weights, rel=1e-8)


def test_fit_support_is_the_restricted_likelihood_of_dense_algebra():
    values = np.random.default_rng(5).normal(size=25).cumsum()
    found = noise.fit(values, degree=2)
    assert found is not None
    design = np.vander(np.arange(25.0), 3)
    likelihoods = []
    for k in SMALL:
        dense = covariance(25, noise.RHOS[k])
        inverse = np.linalg.inv(dense)
        gram = design.T @ inverse @ design
        beta = np.linalg.solve(gram, design.T @ inverse @ values)
        rest = values - design @ beta
        scatter = float(rest @ inverse @ rest) / 22
        terms = [np.linalg.slogdet(dense)[1], np.linalg.slogdet(gram)[1], 22 * math.log(scatter)]
        likelihoods.append(sum(terms))
        assert found.scale[k] == pytest.approx(math.sqrt(scatter), rel=1e-6)
    expected = np.array(likelihoods) - likelihoods[0]
    assert found.support[SMALL] - found.support[0] == pytest.approx(expected, abs=1e-5)


@given(
    st.lists(st.floats(-5, 5), min_size=8, max_size=40).filter(lambda v: np.ptp(np.diff(v, 3)) > 1e-3),
    st.floats(0.01, 100), st.floats(-50, 50), st.floats(-3, 3),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_fit_scales_with_the_unit_and_ignores_level_and_slope(values, factor, level, slope):
    x = np.array(values)
    one, two = noise.fit(x), noise.fit(factor * (x + level + slope * np.arange(len(x))))
    assert one is not None
    assert two is not None
    assert two.scale == pytest.approx(factor * one.scale, rel=1e-3)
    assert two.support == pytest.approx(one.support, abs=1e-2)


@pytest.mark.parametrize("values", [[1.0] * 20, [1.0, 2.0, 3.0, 4.0, 5.0], np.linspace(3, 1, 30)])
def test_fit_without_scatter_or_with_few_points_gives_nothing(values):
    assert noise.fit(np.asarray(values, dtype=float)) is None


@pytest.mark.parametrize("seed", range(5))
def test_noise_half_width_is_where_the_p_value_is_five_per_cent(seed):
    values = np.random.default_rng(seed).normal(size=50)
    found = noise.fit(values)
    assert found is not None
    drawn = noise.within_series(found, noise.window_variance((0, 10), (40, 50)))
    width = drawn.half_width()
    assert drawn.p_value(1.001 * width) < 0.05 < drawn.p_value(0.999 * width)


@given(st.floats(0.01, 10), st.floats(0, 40))
def test_noise_p_value_falls_with_the_difference(error, delta):
    known = noise.known(error)
    assert known.p_value(delta) >= known.p_value(delta + 0.1)
    assert 0 <= known.p_value(delta) <= 1


def test_noise_of_a_random_walk_is_wider_than_that_of_independent_values():
    dice = np.random.default_rng(1)
    steps = dice.normal(size=80)
    variance = noise.window_variance((0, 10), (70, 80))
    white, walk = noise.fit(steps), noise.fit(steps.cumsum())
    assert white is not None
    assert walk is not None
    assert noise.within_series(walk, variance).half_width() > 5 * noise.within_series(white, variance).half_width()
    assert white.rho < 0.4
    assert walk.rho > 0.7
