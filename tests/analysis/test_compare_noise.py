"""The noise model of comparisons against dense linear algebra, scipy and its own properties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assistant.analysis import compare_noise as noise


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


def test_cut_is_the_one_sided_ninety_five_per_cent_quantile():
    assert pytest.approx(stats.chi2.ppf(0.9, 1), abs=1e-3) == noise.CUT


def test_fit_support_is_the_restricted_likelihood_of_dense_algebra():
    values = np.random.default_rng(5).normal(size=25).cumsum()
    found = noise.fit(values, degree=2)
    assert found is not None
    design = np.vander(np.arange(25.0), 3)
    likelihoods = []
    for k in range(len(noise.RHOS)):
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
    assert found.support - found.support[0] == pytest.approx(expected, abs=1e-5)


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


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_level_variance_is_unbiased_where_the_correlation_is_known(rho, monkeypatch):
    """The mean of many estimates is the true variance of a mean of ten correlated points, before it is widened."""
    monkeypatch.setattr(noise, "plausible", lambda *_: rho)
    monkeypatch.setattr(noise, "WIDENED", {10: 1.0})
    dice, n, draws = np.random.default_rng(11), 10, 4000
    root = np.linalg.cholesky(covariance(n, rho))
    found = [noise.level(root @ dice.normal(size=n), (0, n)) for _ in range(draws)]
    true = covariance(n, rho).sum() / n**2
    assert np.mean([one.variance for one in found if one is not None]) == pytest.approx(true, rel=0.06)


@given(st.integers(0, 50), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
@settings(max_examples=40, deadline=None)
def test_level_scales_with_the_unit_and_ignores_the_level(seed, factor, shift):
    values = np.random.default_rng(seed).normal(size=50)
    one, two = noise.level(values, (5, 17)), noise.level(factor * values + shift, (5, 17))
    assert one is not None
    assert two is not None
    assert two.variance == pytest.approx(factor**2 * one.variance, rel=1e-3)
    assert (two.rho, two.freedom) == (one.rho, one.freedom)


def test_level_of_a_quiet_side_is_not_widened_by_a_rough_one():
    dice = np.random.default_rng(4)
    values = np.concatenate([1000 + 40 * dice.normal(size=30), 9 + 0.1 * dice.normal(size=30)])
    rough, quiet = noise.level(values, (0, 10)), noise.level(values, (50, 60))
    assert rough is not None
    assert quiet is not None
    assert quiet.variance < rough.variance / 1e4
    drawn = noise.between(rough, quiet)
    assert drawn is not None
    assert drawn.p_value(values[50:].mean() - values[:10].mean()) < 1e-3


@pytest.mark.parametrize("jump", [0.0, 500.0])
def test_steadied_series_shows_the_correlation_whatever_jumps_in_it(jump):
    values = np.random.default_rng(2).normal(size=60)
    values[30:] = values[30:] * 20 + jump
    found = noise.fit(noise.steadied(values))
    assert found is not None
    assert found.rho <= 0.3


def test_level_of_one_step_takes_its_scatter_from_the_steps_around_but_not_from_the_other_side():
    values = np.concatenate([np.random.default_rng(3).normal(size=20), [1e6] * 5])
    alone = noise.level(values, (19, 20), (0, 20))
    assert alone is not None
    assert alone.variance < 4
    assert noise.level(values, (19, 20), (18, 20)) is None


def test_level_of_a_long_window_is_that_of_means_of_neighbours():
    values = np.random.default_rng(6).normal(size=5000)
    found = noise.level(values, (1000, 5000))
    assert found is not None
    assert 0.8 / 4000 < found.variance < 2.5 / 4000


def test_between_levels_that_do_not_scatter_is_nothing():
    still = noise.level(np.ones(20), (0, 10))
    assert still is not None
    assert still.variance == 0
    assert noise.between(still, still) is None


def test_between_is_welchs_for_independent_values(monkeypatch):
    """Without correlation and without a line: the textbook test of two means (eight points, no trend taken off)."""
    monkeypatch.setattr(noise, "plausible", lambda *_: 0.0)
    monkeypatch.setattr(noise, "FEW", 30)
    monkeypatch.setattr(noise, "NEAREST", 12)
    dice = np.random.default_rng(9)
    a, b = dice.normal(size=12), 3 * dice.normal(size=12) + 1
    levels = noise.level(a, (0, 12)), noise.level(b, (0, 12))
    assert levels[0] is not None
    assert levels[1] is not None
    drawn = noise.between(levels[0], levels[1])
    assert drawn is not None
    expected = stats.ttest_ind(a, b, equal_var=False)
    assert drawn.p_value(b.mean() - a.mean()) == pytest.approx(expected.pvalue, rel=2e-3)
    assert drawn.freedom == pytest.approx(expected.df, abs=0.01)


def test_noise_half_width_is_where_the_p_value_is_five_per_cent():
    drawn = noise.Noise(0.3, 7.5)
    width = drawn.half_width()
    assert drawn.p_value(1.001 * width) < 0.05 < drawn.p_value(0.999 * width)


@given(st.floats(0.01, 10), st.floats(0, 40))
def test_noise_p_value_falls_with_the_difference(error, delta):
    known = noise.Noise(error)
    assert known.p_value(delta) >= known.p_value(delta + 0.1)
    assert 0 <= known.p_value(delta) <= 1


def test_noise_of_correlated_values_is_wider_than_that_of_independent_ones():
    dice = np.random.default_rng(1)
    steps = dice.normal(size=80)
    walk = steps.cumsum() / steps.cumsum()[:10].std() * steps[:10].std()
    white, slow = noise.level(steps, (0, 10)), noise.level(walk, (0, 10))
    assert white is not None
    assert slow is not None
    assert white.rho < slow.rho
    assert slow.variance > 2 * white.variance
