"""By how many percentage points the share of one metric in another moved between two steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.ask.context import Context
from assistant.ask.lexicon import words
from assistant.ask.parts import number
from assistant.model import Fact, StepSlot, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import percent

_MOVED: Final = re.compile(
    r"(?i)\bpoints?\b"
    r"|\bhow (?:much|far|did|has)\b.{0,60}\b(?:change|move|rise|fall|grow|shrink|drop|gain|go (?:up|down))"
    r"|\bby how much\b|\bhow much (?:higher|lower|larger|smaller|more|less)\b"
    r"|几个(?:百分)?点|百分点|[变高低大小多少涨降升跌增减](?:了|出)?(?:多少|几)"
)
_SINCE: Final = re.compile(
    r"(?i)\b(?:since|compared|than|vs|versus|against|from|relative to)\b|[比较](?![例重值])|相对|从|自"
)


def moved(context: Context, text: str, metric: str, of: str, steps: Sequence[int]) -> Verdict | None:
    """The share at two steps and the points between; ``None`` (nothing written) where that is not asked.

    Args:
        context: of the answer.
        text: the question, normalised, names of metrics blanked.
        metric: key of the part.
        of: key of the whole.
        steps: those at which both have a finite value, ascending.
    """
    ends = _ends(context.query.steps, text, steps)
    if _MOVED.search(text) is None or words("portions")["mean"].search(text) or ends is None:
        return None
    shares = [_share(context, metric, of, step) for step in ends]
    if shares[0] is None or shares[1] is None:
        return None
    first, last = shares[0], shares[1]
    gap = number(last) - number(first)
    change = context.ledger.derived(
        f"change of {metric} / {of}", gap, inputs=[first, last], formula=f"share at step {ends[1]} − at step {ends[0]}",
        unit="fraction",
    )  # fmt: skip
    shown = mark(change.id, percent(abs(gap) * 100))
    phrase = "share_moved.rose" if gap > 0 else "share_moved.fell" if gap < 0 else "share_moved.same"
    a, b = (mark(one.id, f"{number(one) * 100:.2f}%") for one in (first, last))  # so that their difference is seen
    said = context.say(
        phrase, what=context.say("portion.share", metric=metric, of=of), a=a, b=b, first=ends[0], last=ends[1], d=shown
    )
    context.doc.paragraph(f"**{said}**")
    context.metrics.extend([metric, of])
    context.settled = True
    context.query = replace(
        context.query, intent="lookup", op=None, asked_op=None, topics=(), steps=StepSlot("pair", ends)
    )
    return Verdict("answered", unmark(said))


def _ends(slot: StepSlot, text: str, steps: Sequence[int]) -> tuple[int, int] | None:
    """The two steps that are set against each other; a single one that is compared stands against the last."""
    if len(steps) < 2:
        return None
    if slot.kind in {"pair", "range"} and set(slot.values) <= set(steps):
        return min(slot.values), max(slot.values)
    if slot.kind == "single" and slot.values[0] in steps[:-1] and _SINCE.search(text):
        return slot.values[0], steps[-1]
    compared = slot.kind == "first" and _SINCE.search(text) is not None
    return (steps[0], steps[-1]) if slot.kind in {"none", "all"} or compared else None


def _share(context: Context, metric: str, of: str, step: int) -> Fact | None:
    cells = [fact for name in (metric, of) if (fact := context.value(name, step)) is not None]
    if len(cells) < 2 or not number(cells[1]):
        return None
    return context.ledger.share(metric, of, step, number(cells[0]) / number(cells[1]), inputs=cells)


__all__ = ["moved"]
