"""The two steps between which a question asks for a change: named ones, the ends of a part, an extreme.

"从最高到最后掉了百分之多少", "how many times larger over the last 3 steps": read alike for a percentage and a factor.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.computed import SMALL_IS_GOOD
from assistant.ask.part import Part
from assistant.model import StepSlot

_LOW: Final = r"最低|最小|谷底|低点"
_HIGH: Final = r"最高|最大|峰值|顶点|高点"
_FROM: Final = re.compile(
    rf"(?i)[从自比由](?:它的)?(?:(?P<low>{_LOW})|(?P<high>{_HIGH})|(?P<best>最好|最佳)|(?P<worst>最差))"
    r"|\b(?:from|since|over|above|below) (?:its|the) "
    r"(?:(?P<low_en>low(?:est)?|min(?:imum)?|bottom)|(?P<high_en>high(?:est)?|max(?:imum)?|peak|top)"
    r"|(?P<best_en>best)|(?P<worst_en>worst))"
)
_TO: Final = re.compile(
    rf"(?i)到(?:它的)?(?:(?P<low>{_LOW})|(?P<high>{_HIGH})|(?P<best>最好|最佳)|(?P<worst>最差))"
    r"|\bto (?:its|the) "
    r"(?:(?P<low_en>low(?:est)?|min(?:imum)?|bottom)|(?P<high_en>high(?:est)?|max(?:imum)?|peak|top)"
    r"|(?P<best_en>best)|(?P<worst_en>worst))"
)


def ends(text: str, part: Part, slot: StepSlot) -> tuple[int, int]:
    """First and last step of the change asked for.

    Args:
        text: the question, names of metrics blanked.
        part: the values of the metric in the part of the run that is named.
        slot: the steps named.
    """
    named = slot.kind == "pair" or (slot.kind == "range" and set(slot.values) <= set(part.steps))
    first, last = (slot.values[0], slot.values[1]) if named else (part.steps[0], part.steps[-1])
    start, end = _FROM.search(text), _TO.search(text)
    if start is not None:
        first = _extreme(start, part, part.steps[0])
    if end is not None:
        last = _extreme(end, part, first if start is not None else part.steps[0])
    return first, last


def _extreme(named: re.Match[str], part: Part, since: int) -> int:
    """The step of the extreme named, from a step on."""
    high = named["high"] or named["high_en"]
    if any(named[name] for name in ("best", "best_en", "worst", "worst_en")):
        good = bool(named["best"] or named["best_en"])
        high = good != bool(SMALL_IS_GOOD.search(part.metric))
    held = [(value, step) for value, step in zip(part.values, part.steps, strict=True) if step >= since]
    value = (max if high else min)(one for one, _ in held)
    return next(step for one, step in held if one == value)
