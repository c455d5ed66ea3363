"""Steps in a list, neighbours of one log drawn together: "18, 24, 29, 63–65"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from assistant.ask.context import Context, is_validation

#: So many pieces are listed one by one.
MOST: Final = 24
_FEW: Final = 5


def listed(context: Context, metric: str, steps: Sequence[int]) -> str:
    """The steps as text: each by itself, five and more that follow each other in the log as "63–65".

    Args:
        context: of the answer.
        metric: key; the steps of validations are listed one by one.
        steps: ascending.
    """
    logged = () if is_validation(metric) else context.run.distinct_steps  # "30–60" are no validations every five
    place = {step: at for at, step in enumerate(logged)}
    runs: list[list[int]] = []
    for step in steps:
        if runs and place.get(step, -1) == place.get(runs[-1][-1], -3) + 1:
            runs[-1].append(step)
        else:
            runs.append([step])
    pieces: list[str] = []
    for run in runs:
        shown = [context.doc.step(step) for step in run]
        pieces += shown if len(run) < _FEW else [f"{shown[0]}–{shown[-1]}"]
    if len(pieces) > MOST:
        count = context.ledger.count("steps", len(steps))
        return context.say("steps.among", first=steps[0], last=steps[-1], n=count)
    return ("、" if context.language == "zh" else ", ").join(pieces)
