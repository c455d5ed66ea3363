"""What value of a metric is normal: its card's range and reading, and where the log stands."""

from __future__ import annotations

from assistant.ask.context import Context, key
from assistant.ask.naming import central, named_keys
from assistant.ask.part import cell, part_of
from assistant.ask.parts import number
from assistant.ask.scope import Scope
from assistant.knowledge import Card
from assistant.model import Verdict
from assistant.write.document import unmark


def reference_range(context: Context) -> Verdict | None:
    """The range that the metric's card states, else how the card says to read it; then the log's values.

    Returns:
        The verdict; ``None`` where no metric with a card is named.
    """
    named = central(named_keys(context))
    card: Card | None = None
    metric = None
    for name in named:
        card = context.card(name)
        if card is not None:
            metric = name
            break
    if card is None:
        card = next((m.card for m in context.query.mentions if m.card is not None), None)
    if card is None or card.category in {"concept", "failure"}:
        return None
    doc, say, language = context.doc, context.say, context.language
    healthy = card.meta.get("healthy")
    name = metric or card.keys[0]
    if healthy:
        quoted = doc.quote(card.id, card.title(language), card.source, healthy[language].rstrip("。."))
        text = say("normal.range", metric=name, range=quoted)
    else:
        text = say("normal.no_range", metric=name)
    doc.paragraph(f"**{text}**" + (f" {context.cite(card)}" if healthy else ""))
    if context.runs:
        doc.paragraph(here(context, metric) if metric else say("normal.not_here", metric=name))
    doc.paragraph(context.quote(card, "read"))
    context.metrics.append(name)
    return Verdict("answered" if healthy or card.section(language, "read") else "no_data", unmark(text))


def here(context: Context, metric: str) -> str:
    """Where the log stands: first and latest value, lowest and highest."""
    part = part_of(context, metric, Scope())
    held = [cell(context, part, place) for place in range(len(part))]
    odd = context.ledger.count("values not finite", part.odd, metric=metric)
    if not held:
        return context.say("normal.here_none", metric=key(metric), k=odd) if part.odd else ""
    low, high = min(held, key=number), max(held, key=number)
    text = (
        context.say("normal.here_one", v=held[-1])
        if len(held) == 1
        else context.say("normal.here", first=held[0], last=held[-1], low=low, high=high)
    )
    gap = "" if context.language == "zh" else " "
    return gap.join([text, *part.empty, *([context.say("normal.here_odd", k=odd)] if part.odd else [])])
