"""Sentences about a trend that is more than a slope, a jump or a bend: ramps, turns, last values apart, drift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assistant.analysis.moves import lone_spike
from assistant.analysis.series import Series, series
from assistant.analysis.trend import Scale
from assistant.ask.context import Context
from assistant.ask.course_moves import points, ramp_sentence, turn_sentence
from assistant.model import Fact
from assistant.write.document import mark
from assistant.write.numbers import percent, plain, signed

#: Points at an end of a stretch whose median stands for it.
ENDS = 3
_WAY = {"rising": "up", "falling": "down"}


def course_sentence(
    context: Context, metric: str, trend: Fact, steps: Sequence[int] | None = None, *, scale: Scale = "linear"
) -> str | None:
    """What a trend of form ``ramp``, ``turn``, ``spike`` or ``drift`` did; ``None`` for every other form."""
    if trend.form == "drift":
        return context.say("trend.drift", metric=metric, t=trend)
    if trend.form == "spike":
        fields = _apart(context, metric, trend, steps, scale)
        phrase = "spike_level" if fields["low"].value == fields["high"].value else "spike"
        return context.say(f"trend.{phrase}", metric=metric, t=trend, **fields)
    if trend.form == "bend":
        return _bends(context, metric, trend, steps, scale)
    if trend.form not in {"ramp", "turn"}:
        return None
    return _by_values(context, metric, trend, steps, scale)


def _by_values(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None, scale: Scale) -> str | None:
    """A ramp or a turn by the log's own values; between what it moved, where they do not show how."""
    detail = context.ledger.trend_detail(metric, steps, context.run, scale=scale)
    if detail is None or len(detail.knots) != 4:
        return None
    part = points(context, metric, steps)
    if detail.tail:
        part = part.between(int(part.steps[0]), int(part.steps[-1 - detail.tail]))
    if (apart := lone_spike(part.values)) is not None:  # told by itself
        part = part.at([int(step) for place, step in enumerate(part.steps) if place != apart])
    if trend.form == "ramp":
        said = ramp_sentence(context, trend, part, detail.knots, scale)
    else:
        said = turn_sentence(context, trend, part, detail.knots)
    return said or between_sentence(context, metric, trend, part)


def between_sentence(context: Context, metric: str, trend: Fact, part: Series) -> str | None:
    """First and last value, lowest and highest."""
    places = {"a": 0, "d": -1, "low": int(part.values.argmin()), "high": int(part.values.argmax())}
    facts = {name: context.value(metric, int(part.steps[at])) for name, at in places.items()}
    if any(fact is None for fact in facts.values()):
        return None
    return context.say("trend.between", metric=metric, t=trend, **facts)


def _fits(part: Series, since: int, pace: float, scale: Scale) -> bool:
    """Whether the pace told since a step is what the values did since then: their way, half to twice as fast."""
    late = part.between(since, int(part.steps[-1]))
    if scale == "log" or len(late) < 2 * ENDS:
        return True
    first, last = (float(np.median(end)) for end in (late.values[:ENDS], late.values[-ENDS:]))
    told, went = pace * float(late.steps[-1] - late.steps[0]), last - first
    scatter = float(np.median(np.abs(np.diff(late.values))))
    return abs(told - went) <= max(0.5 * max(abs(told), abs(went)), 2 * scatter)


def _bends(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None, scale: Scale) -> str | None:
    """A pace that changed more than once: the first and the last; ``None`` where it changed once."""
    changes = context.ledger.changes(trend, None if steps is None else list(steps), scale=scale)
    if len(changes) < 2 or any(change.kind != "slope" for change, _, _ in changes):
        return None
    before, after = changes[0][1], changes[-1][2]
    if not _fits(points(context, metric, steps), changes[-1][0].step, float(after.value or 0), scale):
        return between_sentence(context, metric, trend, points(context, metric, steps))
    texts = {}
    for name, fact in (("before", before), ("after", after)):
        value = float(fact.value or 0)
        text = signed(value, context.kind_of(metric), language=context.language)
        if scale == "log":
            text = f"{'+' if value > 0 else ''}{percent(value * 100)}%"
        texts[f"{name}_text"] = mark(fact.id, text)
    way = _WAY.get(trend.direction or "", "none")
    count = context.ledger.count("changes of pace", len(changes), metric=metric, last_step=trend.last_step)
    return context.say(f"trend.{way}_bends", metric=metric, t=trend, before=before, after=after, count=count, **texts)


def tail_sentence(
    context: Context, metric: str, trend: Fact, steps: Sequence[int] | None = None, *, scale: Scale = "linear"
) -> str | None:
    """That the last values, or a single one, lie apart; ``None`` where none do or the head says so."""
    detail = context.ledger.trend_detail(metric, steps, context.run, scale=scale)
    if detail is None or trend.form == "spike":
        return None
    if not detail.tail:
        return _outlier(context, metric, steps)
    return context.say("trend.tail", t=trend, **_apart(context, metric, trend, steps, scale))


def _outlier(context: Context, metric: str, steps: Sequence[int] | None) -> str | None:
    """That a single value lies apart from all others, which no trend tells."""
    whole = series(context.run, metric)
    part = whole if steps is None else whole.at(steps)
    place = lone_spike(part.values)
    if place is None:
        return None
    rest = np.delete(np.arange(len(part)), place)
    places = {"step": place, "low": rest[part.values[rest].argmin()], "high": rest[part.values[rest].argmax()]}
    facts = {name: context.value(metric, int(part.steps[at])) for name, at in places.items()}
    if any(fact is None for fact in facts.values()):
        return None
    kind = context.kind_of(metric)
    texts = {name: context.doc.show(fact, None, kind) for name, fact in facts.items() if fact is not None}
    return context.say(
        "trend.outlier", metric=metric, step=facts["step"], value=texts["step"], low=texts["low"], high=texts["high"]
    )


def _apart(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None, scale: Scale) -> dict[str, Any]:
    """The last values that lie apart, and between what the others lie."""
    detail = context.ledger.trend_detail(metric, steps, context.run, scale=scale)
    whole = series(context.run, metric)
    part = whole if steps is None else whole.at(steps)
    tail = 0 if detail is None else detail.tail
    rest = part.values[: len(part) - tail]
    places = {"low": int(rest.argmin()), "high": int(rest.argmax()), "since": len(part) - tail, "last": len(part) - 1}
    kind = context.kind_of(metric)
    fields: dict[str, Any] = {}
    for name, place in places.items():
        fact = context.value(metric, int(part.steps[place]))
        assert fact is not None
        fields |= {name: fact, f"{name}_text": context.doc.show(fact, None, kind)}
    ends = [float(part.values[places[name]]) for name in ("low", "high", "last")]
    if kind == "number":  # as many digits as tell the value apart from those it lies apart from
        digits = next((n for n in range(3, 10) if len({_read(v, n) for v in ends}) == len(set(ends))), 9)
        if digits > 3:
            texts = {name: plain(float(part.values[at]), digits) for name, at in places.items()}
            fields |= {f"{name}_text": mark(fields[name].id, text) for name, text in texts.items()}
    return {**fields, "count": context.ledger.count("last values apart", tail, metric=metric)}


def _read(value: float, digits: int) -> float:
    """A value as a reader of so many digits has it."""
    return float(plain(value, digits).replace(",", ""))
