"""What two metrics that a question sets side by side are, and how they differ: both are defined, then compared."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from assistant.ask.answer_pairs import equality
from assistant.ask.context import Context, key
from assistant.ask.metrics_named import metrics_named
from assistant.ask.wording import normalised
from assistant.knowledge import Card
from assistant.model import Verdict
from assistant.write.document import unmark

#: So much of a text is read, so many sides are told, and so many sentences of a card about the other side.
_LONGEST, _MOST, _REMARKS, _LISTED = 240, 3, 2, 3
_NO_METRIC: Final = {"concept", "failure"}
_APART: Final = re.compile(
    r"(?i)(?:有|是|存在|到底|究竟|具体|主要|之间|的|分别|怎么|如何|一下|帮我|请|算不算|算是?|没有|是不是|不是|啥|什么|何|哪些|怎么个)*+"
    r"(?:区别|区分(?:开)?|不同|两样|差别|差异|不一样|(?:同)?一回事|一码事|同?一个?(?:东西|意思|指标|概念|事情))"
    r"(?:是|在|于|到底)?(?:什么|啥|哪里?|何处)?(?:吗|么|呢|吧|的)?"
    r"|\b(?:(?:what(?:'s| is| are)|explain|tell me|describe|is there|any) )*+(?:the |a |any )?"
    r"(?:difference|distinction)s?(?: (?:is|are) there)?(?: between)?\b"
    r"|\bhow (?:do|does|is|are)\b(?=.{1,120}\bdiffer)|\bdiffer(?:s|ent|ently)?\b"
    r"|\b(?:the )?same (?:thing|metric|quantity|concept|idea)s?\b|\b(?:what )?distinguish(?:es)?\b"
)
#: Words of values, of steps and of what is no difference between two meanings.
_OF_VALUES: Final = re.compile(
    r"(?i)差多少|多大|多少|[大明显著小]吗|大不大|明不明显|最[大小高低]|(?<![/_.])\b(?:max|min)(?:imum)?\b"
    r"|\bhow (?:much|large|big|far)\b|\bover time\b|\bgrow|\brun\b"
    r"|\bgap\b|\bdifference in\b|\bhighest\b|\blowest\b|\bsteps?\b|第|为什么|为啥|\bwhy\b|随|越来越"
    r"|变化|趋势|训练前|训练后|\bbefore\b|\bafter\b"
)
_ASKS_WHETHER: Final = re.compile(r"(?i)(?:吗|么|吧|没)\s*[?。]*$|是不是|算不算|是否|^\W*(?:is|are|do|does)\b")
_BETWEEN: Final = re.compile(
    r"(?i)\s+(?:and|versus|vs\.?|from|as|or|to|than|with)\s+|\s*(?:和|跟|与|同|还是|以及|还有|比起|[,，、;；:：?。]|\bvs\.?)\s*"
)
_NAME: Final = re.compile(r"[A-Za-z][\w.-]*[_/@][\w/@.-]*\w")
_HEAD: Final = re.compile(r"[A-Za-z][\w-]*")
#: A name that nobody knows, standing by itself.
_WORD: Final = re.compile(r"(?!(?i:the|this|that|they|these|those|two|both|here|log|metrics?)$)[A-Za-z][A-Za-z0-9.-]+")
_LOOSE: Final = re.compile(
    r"(?i)^(?:[`'\"的\s]|(?:the|my|our|a|an|metrics?|what|is|are|does|do|of)\s+|请问|那么?|指标|帮我|解释一下)+"
    r"|[`'\"的\s?？!。.]+$|\s*(?:这两个(?:指标)?|两个指标|指标|metrics?|in (?:this|my|the) (?:log|run))$"
)
_QUALIFIER: Final = re.compile(
    r"(?i)(?:训练|验证|评测|测试|(?:train(?:ing)?|val(?:idation)?|eval(?:uation)?|test|actor|critic|policy)\b)"
    r"\s*(?:集|的|上的|时的)?\s*"
)
_PRONOUN: Final = re.compile(r"(?i)它们?|这个|那个|前者|it|that|this|the former")
_SENTENCES: Final = re.compile(r"(?<=[。！])|(?<=[.!])\s+(?=[A-Z`])")


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the things set side by side: the words for it, its card, and the log's key where there is one."""

    said: str
    card: Card | None
    metric: str | None
    head: tuple[str, ...] = ()
    """The keys of the log that it is the head of, where it is no key itself."""

    @property
    def name(self) -> str:
        if self.head:
            return self.said
        if self.metric is not None:
            return self.metric
        if self.card is None or self.card.category in _NO_METRIC or _NAME.fullmatch(self.said):
            return self.said
        return self.card.keys[0] if self.card.keys else self.said


