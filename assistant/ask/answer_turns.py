"""Where a metric went over to one side for good, where a share of its way was done, and how often it rose or fell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from assistant.ask.computed import SMALL_IS_GOOD
from assistant.ask.conditions import Condition, condition_in
from assistant.ask.context import Context
from assistant.ask.part import cell, limit_text, remarks
from assistant.ask.subject import subject_of, words_of
from assistant.model import Verdict
from assistant.model.answer import Op
from assistant.write.document import unmark

_SHARES: Final = (
    (1 / 2, r"half|一半|二分之一|50 ?%"),
    (1 / 3, r"(?:a |one )third|三分之一"),
    (2 / 3, r"two[- ]thirds|三分之二"),
    (1 / 4, r"(?:a |one )quarter|四分之一|25 ?%"),
    (3 / 4, r"three[- ]quarters|四分之三|75 ?%"),
)
_PERCENT: Final = re.compile(r"(\d{1,2}(?:\.\d+)?)\s*(?:%|％|percent)")
_FELL: Final = re.compile(r"(?i)跌|掉|降|低|变[小短少]|\bf[ae]ll|drop|decreas|declin|down|lower")
_ROSE: Final = re.compile(r"(?i)涨|升|高|变[大长多]|\bris|\brose|increas|\bup\b|higher|gain|improv")


def for_good(context: Context) -> Verdict | None:
    """From which step on every value meets a condition ("stays below 0.15 for good")."""
    found = subject_of(context, least=3)
    limit = None if found is None else condition_in(found.text)
    if limit is None and context.query.threshold is not None:  # "shorter than 100": the side is in the metric's name
        side, value = context.query.threshold
        limit = Condition("above" if side == "above" else "below", value, value)
    if found is None or limit is None:
        return None
    part = found.part
    limit = limit.scaled(max(abs(value) for value in part.values))
    values = {"metric": found.metric, "limit": limit_text(context, limit, found.metric), "over": part.over}
    outside = [place for place, value in enumerate(part.values) if not limit.holds(value)]
    last = len(part) - 1
    at = _mostly(part.values, limit) if outside and _MOSTLY.search(context.query.said) else None
    if at is not None:
        held = context.ledger.count("values that meet it", sum(map(limit.holds, part.values[at:])), metric=found.metric)
        rest = context.ledger.count("values from there on", last - at + 1, metric=found.metric)
        ends = {"v": cell(context, part, at), "last": cell(context, part, outside[-1])}
        said = context.say("good.mostly", n=rest, k=held, **ends, **values)
        return _told(context, found.metric, said, "first_crossing", remarks(context, part))
    if not outside:
        said = context.say("good.always", v=cell(context, part, 0), **values)
    elif outside[-1] == last:
        said = context.say("good.never", last=cell(context, part, last), **values)
    else:
        at = outside[-1] + 1
        rest = context.ledger.count("values from there on", last - at + 1, metric=found.metric)
        before = cell(context, part, outside[-1])
        said = context.say("good.since", v=cell(context, part, at), n=rest, before=before, **values)
    return _told(context, found.metric, said, "first_crossing", remarks(context, part))


#: "Basically above 5": so large a part of the values from there on, and of so many at least.
_MOSTLY: Final = re.compile(r"(?i)基本|大体|大致|\b(?:mostly|basically|largely)\b")
_MOST, _FEWEST = 0.9, 10


def _mostly(values: Sequence[float], limit: Condition) -> int | None:
    """The first place from which on nearly all values meet a condition; ``None`` where none is early enough."""
    kept, found = 0, None
    for place in range(len(values) - 1, -1, -1):
        kept += limit.holds(values[place])
        left = len(values) - place
        if limit.holds(values[place]) and left >= _FEWEST and kept >= _MOST * left:
            found = place
    return found


def share_of_way(context: Context) -> Verdict | None:
    """At which step a share of the way from a metric's first to its last value had been gone."""
    found = subject_of(context, least=3)
    share = _share(words_of(context))
    if found is None or share is None:
        return None
    part = found.part
    first, last = part.values[0], part.values[-1]
    if first == last:
        return None
    target = first + share * (last - first)
    at = next(place for place, value in enumerate(part.values) if (value - target) * (last - first) >= 0)
    change = context.ledger.change(found.metric, part.steps[0], part.steps[-1])
    if change is None:
        return None
    part_of_it = context.ledger.constant("share of the change", share, "the question", "fraction")
    level = context.ledger.derived(
        f"{found.metric} after {share:.4g} of its change", target, inputs=[change],
        formula="first value + share × (last value − first value)",
    )  # fmt: skip
    said = context.say(
        "way.share", metric=found.metric, c=change, share=part_of_it, v=cell(context, part, at), over=part.over,
        level=context.doc.show(level, None, context.kind_of(found.metric)),
    )  # fmt: skip
    return _told(context, found.metric, said, "first_crossing", remarks(context, part))


