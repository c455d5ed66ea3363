"""Breakdowns that a question names instead of a step ("NaN 之前", "before it blew up"), told by the step."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assistant.ask.context import Context
from assistant.ask.departures import all_checks, began
from assistant.ask.lexicon import words


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A breakdown of the run.

    Attributes:
        step: where it begins.
        kind: ``nan`` or ``broken``.
        text: the question with the step in its place.
    """

    step: int
    kind: str
    text: str


def breakdown_in(context: Context, text: str) -> Breakdown | None:
    """The breakdown before or after which something is asked; ``None`` where none is named, or none happened.

    Args:
        context: of the answer.
        text: the question, normalised, names of metrics blanked.
    """
    for kind in ("nan", "broken"):
        match = words("breakdowns")[kind].search(text)
        if match is None:
            continue
        step = _first_not_finite(context) if kind == "nan" else _first_grave(context)
        if step is None:
            return None
        before = match["before"] is not None or match["en_before"] is not None
        told = f" step {step} {'之前' if before else '之后'} "
        return Breakdown(step, kind, text[: match.start()] + told + text[match.end() :])
    return None


def _first_not_finite(context: Context) -> int | None:
    cells = (cell for metric in context.run.metrics for cell in context.run.cells(metric))
    found = [cell.step for cell in cells if not math.isfinite(cell.value)]
    return min(found, default=None)


def _first_grave(context: Context) -> int | None:
    """From where the first of the gravest findings holds."""
    grave = [check for check in all_checks(context) if check.severity == "critical"]
    steps = [step for check in grave if (step := began(context, check)) is not None]
    return min(steps, default=None)