def attempt(context: Context) -> Verdict | None:
    """Both sides defined, then what tells them apart; ``None`` (nothing written) where nothing of the kind is asked."""
    query = context.query
    text = normalised(query.wording or query.text).strip()
    if len(text) > _LONGEST or not _APART.search(text) or _OF_VALUES.search(text) or query.steps.kind != "none":
        return None
    sides = _sides(context, text)
    known = [side for side in sides if side.card is not None or side.head]
    if len(sides) < 2 or not known:
        return None
    sides = sides[:_MOST]
    context.query = replace(query, intent="define", op=None, asked_op=None, topics=())
    context.names.update(side.name for side in sides)
    context.names.update(side.said for side in sides)
    summary = _lead(context, sides, whether=_ASKS_WHETHER.search(text) is not None)
    _in_log(context, sides)
    told: set[str] = set()
    for side in sides:
        if side.card is not None and side.card.id not in told:
            told.add(side.card.id)
            context.doc.paragraph(f"**{key(side.name)}** · {context.quote(side.card, 'is')}")
    _of_each_other(context, sides)
    context.metrics.extend(
        side.metric or side.card.keys[0] for side in known if side.card is not None and (side.metric or side.card.keys)
    )
    return Verdict("answered", summary)


def _sides(context: Context, text: str) -> list[_Side]:
    """What is set side by side, in the question's order."""
    pieces = [_LOOSE.sub("", piece.strip()) for piece in _BETWEEN.split(_APART.sub(" , ", text))]
    pieces = [piece for piece in pieces if piece]
    head = _QUALIFIER.sub("", pieces[-1]) if pieces else ""
    found: list[_Side] = []
    for at, piece in enumerate(pieces):
        whole = _QUALIFIER.fullmatch(piece) is not None and at + 1 < len(pieces) and head != pieces[-1]
        side = _side(context, f"{piece} {head}" if whole else piece)  # "train and val reward": the noun stands once
        found += [side] if side is not None else []
    named = tuple(m for m in context.query.mentions if m.key is not None or m.card is not None)
    if len(found) < 2 and len({m.key or m.start for m in named}) == len(named) == 2:  # a follow-up names one of them
        found = [_Side(m.text, m.card, m.key) for m in named]
    return found


def _side(context: Context, piece: str) -> _Side | None:
    """What a few words name: a metric of the log, any that is known, else what is spelt as a name."""
    run = context.run if context.runs else None
    if _PRONOUN.fullmatch(piece):
        before = next((m for m in context.query.mentions if m.key is not None or m.card is not None), None)
        return None if before is None else _Side(before.text, before.card, before.key)
    if run is not None and _HEAD.fullmatch(piece):  # "val-core": a part of the log's keys
        headed = [name for name in run.metrics if name.lower().startswith(f"{piece.lower()}/")]
        family = {card.id: card for name in headed if (card := context.card(name)) is not None}
        if family:
            return _Side(piece, next(iter(family.values())) if len(family) == 1 else None, None, tuple(headed))
    named = metrics_named(piece, context.resolver, run)
    best = max(named, key=lambda m: (m.end - m.start, m.key is not None), default=None)
    if best is None or best.key is None or best.end - best.start < len(piece):
        known = context.resolver.name(piece, run.framework if run is not None else None)
        cards = [one.card for one in known if not one.foreign]
        cards.sort(key=lambda card: (_held(context, card) is None, card.category not in _NO_METRIC))
        if cards:
            return _Side(piece, cards[0], _held(context, cards[0]))
    if best is not None and (best.key is not None or best.card is not None):
        held = best.key if best.key is not None or best.card is None else _held(context, best.card)
        return _Side(best.text, best.card, held)
    spelt = _NAME.search(piece) or (_WORD.fullmatch(piece) if best is None else re.match(r".+", best.text))
    return None if spelt is None else _Side(spelt.group(), None, None)


def _held(context: Context, card: Card) -> str | None:
    """The first key of the log that a card explains."""
    metrics = context.run.metrics if context.runs else ()
    return next((name for name in metrics if name in card.keys or context.card(name) is card), None)


