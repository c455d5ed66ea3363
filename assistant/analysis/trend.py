"""Robust trend of a series: Theil–Sen slope and a Mann–Kendall test that holds under correlated noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assistant.analysis.changepoints import ChangePoint, change_points, likeliest
from assistant.analysis.courses import Course, course_of
from assistant.analysis.moves import Move, apart_at_end, largest_move, thirds_apart
from assistant.analysis.nulls import NORMAL, critical
from assistant.analysis.stats import (
    autocorrelation,
    block_means,
    correlated_p,
    interval_score,
    mann_kendall,
    median_slope,
    pair_places,
    persistence,
    robust_scale,
    score_variance,
    unbiased,
    without_spikes,
)
from assistant.analysis.widths import LEAST_SLOPE, width
from assistant.model import Number
from assistant.model.fact import Direction

__all__ = ["FLAT_SHARE", "MAX_POINTS", "MIN_POINTS", "Scale", "Trend", "mann_kendall", "thirds", "trend_of"]

MIN_POINTS = 5
#: Longer series are tested on means of blocks, of values without spikes.
MAX_POINTS, BLOCKS = 256, 128
FLAT_SHARE = 1e-6
#: Fewest points of a series that a jump, a bend or its thirds alone can make rise or fall.
CHANGE_POINTS = 20
#: p-value below which a move is one that no random walk makes (in fewer than 20 points, whose steps are less well
#: known, the second), and a value at an end stands apart.
SURE_MOVE, SURE_FEW, SURE_APART = 0.001, 0.0001, 0.01
#: Below so many points, thirds must differ by so much more: they leave strong correlation looking weak.
FEW_THIRDS, THIRDS_FEW = 60, 1.35
#: Sizes beyond which differences and squares leave the range of floats.
EXTREME = (1e-100, 1e100)
#: Lag-1 autocorrelation of the residuals (without bias) from which a series without a trend is told as wandering.
WANDERING = 0.9
#: Difference of two thirds, over its error for independent noise, that is not called noise though it may be drift.
DRIFTING = 4.0

Array = NDArray[np.float64]
Scale = Literal["linear", "log"]
Form = Literal["slope", "shift", "ramp", "bend", "turn", "spike", "drift", "walk"]
#: A step, and the level there.
Knot = tuple[int, float]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Trend:
    """Where a series went, and how sure that is.

    Attributes:
        direction: ``rising``, ``falling``, ``flat``, ``fluctuating`` or ``inconclusive``. Of a series that certainly
            changed: that of its last level against its first, ``fluctuating`` where it came back.
        slope: Theil–Sen slope, in units per step.
        p_value: two-sided, of the test that decided: of a slope against noise of the autocorrelation seen, or of the
            strongest change or move where the slope alone says nothing; ``None`` below five points.
        n: number of points.
        interval: 95 % interval of the slope, its width simulated for the number of points and the autocorrelation
            (:mod:`assistant.analysis.widths`); ``None`` where so few or so correlated points exclude nothing or not
            even zero beside a direction, and where a change decided and not the slope.
        growth: relative change per step (0.02: 2 % a step), on the logarithmic scale only.
        growth_interval: its 95 % interval.
        scale: ``linear`` or ``log``.
        form: how it moved: ``slope`` (all along), ``shift`` (by a jump, so that the slope means little), ``ramp`` (over
            some steps, level before or after or both), ``bend`` (all along, at another pace from some step on),
            ``turn`` (up, then down, or the reverse), ``spike`` (nowhere, but for the last few values), ``drift`` (no
            certain trend, but far more than independent noise would), ``walk`` (no trend, but values hang together
            over many steps, as in a random walk), ``None`` otherwise.
        autocorrelation: lag-1, of the residuals about the line, without its bias; ``None`` below five points.
        changes: jumps and bends, by step.
        knots: where stretches of a ``ramp`` (start, move begins, move ends, end) or of a ``turn`` (start, extreme
            reached, extreme left, end) meet.
        tail: how many last values lie apart from all others; the rest of the trend is told without them.
        sure: whether a change is certain (beyond what noise as correlated as it could be does).
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
    knots: tuple[Knot, ...] = ()
    tail: int = 0
    sure: bool = False


