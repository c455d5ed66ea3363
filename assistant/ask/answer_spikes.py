"""Whether a metric has spikes: values far above those around them that go back at once."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from assistant.analysis.series import series
from assistant.analysis.spikes import NEAREST, TIMES, spikes
from assistant.ask.context import Context, key
from assistant.ask.departures import all_checks
from assistant.ask.naming import named_keys, variant
from assistant.model import Verdict
from assistant.write.document import unmark

_MOST: Final = 6
#: The rule of one value that lies far from all others, and not ten times as high.
_LONE: Final = "lone_spike"
_SEVERAL: Final = 3.0


def _far(ratios: np.ndarray) -> bool:
    """Whether the value that stands out most is several times those around it."""
    return float(ratios.max()) >= _SEVERAL


def spiky(context: Context) -> Verdict | None:
    """The spikes of the metric named, or the value that stands out most where there is none.

    Returns:
        The verdict; ``None`` (nothing written) where no metric is named, or not one.
    """
    keys = variant(context, named_keys(context), context.query.op)
    if len(keys) != 1 or context.query.steps.kind not in {"none", "all"}:
        return None
    metric, say, doc = keys[0], context.say, context.doc
    points = series(context.run, metric)
    finite = np.isfinite(points.values)
    if not finite.all() or len(points) == 0:
        return None
    context.metrics.append(metric)
    count = context.ledger.count("values", len(points), metric=metric)
    width = context.ledger.constant("spike_width", NEAREST + 1, "the definition of a spike")
    if len(points) <= NEAREST:
        text = say("spikes.few", metric=metric, n=count, least=width)
        doc.paragraph(f"**{text}**")
        return Verdict("insufficient_data", unmark(text), "low")
    places, around = spikes(points.values)
    sizes = np.abs(points.values)
    ratios = np.divide(sizes, around, out=np.zeros_like(sizes), where=around > 0)
    order = sorted(places, key=lambda at: -float(sizes[at])) or [int(ratios.argmax())]
    lead = order[0]
    value = context.value(metric, int(points.steps[lead]))
    if value is None or not math.isfinite(float(ratios[lead])):
        return None
    level = context.ledger.derived(
        f"median_around/{metric}", float(around[lead]), step=value.step, inputs=[value],
        formula=f"median size of the {NEAREST + 1} values of {metric} about step {value.step}",
    )  # fmt: skip
    times = context.ledger.derived(
        f"times_around/{metric}", float(ratios[lead]), step=value.step, inputs=[value, level], formula="value / median"
    )
    shown = {"metric": metric, "v": value, "level": doc.show(level, None, context.kind_of(metric)), "times": times}
    limit = context.ledger.constant("spike_times", int(TIMES), "the definition of a spike")
    lone = (
        None
        if places
        else next(
            (one for one in all_checks(context) if one.rule == _LONE and one.metrics[:1] == (metric,) and _far(ratios)),
            None,
        )
    )
    if lone is not None:  # as the account of the run tells it
        text = context.finding(lone)
        doc.paragraph(f"**{text}**")
    elif not places:
        text = say("spikes.none", n=count, limit=limit, around=width, **shown)
        doc.paragraph(f"**{text}**")
        doc.paragraph(say("spikes.slow"))
    else:
        found = context.ledger.count("spikes", len(places), metric=metric)
        text = say("spikes.some", n=found, limit=limit, around=width, **shown)
        doc.paragraph(f"**{text}**")
        others = [fact for at in order[1:_MOST] if (fact := context.value(metric, int(points.steps[at]))) is not None]
        others.sort(key=lambda fact: fact.step or 0)
        doc.bullets([say("lookup.one", metric=metric, v=fact) for fact in others])
    context.chart(context.title(metric), [metric])
    doc.paragraph(context.gloss(metric))
    context.names.add(key(metric))
    return Verdict("warning" if places else "healthy", unmark(text), "medium")
