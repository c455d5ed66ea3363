"""Answers to "what is it": a metric's definition, and what this log holds of it."""

from __future__ import annotations

from dataclasses import replace

from assistant.analysis.trend import MIN_POINTS
from assistant.ask.answer_lookup import lookup
from assistant.ask.answer_trend import trend
from assistant.ask.context import Context, key
from assistant.ask.naming import central, named_keys, unknown, which
from assistant.knowledge import Card, difference
from assistant.model import Verdict
from assistant.write.document import unmark


def define(context: Context) -> Verdict:
    """Definition of each metric named, with its values in the log."""
    cards: list[tuple[Card, str]] = []
    for mention in context.query.mentions:
        card = context.card(mention.key) if mention.key is not None else mention.card
        if card is not None and all(card is not known for known, _ in cards):
            cards.append((card, mention.key or mention.text))
    if not cards and named_keys(context):  # a key of the log that no card explains: its values, and that said
        context.doc.paragraph(context.say("define.no_card", names=context.join(map(key, named_keys(context)[:3]))))
        enough = any(len(context.run.series(name)[0]) >= MIN_POINTS for name in named_keys(context))
        several = enough and context.query.steps.kind in {"none", "all", "range", "last_n"}
        return replace(trend(context) if several else lookup(context), code="answered")
    if not cards:
        nameless = next((m.text for m in context.query.mentions), None)
        if nameless is not None:
            return unknown(context, nameless)
        return which(context)
    first_summary = ""
    for card, named in cards[:3]:
        summary = define_card(context, card, named)
        first_summary = first_summary or summary
    return Verdict("answered", unmark(first_summary))


def define_card(context: Context, card: Card, named: str = "") -> str:
    """One card: what it is, how to read it, what it does not mean, the log's values, formula, source.

    ``named`` is the key that the question spells or stands for, where it is one of the log's.
    """
    doc, say, language = context.doc, context.say, context.language
    held = [m for m in context.run.metrics if context.card(m) is card] if context.runs else []
    if named in held:
        held = [named]
    shown = held[0] if len(held) == 1 else card.keys[0]
    title, source = card.title(language), card.source
    short = doc.quote(card.id, title, source, card.short(language).rstrip("。."))
    summary = say("define.summary", key=shown, short=short)
    doc.paragraph(f"**{summary}**")
    framework = context.run.framework if context.runs else None
    if framework is not None and not card.own and card.framework not in {framework, "concept"}:
        doc.paragraph(say("define.foreign", framework=card.framework, own=framework))
    _says(context, card)
    if context.query.depth != "brief" and card.section(language, "read"):
        doc.heading("section.means")
        doc.paragraph(context.quote(card, "read"))
    _here(context, central(held), card)
    if card.section(language, "not"):
        doc.heading("section.not")
        doc.paragraph(context.quote(card, "not"))
    if context.query.depth != "brief" and card.section(language, "next"):
        doc.heading("section.next")
        doc.paragraph(context.quote(card, "next"))
    lines = []
    if card.own:
        lines += _stated(context, card)
    elif card.category != "concept":
        quoted = doc.quote(card.id, title, source, card.formula)
        lines.append(say("define.formula", formula=quoted, unit=doc.quote(card.id, title, source, card.unit)))
        present = doc.quote(card.id, title, source, card.present_when(language).rstrip("。."))
        lines.append(say("define.present", text=present))
    others = _also(context, card)
    if others:
        lines.append(say("define.also", items=others))
    lines.append(say("define.source", source=doc.quote(card.id, title, source, source), ref=context.cite(card)))
    doc.bullets(lines)
    context.metrics.extend(central(held) or [card.keys[0]])
    return summary


def _says(context: Context, card: Card) -> None:
    """What it is, in the card's words; a team's own document is shown as the quotation it is."""
    if not card.own:
        context.doc.paragraph(context.quote(card, "is"))
        return
    title, source = card.title(context.language), card.source
    lines = [line.strip() for line in card.section(context.language, "is").split("\n") if line.strip()]
    quoted = [f"> {context.doc.quote(card.id, title, source, line)}" for line in lines]
    context.doc.blocks.append("\n".join([*quoted[:-1], f"{quoted[-1]} {context.cite(card)}"]))


def _stated(context: Context, card: Card) -> list[str]:
    """Formula and unit, where a team's document states them, and what the shipped card of the key says."""
    doc, say, language = context.doc, context.say, context.language
    title, source, lines = card.title(language), card.source, []
    if card.formula:
        lines.append(say("define.own_formula", formula=doc.quote(card.id, title, source, card.formula)))
    if card.unit:
        lines.append(say("define.own_unit", unit=doc.quote(card.id, title, source, card.unit)))
    found = context.resolver.shipped_key(card.keys[0], context.run.framework if context.runs else None)
    if found is not None:
        other = found.card
        short = context.short(other).rstrip("。.")
        lines.append(say("define.shipped", framework=other.framework, short=short, ref=context.cite(other)))
        theirs = other.meta.get("healthy")
        if theirs and difference(card, other) is not None:
            mine = doc.quote(card.id, title, source, card.meta["healthy"][language])
            words = doc.quote(other.id, other.title(language), other.source, theirs[language])
            lines.append(say("define.differs", own=mine, other=words))
    return lines


def _also(context: Context, card: Card) -> str:
    parts = []
    for other in card.meta.get("also", ()):
        names = ", ".join(key(name) for name in other["keys"])
        text = f"{other['framework']} {names}"
        if "differs" in other:
            difference = other["differs"][context.language].rstrip("。.")
            text += f"（{difference}）" if context.language == "zh" else f" ({difference})"
        parts.append(context.doc.quote(card.id, card.title(context.language), card.source, text))
    return ("；" if context.language == "zh" else "; ").join(parts)


def _here(context: Context, keys: list[str], card: Card) -> None:
    if not keys:
        return
    wanted = context.query.steps.values if context.query.steps.kind in {"single", "pair"} else ()
    items = []
    for metric in keys[:3]:
        steps, _ = context.run.series(metric)
        chosen = [s for s in steps if s in wanted] if wanted else (steps if len(steps) <= 4 else [steps[0], steps[-1]])
        facts = [f for s in chosen if (f := context.value(metric, s)) is not None]
        if facts:
            name = f"{key(metric)} " if len(keys) > 1 else ""
            joined = context.join(context.say("define.here_item", v=fact) for fact in facts)
            items.append(name + joined)
    if not items:
        return
    lines = [context.say("define.here", values=("；" if context.language == "zh" else "; ").join(items))]
    if card.direction in {"target_range", "context", "neutral"} and not card.meta.get("healthy"):
        lines.append(context.say("define.no_norm"))
    context.doc.paragraph(*lines)


# -- lookup -------------------------------------------------------------------------------------
