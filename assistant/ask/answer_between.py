"""How far a metric is from a number named; which of two metrics broke first; since when one is no longer zero."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Final

from assistant.ask.answer_events import FACTORS, SUDDEN, steepest
from assistant.ask.context import Context
from assistant.ask.naming import central, named_keys
from assistant.ask.part import Part, cell, part_of, remarks
from assistant.ask.parts import number
from assistant.ask.scope import Scope
from assistant.ask.subject import subject_of
from assistant.model import Fact, StepSlot, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import signed

_NUMBER: Final = re.compile(
    r"(?i)(?:\b(?:above|below|over|under|from|off|short of|to|past)\s+(?:the )?|(?:离|距离?|比)\s*)"
    r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)\s*(%|percent\b)?"
    r"(?!\s*(?:steps?|iterations?|epochs?)\b)"
)
_UP: Final = re.compile(r"(?i)ris|rose|jump|spik|climb|explo|blow|blew|surg|shoot|shot up|grow|grew|涨|升|炸|爆|飙")
_DOWN: Final = re.compile(r"(?i)collaps|crash|drop|fall|fell|plung|tank|dip|declin|shr[iau]nk|崩|塌|跌|掉|降")
LEAST: Final = 6


def distance(context: Context) -> Verdict | None:
    """How far the value at the step named (the latest where none is) lies above or below a number."""
    found = subject_of(context, least=1)
    match = None if found is None else _NUMBER.search(found.text)
    slot = context.query.steps
    if found is None or match is None or slot.kind not in {"none", "all", "last", "first", "single"}:
        return None
    part, metric = found.part, found.metric
    if slot.kind == "single" and slot.values[0] not in part.steps:
        return None
    at = part.steps.index(slot.values[0]) if slot.kind == "single" else 0 if slot.kind == "first" else len(part) - 1
    value, kind = cell(context, part, at), context.kind_of(metric)
    target = float(match[1])
    if kind == "fraction" and (match[2] or abs(target) > 1.5):
        target /= 100
    named = context.ledger.constant("number named", target, "the question")
    gap = context.ledger.derived(
        f"distance of {metric} from {target:g}", abs(number(value) - target), inputs=[value, named], step=value.step,
        formula=f"|{metric} − {target:g}|",
    )  # fmt: skip
    side = "on" if number(value) == target else "above" if number(value) > target else "below"
    shown = mark(gap.id, signed(number(gap), kind, language=context.language).lstrip("+"))
    values = {"v": value, "metric": metric, "target": context.doc.show(named, None, kind)}
    said = context.say(f"between.{side}", **(values if side == "on" else {**values, "gap": shown}))
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*remarks(context, part))
    context.metrics.append(metric)
    context.query = replace(context.query, op=None, asked_op=None, threshold=None)
    return Verdict("answered", unmark(said))


def order(context: Context) -> Verdict | None:
    """Which of two metrics moved most steeply first, each the way that the question says (or the way it went)."""
    keys = central(named_keys(context))
    text = context.query.said
    if len(keys) != 2:
        return None
    if (broken := _not_finite_first(context, keys)) is not None:
        return broken
    if (reached := _reached_first(context, keys)) is not None:
        return reached
    told = []
    for metric in keys:
        part = part_of(context, metric, Scope())
        if len(part) < LEAST:
            return None
        up, down = _UP.search(text) is not None, _DOWN.search(text) is not None
        rising = up if up != down else part.values[-1] > part.values[0]
        first, last = _steepest(part, rising)
        told.append((metric, part, first, last, rising))
    told.sort(key=lambda one: one[1].steps[one[2]])
    (m, a, a0, a1, _), (n, b, b0, b1, _) = told
    starts = a.steps[a0], b.steps[b0]
    values = {"metric": m, "a": cell(context, a, a0), "b": cell(context, a, a1), "other": n,
              "c": cell(context, b, b0), "d": cell(context, b, b1)}  # fmt: skip
    said = context.say("between.together" if starts[0] == starts[1] else "between.order", **values)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*[context.say("between.gradual", metric=one[0]) for one in told if not _sudden(*one[1:4])])
    context.metrics.extend((m, n))
    context.chart(context.title(m), [m])
    context.chart(context.title(n), [n])
    context.query = replace(context.query, op=None, asked_op=None, topics=())
    return Verdict("answered", unmark(said), "medium")


_VALUE = re.compile(
    r"(?i)(?:到|达到|超过|升到|涨到|低于|降到|跌到|跌破"
    r"|\b(?:to|at|reach\w*|hits?|above|over|exceed\w*|below|under|down to))\s*"
    r"(?P<value>-?\d+(?:\.\d+)?)\s*(?P<percent>%)?(?!\s*(?:步|steps?|条))"
)
_UNDER = re.compile(r"(?i)低于|降到|跌到|跌破|\b(?:below|under|down to|falls? to|drops? to)")


def _reached_first(context: Context, keys: list[str]) -> Verdict | None:
    """Which of two metrics comes to a value first; ``None``: the question names no value, or neither gets there."""
    match = _VALUE.search(context.query.said)
    if match is None:
        return None
    limit = float(match["value"]) / (100 if match["percent"] else 1)
    below = _UNDER.search(context.query.said) is not None
    first: dict[str, Fact] = {}
    for metric in keys:
        cells = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
        met = [f for f in cells if (number(f) <= limit if below else number(f) >= limit)]
        if met:
            first[metric] = met[0]
    if not first:
        return None
    lead = min(first, key=lambda metric: first[metric].step or 0)
    other = next(metric for metric in keys if metric != lead)
    if other in first:
        same = first[lead].step == first[other].step
        name, w = ("between.reached_together" if same else "between.reached_both"), first[other]
    else:
        cells = [f for s in context.run.series(other)[0] if (f := context.value(other, s)) is not None]
        name, w = "between.reached_one", (min if below else max)(cells, key=number)
    said = context.say(name, metric=lead, v=first[lead], other=other, w=w)
    context.doc.paragraph(f"**{said}**")
    context.metrics.extend((lead, other))
    context.query = replace(context.query, op=None, asked_op=None, topics=(), steps=StepSlot("all"))
    return Verdict("answered", unmark(said))


def _not_finite_first(context: Context, keys: list[str]) -> Verdict | None:
    """Where one of two metrics turns into no finite number, that is its break; ``None`` where neither does."""
    odd = {}
    for metric in keys:
        steps, values = context.run.series(metric)
        first = next((s for s, v in zip(steps, values, strict=True) if not math.isfinite(v)), None)
        if first is not None:
            odd[metric] = first
    if not odd:
        return None
    lead = min(odd, key=lambda metric: odd[metric])
    other = next(metric for metric in keys if metric != lead)
    fact = context.value(lead, odd[lead])
    if other in odd:
        second = context.value(other, odd[other])
        said = context.say("between.nan_both", metric=lead, v=fact, other=other, w=second)
    else:
        held = context.run.series(other)[0]
        last = context.value(other, held[-1])
        said = context.say("between.nan_one", metric=lead, v=fact, other=other, w=last)
    context.doc.paragraph(f"**{said}**")
    context.metrics.extend(keys)
    context.query = replace(context.query, op=None, asked_op=None, topics=())
    return Verdict("answered", unmark(said), "medium")


def _steepest(part: Part, rising: bool) -> tuple[int, int]:
    """The steepest stretch; a fall by factors counts by its ratio."""
    values = part.values
    if not rising and min(values) > 0 and max(values) > FACTORS * min(values):
        values = tuple(math.log(value) for value in values)
    return steepest(values, up=rising)


def _sudden(part: Part, first: int, last: int) -> bool:
    usual = median(abs(b - a) for a, b in pairwise(part.values))
    return abs(part.values[last] - part.values[first]) > SUDDEN * usual


def start(context: Context) -> Verdict | None:
    """Since when a metric that was zero at first is not; ``None`` where it was not zero at first, or always is."""
    found = subject_of(context, least=3)
    if found is None or context.query.threshold is not None or context.query.steps.kind not in {"none", "all"}:
        return None
    part = found.part
    at = next((place for place, value in enumerate(part.values) if value != 0), None)
    if not at:
        return None
    rest = part.values[at:]
    zero = sum(value == 0 for value in rest)
    values = {
        "metric": found.metric, "v": cell(context, part, at), "over": part.over,
        "k": context.ledger.count("zero values before", at, metric=found.metric),
    }  # fmt: skip
    said = context.say("between.start", **values)
    last = cell(context, part, len(part) - 1)
    context.doc.paragraph(f"**{said}**")
    if zero:
        count = context.ledger.count("zero values since", zero, metric=found.metric)
        line = context.say("between.start_again", n=count, last=last)
    else:
        line = context.say("between.start_stays", last=last)
    context.doc.paragraph(line, *remarks(context, part))
    context.metrics.append(found.metric)
    context.chart(context.title(found.metric), [found.metric])
    context.query = replace(context.query, op="first_crossing", asked_op="first_crossing")
    return Verdict("answered", unmark(said))
