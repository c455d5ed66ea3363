"""The pace of a course that is no line: from its first value to its last, and of late; and that it goes by factors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assistant.ask.context import Context
from assistant.ask.course_moves import points
from assistant.model import Fact
from assistant.write.document import mark
from assistant.write.numbers import signed

#: Share of a change that a slope may miss over the whole span, and by how many robust deviations of neighbouring
#: differences it must, before the course counts as no line.
MISSED, SCATTERS = 0.4, 3.0
#: Fewest points of a course whose latest third is told, and at how many times the mean pace that is faster.
LEAST, FASTER = 6, 1.5
#: Smallest ratio of last to first value of a course that goes by factors, and by how much (of its logarithm) the line
#: through the logarithms may miss it.
FACTOR, NEARLY = 4.0, 0.15


def paced_sentence(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None = None) -> str | None:
    """A rise or fall whose slope, over the whole span, is far from the change: by its mean and its latest pace."""
    part = points(context, metric, steps)
    if trend.direction not in {"rising", "falling"} or trend.slope_per_step is None or len(part) < LEAST:
        return None
    x, y = part.steps.astype(np.float64), part.values
    moved, span = float(y[-1] - y[0]), float(x[-1] - x[0])
    made, way = trend.slope_per_step * span, 1.0 if trend.direction == "rising" else -1.0
    scatter = 1.4826 * float(np.median(np.abs(np.diff(y))))
    if way * moved <= 0 or abs(moved - made) <= max(MISSED * max(abs(moved), abs(made)), SCATTERS * scatter):
        return None
    start = len(y) - 1 - len(y) // 3
    ends = {name: context.value(metric, int(part.steps[at])) for name, at in (("first", 0), ("s", start), ("last", -1))}
    first, since, last = ends["first"], ends["s"], ends["last"]
    if first is None or since is None or last is None:
        return None
    mean, late = moved / span, float(y[-1] - y[start]) / float(x[-1] - x[start])
    if way * late < 0:  # a last value that lies the other way is no pace
        return None
    how = "faster" if late > FASTER * mean > 0 or late < FASTER * mean < 0 else "slower"
    how = how if how == "faster" or abs(late) * FASTER < abs(mean) else "even"
    kind, texts = context.kind_of(metric), {}
    for name, value, begin in (("mean", mean, first), ("late", late, since)):
        fact = context.ledger.derived(
            f"pace/{metric}/{begin.step}-{last.step}", value, inputs=[begin, last], run=context.run,
            formula=f"({metric} at step {last.step} − at step {begin.step}) / steps between",
        )  # fmt: skip
        texts[name] = mark(fact.id, signed(value, kind, language=context.language))
    said = context.say(f"pace.{trend.direction}_{how}") if how != "even" else ""
    factors = _by_factors(context, metric, trend, steps, y) if way * late > 0 else ""
    return context.say(
        f"trend.{trend.direction}_paced", metric=metric, t=trend, first=first, last=last, s=since, how=said,
        factors=factors, **texts,
    )  # fmt: skip


def _by_factors(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None, values: np.ndarray) -> str:
    """In how many steps a course doubles or halves, where its logarithms lie on a line; empty where they do not."""
    if values.min() <= 0 or trend.first_step is None or trend.last_step is None:
        return ""
    ratio = math.log(float(values[-1] / values[0]))
    grown = context.ledger.trend(metric, steps, scale="log")
    if abs(ratio) < math.log(FACTOR) or grown is None or grown.growth_per_step is None or grown.growth_low is None:
        return ""
    a_step = math.log1p(grown.growth_per_step)
    if a_step * ratio <= 0 or abs(a_step * (trend.last_step - trend.first_step) - ratio) > NEARLY * abs(ratio):
        return ""
    line = values[0] * np.exp(a_step * (points(context, metric, steps).steps - trend.first_step))
    if float(np.median(np.abs(np.log(values / line)))) > NEARLY * abs(ratio):
        return ""
    fact = context.ledger.derived(
        f"steps_to_{'double' if ratio > 0 else 'halve'}/{metric}", math.log(2) / abs(a_step), inputs=[grown],
        run=context.run, formula="log 2 / log(1 + growth per step)",
    )  # fmt: skip
    return context.say("pace.doubles" if ratio > 0 else "pace.halves", k=fact)
