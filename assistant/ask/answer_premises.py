"""Whether what a question takes to be so is so: "… was decayed, right?", "it never went above 100, correct?"."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Final

from assistant.ask.conditions import condition_in
from assistant.ask.confirmed_factors import STEADILY, of_levels
from assistant.ask.context import Context
from assistant.ask.lexicon import words
from assistant.ask.part import cell, limit_text, remarks
from assistant.ask.scope import Scope
from assistant.ask.subject import Subject, subject_of
from assistant.ask.telling import trend_sentence
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import format_number

_FALLS: Final = re.compile(
    r"(?i)\b(?:decay\w*|anneal\w*|f[ae]ll(?:s|en|ing)?|drop\w*|decreas\w*|declin\w*|shr[aiu]nk\w*"
    r"|(?:go|goes|went|going|gone) down"
    r"|came down|reduced)\b|在?(?:降|跌|掉|减|衰减|退火|下降|变[小低短])了?"
)
_RISES: Final = re.compile(
    r"(?i)\b(?:r[io]s(?:e|es|en|ing)|grow\w*|grew|increas\w*|climb\w*|(?:go|goes|went|going|gone) up|warm\w* up)\b"
    r"|在?(?:涨|升|增加|上升|变[大高长])了?"
)
#: Denies the move that stands behind it.
_NOT_MOVED: Final = re.compile(
    r"(?i)(?:没(?:有)?|未|并不|不再|不曾)\s*(?:怎么|明显|再|继续|往上|往下|变)?\s*[涨升降跌掉增减变]"
    r"|(?:\b(?:not|never|no longer|hardly|barely)|n['’]?t)\b.{0,16}"
    r"\b(?:r[io]s\w*|grow\w*|increas\w*|climb\w*|go|going|gone|f[ae]ll\w*|drop\w*"
    r"|decreas\w*|declin\w*|shr[aiu]nk\w*|decay\w*|mov\w*)\b"
)
_NEVER: Final = re.compile(r"(?i)\bnever\b|从(?:来)?没(?:有)?|从未|始终没")
_WITHOUT_BREAK: Final = re.compile(
    r"(?i)\b(?:whole time|always|every|each|monoton\w*|steadily|without (?:a )?break|constantly"
    r"|at all (?:steps|times))\b|一直|每|始终|单调"
)
#: A move of this share of the metric's size and less is none.
STILL: Final = 1e-6
#: ln 2, the loss of a preference pair of which the policy prefers neither more than the reference does.
LN2: Final = math.log(2)
_NEAR_LN2: Final = re.compile(r"(?<![\d.])0?\.69\d*|\bln\s*\(?2\)?|\blog\s*\(?2\)?")


def tag(context: Context) -> Verdict | None:
    """Yes or no to a statement with a question behind it; ``None`` where it states nothing that is read."""
    found = subject_of(context, least=2)
    if found is None:
        return None
    if words("confirmed")["because"].search(normalised(context.query.wording or context.query.text)):
        return None  # what caused what is no move of one metric
    limit = condition_in(found.text)
    if limit is not None and _NEVER.search(found.text):
        return _never(context, found)
    if _WITHOUT_BREAK.search(found.text):
        return None  # every value is to be looked at
    falls, rises = _FALLS.search(found.text) is not None, _RISES.search(found.text) is not None
    if falls == rises or limit is not None:
        return None
    return (_unmoved if _NOT_MOVED.search(found.text) else _moved)(context, found, up=rises)


def _unmoved(context: Context, found: Subject, *, up: bool) -> Verdict | None:
    """Of a metric that is said not to have risen, or not to have fallen; ``None`` where its ends alone tell nothing."""
    part = found.part
    first, last = cell(context, part, 0), cell(context, part, len(part) - 1)
    trend = context.ledger.trend(found.metric, list(part.steps))
    way = None if trend is None else {"rising": True, "falling": False}.get(trend.direction or "")
    further = last.value != first.value and (float(last.value or 0) > float(first.value or 0)) == up
    if way is None and further:
        return None
    ends = context.say("put.ends", metric=found.metric, first=first, last=last)
    line = "" if trend is None else trend_sentence(context, found.metric, trend, list(part.steps))
    said = context.say("put.no" if way == up and way is not None else "put.yes", told=ends)
    return _told(context, found, said, None, line)


def _never(context: Context, found: Subject) -> Verdict:
    limit = condition_in(found.text)
    never = _NEVER.search(found.text)
    assert limit is not None
    assert never is not None
    if never.end() > limit.span[0]:  # "从来没超过 3": what denies the side is the "never" itself
        limit = limit.denied or limit
    part = found.part
    limit = limit.scaled(max(abs(value) for value in part.values))
    values = {"metric": found.metric, "limit": limit_text(context, limit, found.metric), "over": part.over}
    places = [place for place, value in enumerate(part.values) if limit.holds(value)]
    high = limit.kind in {"above", "at_least"}
    far = cell(context, part, part.values.index((max if high else min)(part.values)))
    if places:
        count = context.ledger.count(f"steps {limit.kind} {limit.low:g}", len(places), metric=found.metric)
        said = context.say("tag.not_never", k=count, v=cell(context, part, places[0]), far=far, **values)
    else:
        said = context.say("tag.never", far=far, **values)
    return _told(context, found, said, "count")


def _moved(context: Context, found: Subject, *, up: bool) -> Verdict:
    part = found.part
    first, last = cell(context, part, 0), cell(context, part, len(part) - 1)
    spread = max(part.values) - min(part.values)
    values = {"metric": found.metric, "first": first, "last": last, "over": part.over}
    if spread <= STILL * max(abs(value) for value in part.values):
        return _told(context, found, context.say("tag.still", **values), None)
    trend = context.ledger.trend(found.metric, list(part.steps))
    way = None if trend is None else {"rising": True, "falling": False}.get(trend.direction or "")
    line = "" if trend is None else trend_sentence(context, found.metric, trend, list(part.steps))
    moved = last.value != first.value and (float(last.value or 0) > float(first.value or 0)) == up
    if way is not None:
        name = "tag.moved" if way == up else "tag.not_moved"
    else:
        name = "tag.ends_only" if moved else "tag.not_moved"
    since = Scope(first=part.steps[0])
    if name == "tag.not_moved" and not STEADILY.search(found.text):
        level = of_levels(context, found.metric, part, since, up=up)  # it fell at the step from which it is said
        if level is not None:
            return _told(context, found, context.say("put.yes", told=level.said), None, line)
    return _told(context, found, context.say(name, **values), None, line)


def _told(context: Context, found: Subject, said: str, op: str | None, *lines: str) -> Verdict:
    context.metrics.append(found.metric)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*[line for line in lines if line], *remarks(context, found.part))
    context.chart(context.title(found.metric), [found.metric])
    context.query = replace(context.query, op=op, asked_op=op)  # type: ignore[arg-type]
    return Verdict("answered", unmark(said))


def preference_start(context: Context) -> Verdict | None:
    """Where the loss of preference pairs starts (ln 2), and where this log's first value is.

    ``None`` where no such loss is named or the value asked about is another.
    """
    found = subject_of(context, least=1)
    if found is None or "dpo" not in f"{found.metric} {context.query.said}".lower():
        return None
    if _NEAR_LN2.search(context.query.said) is None:
        return None
    fact = context.ledger.constant("ln 2", LN2, "−log σ(0), the loss of a pair with no margin")
    start = cell(context, found.part, 0)
    text = mark(fact.id, format_number(LN2, "number", language=context.language))
    said = context.say("tag.ln2", v=text, metric=found.metric, first=start)
    context.metrics.append(found.metric)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(context.say("tag.ln2_read"))
    context.chart(context.title(found.metric), [found.metric])
    return Verdict("answered", unmark(said))
