"""Ramps and turns by the log's own values: from where to where, at which steps, and what came before and after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assistant.analysis.changepoints import ChangePoint
from assistant.analysis.series import Series, series
from assistant.analysis.trend import MIN_POINTS, Scale
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.model import Fact

#: Share of a move by which the value at one of its ends may miss the level there, else medians are told.
MISSED = 0.25
#: Points whose median is a level where no longer stretch is level.
SIDE = 3
#: Points on each side of a jump that may not go on the same way by more than the jump itself.
NEAR = 10
#: Share of a change of level that must happen between two neighbouring points to be called a jump.
AT_ONCE = 0.5
#: Smallest share of a series that is one value to the end, and largest share of those before it that may have it.
HELD, RARELY = 0.1, 0.1
#: Fewest points of a stretch whose end is held against its level, and how far it may lie from it, in medians of the
#: moves from point to point (or half of the level, if that is more).
LEAST_STILL, NOISES = 6, 4.0


def points(context: Context, metric: str, steps: Sequence[int] | None) -> Series:
    """The finite values that are looked at."""
    whole = series(context.run, metric)
    return whole if steps is None else whole.at(steps)


def extremes_of(context: Context, metric: str, steps: Sequence[int] | None = None) -> dict[str, Fact]:
    """The lowest and the highest value looked at, as the fields ``low`` and ``high``."""
    part = points(context, metric, steps)
    places = {"low": int(part.values.argmin()), "high": int(part.values.argmax())}
    facts = {name: context.value(metric, int(part.steps[at])) for name, at in places.items()}
    return {name: fact for name, fact in facts.items() if fact is not None}


def cut(part: Series, places: tuple[int, int]) -> Series:
    """The points from a place up to another, which is left out."""
    low, high = places
    return part.between(int(part.steps[low]), int(part.steps[high - 1]))


def median_of(context: Context, trend: Fact, part: Series) -> Fact:
    """The median of some points, as a fact with their first and last step."""
    metric, first, last = part.metric, int(part.steps[0]), int(part.steps[-1])
    value = float(np.median(part.values))
    return context.ledger.add(
        ("median over", context.run.id, metric, first, last, value),
        kind="derived", run=context.run.id, name=f"median/{metric}/{first}-{last}", value=value,
        first_step=first, last_step=last, inputs=(trend.id,),
        formula=f"median of {metric} over steps {first} to {last}",
    )  # fmt: skip


def state_of(context: Context, part: Series, scale: Scale = "linear") -> str:
    """What a stretch does by the test: ``still``, ``rising``, ``falling``, or ``open`` where it cannot be told."""
    values = part.values
    if len(part) < MIN_POINTS:
        return "open"
    found = context.ledger.trend_detail(part.metric, part.steps.tolist(), context.run, scale=scale)
    if found is None:
        return "open"
    if found.direction in {"rising", "falling"}:
        way = 1 if found.direction == "rising" else -1
        return found.direction if way * (values[-1] - values[0]) > 0 else "open"
    if found.direction == "flat":
        return "still"
    if found.sure or found.form is not None or found.direction != "fluctuating":
        return "open"
    if len(part) < LEAST_STILL:
        return "still"
    level, noise = float(np.median(values)), float(np.median(np.abs(np.diff(values))))
    apart = max(abs(float(np.median(end)) - level) for end in (values[:SIDE], values[-SIDE:]))
    return "still" if apart <= max(NOISES * noise, abs(level) / 2) else "open"


def medians(context: Context, metric: str, **facts: Fact) -> dict[str, Any]:
    """Fields of medians: the facts, and how they are written in the metric's unit."""
    kind = context.kind_of(metric)
    return {**facts, **{f"{name}_text": context.doc.show(fact, None, kind) for name, fact in facts.items()}}


@dataclass(frozen=True, slots=True)
class _Side:
    """The stretch before or after a ramp: the word for what it does, and the fields of its clause."""

    state: str
    fields: dict[str, Any]


