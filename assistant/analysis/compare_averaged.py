"""The 95 % interval of a difference of two means, averaged over what the correlation of their points may be.

The correlation ρ of neighbouring steps is not known, and neither its likeliest value nor the upper end of what is
plausible gives an interval that holds 95 %: the one is too narrow, the other too wide (:mod:`compare_noise`). So the
test of each ρ is weighted by how well that ρ explains the points (its restricted likelihood times a flat prior), as a
posterior of Student's t's; both sides are taken to have one ρ, each its own scatter, and means of one series hang
together by ρ. What such an average still misses is mended by a simulated factor of its half-width
(:mod:`assistant.analysis.compare_factors`), so that of AR(1) noise of every ρ from 0 to 0.9 93 to 97 % of the
intervals hold the difference, and what lies beyond them is taken to a power, so that of families of twenty metrics one
in twenty at most holds a false call (``python -m evals.compare_widths``). The test and the interval are one. Where few
points show much correlation, the factor reaches five: nearly nothing is known then, and the verdict is inconclusive.

Source: averaging over a nuisance parameter, Box & Tiao 1973, ch. 2 and 8; restricted likelihood, Harville 1974.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.compare_factors import SHORT, at_mean, factor_logs, features, tail_logs
from assistant.analysis.compare_noise import (
    LARGEST,
    MIN_POINTS,
    Noise,
    between,
    degree_for,
    in_blocks,
    level,
    likelihoods,
    near_places,
    scatter,
    steadied,
    t_tail,
    widened,
)

Array = NDArray[np.float64]

#: Correlations that are averaged over, and the share of [0, 0.985] that each stands for.
GRID: Final[Array] = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.84, 0.88, 0.91, 0.94, 0.97])
PRIOR: Final[Array] = np.array([0.1] * 7 + [0.075, 0.05, 0.045, 0.04, 0.035, 0.03, 0.03, 0.03])
#: Points from which the correlation about a side is taken, where it has fewer itself.
AROUND: Final = 40
#: A side of up to SHORT points is not averaged with one of more than so many times its points.
FAR_LONGER: Final = 10
#: By how much strongly correlated sides of very unlike length are wider than others of one length are
#: (:data:`assistant.analysis.compare_noise.WIDENED`): without it noise of ρ = 0.9 is held 94.2 % of the time.
SPARE: Final = 1.08
#: Weights below which a correlation is left out.
NO_WEIGHT: Final = 1e-7


@dataclass(frozen=True, slots=True)
class Average:
    """One side's mean under each of :data:`GRID`; of one series, or (simulations) of many at once.

    Attributes:
        variance: of the mean, shape (…, 15), in the metric's unit squared; 0 where nothing scatters.
        freedom: degrees of freedom of that, shape (15,).
        support: 2·(largest log restricted likelihood − that of each), shape (…, 15).
        stretch: (start, stop) of the points that the likelihood is of.
        window: (start, stop) of the side, in points as logged.
        block: points that were put together into one.
    """

    variance: Array
    freedom: Array
    support: Array
    stretch: tuple[int, int]
    window: tuple[int, int]
    block: int


@dataclass(frozen=True, slots=True)
class Mixture:
    """The difference of two means under each of :data:`GRID`, of one pair of sides or of many.

    Attributes:
        variance: of the difference, shape (…, 15).
        freedom: degrees of freedom of that, shape (…, 15).
        weights: of each correlation, shape (…, 15); they add up to one.
        rho: mean correlation, shape (…).
        sides: what the factors hang on (:func:`assistant.analysis.compare_factors.features`).
    """

    variance: Array
    freedom: Array
    weights: Array
    rho: Array
    sides: Array


@dataclass(frozen=True, slots=True)
class Averaged:
    """The noise of a difference, as :class:`assistant.analysis.compare_noise.Noise`.

    Attributes:
        errors: standard error under each correlation that has weight, in the metric's unit.
        freedoms: its degrees of freedom.
        weights: of each; they add up to one.
        rho: their mean correlation.
        factor: of the half-width at 95 %.
        tail: power of a difference over that half-width, beyond it.
    """

    errors: tuple[float, ...]
    freedoms: tuple[float, ...]
    weights: tuple[float, ...]
    rho: float
    factor: float = 1.0
    tail: float = 1.0

    def p_value(self, delta: float) -> float:
        """Two-sided p-value of a difference of ``delta`` against none."""
        size, half = abs(delta) / self.factor, self._passed(0.05)
        return self._tail(size if size <= half else half * math.pow(size / half, self.tail))

    def half_width(self, share: float = 0.05) -> float:
        """The difference that must be passed for p < ``share``."""
        half = self._passed(0.05)
        if share < 0.05:
            return self.factor * half * math.pow(self._passed(share) / half, 1 / self.tail)
        return self.factor * self._passed(share)

    def _tail(self, size: float) -> float:
        return _mixed_tail(size, self.errors, self.freedoms, self.weights)

    def _passed(self, share: float) -> float:
        return _mixed_quantile(share, self.errors, self.freedoms, self.weights)


def _mixed_tail(
    size: float, errors: tuple[float, ...], freedoms: tuple[float, ...], weights: tuple[float, ...]
) -> float:
    """P(\\|T\\| > size) for a mixture of Student's t's."""
    parts = zip(weights, errors, freedoms, strict=True)
    return min(sum(weight * t_tail(size / error, freedom) for weight, error, freedom in parts), 1.0)


@lru_cache(maxsize=256)
def _mixed_quantile(
    share: float, errors: tuple[float, ...], freedoms: tuple[float, ...], weights: tuple[float, ...]
) -> float:
    """The size that such a mixture passes with a probability; by bisection."""
    low, high = 0.0, 2 * max(errors)
    while _mixed_tail(high, errors, freedoms, weights) > share:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _mixed_tail(middle, errors, freedoms, weights) > share else (low, middle)
    return (low + high) / 2


def average(values: Array, window: tuple[int, int], limits: tuple[int, int] | None = None) -> Average | None:
    """How well a window's mean is known from its scatter around its own line, under each correlation.

    A window of fewer than eight points takes its scatter from the points around it, as
    :func:`assistant.analysis.compare_noise.level` does.

    Args:
        values: the whole series, or many, shape (…, n), finite, in the order of steps.
        window: (start, stop) in points.
        limits: (start, stop) beyond which no scatter is taken, since the other side begins there.

    Returns:
        ``None`` where fewer than four points tell the scatter.
    """
    points, length = window[1] - window[0], values.shape[-1]
    values, start, stop, limits = in_blocks(values, *window, limits or (0, length))
    places = near_places((start, stop), limits)
    if places is None:
        return None
    variance, freedom = scatter(values, places, (start, stop), tuple(map(float, GRID)))
    left, right = start, stop
    if right - left < AROUND:
        left = max(0, min(start - (AROUND - (stop - start)) // 2, values.shape[-1] - AROUND))
        right = min(values.shape[-1], max(left + AROUND, stop))
    found = None
    if right - left >= MIN_POINTS:
        found = likelihoods(steadied(values[..., left:right]), degree_for(right - left), GRID)
    support = np.zeros(variance.shape) if found is None else found[0]
    return Average(variance, freedom, support, (left, right), window, -(-points // (stop - start)))


def mixed(a: Average, b: Average, *, same: bool) -> Mixture | None:
    """The difference of two means, of one series (``same``) or two, under each correlation.

    The means of one series hang together, by what the correlation is over the points between them. Degrees of freedom
    after Welch 1947, by the same expansion for a difference that hangs together. Points that both stretches hold count
    once.

    Returns:
        ``None`` where the sides are put together from blocks of different length (their correlations are not one), and
        for a step or two against a window of far more: no factor holds there at every correlation.
    """
    points = [side.window[1] - side.window[0] for side in (a, b)]
    if a.block != b.block or (min(points) <= SHORT and max(points) > FAR_LONGER * min(points)):
        return None
    first, second = (a, b) if a.window[0] <= b.window[0] else (b, a)
    n, m = ((side.window[1] - side.window[0]) / a.block for side in (first, second))
    gap = (second.window[0] - first.window[1]) / a.block + 1 if same else math.inf
    covariance = _shared(GRID, n, m, gap) * np.sqrt(a.variance * b.variance)
    variance = a.variance + b.variance - 2 * covariance
    parts = (a.variance - covariance) ** 2 / a.freedom + (b.variance - covariance) ** 2 / b.freedom
    freedom = np.divide(variance**2, parts, out=np.ones(variance.shape), where=parts > 0)
    lengths = [side.stretch[1] - side.stretch[0] for side in (a, b)]
    twice = max(min(a.stretch[1], b.stretch[1]) - max(a.stretch[0], b.stretch[0]), 0) if same else 0
    told = sum(lengths) - twice
    weights = PRIOR * np.exp(-(a.support + b.support) * (told / sum(lengths)) / 2)
    weights /= weights.sum(axis=-1, keepdims=True)
    near = float(_shared(np.array([LARGEST]), n, m, gap)[0])
    sides = features((n, m), told, near, told / max(lengths) - 1)
    return Mixture(variance, freedom, weights, weights @ GRID, sides)


def _shared(rho: Array, n: float, m: float, gap: float) -> Array:
    """Correlation of the means of n and m points of AR(1) noise whose nearest points are ``gap`` steps apart."""
    if math.isinf(gap):
        return np.zeros(len(rho))
    ends = _sum_of_powers(rho, n) * _sum_of_powers(rho, m) * rho**gap / (n * m)
    found: Array = ends / np.sqrt(_mean_variance(rho, n) * _mean_variance(rho, m))
    return found


def _sum_of_powers(rho: Array, n: float) -> Array:
    """1 + ρ + … + ρ^(n − 1)."""
    found: Array = (1 - rho**n) / (1 - rho)
    return found


def _mean_variance(rho: Array, n: float) -> Array:
    """Variance of the mean of n points of AR(1) noise of variance one."""
    found: Array = (n * (1 - rho**2) - 2 * rho * (1 - rho**n)) / ((1 - rho) ** 2 * n**2)
    return found


def averaged(a: Average, b: Average, *, same: bool) -> Averaged | None:
    """Noise of the difference of two means; ``None`` where neither scatters, or as :func:`mixed`."""
    found = mixed(a, b, same=same)
    if found is None or float(found.variance.min()) <= 0:
        return None
    kept = found.weights > NO_WEIGHT
    rho = float(found.rho)
    return Averaged(
        tuple(np.sqrt(found.variance[kept]).tolist()), tuple(np.round(found.freedom[kept], 2).tolist()),
        tuple((found.weights[kept] / found.weights[kept].sum()).tolist()), rho,
        at_mean(factor_logs(found.sides), rho), at_mean(tail_logs(found.sides), rho),
    )  # fmt: skip


def difference(
    values: tuple[Array, Array], windows: tuple[tuple[int, int], tuple[int, int]], *, same: bool
) -> Noise | Averaged | None:
    """Noise of the difference of the means of two windows: :class:`Averaged` but for windows of very unlike length.

    Args:
        values: the series of each side, finite, in the order of steps.
        windows: (start, stop) of each side in points.
        same: whether both are of one series; of few points, each then takes its scatter short of the other.
    """
    limits = []
    for part, window, other in zip(values, windows, windows[::-1], strict=True):
        whole = 0, len(part)
        limits.append(whole if not same else (0, other[0]) if window[0] < other[0] else (other[1], whole[1]))
    sides = list(zip(values, windows, limits, strict=True))
    a, b = (average(*side) for side in sides)
    found = None if a is None or b is None else averaged(a, b, same=same)
    if found is not None:
        return found
    levels = [level(*side) for side in sides]
    if levels[0] is None or levels[1] is None:
        return None
    return between(widened(levels[0], SPARE), widened(levels[1], SPARE))
