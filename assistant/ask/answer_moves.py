"""Moves over several values: the largest fall from a peak, the steepest stretch, and where a metric stopped moving."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.context import Context
from assistant.ask.part import cell, remarks
from assistant.ask.subject import subject_of
from assistant.ask.telling import trend_sentence
from assistant.model import Verdict
from assistant.model.answer import Op
from assistant.write.document import mark, unmark
from assistant.write.numbers import signed

_FALL: Final = re.compile(r"(?i)跌|掉|降|减|缩|fall|fell|drop|decreas|declin|shrink|down")
#: A stretch takes this share of the points, and at least so many.
SHARE, LEAST = 0.1, 5


def _told(context: Context, metric: str, said: str, op: Op | None, *lines: str) -> Verdict:
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*lines)
    context.metrics.append(metric)
    context.chart(context.title(metric), [metric])
    context.query = replace(context.query, op=op, asked_op=op)
    return Verdict("answered", unmark(said))


def drawdown(values: tuple[float, ...]) -> tuple[int, int]:
    """Places of the peak and the later trough between which a series falls most (the maximum drawdown)."""
    peak, best = 0, (0, 0)
    for place, value in enumerate(values):
        if value > values[peak]:
            peak = place
        if values[peak] - value > values[best[0]] - values[best[1]]:
            best = (peak, place)
    return best


def from_peak(context: Context) -> Verdict | None:
    """How far a metric is below its highest value, and the largest fall from a peak on the way."""
    found = subject_of(context, least=3)
    if found is None:
        return None
    part = found.part
    top = part.values.index(max(part.values))
    peak, trough = drawdown(part.values)
    if peak == trough:
        return _told(context, found.metric, context.say("moves.never_fell", metric=found.metric, over=part.over), "max")
    fall = context.ledger.change(found.metric, part.steps[peak], part.steps[trough])
    now = context.ledger.change(found.metric, part.steps[top], part.steps[-1]) if top < len(part) - 1 else None
    if fall is None:
        return None
    said = context.say(
        "moves.drawdown",
        metric=found.metric,
        c=fall,
        delta=_delta(context, found.metric, fall.delta, fall.id),
        over=part.over,
    )
    line = (
        context.say("moves.at_peak", metric=found.metric, v=cell(context, part, top))
        if now is None
        else context.say("moves.below_peak", c=now, delta=_delta(context, found.metric, now.delta, now.id))
    )
    return _told(context, found.metric, said, "max", line, *remarks(context, part))


def _delta(context: Context, metric: str, delta: float | None, fact: str) -> str:
    return mark(fact, signed(delta or 0.0, context.kind_of(metric), language=context.language))


def steepest_stretch(context: Context) -> Verdict | None:
    """The stretch of a tenth of the points over which a metric rose (or fell) most."""
    found = subject_of(context, least=2 * LEAST)
    if found is None:
        return None
    part, fall = found.part, _FALL.search(found.text) is not None
    width = max(LEAST, round(SHARE * len(part)))
    sign = -1.0 if fall else 1.0
    start = max(range(len(part) - width + 1), key=lambda at: sign * (part.values[at + width - 1] - part.values[at]))
    change = context.ledger.change(found.metric, part.steps[start], part.steps[start + width - 1])
    if change is None or sign * (change.delta or 0.0) <= 0:
        return None
    count = context.ledger.count("values of the stretch", width, metric=found.metric)
    said = context.say(
        f"moves.steepest_{'down' if fall else 'up'}", metric=found.metric, c=change, n=count,
        delta=_delta(context, found.metric, change.delta, change.id), over=part.over,
    )  # fmt: skip
    trend = context.ledger.trend(found.metric, list(part.steps))
    line = "" if trend is None else trend_sentence(context, found.metric, trend, list(part.steps))
    return _told(context, found.metric, said, None, line, *remarks(context, part))


def stopped(context: Context) -> Verdict | None:
    """Where a metric was lowest (or highest) and has not been beyond since: where it stopped falling (or rising)."""
    found = subject_of(context, least=3)
    if found is None:
        return None
    part, fall = found.part, _FALL.search(found.text) is not None
    at = part.values.index((min if fall else max)(part.values))
    side = "low" if fall else "high"
    if at == len(part) - 1:
        said = context.say(f"moves.still_{side}", metric=found.metric, v=cell(context, part, at), over=part.over)
    else:
        rest = context.ledger.count("values since then", len(part) - 1 - at, metric=found.metric)
        said = context.say(
            f"moves.stopped_{side}", metric=found.metric, v=cell(context, part, at), n=rest,
            last=cell(context, part, len(part) - 1), over=part.over,
        )  # fmt: skip
    trend = context.ledger.trend(found.metric, list(part.steps))
    line = "" if trend is None else trend_sentence(context, found.metric, trend, list(part.steps))
    return _told(context, found.metric, said, "argmin" if fall else "argmax", line, *remarks(context, part))
