"""What a clause of a statement is about where it names no metric: whole steps ("so the steps got slower"), a stage of
them ("generation tripled"), a critic that breaks, a NaN."""

from __future__ import annotations

import math
import re

from assistant.analysis.forecast import STEP_TIMES
from assistant.ask.context import Context
from assistant.ask.lexicon import words
from assistant.ask.stage_words import leaf
from assistant.ask.stages import all_stages
from assistant.ask.wording import normalised


def of_whole_steps(context: Context, clause: str) -> list[str]:
    """The metric that holds a step's time where a clause says of steps, or of the training, that they got slower."""
    if words("confirmed")["step_slower"].search(clause) is None:
        return []
    return [key for key in STEP_TIMES if key in context.run.columns][:1]


#: Stages that a clause may say to take longer, and the words of a time or a pace that it says so with.
_STAGES = ("gen", "actor", "critic", "ref", "log_prob", "weights", "reward")
_VALUE_LOSSES = ("critic/vf_loss", "critic/loss", "critic/value_loss", "value_loss", "vf_loss", "loss/value")


def of_stage(context: Context, clause: str) -> tuple[list[str], str]:
    """The time of the stage of which a clause gives a factor or a pace, or the loss of a critic that is said to break,
    and the word that names it.
    """
    text, held, stages = normalised(clause), words("confirmed"), words("stages")
    if (match := stages["critic"].search(text)) is not None and held["broke"].search(text):
        return [key for key in _VALUE_LOSSES if key in context.run.columns][:1], match.group()
    if not (held["times"].search(text) or held["pace"].search(text)):
        return [], ""
    for name in _STAGES:
        if (match := stages[name].search(text)) is not None:
            return [k for k in all_stages(context) if stages[f"{name}_keys"].match(leaf(k))][:1], match.group()
    return [], ""


def without_place(text: str, step: int) -> str:
    """A clause without a step that is named by its number alone: "diverged around 40"."""
    return re.sub(rf"(?i)\b(?:around|at|near|by|about|since|after|from|past)\s+{step}\b(?![.%]?\d|\s*%)", " ", text)


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
