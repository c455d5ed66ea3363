"""When a metric first crossed each of several limits: "when did it first exceed 4, and first exceed 5"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.answer_computed import as_reached
from assistant.ask.conditions import Condition, condition_in
from assistant.ask.context import Context
from assistant.ask.part import cell, limit_text, part_of, remarks
from assistant.ask.scope import Scope
from assistant.ask.subject import subject_of
from assistant.model import Verdict
from assistant.write.document import unmark

MOST: Final = 6
#: What stands between two limits of one metric.
_JOINT: Final = re.compile(
    r"(?i)(?:[\s,，、;；/]|\b(?:and|or|then|when|did|does|it|the|first|time|also|later|again)\b"
    r"|和|跟|与|及|以及|又|再|然后|第一次|首次|是|什么时候|哪一?步|分别){1,16}"
)
_BARE: Final = re.compile(
    r"(?i)(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)\s*(%|％|percent\b)?(?![\w.]|\s*(?:steps?|iter|步|个))"
)
_SIDES: Final = frozenset({"above", "at_least", "below", "at_most"})


def limits_in(text: str) -> list[Condition]:
    """The sides of numbers that a text lists, one after the other; fewer than two where it lists none.

    Args:
        text: the question, normalised; names of metrics and parts of the run blanked.
    """
    first = condition_in(text)
    if first is None or first.kind not in _SIDES:
        return []
    found, at = [first], _end(text, first.span[1])
    while len(found) < MOST and (joint := _JOINT.match(text, at)) is not None:
        rest = text[joint.end() :]
        more, bare = condition_in(rest), _BARE.match(rest)
        if more is not None and more.kind in _SIDES and more.span[0] == 0:
            at = _end(text, joint.end() + more.span[1])
        elif bare is not None:
            value = float(bare[1].replace(",", ""))
            more = replace(found[-1], low=value, high=value, percent=bool(bare[2]) or found[-1].percent)
            at = _end(text, joint.end() + bare.end())
        else:
            break
        found.append(more)
    return found


def _end(text: str, at: int) -> int:
    """The end of a number without the comma and the blanks behind it."""
    return len(text[:at].rstrip(" ,"))


def first_times(context: Context) -> Verdict | None:
    """The first step beyond each limit; ``None`` where not several limits of one metric are named."""
    found = subject_of(context, several=True)
    limits = [] if found is None else limits_in(found.text)
    if found is None or len(limits) < 2:
        return None
    part = part_of(context, found.metric, Scope())
    largest, told = max(map(abs, part.values)), list[str]()
    for named in limits:
        limit = as_reached(context, named, part.metric, part.values[0]).scaled(largest)
        place = next((p for p, value in enumerate(part.values) if limit.holds(value)), None)
        text = limit_text(context, limit, part.metric)
        if place is None:
            told.append(context.say("crossings.never", limit=text))
        else:
            told.append(context.say("crossings.at", limit=text, v=cell(context, part, place)))
    gap = "；" if context.language == "zh" else "; "
    said = context.say("crossings.first", metric=part.metric, listed=gap.join(told), over=part.over)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*remarks(context, part))
    context.chart(context.title(part.metric), [part.metric])
    context.metrics.append(part.metric)
    context.query = replace(context.query, op="first_crossing", asked_op="first_crossing", topics=())
    return Verdict("answered", unmark(said))
