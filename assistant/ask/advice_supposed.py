"""Advice on what has not happened: a gradient norm that would grow large, a learning rate that would be changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.ask.context import Context
from assistant.ask.schedules import is_schedule

_NORM: Final = re.compile(r"(?i)grad(?:ient)?_norm")
_GROWN: Final = re.compile(
    r"(?i)到了?|超过|大于|爆|飙|变大|升|涨"
    r"|\b(?:reach\w*|exceed\w*|hits?|above|over|goes? up|jumps?|explodes?|grows?|spikes?)\b"
)
_NUMBER: Final = re.compile(r"(?<![\w.])\d{1,12}(?:\.\d{1,12})?(?:e-?\d{1,3})?(?![\w.])", re.I)
_UP: Final = re.compile(
    r"(?i)调大|调高|提高|加大|增大|升到|翻倍|\b(?:rais\w+|increas\w+|higher|larger|bigger|doubl\w+|up to)\b"
)
_DOWN: Final = re.compile(r"(?i)调小|调低|降低|减小|降到|减半|\b(?:lower\w*|reduc\w+|decreas\w+|smaller|halv\w+)\b")
#: A change whose size is told without a number.
_SIZED: Final = re.compile(r"(?i)翻倍|减半|\b(?:doubl|halv)\w+")
_TO: Final = re.compile(r"(?i)[到成为至]|\bto\b|→|->")


def supposed(context: Context, named: Sequence[str], *, hypothetical: bool) -> str:
    """What to do, or what to expect, in a case that the question supposes; empty for any other question."""
    said = context.query.said
    if hypothetical and any(_NORM.search(metric) for metric in named) and _GROWN.search(said):
        return context.say("advice.if_gradient_large")
    if any(is_schedule(metric) for metric in named):
        way = _way(said)
        if way:
            return context.say(f"advice.if_rate_{way}")
    return ""


def _way(said: str) -> str:
    """Which way a question would change a setting, by its two numbers or by its verb; empty where neither tells."""
    numbers = [float(one) for one in _NUMBER.findall(said)]
    if len(numbers) == 2 and _TO.search(said) and numbers[0] != numbers[1]:
        return "up" if numbers[1] > numbers[0] else "down"
    if not numbers and _SIZED.search(said) is None:  # "should I lower it?" supposes no value
        return ""
    ways = [name for name, pattern in (("up", _UP), ("down", _DOWN)) if pattern.search(said)]
    return ways[0] if len(ways) == 1 else ""
