"""When a limit of the past was reached, how many steps that took, and another metric's value there."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask import outcomes
from assistant.ask.blanking import spans_of
from assistant.ask.conditions import Condition, Kind, condition_in
from assistant.ask.context import Context
from assistant.ask.naming import absent, central, named_keys
from assistant.ask.part import cell, limit_text, part_of, remarks
from assistant.ask.scope import Scope
from assistant.ask.subject import Subject, subject_of, words_of
from assistant.ask.wording import normalised
from assistant.model import StepSlot, Verdict
from assistant.model.answer import Op
from assistant.write.document import unmark

_NUMBER: Final = re.compile(r"(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)\s*(%|％|percent)?")
_NEAR: Final = 0.05
"""How far beyond a metric's values, as a part of it, a target may lie that is still meant of it."""
_SHARE: Final = 1.5
_VALIDATED: Final = re.compile(r"(?i)\bval(?!ue)|eval|\btest")
_SCORED: Final = re.compile(rf"{_VALIDATED.pattern}|\bacc|score|reward|loss")
_FALLING: Final = re.compile(r"(?i)降|跌|掉|回落|\b(?:f[ae]ll|fell|drop|down|below|under|decreas)")
#: What makes a question one of what is to come.
_TO_COME: Final = re.compile(
    r"(?i)[会能将才还再]|可以|快要|就要|预计|预测|下去|接下来|以后|未来|(?:照|按)(?:这|目前|现在)"
    r"|\b(?:will|would|going to|until|left|more|expect\w*|predict\w*|forecast|next|eta)\b"
)
_EXTREME: Final = re.compile(r"(?i)最[大高小低长短]|峰值|顶峰|谷底|\b(?:max\w*|min(?:imum)?|peak|highest|lowest)\b")
_LEAST: Final = re.compile(r"(?i)最[小低短]|谷底|\b(?:min(?:imum)?|lowest)\b")
_PAST: Final = re.compile(r"(?i)了|\b(?:did|took|was|were|passed|reached|crossed|exceeded|hit|got|dropped|fell|rose)\b")


def reached(context: Context) -> Verdict | None:
    """A limit of the past ("什么时候到 1 的"), which the words for it would take for a forecast."""
    from assistant.ask.answer_computed import attempt

    context.query = replace(context.query, intent="lookup")
    return attempt(context)


def already(context: Context) -> Verdict | None:
    """When a metric reached the limit or the extreme named, of a question that could as well be of what is to come
    ("什么时候到 3"); ``None`` where it speaks of that, or the log does not hold it."""
    from assistant.ask.answer_computed import attempt
    from assistant.ask.answer_lookup import lookup

    found = subject_of(context)
    if found is None or _TO_COME.search(context.query.said):
        return None
    limit = condition_in(found.text)
    if limit is not None and limit.kind in {"above", "at_least", "below", "at_most"}:
        goal = limit.scaled(max(abs(v) for v in found.part.values))
        return _until(context, found, goal) if any(goal.holds(value) for value in found.part.values) else None
    if limit is not None or _EXTREME.search(found.text) is None:
        return None
    low = _LEAST.search(found.text) is not None
    op: Op = "argmin" if low else "argmax"
    context.query = replace(context.query, intent="lookup", topics=(), op=op, asked_op=op)
    return attempt(context) or lookup(context)


def steps_until(context: Context) -> Verdict | None:
    """The first step on the other side of a limit, and how many steps after the first that is.

    Returns:
        The verdict; ``None`` where no limit is named, or it is not reached and the question does not take it to be.
    """
    return _until(context, subject_of(context))


def target(context: Context) -> Verdict | None:
    """Whether a target was reached, and when; where no one metric is named, of the main one on whose scale it lies."""
    words = normalised(context.query.wording or context.query.text)
    numbers = _NUMBER.findall(words_of(context)) or _NUMBER.findall(words)
    if len(numbers) != 1:
        return None
    said = {m.key for m in context.query.mentions if m.text.lower() in words.lower()}
    found = subject_of(context)
    if found is not None and found.metric not in said:
        found = None
    level = float(numbers[0][0].replace(",", "")) / (100 if numbers[0][1] else 1)
    if found is None:
        named = central(named_keys(context)) if said else []
        named = named or [m for m in context.run.metrics if _SCORED.search(m)]
        named.sort(key=lambda metric: not _VALIDATED.search(metric))
        margin = _NEAR * abs(level)
        parts = [part for metric in named if len(part := part_of(context, metric, Scope())) > 1]
        fits = [part for part in parts if min(part.values) - margin <= level <= max(part.values) + margin]
        if not fits:
            return None
        found = Subject(fits[0].metric, words, fits[0])
    if numbers[0][1] and max(map(abs, found.part.values)) > _SHARE:
        level *= 100
    side: Kind = "at_least" if found.part.values[0] < level or _rises(context, found) else "at_most"
    return _until(context, found, Condition(side, level, level, bool(numbers[0][1])))


def _rises(context: Context, found: Subject) -> bool:
    """Whether a target of a metric is reached from below though its first value is beyond it: larger is better, and
    no word says that it falls."""
    return outcomes.direction(context, found.metric) == "higher_better" and _FALLING.search(found.text) is None


