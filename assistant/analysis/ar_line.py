"""A least-squares line through points with AR(1) noise, and how uncertain its continuation is.

The error of a prediction is a weighted sum of noise: of the points, with the weights by which they make up the line,
and of the future point itself. Its variance under AR(1) noise is computed with the correlation that the residuals show
(without its small-sample bias), the noise's deviation from what the line leaves over; and because both are estimates,
the interval's half-width is that deviation times a simulated factor (:mod:`assistant.analysis.widths`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assistant.analysis.nulls import NORMAL
from assistant.analysis.stats import autocorrelation, without_spikes
from assistant.analysis.widths import ahead_width, width

Array = NDArray[np.float64]

#: Strongest correlation that a variance is computed for.
STRONGEST = 0.97
#: Lags beyond which a correlation counts as nothing.
FADED = 1e-6


@dataclass(frozen=True, slots=True)
class Line:
    """A line through n points, its noise, and the sums that the variance of a prediction is made of.

    Attributes:
        slope: per step.
        centre: mean step.
        level: mean value.
        n: points.
        scatter: standard deviation of the noise.
        rho: its lag-1 correlation, without its small-sample bias, within [0, 0.97].
        seen: lag-1 autocorrelation of the residuals as it is.
        spread: sum of squares of the steps about their mean.
        gap: mean distance of two points, in steps.
        last: last step.
        forms: 1ᵀR1, 1ᵀRt, tᵀRt for the noise's correlation matrix R and steps t about their mean.
        ends: 1ᵀρ and tᵀρ for the correlations ρ of the points with the last one.
    """

    slope: float
    centre: float
    level: float
    n: int
    scatter: float
    rho: float
    seen: float
    spread: float
    gap: float
    last: float
    forms: tuple[float, float, float]
    ends: tuple[float, float]

    def at(self, step: float) -> float:
        """The line's value at a step."""
        return self.level + self.slope * (step - self.centre)

    def deviation(self, step: float, *, point: bool) -> float:
        """Standard deviation of the line's error at a step, or (``point``) of a single later value about it."""
        d = (step - self.centre) / self.spread
        ones, cross, times = self.forms
        variance = ones / self.n**2 + 2 * d * cross / self.n + d * d * times
        if point:
            shared = self.rho ** max((step - self.last) / self.gap, 0.0) * (self.ends[0] / self.n + d * self.ends[1])
            variance += 1 - 2 * shared
        return self.scatter * math.sqrt(max(variance, 0.0))

    def error(self, step: float, *, point: bool, reaching: bool = False) -> float:
        """Half-width of the 95 % interval of the line, or (``point``) of a single later value.

        That of a single value, and with ``reaching`` that of the line too, was simulated beside a reach to the side to
        which the points bend, without which it would be too narrow: it is to be held together with what the curvature
        leaves open (:mod:`assistant.analysis.pace`), and is never below 1.96 deviations.
        """
        if point:
            factor = max(ahead_width(self.n, self.seen, (step - self.last) / self.gap), NORMAL)
        elif reaching:
            factor = max(width("course", self.n, self.seen), NORMAL)
        else:
            factor = width("line", self.n, self.seen)
        return factor * self.deviation(step, point=point)


def fit_line(x: ArrayLike, y: Array) -> Line:
    """Least squares on values without spikes; the scatter is that of all values.

    Args:
        x: ascending steps, shape (n,), at least five.
        y: values, shape (n,).

    Source: variance of a linear estimate, wᵀRw σ²; E of the residual sum of squares, (n − tr PR) σ² (Searle 1971, 2.5).
    """
    steps, n = np.asarray(x, dtype=np.float64), len(y)
    clean = without_spikes(y)
    centre, level = float(steps.mean()), float(clean.mean())
    t = steps - centre
    spread = float(t @ t)
    slope = float(t @ clean) / spread
    rest = clean - level - slope * t
    seen = autocorrelation(rest)
    rho = residual_correlation(seen, n)
    ones = np.ones(n)
    blurred, slanted = correlated(ones, rho), correlated(t, rho)
    forms = (float(ones @ blurred), float(t @ blurred), float(t @ slanted))
    fading = rho ** np.arange(n - 1, -1, -1.0)
    # Spikes are left out of the line but not out of what a single value may do.
    left = float(((y - level - slope * t) ** 2).sum())
    free = max(n - forms[0] / n - forms[2] / spread, 1.0)
    return Line(
        slope, centre, level, n, math.sqrt(left / free), rho, seen, spread, float(steps[-1] - steps[0]) / (n - 1),
        float(steps[-1]), forms, (float(fading.sum()), float(t @ fading)),
    )  # fmt: skip


def residual_correlation(seen: float, n: int, fitted: int = 2) -> float:
    """ρ of AR(1) residuals from their lag-1 autocorrelation, within [0, 0.97], for its bias (Kendall 1954).

    E r ≈ ρ − (1 + 3ρ)/n about a mean and ρ − (2 + 4ρ)/n about a line (``fitted`` 1 and 2), solved for ρ.
    """
    return min(max((n * seen + fitted) / max(n - 2 - fitted, 1), 0.0), STRONGEST)


def correlated(weights: Array, rho: float) -> Array:
    """R times weights, for the correlation matrix R of AR(1) noise at evenly spaced points; O(n) for a given ρ."""
    if rho <= 0:
        return weights
    n = len(weights)
    reach = min(n - 1, math.ceil(math.log(FADED) / math.log(rho)))
    kernel = rho ** np.abs(np.arange(-reach, reach + 1.0))
    found: Array = np.convolve(weights, kernel)[reach : reach + n]
    return found
