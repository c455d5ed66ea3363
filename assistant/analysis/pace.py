"""Whether a series that is to be continued keeps its pace: curvature of a stretch, and bends that are part of a curve.

A line laid through the last stretch of a curve misses what the curve does next, by far more than the scatter about the
line tells. So a stretch that bends is not continued, one that does not gets an interval that holds whatever curvature
the points leave open, and a bend counts as the beginning of a straight stretch only where no smooth curve does as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assistant.analysis.ar_line import residual_correlation
from assistant.analysis.stats import autocorrelation, robust_scale, without_spikes

Array = NDArray[np.float64]

#: Curvature over its error, from which on a stretch bends: of a whole series, and of what follows a change of pace.
BENDS, BENDS_AGAIN = 2.5, 0.7
#: How many errors of the curvature an interval allows for to either side: so many, and so many more for each length of
#: the stretch from its middle (2.5 for the next point, 3.5 half the stretch ahead); after a change of pace at least the
#: last. Fewer would do for a curvature that stays; what looks straight may be the foot of a curve that bends later.
#: Chosen on exponentials, powers, logistic and sine curves, so that of each kind 93 % and more of the intervals told
#: hold what comes (``python -m evals.trend_levels --only bends``).
ALLOWED, FURTHER, ALLOWED_AGAIN = 1.5, 2.0, 4.0
#: Fewest points whose curvature is tested.
LEAST = 8
#: How far beyond its line, in robust deviations of neighbouring differences, and at how many times its slope a series
#: ends that runs ahead of it.
AHEAD, FASTER = 3.0, 2.0
#: Time constants of the exponentials that are tried, in lengths of the series; powers of the step.
TAUS = (0.05, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 1.0, 2.0)
#: What a broken line must explain beyond the Schwarz criterion, at the number of points that the noise is worth.
MARGIN = 6.0
#: Range of values, over what a curve leaves over, within which rounding decides.
EXACT = 1e-9


@dataclass(frozen=True, slots=True)
class Curvature:
    """The quadratic term of a parabola through points, apart from its line.

    Attributes:
        size: per squared step.
        ratio: over its standard error, at the autocorrelation that the residuals show.
        error: that error, per squared step; 0 for values that lie on the line or parabola exactly.
        centre: mean step.
        linear: the share of a step that the squared step's line has.
        constant: its mean; a twelfth of the squared length of evenly spaced steps.
    """

    size: float
    ratio: float
    error: float
    centre: float
    linear: float
    constant: float

    def bends(self, *, again: bool = False) -> bool:
        """Whether the stretch is no line; ``again``: one that follows a change of pace, so that another is likely."""
        return abs(self.ratio) > (BENDS_AGAIN if again else BENDS)

    def bow(self, step: float) -> float:
        """How far the parabola lies above the line at a step."""
        return self.size * self._arch(step)

    def doubt(self, step: float, *, again: bool = False) -> float:
        """How far from it the series may come to lie there, as far as the points tell."""
        if self.error == 0:
            return 0.0
        lengths = abs(step - self.centre) / math.sqrt(12 * self.constant)
        allowed = ALLOWED + FURTHER * lengths
        return (max(allowed, ALLOWED_AGAIN) if again else allowed) * self.error * abs(self._arch(step))

    def _arch(self, step: float) -> float:
        t = step - self.centre
        return t * t - self.linear * t - self.constant


def curved(steps: ArrayLike, values: ArrayLike, *, again: bool = False) -> bool:
    """Whether a stretch is no line: it bends, or its end has left the line behind and goes on faster than that."""
    return curvature(steps, values).bends(again=again) or runs_ahead(steps, values)


def runs_ahead(steps: ArrayLike, values: ArrayLike) -> bool:
    """Whether the last value lies beyond the line, the way that it goes, by more than neighbouring values scatter.

    The pace of the last quarter must be twice the line's as well: that is a curve that gets steeper, whose line says
    less of the steps to come than the series has come to already. None below eight points.
    """
    x, y = np.asarray(steps, dtype=np.float64), np.asarray(values, dtype=np.float64)
    n = len(y)
    if n < LEAST:
        return False
    t = x - x.mean()
    clean = without_spikes(y)
    slope = float(t @ clean) / float(t @ t)
    way = math.copysign(1.0, slope)
    beyond = way * (float(y[-1] - clean.mean()) - slope * float(t[-1]))
    start = n - 1 - max(2, n // 4)
    pace = way * float(y[-1] - y[start]) / float(x[-1] - x[start])
    return beyond > AHEAD * robust_scale(np.diff(y)) and pace > FASTER * abs(slope)


def curvature(steps: ArrayLike, values: ArrayLike) -> Curvature:
    """The curvature of a stretch; none below eight points.

    Args:
        steps: ascending, shape (n,).
        values: shape (n,).
    """
    x, y = np.asarray(steps, dtype=np.float64), np.asarray(values, dtype=np.float64)
    n = len(y)
    centre = float(x.mean())
    t = x - centre
    if n < LEAST:
        return Curvature(0.0, 0.0, 0.0, centre, 0.0, 0.0)
    square = t * t
    constant, linear = float(square.mean()), float(square @ t) / float(t @ t)
    arch = square - constant - linear * t
    clean = without_spikes(y)
    weight = float(arch @ arch)
    size = float(arch @ clean) / weight
    line = clean - clean.mean() - float(t @ clean) / float(t @ t) * t
    rest = line - size * arch
    left = float(rest @ rest)
    if math.sqrt(left) <= EXACT * float(np.abs(clean).max()) * math.sqrt(n):
        straight = float(np.abs(line).max()) <= EXACT * float(np.abs(clean).max())
        ratio = 0.0 if straight else math.copysign(math.inf, size)
        return Curvature(size, ratio, 0.0, centre, linear, constant)
    rho = residual_correlation(autocorrelation(rest), n)
    error = math.sqrt(left / (n - 3) / weight * (1 + rho) / (1 - rho))
    return Curvature(size, size / error, error, centre, linear, constant)


def is_curve(steps: ArrayLike, values: ArrayLike, bend: int) -> bool:
    """Whether a smooth curve does about as well as two lines that meet at a bend.

    Tried are the polynomials of second and third degree and exponentials towards a level.

    Args:
        steps: ascending, shape (n,).
        values: shape (n,), with one bend (and no jump).
        bend: the step at which it is.
    """
    x, y = np.asarray(steps, dtype=np.float64), without_spikes(np.asarray(values, dtype=np.float64))
    n = len(y)
    t = (x - x[0]) / max(float(x[-1] - x[0]), 1e-300)
    near = np.abs(x - bend) <= max(2.0, 0.1 * (x[-1] - x[0]))
    broken = min(_left(y, t, np.maximum(t - at, 0.0)) for at in t[near]) if near.any() else math.inf
    curves = [_left(y, t, t * t), _left(y, t, t * t, t**3), *(_left(y, np.exp(-t / tau)) for tau in TAUS)]
    curves += [_left(y, np.exp((t - 1) / tau)) for tau in TAUS]
    floor = EXACT * EXACT * n * float(np.abs(y).max()) ** 2
    gain = n * math.log(max(min(curves), floor) / max(broken, floor)) if broken < math.inf else 0.0
    return gain <= math.log(n) + MARGIN


def _left(values: Array, *columns: Array) -> float:
    """Sum of squares that a constant and some columns leave over."""
    table = np.column_stack([np.ones(len(values)), *columns])
    found = np.linalg.lstsq(table, values, rcond=None)[0]
    rest = values - table @ found
    return float(rest @ rest)
