"""Moves over several values: the largest fall from a peak, the steepest stretch, and where a metric stopped moving."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.computed import SMALL_IS_GOOD
from assistant.ask.context import Context
from assistant.ask.part import cell, remarks, statistic
from assistant.ask.subject import subject_of
from assistant.ask.telling import trend_sentence
from assistant.model import Fact, Verdict
from assistant.model.answer import Op
from assistant.write.document import mark, unmark
from assistant.write.numbers import signed

_RISE: Final = re.compile(r"(?i)涨|升|增|提高|变[大长多高]|rise|rose|rising|gain|improv|increas|grow|grew|climb|\bup\b")
_RATIO: Final = re.compile(r"(?i)几倍|多少倍|倍数|\bratio\b|\btimes\b")
_FALL: Final = re.compile(r"(?i)跌|掉|降|减|缩|fall|fell|drop|decreas|declin|shrink|down")
_LOWEST: Final = re.compile(r"(?i)最(?:低|小|差)|\b(?:lowest|min|worst)\b")
_AFTER_TOP: Final = re.compile(
    r"(?i)(?:最高(?:点|处|值)?|峰值|顶点|顶峰|高点)(?:那步|那次)?(?:之后|以后|过后|后)"
    r"|\b(?:after|since)\b[^,.?]{1,60}?\b(?:peak|max(?:imum)?|high(?:est)?)\b"
)
_TO_LAST: Final = re.compile(
    r"(?i)[到至](?:了)?(?:最后|末尾|结束|现在|目前)|现在|目前|最后|最终|末尾|结束"
    r"|\b(?:now|currently|still|final\w*|latest|last|(?:at |in |by |to )?the (?:very )?end"
    r"|(?:when|once|where|by the time) (?:the |it )?(?:log|run|training)? ?(?:ends?|ended|stops?|stopped|finish\w*))\b"
)
_BEST: Final = re.compile(r"(?i)最(?:好|佳)|\bbest\b")
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
    if now is not None and _AFTER_TOP.search(found.text):  # the fall after the highest value, be it the largest or not
        low = min(range(top + 1, len(part)), key=lambda place: part.values[place])
        after = context.ledger.change(found.metric, part.steps[top], part.steps[low])
        assert after is not None
        delta = _delta(context, found.metric, after.delta, after.id)
        said = context.say("moves.after_peak", metric=found.metric, c=after, delta=delta, over=part.over)
    if now is not None and _TO_LAST.search(found.text):  # what the latest is below the peak is what is asked
        said = context.say("moves.last_from_high", metric=found.metric, c=now, over=part.over,
                           delta=_apart(context, found.metric, now))  # fmt: skip
        line = ""
    return _told(context, found.metric, said, "max", line, *remarks(context, part))


def _delta(context: Context, metric: str, delta: float | None, fact: str) -> str:
    return mark(fact, signed(delta or 0.0, context.kind_of(metric), language=context.language))


def _apart(context: Context, metric: str, change: Fact) -> str:
    """How far the two values of a change are apart, without a sign."""
    text = signed(abs(change.delta or 0.0), context.kind_of(metric), language=context.language)
    return mark(change.id, text.lstrip("+"))


def extreme_gap(context: Context) -> Verdict | None:
    """By how much the largest value exceeds the smallest, and how many times it is that where this is asked for."""
    found = subject_of(context)
    if found is None or context.query.steps.kind in {"single", "pair"}:
        return None  # the spread within one step, or what changed between two
    part = found.part
    low, high = (cell(context, part, part.values.index(pick(part.values))) for pick in (min, max))
    span = statistic(context, part, "range", max(part.values) - min(part.values), "largest minus smallest value")
    kind = context.kind_of(found.metric)
    text = context.doc.show(span, None, "points" if kind == "fraction" else kind)
    said = context.say("calc.range", metric=found.metric, low=low, high=high, v=text, over=part.over)
    ratio = ""
    if _RATIO.search(found.text) and min(part.values) > 0:
        times = context.ledger.derived(
            f"largest / smallest of {found.metric}", max(part.values) / min(part.values), inputs=[high, low],
            formula="largest value / smallest value",
        )  # fmt: skip
        ratio = context.say("moves.times", v=times)
    return _told(context, found.metric, said, None, ratio, *remarks(context, part))


def extreme_and_last(context: Context) -> Verdict | None:
    """How far the latest value is from the best (highest, lowest) one: "best eval loss against the final one"."""
    found = subject_of(context)
    if found is None:
        return None
    part = found.part
    low = _LOWEST.search(found.text) is not None
    if _BEST.search(found.text):
        low = SMALL_IS_GOOD.search(found.metric) is not None
    at = part.values.index((min if low else max)(part.values))
    side = "low" if low else "high"
    if at == len(part) - 1:
        said = context.say(f"moves.last_is_{side}", metric=found.metric, v=cell(context, part, at), over=part.over)
        return _told(context, found.metric, said, None, *remarks(context, part))
    change = context.ledger.change(found.metric, part.steps[at], part.steps[-1])
    if change is None:
        return None
    delta = _apart(context, found.metric, change)
    said = context.say(f"moves.last_from_{side}", metric=found.metric, c=change, delta=delta, over=part.over)
    return _told(context, found.metric, said, None, *remarks(context, part))


def steepest_stretch(context: Context) -> Verdict | None:
    """The stretch of a tenth of the points over which a metric rose (or fell) most."""
    found = subject_of(context, least=2 * LEAST)
    if found is None:
        return None
    part = found.part
    fall = _FALL.search(found.text) is not None
    if not fall and not _RISE.search(found.text):  # "mostly when": the way it went
        fall = part.values[-1] < part.values[0]
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