def ramp_sentence(
    context: Context, trend: Fact, part: Series, knots: Sequence[tuple[int, float]], scale: Scale
) -> str | None:
    """A ramp; ``None`` where the levels do not go the way that is told."""
    metric = part.metric
    way = 1 if trend.direction == "rising" else -1
    (_, _), (start, low), (end, high), (_, _) = knots
    first, last = int(part.steps[0]), int(part.steps[-1])
    start, end = max(start, first), min(end, last)
    before = part.between(first, start) if start > first else None
    after = part.between(end, last) if end < last else None
    facts = {name: context.value(metric, step) for name, step in (("a", first), ("b", start), ("c", end), ("d", last))}
    if any(fact is None for fact in facts.values()) or way * (high - low) <= 0:
        return None
    a, b, c, d = (number(facts[name]) for name in "abcd")
    fields: dict[str, Any] = {"metric": metric, "t": trend, **facts}
    up = "up" if way > 0 else "down"
    missed = max(abs(b - low) if before else 0.0, abs(c - high) if after else 0.0)
    if way * (c - b) <= 0 or missed > MISSED * abs(high - low):
        return _ramp_medians(context, trend, part, (start, end), up)
    sides = []
    for stretch, ends in ((before, (a, b)), (after, (c, d))):
        state = "none" if stretch is None else state_of(context, stretch, scale)
        median = None if stretch is None or state != "still" else median_of(context, trend, stretch)
        if state in {"rising", "falling"}:
            state = "same" if (state == "rising") == (way > 0) else "back"
        faster = stretch is not None and abs(ends[1] - ends[0]) > abs(c - b)
        if faster:  # the move told is not the main one
            return _ramp_medians(context, trend, part, (start, end), up)
        sides.append(_Side(state, {} if median is None else medians(context, metric, m=median)))
    states = [side.state for side in sides]
    heads = {("none", "still"): "until", ("still", "none"): "since", ("still", "still"): "ramp"}
    head = heads.get((states[0], states[1]), "mostly")
    for name, side in zip(("before", "after"), sides, strict=True):
        clause = (
            "" if side.state == "none" else context.say(f"course.{name}_{side.state}_{up}", **side.fields, **fields)
        )
        fields[f"{name}_clause"] = clause
    return context.say(f"trend.{up}_{head}", **fields)


def _ramp_medians(context: Context, trend: Fact, part: Series, ends: tuple[int, int], up: str) -> str | None:
    """A ramp whose ends are single values far from the level there: the medians on both sides."""
    first, last = int(part.steps[0]), int(part.steps[-1])
    low, high = part.between(first, ends[0]), part.between(ends[1], last)
    low = low if len(low) >= SIDE else cut(part, (0, SIDE))
    high = high if len(high) >= SIDE else cut(part, (max(0, len(part) - SIDE), len(part)))
    m, n = median_of(context, trend, low), median_of(context, trend, high)
    if (number(n) - number(m)) * (1 if up == "up" else -1) <= 0:
        return None
    return context.say(f"trend.{up}_medians", metric=part.metric, t=trend, **medians(context, part.metric, m=m, n=n))


