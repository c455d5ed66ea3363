"""Whether a condition that was first met goes on being met: from there on, from a later step on, or not to the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from assistant.ask.context import Context

#: Of fewer values after the first nothing is told.
_LEAST: Final = 2


def since_then(context: Context, metric: str, steps: Sequence[int], met: Sequence[bool]) -> str:
    """A sentence on the values from the first that meets a condition on; empty where there is nothing to tell.

    Args:
        context: of the answer.
        metric: key.
        steps: of the values, ascending.
        met: whether each meets the condition.
    """
    start = next((place for place, one in enumerate(met) if one), None)
    if start is None or len(met) - start <= _LEAST:
        return ""
    rest = met[start:]
    count = context.ledger.count("values from there on", len(rest), metric=metric, first_step=steps[start])
    if all(rest):
        return context.say("calc.since", first=steps[start], n=count)
    many = context.ledger.count("of them that meet it", sum(rest), metric=metric, first_step=steps[start])
    if rest[-1]:
        broken = max(place for place, one in enumerate(met) if not one)
        return context.say("calc.since_later", k=many, n=count, for_good=steps[broken + 1])
    last = max(place for place, one in enumerate(met) if one)
    if last == start:
        return context.say("calc.since_never", n=count)
    return context.say("calc.since_until", k=many, n=count, last=steps[last])
