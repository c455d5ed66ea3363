"""Whether a metric is always the value that a question names, and from which step on it is: "一直是 1024 吗"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.context import Context
from assistant.ask.part import Part, cell, remarks
from assistant.ask.subject import Subject, subject_of
from assistant.model import Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import format_number

_NUMBER: Final = re.compile(r"(?<![\w.])(?P<digits>-?\d{1,12}(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?)\s*(?P<share>%|％)?")
_HOW_OFTEN: Final = re.compile(r"(?i)\bhow (?:many|often)\b|多少[次步个轮]|几[次步个轮]|[次步]数")
_ZERO: Final = re.compile(r"(?i)[变归清]\s*(?:成|为|到|了)?\s*零|\bzero\b")


def always(context: Context) -> Verdict | None:
    """Whether every value is the one named; ``None`` where no one metric or no value is named."""
    if _HOW_OFTEN.search(context.query.text):
        return None
    found = subject_of(context, least=2)
    wanted = None if found is None else _value(found)
    if found is None or wanted is None or context.query.steps.kind not in {"none", "all", "range"}:
        return None
    part, metric = found.part, found.metric
    alike = _alike(part, wanted)
    count = context.ledger.count("values", len(part), metric=metric)
    many = context.ledger.count("values as named", len(alike), metric=metric)
    values = {"metric": metric, "n": count, "k": many, "target": _shown(context, wanted, metric), "over": part.over}
    if len(alike) == len(part):
        said = context.say("always_value.yes", **values)
    else:
        other = next(place for place in range(len(part)) if place not in alike)
        low, high = (cell(context, part, part.values.index(pick(part.values))) for pick in (min, max))
        said = context.say(
            "always_value.no" if alike else "always_value.never", other=cell(context, part, other), low=low, high=high,
            **values,
        )  # fmt: skip
    return _told(context, found, said)


def became(context: Context) -> Verdict | None:
    """From which step on a metric has the value named; ``None`` where it never does, or no value is named."""
    found = subject_of(context, least=2)
    if found is None or context.query.steps.kind not in {"none", "all"}:
        return None
    wanted = (0.0, 0.0) if _ZERO.search(found.text) else _value(found)
    alike = [] if wanted is None else sorted(_alike(found.part, wanted))
    if wanted is None or not alike or alike[0] == 0:
        return None
    part, metric, first = found.part, found.metric, alike[0]
    left = [place for place in range(first, len(part)) if place not in set(alike)]
    values = {
        "metric": metric, "v": cell(context, part, first), "before": cell(context, part, first - 1),
        "last": cell(context, part, len(part) - 1),
        "n": context.ledger.count("values from there on", len(part) - first, metric=metric),
        "k": context.ledger.count("of them as named", len(part) - first - len(left), metric=metric),
    }  # fmt: skip
    return _told(context, found, context.say("became.part" if left else "became.all", **values))


def _value(found: Subject) -> tuple[float, float] | None:
    """The value that a question names and how far from it a value may lie to be shown so; ``None`` for none."""
    match = _NUMBER.search(found.text)
    if match is None:
        return None
    scale = 0.01 if match["share"] else 1.0
    value = float(match["digits"])
    size, _, exponent = match["digits"].lower().partition("e")
    last = 10.0 ** (int(exponent or 0) - len(size.partition(".")[2]))
    near = 0.5 * last * scale if "." in size or exponent else 1e-9 * max(1.0, abs(value))
    return value * scale, near * (1 + 1e-9)


def _alike(part: Part, wanted: tuple[float, float]) -> set[int]:
    return {place for place, value in enumerate(part.values) if abs(value - wanted[0]) <= wanted[1]}


def _shown(context: Context, wanted: tuple[float, float], metric: str) -> str:
    fact = context.ledger.constant("value named", wanted[0], "the question")
    return mark(fact.id, format_number(wanted[0], context.kind_of(metric), language=context.language))


def _told(context: Context, found: Subject, said: str) -> Verdict:
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*remarks(context, found.part))
    context.metrics.append(found.metric)
    context.chart(context.title(found.metric), [found.metric])
    context.query = replace(context.query, op=None, asked_op=None, threshold=None)
    return Verdict("answered", unmark(said))