def turn_sentence(context: Context, trend: Fact, part: Series, knots: Sequence[tuple[int, float]]) -> str | None:
    """A turn: its first value, the extreme about which it turned, its last value."""
    metric = part.metric
    (_, first_level), (start, reached), (end, left), (_, last_level) = knots
    peak = reached + left > first_level + last_level
    at = _turns_at(part, (start, end), peak)
    if at is None:
        return None
    values = part.values if peak else -part.values
    facts = [context.value(metric, int(part.steps[place])) for place in (0, at, len(part) - 1)]
    a, e, d = facts
    if a is None or e is None or d is None:
        return None
    rise, fall = values[at] - values[0], values[at] - values[-1]
    net = {"rising": 1, "falling": -1}.get(trend.direction or "", 0)
    apart = number(d) - number(a)
    fits = apart * net > 0 if net else abs(apart) <= max(rise, fall) / 2
    phrase = "peak" if peak else "trough"
    beyond = float(values.max() - values[at]) > MISSED * max(rise, fall)  # a higher one lies elsewhere, in the scatter
    if min(rise, fall) <= 0 or not fits or beyond:
        sides = (cut(part, (0, SIDE)), part.between(start, end), cut(part, (len(part) - SIDE, len(part))))
        middle = sides[1] if len(sides[1]) >= SIDE else cut(part, (max(0, at - 1), at + 2))
        m, n, o = (median_of(context, trend, side) for side in (sides[0], middle, sides[2]))
        way = 1 if peak else -1
        if min(way * (number(n) - number(m)), way * (number(n) - number(o))) <= 0:
            return None
        return context.say(f"trend.{phrase}_medians", metric=metric, t=trend, **medians(context, metric, m=m, n=n, o=o))
    whole = "course.highest" if peak else "course.lowest"
    extreme = context.say(whole) if values[at] >= values.max() else ""
    clause = _at_once(context, part, (0, at), "there") + _at_once(context, part, (at, len(part) - 1), "back")
    said = context.say(f"trend.net_{trend.direction}")
    return context.say(
        f"trend.{phrase}", metric=metric, t=trend, a=a, e=e, d=d, extreme=extreme, net=said, at_once=clause
    )


def held_since(part: Series) -> int | None:
    """The place from which a series that moved before is one and the same value to its end; ``None`` where none is.

    The values before must hardly ever have been that value: a share that is 0 at most steps may be so by chance.
    """
    values, n = part.values, len(part)
    other = np.flatnonzero(values != values[-1]) if n else values
    if not len(other):
        return None
    place = int(other[-1]) + 1
    lasted = n - place
    if lasted < max(MIN_POINTS, n * HELD) or place < MIN_POINTS or place - len(other) > RARELY * place:
        return None
    return place


def course_shape(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None) -> tuple[str, Fact] | None:
    """Of a ramp that is level since: that and the step; of a turn: which, and its extreme. ``None`` of any other."""
    detail = context.ledger.trend_detail(metric, steps, context.run)
    if detail is None or len(detail.knots) != 4 or detail.tail:
        return None
    part = points(context, metric, steps)
    (_, first), (start, reached), (end, left), (_, last) = detail.knots
    if trend.form == "ramp":
        value = context.value(metric, end)
        since = part.between(end, int(part.steps[-1]))
        if value is None or len(since) < LEAST_STILL or state_of(context, since) != "still":
            return None
        return ("up_until" if trend.direction == "rising" else "down_until"), value
    if trend.form != "turn":
        return None
    peak = reached + left > first + last
    at = _turns_at(part, (start, end), peak)
    value = None if at is None else context.value(metric, int(part.steps[at]))
    if value is None or at is None:
        return None
    ends, top = (part.values[0], part.values[-1]), part.values[at]
    if not (top > max(ends) if peak else top < min(ends)):
        return None
    return ("peak_turn" if peak else "trough_turn"), value


def _turns_at(part: Series, ends: tuple[int, int], peak: bool) -> int | None:
    """The place of the extreme about which a series turned: between the middles of what comes before and after."""
    steps, (start, end) = part.steps, ends
    inner = np.flatnonzero((2 * steps >= steps[0] + start) & (2 * steps <= end + steps[-1]))
    if not len(inner):
        return None
    return int(inner[(part.values[inner] if peak else -part.values[inner]).argmax()])


def _at_once(context: Context, part: Series, ends: tuple[int, int], way: str) -> str:
    """That most of the way between two places was one step that stayed, as a clause; empty where it was not.

    The values right before and after the step are levels apart, by medians: one value that the next takes back is none.
    """
    values, (low, high) = part.values, ends
    moved = float(values[high] - values[low])
    sign = math.copysign(1.0, moved)
    steps = np.diff(values[low : high + 1]) * sign
    if len(steps) < SIDE or float(steps.max()) < AT_ONCE * abs(moved):
        return ""
    place = low + int(steps.argmax())
    before, after = values[max(0, place + 1 - SIDE) : place + 1], values[place + 1 : place + 1 + SIDE]
    if sign * float(np.median(after) - np.median(before)) < AT_ONCE * abs(moved):
        return ""
    p, q = (context.value(part.metric, int(part.steps[i])) for i in (place, place + 1))
    return "" if p is None or q is None else context.say(f"course.at_once_{way}", p=p, q=q)


