"""A smoothed series told by its ends and extremes, and which metrics go together with one."""

from __future__ import annotations

import math
import re
from typing import Final

from assistant.analysis.association import LEAST, correlation
from assistant.ask.context import Context, key
from assistant.ask.part import Part, remarks, shown, statistic
from assistant.ask.parts import number
from assistant.ask.subject import subject_of
from assistant.ask.telling import trend_sentence
from assistant.model import Verdict
from assistant.write.document import unmark

_WINDOW: Final = re.compile(
    r"(?i)(?:window|窗口|窗)\s*(?:of|size|大小|=|是|为)?\s*(\d{1,5})|(\d{1,5})\s*(?:-|个)?\s*(?:步|steps?|points?|点)"
)
#: A window takes this share of the points where the question names none, but at least so many.
SHARE, LEAST_WINDOW = 0.1, 3
#: Names that only count, or that tell the plan rather than what came of it.
_COUNTS: Final = re.compile(
    r"(?i)(?:^|[/_])(?:epochs?|global_?steps?|steps?|iter(?:ation)?s?|episodes?|total_\w+|num_tokens|elapsed\w*|percentage|updates?)$"
)
MOST_LISTED: Final = 6


def smoothed(context: Context) -> Verdict | None:
    """The moving average of one metric: where it began, ended, was highest and lowest; and the trend of the values."""
    found = subject_of(context, least=LEAST_WINDOW + 1)
    if found is None:
        return None
    part = found.part
    named = _WINDOW.search(found.text)
    width = int(next(group for group in named.groups() if group)) if named else 0
    if not 1 < width <= len(part):
        width = min(len(part), max(LEAST_WINDOW, round(SHARE * len(part))))
    means = [math.fsum(part.values[at : at + width]) / width for at in range(len(part) - width + 1)]
    trend = context.ledger.trend(found.metric, list(part.steps))
    if trend is None:
        return None

    def told(place: int) -> dict[str, str | int]:
        inner = Part(part.metric, part.steps[place : place + width], part.values[place : place + width], 0, (), "")
        fact = statistic(context, inner, "mean", means[place], "mean")
        return {"v": shown(context, fact, part.metric), "a": inner.steps[0], "b": inner.steps[-1]}

    context.metrics.append(found.metric)
    places = {"first": 0, "last": len(means) - 1, "high": means.index(max(means)), "low": means.index(min(means))}
    values = {f"{name}_{field}": v for name, place in places.items() for field, v in told(place).items()}
    count = (
        context.ledger.constant("window", width, "the question")
        if named
        else context.ledger.count("values in a window", width)
    )
    way = "up" if means[-1] > means[0] else "down" if means[-1] < means[0] else "level"
    text = context.say(f"smooth.{way}", metric=found.metric, w=count, **values)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(trend_sentence(context, found.metric, trend, list(part.steps)), *remarks(context, part))
    context.chart(context.title(found.metric), [found.metric])
    return Verdict(trend.direction or "inconclusive", unmark(text))


def companions(context: Context) -> Verdict | None:
    """The metrics that go most closely with one, by Spearman's rank correlation, with what that cannot tell."""
    found = subject_of(context, several=True)
    if found is None:
        return None
    metric, run = found.metric, context.run
    own, seen = run.series(metric), [run.series(metric)[1]]
    rows = []
    short = 0
    for other in run.metrics:
        if other == metric or _COUNTS.search(other):
            continue
        values = run.series(other)[1]
        if values in seen or _stem(other) == _stem(metric):
            continue  # the same quantity under another name, or another statistic of it
        seen.append(values)
        levels, changes, n = correlation(context.ledger, metric, other, set(own[0]))
        if levels is None:
            short += n < LEAST
            continue
        rows.append((abs(number(levels)), other, levels, changes, n))
    context.metrics.append(metric)
    if not rows:
        text = context.say("together.none" if not short else "together.few", metric=metric)
        context.doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    rows.sort(key=lambda row: -row[0])
    doc = context.doc
    _, first, levels, _, n = rows[0]
    count = context.ledger.count("common steps", n, metric=metric)
    text = context.say("together.lead", metric=metric, other=first, rho=doc.show(levels, None, "number"), n=count)
    doc.paragraph(f"**{text}**")
    table = [
        [key(other), doc.show(rho, None, "number"), "—" if moved is None else doc.show(moved, None, "number")]
        for _, other, rho, moved, _ in rows[:MOST_LISTED]
    ]
    doc.table(
        [context.say("head.metric"), context.say("together.head_levels"), context.say("together.head_changes")], table
    )
    doc.paragraph(context.say("together.drift"), context.say("calc.rho_caveat"))
    return Verdict("answered", unmark(text), "medium")


def _stem(metric: str) -> str:
    """A key without its statistic and its place, so that a reward and the score that it equals are told apart."""
    return re.sub(r"(?:/|_)(?:mean|max|min|std|sum|median|p\d+)$", "", metric.lower())
