"""Statistics for what happens at one place of a log, or only towards its end: jumps, resets, growth that goes on."""

from __future__ import annotations

from typing import Final

import numpy as np

from assistant.analysis.diagnosis.onset import scatter
from assistant.analysis.diagnosis.statistics import LEAST, Measured, View, error_of, quotient, statistic
from assistant.analysis.series import Values

#: Points on either side of a jump, unless the rule says otherwise.
SIDE: Final = 5
#: Points before a fall that all have to lie above what follows it.
UNDER: Final = 10


def _sides(view: View) -> tuple[Values, Values] | None:
    width = view.window or SIDE
    before, after = view.values[max(0, view.at - width) : view.at], view.values[view.at : view.at + width]
    return (before, after) if min(len(before), len(after)) >= LEAST else None


def _local(before: Values, after: Values, value: float, everywhere: Values) -> Measured:
    """Standard errors of a local jump: scatter about the neighbours over the whole series, of two medians."""
    gap = float(np.median(after)) - float(np.median(before))
    error = scatter(everywhere) * (1.57 / len(before) + 1.57 / len(after)) ** 0.5
    errors = abs(gap) / error if error > 0 else float("inf") if gap else 0.0
    return Measured(value, errors, {"before": float(np.median(before)), "after": float(np.median(after))})


@statistic("step_ratio")
def step_ratio(view: View) -> Measured | None:
    """Level of the ``window`` points from the onset on (5) over that of as many before it: a jump, not a trend."""
    sides = _sides(view)
    if sides is None:
        return None
    before, after = sides
    return _local(before, after, quotient(float(np.median(after)), float(np.median(before))), view.values)


@statistic("step_shift")
def step_shift(view: View) -> Measured | None:
    """Level of the ``window`` points from the onset on (5) minus that of as many before it."""
    sides = _sides(view)
    if sides is None:
        return None
    before, after = sides
    return _local(before, after, float(np.median(after) - np.median(before)), view.values)


@statistic("step_distance")
def step_distance(view: View) -> Measured | None:
    """How far the level jumps at the onset, up or down, in its own unit."""
    found = step_shift(view)
    return None if found is None else Measured(abs(found.value), found.errors, found.shown)


@statistic("step_size")
def step_size(view: View) -> Measured | None:
    """How far the level jumps at the onset either way: ``step_ratio`` or its inverse, whichever is larger."""
    found = step_ratio(view)
    if found is None or found.value <= 0:
        return None
    return Measured(max(found.value, 1 / found.value), found.errors, found.shown)


@statistic("spike")
def spike(view: View) -> Measured | None:
    """Largest of the first ``window`` points from the onset on (5) over the level before it."""
    before, after = view.before, view.after[: view.window or SIDE]
    if len(before) < LEAST or not len(after):
        return None
    base, top = float(np.median(before)), float(after.max())
    spread = max(scatter(before), 1.4826 * float(np.median(np.abs(before - base))))
    errors = (top - base) / spread if spread > 0 else float("inf") if top > base else 0.0
    return Measured(quotient(top, base), errors, {"before": base, "peak": top})


@statistic("reset")
def reset(view: View) -> Measured | None:
    """The lower of two points from the onset on over the median of three before it: near zero for a new start.

    Shown are the two values on either side of the onset.
    """
    if view.at < LEAST or not len(view.after):
        return None
    base, value = float(np.median(view.values[view.at - 3 : view.at])), float(view.after[:2].min())
    shown = {"before": float(view.values[view.at - 1]), "after": float(view.after[0])}
    return Measured(quotient(value, base), shown=shown)


@statistic("under_all")
def under_all(view: View) -> Measured | None:
    """Largest of the first ``window`` points from the onset on (5) over the smallest of the last ten before it.

    Below one, the series has left its level; above it, only a high stretch ended, as after a spike.
    """
    before, after = view.before[-UNDER:], view.after[: view.window or SIDE]
    if len(before) < SIDE or len(after) < LEAST:
        return None
    low, high = float(before.min()), float(after.max())
    return Measured(quotient(high, low), shown={"lowest": low, "highest": high})