def _until(context: Context, found: Subject | None, goal: Condition | None = None) -> Verdict | None:
    if found is None:
        return None
    part = found.part
    limit = goal or _limit(found.text, part.values[0])
    if limit is None:
        return None
    limit = limit if goal else limit.scaled(max(abs(v) for v in part.values))
    place = next((p for p, value in enumerate(part.values) if limit.holds(value)), None)
    if place is None and goal is None and not _PAST.search(found.text):
        return None
    values = {"metric": found.metric, "limit": limit_text(context, limit, found.metric)}
    context.metrics.append(found.metric)
    if place is None:
        said = context.say("calc.never", over=part.over, **values)
        high = limit.kind in {"above", "at_least"}
        at = part.values.index((max if high else min)(part.values))
        line = context.say(f"calc.nearest_{'high' if high else 'low'}", v=cell(context, part, at))
    else:
        gone = part.steps[place] - part.steps[0]
        count = context.ledger.count("steps until then", gone, metric=found.metric, first_step=part.steps[0])
        said = (
            context.say("calc.first", v=cell(context, part, place), over=part.over, **values)
            if not gone
            else context.say(
                "until.steps",
                v=cell(context, part, place),
                first=cell(context, part, 0),
                n=count,
                over=part.over,
                **values,
            )
        )
        line = ""
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(line, *remarks(context, part))
    context.chart(context.title(found.metric), [found.metric])
    context.query = replace(context.query, op="first_crossing", asked_op="first_crossing")
    return Verdict("answered", unmark(said))


def _limit(text: str, first: float) -> Condition | None:
    """The condition of a question, or the side of its only number on which the first value is not."""
    limit = condition_in(text)
    if limit is not None:
        return limit
    numbers = _NUMBER.findall(text)
    if len(numbers) != 1:
        return None
    value, percent = float(numbers[0][0].replace(",", "")), bool(numbers[0][1])
    level = value / 100 if percent and abs(first) <= 2 else value
    return Condition("at_least" if first < level else "at_most", value, value, percent)


def after_crossing(context: Context) -> Verdict | None:
    """Where one metric first crossed a limit, and the course of the other from there on."""
    pair = _crossing(context)
    if pair is None:
        return None
    metric, other, limit = pair
    part = part_of(context, metric, Scope())
    limit = limit.scaled(max(abs(v) for v in part.values)) if len(part) else limit
    place = next((p for p, value in enumerate(part.values) if limit.holds(value)), None)
    values = {"metric": metric, "limit": limit_text(context, limit, metric), "over": part.over}
    context.metrics.append(metric)
    if place is None:
        said = context.say("calc.never", **values)
        context.doc.paragraph(f"**{said}**")
        return Verdict("inconclusive", unmark(said))
    context.doc.paragraph(context.say("calc.first", v=cell(context, part, place), **values))
    first, last = part.steps[place], context.run.distinct_steps[-1]
    mentions = tuple(m for m in context.query.mentions if m.key == other)
    slot = StepSlot("range", (first, last))
    context.query = replace(context.query, mentions=mentions, steps=slot, threshold=None, op=None, asked_op=None)
    from assistant.ask.answer_trend import trend

    return trend(context)


def at_crossing(context: Context) -> Verdict | None:
    """Where one metric first crossed a limit, and the other metric's value there."""
    pair = _crossing(context)
    if pair is None:
        return None
    metric, other, limit = pair
    part = part_of(context, metric, Scope())
    if not len(part):
        return None
    limit = limit.scaled(max(abs(v) for v in part.values))
    place = next((p for p, value in enumerate(part.values) if limit.holds(value)), None)
    values = {"metric": metric, "limit": limit_text(context, limit, metric), "over": part.over}
    context.metrics.extend([metric, other])
    context.query = replace(context.query, op="first_crossing", asked_op="first_crossing")
    if place is None:
        said = context.say("calc.never", **values)
        context.doc.paragraph(f"**{said}**")
        return Verdict("answered", unmark(said))
    here = context.value(other, part.steps[place])
    said = context.say("calc.first", v=cell(context, part, place), **values)
    there = (
        absent(context, other, [part.steps[place]])
        if here is None
        else context.say("calc.at_step", metric=other, v=here)
    )
    context.doc.paragraph(f"**{said}{'' if context.language == 'zh' else ' '}{there}**")
    context.doc.paragraph(*remarks(context, part))
    return Verdict("answered", unmark(said))


def _crossing(context: Context) -> tuple[str, str, Condition] | None:
    """The metric that a limit is for, the other one named, and the limit; ``None`` where the question has no such."""
    keys = central(named_keys(context))
    limit = condition_in(words_of(context))
    if len(keys) != 2 or limit is None:
        return None
    text = normalised(context.query.wording or context.query.text)
    places = {m.key: spans[0][0] for m in context.query.mentions if m.key in keys and (spans := spans_of(text, m))}
    if len(places) != 2:
        return None
    at = next(
        (m.start() for m in _NUMBER.finditer(text) if float(m[1].replace(",", "")) in {limit.low, limit.high}), None
    )
    if at is None:
        return None
    before = [key for key in keys if places[key] < at]
    metric = max(before or keys, key=lambda key: places[key])
    return metric, next(key for key in keys if key != metric), limit
