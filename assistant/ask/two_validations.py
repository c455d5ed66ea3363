"""Two validations of a stretch that a question is about: the change between them, judged, and yes or no first."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from assistant.analysis.held_out import held_out
from assistant.ask.context import Context
from assistant.model import Fact

_DOWN: Final = re.compile(
    r"(?i)\b(?:drop|fell|fall|go(?:ne)? down|went down|decreas|declin|lower|wors|regress|degrad|lose|lost)\w*"
    r"|掉|降|跌|下滑|回落|退步|变差|变低|变坏"
)
_UP: Final = re.compile(
    r"(?i)\b(?:ris|rose|go(?:ne)? up|went up|increas|improv|higher|better|gain|grow|grew|climb)\w*"
    r"|升|涨|提高|进步|变好|变高"
)
_WHETHER: Final = re.compile(
    r"(?i)\b(?:is|was|are|were|did|does|do|has|have)\b|吗|么|没有?[?？]?$|有没有|是不是|是否|了没"
)


def two_validations(context: Context, metric: str, held: Sequence[Fact]) -> str:
    """The change between two validations as a sentence; empty for other metrics and other numbers of values."""
    from assistant.ask.answer_compare import judge
    from assistant.ask.validation_errors import as_validated

    if len(held) != 2 or not held_out(metric):
        return ""
    change = context.ledger.change(metric, held[0].step or 0, held[1].step or 0)
    if change is None or change.delta is None or not math.isfinite(change.delta):
        return ""
    lead = _lead(context, change.delta)
    gap = " " if lead and context.language == "en" else ""
    return lead + gap + judge(context, as_validated(context, change))[1]


def _lead(context: Context, delta: float) -> str:
    """Yes or no, where the question asks whether it went one way; empty otherwise."""
    text = context.query.said
    down, up = _DOWN.search(text) is not None, _UP.search(text) is not None
    if down == up or _WHETHER.search(text) is None:
        return ""
    if delta == 0:
        return context.say("two.no_same")
    if delta < 0:
        return context.say("two.yes_lower" if down else "two.no_lower")
    return context.say("two.yes_higher" if up else "two.no_higher")
