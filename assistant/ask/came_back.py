"""Whether a metric did move as is said although no one trend runs through the log: up to a peak, then far down."""

from __future__ import annotations

import statistics

from assistant.ask.context import Context
from assistant.ask.part import Part, cell, part_of
from assistant.ask.scope import Scope
from assistant.model import Fact

#: Fewest values, and the share of them that stands for the end.
FEWEST, SHARE = 8, 0.1
#: A move of so much of the metric's range, and so many usual moves from value to value, is one.
OF_RANGE, OF_MOVES = 0.4, 3.0


def from_extreme(context: Context, metric: str, *, up: bool) -> tuple[Fact, Fact] | None:
    """The extreme from which a metric moved the way that is said, and its last value.

    Args:
        context: of the answer.
        metric: key.
        up: whether a rise is said.

    Returns:
        ``None`` where the values after the extreme do not lie far from it, measured by the metric's range and by its
        usual move from one value to the next.
    """
    part = part_of(context, metric, Scope())
    if len(part) < FEWEST:
        return None
    many = max(3, round(SHARE * len(part)))
    far = part.values.index((min if up else max)(part.values))
    if far >= len(part) - many:
        return None
    move = statistics.median(part.values[-many:]) - _level(part, far, many)
    wide = max(part.values) - min(part.values)
    usual = statistics.median(abs(b - a) for a, b in zip(part.values, part.values[1:], strict=False))
    enough = abs(move) >= OF_RANGE * wide and abs(move) >= OF_MOVES * usual
    if (move > 0) != up or not enough:
        return None
    return cell(context, part, far), cell(context, part, len(part) - 1)


def _level(part: Part, place: int, many: int) -> float:
    """The median of the values around a place."""
    first = max(0, place - many // 2)
    return statistics.median(part.values[first : first + many])