@statistic("size_ratio")
def size_ratio(view: View) -> Measured | None:
    """Typical size (median of absolute values) from the onset on over that before, for quantities of either sign.

    Standard errors are of the logarithm: a median of n absolute values varies by about 1.25 × its log-spread / √n.
    """
    before, after = np.abs(view.values[: view.at]), np.abs(view.after)
    before, after = before[before > 0], after[after > 0]
    if min(len(before), len(after)) < SIDE:
        return None
    value = quotient(float(np.median(after)), float(np.median(before)))
    parts = [1.57 * _log_spread(side) ** 2 / len(side) for side in (before, after)]
    error = sum(parts) ** 0.5
    errors = abs(float(np.log(value))) / error if error > 0 else float("inf")
    return Measured(value, errors, {"before": float(np.median(before)), "after": float(np.median(after))})


def _log_spread(side: Values) -> float:
    logs = np.log(side)
    return 1.4826 * float(np.median(np.abs(logs - np.median(logs))))


@statistic("new_high")
def new_high(view: View) -> Measured | None:
    """Level of the last points over the highest level of the first two thirds, minus 1: growth that has not levelled.

    Memory that fills caches rises fast and then stays; a leak goes on.
    """
    n = len(view.values)
    if n < 12:
        return None
    before = view.values[: 2 * n // 3]
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(before, 3), axis=1)
    best, last = float(smooth.max()), float(np.median(view.last))
    if best <= 0:
        return None
    error = (error_of(view.last) ** 2 + scatter(before) ** 2) ** 0.5
    errors = (last - best) / error if error > 0 else float("inf") if last > best else 0.0
    return Measured(last / best - 1, errors, {"before": best, "end": last})


@statistic("kept")
def kept(view: View) -> Measured | None:
    """Share of the jump at the onset (five points either side) that the later level keeps: 1 for all, 0 for none.

    The later level is the one of the last points or of the second half after the onset, whichever keeps less.
    """
    sides = _sides(view)
    if sides is None or len(view.late) < LEAST:
        return None
    base, jump = (float(np.median(sides[0])), float(np.median(sides[1]) - np.median(sides[0])))
    if jump == 0:
        return None
    return Measured(min((float(np.median(side)) - base) / jump for side in (view.late, view.last)))


@statistic("stays")
def stays(view: View) -> Measured | None:
    """Largest distance of the late level, and of the last one, from the level before the onset, as a share of it."""
    if min(len(view.before), len(view.late)) < LEAST:
        return None
    base = float(np.median(view.before))
    if base == 0:
        return None
    value = max(abs(float(np.median(side)) / base - 1) for side in (view.late, view.last))
    return Measured(value, shown={"before": base, "after": float(np.median(view.late))})


@statistic("trend_errors")
def trend_errors(view: View) -> Measured | None:
    """Slope of the whole series by least squares, in its standard errors: within ±2 nothing is told from noise."""
    n = len(view.values)
    if n < 5:
        return None
    at = view.steps - view.steps.mean()
    slope = float((at * view.values).sum() / (at**2).sum())
    rest = view.values - view.values.mean() - slope * at
    error = float(np.sqrt((rest**2).sum() / (n - 2) / (at**2).sum()))
    if error <= 0:
        return None
    return Measured(slope / error, shown={"start": float(view.values[0]), "end": float(view.values[-1])})


@statistic("exceeding")
def exceeding(view: View) -> Measured | None:
    """Share of points above ``bound`` × the level before the onset, after it minus before it: for what comes and goes.

    Standard errors of the difference of two shares, pooled.
    """
    before, after = view.before, view.after
    if min(len(before), len(after)) < SIDE:
        return None
    line = (view.bound or 1.5) * float(np.median(before))
    shares = float(np.mean(before > line)), float(np.mean(after > line))
    whole = (shares[0] * len(before) + shares[1] * len(after)) / (len(before) + len(after))
    error = (whole * (1 - whole) * (1 / len(before) + 1 / len(after))) ** 0.5
    gap = shares[1] - shares[0]
    errors = abs(gap) / error if error > 0 else float("inf") if gap else 0.0
    return Measured(gap, errors, {"before": float(np.median(before)), "share": shares[1]})


@statistic("keeps_pace")
def keeps_pace(view: View) -> Measured | None:
    """Growth over the last third of the series over that of the middle third: 1 for a line, less for levelling off.

    ``None`` where the middle third does not grow.
    """
    n = len(view.values)
    if n < 18:
        return None
    width = max(LEAST, n // 10)
    levels = [float(np.median(view.values[max(0, at - width) : at])) for at in (n // 3, 2 * n // 3, n)]
    middle, last = levels[1] - levels[0], levels[2] - levels[1]
    if middle <= 0:
        return None
    error = scatter(view.values) * (2 * 1.57 / width) ** 0.5
    return Measured(last / middle, min(middle, abs(last)) / error if error > 0 else float("inf"))
