"""The sum of further values of a series about a level, with a 95 % interval, averaged over what its correlation may be.

Given the correlation ρ of neighbours, the sum of the next values of an AR(1) series about an unknown level has an exact
prediction: its mean by generalised least squares and the pull of the last value, its deviation with as many degrees of
freedom as points less one (Harville 1974). ρ is not known, so the predictions of all ρ are averaged, each weighted by
how well that ρ explains the points (restricted likelihood times a flat prior), as in
:mod:`assistant.analysis.compare_averaged`. What such an average misses is mended by a simulated factor of the
half-width that hangs on the mean correlation, the number of points and how far the sum reaches beyond them:
``python -m evals.trend_time_left --fit`` draws AR(1) noise of every ρ from 0 to 0.9 and finds the table below by least
squares over all cells at once. Below :data:`LEAST` points no bounded factor serves both weak and strong correlation.

Source: Box & Tiao 1973, ch. 2 and 8 (averaging over a nuisance parameter); Box, Jenkins & Reinsel, ch. 5 (prediction).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assistant.analysis.compare_averaged import GRID, PRIOR
from assistant.analysis.compare_noise import likelihoods, t_quantile
from assistant.analysis.stats import without_spikes

Array = NDArray[np.float64]

#: Fewest points. Of fewer, the mean correlation looks alike at ρ = 0 and 0.9, whose sums differ fivefold in scatter.
LEAST: Final = 10
#: Last values that stand for those to come, where no more are summed than these.
RECENT: Final = 40
#: Mean correlations at which the factors stand; between two, the logarithm is interpolated, beyond them it stays.
KNOTS: Final = (0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9)
#: Most points for which factors were fitted; more count as these.
MOST: Final = 120
#: Largest logarithm of a factor, either way.
BOUND: Final = 1.9
#: Logarithms of the factor of the half-width, at KNOTS (rows) by :func:`features` (columns).
FACTORS: Final[Array] = np.array([
    [0.083, -1.262, 1.700, -0.832, 0.767, 4.951, -3.979, -10.762, 8.028],
    [0.061, -0.158, -0.067, 0.193, -0.191, -0.022, -0.551, -1.893, 1.537],
    [-0.364, 1.885, -1.973, 0.597, 0.547, -7.632, 0.652, 11.970, -3.448],
    [-0.006, -0.225, -0.077, 0.283, -0.443, -3.634, 2.154, 13.916, -6.214],
    [0.299, -0.158, -1.228, -1.130, 1.312, -0.915, -3.269, 18.048, -2.560],
    [-0.508, 3.161, -4.727, 1.355, -1.001, -6.542, 1.782, 24.838, -3.184],
    [-0.929, 4.377, -6.021, 1.758, -0.853, -0.202, -5.840, 19.000, 9.005],
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ahead:
    """Sums of further values, of one series or (simulations) of many.

    Attributes:
        expected: shape (…,), in the values' unit.
        half: half of the interval before its factor, shape (…,).
        rho: mean correlation of neighbours, shape (…,).
    """

    expected: Array
    half: Array
    rho: Array


def features(n: int, count: int) -> Array:
    """What the factors hang on, shape (9,): few points, and how much longer the sum is than the series."""
    few, far = LEAST / min(max(n, LEAST), MOST), count / (count + n)
    return np.array([1, few, few**2, far, far**2, far * few, far**2 * few, far * few**2, far**2 * few**2])


def factor_logs(n: int, count: int, table: Array | None = None) -> Array:
    """Logarithms of the factors at :data:`KNOTS`, shape (7,)."""
    found: Array = np.clip((FACTORS if table is None else table) @ features(n, count), -BOUND, BOUND)
    return found


def predictions(values: Array, count: int) -> tuple[Array, Array, Array] | None:
    """The sum of the next ``count`` values under each correlation of :data:`GRID`.

    Args:
        values: one series or many, shape (…, n), finite.
        count: at least one.

    Returns:
        Expected sums, variances of their errors and weights of the correlations, each of shape (…, 15); ``None`` where
        a series does not scatter.
    """
    n = values.shape[-1]
    found = likelihoods(values, 0, GRID)
    if found is None:
        return None
    weights = PRIOR * np.exp(-found[0] / 2)
    weights /= weights.sum(axis=-1, keepdims=True)
    centre = values.mean(axis=-1, keepdims=True)
    y = values - centre
    innovation = found[1] * np.abs(y).max(axis=-1, keepdims=True) ** 2 / (n - 1)
    first, last = y[..., :1], y[..., -1:]
    # Generalised least squares of a level: the ends count for one, points between for 1 − ρ, and all add up to zero.
    ends = n - (n - 2) * GRID
    level = GRID * (first + last) / ends
    pull = GRID * (1 - GRID**count) / (1 - GRID)
    expected = count * (centre + level) + pull * (last - level)
    ahead = (count - 2 * pull + GRID**2 * (1 - GRID ** (2 * count)) / (1 - GRID**2)) / (1 - GRID) ** 2
    variance = innovation * (ahead + (count - pull) ** 2 / ((1 - GRID) * ends))
    return expected, variance, weights


def averaged_ahead(values: Array, count: int) -> Ahead | None:
    """The sum of the next ``count`` values, averaged over the correlations; arguments as :func:`predictions`."""
    found = predictions(values, count)
    if found is None:
        return None
    expected, variance, weights = found
    mean = (weights * expected).sum(axis=-1)
    spread = (weights * (variance + (expected - mean[..., None]) ** 2)).sum(axis=-1)
    return Ahead(mean, t_quantile(0.975, values.shape[-1] - 1) * np.sqrt(spread), weights @ GRID)


def level_intervals(values: Array, count: int) -> tuple[Array, Array]:
    """As :func:`level_interval`, of one series or many, shape (…, n): two arrays of shape (…,)."""
    values = values[..., -max(RECENT, count) :]
    n = values.shape[-1]
    rows = np.array([without_spikes(row) for row in values.reshape(-1, n)]).reshape(values.shape)
    expected, half = count * rows.mean(axis=-1), np.zeros(rows.shape[:-1])
    found = averaged_ahead(rows, count)
    if found is not None:
        expected = found.expected
        half = found.half * np.exp(np.interp(found.rho, KNOTS, factor_logs(n, count)))
    # A slow step by itself says nothing of its neighbours, and would hide how strongly the others hang together.
    beyond = values - rows
    apart = t_quantile(0.975, n - 1) ** 2 * beyond.var(axis=-1, ddof=1) * count * (1 + count / n)
    return expected + count * beyond.mean(axis=-1), np.sqrt(half * half + apart)


def level_interval(values: ArrayLike, count: int) -> tuple[float, float]:
    """Expected sum of the next ``count`` values of a series about a level, and half of its 95 % interval.

    Of longer series the last ones count: as many as are summed, at least :data:`RECENT`.

    Args:
        values: at least :data:`LEAST`, shape (n,), finite.
        count: at least one.
    """
    expected, half = level_intervals(np.asarray(values, dtype=np.float64), count)
    return float(expected), float(half)
