"""The 95 % interval of a difference of two means of ten points or more, averaged over what their correlation may be.

The correlation ρ of neighbouring steps is not known, and neither its likeliest value nor the upper end of what is
plausible gives an interval that holds 95 %: the one is too narrow, the other too wide (:mod:`compare_noise`). So the
test of each ρ is weighted by how well that ρ explains the points (its restricted likelihood times a flat prior), as a
posterior of Student's t's; both sides are taken to have one ρ, each its own scatter. What such an average still misses
is mended by a simulated factor, by the points that tell ρ and by its mean (:data:`FACTORS`), so that of AR(1) noise of
every ρ from 0 to 0.9 93 to 97 % of the intervals hold the difference (``python -m evals.compare_widths``). The test
and the interval are one.

Source: averaging over a nuisance parameter, Box & Tiao 1973, ch. 2 and 8; restricted likelihood, Harville 1974.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.compare_noise import Noise, between, fit, in_blocks, level, scatter, steadied, t_tail

Array = NDArray[np.float64]

#: Fewest points a side.
LEAST: Final = 10
#: Correlations that are averaged over, and the share of [0, 0.985] that each stands for.
GRID: Final[Array] = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.84, 0.88, 0.91, 0.94, 0.97])
PRIOR: Final[Array] = np.array([0.1] * 7 + [0.075, 0.05, 0.045, 0.04, 0.035, 0.03, 0.03, 0.03])
#: Points from which the correlation about a side is taken, where it has fewer itself.
AROUND: Final = 40
#: Weights below which a correlation is left out.
NO_WEIGHT: Final = 1e-7
#: Mean correlations at which the factors stand; between two, log factor is interpolated.
KNOTS: Final = (0.05, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.88, 0.95)
#: Points that tell the correlation → factor of the half-width at :data:`KNOTS` (``python -m evals.compare_widths
#: --fit``); between two, log factor is interpolated in log points; beyond them, the nearest holds. Comments: least and
#: largest share of misses in the fit, %.
FACTORS: Final[dict[int, tuple[float, ...]]] = {
    20: (0.44, 0.49, 0.61, 1.21, 1.83, 2.29, 2.54, 2.64, 2.69),  # 3.8 to 5.8
    40: (0.74, 0.76, 0.78, 0.84, 0.97, 1.13, 1.27, 1.39, 1.50),  # 4.0 to 5.6
    80: (0.83, 0.87, 0.97, 0.90, 0.81, 0.98, 1.34, 1.77, 2.29),  # 3.4 to 6.2
    100: (0.91, 0.91, 0.91, 0.89, 0.89, 0.94, 1.15, 1.47, 1.85),  # 4.0 to 5.6
    200: (0.90, 0.91, 0.93, 0.95, 0.96, 0.98, 0.97, 0.91, 0.85),  # 4.0 to 5.6
}


@dataclass(frozen=True, slots=True)
class Average:
    """One side's mean under each of :data:`GRID`.

    Attributes:
        variance: of the mean, shape (15,), in the metric's unit squared; 0 where nothing scatters.
        freedom: degrees of freedom of that, shape (15,).
        support: 2·(largest log restricted likelihood − that of each), shape (15,).
        stretch: (start, stop) of the points that the likelihood is of.
        block: points that were put together into one.
    """

    variance: Array
    freedom: Array
    support: Array
    stretch: tuple[int, int]
    block: int


@dataclass(frozen=True, slots=True)
class Averaged:
    """The noise of a difference, as :class:`assistant.analysis.compare_noise.Noise`.

    Attributes:
        errors: standard error under each correlation that has weight, times the factor, in the metric's unit.
        freedoms: its degrees of freedom.
        weights: of each; they add up to one.
        rho: their mean correlation.
    """

    errors: tuple[float, ...]
    freedoms: tuple[float, ...]
    weights: tuple[float, ...]
    rho: float

    def p_value(self, delta: float) -> float:
        """Two-sided p-value of a difference of ``delta`` against none."""
        parts = zip(self.weights, self.errors, self.freedoms, strict=True)
        return min(sum(weight * t_tail(abs(delta) / error, freedom) for weight, error, freedom in parts), 1.0)

    def half_width(self, share: float = 0.05) -> float:
        """The difference that must be passed for p < ``share``; by bisection."""
        low, high = 0.0, 2 * max(self.errors)
        while self.p_value(high) > share:
            low, high = high, 2 * high
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self.p_value(middle) > share else (low, middle)
        return (low + high) / 2


def average(values: Array, window: tuple[int, int]) -> Average | None:
    """How well a window's mean is known from its scatter around its own line; ``None`` below ten points.

    Args:
        values: the whole series, shape (n,), finite, in the order of steps.
        window: (start, stop) in points.
    """
    if window[1] - window[0] < LEAST:
        return None
    points = window[1] - window[0]
    values, start, stop, _ = in_blocks(values, *window, (0, len(values)))
    places = tuple(range(start, stop))
    parts = scatter(values, places, (start, stop), map(float, GRID))
    left, right = start, stop
    if right - left < AROUND:
        left = max(0, min(start - (AROUND - (stop - start)) // 2, len(values) - AROUND))
        right = min(len(values), max(left + AROUND, stop))
    found = fit(steadied(values[left:right]), rhos=GRID)
    support = np.zeros(len(GRID)) if found is None else found.support
    variance, freedom = (np.array(column) for column in zip(*parts, strict=True))
    return Average(variance, freedom, support, (left, right), -(-points // (stop - start)))


def averaged(a: Average, b: Average, *, same: bool) -> Averaged | None:
    """Noise of the difference of two means, of one series (``same``) or two.

    ``None`` where neither scatters, or where the sides are put together from blocks of different length: their
    correlations are not one. Points that both stretches hold count once. Degrees of freedom after Welch 1947.
    """
    variance = a.variance + b.variance
    if a.block != b.block or float(variance.min()) <= 0:
        return None
    points = (a.stretch[1] - a.stretch[0]) + (b.stretch[1] - b.stretch[0])
    shared = max(min(a.stretch[1], b.stretch[1]) - max(a.stretch[0], b.stretch[0]), 0) if same else 0
    told = points - shared
    weights = PRIOR * np.exp(-(a.support + b.support) * (told / points) / 2)
    weights /= weights.sum()
    rho = float(weights @ GRID)
    freedom = variance**2 / (a.variance**2 / a.freedom + b.variance**2 / b.freedom)
    kept = weights > NO_WEIGHT
    return Averaged(
        tuple((factor(told, rho) * np.sqrt(variance[kept])).tolist()), tuple(np.round(freedom[kept], 2).tolist()),
        tuple((weights[kept] / weights[kept].sum()).tolist()), rho,
    )  # fmt: skip


def difference(
    values: tuple[Array, Array], windows: tuple[tuple[int, int], tuple[int, int]], *, same: bool
) -> Noise | Averaged | None:
    """Noise of the difference of the means of two windows: :class:`Averaged` where both hold ten points.

    Args:
        values: the series of each side, finite, in the order of steps.
        windows: (start, stop) of each side in points.
        same: whether both are of one series; of fewer points, each then takes its scatter short of the other.
    """
    whole = [average(part, window) for part, window in zip(values, windows, strict=True)]
    if whole[0] is not None and whole[1] is not None:
        found = averaged(whole[0], whole[1], same=same)
        if found is not None:
            return found
    levels = []
    for part, window, other in zip(values, windows, windows[::-1], strict=True):
        limits = 0, len(part)
        if same:
            limits = (0, other[0]) if window[0] < other[0] else (other[1], limits[1])
        levels.append(level(part, window, limits))
    return None if levels[0] is None or levels[1] is None else between(levels[0], levels[1])


def factor(points: int, rho: float) -> float:
    """Factor of the half-width for so many points that tell the correlation, and its mean."""
    sizes = list(FACTORS)
    rows = [np.log(FACTORS[size]) for size in sizes]
    place = bisect_left(sizes, points)
    if place in {0, len(sizes)}:
        row = rows[min(place, len(sizes) - 1)]
    else:
        share = math.log(points / sizes[place - 1]) / math.log(sizes[place] / sizes[place - 1])
        row = (1 - share) * rows[place - 1] + share * rows[place]
    return math.exp(float(np.interp(rho, KNOTS, row)))
