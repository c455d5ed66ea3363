"""Where a metric's values go: up, down, nowhere; its ends and how many times as much it became."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from assistant.analysis.trend import MIN_POINTS
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.model import Fact

#: Share of a metric's largest magnitude within which it hardly moves; of its range that a fall or rise must make up.
STILL: Final = 0.05
MAIN: Final = 0.5
#: Share of a metric's range between its ends from which it went that way, whatever lies between.
MOST: Final = 0.8
#: A change of this factor is told as a factor.
TIMES: Final = 1.5


@dataclass(frozen=True, slots=True)
class Course:
    """A metric's finite values over the steps looked at, and where they go."""

    metric: str
    facts: tuple[Fact, ...]
    way: str

    @property
    def low(self) -> Fact:
        """The lowest value."""
        return min(self.facts, key=number)

    @property
    def high(self) -> Fact:
        """The highest value."""
        return max(self.facts, key=number)

    @property
    def range(self) -> float:
        """How far apart they are."""
        return number(self.high) - number(self.low)


def course_of(context: Context, metric: str, steps: Sequence[int] | None = None) -> Course | None:
    """A metric's finite values; ``None`` where there are none."""
    held = [step for step in context.run.series(metric)[0] if steps is None or step in steps]
    facts = [fact for step in dict.fromkeys(held) if (fact := context.value(metric, step)) is not None]
    finite = [fact for fact in facts if isinstance(fact.value, (int, float)) and math.isfinite(fact.value)]
    if not finite:
        return None
    return Course(metric, tuple(finite), _way(context, metric, finite, steps))


def _way(context: Context, metric: str, facts: Sequence[Fact], steps: Sequence[int] | None) -> str:
    """``up``, ``down``, ``same`` or ``mixed``."""
    values = [number(fact) for fact in facts]
    moves = [after - before for before, after in pairwise(values)]
    if not any(moves):
        return "same"
    if len(values) < MIN_POINTS:
        return "up" if min(moves) >= 0 else "down" if max(moves) <= 0 else "mixed"
    trend = context.ledger.trend(metric, steps)
    direction = trend.direction if trend is not None else None
    size = max(map(abs, values))
    gained = values[-1] - values[0]
    if abs(gained) >= MOST * (max(values) - min(values)) and abs(gained) > TIMES * STILL * size:
        return "up" if gained > 0 else "down"
    if min(moves) >= 0 or max(moves) <= 0 or direction in {"rising", "falling"}:
        whole = max(values) - min(values)
        if abs(gained) >= MAIN * whole and abs(gained) > STILL * size / 2:
            return "up" if gained > 0 else "down"
    return "mixed"


def ends(context: Context, course: Course) -> str:
    """The first and the last value; the one there is."""
    if len(course.facts) == 1:
        return context.say("complaint.at", a=course.facts[0])
    return context.say("complaint.from_to", a=course.facts[0], b=course.facts[-1])


def times(context: Context, first: Fact, last: Fact) -> str:
    """How many times as much one value is, where it is well more; empty where not."""
    a, b = number(first), number(last)
    if a <= 0 or b <= 0 or b / a < TIMES or not math.isfinite(b / a):
        return ""
    ratio = context.ledger.derived(
        f"ratio of {last.metric}", b / a, inputs=[first, last], step=last.step, formula="last / first"
    )
    return ("" if context.language == "zh" else " ") + context.say("complaint.times", r=ratio)


__all__ = ["MAIN", "STILL", "TIMES", "Course", "course_of", "ends", "times"]
