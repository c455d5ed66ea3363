"""How the tags of a question read their numbers and names (``assistant.ask.plan.tags``)."""

from __future__ import annotations

import re
from collections.abc import Callable

from assistant.ask.steps import NUMBER_WORDS, chinese_number

Value = tuple[float | int | str, ...]


def number_of(text: str) -> int:
    """A count in figures or words."""
    if text.isdigit():
        return int(text)
    if text.lower() == "both":
        return 2
    return NUMBER_WORDS.get(text.lower()) or chinese_number(text)


def counts(match: re.Match[str]) -> Value:
    """Its numbers."""
    return tuple(number_of(group) for group in match.groups() if group)


def named(*names: str | float) -> Callable[[re.Match[str]], Value]:
    """What a rule says by itself."""
    return lambda _match: names


def limit(kind: str) -> Callable[[re.Match[str]], Value]:
    """A limit of that kind, in seconds and plain numbers."""

    def read(match: re.Match[str]) -> Value:
        value = float(match[1].replace(",", ""))
        scale = (match[2] or "").lower()
        unit = (match[3] or "").lower()
        value *= 1000 if scale == "k" else 60 if unit[:3] == "min" or unit == "分钟" else 1
        value *= 3600 if unit[:1] == "h" or unit == "小时" else 1
        return kind, value, "%" if scale in {"%", "％", "percent"} else ""

    return read


def crossed(kind: str) -> Callable[[re.Match[str]], Value]:
    """A limit that is first met somewhere."""
    read = limit(kind)
    return lambda match: (*read(match), "crossed")


def between(match: re.Match[str]) -> Value:
    """Two limits."""
    low, scale, high, other = [group or "" for group in (match.groups()[:4] if match[1] else match.groups()[4:8])]
    ends = sorted(float(one.replace(",", "")) * (1000 if (scale or other).lower() == "k" else 1) for one in (low, high))
    return (
        "between",
        ends[0],
        "%" if (scale or other) in {"%", "％"} or (scale or other).lower() == "percent" else "",
        ends[1],
    )


def nothing(_match: re.Match[str]) -> Value:
    """Nothing."""
    return ()


def rule(
    kind: str, words: str, read: Callable[[re.Match[str]], Value] = nothing
) -> tuple[str, re.Pattern[str], Callable[[re.Match[str]], Value]]:
    """Kind, words, and what of them is kept."""
    return kind, re.compile(words, re.IGNORECASE), read
