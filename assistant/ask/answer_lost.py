"""A validation's accuracy that stands behind a cut, where the validation asked about holds other metrics alone."""

from __future__ import annotations

import re

from assistant.ask.context import Context, is_validation, key
from assistant.model import Verdict
from assistant.write.document import unmark

_ACCURACY = re.compile(r"(?i)准确率|正确率|\baccurac(?:y|ies)\b|(?<![a-z])acc(?![a-z])")


def accuracy_lost(context: Context) -> Verdict | None:
    """That a validation's accuracy stands behind a cut, where the validation asked about has other metrics alone."""
    slot, run = context.query.steps, context.run
    held = [metric for metric in run.metrics if is_validation(metric)]
    if not held or not _ACCURACY.search(context.query.said) or any(_ACCURACY.search(metric) for metric in held):
        return None
    steps = slot.values if slot.kind in {"single", "pair"} else context.validation_steps[-1:]
    gap = next((gap for gap in run.missing if gap.step in steps), None)
    if gap is None:
        return None
    fact = context.ledger.missing(held[0], gap.step)
    text = context.say("validation.accuracy_cut", gap=fact, names=context.join(map(key, held[:3])))
    context.doc.paragraph(f"**{text}**")
    context.metrics.extend(held[:1])
    return Verdict("no_data", unmark(text))
