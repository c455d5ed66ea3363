"""How many prompts a training set holds, as far as the passes over it tell: verl counts them in ``training/epoch``."""

from __future__ import annotations

import math
from typing import Final

from assistant.analysis import derive
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.model import Fact

_EPOCH: Final = "training/epoch"
_MOST_STEPS: Final = 20


def implied(context: Context) -> str:
    """The prompts of the first pass, or that there are at least so many; empty where the log tells neither."""
    if _EPOCH not in context.run.columns:
        return ""
    cells = [fact for step in context.train_steps if (fact := context.value(_EPOCH, step)) is not None]
    cells = [fact for fact in cells if math.isfinite(number(fact))]
    prompts = _prompts(context)
    if prompts is None or not cells or number(cells[0]) != 0:
        return ""
    later = next((place for place, fact in enumerate(cells) if number(fact) >= 1), None)
    passed = len(cells) if later is None else later
    if not passed:
        return ""
    total = context.ledger.derived(
        "prompts_of_a_pass", round(number(prompts) * passed), inputs=[prompts, cells[-1]],
        formula=f"prompts_per_step × {passed} steps",
    )  # fmt: skip
    count = context.ledger.count("steps of the first pass", passed)
    if later is None:
        return context.say("data_size.at_least", v=total, n=count, each=prompts, last=cells[-1], metric=_EPOCH)
    return context.say("data_size.about", v=total, n=count, each=prompts, at=cells[later], metric=_EPOCH)


def _prompts(context: Context) -> Fact | None:
    steps = list(context.train_steps)[:_MOST_STEPS]
    return next((f for step in steps if (f := derive(context.ledger, "prompts_per_step", step)) is not None), None)
