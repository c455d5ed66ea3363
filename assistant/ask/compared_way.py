"""What a question of two steps says first: that the one asked about is higher, or that it is the other way round."""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.context import Context
from assistant.ask.wording import normalised
from assistant.model import Fact
from assistant.write.document import mark
from assistant.write.numbers import signed

HIGHER: Final = re.compile(
    r"(?i)高了|高多少|高出|[大长慢多](?:了|出)?多少|涨了|升了|上升了|增加了|提高了|变大了|\b(?:higher|larger|longer|slower|greater|rose|risen|increased|grew|grown)\b"
)
_LOWER: Final = re.compile(
    r"(?i)低了|低多少|低出|[小短快少](?:了|出)?多少|跌了|降了|下降了|减少了|降低了|变小了|\b(?:lower|smaller|shorter|faster|fell|fallen|dropped|decreased|shrunk)\b"
)
_WHICH_ONE: Final = re.compile(r"(?i)哪|谁|\bwhich\b")
#: Between what is compared and what it is compared with.
_THAN: Final = re.compile(r"(?i)比(?!例|值|率|重)|\bthan\b")


def other_way(context: Context, change: Fact) -> str:
    """Said first where a question asks how much higher a metric is and it is lower, or the other way round.

    "Step 40 higher than step 65" is said of step 40, whichever of the two comes first: where that is so it is said as
    well, since the change from the earlier to the later step has the other sign.
    """
    text, blank = context.query.said, "" if context.language == "zh" else " "
    higher, lower = HIGHER.search(text) is not None, _LOWER.search(text) is not None
    if _WHICH_ONE.search(text) or higher == lower:
        return ""
    earlier = _of_earlier(context, change)
    delta = (change.delta or 0) * (-1 if earlier else 1)
    if (delta < 0 and higher) or (delta > 0 and lower):
        name = "lower" if higher else "higher"
        if not earlier:
            return context.say(f"compare.not_{'higher' if higher else 'lower'}") + blank
        return _said(context, change, f"compare.earlier_not_{name}") + blank
    return (
        _said(context, change, f"compare.earlier_{'higher' if higher else 'lower'}") + blank
        if earlier and delta
        else ""
    )


def _said(context: Context, change: Fact, phrase: str) -> str:
    size = signed(abs(change.delta or 0.0), context.kind_of(str(change.metric)), language=context.language).lstrip("+")
    return context.say(phrase, a=change.from_step or 0, b=change.to_step or 0, d=mark(change.id, size))


def _of_earlier(context: Context, change: Fact) -> bool:
    """Whether what is compared is the earlier of the two steps: it is named alone before "than"."""
    text = normalised(context.query.wording or context.query.text)
    than = _THAN.search(text)
    if than is None:
        return False
    named = [
        [step for step in (change.from_step, change.to_step) if re.search(rf"(?<![\d.]){step}(?![\d.])", part)]
        for part in (text[: than.start()], text[than.end() :])
    ]
    return named[0] == [change.from_step] and change.from_step not in named[1]
