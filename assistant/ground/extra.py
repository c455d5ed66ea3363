"""Facts that a text may state beside what the audit works out itself: those of the answer that it belongs to."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from assistant.ground.check import agrees
from assistant.ground.quantities import Quantity
from assistant.ground.reading import Read
from assistant.model import Fact


def stated(q: Quantity, facts: Sequence[Fact], keys: Sequence[str], steps: Collection[int], around: str) -> bool:
    """Whether one of some facts states a number.

    Args:
        q: the number.
        facts: the facts.
        keys: what the number's metric may mean; a fact about another metric does not count. Empty where none is named.
        steps: steps named beside it; a cell of another step does not count.
        around: the text around the number.
    """
    scale = q.factor if q.unit in {"%", "pp", "s", "ms"} else 1.0
    read = Read(q.start, q.end, q.text, q.number * scale, q.half * scale, "", q.sign in {"+", "-"})
    for fact in facts:
        if fact.metric is not None and keys and fact.metric not in keys:
            continue
        if fact.kind == "share" and keys and fact.name not in keys:
            continue
        if fact.kind == "value" and steps and fact.step not in steps:
            continue
        if agrees(read, fact, context=around):
            return True
    return False
