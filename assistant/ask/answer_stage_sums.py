"""The slowest step of a log that times only stages: by the sum of its stages, and which took more than usual."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from assistant.analysis.timing import layout_of, stage_keys, total_key
from assistant.ask.context import Context, is_validation
from assistant.ask.parts import number
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

LEAST: Final = 3
"""Fewest steps of which one can be said to be the slowest."""
MOST: Final = 3
"""So many stages are told of."""


def slowest_by_stages(context: Context) -> Verdict | None:
    """The step whose stages add up to most.

    Only stages that most training steps hold are added, and only at steps that hold each of them, so that no step is
    the slowest because another lacks a value.

    Returns:
        The verdict; ``None`` where whole steps are timed, or too few steps hold their stages.
    """
    run, say = context.run, context.say
    layout = layout_of(run)
    if layout is None or total_key(run, layout) is not None:
        return None
    trained = context.train_steps
    usual = [k for k in stage_keys(run, layout) if 2 * len(run.series(k)[0]) > len(trained) and not is_validation(k)]
    rows: dict[int, list[Fact]] = {}
    for step in trained:
        cells = [fact for name in usual if (fact := context.value(name, step)) is not None and _timed(fact)]
        if cells and len(cells) == len(usual):
            rows[step] = cells
    if len(rows) < LEAST:
        return None
    sums = {step: math.fsum(number(cell) for cell in cells) for step, cells in rows.items()}
    top = max(sums, key=lambda step: sums[step])
    whole = context.ledger.derived(
        "sum of the stages", sums[top], inputs=rows[top], step=top, unit="seconds", formula="sum of the stages' times"
    )
    middle = context.ledger.derived(
        "median sum of the stages", median(sums.values()), inputs=[], unit="seconds",
        formula=f"median of the sums of the stages' times over {len(sums)} steps",
    )  # fmt: skip
    count = context.ledger.count("stages added", len(usual))
    shown = [context.doc.show(fact, None, "seconds") for fact in (whole, middle)]
    text = say("run.slowest_by_stages", step=top, v=shown[0], median=shown[1], n=count)
    context.doc.paragraph(f"**{text}**")
    context.doc.bullets(_more(context, usual, rows, top))
    context.doc.paragraph(say("run.by_stages"))
    context.metrics.extend(usual[:MOST])
    context.query = replace(context.query, op="argmax", asked_op="argmax")
    return Verdict("answered", unmark(text), "medium")


def _timed(fact: Fact) -> bool:
    return isinstance(fact.value, (int, float)) and math.isfinite(fact.value)


def _more(context: Context, usual: Sequence[str], rows: dict[int, list[Fact]], top: int) -> list[str]:
    """The stages that took most more than their median in that step."""
    lines = []
    for place, name in enumerate(usual):
        own = median(number(cells[place]) for cells in rows.values())
        fact = context.ledger.derived(
            f"median({name})", own, inputs=[], unit="seconds", formula=f"median of {name} over {len(rows)} steps"
        )
        cell = rows[top][place]
        lines.append(
            (
                number(cell) - own,
                context.say("run.stage_beside", stage=name, v=cell, median=context.doc.show(fact, None, "seconds")),
            )
        )
    return [text for more, text in sorted(lines, key=lambda one: -one[0])[:MOST] if more > 0]