def _lead(context: Context, sides: list[_Side], *, whether: bool) -> str:
    """The first sentence: what each of them is, after whether they are one thing where that is asked."""
    say, zh = context.say, context.language == "zh"
    gap = "" if zh else " "
    names = context.join([key(name) for name in dict.fromkeys(side.name for side in sides)])
    said = context.join([key(side.said) for side in sides])
    cards = [side.card for side in sides]
    if len({side.name for side in sides}) == 1:
        text = say("difference.one", said=said, name=key(sides[0].name), short=_short(context, sides[0]))
    elif cards[0] is not None and all(card is cards[0] for card in cards):
        text = say("difference.kin", names=names, short=_short(context, sides[0]))
    else:
        text = say("difference.two", names=names) + gap if whether else ""
        text += gap.join(
            _nameless(context, side)
            if side.card is None
            else say("difference.is", name=key(side.name), short=_short(context, side))
            for side in sides
        )
    context.doc.paragraph(f"**{text}**")
    return unmark(text)


def _nameless(context: Context, side: _Side) -> str:
    """What stands for a side without a card: the keys that it is the head of, or that nobody knows it."""
    if not side.head:
        return context.say("difference.unknown", name=key(side.said))
    count = context.ledger.count(f"keys that begin with {side.said}", len(side.head))
    units = {card.unit: card for name in side.head if (card := context.card(name)) is not None}
    listed = context.join(map(key, side.head[:_LISTED]))
    if len(units) != 1:
        return context.say("difference.head", name=key(side.said), n=count, listed=listed)
    unit, card = next(iter(units.items()))
    quoted = context.doc.quote(card.id, card.title(context.language), card.source, unit)
    return context.say("difference.head_unit", name=key(side.said), n=count, listed=listed, unit=quoted)


def _short(context: Context, side: _Side) -> str:
    return "" if side.card is None else context.short(side.card).rstrip("。.")


def _in_log(context: Context, sides: list[_Side]) -> None:
    """The two in the log: whether they hold the same values, their last ones, and which of them it does not hold."""
    if not context.runs:
        return
    lacking = [side.name for side in sides if side.metric is None and side.card is not None and not side.head
               and side.card.category not in _NO_METRIC]  # fmt: skip
    held = list(dict.fromkeys(side.metric for side in sides if side.metric is not None))
    lines = []
    if len(held) > 1:
        units = {side.card.unit for side in sides if side.card is not None}
        if context.kind_of(held[0]) == context.kind_of(held[1]) and len(units) == 1:
            lines.append(equality(context, held[0], held[1]))
        else:
            shared = sorted(set(context.run.series(held[0])[0]) & set(context.run.series(held[1])[0]))
            facts = [fact for name in held if shared and (fact := context.value(name, shared[-1])) is not None]
            items = context.join(context.say("versus.item", metric=str(fact.metric), v=fact) for fact in facts)
            lines += [context.say("versus.values", step=shared[-1], items=items)] if facts else []
    elif held and (steps := context.run.series(held[0])[0]) and (last := context.value(held[0], steps[-1])) is not None:
        lines.append(context.say("difference.held", metric=held[0], v=last))
    lines += [context.say("define.not_here", key=name) for name in lacking]
    context.doc.bullets(lines)


def _of_each_other(context: Context, sides: list[_Side]) -> None:
    """What the card of each says of the other, in its words."""
    lines: list[str] = []
    for side in sides:
        others = [other.card for other in sides if other.card is not None and other.card is not side.card]
        card = side.card or next((card for name in side.head if (card := context.card(name)) is not None), None)
        if card is None:
            continue
        names = [name for other in others for name in (*other.keys, *other.meta.get("names", ()))]
        names += [other.said for other in sides if other.head]
        said = [
            sentence.strip()
            for section in ("read", "not", "next")
            for sentence in _SENTENCES.split(card.section(context.language, section).replace("\n\n", " "))
            if any(f"`{name}`" in sentence for name in names)
        ]
        lines += [
            f"{context.doc.quote(card.id, card.title(context.language), card.source, sentence)} {context.cite(card)}"
            for sentence in said[:_REMARKS]
        ]
    if lines:
        context.doc.heading("difference.section")
        context.doc.bullets(list(dict.fromkeys(lines)))