@dataclass(frozen=True, slots=True)
class Jump:
    """A change of level: the medians on both sides, and, of a jump, the two neighbouring values between which it is."""

    before: Fact
    after: Fact
    last: Fact | None = None
    first: Fact | None = None


def jump_of(
    context: Context, trend: Fact, change: ChangePoint, steps: Sequence[int] | None, scale: Scale = "linear"
) -> Jump | None:
    """A change of level, and whether it is a jump: half of it or more lies between two neighbouring points.

    The medians beside a jump reach to the neighbouring changes, but those that are too near; those of a change that
    took several steps, where they go its way, over all that comes before and after.
    """
    metric = str(trend.metric)
    detail = context.ledger.trend_detail(metric, steps, context.run, scale=scale)
    part = points(context, metric, steps)
    if detail is None or not part.steps[0] < change.step <= part.steps[-1]:
        return None
    n, others = len(part) - detail.tail, [one.step for one in detail.changes]
    place = int(part.steps.searchsorted(change.step))
    near_to = [int(part.steps.searchsorted(other)) for other in others]
    low = max((at for at in near_to if at <= place - LEAST_STILL), default=0)
    high = min((at for at in near_to if at >= place + LEAST_STILL), default=n)
    if not low < place < high:
        return None
    values = part.values
    moved = float(np.median(values[place:high])) - float(np.median(values[low:place]))
    way = float(np.sign(moved))
    near = range(max(low + 1, place - 1), min(high - 1, place + 1) + 1)
    levels = float(np.median(values[low:place])), float(np.median(values[place:high]))
    off = AT_ONCE * abs(moved)
    fits = [i for i in near if abs(values[i - 1] - levels[0]) < off and abs(values[i] - levels[1]) < off]
    best = max(fits, key=lambda i: (way * float(values[i] - values[i - 1]), -abs(i - place)), default=0)
    if best and way * (values[best] - values[best - 1]) >= AT_ONCE * max(abs(moved), _swept(part, best, way)) > 0:
        last, first = (context.value(metric, int(part.steps[i])) for i in (best - 1, best))
        before, after = cut(part, (low, best)), cut(part, (best, high))
        return Jump(median_of(context, trend, before), median_of(context, trend, after), last, first)
    whole = float(np.median(values[place:n])) - float(np.median(values[:place]))
    ends = (0, n) if way * whole > 0 else (low, high)
    before, after = cut(part, (ends[0], place)), cut(part, (place, ends[1]))
    return Jump(median_of(context, trend, before), median_of(context, trend, after))


def _swept(part: Series, place: int, way: float) -> float:
    """How far the few points before and after a place lie apart, by medians of three: all of a climb, of a jump it."""
    sides = part.values[max(0, place - NEAR) : place], part.values[place : place + NEAR]
    lows, highs = ([float(np.median(way * side[i : i + SIDE])) for i in range(max(1, len(side) - 2))] for side in sides)
    return max(highs) - min(lows)


def jump_sentence(
    context: Context, trend: Fact, change: ChangePoint, steps: Sequence[int] | None, scale: Scale = "linear"
) -> str | None:
    """A trend that is a change of level: by a jump where it is one, else by the medians on both sides."""
    found, metric = jump_of(context, trend, change, steps, scale), str(trend.metric)
    if found is None:
        return None
    way = {"rising": "up", "falling": "down"}.get(trend.direction or "", "none")
    fields = {"metric": metric, "t": trend, **medians(context, metric, m=found.before, n=found.after)}
    if found.last is None or found.first is None:
        part = points(context, metric, steps)
        at = int(part.values.argmax() if way == "up" else part.values.argmin())
        extreme = context.value(metric, int(part.steps[at]))
        return None if extreme is None else context.say(f"trend.{way}_around", x=extreme, **fields)
    context.turning = found.first.step
    return context.say(f"trend.{way}_shift", p=found.last, q=found.first, **fields)
