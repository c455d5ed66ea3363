"""What a clause of a statement is about where it names no metric: whole steps ("so the steps got slower"), a NaN."""

from __future__ import annotations

import math

from assistant.analysis.forecast import STEP_TIMES
from assistant.ask.context import Context
from assistant.ask.lexicon import words


def of_whole_steps(context: Context, clause: str) -> list[str]:
    """The metric that holds a step's time where a clause says of steps, or of the training, that they got slower."""
    if words("confirmed")["step_slower"].search(clause) is None:
        return []
    return [key for key in STEP_TIMES if key in context.run.columns][:1]


def anchored(context: Context, clause: str) -> str:
    """A clause with the step of the first NaN for "after the NaN"."""
    held = words("confirmed")["after_nan"]
    match = held.search(clause)
    odd = first_odd(context) if match is not None else None
    if match is None or odd is None:
        return clause
    step = next(s for s, v in zip(*context.run.series(odd), strict=True) if not math.isfinite(v))
    side = "before" if words("confirmed")["before"].search(match.group()) else "after"
    return f"{clause[: match.start()]} {side} step {step} {clause[match.end() :]}"


def first_odd(context: Context) -> str | None:
    """The metric whose first NaN or infinity is the earliest."""
    found = [
        (next(s for s, v in zip(*context.run.series(key), strict=True) if not math.isfinite(v)), place, key)
        for place, key in enumerate(context.run.metrics)
        if any(not math.isfinite(v) for v in context.run.series(key)[1])
    ]
    return min(found)[2] if found else None
