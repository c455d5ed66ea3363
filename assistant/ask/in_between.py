"""A fall, or a rise, between the ends of a course that its two ends do not show."""

from __future__ import annotations

import re
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


#: A move told as what happened once, and one told of the whole course, of its end, or by how much.
_ONCE: Final = re.compile(
    r"(?i)[掉跌降落升涨塌崩垮]了|变[差坏好大小长短]了|\b(?:dropped|fell|fallen|declined|went (?:up|down)|rose|risen"
    r"|increased|decreased|crashed|tanked|collapsed|dipped|jumped)\b"
)
_WHOLE: Final = re.compile(
    r"(?i)\d|倍|一半|%|一直|始终|持续|逐步|到(?:最后|头|底|现在)|越来越|整个|全程|\b(?:until|till|throughout|steadily"
    r"|keeps?|still|all along|twice|doubled?|half|halved|the end|overall|so far|monoton\w*|always|continu\w*)\b"
)


def happened(text: str) -> bool:
    """Whether a text says that something moved once, rather than over the whole course or up to its end."""
    return _ONCE.search(text) is not None and _WHOLE.search(text) is None


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
