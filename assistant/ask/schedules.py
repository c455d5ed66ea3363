"""A learning rate is a schedule, not a measurement: it is told by its phases (warm-up, decay) and never tested."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from assistant.ask.context import Context
from assistant.model import Fact

_RATE = re.compile(r"(?i)(?:^|[/_ ])(?:lr|learning[_ -]rate)(?:$|[/@(])")
_COEFFICIENT = re.compile(
    r"(?i)(?:^|[/_ ])(?:kl[_-]?(?:coeff?|ctl|beta)|entropy[_-]?coeff?|clip[_-]?range|weight[_-]?decay)(?:$|[/@(])"
)
#: Fewest points of a schedule, and how far from the straight line a linear phase may lie, in its peak's size.
LEAST, STRAIGHT = 5, 0.02


def is_schedule(metric: str) -> bool:
    """Whether a key holds a learning rate."""
    return _RATE.search(metric) is not None


def is_setting(metric: str) -> bool:
    """Whether a key holds what is set and not measured, so that it has no noise: a learning rate, a coefficient."""
    return is_schedule(metric) or _COEFFICIENT.search(metric) is not None


def phases(context: Context, metric: str, steps: Sequence[int] | None = None) -> tuple[Fact, Fact, Fact] | None:
    """First, highest and last value of a rate that rises to one peak and then falls; ``None`` for any other course."""
    if not is_schedule(metric):
        return None
    facts = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    held = [f for f in facts if _finite(f) and (steps is None or f.step in steps)]
    if len(held) < LEAST:
        return None
    sizes = [float(f.value) for f in held if isinstance(f.value, (int, float))]
    at = sizes.index(max(sizes))
    rises = all(a <= b for a, b in pairwise(sizes[: at + 1]))
    falls = all(a >= b for a, b in pairwise(sizes[at:]))
    return (held[0], held[at], held[-1]) if rises and falls and min(sizes) < max(sizes) else None


def schedule_sentence(context: Context, metric: str, steps: Sequence[int] | None = None) -> str | None:
    """The phases in a sentence; ``None`` where the metric is no learning rate, or has another course."""
    found = phases(context, metric, steps)
    if found is None:
        return None
    first, peak, last = found
    rest = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None and _finite(f)]
    rest = [f for f in rest if (f.step or 0) >= (peak.step or 0) and (steps is None or f.step in steps)]
    gap = "" if context.language == "zh" else " "
    line = gap + context.say("schedule.linear") if _straight(rest) else ""
    if peak.value == last.value:
        name = "warmup_held" if peak is not last else "warmup"
    else:
        name = "decay" if peak is first else "warmup_decay"
    return context.say(f"schedule.{name}", metric=metric, first=first, peak=peak, last=last, line=line)


def _straight(facts: Sequence[Fact]) -> bool:
    points = [(float(f.step or 0), float(f.value)) for f in facts if isinstance(f.value, (int, float))]
    if len(points) < LEAST:
        return False
    (x0, y0), (x1, y1) = points[0], points[-1]
    return all(abs(y0 + (y1 - y0) * (x - x0) / (x1 - x0) - y) <= STRAIGHT * abs(y0) for x, y in points)


def _finite(fact: Fact) -> bool:
    return isinstance(fact.value, (int, float)) and math.isfinite(fact.value)
