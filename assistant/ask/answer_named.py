"""What every answer owes the metrics that its question names: their values, where the answer has not given them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assistant.ask.answer_single import tail_of
from assistant.ask.context import Context
from assistant.ask.epochs import EPOCH_KEYS
from assistant.ask.naming import central
from assistant.ask.query import Query
from assistant.ask.telling import trend_sentence
from assistant.knowledge import Mentioned
from assistant.write.document import marked_ids

MOST = 3
_LENGTH = re.compile(r"(?i)len|long|长|token")


def _counted(query: Query, mention: Mentioned) -> bool:
    """Whether what sounds like a length is counted: "how many responses per prompt" names no `response_length`."""
    counts = query.intent == "derive" and bool({"group", "batch"} & set(query.topics))
    return counts and "length" in (mention.key or "") and _LENGTH.search(mention.text) is None


def _of_two_windows(name: str) -> str:
    """The metric of a fact of a slow-down ("slowdown/1-9/20-29/timing_s/gen/before"); empty for other facts."""
    parts = name.split("/")
    return "/".join(parts[3:-1]) if parts[0] == "slowdown" else ""


def values_of_named(context: Context, queries: Sequence[Query]) -> None:
    """Adds a sentence for each metric named of which no value, change or trend stands in the answer so far.

    Args:
        context: of the answer, its text written.
        queries: the questions it answers.
    """
    if not context.runs or len(context.runs) > 1:
        return
    named = [
        m.key
        for query in queries
        for m in query.mentions
        if m.key is not None and query.intent != "define" and not _counted(query, m)
    ]
    if not named:
        return
    told: set[str | None] = set()
    for fact_id in marked_ids(context.doc.markup()):
        fact = context.ledger.get(fact_id)
        if fact is not None:
            told |= {fact.metric} if fact.metric else {fact.name, _of_two_windows(fact.name or "")}
    lines = []
    for metric in central(list(dict.fromkeys(named)))[:MOST]:
        trend = context.ledger.trend(metric) if metric not in told and metric not in EPOCH_KEYS else None
        if trend is not None:
            said = trend_sentence(context, metric, trend)
            lines.append(said + tail_of(context, metric, said))
            context.metrics.append(metric)
    if lines:
        context.doc.paragraph(context.say("named.lead"))
        context.doc.bullets(lines)
