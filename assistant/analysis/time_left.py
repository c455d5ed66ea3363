"""How long further steps take: the level of the latest step times, and where that level may go."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assistant.analysis.ar_line import Line, fit_line
from assistant.analysis.level_ahead import LEAST, level_interval
from assistant.analysis.trend import Trend, trend_of

Array = NDArray[np.float64]

#: Fewest step times whose latter half gets a line of its own.
LEAST_HALVES = 20
#: p-value of a trend below which step times are not taken to stay as they are. Far above the usual one: that a slope
#: is not certain does not make the sum of many further steps certain.
SUSPECT = 0.2
#: How far a line may be wrong at most: so many times as far as it goes itself, plus so many deviations of its points.
WRONG, SCATTERS = 3.0, 2.0
#: How much wider an interval is that holds both a level and a line: what was chosen for how it seems to move is off by
#: more than the widths of either allow for.
SPARE = 1.15


class TimeLeft(NamedTuple):
    """Seconds that further steps take.

    Attributes:
        expected: in seconds.
        low: lower end of the prediction interval.
        high: upper end.
        drifting: whether step times may be drifting: the interval then holds both that they stay and that they go on,
            and is one of at least 95 %, not of 95 %.
    """

    expected: float
    low: float
    high: float
    drifting: bool


def remaining_seconds(times: ArrayLike, steps_left: int, known: Trend | None = None) -> TimeLeft | None:
    """Seconds that so many further steps take, with a 95 % prediction interval; ``None`` below ten step times.

    Where the step times show no move, the last ones stand for those to come: as many as are left, at least forty.
    Slow steps (a checkpoint, a validation) count as often as they came. After a jump or bend, only the times since then
    count. Where the times may be drifting, the interval holds both that they stay at the latest level and that they go
    on as they went (since the last change, and over the latter half of that stretch), and so holds what comes more
    often than in 95 % of cases; the expected value follows a trend for as many steps as it was seen, and stays there.

    Args:
        times: seconds of each step so far, shape (n,), finite.
        steps_left: at least one.
        known: the trend of ``times`` by their places, if the caller has it.
    """
    y = np.asarray(times, dtype=np.float64)
    if len(y) < LEAST:
        return None
    expected, half = level_interval(y, steps_left)
    found = [expected, expected - half, expected + half]
    course = known or trend_of(np.arange(len(y)), y)
    moving = drifting(course)
    if moving:
        found = _moving(y, course, steps_left, found)
    return TimeLeft(max(found[0], 0.0), max(found[1], 0.0), found[2], moving)


def drifting(course: Trend) -> bool:
    """Whether step times of such a trend are not taken to stay at their level.

    One that only wanders is left to the level, whose neighbours may hang together by any correlation up to 0.97.
    """
    if course.changes or course.direction in {"rising", "falling"}:
        return True
    return course.p_value is not None and course.p_value < SUSPECT


def _moving(y: Array, course: Trend, count: int, found: list[float]) -> list[float]:
    """Expected sum and interval where the level moves or may move; ``found`` holds those of a level that stays."""
    n, start = len(y), 0
    certain = course.sure or course.direction in {"rising", "falling"}
    if course.changes:
        start = min(course.changes[-1].step, n - LEAST)
    if start and certain:
        expected, half = level_interval(y[start:], count)
        found = [expected, expected - half, expected + half]
    begins = [start] + ([start + (n - start) // 2] if n - start >= LEAST_HALVES else [])
    value, low, high = found
    for begin in begins:
        line = fit_line(np.arange(begin, n), y[begin:])
        stays = count * line.at(n - 1)
        goes_on = stays + count * line.slope * (count + 1) / 2
        half = _half(line, y[begin:], begin, count, of_line=begin == start)
        low, high = min(low, stays - half, goes_on - half), max(high, stays + half, goes_on + half)
        if begin == start and certain:
            seen = min(count, n - begin)
            value = stays + line.slope * (seen * (seen + 1) / 2 + (count - seen) * seen)
    middle, half = (low + high) / 2, SPARE * (high - low) / 2
    return [min(max(value, low), high), middle - half, middle + half]


def _half(line: Line, y: Array, begin: int, count: int, *, of_line: bool) -> float:
    """Half of the interval of a sum about a line: the scatter of the sum, and (``of_line``) the line's own error."""
    steps = np.arange(begin, begin + len(y))
    _, scatter = level_interval(y - line.level - line.slope * (steps - line.centre), count)
    if not of_line:
        return scatter
    ahead = min(count, len(y))
    most = WRONG * abs(line.slope) * ahead + SCATTERS * line.scatter
    return math.hypot(scatter, count * min(line.error(line.last + ahead / 2, point=False), most))
