"""What all that a log prints means: "what do these values mean?" of a pasted table that names no single metric."""

from __future__ import annotations

import math
import re
from typing import Final

from assistant.ask.context import Context, key
from assistant.model import Verdict
from assistant.write.document import unmark

#: So many metrics are told at most.
MOST: Final = 40
_ALL: Final = re.compile(
    r"(?i)\b(?:these|those|the|this|each|all|every|following|above|below)\s+(?:\w+ ){0,3}?"
    r"(?:values?|metrics?|numbers?|outputs?|logs?|columns?|fields?|keys?|parameters?|params|terms|statistics|stats"
    r"|things|entries)\b|\bwhat (?:do|does) (?:they|the output|it all|everything)\b"
    r"|(?:这些|这几个|各个?|每个|所有|以上|下面|上面|分别|输出|日志)"
)
_MEAN: Final = re.compile(
    r"(?i)\bmeans?\b|\bmeaning\b|\bstands? for\b|\binterpret|\bdescri\w+ of\b|\bunderstand\b"
    r"|什么意思|含义|是什么|代表|表示"
)


def attempt(context: Context) -> Verdict | None:
    """A table of all metrics with their values and meanings; ``None`` where a metric is named, or none is asked for."""
    said = context.query.said
    named = any(mention.card is not None or mention.key is not None for mention in context.query.mentions)
    if not context.runs or named or _MEAN.search(said) is None or _ALL.search(said) is None:
        return None
    run, doc, say = context.run, context.doc, context.say
    rows: list[list[str]] = []
    told: list[str] = []
    broken: list[str] = []
    for metric in run.metrics[:MOST]:
        steps, _ = run.series(metric)
        held = steps or [step for step in run.distinct_steps if run.cell(metric, step) is not None]
        fact = context.value(metric, held[-1]) if held else None
        if fact is None:
            continue
        card = context.card(metric)
        rows.append([key(metric), doc.show(fact), context.short(card) if card is not None else say("remark.no_card")])
        told += [metric] if card is not None else []
        if isinstance(fact.value, float) and not math.isfinite(fact.value):
            broken.append(f"{key(metric)} {doc.show(fact)}")
    if not told:
        return None
    count = context.ledger.count("metrics told", len(rows))
    known = context.ledger.count("metrics with a definition", len(told))
    text = say("meanings.all", n=count, k=known)
    doc.paragraph(f"**{text}**")
    doc.table([say("head.metric"), say("head.value"), say("head.meaning")], rows)
    if broken:
        doc.paragraph(say("meanings.broken", names=context.join(broken)))
    context.metrics.extend(told)
    return Verdict("answered", unmark(text))
