"""The latest values of a metric in order, one after the other without a move against it: 0.57, 0.54, 0.51, 0.51, 0.48.

A test of the whole course looks for one direction. What rose first and has fallen since has none, and a fall over the
last points is lost in it. The order of the last values tells it: k values that only scatter about one level stand in
one given order once in k! times (fewer orders where some are equal), in rising or falling order twice as often. The
longer row holds the shorter ones, so that nothing is to be allowed for the length.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

import numpy as np

from assistant.analysis.series import Values

#: How often chance may put so many values in order, at most.
BY_CHANCE: Final = 0.005
#: Share of the range of all values that the row must move by.
LEAST_SHARE: Final = 1 / 3
#: Fewest values that chance seldom enough puts in order.
LEAST_ROW: Final = 6
#: Rows beyond so many values are longer than any chance needs.
MOST: Final = 100
#: Of values that only scatter, chance parts the last from the first ones at most once in so many times.
SELDOM: Final = 100
#: From so many values on, three of them on one side are enough for that.
SURE: Final = 12
#: So many points at most are the way from one level to the other.
MOST_BETWEEN: Final = 20
#: By so much a gap is wider that leaves out more points between the two levels.
WIDER: Final = 1.25
#: Fewest values on either side of a gap between two levels.
LEAST_SIDE: Final = 3
#: Fewest values whose whole course is told by its one turn.
LEAST_COURSE: Final = 5


@dataclass(frozen=True, slots=True)
class InOrder:
    """The last values of a series, as far as they go one way.

    Attributes:
        start: place of the first of them.
        count: how many.
        sign: +1 where none falls, −1 where none rises.
        odds: of values that only scatter, so many stand in such an order (either way) once in so many times.
        outermost: whether the last value is the highest (falling: the lowest) of the whole series.
    """

    start: int
    count: int
    sign: int
    odds: float
    outermost: bool


def latest_in_order(values: Values) -> InOrder | None:
    """The longest stretch at the end that goes one way; ``None`` where chance would do as much.

    Args:
        values: finite, in the order of steps.
    """
    if len(values) < LEAST_ROW:
        return None
    found = [(sign, _start(values, sign)) for sign in (1, -1)]
    sign, start = min(found, key=lambda one: one[1])
    row = values[start:]
    moved, reach = abs(float(row[-1] - row[0])), float(values.max() - values.min())
    if moved == 0 or moved < LEAST_SHARE * reach:
        return None
    ties = Counter(row.tolist()) if len(row) <= MOST else Counter()
    ways = math.lgamma(min(len(row), MOST) + 1) - sum(math.lgamma(count + 1) for count in ties.values())
    odds = math.exp(min(ways, 700.0)) / 2
    if odds * BY_CHANCE < 1:
        return None
    outermost = bool(row[-1] == (values.max() if sign > 0 else values.min()))
    return InOrder(start, len(row), sign, odds, outermost)


def one_turn(values: Values) -> int | None:
    """Place of the only extreme inside a course that first goes one way and then the other; ``None`` for others.

    Equal neighbours do not count as a move; of equal extremes the first is taken.
    """
    n = len(values)
    if n < LEAST_COURSE:
        return None
    moves = [(float(b - a) > 0, place) for place, (a, b) in enumerate(pairwise(values)) if a != b]
    runs = [list(part) for _, part in groupby(moves, key=lambda move: move[0])]
    if len(runs) != 2:
        return None
    return runs[0][-1][1] + 1


@dataclass(frozen=True, slots=True)
class Parted:
    """The last values of a series that lie, all of them, beyond all those of its beginning.

    Attributes:
        until: place of the last value of the beginning.
        start: place of the first of the last values; what lies between is the way from one level to the other.
        sign: +1 where the last values are the higher ones, −1 where they are the lower ones.
    """

    until: int
    start: int
    sign: int


def parted(values: Values) -> Parted | None:
    """The split of a series into two levels that do not overlap; ``None`` where there is none that stands out.

    The gap between them is at least a third of the range of all values, the way between them takes at most a tenth of
    the points (one at least, twenty at most), and chance would part values of one level so at most once in a hundred.

    Args:
        values: finite, in the order of steps.
    """
    n = len(values)
    if n < LEAST_ROW:
        return None
    between = max(1, min(n // 10, MOST_BETWEEN))
    reach = float(values.max() - values.min())
    best: tuple[float, Parted] | None = None
    for sign in (1, -1) if values[-1] > values[0] else (-1, 1):
        turned = sign * values
        highest = np.maximum.accumulate(turned)
        lowest = np.minimum.accumulate(turned[::-1])[::-1]
        for skipped in range(between + 1):
            until = np.arange(LEAST_SIDE - 1, n - LEAST_SIDE - skipped)
            if n - skipped < SURE:
                until = until[[math.comb(n - skipped, int(at) + 1) / 2 >= SELDOM for at in until]]
            if not len(until):
                continue
            gaps = lowest[until + 1 + skipped] - highest[until]
            place = int(np.argmax(gaps))
            if best is None or float(gaps[place]) > WIDER * best[0]:
                best = float(gaps[place]), Parted(int(until[place]), int(until[place]) + 1 + skipped, sign)
    if best is None or reach <= 0 or best[0] < LEAST_SHARE * reach:
        return None
    return best[1]


def _start(values: Values, sign: int) -> int:
    place = len(values) - 1
    while place > 0 and sign * float(values[place] - values[place - 1]) >= 0:
        place -= 1
    return place
