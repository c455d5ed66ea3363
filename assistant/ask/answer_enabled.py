"""Whether a part of the training is switched on, as far as its metrics tell: they are logged only where it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assistant.ask.answer_lookup import when_logged
from assistant.ask.context import Context, key
from assistant.ask.schedules import is_schedule
from assistant.knowledge import Card, Mentioned
from assistant.model import Verdict
from assistant.write.document import unmark

#: "Never", "not logged": a card that says so tells nothing of a switch.
_SWITCH = re.compile(r"(?i)=\s*true|\bwith\b|\bwhen\b|\bnon-?zero\b|use_\w+|enabled?")
_ALWAYS = re.compile(r"(?i)^\W*always\b|\bin (?:every|all)\b")
_LOSS = re.compile(r"(?i)loss|损失")
#: Asks whether it is off, so that what is on denies it.
_OFF = re.compile(r"(?i)\b(?:disabled|(?:turned|switched|shut) off|off\s*[?]*$)|关(?:掉|闭|了|着)|停用|禁用")
_MOST = 4


def enabled(context: Context) -> Verdict | None:
    """Which of the metrics that stand for what is asked the log holds; ``None`` where no card ties them to a switch."""
    cards = _switched(context)
    if not cards:
        return _held_at_all(context)
    held = {card.id: metric for card in cards if (metric := _held(context, card)) is not None}
    say, doc = context.say, context.doc
    asked = _asked(context, cards)
    on = [card for card in asked if card.id in held] or [card for card in cards if card.id in held]
    if on:
        metric = held[on[0].id]
        last = context.value(metric, context.run.series(metric)[0][-1])
        context.names.add(asked[0].keys[0])
        off = _OFF.search(context.query.said) is not None
        name = ("enabled.not_off" if off else "enabled.yes") if on[0] in asked else "enabled.other"
        text = say(name, metric=metric, v=last, **({} if on[0] in asked else {"name": key(asked[0].keys[0])}))
    else:
        off = _OFF.search(context.query.said) is not None
        names = context.join(key(card.keys[0]) for card in cards[:_MOST])
        text = say("enabled.off" if off else "enabled.no", names=names)
        context.names.update(card.keys[0] for card in cards)
    doc.paragraph(f"**{text}**")
    lines = [_rounded(context, held[on[0].id])] if on else []
    lines = [line for line in lines if line]
    for card in cards[:_MOST]:
        name = held.get(card.id) or card.keys[0]
        context.names.add(name)
        phrase = "enabled.held" if card.id in held else "enabled.absent"
        lines.append(say(phrase, name=key(name), when=when_logged(context, card)))
    doc.bullets(lines)
    doc.paragraph(say("enabled.config"))
    context.metrics.extend(held.values())
    return Verdict("answered", unmark(text), "medium")


#: Asks whether there is such a part, and not whether it is switched on.
_IS_THERE = re.compile(r"(?i)^\W*(?:is|are|was|were) there\b|^\W*(?:这里|这个|日志里?|训练里?)?有(?:没有)?")


def _held_at_all(context: Context) -> Verdict | None:
    """That the log holds the metric named; ``None`` where something else is asked, or it does not."""
    metric = next((m.key for m in context.query.mentions if m.key in context.run.columns), None)
    if metric is None or _IS_THERE.search(context.query.said) is None:
        return None
    last = context.value(metric, context.run.series(metric)[0][-1])
    if last is None:
        return None
    text = context.say("enabled.held_only", metric=metric, v=last)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.gloss(metric))
    context.metrics.append(metric)
    return Verdict("answered", unmark(text), "medium")


def _rounded(context: Context, metric: str) -> str:
    """That a learning rate that prints as zero throughout may be a small one, rounded."""
    values = context.run.series(metric)[1]
    if not is_schedule(metric) or any(value != 0 for value in values):
        return ""
    return context.say("enabled.rounded", metric=metric, n=context.ledger.count("values", len(values), metric=metric))


def _asked(context: Context, cards: Sequence[Card]) -> list[Card]:
    """Of the cards, those that the question itself names; with "loss" in it, none that is no loss."""
    named = [card for card in cards if any(_card_of(context, mention) is card for mention in context.query.mentions)]
    if any(_LOSS.search(mention.text) for mention in context.query.mentions):
        named = [card for card in cards if "loss" in card.keys[0]] or named
    return named or list(cards)


def _card_of(context: Context, mention: Mentioned) -> Card | None:
    return mention.card or (context.card(mention.key) if mention.key else None)


def _held(context: Context, card: Card) -> str | None:
    return next((m for m in context.run.metrics if m in card.keys or context.card(m) is card), None)


def _switched(context: Context) -> list[Card]:
    """The cards of what is asked and of its namesakes that tell under which setting they are logged."""
    found: dict[str, Card] = {}
    for mention in context.query.mentions:
        card = _card_of(context, mention)
        if card is None or card.framework != (context.run.framework or "").lower():
            continue
        words = set(re.findall(r"[a-z]{2,}", card.keys[0].lower())) - {"actor", "critic", "loss", "mean", "max", "min"}
        near = (context.resolver.library.get(name) for name in card.meta.get("related", ()))
        for one in (card, *(other for other in near if other is not None and other.framework == card.framework)):
            when = one.present_when("en")
            shared = words & set(re.findall(r"[a-z]{2,}", one.keys[0].lower()))
            if (
                when
                and not _ALWAYS.search(when)
                and _SWITCH.search(when)
                and (one is card or (shared and any(word in when for word in shared)))
            ):
                found.setdefault(one.id, one)
    return list(found.values())
