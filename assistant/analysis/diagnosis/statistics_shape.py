"""Statistics of shape: pace, bends, steps and ramps around an onset, scatter, and one series against another."""

from __future__ import annotations

import numpy as np

from assistant.analysis.diagnosis.onset import scatter
from assistant.analysis.diagnosis.statistics import (
    BASELINE,
    LEAST,
    Measured,
    View,
    enough,
    error_of,
    quotient,
    statistic,
)
from assistant.analysis.series import Steps, Values


@statistic("speed")
def speed(view: View) -> Measured | None:
    """How fast the series moves late, over how fast it moved before the onset (mean steps over medians of thirds)."""
    if len(view.before) < 3 or len(view.late) < 3:
        return None
    before, late = pace(view.steps[max(0, view.at - BASELINE) : view.at], view.before), _late_pace(view)
    error = 2 * error_of(view.before) / max(1, len(view.before) // 2) + 2 * error_of(view.late) / max(
        1, len(view.late) // 2
    )
    value = quotient(late, before) if before > 0 else quotient(abs(late), abs(before))
    return Measured(value, abs(late - before) / error if error > 0 else float("inf"), {})


def _late_pace(view: View) -> float:
    return pace(view.steps[view.at :][len(view.after) // 2 :], view.late)


def pace(steps: Steps, values: Values) -> float:
    """Change a step: median of the last third minus that of the first, over the steps between their middles."""
    third = max(1, len(values) // 3)
    apart = float(np.median(steps[-third:]) - np.median(steps[:third]))
    return float(np.median(values[-third:]) - np.median(values[:third])) / apart if apart > 0 else 0.0


@statistic("doubling")
def doubling(view: View) -> Measured | None:
    """Growth over straight-line growth: the late level over what the pace before the onset would have led to."""
    if len(view.before) < 5 or len(view.after) < 5:
        return None
    first = max(0, view.at - BASELINE)
    before = pace(view.steps[first : view.at], view.before)
    middle = float(np.median(view.steps[first : view.at]))
    expected = float(np.median(view.before)) + max(before, 0.0) * (
        float(np.median(view.steps[-len(view.last) :])) - middle
    )
    top = float(np.median(view.last))
    error = error_of(view.before) + error_of(view.last)
    return Measured(
        quotient(top, expected),
        abs(top - expected) / error if error > 0 else float("inf"),
        {"before": float(np.median(view.before)), "end": top, "expected": expected},
    )


@statistic("accelerates")
def accelerates(view: View) -> Measured | None:
    """Pace of the second half of what follows the onset over the pace of its first half (1 for a straight line)."""
    half = len(view.after) // 2
    if half < 4:
        return None
    steps = view.steps[view.at :]
    first, second = pace(steps[:half], view.after[:half]), pace(steps[half:], view.after[half:])
    return Measured(quotient(second, first) if first > 0 else float("inf") if second > 0 else 0.0)


@statistic("still")
def still(view: View) -> Measured | None:
    """Share of the move from before to the end that is made in the second half after the onset."""
    half = len(view.after) // 2
    if half < 4 or not enough(view.before):
        return None
    base, end_level = float(np.median(view.before)), float(np.median(view.last))
    middle = float(np.median(view.after[max(0, half - 2) : half + 2]))
    return None if end_level == base else Measured((end_level - middle) / (end_level - base))


@statistic("abrupt")
def abrupt(view: View) -> Measured | None:
    """Share of the whole move (before to late) that the first three points make: 1 for a step, small for a ramp."""
    if not enough(view.before, view.late):
        return None
    base = float(np.median(view.before[-9:]))
    whole = float(np.median(view.late)) - base
    if whole == 0:
        return None
    return Measured((float(np.median(view.after[:3])) - base) / whole)


@statistic("lone")
def lone(view: View) -> Measured | None:
    """Size of the step at the onset over the third largest of all steps (logarithms where all values are positive)."""
    return _lone(view, np.log(view.values) if len(view.values) and float(view.values.min()) > 0 else view.values)


@statistic("lone_step")
def lone_step(view: View) -> Measured | None:
    """The same of the values themselves, for scores."""
    return _lone(view, view.values)


def _lone(view: View, data: Values) -> Measured | None:
    if len(data) < 8 or not 0 < view.at < len(data):
        return None
    steps = np.abs(np.diff(data))
    return Measured(quotient(float(steps[view.at - 1]), float(np.sort(steps)[-3])))


@statistic("early")
def early(view: View) -> Measured | None:
    """Share of the run's whole move that is made in its first ``bound`` (a third by default)."""
    n = len(view.values)
    if n < 12:
        return None
    place = round((view.bound or 1 / 3) * n)
    first, last = float(np.median(view.values[:3])), float(np.median(view.last))
    if first == last:
        return None
    reached = float(np.median(view.values[place - 1 : place + 2]))
    return Measured((reached - first) / (last - first), shown={"start": first, "reached": reached, "end": last})


@statistic("rising_before")
def rising_before(view: View) -> Measured | None:
    """Share of its level that the series gained over the last six points before the onset (a warm-up)."""
    if len(view.before) < 3:
        return None
    ends = view.before[-6:]
    return Measured(quotient(float(ends[-1] - ends[0]), float(ends[-1])), shown={"before": float(ends[0])})


@statistic("height_before")
def height_before(view: View) -> Measured | None:
    """Level of the last three points before the onset over the largest value of the run."""
    if not enough(view.before):
        return None
    largest = float(view.values.max())
    base = float(np.median(view.before[-3:]))
    return Measured(quotient(base, largest), shown={"before": base})


@statistic("scatter_ratio")
def scatter_ratio(view: View) -> Measured | None:
    """Scatter about the neighbours from the onset on, over that before."""
    if len(view.before) < 6 or len(view.after) < 6:
        return None
    return Measured(quotient(scatter(view.after), scatter(view.before)))


@statistic("times")
def times(view: View) -> Measured | None:
    """Median product of the series with the other one, from the onset on."""
    both = view.after * view.other[view.at :] if len(view.other) else np.empty(0)
    both = both[np.isfinite(both)]
    if len(both) < LEAST:
        return None
    value = float(np.median(both))
    return Measured(value, shown={"value": float(np.median(view.after))})


@statistic("gap")
def gap(view: View) -> Measured | None:
    """Change over the run minus that of the other series (a part that follows the other gives 0)."""
    if len(view.values) < 2 * LEAST or not len(view.other):
        return None
    held = np.isfinite(view.other)
    mine, other = view.values[held], view.other[held]
    if len(mine) < 2 * LEAST:
        return None
    width = max(LEAST, len(mine) // 10)
    own = float(np.median(mine[-width:]) - np.median(mine[:width]))
    theirs = float(np.median(other[-width:]) - np.median(other[:width]))
    error = ((scatter(mine) ** 2 + scatter(other) ** 2) * 2 * 1.57 / width) ** 0.5
    shown = {"start": float(np.median(mine[:width])), "end": float(np.median(mine[-width:]))}
    return Measured(own - theirs, abs(own - theirs) / error if error > 0 else float("inf"), shown)


@statistic("constant")
def constant(view: View) -> Measured | None:
    """Share of the points from the onset on that equal the most common value there, to nine digits."""
    if len(view.after) < LEAST:
        return None
    _, counts = np.unique(np.round(view.after, 9), return_counts=True)
    value = float(counts.max()) / len(view.after)
    return Measured(value, shown={"share": value})


@statistic("points")
def points(view: View) -> Measured | None:
    """Number of points from the onset on."""
    return Measured(float(len(view.after)), shown={"points": float(len(view.after))})
