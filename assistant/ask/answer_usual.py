"""Values against what is usual: steps beyond so many times the median, an extreme against the mean, against the start;
and the step at which a metric turns."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Final

from assistant.analysis.forecast import STEP_TIMES
from assistant.analysis.timing import layout_of, total_key
from assistant.ask.computed import SMALL_IS_GOOD
from assistant.ask.context import Context
from assistant.ask.lexicon import words
from assistant.ask.part import Part, cell, part_of, remarks, shown, statistic
from assistant.ask.parts import number
from assistant.ask.scope import Scope
from assistant.ask.subject import Subject, subject_of, words_of
from assistant.model import Fact, Verdict
from assistant.model.answer import Op
from assistant.write.document import mark, unmark

_FIGURES: Final = {"两": 2.0, "二": 2.0, "三": 3.0, "四": 4.0, "五": 5.0, "twice": 2.0, "double": 2.0, "一": 1.0}
MOST: Final = 24
#: Fewest values from which a usual one can be told, and after a turn.
LEAST, AFTER = 4, 2


def _told(context: Context, part: Part, said: str, op: Op | None, *lines: str) -> Verdict:
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*[line for line in lines if line], *remarks(context, part))
    context.metrics.append(part.metric)
    context.chart(context.title(part.metric), [part.metric])
    context.query = replace(context.query, op=op, asked_op=op)
    return Verdict("answered", unmark(said))


def _word(name: str) -> re.Pattern[str]:
    return words("usual")[name]


def _level(context: Context, part: Part) -> tuple[str, Fact]:
    """The mean where it is named, else the median: what is usual."""
    if _word("mean").search(words_of(context)):
        return "mean", statistic(context, part, "mean", math.fsum(part.values) / len(part), "mean")
    return "median", statistic(context, part, "median", median(part.values), "median")


def times_usual(context: Context) -> Verdict | None:
    """At which steps a metric is beyond so many times its median (its mean, where that is named)."""
    found = subject_of(context, least=LEAST, several=True)
    match = _word("times").search(words_of(context))
    if found is None or match is None:
        return None
    part, said = found.part, match["n"]
    count = float(said) if said[0].isdigit() else _FIGURES.get(said)
    which, level = _level(context, part)
    if count is None or count <= 0 or number(level) <= 0:
        return None
    limit = count * number(level)
    places = [place for place, value in enumerate(part.values) if value > limit]
    factor = context.ledger.constant("multiple", count, "the question")
    bound = context.ledger.derived(
        f"{count:g} times the {which} of {part.metric}", limit, inputs=[factor, level], formula=f"{count:g} × {which}"
    )
    values = {
        "metric": part.metric, "which": context.say(f"usual.{which}"), "level": shown(context, level, part.metric),
        "times": mark(factor.id, f"{count:g}"), "limit": shown(context, bound, part.metric), "over": part.over,
    }  # fmt: skip
    top = cell(context, part, part.values.index(max(part.values)))
    if not places:
        return _told(context, part, context.say("usual.none", top=top, **values), "count")
    k = context.ledger.count(f"steps above {count:g} times the {which}", len(places), metric=part.metric)
    text = context.say("usual.some", k=k, first=cell(context, part, places[0]), top=top, **values)
    steps = [part.steps[place] for place in places]
    line = context.say("calc.steps", steps=context.doc.show(steps)) if 1 < len(steps) <= MOST else ""
    return _told(context, part, text, "count", line)


def _timed(context: Context) -> Subject | None:
    """The metric named, else the time of a step."""
    found = subject_of(context, least=LEAST, several=True)
    if found is not None:
        return found
    layout = layout_of(context.run)
    key = None if layout is None else total_key(context.run, layout)
    key = key or next((name for name in STEP_TIMES if name in context.run.columns), None)
    part = None if key is None else part_of(context, key, Scope())
    return None if key is None or part is None or len(part) < LEAST else Subject(key, words_of(context), part)


def extreme_against_mean(context: Context) -> Verdict | None:
    """The largest (smallest) value, and how many times the mean (the median) it is."""
    found = _timed(context)
    if found is None:
        return None
    part = found.part
    which, level = _level(context, part)
    low = _word("low").search(words_of(context)) is not None
    top = cell(context, part, part.values.index((min if low else max)(part.values)))
    if number(level) <= 0:
        return None
    ratio = context.ledger.derived(
        f"extreme of {part.metric} / {which}", number(top) / number(level), inputs=[top, level],
        formula=f"extreme / {which}",
    )  # fmt: skip
    values = {
        "metric": part.metric, "v": top, "which": context.say(f"usual.{which}"), "over": part.over,
        "level": shown(context, level, part.metric), "ratio": context.doc.show(ratio, None, "number"),
    }  # fmt: skip
    text = context.say("usual.extreme_low" if low else "usual.extreme_high", **values)
    return _told(context, part, text, "argmin" if low else "argmax")


def of_first(context: Context) -> Verdict | None:
    """What part of its first (its highest) value the last one is, or how many times it."""
    found = subject_of(context, least=2, several=True)
    if found is None:
        return None
    part, text = found.part, words_of(context)
    peak = _word("peak").search(text) is not None
    first = cell(context, part, part.values.index(max(part.values)) if peak else 0)
    last = cell(context, part, len(part) - 1)
    if number(first) == 0 or number(first) * number(last) < 0:
        return None
    if _word("share").search(text):
        fact = context.ledger.derived(
            f"{part.metric}: last as a share of {'the highest' if peak else 'the first'}", number(last) / number(first),
            inputs=[last, first], formula="last / first", unit="fraction",
        )  # fmt: skip
        share = context.doc.show(fact)
    else:
        fact = context.ledger.derived(
            f"{part.metric}: last as times {'the highest' if peak else 'the first'}", number(last) / number(first),
            inputs=[last, first], formula="last / first",
        )  # fmt: skip
        share = context.say("conditioned.times", k=context.doc.show(fact, None, "number"))
    phrase = "usual.of_peak" if peak else "usual.of_first"
    said = context.say(phrase, metric=part.metric, first=first, last=last, share=share)
    return _told(context, part, said, None)


def turning(context: Context) -> Verdict | None:
    """From which step a metric goes the other way: its lowest (highest) value, and what came after."""
    found = subject_of(context, least=LEAST)
    if found is None:
        return None
    part, text = found.part, words_of(context)
    up, down = (_word(name).search(text) is not None for name in ("turns_up", "turns_down"))
    if not up and not down:  # "gets worse": against what is good
        up = SMALL_IS_GOOD.search(part.metric) is not None
    place = part.values.index((min if up else max)(part.values))
    side = "up" if up else "down"
    ends = {"metric": part.metric, "at": cell(context, part, place), "last": cell(context, part, len(part) - 1)}
    if len(part) - 1 - place < AFTER:
        return _told(context, part, context.say(f"usual.no_turn_{side}", over=part.over, **ends), None)
    later = part.values[place:]
    moved = sum((b > a) == up and a != b for a, b in pairwise(later))
    total = context.ledger.count("moves after the turn", len(later) - 1, metric=part.metric)
    count = context.ledger.count(f"moves {side} after the turn", moved, metric=part.metric)
    text = context.say(f"usual.turn_{side}", k=count, n=total, **ends)
    if place == 0:
        text = context.say(f"usual.always_{side}", k=count, n=total, **ends)
    return _told(context, part, text, "argmin" if up else "argmax")
