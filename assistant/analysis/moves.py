"""Moves that no drifting noise makes, values that stand apart at an end, and whether a jump was one.

The tests of :mod:`assistant.analysis.trend` and :mod:`assistant.analysis.changepoints` take the noise from what a line
or a jump leaves over. Where a series collapses at once or levels off early, that rest is mostly the move itself, looks
like strongly correlated noise, and hides the move. Differences of neighbouring values do not have this fault: most of
them lie outside the move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.stats import autocorrelation, persistence, robust_scale

Array = NDArray[np.float64]

#: Fewest points in which a move or a value apart is looked for.
LEAST = 9
#: Fewest points for three thirds.
LEAST_THIRDS = 12
#: Points whose median is the level before or after a move.
SIDE = 3
#: How often the whole spread of m others a value at an end must lie beyond them, 1 + 18/m; fewest others.
APART, FEW_APART, LEAST_OTHERS = 1.0, 18.0, 4
#: Most places on each side of a jump that are tried as ends of a ramp.
GRID = 40
#: What a ramp must explain beyond the Schwarz criterion (its length is searched for, and noise is correlated).
MARGIN = 6.0


@dataclass(frozen=True, slots=True)
class Move:
    """A move between two places: the last point before it, the first after it."""

    start: int
    end: int
    before: float
    after: float
    p_value: float


def largest_move(values: Array) -> Move | None:
    """The move that stands out most against a random walk with this series' own steps.

    The difference of two levels (medians of three points) k points apart is divided by √k times the robust deviation
    of neighbouring differences, which are mostly outside a move that takes less than half of the series. Where
    neighbouring differences resemble each other (a smooth drift), their deviation is inflated by √((1 + r)/(1 − r)).

    Args:
        values: without spikes and without the slope of a line, shape (n,).

    Returns:
        ``None`` below nine points and for series without steps. ``p_value`` holds for Gaussian random walks and is too
        large for less correlated noise (an upper bound by Bonferroni over places; simulated quantiles lie below it).
    """
    n = len(values)
    if n < LEAST:
        return None
    steps = np.diff(values)
    scale = robust_scale(steps)
    if scale <= 1e-9 * float(np.abs(values).max()):
        return None
    r = min(max(autocorrelation(steps), 0.0), 0.9)
    scale *= math.sqrt((1 + r) / (1 - r))
    levels = np.median(np.lib.stride_tricks.sliding_window_view(values, SIDE), axis=1)
    m = len(levels)
    # levels[i] ends at point i + 2; the level after begins at a later point.
    i, j = np.triu_indices(m, SIDE)
    if not len(i):
        return None
    ratio = np.abs(levels[j] - levels[i]) / np.sqrt(j - i)
    best = int(ratio.argmax())
    statistic = float(ratio[best]) / scale
    # The deviation is known from few differences, the less the fewer: Student's tail, on the normal's scale.
    freedom = max(0.37 * (n - 1), 2.0)
    z = math.sqrt(freedom * math.log1p(statistic * statistic / freedom))
    p_value = min(1.0, n * math.erfc(z / math.sqrt(2)))
    a, b = int(i[best]), int(j[best])
    return Move(a + SIDE - 1, b, float(levels[a]), float(levels[b]), p_value)


def apart_at_end(values: Array, most: int) -> tuple[int, float]:
    """How many values at the end, at most ``most``, lie farther from all others than those lie from each other.

    So few values may be a spike or the beginning of something; the series before them is judged without them. The gap
    must be 1 + 18/m times the spread of the m others, since few others spread little.

    Returns:
        The count, 0 where none do or below four others; and the p-value of the nearest of them as one more value like
        the others (Student's prediction interval; its tail on the normal's scale by Wallace 1959).
    """
    n, found, p_value = len(values), 0, 1.0
    for count in range(1, min(most, n - LEAST_OTHERS) + 1):
        rest, ends = values[:-count], values[-count:]
        low, high = float(rest.min()), float(rest.max())
        gap = max(float(ends.min()) - high, low - float(ends.max()))
        if gap <= 0 or gap <= (APART + FEW_APART / len(rest)) * (high - low):
            continue
        spread = float(rest.std(ddof=1)) * math.sqrt(1 + 1 / len(rest))
        t = float(np.abs(ends - rest.mean()).min()) / spread if spread > 0 else math.inf
        free = len(rest) - 1
        z = (8 * free + 1) / (8 * free + 3) * math.sqrt(free * math.log1p(t * t / free))
        found, p_value = count, math.erfc(z / math.sqrt(2))
    return found, p_value


def lone_spike(values: Array) -> int | None:
    """The place of the one value, neither first nor last, that lies apart from all others; ``None`` where none does.

    As at an end (:func:`apart_at_end`), it must lie beyond the m others by 1 + 18/m times their whole spread.
    """
    n = len(values)
    if n < LEAST:
        return None
    place = int(np.abs(values - np.median(values)).argmax())
    if place in {0, n - 1}:
        return None
    rest = np.delete(values, place)
    low, high = float(rest.min()), float(rest.max())
    gap = max(float(values[place]) - high, low - float(values[place]))
    return place if gap > (APART + FEW_APART / len(rest)) * (high - low) and gap > 0 else None


def ramp_of(values: Array, place: int) -> tuple[int, int] | None:
    """First and last point of the ramp (level, slope, level) that a jump at a place really is; ``None`` for a jump.

    Least squares over pairs of ends on both sides of the place. The ramp must beat the jump by more than Schwarz's
    criterion asks for, at the number of points that correlated residuals are worth.
    """
    n = len(values)
    t = np.arange(n, dtype=np.float64)
    starts = np.unique(np.linspace(0, max(place - 1, 0), min(GRID, max(place, 1))).astype(int))
    starts = np.union1d(starts, np.arange(max(0, place - 12), place))
    ends = np.unique(np.linspace(place, n - 1, min(GRID, n - place)).astype(int))
    ends = np.union1d(ends, np.arange(place, min(n, place + 12)))
    a, b = (grid.ravel().astype(np.float64) for grid in np.meshgrid(starts, ends))
    long = b - a >= SIDE
    a, b = a[long], b[long]
    if not len(a):
        return None
    jump = (t >= place).astype(np.float64)
    rows = np.clip((t - a[:, None]) / (b - a)[:, None], 0.0, 1.0)
    centred = values - values.mean()
    rest = _left(jump[None, :], centred)[0]
    lefts = _left(rows, centred)
    best = int(lefts.argmin())
    floor = 1e-12 * float(centred @ centred)
    flat = rows[best] - rows[best].mean()
    fitted = flat * float(flat @ centred) / float(flat @ flat)
    r = min(max(persistence(centred - fitted), 0.0), 0.9)
    gain = n * (1 - r) / (1 + r) * math.log(max(rest, floor) / max(float(lefts[best]), floor))
    if gain <= math.log(n) + MARGIN:
        return None
    return int(a[best]), int(b[best])


def _left(rows: Array, centred: Array) -> Array:
    """Residual sums of squares after each row (with a constant) is fitted."""
    flat = rows - rows.mean(axis=1, keepdims=True)
    size = np.maximum((flat * flat).sum(axis=1), 1e-300)
    found: Array = float(centred @ centred) - (flat @ centred) ** 2 / size
    return found


def thirds_apart(values: Array) -> tuple[float, float] | None:
    """How far the means of two thirds of a series lie apart, and how correlated the scatter within thirds is.

    The scatter is what a line through each third leaves over, so that no move between or along thirds swells it.

    Returns:
        The largest difference of two means over its standard error for independent noise, and the lag-1 autocorrelation
        of the residuals; ``None`` below twelve points and without scatter.
    """
    n = len(values)
    if n < LEAST_THIRDS:
        return None
    k = n // 3
    parts = np.stack([values[:k], values[(n - k) // 2 : (n - k) // 2 + k], values[n - k :]])
    t = np.arange(k) - (k - 1) / 2
    means = parts.mean(axis=1)
    rest = parts - means[:, None] - (parts @ t / float(t @ t))[:, None] * t
    total = float((rest * rest).sum())
    if total <= 1e-18 * float(values @ values):
        return None
    r = float((rest[:, 1:] * rest[:, :-1]).sum()) / total
    error = math.sqrt(total / (3 * (k - 2)) * 2 / k)
    return float(means.max() - means.min()) / error, r