def trend_of(
    steps: Sequence[int] | ArrayLike, values: Sequence[Number] | ArrayLike, *, scale: Scale = "linear"
) -> Trend:
    """Trend of finite values over ascending steps; steps may be apart by any distances.

    ``inconclusive`` below five points: two or three points say nothing against batch noise, and Mann–Kendall cannot
    reach p < 0.05. ``flat`` when the values do not differ. ``rising``/``falling`` when p < 0.05, the score of
    Mann–Kendall's test being judged by what AR(1) noise of any strength does at the autocorrelation that the residuals
    show (:mod:`assistant.analysis.nulls`), or when a jump, bend or move is certain (see ``ChangePoint`` and
    :func:`assistant.analysis.moves.largest_move`) and the levels at both ends lie apart; else ``fluctuating``. One or
    two last values that lie far from all others (a twentieth of a long series) are left out of all that: they say
    nothing of a trend. Series of more than 256 points are first reduced to the means of at most 128 blocks.

    Args:
        steps: ascending, all different.
        values: finite, as many.
        scale: ``log`` for a quantity that grows by factors (a KL divergence, a learning rate): the line is then
            straight in log(value), and ``growth`` is given.

    Raises:
        ValueError: a value that is not positive on the logarithmic scale.

    Source: Mann 1945; Kendall 1975; Sen 1968 (slope and its interval, at a simulated score).
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
    tail, _ = apart_at_end(z, max(2, n // 20 - 1))
    if tail:
        rest = trend_of(x[:-tail], y[:-tail], scale=scale)
        goes_on = {"rising": z[-1] > z[0], "falling": z[-1] < z[0]}.get(rest.direction, False)
        if not goes_on and rest.direction != "inconclusive":
            if rest.direction in {"rising", "falling"} or rest.sure:
                return replace(rest, n=n, tail=tail)
            return replace(rest, direction="fluctuating", form="spike", n=n, tail=tail, changes=(), interval=None)
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
    told = _told(np.asarray(steps), z, clean, tested)
    if not told.by_line:
        interval = growth_interval = None
    elif told.direction in {"rising", "falling"}:
        interval, growth_interval = _decided(interval), _decided(growth_interval)
    changes, knots = told.changes, told.knots
    if scale == "log":
        changes, knots = _unlogged(changes), tuple((step, math.exp(level)) for step, level in knots)
    return Trend(
        told.direction, slope, told.p_value, n, interval, growth, growth_interval, scale, told.form,
        tested.autocorrelation, changes, knots, 0, told.sure,
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
    seen = persistence(rest)
    bound = critical("trend", n, seen)
    slope, interval = median_slope(slopes, interval_score(variance, pairs, width("slope", n, seen)))
    if n < LEAST_SLOPE:
        interval = None
    return _Line(slope, interval, correlated_p(score, variance, pairs, bound), unbiased(autocorrelation(rest), n))


def _decided(interval: Interval | None) -> Interval | None:
    """An interval that may stand beside a direction: it holds slopes of one sign."""
    return None if interval is None or interval[0] < 0 < interval[1] else interval


@dataclass(frozen=True, slots=True)
class _Told:
    direction: Direction
    form: Form | None
    p_value: float
    changes: tuple[ChangePoint, ...]
    knots: tuple[Knot, ...] = ()
    by_line: bool = True
    sure: bool = False


def _told(steps: Array, values: Array, clean: Array, line: _Line) -> _Told:
    """What the tests together say, and how the series moved."""
    head = _head(steps, values)
    if head is not None:
        return head
    changes = change_points(steps, values, clean=clean)
    certain = [change for change in changes if change.certain and len(values) >= CHANGE_POINTS]
    evidence = [change.p_value for change in certain]
    x, y = _reduced(steps, clean)
    move, lifted = largest_move(y - line.slope * x), thirds_apart(y)
    many = len(y) >= CHANGE_POINTS
    if move is not None and move.p_value < (SURE_MOVE if many else SURE_FEW):
        evidence.append(move.p_value)
        changes = changes or (_as_change(x, y, move),)
    ratio = 0.0
    if many and lifted is not None and line.p_value >= 0.05:
        ratio = lifted[0] / critical("thirds", len(y), lifted[1]) / (THIRDS_FEW if len(y) < FEW_THIRDS else 1.0)
    if ratio > 1 and not changes:
        found = likeliest(x, y, math.erfc(ratio * NORMAL / math.sqrt(2)))
        changes = () if found is None else (found,)
    if ratio > 1 and changes:
        evidence.append(math.erfc(ratio * NORMAL / math.sqrt(2)))
    if not evidence:
        form: Form | None = "shift" if changes and changes[0].kind == "level" else "slope"
        if line.p_value < 0.05 and line.slope != 0:
            return _Told("rising" if line.slope > 0 else "falling", form, line.p_value, changes)
        form = "walk" if line.autocorrelation >= WANDERING else None
        if form is None and (changes or (lifted is not None and lifted[0] >= DRIFTING)):
            form = "drift"
        return _Told("fluctuating", form, line.p_value, changes)
    course = course_of(x, y, values if len(y) == len(values) else y, changes, _line_p)
    direction: Direction = "rising" if course.sign > 0 else "falling" if course.sign < 0 else "fluctuating"
    by_line = line.p_value < 0.05 and line.slope * course.sign > 0
    knots = tuple((int(x[place]), level) for place, level in course.knots)
    p_value = line.p_value if by_line else min(evidence)
    return _Told(direction, _form(course), p_value, changes, knots, by_line, True)


def _form(course: Course) -> Form:
    forms: dict[str, Form] = {"shift": "shift", "bend": "bend", "ramp": "ramp", "turn": "turn"}
    return forms[course.form]


def _head(steps: Array, values: Array) -> _Told | None:
    """A series that left its first value or two at once and never came back near them."""
    apart, p_value = apart_at_end(values[::-1], 2)
    if not apart or p_value >= SURE_APART:
        return None
    before, after = float(np.median(values[:apart])), float(np.median(values[apart:]))
    if np.ptp(values[:apart]) > abs(after - before) / 4:
        return None  # it was on its way already
    noise = robust_scale(values[apart:])
    strength = abs(after - before) / noise if noise > 0 else math.inf
    change = ChangePoint(int(steps[apart]), "level", before, after, strength, p_value, True)
    return _Told("rising" if after > before else "falling", "shift", p_value, (change,), (), False, True)


def _reduced(steps: Array, values: Array) -> tuple[Array, Array]:
    """At most 256 points: blocks' first steps and means."""
    n = len(values)
    width = 1 if n <= MAX_POINTS else -(-n // BLOCKS)
    y = block_means(values, width)
    return steps[::width][: len(y)].astype(np.float64), y


def _as_change(steps: Array, values: Array, move: Move) -> ChangePoint:
    """A move that no scan shows, as a jump at its largest step."""
    sides = values[move.start : move.end + 1]
    place = move.start + 1 + int(np.abs(np.diff(sides)).argmax())
    before, after = float(np.median(values[:place])), float(np.median(values[place:]))
    noise = robust_scale(np.concatenate([values[:place] - before, values[place:] - after]))
    strength = abs(after - before) / noise if noise > 0 else math.inf
    return ChangePoint(int(steps[place]), "level", before, after, strength, move.p_value, True)


def _line_p(steps: Array, values: Array) -> tuple[float, float]:
    found = _line_test(steps, values)
    return found.p_value, found.slope


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
    knots = tuple((step, level * unit) for step, level in trend.knots)
    return replace(trend, slope=slope, interval=interval, changes=changes, knots=knots)


def _unlogged(changes: tuple[ChangePoint, ...]) -> tuple[ChangePoint, ...]:
    """Changes of log(value): levels back in the values' unit, slopes as growth per step."""
    turn = {"level": math.exp, "slope": math.expm1}
    return tuple(replace(c, before=turn[c.kind](c.before), after=turn[c.kind](c.after)) for c in changes)
