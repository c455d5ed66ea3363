"""Follow-ups that set another limit: "and 0.3?", "那 5 呢" after a question with one."""

from __future__ import annotations

import re
from dataclasses import replace

from assistant.ask.query import Query
from assistant.model import StepSlot

BARE_NUMBER = re.compile(
    r"(?i)^\s*(?:那|那么|and|what about|how about|then|or|at|in|on|for|sorry|oops|no|wait|nah|actually|hold on"
    r"|scratch that|rather|i|mean[ts]?|make (?:it|that)|same"
    r"|等等|等下|等一下|噢|哦|不是|再看|看看?|顺便|以及|还有|说错了?|打错了?|写错了?|不对|应该是|是|换成?|第|[,，\s])*\s*(\d{1,7})\s*"
    r"(?:步|的|那步|呢|too|also|(?:也|顺便|再|一起)?(?:要|看|说|讲|报|给|列|查|来)?(?:一?下|看|个)?|as well"
    r"|[?!.\s])*$"
)
#: A number and nothing else, as it stands in the text.
_ANY_WHOLE = re.compile(r"(\d+)(%)?")
#: Another limit is of the size of the one before it; a step of a long run is not.
_ALIKE = 10.0
_BARE_LIMIT = re.compile(
    r"(?i)^\s*(?:那|那么|and|what about|how about|or|with|at|换成?|要是|如果(?:是)?|when|then|past|above|over|below"
    r"|under|什么时候|何时|超过|到了?|达到|高于|大于|低于|小于|\s)*(-?\d*\.\d+|\d+(?=\s*(?:%|秒|s\b|secs?\b|ms\b|tokens?\b|gi?b\b)))\s*(%)?"
    r"\s*(?:秒|s|secs?|ms|tokens?|gi?b)?\s*(?:的|呢|[?!.\s])*$"
)
#: A whole number is a further limit where the one before was too large to be the share or the loss of a step.
_BARE_WHOLE = re.compile(
    r"(?i)^\s*(?:那|那么|and|what about|how about|or|with|at|换成?|要是|如果(?:是)?|\s)*(\d{2,})()"
    r"\s*(?:的|呢|[?!.\s])*$"
)
_LARGE = 10


def limit_meant(own: Query, before: Query, text: str) -> Query:
    """ "And 0.3?" after a question with a limit: the same with another limit."""
    match = _BARE_LIMIT.match(text)
    if match is None and before.threshold is not None and before.op in {"first_crossing", "count"}:
        whole, limit = BARE_NUMBER.match(text), abs(before.threshold[1])
        if whole and limit and 1 / _ALIKE <= int(whole[1]) / limit <= _ALIKE:  # "超过 2" and then "5 呢"
            match = _ANY_WHOLE.match(whole[1])
    if own.threshold is not None and own.steps.kind == "last_n" and own.steps.values[0] == own.threshold[1]:
        return replace(own, steps=StepSlot(), all_steps=())  # "past 1000?": a value and no step
    if match is None and before.threshold is not None and before.threshold[1] >= _LARGE:  # "and 1000?" after 100
        match = _BARE_WHOLE.match(text)
    if before.threshold is None or match is None or own.mentions or own.threshold is not None:
        return own
    value = float(match[1]) / (100 if match[2] else 1)
    return replace(own, threshold=(before.threshold[0], value), steps=StepSlot(), all_steps=(), guessed=True)
