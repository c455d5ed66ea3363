"""Sentences about a trend that is more than a slope, a jump or a bend: ramps, turns, last values apart, drift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assistant.analysis.series import series
from assistant.analysis.trend import Scale
from assistant.ask.context import Context
from assistant.model import Fact

_WAY = {"rising": "up", "falling": "down"}


def course_sentence(
    context: Context, metric: str, trend: Fact, steps: Sequence[int] | None = None, *, scale: Scale = "linear"
) -> str | None:
    """What a trend of form ``ramp``, ``turn``, ``spike`` or ``drift`` did; ``None`` for every other form."""
    if trend.form == "drift":
        return context.say("trend.drift", metric=metric, t=trend)
    if trend.form == "spike":
        return context.say("trend.spike", metric=metric, t=trend, **_apart(context, metric, trend, steps, scale))
    if trend.form not in {"ramp", "turn"}:
        return None
    facts = _knots(context, metric, trend, steps, scale)
    if len(facts) != 4:
        return None
    kind = context.kind_of(metric)
    fields: dict[str, Any] = dict(zip("abcd", facts, strict=True))
    fields |= {f"{name}_text": context.doc.show(fact, None, kind) for name, fact in zip("abcd", facts, strict=True)}
    if trend.form == "ramp":
        way = _WAY.get(trend.direction or "", "up")
        ends = [fact.step for fact in facts]
        phrase = "until" if ends[0] == ends[1] else "since" if ends[2] == ends[3] else "ramp"
        return context.say(f"trend.{way}_{phrase}", metric=metric, t=trend, **fields)
    start, extreme = (float(fact.value or 0) for fact in facts[:2])
    phrase = "peak" if extreme > start else "trough"
    net = context.say(f"trend.net_{trend.direction}")
    return context.say(f"trend.{phrase}", metric=metric, t=trend, net=net, **fields)


def tail_sentence(
    context: Context, metric: str, trend: Fact, steps: Sequence[int] | None = None, *, scale: Scale = "linear"
) -> str | None:
    """That the last values lie apart from a trend told without them; ``None`` where none do or the head says so."""
    detail = context.ledger.trend_detail(metric, steps, context.run, scale=scale)
    if detail is None or not detail.tail or trend.form == "spike":
        return None
    return context.say("trend.tail", t=trend, **_apart(context, metric, trend, steps, scale))


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
    return {**fields, "count": context.ledger.count("last values apart", tail, metric=metric)}
