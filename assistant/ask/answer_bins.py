"""A metric in stretches of so many steps ("reward 每 50 步的平均"), and its last so many values one by one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from assistant.ask.context import Context
from assistant.ask.part import cell, part_of, remarks, shown, statistic
from assistant.ask.scope import scope_in
from assistant.ask.subject import subject_of, words_of
from assistant.model import Verdict
from assistant.write.document import unmark

_WIDTH: Final = re.compile(r"(?i)(?:每|every|each|per|by|of)\s*隔?\s*(\d{1,6})")
_LAST: Final = re.compile(r"(?i)(?:最后|最近|末尾?|倒数|last|final|latest)\s*的?\s*(\d{1,5})")
_VALUES: Final[tuple[tuple[str, str, Callable[[Sequence[float]], float]], ...]] = (
    ("median", r"(?i)中位数|\bmedian\b", median),
    ("mean", r"(?i)平均|均值|\bmean\b|\baverage", lambda values: math.fsum(values) / len(values)),
    ("max", r"(?i)最[高大长多慢]|\b(?:max\w*|highest|largest)\b", max),
    ("min", r"(?i)最[低小短少快]|\b(?:min\w*|lowest|smallest)\b", min),
)
_PER: Final = re.compile(r"(?i)\b(?:per|by)(?: every)? \d+ \w+\W*$")
#: Rows of a table at most.
MOST: Final = 40


def bins(context: Context) -> Verdict | None:
    """The statistic asked for over each stretch of so many steps; ``None`` without one metric or a width."""
    found = subject_of(context, several=True)
    text = words_of(context)
    match = _WIDTH.search(text)
    if found is None or match is None or int(match[1]) < 2:
        return None
    width, part = int(match[1]), found.part
    name, value = next(((name, value) for name, words, value in _VALUES if re.search(words, text)), (None, None))
    if name is None or value is None:
        if not _PER.search(text):
            return None
        name, _, value = _VALUES[1]  # "loss per 100 iterations": its mean
    start = part.steps[0]
    groups: dict[int, list[int]] = {}
    for place, step in enumerate(part.steps):
        groups.setdefault((step - start) // width, []).append(place)
    if not 1 < len(groups) <= MOST:
        return None
    rows, told = [], []
    for places in groups.values():
        piece = replace(part, steps=tuple(part.steps[p] for p in places), values=tuple(part.values[p] for p in places))
        fact = statistic(context, piece, name, value(piece.values), name)
        count = context.ledger.count("values of a stretch", len(piece), first_step=piece.steps[0], metric=part.metric)
        span = f"{context.doc.step(piece.steps[0])}–{context.doc.step(piece.steps[-1])}"
        rows.append([span, shown(context, fact, part.metric), context.doc.show(count, None, "integer")])
        told.append(fact)
    width_fact = context.ledger.constant("width of a stretch", width, "the question")
    first, last = (shown(context, fact, part.metric) for fact in (told[0], told[-1]))
    how = context.say(f"conditioned.{name}")
    said = context.say(
        "bins.lead", metric=part.metric, k=width_fact, how=how, first=first, last=last,
        n=context.ledger.count("stretches", len(rows), metric=part.metric),
    )  # fmt: skip
    context.doc.paragraph(f"**{said}**")
    context.doc.table([context.say(f"bins.{head}") for head in ("steps", "value", "count")], rows)
    context.doc.paragraph(*remarks(context, part))
    context.metrics.append(part.metric)
    context.chart(context.title(part.metric), [part.metric])
    context.query = replace(context.query, op="mean" if name == "mean" else None, asked_op=None)
    return Verdict("answered", unmark(said))


def last_values(context: Context) -> Verdict | None:
    """The last so many values of a metric, each with its step."""
    text = words_of(context)
    match = _LAST.search(text)
    found = subject_of(context, least=1, several=True)
    if found is None or match is None or not 1 < int(match[1]) <= MOST:
        return None
    part = part_of(context, found.metric, replace(scope_in("", context.train_steps), latest=int(match[1])))
    count = context.ledger.count("last values", len(part), metric=part.metric)
    items = context.join(context.say("calc.item", v=cell(context, part, place)) for place in range(len(part)))
    said = context.say("bins.last", metric=part.metric, n=count, items=items)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*remarks(context, part))
    context.metrics.append(part.metric)
    context.query = replace(context.query, op=None, asked_op=None)
    return Verdict("answered", unmark(said))
