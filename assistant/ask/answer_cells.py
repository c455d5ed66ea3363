"""What is said of the cells of a stretch that are cut off or hold no number, beside those that are listed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from assistant.ask.context import Context, is_validation
from assistant.ask.naming import absent, steps_text
from assistant.model import Fact

#: Up to so many missing cells are told with their reason, one by one.
MOST_TOLD = 3


def cut_between(context: Context, metric: str, held: Sequence[Fact]) -> list[str]:
    """That values of the stretch asked about are missing, where the log has lost them."""
    slot, at = context.query.steps, {fact.step for fact in held}
    steps = context.validation_steps if is_validation(metric) else context.train_steps
    if slot.kind == "range":
        low, high = slot.values[0], slot.values[-1]
    else:
        low, high = min(fact.step or 0 for fact in held), max(steps, default=0)
    lost = [s for s in steps if low <= s <= high and s not in at and context.run.missing_at(metric, s) is not None]
    if not lost:
        return []
    if len(lost) <= MOST_TOLD:
        return [absent(context, metric, [step]) for step in lost]
    for step in lost:
        context.ledger.missing(metric, step)
    count = context.ledger.count("steps cut", len(lost), metric=metric)
    return [context.say("calc.lost", k=count, steps=steps_text(context, lost))]


#: Sets one step against another.
_THAN = re.compile(r"(?i)\b(?:than|compared|vs|versus)\b|比|相较")


def lacks_a_side(context: Context) -> bool:
    """Whether a question sets steps against each other, so that a missing one leaves nothing to say."""
    return _THAN.search(context.query.said) is not None


def none_finite(context: Context, metric: str, held: Sequence[Fact]) -> str:
    """That none of several values is a finite number; empty where one is."""
    if len(held) < 2 or any(isinstance(f.value, (int, float)) and math.isfinite(f.value) for f in held):
        return ""
    count = context.ledger.count("values not finite", len(held), metric=metric)
    first, last = held[0].step or 0, held[-1].step or 0
    return context.say("lookup.none_finite", metric=metric, v=held[-1], n=count, first=first, last=last)
