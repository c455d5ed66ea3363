"""Whether what was told of a metric (a collapse, a peak, a crossing, a NaN) still holds at the end of the log."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from statistics import median
from typing import Final

from assistant.ask.answer_events import REACH, steepest
from assistant.ask.answer_returned import returned
from assistant.ask.context import Context
from assistant.ask.naming import central, named_keys
from assistant.ask.part import Part, cell, part_of, remarks, shown, statistic
from assistant.ask.scope import Scope
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.write.document import unmark

#: Values before an event, and at the end, that the levels are medians of.
BEFORE, ENDING = 20, 5
LEAST_VALUES: Final = 6
_EVENT: Final = re.compile(
    r"(?i)\b(?:spik|jump|surg|blow|blew|explo|collaps|crash|drop|fall|fell|plung|dip|rise|rose|peak)\w*"
    r"|崩|塌|跌|掉|降|炸|爆|飙|涨|升|尖峰|峰"
)
_UP: Final = re.compile(r"(?i)spik|jump|surg|blow|blew|explo|rise|rose|peak|炸|爆|飙|涨|升|峰")


def lasting(context: Context) -> Verdict | None:
    """Whether an event lasts to the end: of the question before, or named with its metric."""
    query = context.query
    if query.not_finite or "nan" in query.topics:
        return _not_finite(context)
    keys = central(named_keys(context))
    if len(keys) != 1:
        return None
    if query.threshold is not None:
        return returned(context)
    part = part_of(context, keys[0], Scope())
    if len(part) < LEAST_VALUES:
        return None
    text = normalised(query.wording or query.text)
    if query.follows == "lasting" and query.earlier in part.steps:
        up = query.op in {"max", "argmax"}
        first = part.steps.index(query.earlier)
        near = range(first, min(first + REACH + 1, len(part)))
        at = (max if up else min)(near, key=lambda place: (part.values[place], -place))
    elif _EVENT.search(text) is not None:
        up = _UP.search(text) is not None
        first, at = steepest(part.values, up=up)
        if (part.values[at] - part.values[first]) * (1 if up else -1) <= 0:
            return None
    else:
        return None
    return _told(context, part, first, at)


def _told(context: Context, part: Part, first: int, at: int) -> Verdict | None:
    """The level at the end against the one before the event and the event itself."""
    say, metric = context.say, part.metric
    last = cell(context, part, len(part) - 1)
    context.metrics.append(metric)
    if at >= len(part) - 2:
        said = say("lasting.just", metric=metric, v=cell(context, part, at), last=last)
        return _settled(context, said, part)
    # Before an extreme stand the values before it; before a fall stands the value that it began at, too.
    start = first if first == at else first + 1
    earlier = slice(max(0, start - BEFORE), start) if start else slice(at + 1, min(at + 1 + BEFORE, len(part)))
    ending = slice(max(at + 1, len(part) - ENDING), len(part))
    levels = {}
    for name, piece in (("before", earlier), ("end", ending)):
        inner = Part(metric, part.steps[piece], part.values[piece], 0, (), "")
        levels[name] = (inner, median(inner.values))
    texts = {
        name: shown(context, statistic(context, inner, f"median {name}", value, "median"), metric)
        for name, (inner, value) in levels.items()
    }
    before, end, event = levels["before"][1], levels["end"][1], part.values[at]
    stays = abs(end - before) >= abs(event - before) / 2 and (end - before) * (event - before) > 0
    count = context.ledger.count("values at the end", len(levels["end"][0]), metric=metric)
    phrase = "lasting.yes" if stays else "lasting.no"
    phrase = phrase if start else f"{phrase}_first"
    said = say(phrase, metric=metric, v=cell(context, part, at), last=last, n=count, **texts)
    return _settled(context, said, part)


def _not_finite(context: Context) -> Verdict | None:
    """Which metrics are no finite number at the last step."""
    run = context.run
    last = run.distinct_steps[-1]
    asked = central(named_keys(context)) or list(run.metrics)
    odd = [m for m in asked if (v := run.value(m, last)) is not None and not math.isfinite(float(v))]
    ever = [m for m in asked if any(not math.isfinite(float(v)) for v in run.series(m)[1])]
    if not ever:
        return None
    context.metrics.extend(odd or ever)
    if odd:
        facts = [fact for metric in odd if (fact := context.value(metric, last)) is not None]
        names = context.join([f"`{fact.metric}`" for fact in facts])
        said = context.say("lasting.nan", step=last, names=names, k=context.ledger.count("not finite", len(odd)))
    else:
        said = context.say("lasting.nan_gone", step=last, names=context.join([f"`{m}`" for m in ever]))
    context.doc.paragraph(f"**{said}**")
    context.query = replace(context.query, op=None, asked_op=None, topics=())
    return Verdict("answered", unmark(said))


def _settled(context: Context, said: str, part: Part) -> Verdict:
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*remarks(context, part))
    context.chart(context.title(part.metric), [part.metric])
    context.query = replace(context.query, op=None, asked_op=None)
    return Verdict("answered", unmark(said))
