"""Statistics of levels: where a series stands before and after an onset, at the start, at the end, at its extremes."""

from __future__ import annotations

import numpy as np

from assistant.analysis.diagnosis.onset import scatter
from assistant.analysis.diagnosis.statistics import (
    LEAST,
    Measured,
    View,
    about_line,
    compared,
    divided,
    enough,
    quotient,
    statistic,
)


@statistic("ratio")
def ratio(view: View) -> Measured | None:
    """Late level over the level before the onset (medians)."""
    if not enough(view.before, view.late):
        return None
    return divided(view.before, view.late)


@statistic("shift")
def shift(view: View) -> Measured | None:
    """Late level minus the level before the onset (medians)."""
    if not enough(view.before, view.late):
        return None
    return compared(view.before, view.late, float(np.median(view.late) - np.median(view.before)))


@statistic("end_ratio")
def end_ratio(view: View) -> Measured | None:
    """Level of the last points (a tenth, at least three) over the level before the onset."""
    if not enough(view.before, view.after):
        return None
    return divided(view.before, view.last, named=("before", "end"))


@statistic("end_shift")
def end_shift(view: View) -> Measured | None:
    """Level of the last points minus the level before the onset."""
    if not enough(view.before, view.after):
        return None
    value = float(np.median(view.last) - np.median(view.before))
    return compared(view.before, view.last, value, named=("before", "end"))


@statistic("since")
def since(view: View) -> Measured | None:
    """Level of the last points minus that of the three just before the onset: whether it went on rising after it."""
    base = view.before[-3:]
    if not enough(base, view.after):
        return None
    return compared(base, view.last, float(np.median(view.last) - np.median(base)), named=("before", "end"))


@statistic("level")
def level(view: View) -> Measured | None:
    """Late level (median of the second half after the onset)."""
    if len(view.late) < 1:
        return None
    value = float(np.median(view.late))
    return Measured(value, shown={"value": value})


@statistic("start")
def start(view: View) -> Measured | None:
    """Level of the first points of the run (a tenth, at least three)."""
    value = float(np.median(view.first))
    return Measured(value, shown={"start": value})


@statistic("outset")
def outset(view: View) -> Measured | None:
    """Level of the first three points of the run."""
    value = float(np.median(view.values[:3]))
    return Measured(value, shown={"start": value})


@statistic("end")
def end(view: View) -> Measured | None:
    """Level of the last points of the run."""
    value = float(np.median(view.last))
    return Measured(value, shown={"end": value})


@statistic("change")
def change_over_run(view: View) -> Measured | None:
    """Last level minus first level of the whole run (for what is there from the start)."""
    if len(view.values) < 2 * LEAST:
        return None
    value = float(np.median(view.last) - np.median(view.first))
    return compared(view.first, view.last, value, named=("start", "end"))


@statistic("growth")
def growth(view: View) -> Measured | None:
    """Last level over first level of the whole run."""
    if len(view.values) < 2 * LEAST:
        return None
    return divided(view.first, view.last, named=("start", "end"))


@statistic("peak")
def peak(view: View) -> Measured | None:
    """Largest running median of three points from the onset on, over the level before it."""
    if not enough(view.before, view.after):
        return None
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(view.after, 3), axis=1)
    base, top = float(np.median(view.before)), float(smooth.max())
    spread = max(scatter(view.before), 1.4826 * float(np.median(np.abs(about_line(view.before)))))
    errors = (top - base) / spread if spread > 0 else float("inf") if top > base else 0.0
    return Measured(quotient(top, base), errors, {"before": base, "peak": top})


@statistic("dip")
def dip(view: View) -> Measured | None:
    """Smallest running median of three points from the onset on, minus the level before it."""
    if not enough(view.before, view.after):
        return None
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(view.after, 3), axis=1)
    base, low = float(np.median(view.before)), float(smooth.min())
    spread = max(scatter(view.before), 1.4826 * float(np.median(np.abs(about_line(view.before)))))
    errors = (base - low) / spread if spread > 0 else float("inf") if low < base else 0.0
    return Measured(low - base, errors, {"before": base, "lowest": low})


@statistic("fall")
def fall(view: View) -> Measured | None:
    """How far the last three points lie below the best stretch of the run (medians of three); negative or zero.

    What is shown as best is the highest value before them.
    """
    if len(view.values) < 5:
        return None
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(view.values, 3), axis=1)
    best, low = float(smooth.max()), float(np.median(view.values[-3:]))
    spread = scatter(view.values)
    errors = (best - low) / spread if spread > 0 else float("inf") if low < best else 0.0
    places = {"best": int(view.values[:-3].argmax()), "latest": len(view.values) - 1}
    return Measured(low - best, errors, {"end": low}, places)


