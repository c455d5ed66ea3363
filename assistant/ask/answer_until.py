"""How long a run took to get to a step, or to a limit: "跑了多久到的", "how long did it take to fall below 3.5"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from assistant.ask.answer_clock import at_the_mean, running_clock
from assistant.ask.answer_computed import as_reached
from assistant.ask.answer_log import sparse
from assistant.ask.answer_pace import whole_step_time
from assistant.ask.conditions import condition_in
from assistant.ask.context import Context
from assistant.ask.part import cell, limit_text, remarks
from assistant.ask.parts import number
from assistant.ask.subject import subject_of
from assistant.model import Fact, StepSlot, Verdict
from assistant.model.answer import Op
from assistant.write.document import unmark


def until(context: Context) -> Verdict | None:
    """The time to the step that the question names, or to the first value on the other side of a limit.

    Returns:
        The verdict; ``None`` where neither is named or in the log, or the log holds no time.
    """
    slot, run = context.query.steps, context.run
    found = subject_of(context, least=1)
    limit = None if found is None else condition_in(found.text)
    if found is not None and limit is not None:
        limit = as_reached(context, limit, found.metric, found.part.values[0])
        limit = limit.scaled(max(abs(value) for value in found.part.values))
        place = next((at for at, value in enumerate(found.part.values) if limit.holds(value)), None)
        if place is None:
            return None
        step = found.part.steps[place]
        values = {"metric": found.metric, "limit": limit_text(context, limit, found.metric)}
        first = context.say("calc.first", v=cell(context, found.part, place), over=found.part.over, **values)
        lines: Sequence[str] = [first, *remarks(context, found.part)]
        context.metrics.append(found.metric)
    elif slot.kind == "single" and slot.values[0] in run.distinct_steps:
        step, lines = slot.values[0], []
    else:
        return None
    said = time_to(context, step)
    if not said and not lines:
        return None
    if not said:  # the step alone: the log tells no time
        said, lines = lines[0], [context.say("until.no_time"), *lines[1:]]
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*lines)
    op: Op | None = "first_crossing" if limit is not None else None
    context.query = replace(
        context.query, op=op, asked_op=op, topics=(), steps=StepSlot("all") if limit is not None else slot
    )
    return Verdict("answered", unmark(said))


def time_to(context: Context, step: int) -> str:
    """The sentence for the time from the start to a step; empty where the log holds none."""
    return _by_clock(context, step) or _by_steps(context, step) or at_the_mean(context, step)


def _by_clock(context: Context, step: int) -> str:
    """By the time that counts on from the start, at that step or at the last row before it."""
    found = running_clock(context)
    if found is None:
        return ""
    metric, scale = found
    if scale is None:
        return ""
    at = max((s for s, v in zip(*context.run.series(metric), strict=True) if s <= step and math.isfinite(v)), default=0)
    fact = context.value(metric, at) if at else None
    if fact is None:
        return ""
    spent = context.ledger.derived(
        f"{metric} in seconds at {at}", number(fact) * scale, inputs=[fact], unit="s", step=at,
        formula=f"{metric} in seconds",
    )  # fmt: skip
    context.metrics.append(metric)
    return context.say("until.clock", metric=metric, step=at, shown=context.doc.show(spent, None, "seconds"))


def _by_steps(context: Context, step: int) -> str:
    """By the sum of the step times up to it, where every step is timed; what is lost is said."""
    metric = whole_step_time(context.run)
    if metric is None:
        return ""
    scale = {"seconds": 1.0, "milliseconds": 1e-3}.get(context.kind_of(metric))
    held = [f for s in context.run.series(metric)[0] if s <= step and (f := context.value(metric, s)) and _finite(f)]
    if not held or scale is None or sparse(held):
        return ""
    spent = context.ledger.derived(
        f"{metric} up to {step}", scale * math.fsum(number(fact) for fact in held), inputs=held, unit="s", step=step,
        formula=f"Σ {metric} up to step {step}",
    )  # fmt: skip
    count = context.ledger.count("steps timed up to there", len(held), metric=metric)
    lost = len([s for s in context.train_steps if s <= step]) - len(held)
    context.metrics.append(metric)
    said = context.say("until.sum", metric=metric, step=step, n=count, shown=context.doc.show(spent, None, "seconds"))
    gap = "" if context.language == "zh" else " "
    more = context.say("until.lost", n=context.ledger.count("of them untimed", lost)) if lost > 0 else ""
    return f"{said}{gap}{more}" if more else said


def _finite(fact: Fact) -> bool:
    return isinstance(fact.value, (int, float)) and math.isfinite(fact.value)
