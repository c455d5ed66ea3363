"""Robust trend of a series: Theil–Sen slope and the Mann–Kendall test."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import median

from assistant.model import Number
from assistant.model.fact import Direction

MIN_POINTS = 5
MAX_POINTS = 400
FLAT_SHARE = 1e-6


@dataclass(frozen=True, slots=True)
class Trend:
    """Direction, slope in units per step, two-sided p-value, and number of points."""

    direction: Direction
    slope: float | None
    p_value: float | None
    n: int


def trend_of(steps: Sequence[int], values: Sequence[Number]) -> Trend:
    """Trend of finite values over ascending steps.

    ``inconclusive`` below five points: Mann–Kendall cannot reach p < 0.05 there for most orders and two
    or three points say nothing against batch noise. ``flat`` when the values do not differ.
    ``rising``/``falling`` when p < 0.05 (with the variance inflated by lag-1 autocorrelation), else
    ``fluctuating``; a move between levels that no p-value of correlated residuals shows counts too
    (:func:`level_shift`). Series of more than 400 points are thinned evenly before the pairwise work (the slope's
    error is then far below the noise).

    Source: Mann 1945; Kendall 1975 (normal approximation with tie correction); Sen 1968.
    """
    n = len(values)
    if n and max(values) - min(values) <= FLAT_SHARE * max(abs(v) for v in values):
        return Trend("flat" if n >= MIN_POINTS else "inconclusive", 0.0, None, n)
    if n < MIN_POINTS:
        slope = (values[-1] - values[0]) / (steps[-1] - steps[0]) if n > 1 else None
        return Trend("inconclusive", slope, None, n)
    if n > MAX_POINTS:
        picks = [round(i * (n - 1) / (MAX_POINTS - 1)) for i in range(MAX_POINTS)]
        steps, values = [steps[i] for i in picks], [values[i] for i in picks]
    points = zip(steps, values, strict=True)
    slope = median((vb - va) / (sb - sa) for (sa, va), (sb, vb) in combinations(points, 2))
    p_value = mann_kendall(values, inflation=_inflation(steps, values, slope))
    if p_value < 0.05 and slope != 0:
        return Trend("rising" if slope > 0 else "falling", slope, p_value, n)
    shift = level_shift(values)
    if shift is not None and mann_kendall(values) < 0.05:
        return Trend("rising" if shift[1] > shift[0] else "falling", slope, p_value, n)
    return Trend("fluctuating", slope, p_value, n)


def thirds(values: Sequence[Number]) -> tuple[float, float, float]:
    """Medians of the first, middle and last third of a series (of at least three values)."""
    n = len(values)
    a, b = n // 3, n - n // 3
    return float(median(values[:a])), float(median(values[a:b])), float(median(values[b:]))


def level_shift(values: Sequence[Number]) -> tuple[float, float] | None:
    """Levels before and after, where a series moved by much more than its step-to-step scatter.

    A step or a slow drift makes residuals so correlated that no p-value survives the correction; it is told by
    the medians of the first and last third, which must lie six short-term standard deviations apart (robust
    standard deviation of successive differences over √2), with the middle third between them.
    """
    if len(values) < 9:
        return None
    first, middle, last = thirds(values)
    jumps = [b - a for a, b in pairwise(values)]
    centre = median(jumps)
    scatter = 1.4826 * median(abs(j - centre) for j in jumps) / math.sqrt(2)
    low, high = min(first, last), max(first, last)
    slack = 0.25 * (high - low)
    if high - low > 6 * scatter and low - slack <= middle <= high + slack:
        return first, last
    return None


def _inflation(steps: Sequence[int], values: Sequence[Number], slope: float) -> float:
    """Variance inflation (1 + ρ)/(1 − ρ) from the lag-1 autocorrelation of the detrended series, at least 1.

    Source: Yue & Wang 2004 (effective sample size of an AR(1) series).
    """
    rest = [v - slope * s for s, v in zip(steps, values, strict=True)]
    centre = math.fsum(rest) / len(rest)
    spread = math.fsum((r - centre) ** 2 for r in rest)
    if spread <= 0:
        return 1.0
    lag = math.fsum((a - centre) * (b - centre) for a, b in pairwise(rest)) / spread
    lag = min(max(lag, 0.0), 0.95)
    return (1 + lag) / (1 - lag)


def mann_kendall(values: Sequence[Number], *, inflation: float = 1.0) -> float:
    """Two-sided p-value of the Mann–Kendall test against no trend (normal approximation, tie-corrected).

    ``inflation`` multiplies the variance of the score, to allow for autocorrelation.
    """
    n = len(values)
    score = sum((b > a) - (b < a) for a, b in combinations(values, 2))
    ties = sum(t * (t - 1) * (2 * t + 5) for t in Counter(values).values())
    variance = (n * (n - 1) * (2 * n + 5) - ties) / 18
    if variance <= 0 or score == 0:
        return 1.0
    z = (abs(score) - 1) / math.sqrt(variance * inflation)
    return math.erfc(z / math.sqrt(2))
