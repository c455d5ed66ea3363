"""Whether a metric came back from its extreme, as a question says or asks: "eval loss 反弹了吧", "val 回升了吗".

The first value against the last tells nothing of that: a loss may end far below its start and still have risen again.
"""

from __future__ import annotations

import re
from itertools import pairwise
from statistics import median
from typing import Final

from assistant.ask.blanking import without_names
from assistant.ask.context import Context
from assistant.ask.naming import central, named_keys
from assistant.ask.part import Part, cell, part_of
from assistant.ask.parts import number
from assistant.ask.scope import Scope
from assistant.ask.wording import normalised

_UP: Final = re.compile(
    r"(?i)反弹|回升|又\s*(?:往上)?[涨升](?:回|上)[来去]?|[涨升]回(?:来|去)|\brebound\w*|\bbounc\w+ back"
    r"|\b(?:c[ao]me|g(?:o|oes|oing|one)|went|crept|creep\w*|ris\w+|rose|climb\w*) back up"
)
_DOWN: Final = re.compile(
    r"(?i)回落|又\s*(?:往下)?[掉跌降](?:回|下)[来去]?|[掉跌降]回(?:来|去)"
    r"|\b(?:f[ae]ll(?:en|s|ing)?|dropp?(?:ed|s|ing)?|slid) back(?: down)?\b"
    r"|\b(?:c[ao]me|gone|went|g(?:o|oes|oing)) back down\b"
)
_ELSE: Final = re.compile(
    r"(?i)[哪几](?:一)?步|什么时候|何时|多少|几(?!乎)|如果|要是|假如|会不会|会(?=再?[反回])|为什么|为啥|怎么|没有?(?:再)?(?:反弹|回[升落])"
    r"|之[前后]|以[前后]|step ?\d|第 ?\d|一次|\b(?:when|which|how|why|if|whether|will|would|after|before|since)\b"
)
LEAST: Final = 4
#: A move back by more than so many times what led to the extreme is no return from it.
MOST_BACK: Final = 1.5


def told(context: Context) -> str:
    """Whether it came back, how far; empty where nothing of the kind is said, or it has no extreme to come from."""
    text = normalised(context.query.wording or context.query.text)
    up, down = _UP.search(text) is not None, _DOWN.search(text) is not None
    if up == down or len(context.runs) != 1 or context.query.threshold is not None:
        return ""
    if _ELSE.search(without_names(text, context.query.mentions)):
        return ""
    keys = [key for key in central(named_keys(context)) if key in context.run.columns]
    part = part_of(context, keys[0], Scope()) if len(keys) == 1 else None
    return "" if part is None or len(part) < LEAST else _said(context, part, up=up)


def _said(context: Context, part: Part, *, up: bool) -> str:
    far = (min if up else max)(range(len(part)), key=lambda place: part.values[place])
    side, last = "up" if up else "down", cell(context, part, len(part) - 1)
    if far == len(part) - 1:
        return context.say(f"put.not_back_{side}", metric=part.metric, last=last)
    if far == 0:
        return ""
    before = (max if up else min)(range(far), key=lambda place: part.values[place])
    lowest, top = cell(context, part, far), cell(context, part, before)
    whole, back = abs(number(top) - number(lowest)), abs(number(last) - number(lowest))
    if back > MOST_BACK * whole:
        return ""
    usual = median(abs(b - a) for a, b in pairwise(part.values))
    if not whole or back <= usual:
        return context.say(f"put.hardly_{side}", metric=part.metric, far=lowest, last=last, top=top)
    share = context.ledger.derived(
        f"share of {part.metric} come back", back / whole, inputs=[lowest, last, top], unit="fraction",
        formula="(last − extreme) / (extreme before − extreme)",
    )  # fmt: skip
    return context.say(f"put.back_{side}", metric=part.metric, far=lowest, last=last, top=top, share=share)


__all__ = ["told"]
