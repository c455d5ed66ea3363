"""How many steps lie between two happenings ("between the best eval and the end"), and how much later one was."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.blanking import spans_of
from assistant.ask.computed import SMALL_IS_GOOD
from assistant.ask.conditions import Condition, condition_in
from assistant.ask.context import Context
from assistant.ask.happenings import Happening, happening_in
from assistant.ask.naming import central
from assistant.ask.part import Part, cell, limit_text, part_of, remarks
from assistant.ask.scope import Scope
from assistant.ask.subject import Subject, subject_of, words_of
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.model.answer import Op
from assistant.write.document import mark, unmark
from assistant.write.numbers import format_number

_PAIR: Final = (
    re.compile(r"(?i)\b(?:between|from)\b(?P<a>.{1,70}?)\b(?:and|to|until|till)\b(?P<b>.{1,70})"),
    re.compile(
        r"(?i)\bhow (?:long|many steps|many iterations|soon) (?:was it )?(?P<side>before|after)\b(?P<a>.{1,70}?)"
        r"\b(?:did|was|is|does|do|came)\b(?P<b>.{1,70})"
    ),
    re.compile(r"(?P<a>[^,，。?？]{1,40}?)(?:到|距离?|离)(?P<b>[^,，。?？]{1,40}?)(?:有|又|相)?(?:隔|差|过|走|跑|用|花)了?(?:多少|几)个?\s*(?:步|steps?)"),
)  # fmt: skip
#: A clause that asks how much later the step told before was.
_LATER: Final = re.compile(
    r"(?i)\bhow (?:many (?:steps|iterations|evals?|evaluations|validations|updates|values)|long|much) "
    r"(?:later|after(?:wards)?|after (?:that|it)|(?:did|does) (?:that|it|this) take|until then|in between"
    r"|is that|was that)\b"
    r"|(?:隔|过|花|用)了(?:多少|几)个?\s*(?:步|次|steps?)|(?:多少|几)个?\s*步(?:之)?后"
)
#: That clause at the end of a question which asks something else before it.
_TAIL: Final = re.compile(
    r"(?:[,，;；?？]\s*(?:(?:and|then|also)\b\s*)*|\b(?:and|then)\s+)"
    rf"(?P<clause>(?:{_LATER.pattern.removeprefix('(?i)')})[^,，;；?？]*)[?？.。\s]*$",
    re.IGNORECASE,
)
_VALUES: Final = re.compile(r"(?i)\b(?:evals?|evaluations|validations|values|updates|logs?|rows)\b|几次|多少次")
_AFTER_STEP: Final = re.compile(
    r"(?i)\b(?:after|since|from|past) step (\d{1,8})|step (\d{1,8})\s*(?:之后|以后)|(\d{1,8})\s*步\s*(?:之后|以后)"
)


def apart(context: Context) -> Verdict | None:
    """How many steps lie between the two happenings that a question names; ``None`` where it does not name two."""
    text = normalised(context.query.wording or context.query.text)
    match = next((found for words in _PAIR if (found := words.search(text)) is not None), None)
    if match is None:
        return None
    first, second = (_happening(context, match.span(name)) for name in ("a", "b"))
    if first is None or second is None or (first.metric is None and second.metric is None):
        return None
    say = context.say
    told = [_told(context, one) for one in (first, second)]
    gap = abs(second.step - first.step)
    count = context.ledger.count(
        "steps between", gap, first_step=min(first.step, second.step), last_step=max(first.step, second.step)
    )
    said = say("apart.steps", n=count, a=told[0], b=told[1]) if gap else say("apart.same", a=told[0], b=told[1])
    context.doc.paragraph(f"**{said}**")
    if second.step < first.step and match.groupdict().get("side") is None:
        context.doc.paragraph(say("apart.order"))
    context.metrics.extend(dict.fromkeys(one.metric for one in (first, second) if one.metric is not None))
    context.chart(context.title(context.metrics[0]), context.metrics[:2])
    context.query = replace(context.query, intent="lookup", op=None, asked_op=None)
    return Verdict("answered", unmark(said))


def _happening(context: Context, span: tuple[int, int]) -> Happening | None:
    text, blank = normalised(context.query.wording or context.query.text), words_of(context)
    held = [m for m in context.query.mentions if m.key is not None and m.key in context.run.columns]
    inside = [str(m.key) for m in held if any(span[0] <= at < span[1] for at, _ in spans_of(text, m))]
    keys = central(inside or [str(m.key) for m in held])
    named = happening_in(blank[span[0] : span[1]], keys[:1] if inside or len(keys) == 1 else [], context.run)
    if named is None or (named.side == "step" and named.step not in context.run.distinct_steps):
        return None
    return named


def _told(context: Context, found: Happening) -> str:
    fact = None if found.metric is None else context.value(found.metric, found.step)
    if fact is None or found.side in {"first", "last", "step"}:
        return context.say(f"apart.{found.side}", at=context.doc.step(found.step))
    return context.say(f"apart.{found.side}", metric=found.metric or "", v=fact)


def tail(text: str) -> tuple[str, str]:
    """A question without its last clause where that asks how much later it was, and that clause."""
    match = _TAIL.search(text)
    if match is None or len(text[: match.start()].split()) < LEAST_WORDS:
        return text, ""
    return text[: match.start()], match["clause"].strip()


LEAST_WORDS: Final = 3
"""Fewest words of a question that a clause at its end goes on from."""


def later(context: Context, clause: str, at: int | None) -> str:
    """How many steps (or values) after the bound named a step told before is; empty where a clause does not ask it.

    Args:
        context: of the answer.
        clause: one clause of the question, normalised.
        at: the step that the answer told first.
    """
    if at is None or _LATER.search(clause) is None:
        return ""
    keys = [metric for metric in dict.fromkeys(context.metrics) if metric in context.run.columns]
    if not keys:
        return ""
    part = part_of(context, keys[0], Scope())
    limit = condition_in(clause)
    if limit is not None:
        return _next(context, part, limit.scaled(max(abs(v) for v in part.values)), at)
    bound = _AFTER_STEP.search(words_of(context))
    start = int(next(group for group in bound.groups() if group)) if bound is not None else part.steps[0]
    if start >= at or at not in part.steps:
        return ""
    if _VALUES.search(clause):
        number = sum(start <= step <= at for step in part.steps)
        count = context.ledger.count("values up to there", number, metric=keys[0], first_step=start, last_step=at)
        return context.say("later.values", n=count, start=context.doc.step(start), end=context.doc.step(at))
    count = context.ledger.count("steps up to there", at - start, metric=keys[0], first_step=start, last_step=at)
    return context.say("later.steps", n=count, start=context.doc.step(start), end=context.doc.step(at))


def _next(context: Context, part: Part, limit: Condition, at: int) -> str:
    """How long after a step a further limit is met; that it is not, where it never is."""
    values = {"metric": part.metric, "limit": limit_text(context, limit, part.metric)}
    place = next((p for p, step in enumerate(part.steps) if step >= at and limit.holds(part.values[p])), None)
    if place is None:
        return context.say("later.never", start=context.doc.step(at), **values)
    gap = part.steps[place] - at
    count = context.ledger.count(
        "steps up to there", gap, metric=part.metric, first_step=at, last_step=part.steps[place]
    )
    return context.say("later.limit", n=count, start=context.doc.step(at), v=cell(context, part, place), **values)


def nearest(context: Context) -> Verdict | None:
    """At which step a metric is nearest to a value."""
    found = subject_of(context)
    match = (
        re.search(
            r"(?i)(?:closest|nearest) to (-?\d[\d.]*(?:e[+-]?\d+)?)\s*(%)?|最接近\s*(-?\d[\d.]*)\s*(%)?", found.text
        )
        if found
        else None
    )
    if found is None or match is None:
        return None
    part = found.part
    wanted = float((match[1] or match[3]).rstrip(".")) / (100 if match[2] or match[4] else 1)
    place = min(range(len(part)), key=lambda at: (abs(part.values[at] - wanted), at))
    fact = context.ledger.constant(f"value {wanted:g}", wanted, "the question")
    goal = mark(fact.id, format_number(wanted, context.kind_of(found.metric), language=context.language))
    said = context.say("near.value", metric=found.metric, goal=goal, v=cell(context, part, place), over=part.over)
    return _said(context, found, said)


def records(context: Context) -> Verdict | None:
    """How many values of a metric are better than all before them."""
    found = subject_of(context)
    if found is None:
        return None
    part, text = found.part, found.text
    down = re.search(r"(?i)\blow|\bmin|新低", text) is not None or (
        SMALL_IS_GOOD.search(found.metric) is not None and re.search(r"(?i)\bhigh|\bmax|新高", text) is None
    )
    places: list[int] = []
    best = part.values[0]
    for place, value in enumerate(part.values[1:], 1):
        if (value < best) if down else (value > best):
            best, places = value, [*places, place]
    count = context.ledger.count("values beyond all before", len(places), metric=found.metric)
    last = cell(context, part, places[-1] if places else 0)
    said = context.say(
        "near.records_low" if down else "near.records_high", metric=found.metric, n=count, v=last, over=part.over
    )
    listed = context.doc.show([part.steps[place] for place in places]) if 0 < len(places) <= MOST_LISTED else ""
    return _said(context, found, said, context.say("calc.steps", steps=listed) if listed else "", op="count")


MOST_LISTED: Final = 24


def limits(context: Context) -> Verdict | None:
    """The first step beyond each of several limits ("below 3.5, 3.4 and 3.3")."""
    found = subject_of(context)
    if (
        found is None
        or (first := condition_in(found.text)) is None
        or first.kind in {"between", "negative", "positive", "zero"}
    ):
        return None
    part = found.part
    more = re.match(r"(?:\s*(?:,|、|/|and|和|与)\s*(?:and\s+)?-?\d[\d.]*\s*%?)+", found.text[first.span[1] :])
    if more is None:
        return None
    numbers = [float(number.rstrip(".")) for number in re.findall(r"-?\d[\d.]*", more.group())]
    texts = []
    for value in dict.fromkeys([first.low, *numbers]):
        limit = Condition(first.kind, value, value, first.percent).scaled(max(abs(v) for v in part.values))
        values = {"metric": found.metric, "limit": limit_text(context, limit, found.metric), "over": part.over}
        place = next((place for place, one in enumerate(part.values) if limit.holds(one)), None)
        texts.append(
            context.say("calc.never", **values)
            if place is None
            else context.say("calc.first", v=cell(context, part, place), **values)
        )
    context.metrics.append(found.metric)
    context.doc.bullets(texts)
    context.doc.paragraph(*remarks(context, part))
    context.chart(context.title(found.metric), [found.metric])
    context.query = replace(context.query, op="first_crossing", asked_op="first_crossing")
    return Verdict("answered", unmark(texts[0]))


def _said(context: Context, found: Subject, said: str, *lines: str, op: Op | None = None) -> Verdict:
    context.metrics.append(found.metric)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*[line for line in lines if line], *remarks(context, found.part))
    context.chart(context.title(found.metric), [found.metric])
    context.query = replace(context.query, op=op, asked_op=op)
    return Verdict("answered", unmark(said))
