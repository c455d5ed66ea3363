"""Whether an outcome goes on getting better, asked of one that has not got better so far."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.analysis.held_out import held_out
from assistant.analysis.trend import MIN_POINTS
from assistant.ask.context import Context
from assistant.ask.outcomes import rewarded

_GOES_ON: Final = re.compile(
    r"(?i)\b(?:keep(?:s|ing)?(?: on)?|continue[sd]?(?: to)?|go(?:es)? on) "
    r"(?:improv|increas|ris|climb|go(?:ing)? up|get(?:ting)? better|gain|learn)\w*"
    r"|(?:还会|继续|会再|会一直)(?:再|继续|接着)?(?:变好|涨|上升|提升|提高|进步|升)"
)


def not_so_far(context: Context, keys: Sequence[str]) -> str:
    """That what would go on has not begun, for scores that show no rise; empty for other questions and courses."""
    if _GOES_ON.search(context.query.said) is None:
        return ""
    reward = rewarded(context.run)
    scores = {*(() if reward is None else reward.metrics), *(m for m in keys if held_out(m) and "loss" not in m)}
    if not keys or set(keys) - scores:
        return ""
    trends = [context.ledger.trend(metric) for metric in keys]
    if any(t is None or (t.n or 0) < MIN_POINTS or t.direction in {"rising", "inconclusive"} for t in trends):
        return ""
    return context.say("trend.not_so_far")
