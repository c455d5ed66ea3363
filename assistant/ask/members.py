"""Two members of one family set against each other: the longest response and the mean one, the largest reward and the
smallest of a step."""

from __future__ import annotations

import re
from typing import Final

from assistant.ask.blanking import figures
from assistant.ask.context import Context
from assistant.ask.naming import named_keys
from assistant.ask.portions import Quantity
from assistant.ask.wording import normalised

_MEMBER: Final = re.compile(r"(?<=[/_])(?:mean|avg|max|min)(?=[/_]|$)")
_WORDS: Final = {
    "max": re.compile(
        r"(?i)\b(?:max(?:imum)?|longest|largest|highest|biggest|greatest|top)\b|最[大长高](?:值|的)?|最大"
    ),
    "min": re.compile(r"(?i)\b(?:min(?:imum)?|shortest|smallest|lowest|least)\b|最[小短低](?:值|的)?"),
    "mean": re.compile(r"(?i)\b(?:mean|average|avg)\b|平均(?:值|数|的)?|均值"),
}
_RATIO: Final = re.compile(
    r"(?i)\bratio\b|\btimes\b|\bdivided by\b|\bover the\b|\bfactor\b|几倍|多少倍|倍数|之比|比值|比例|除以"
    r"|(?:max|min|mean|avg|average)\w*\s?/\s?(?:max|min|mean|avg|average)"
)
_MINUS: Final = re.compile(
    r"(?i)\b(?:difference|gap|minus|spread|distance)\b|\bhow (?:much|far) (?:\w+ ){0,5}"
    r"(?:higher|lower|longer|shorter|larger|smaller|bigger|greater|more|less|above|below|from)\b|\bby how much\b"
    r"|相差|差距|差值|之差|差多少|差(?:了)?几|减去?|[高低大小长短多少]多少|[高低大小长短多少]出?几"
)
_REVERSED: Final = re.compile(
    r"(?i)(?<!is )(?<!was )\bhow many times (?:the )?"
    r"(?:mean|average|avg|max\w*|min\w*|smallest|largest|longest|shortest)\b"
    r"|\b(?:fraction|share|percentage) of the\b"
)
_OF_LENGTH: Final = re.compile(r"(?i)(?:^|[/_])(?:\w*len(?:gth)?s?|tokens)(?:$|[/_])")
_TWO: Final = 2


def against(context: Context) -> Quantity | None:
    """The two members of one family that a question sets against each other, as a ratio or a difference.

    Both are told of each step, so a step must be named, or the family be of lengths, whose extremes are samples'; the
    highest and the lowest of the mean over a run is another matter.

    Args:
        context: of the answer; its log must hold both members.

    Returns:
        The first divided by the second, or the larger less the smaller; ``None`` where nothing of the kind is asked.
    """
    query = context.query
    text = figures(normalised(query.wording or query.text))
    ratio = _RATIO.search(text) is not None
    if not ratio and _MINUS.search(text) is None:
        return None
    keys = list(dict.fromkeys(named_keys(context)))
    if len({_family(key) for key in keys}) != 1:
        return None
    pair = _typed(text, keys)
    if not pair:
        placed = sorted((found.start(), name) for name, word in _WORDS.items() if (found := word.search(text)))
        stepped = query.steps.kind in {"single", "pair", "last", "first"}
        if len(placed) != _TWO or not (stepped or _OF_LENGTH.search(keys[0])):
            return None
        members = [_member(context, keys[0], name) for _, name in placed]
        pair = [member for member in members if member is not None]
    if len(set(pair)) != _TWO:
        return None
    if ratio:
        first, second = reversed(pair) if _REVERSED.search(text) else pair
        return Quantity(first, second)
    larger, smaller = sorted(pair, key=lambda key: ("max", "avg", "mean", "min").index(_MEMBER.findall(key)[-1]))
    return Quantity(larger, smaller, minus=True)


def _typed(text: str, keys: list[str]) -> list[str]:
    """Two keys that the question spells out, in its order."""
    placed = sorted((text.find(key), key) for key in keys if key in text and _MEMBER.search(key))
    return [key for _, key in placed] if len(placed) == _TWO else []


def _family(key: str) -> str:
    return _MEMBER.sub("*", key)


def _member(context: Context, key: str, name: str) -> str | None:
    """The member of a key's family that a word means; ``None`` where the log lacks it."""
    names = ("mean", "avg") if name == "mean" else (name,)
    made = (_MEMBER.sub(one, key) for one in names)
    return next((one for one in made if _MEMBER.search(one) and one in context.run.columns), None)


__all__ = ["against"]
