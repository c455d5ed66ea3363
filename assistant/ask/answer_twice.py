"""A step that the log prints more than once: which of the values a look-up gives, and what the others are."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.ask.context import Context


def printed_again(context: Context, metrics: Sequence[str]) -> str:
    """That the step asked for was printed again, with the values before; empty where it was not, or they agree."""
    slot, run = context.query.steps, context.run
    if slot.kind != "single" or not metrics:
        return ""
    step, metric = slot.values[0], metrics[0]
    cells = [cell for cell in run.cells(metric) if cell.step == step]
    last = run.cell(metric, step)
    before = [cell for cell in cells if last is not None and cell.line != last.line and cell.value != last.value]
    if not before:
        return ""
    facts = [
        context.ledger.add(
            ("value-printed", run.id, metric, step, cell.line), kind="value", run=run.id, metric=metric, step=step,
            value=cell.value, line=cell.line,
        )
        for cell in before
    ]  # fmt: skip
    count = context.ledger.count("times that the step was printed", len(cells), metric=metric, step=step)
    listed = context.join([context.say("twice.value", v=fact) for fact in facts])
    return context.say("twice.later", step=step, metric=metric, n=count, listed=listed)
