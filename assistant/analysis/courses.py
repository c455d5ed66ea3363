"""What a series did that certainly moved: stretches that rise, fall or stay, and the one word for all of them.

Whether it moved is decided elsewhere (:mod:`assistant.analysis.changepoints`, :mod:`assistant.analysis.moves`). Here
the series is cut at its changes, jumps that took several points become ramps, and each stretch is called rising,
falling or level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.changepoints import ChangePoint
from assistant.analysis.moves import ramp_of
from assistant.analysis.stats import middle, pair_slopes

Array = NDArray[np.float64]
#: p-value of a straight line through points, and its slope.
Test = Callable[[Array, Array], tuple[float, float]]

#: Shares of the whole range: below the first a stretch counts as level, from the second on as moving; between them, a
#: test of its slope tells.
STILL, MOVING = 0.06, 0.5
#: Share of the whole range that must lie between first and last level for a series that turned to have a direction.
BACK = 1 / 3
#: p-value that a stretch against the main move must reach (there may be several, and each would make it a turn), and
#: beside a jump that is most of the movement.
AGAINST, AGAINST_JUMP = 0.02, 0.002
#: Fewest points of a stretch whose slope is tested, and the share from which a shorter one moves.
TESTED, SHORT = 8, 0.12
#: How far from its level a level stretch may begin: in medians of the moves from point to point, and as a share of it
#: (where that is less than ``STILL`` of the range: a level near zero is reached when the values are near it).
NOISES, NEARLY = 3.0, 0.1


@dataclass(frozen=True, slots=True)
class Stretch:
    """Places of the first and last point, fitted values there, and +1, −1 or 0."""

    start: int
    end: int
    before: float
    after: float
    sign: int
    jump: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """The word for a whole series.

    Attributes:
        form: ``shift``, ``bend``, ``ramp`` or ``turn``.
        sign: +1 rising, −1 falling, 0 neither.
        knots: places and levels where stretches of a ``ramp`` (start, move begins, move ends, end) or ``turn`` (start,
            extreme reached, extreme left, end) meet.
    """

    form: str
    sign: int
    knots: tuple[tuple[int, float], ...] = ()


def course_of(steps: Array, values: Array, raw: Array, changes: Sequence[ChangePoint], test: Test) -> Course:
    """The course of a series that changed for certain.

    Args:
        steps: ascending, shape (n,).
        values: without spikes, on the scale on which the changes were found.
        raw: the same with spikes, for the tests.
        changes: at least one, by step.
        test: of a line through some points.
    """
    parts = stretches(steps, values, raw, changes, test)
    moves = [part for part in parts if part.sign]
    first, last = _level(values, parts, 0), _level(values, parts, -1)
    heights = [height for part in parts for height in (part.before, part.after)]
    reach = max(heights) - min(heights)
    signs = [part.sign for part in moves]
    turns = sum(a != b for a, b in pairwise(signs))
    if not moves or turns > 1:
        net = last - first
        form = "shift" if moves and all(part.jump for part in moves) else "bend"
        return Course(form, 0 if abs(net) < MOVING * reach else int(np.sign(net)))
    n = len(values)
    if turns == 1:
        at = next(i for i, (a, b) in enumerate(pairwise(signs)) if a != b)
        one, two = moves[at], moves[at + 1]
        net = last - first
        between = parts[parts.index(one) + 1]
        stays = between.before if between.sign == 0 else None  # the level there is better known than its line's ends
        reached = _near(values, one.end) if not one.jump else one.after if stays is None else stays
        left = _near(values, two.start) if not two.jump else two.before if stays is None else stays
        # A jump leaves the extreme with the first point after it.
        knots = ((0, first), (one.end, reached), (two.end if two.jump else two.start, left), (n - 1, last))
        return Course("turn", 0 if abs(net) < BACK * reach else int(np.sign(net)), knots)
    sign, jumped = signs[0], sum(abs(part.after - part.before) for part in moves if part.jump)
    if all(part.jump for part in moves) or jumped >= MOVING * reach:
        return Course("shift", sign)
    start, end = moves[0].start, moves[-1].end
    edge = max(2, n // 20)
    if start < edge and end > n - 1 - edge:
        return Course("bend", sign)
    start, end = start if start >= edge else 0, end if end <= n - 1 - edge else n - 1
    # A stretch begins or ends where the values are at its level, which a fitted line's end need not be.
    start = _settled(values[: start + 1][::-1], reach, edge, start, -1) if parts[0].sign == 0 and start else start
    end = _settled(values[end:], reach, edge, end, 1) if parts[-1].sign == 0 and end < n - 1 else end
    if start < edge and end > n - 1 - edge:
        return Course("bend", sign)
    low = first if parts[0].sign == 0 else _near(values, start)
    high = last if parts[-1].sign == 0 else _near(values, end)
    if sign * (high - low) <= 0:  # the levels that would be told contradict the fitted move
        return Course("bend", 0)
    return Course("ramp", sign, ((0, first), (start, low), (end, high), (n - 1, last)))


def _level(values: Array, parts: Sequence[Stretch], which: int) -> float:
    """The level at the beginning (0) or the end (−1): of the level stretch there, or of the points there."""
    part = parts[which]
    return part.before if part.sign == 0 else _near(values, 0 if which == 0 else len(values) - 1)


def _settled(stretch: Array, reach: float, edge: int, place: int, way: int) -> int:
    """The place from which a level stretch is at its level; the far end of the series where it never is.

    Args:
        stretch: values from the fitted end of the move on, towards that end of the series.
        reach: the whole range.
        edge: fewest points of a stretch that is told.
        place: of the first of them.
        way: +1 or −1, the direction in which places run.
    """
    level = middle(stretch)
    noise = middle(np.abs(np.diff(stretch)))
    within = max(NOISES * noise, min(STILL * reach, NEARLY * abs(level)))
    for count in range(len(stretch) - edge):
        if abs(_near(stretch, count) - level) <= within:
            return place + way * count
    return place + way * (len(stretch) - 1)


def _near(values: Array, place: int) -> float:
    """Median of the three points about a place (of the three at an end)."""
    low = min(max(place - 1, 0), max(len(values) - 3, 0))
    return middle(values[low : low + 3])


def stretches(steps: Array, values: Array, raw: Array, changes: Sequence[ChangePoint], test: Test) -> list[Stretch]:
    """The series cut at its changes; a jump is a stretch of its own between two neighbouring points."""
    fitted = _fitted(steps, values, _spans(steps, values, changes))
    heights = [height for _, _, before, after, jump in fitted if not jump for height in (before, after)]
    reach = (max(heights) - min(heights)) if heights else float(np.ptp(values))
    leapt = any(jump and abs(after - before) >= MOVING * reach for _, _, before, after, jump in fitted)
    way = int(np.sign(max((after - before for _, _, before, after, _ in fitted), key=abs)))
    found: list[Stretch] = []
    for a, b, before, after, jump in fitted:
        sign = int(np.sign(after - before))
        share = abs(after - before) / reach if reach > 0 else 0.0
        if share < STILL:
            sign = 0
        elif not jump and share < MOVING:
            bound = 0.05 if sign == way else AGAINST_JUMP if leapt else AGAINST
            sign = sign if _slopes(steps[a : b + 1], raw[a : b + 1], sign * share, test, bound) else 0
        level = middle(values[a : b + 1])
        ends = (before, after) if sign or jump else (level, level)
        found.append(Stretch(a, b, *ends, sign, jump))
    return found


def _spans(steps: Array, values: Array, changes: Sequence[ChangePoint]) -> list[tuple[int, int, bool]]:
    """First and last place of each stretch, and whether it is a jump; ramps that passed for jumps have two ends."""
    n = len(values)
    places = [min(max(int(np.searchsorted(steps, change.step)), 1), n - 1) for change in changes]
    bounds = [0, *places, n]
    cuts: list[tuple[int, bool]] = []
    for i, (change, place) in enumerate(zip(changes, places, strict=True)):
        low, high = bounds[i], bounds[i + 2]
        ramp = ramp_of(values[low:high], place - low) if change.kind == "level" and low < place < high else None
        if ramp is not None:
            cuts += [(low + ramp[0], False), (low + ramp[1], False)]
        else:
            cuts.append((place, change.kind == "level"))
    spans: list[tuple[int, int, bool]] = []
    start = 0
    for place, jump in sorted(cuts):
        end = place - 1 if jump else place
        if end > start:
            spans.append((start, end, False))
        if jump and place > start:
            spans.append((place - 1, place, True))
        start = max(place, start)
    if start < n - 1 or not spans:
        spans.append((start, n - 1, False))
    return spans


def _fitted(
    steps: Array, values: Array, spans: Sequence[tuple[int, int, bool]]
) -> list[tuple[int, int, float, float, bool]]:
    """Each stretch with its line's ends; a jump goes from the end of the line before to the start of the next."""
    ends = [_line_ends(steps[a : b + 1], values[a : b + 1]) for a, b, _ in spans]
    fitted = []
    for i, (a, b, jump) in enumerate(spans):
        before = ends[i - 1][1] if jump and i else ends[i][0]
        after = ends[i + 1][0] if jump and i + 1 < len(spans) else ends[i][1]
        fitted.append((a, b, before, after, jump))
    return fitted


def _slopes(steps: Array, values: Array, share: float, test: Test, bound: float) -> bool:
    """Whether a stretch that goes by a (signed) share of the whole range certainly has a slope."""
    if len(values) < TESTED:
        return abs(share) >= SHORT and bound > AGAINST
    p_value, slope = test(steps, values)
    return p_value < bound and slope * share > 0


def _line_ends(steps: Array, values: Array) -> tuple[float, float]:
    """A robust line (Theil–Sen) at both ends; the values themselves where there are three or fewer."""
    n = len(values)
    if n <= 3:
        return float(values[0]), float(values[-1])
    slope = middle(pair_slopes(steps, values))
    level = middle(values - slope * steps)
    return level + slope * float(steps[0]), level + slope * float(steps[-1])
