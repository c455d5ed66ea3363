"""Robust trend of a series: Theil–Sen slope and a Mann–Kendall test that holds under correlated noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assistant.analysis.changepoints import ChangePoint, change_points
from assistant.analysis.nulls import critical
from assistant.analysis.stats import (
    autocorrelation,
    block_means,
    correlated_p,
    critical_score,
    mann_kendall,
    median_slope,
    pair_places,
    persistence,
    score_variance,
    unbiased,
    without_spikes,
)
from assistant.model import Number
from assistant.model.fact import Direction

__all__ = ["FLAT_SHARE", "MAX_POINTS", "MIN_POINTS", "Scale", "Trend", "mann_kendall", "thirds", "trend_of"]

MIN_POINTS = 5
#: Longer series are tested on means of blocks, of values without spikes.
MAX_POINTS, BLOCKS = 256, 128
FLAT_SHARE = 1e-6
#: Fewest points of a series that a jump or a bend alone can make rise or fall.
CHANGE_POINTS = 20
#: Stretches by whose means the beginning and the end of a series with a bend are compared.
NET_BLOCKS = 10
#: Sizes beyond which differences and squares leave the range of floats.
EXTREME = (1e-100, 1e100)
#: Lag-1 autocorrelation of the residuals (without bias) from which a series without a trend is told as wandering.
WANDERING = 0.9

Array = NDArray[np.float64]
Scale = Literal["linear", "log"]
Form = Literal["slope", "shift", "bend", "walk"]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Trend:
    """Where a series went, and how sure that is.

    Attributes:
        direction: ``rising``, ``falling``, ``flat``, ``fluctuating`` or ``inconclusive``.
        slope: Theil–Sen slope, in units per step.
        p_value: two-sided, of the test against noise of the autocorrelation seen; ``None`` below five points.
        n: number of points.
        interval: 95 % interval of the slope; ``None`` where so few or so correlated points exclude nothing.
        growth: relative change per step (0.02: 2 % a step), on the logarithmic scale only.
        growth_interval: its 95 % interval.
        scale: ``linear`` or ``log``.
        form: how it moved: ``slope`` (all along), ``shift`` (by a jump, so that the slope means little), ``bend``
            (with another slope from some step on), ``walk`` (no trend, but values hang together over many steps, as
            in a random walk), ``None`` otherwise.
        autocorrelation: lag-1, of the residuals about the line, without its bias; ``None`` below five points.
        changes: jumps and bends, by step.
    """

    direction: Direction
    slope: float | None
    p_value: float | None
    n: int
    interval: Interval | None = None
    growth: float | None = None
    growth_interval: Interval | None = None
    scale: Scale = "linear"
    form: Form | None = None
    autocorrelation: float | None = None
    changes: tuple[ChangePoint, ...] = ()


def trend_of(
    steps: Sequence[int] | ArrayLike, values: Sequence[Number] | ArrayLike, *, scale: Scale = "linear"
) -> Trend:
    """Trend of finite values over ascending steps; steps may be apart by any distances.

    ``inconclusive`` below five points: two or three points say nothing against batch noise, and Mann–Kendall cannot
    reach p < 0.05. ``flat`` when the values do not differ. ``rising``/``falling`` when p < 0.05, the score of
    Mann–Kendall's test being judged by what AR(1) noise of any strength does at the autocorrelation that the residuals
    show (:mod:`assistant.analysis.nulls`), or when a jump or bend is certain (see ``ChangePoint``) and the levels at
    both ends lie apart; else ``fluctuating``. Series of more than 256 points are first reduced to the means of at
    most 128 blocks.

    Args:
        steps: ascending, all different.
        values: finite, as many.
        scale: ``log`` for a quantity that grows by factors (a KL divergence, a learning rate): the line is then
            straight in log(value), and ``growth`` is given.

    Raises:
        ValueError: a value that is not positive on the logarithmic scale.

    Source: Mann 1945; Kendall 1975; Sen 1968 (slope and its interval, at the critical score).
    """
    x, y = np.asarray(steps, dtype=np.float64), np.asarray(values, dtype=np.float64)
    n = len(y)
    if scale == "log" and n and y.min() <= 0:
        raise ValueError("a value that is not positive has no logarithm")
    size = float(np.abs(y).max()) if n else 0.0
    if size and not EXTREME[0] < size < EXTREME[1]:
        unit = math.ldexp(1.0, math.frexp(size)[1] - 1)
        return _scaled(trend_of(x, y / unit, scale=scale), unit)
    if n and y.max() - y.min() <= FLAT_SHARE * np.abs(y).max():
        flat = n >= MIN_POINTS
        return Trend(
            "flat" if flat else "inconclusive", 0.0, None, n, growth=0.0 if scale == "log" else None, scale=scale
        )
    if n < MIN_POINTS:
        slope = float((y[-1] - y[0]) / (x[-1] - x[0])) if n > 1 else None
        return Trend("inconclusive", slope, None, n, scale=scale)
    z = np.log(y) if scale == "log" else y
    clean = without_spikes(z)
    width = 1 if n <= MAX_POINTS else -(-n // BLOCKS)
    x = block_means(x, width)
    tested = _line_test(x, z if width == 1 else block_means(clean, width))
    slope, interval = tested.slope, tested.interval
    growth: float | None = None
    growth_interval: Interval | None = None
    if scale == "log":
        growth = math.expm1(slope)
        growth_interval = None if interval is None else (math.expm1(interval[0]), math.expm1(interval[1]))
        raw = _line_test(x, block_means(y, width))
        slope, interval = raw.slope, raw.interval
    found = change_points(np.asarray(steps), z, clean=clean)
    direction, form = _direction(z, tested, found)
    changes = _unlogged(found) if scale == "log" else found
    return Trend(
        direction, slope, tested.p_value, n, interval, growth, growth_interval, scale, form, tested.autocorrelation,
        changes,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Line:
    slope: float
    interval: Interval | None
    p_value: float
    autocorrelation: float


def _line_test(x: Array, y: Array) -> _Line:
    """Slope, interval and p-value of at most a few hundred points."""
    n = len(y)
    i, j = pair_places(n)
    rises = y[j] - y[i]
    score = int(np.count_nonzero(rises > 0)) - int(np.count_nonzero(rises < 0))
    slopes = rises / (x[j] - x[i])
    slopes.sort()
    variance = score_variance(y)
    # Tied pairs can neither rise nor fall: τ_b's denominator.
    pairs = math.sqrt(len(rises) * max(1, int(np.count_nonzero(rises))))
    slope = float(np.median(slopes))
    rest = y - slope * x
    bound = critical("trend", n, persistence(rest))
    slope, interval = median_slope(slopes, critical_score(variance, pairs, bound))
    return _Line(slope, interval, correlated_p(score, variance, pairs, bound), unbiased(autocorrelation(rest), n))


def _direction(values: Array, line: _Line, changes: tuple[ChangePoint, ...]) -> tuple[Direction, Form | None]:
    """What the tests together say, and how the series moved."""
    certain = [change for change in changes if change.certain and len(values) >= CHANGE_POINTS]
    form: Form | None = None
    if certain:
        form = "shift" if max(certain, key=lambda change: change.strength).kind == "level" else "bend"
    elif changes and line.p_value < 0.05 and changes[0].kind == "level":
        form = "shift"
    if line.p_value < 0.05 and line.slope != 0:
        return ("rising" if line.slope > 0 else "falling"), form or "slope"
    if form is None or not certain:
        return "fluctuating", "walk" if line.autocorrelation >= WANDERING else None
    net = _net_move(values, changes)
    return ("rising" if net > 0 else "falling" if net < 0 else "fluctuating"), form


def _net_move(values: Array, changes: tuple[ChangePoint, ...]) -> float:
    """How far the end lies from the beginning; 0 where it came back by more than half of how far it had been."""
    if all(change.kind == "level" for change in changes):
        net = changes[-1].after - changes[0].before
        return net if abs(net) >= max(abs(change.after - change.before) for change in changes) / 2 else 0.0
    means = block_means(without_spikes(values), len(values) // NET_BLOCKS)
    net = float(means[-1] - means[0])
    return net if abs(net) >= float(means.max() - means.min()) / 2 else 0.0


def thirds(values: Sequence[Number] | Array) -> tuple[float, float, float]:
    """Medians of the first, middle and last third of a series (of at least three values)."""
    n = len(values)
    a, b = n // 3, n - n // 3
    if isinstance(values, np.ndarray):
        return float(np.median(values[:a])), float(np.median(values[a:b])), float(np.median(values[b:]))
    return float(median(values[:a])), float(median(values[a:b])), float(median(values[b:]))


def _scaled(trend: Trend, unit: float) -> Trend:
    """The trend of values that were divided by a unit (a power of two, which keeps all digits)."""
    changes = tuple(
        c if trend.scale == "log" and c.kind == "slope" else replace(c, before=c.before * unit, after=c.after * unit)
        for c in trend.changes
    )
    interval = None if trend.interval is None else (trend.interval[0] * unit, trend.interval[1] * unit)
    slope = None if trend.slope is None else trend.slope * unit
    return replace(trend, slope=slope, interval=interval, changes=changes)


def _unlogged(changes: tuple[ChangePoint, ...]) -> tuple[ChangePoint, ...]:
    """Changes of log(value): levels back in the values' unit, slopes as growth per step."""
    turn = {"level": math.exp, "slope": math.expm1}
    return tuple(replace(c, before=turn[c.kind](c.before), after=turn[c.kind](c.after)) for c in changes)
