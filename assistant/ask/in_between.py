"""A fall, or a rise, between the ends of a course that its two ends do not show."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from assistant.ask.context import Context, is_validation
from assistant.ask.validation_errors import as_validated
from assistant.model import Fact

#: A move counts from this share of the range of all values, and where the noise is not known from so many times the
#: usual step between two values.
SHARE: Final = 0.5
STEPS: Final = 3.0
#: Fewest values between which there is anything.
LEAST: Final = 5


@dataclass(frozen=True, slots=True)
class Move:
    """The largest move one way: from one value to a later one."""

    start: Fact
    end: Fact


def largest_move(
    context: Context, metric: str, steps: Sequence[int], values: Sequence[float], *, up: bool
) -> Move | None:
    """The largest move of a metric one way; ``None`` where it is no more than scatter.

    Args:
        context: of the answer.
        metric: key.
        steps: where it has finite values, ascending.
        values: the values there.
        up: whether a rise is looked for.
    """
    if len(values) < LEAST or max(values) == min(values):
        return None
    sign = 1 if up else -1
    lowest, best = 0, (0, 0)
    for place in range(1, len(values)):
        if sign * values[place] < sign * values[lowest]:
            lowest = place
        if sign * (values[place] - values[lowest]) > sign * (values[best[1]] - values[best[0]]):
            best = (lowest, place)
    size = sign * (values[best[1]] - values[best[0]])
    usual = statistics.median(abs(b - a) for a, b in pairwise(values))
    if size < SHARE * (max(values) - min(values)):
        return None
    change = context.ledger.change(metric, steps[best[0]], steps[best[1]])
    if change is not None and is_validation(metric):
        change = as_validated(context, change)
    start, end = (context.value(metric, steps[place]) for place in best)
    sure = None if change is None or not is_validation(metric) else change.significant
    unsure = size < STEPS * usual if sure is None else not sure
    return None if unsure or start is None or end is None else Move(start, end)