@statistic("lost")
def lost(view: View) -> Measured | None:
    """Share that the last points have lost of the best stretch of the run: 1 for all, 0 for none.

    The stretch is the highest mean of an eighth of the points (three to eight); what can be lost reaches down to zero,
    or to the lowest value where that is negative.
    """
    n = len(view.values)
    if n < 8:
        return None
    width = min(8, max(LEAST, n // 8))
    means = np.convolve(view.values, np.ones(width) / width, "valid")
    best, low = float(means.max()), float(np.mean(view.values[-max(LEAST, n // 16) :]))
    floor = min(0.0, float(view.values.min()))
    if best <= floor:
        return None
    spread = scatter(view.values) * (1 / width + 1 / max(LEAST, n // 16)) ** 0.5
    errors = (best - low) / spread if spread > 0 else float("inf")
    return Measured((best - low) / (best - floor), errors, {"high": best, "low": low})


@statistic("end_size")
def end_size(view: View) -> Measured | None:
    """How far the end lies from the level before the onset either way: ``end_ratio`` or its inverse."""
    found = end_ratio(view)
    if found is None or found.value <= 0:
        return None
    return Measured(max(found.value, 1 / found.value), found.errors, found.shown)


@statistic("over_first")
def over_first(view: View) -> Measured | None:
    """Lowest level of five successive points among the later ones, over the first value of the run.

    For what the very first update spoils, where one value is all the past there is.
    """
    if len(view.values) < 8 or view.values[0] <= 0:
        return None
    later = view.values[len(view.values) // 3 :]
    width = min(5, len(later))
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(later, width), axis=1)
    value = float(smooth.min())
    return Measured(value / float(view.values[0]), shown={"first": float(view.values[0]), "floor": value})


@statistic("end_over_first")
def end_over_first(view: View) -> Measured | None:
    """Level of the second half of the run over its first value, of either sign as long as both have the same."""
    if len(view.values) < 8 or view.values[0] == 0:
        return None
    first, late = float(view.values[0]), float(np.median(view.values[len(view.values) // 2 :]))
    return Measured(late / first, shown={"first": first, "late": late})


@statistic("end_first")
def end_first(view: View) -> Measured | None:
    """Level of the last points over the first value of the run, where both are positive."""
    if len(view.values) < 8 or view.values[0] <= 0:
        return None
    first, last = float(view.values[0]), float(np.median(view.last))
    return Measured(last / first, shown={"first": first, "end": last})


@statistic("times_above")
def times_above(view: View) -> Measured | None:
    """Number of points from the onset on that exceed ``bound``."""
    if not len(view.after):
        return None
    count = float(np.count_nonzero(view.after > (view.bound or 0.0)))
    return Measured(count, shown={"largest": float(view.after.max())})


@statistic("rise")
def rise(view: View) -> Measured | None:
    """Level of the last three points over the lowest stretch of the run (running median of three)."""
    if len(view.values) < 5:
        return None
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(view.values, 3), axis=1)
    low, top = float(smooth.min()), float(np.median(view.last))
    spread = scatter(view.values)
    errors = (top - low) / spread if spread > 0 else float("inf") if top > low else 0.0
    return Measured(quotient(top, low), errors, {"end": top}, {"lowest": int(view.values.argmin())})


@statistic("share")
def share(view: View) -> Measured | None:
    """Share of the points from the onset on that exceed ``bound``."""
    if len(view.after) < 1:
        return None
    value = float(np.mean(view.after > (view.bound or 0.0)))
    return Measured(value, shown={"share": value})


@statistic("share_below")
def share_below(view: View) -> Measured | None:
    """Share of the points from the onset on that are at or under ``bound``."""
    if len(view.after) < 1:
        return None
    value = float(np.mean(view.after <= (view.bound or 0.0)))
    return Measured(value, shown={"share": value})


@statistic("gain_errors")
def gain_errors(view: View) -> Measured | None:
    """Standard errors by which the last points lie above those around the onset (negative: below)."""
    if len(view.values) < 5 or len(view.after) < 3:
        return None
    around = view.values[max(0, view.at - 2) : view.at + 1] if view.at >= 2 else view.values[:3]
    ends = view.last
    rise = float(np.median(ends) - np.median(around))
    error = scatter(view.values) * (1.57 * (1 / len(around) + 1 / len(ends))) ** 0.5
    value = rise / error if error > 0 else float("inf") if rise > 0 else 0.0
    return Measured(value, shown={"before": float(np.median(around)), "end": float(np.median(ends))})


@statistic("against_start")
def against_start(view: View) -> Measured | None:
    """Late level over the smallest of the first three values of the run: without end where the run begins at zero."""
    early_values = view.values[:3]
    early_values = early_values[early_values >= 0]
    if not len(early_values) or not len(view.late):
        return None
    base, top_level = float(early_values.min()), float(np.median(view.late))
    return Measured(quotient(top_level, base), shown={"start": base, "after": top_level})
