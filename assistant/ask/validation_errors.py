"""What re-sampling the answers can do to a change of a validation, in place of the noise of training batches."""

from __future__ import annotations

import math

from assistant.analysis.compare_validation import validation_error
from assistant.analysis.validation import ValidationSet, validation_sets
from assistant.ask import answer_validation
from assistant.ask.context import Context, benchmark_sizes, is_validation
from assistant.model import Fact

BOUND = "share_bound"


def as_validated(context: Context, change: Fact) -> Fact:
    """The change with its re-sampling error, where it is a validation's and the log tells no other noise."""
    if change.noise is not None or not is_validation(str(change.metric)):
        return change
    sets = validation_sets(context.run, change.to_step or 0)
    table = next((t for t in sets if t.key("mean") == change.metric), None)
    return change if table is None else with_error(context, change, table)


def with_error(context: Context, change: Fact, table: ValidationSet) -> Fact:
    """The change with its re-sampling error in place of batch noise (validation problems do not change)."""
    errors = []
    for step in (change.from_step or 0, change.to_step or 0):
        for other in validation_sets(context.run, step):
            if (other.source, other.variable) == (table.source, table.variable):
                errors.append(answer_validation.standard_error(context, other, step))
    known = [(e, e.value) for e in errors if e is not None and isinstance(e.value, float)]
    if len(known) < 2:
        return _bounded(context, change, table)
    noise = math.sqrt(sum(value**2 for _, value in known))
    return context.ledger.with_noise(change, noise, "resampling", [fact for fact, _ in known])


def _bounded(context: Context, change: Fact, table: ValidationSet) -> Fact:
    """The change with the most that re-sampling answers to the same problems can do, where it is larger than that.

    See :func:`assistant.analysis.compare_validation.validation_error`. A change within that bound
    keeps the scatter of the validations themselves, where there are enough of them.
    """
    steps = (change.from_step or 0, change.to_step or 0)
    found = [
        validation_error(context.ledger, context.run, str(change.metric), step, benchmark_sizes()) for step in steps
    ]
    known = [error for error in found if error is not None]
    if table.variable != "acc" or len(known) < len(found):
        return change
    noise, inputs = math.hypot(*(error.value for error in known)), [error.fact for error in known]
    return context.ledger.with_noise(change, noise, BOUND, inputs) if abs(change.delta or 0) > 1.96 * noise else change
