"""Which metrics changed most between two stretches of a run: against their own size, beyond noise first."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.analysis.compare import compare_windows
from assistant.analysis.compare_model import Row
from assistant.ask import by_course
from assistant.ask.answer_compare import windows_of
from assistant.ask.comparing import knowledge_of
from assistant.ask.context import Context, key
from assistant.ask.naming import central, named_keys
from assistant.model import StepSlot, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import plain

MOST: Final = 6
"""So many metrics are told."""
LEAST: Final = 6
"""Fewest training steps for two stretches where none are named."""
PART: Final = 5
"""Part of the run that each of them takes then."""
#: What counts rather than measures: it changes by itself.
_COUNTS: Final = re.compile(
    r"(?i)(?:^|[/_ ])(?:global_)?(?:steps?|epochs?|iterations?|timesteps|updates|num_tokens|elapsed|train_time)$"
    r"|(?:^|/)lr\b|learning_rate|total_(?:steps|episodes)"
)


def most_changed(context: Context) -> Verdict | None:
    """The metrics that changed most, each with its mean over both stretches.

    Returns:
        The verdict; ``None`` (nothing written) where metrics or single steps are named, or the run is too short.
    """
    query, steps = context.query, list(context.train_steps or context.run.distinct_steps)
    named = any(mention.end > mention.start for mention in query.mentions)  # what is only described is "which metric"
    if (named and central(named_keys(context))) or query.steps.kind in {"single", "pair"} or len(steps) < LEAST:
        return None
    part = max(1, len(steps) // PART)
    windows = windows_of(context) or ((steps[0], steps[part - 1]), (steps[-part], steps[-1]))
    if query.steps.kind == "range" and windows_of(context) is None:
        inside = [s for s in steps if query.steps.values[0] <= s <= query.steps.values[1]]
        if len(inside) < LEAST:
            return None
        part = max(1, len(inside) // PART)
        windows = (inside[0], inside[part - 1]), (inside[-part], inside[-1])
    result = compare_windows(context.ledger, *windows, **knowledge_of(context, context.run, context.run))
    rows = [row for row in result.rows if not _COUNTS.search(row.metric) and _size(row) > 0]
    shown = _shown(context, rows)
    rows.sort(key=lambda row: (row.metric not in shown, -_size(row)))
    kept = rows[:MOST]
    if not kept:
        return None
    say, doc = context.say, context.doc
    sure = [row for row in kept if row.metric in shown]
    items = [
        say("changed.item", metric=row.metric, a=doc.show(row.change, "from"), b=doc.show(row.change, "to"))
        for row in (sure or kept)[:3]
    ]
    first, last = (say("comparison.window", first=a, last=b) for a, b in windows)
    text = say("most.lead" if sure else "most.lead_noise", a=first, b=last, items=context.join(items))
    doc.paragraph(f"**{text}**")
    doc.table(
        [say("head.metric"), first, last, say("most.factor"), say("most.beyond")],
        [
            [key(row.metric), doc.show(row.change, "from"), doc.show(row.change, "to"), _factor(context, row),
             say("most.no" if row.metric not in shown else "most.yes" if row.significant else "most.course")]
            for row in kept
        ],
    )  # fmt: skip
    count = context.ledger.count("metrics compared", len(result.rows))
    doc.paragraph(say("most.how", n=count))
    context.metrics.extend(row.metric for row in kept)
    context.chart(context.title(kept[0].metric), [row.metric for row in kept[:3]])
    context.query = replace(query, intent="compare", steps=StepSlot("all"), op=None, asked_op=None, topics=())
    return Verdict("mixed" if sure else "inconclusive", unmark(text), "medium")


def _shown(context: Context, rows: Sequence[Row]) -> set[str]:
    """The metrics whose change is beyond noise: by the two stretches, or by the course over the whole run."""
    found = {row.metric for row in rows if row.significant}
    return found | set(by_course.settled(context, [row for row in rows if row.metric not in found]))


def _size(row: Row) -> float:
    """How many times its own size a metric changed by, as a logarithm; its change against the larger end where one is
    not above zero, since a value near zero is no size; 0 where it cannot be told."""
    a, b = (float(value) if isinstance(value, (int, float)) else math.nan for value in _ends(row))
    if not (math.isfinite(a) and math.isfinite(b)) or a == b:
        return 0.0
    if a > 0 and b > 0:
        return abs(math.log(b / a))
    return abs(b - a) / max(abs(a), abs(b))


def _ends(row: Row) -> Sequence[object]:
    return row.change.from_value, row.change.to_value


def _factor(context: Context, row: Row) -> str:
    """The larger over the smaller end; a dash where one is not above zero."""
    a, b = (float(value) if isinstance(value, (int, float)) else math.nan for value in _ends(row))
    if not (a > 0 and b > 0):
        return "—"
    up = b >= a
    fact = context.ledger.derived(
        f"factor of {row.metric}", b / a if up else a / b, inputs=[row.change], formula="larger / smaller"
    )
    return ("×" if up else "÷") + mark(fact.id, plain(float(fact.value or 0)))
