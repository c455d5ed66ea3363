"""Sentences about a trend that is more than a slope, a jump or a bend: ramps, turns, last values apart, drift."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from assistant.analysis.moves import lone_spike
from assistant.analysis.series import series
from assistant.analysis.trend import Scale
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.model import Fact
from assistant.write.document import mark
from assistant.write.numbers import percent, plain, signed

_WAY = {"rising": "up", "falling": "down"}
#: Fewest points of a stretch that is called level, and how far its end may lie from it, in medians of the moves from
#: point to point (or half of the level, if that is more).
LEAST_STILL, NOISES = 6, 4.0


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
    facts = _knots(context, metric, trend, steps, scale)
    if len(facts) != 4:
        return None
    kind = context.kind_of(metric)
    facts = _with_ends(context, metric, trend, facts)
    fields = dict[str, Any](zip("abcd", facts, strict=True))
    fields |= {f"{name}_text": context.doc.show(fact, None, kind) for name, fact in zip("abcd", facts, strict=True)}
    if trend.form == "ramp":
        rose = number(facts[1]) > number(facts[0])
        fields["went"] = context.say("trend.went_up" if rose else "trend.went_down")
        way = _WAY.get(trend.direction or "", "up")
        ends = [fact.step for fact in facts]
        phrase = "until" if ends[0] == ends[1] else "since" if ends[2] == ends[3] else "ramp"
        still = _still(context, metric, facts, steps)
        return context.say(f"trend.{way}_{phrase}{'' if still else '_on'}", metric=metric, t=trend, **fields)
    start, extreme = (float(fact.value or 0) for fact in facts[:2])
    phrase = "peak" if extreme > start else "trough"
    net = context.say(f"trend.net_{trend.direction}")
    return context.say(f"trend.{phrase}", metric=metric, t=trend, net=net, **fields)


def _with_ends(context: Context, metric: str, trend: Fact, facts: list[Fact]) -> list[Fact]:
    """Knots with the first and the last value themselves in place of levels about them, where that tells the same."""
    detail = context.ledger.trend_detail(metric, None, context.run)
    first, last = (context.value(metric, step or 0) for step in (trend.first_step, trend.last_step))
    found = list(facts)
    if first is not None and math.isfinite(number(first)):
        found = [first if fact.step == facts[0].step else fact for fact in found]
    if last is not None and math.isfinite(number(last)) and not (detail is not None and detail.tail):
        found = [last if fact.step == facts[3].step else fact for fact in found]
    pairs = ((0, 1), (1, 2), (2, 3), (0, 3)) if trend.form == "turn" else ((1, 2),)
    same = all(
        np.sign(number(found[b]) - number(found[a])) == np.sign(number(facts[b]) - number(facts[a])) for a, b in pairs
    )
    return found if same else facts


def _still(context: Context, metric: str, facts: list[Fact], steps: Sequence[int] | None) -> bool:
    """Whether a ramp's level stretches, before and after it, really stay near one level from end to end."""
    whole = series(context.run, metric)
    part = whole if steps is None else whole.at(steps)
    at = [fact.step or 0 for fact in facts]
    for low, high, outer in ((at[0], at[1], 0), (at[2], at[3], -1)):
        values = part.values[(part.steps >= low) & (part.steps <= high)]
        if low == high or len(values) < LEAST_STILL:
            continue
        level, noise = float(np.median(values)), float(np.median(np.abs(np.diff(values))))
        at_end = float(np.median(values[:3] if outer == 0 else values[-3:]))
        if abs(at_end - level) > max(NOISES * noise, abs(level) / 2):
            return False
    return True


def _bends(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None, scale: Scale) -> str | None:
    """A pace that changed more than once: the first and the last; ``None`` where it changed once."""
    changes = context.ledger.changes(trend, None if steps is None else list(steps), scale=scale)
    if len(changes) < 2 or any(change.kind != "slope" for change, _, _ in changes):
        return None
    before, after = changes[0][1], changes[-1][2]
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


def _knots(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None, scale: Scale) -> list[Fact]:
    detail = context.ledger.trend_detail(metric, steps, context.run, scale=scale)
    stem = f"{metric}/{trend.first_step}-{trend.last_step}/{scale}"
    return [
        context.ledger.derived(
            f"level_{place}/{stem}", level, step=step, inputs=[trend], run=context.run,
            formula=f"median of {metric} about step {step}",
        )
        for place, (step, level) in enumerate(() if detail is None else detail.knots)
    ]  # fmt: skip


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
