"""Breakdowns that a question names instead of a step ("NaN 之前", "before it blew up"), told by the step."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from statistics import median
from typing import Final

from assistant.ask.blanking import figures, spans_of
from assistant.ask.context import Context
from assistant.ask.departures import all_checks, began
from assistant.ask.lexicon import words
from assistant.ask.telling import main_change
from assistant.ask.wording import normalised

#: "Its collapse", "the crash in it", "before it collapsed": of the metric that is asked about.
_OF_IT: Final = re.compile(
    r"(?i)^\W*(?:before|until|prior to|after|since)\s+(?:it\s|its\s|the \w+(?:-\w+)? (?:in|of) it\b)"
)


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A breakdown of the run.

    Attributes:
        step: where it begins.
        kind: ``nan``, ``broken`` or ``of``, where a metric is said to break.
        text: the question with the step in its place.
        metric: that metric; ``None``: the run.
    """

    step: int
    kind: str
    text: str
    metric: str | None = None


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
        owner = _owner(context, match.start()) if kind == "broken" else None
        if kind == "nan":
            step = _first_not_finite(context)
        else:
            step = _first_grave(context) if owner is None else _first_of(context, owner)
        if step is None:
            return None
        before = match["before"] is not None or match["en_before"] is not None
        told = f" step {step} {'之前' if before else '之后'} "
        return Breakdown(
            step, kind if owner is None else "of", text[: match.start()] + told + text[match.end() :], owner
        )
    return None


def breakdown_named(text: str) -> bool:
    """Whether a question asks for what lies before or after a breakdown."""
    return any(words("breakdowns")[kind].search(text) is not None for kind in ("nan", "broken"))


def _owner(context: Context, at: int) -> str | None:
    """The metric that a breakdown told at a place of the question is of ("长度塌掉之前"); ``None`` for the run."""
    query = context.query
    text = figures(normalised(query.wording or query.text))
    for mention in query.mentions:
        for _, end in spans_of(text, mention):
            if mention.key is not None and end <= at and not text[end:at].strip(" 的都就"):
                return mention.key
    return _alone(context) if _OF_IT.search(text[at:]) else None


def _alone(context: Context) -> str | None:
    """The one metric that a question names; ``None`` where it names several or none."""
    keys = {mention.key for mention in context.query.mentions if mention.key is not None}
    return next(iter(keys)) if len(keys) == 1 else None


def _first_of(context: Context, metric: str) -> int | None:
    """From where a grave finding on a metric's family holds, else where the metric leaps or bends most."""
    family = metric.rpartition("/")[0] or metric
    grave = [
        check for check in all_checks(context)
        if check.severity in {"critical", "warning"} and any(one.startswith(family) for one in check.metrics[:2])
    ]  # fmt: skip
    steps = [step for check in grave if (step := began(context, check)) is not None]
    if steps:
        return min(steps)
    trend = context.ledger.trend(metric)
    change = None if trend is None else main_change(context, trend)
    return _steepest(context, metric) if change is None else change[0].step


def _steepest(context: Context, metric: str) -> int | None:
    """The last step before the largest move of a metric's validation or training values, and the one after it."""
    from assistant.ask.answer_events import LEAST_VALUES, SUDDEN, steepest

    held = [(cell.step, cell.value) for cell in context.run.cells(metric) if math.isfinite(cell.value)]
    if len(held) < LEAST_VALUES:
        return None
    values = tuple(value for _, value in held)
    usual = median(abs(b - a) for a, b in itertools.pairwise(values))
    moves = [steepest(values, up=up) for up in (False, True)]
    first, last = max(moves, key=lambda move: abs(values[move[1]] - values[move[0]]))
    return held[first + 1][0] if abs(values[last] - values[first]) > SUDDEN * usual else None


def _first_not_finite(context: Context) -> int | None:
    cells = (cell for metric in context.run.metrics for cell in context.run.cells(metric))
    found = [cell.step for cell in cells if not math.isfinite(cell.value)]
    return min(found, default=None)


def _first_grave(context: Context) -> int | None:
    """From where the first of the gravest findings holds."""
    grave = [check for check in all_checks(context) if check.severity == "critical"]
    steps = [step for check in grave if (step := began(context, check)) is not None]
    return min(steps, default=None)
