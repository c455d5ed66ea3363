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
    """How far the last points lie below the best stretch of the run (running median of three); negative or zero."""
    if len(view.values) < 5:
        return None
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(view.values, 3), axis=1)
    best, low = float(smooth.max()), float(np.median(view.values[-3:]))
    spread = scatter(view.values)
    errors = (best - low) / spread if spread > 0 else float("inf") if low < best else 0.0
    return Measured(low - best, errors, {"best": best, "end": low})


@statistic("rise")
def rise(view: View) -> Measured | None:
    """Level of the last three points over the lowest stretch of the run (running median of three)."""
    if len(view.values) < 5:
        return None
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(view.values, 3), axis=1)
    low, top = float(smooth.min()), float(np.median(view.last))
    spread = scatter(view.values)
    errors = (top - low) / spread if spread > 0 else float("inf") if top > low else 0.0
    return Measured(quotient(top, low), errors, {"lowest": low, "end": top})


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
    """Late level over the smallest positive of the first three values of the run."""
    early_values = view.values[:3]
    early_values = early_values[early_values > 0]
    if not len(early_values) or not len(view.late):
        return None
    base, top_level = float(early_values.min()), float(np.median(view.late))
    return Measured(top_level / base, shown={"start": base, "after": top_level})