def _share(text: str) -> float | None:
    """The share that a question names, of what is done."""
    for value, words in _SHARES:
        if re.search(rf"(?i){words}", text):
            return value
    match = _PERCENT.search(text)
    return None if match is None else float(match[1]) / 100


_WORSE: Final = re.compile(r"(?i)(\bworse\b|差)|\bbetter\b|好")


#: Whether it moved so every time: "每次 eval 都涨吗", "did it rise at every eval".
_EVERY: Final = re.compile(r"(?i)每[^,，。?]{0,10}都|单调|\bmonoton|\b(?:every|each)\b")


def moves_counted(context: Context) -> Verdict | None:
    """At how many steps a metric was above (or below) its value before."""
    found = subject_of(context, least=2)
    if found is None:
        return None
    part, text = found.part, words_of(context)
    down, up = _FELL.search(text) is not None, _ROSE.search(text) is not None
    if down == up and (judged := _WORSE.search(text)) is not None:
        down = (judged[1] is not None) != bool(SMALL_IS_GOOD.search(found.metric))
        up = not down
    if down == up:
        return None
    ups = sum(b > a for a, b in pairwise(part.values))
    downs = sum(b < a for a, b in pairwise(part.values))
    total = context.ledger.count("moves between neighbouring values", len(part) - 1, metric=found.metric)
    counts = {
        "u": context.ledger.count("rises from one value to the next", ups, metric=found.metric),
        "d": context.ledger.count("falls from one value to the next", downs, metric=found.metric),
    }
    said = context.say("moves.falls" if down else "moves.rises", metric=found.metric, n=total, over=part.over, **counts)
    if _EVERY.search(text):
        gap = "" if context.language == "zh" else " "
        alike = (downs if down else ups) == len(part) - 1
        said = context.say("moves.every" if alike else "moves.not_every") + gap + said
    return _told(context, found.metric, said, "count", remarks(context, part))


def change_at(context: Context) -> Verdict | None:
    """By how much a metric moved at the step named, from its value before."""
    found = subject_of(context, least=2)
    slot = context.query.steps
    if found is None or slot.kind != "single" or slot.values[0] not in found.part.steps[1:]:
        return None
    at = found.part.steps.index(slot.values[0])
    change = context.ledger.change(found.metric, found.part.steps[at - 1], found.part.steps[at])
    if change is None or change.delta is None:
        return None
    said = context.say("way.step", metric=found.metric, c=change)
    context.doc.paragraph(f"**{said}**")
    if change.significant is False:
        context.doc.paragraph(context.say("rel.within_noise", limit=context.bound(change)))
    context.metrics.append(found.metric)
    context.chart(context.title(found.metric), [found.metric])
    return Verdict("answered", unmark(said))


def ends_and_extremes(context: Context) -> Verdict | None:
    """First, last, lowest and highest value in one sentence ("start, best, end")."""
    found = subject_of(context, least=3)
    if found is None or re.search(r"\d", words_of(context)):
        return None
    part = found.part
    low, high = (cell(context, part, part.values.index(pick(part.values))) for pick in (min, max))
    said = context.say(
        "aspect.ends", metric=found.metric, first=cell(context, part, 0), last=cell(context, part, len(part) - 1),
        low=low, high=high, over=part.over,
    )  # fmt: skip
    return _told(context, found.metric, said, None, remarks(context, part))


def _told(context: Context, metric: str, said: str, op: Op | None, lines: Sequence[str]) -> Verdict:
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*lines)
    context.metrics.append(metric)
    context.chart(context.title(metric), [metric])
    context.query = replace(context.query, op=op, asked_op=op)
    return Verdict("answered", unmark(said))
