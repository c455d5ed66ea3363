"""What re-sampling the answers can do to a change of a validation, in place of the noise of training batches."""

from __future__ import annotations

import math

from assistant.analysis.compare_validation import validation_error
from assistant.analysis.held_out import held_out
from assistant.analysis.validation import ValidationSet, validation_sets
from assistant.ask import answer_validation
from assistant.ask.context import Context, benchmark_sizes
from assistant.model import Fact

BOUND = "share_bound"


def as_validated(context: Context, change: Fact) -> Fact:
    """A change of a validation with the noise of sampling answers again, where that is less than the log's own scatter.

    Both are bounds: the scatter of a course holds its drift as well. Any other change is returned as it is.
    """
    if not held_out(str(change.metric)):
        return change
    sets = validation_sets(context.run, change.to_step or 0)
    table = next((t for t in sets if t.key("mean") == change.metric), None)
    return _bounded(context, change) if table is None else with_error(context, change, table)


def with_error(context: Context, change: Fact, table: ValidationSet) -> Fact:
    """The change with its re-sampling error in place of batch noise (validation problems do not change)."""
    errors = []
    for step in (change.from_step or 0, change.to_step or 0):
        for other in validation_sets(context.run, step):
            if (other.source, other.variable) == (table.source, table.variable):
                errors.append(answer_validation.standard_error(context, other, step))
    known = [(e, e.value) for e in errors if e is not None and isinstance(e.value, float)]
    if len(known) < 2:
        return _bounded(context, change) if table.variable == "acc" else change
    noise = math.sqrt(sum(value**2 for _, value in known))
    return context.ledger.with_noise(change, noise, "resampling", [fact for fact, _ in known])


def _bounded(context: Context, change: Fact) -> Fact:
    """The change with the most that sampling answers again can do, where the log tells no smaller noise.

    See :func:`assistant.analysis.compare_validation.validation_error`.
    """
    steps = (change.from_step or 0, change.to_step or 0)
    found = [
        validation_error(context.ledger, context.run, str(change.metric), step, benchmark_sizes()) for step in steps
    ]
    known = [error for error in found if error is not None]
    if len(known) < len(found):
        return change
    noise, inputs = math.hypot(*(error.value for error in known)), [error.fact for error in known]
    if change.noise is not None and change.noise <= noise:
        return change
    return context.ledger.with_noise(change, noise, BOUND, inputs)
