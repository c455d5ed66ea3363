"""Limits that a question names: ``("above", 0.05)`` for "超过 0.05". The wordings stand in ``limits.yaml``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from assistant import resources
from assistant.model import KnowledgeError

_SIDES: Final = ("above", "below")
_PARTS: Final = frozenset({"before", "after", "nonzero", "negative", "sought"})
_NUMBER: Final = r"(-?\d[\d.]*(?:e-?\d+)?)\s*(%|％|个百分点|percent\b|pct\b|per ?cent\b)?"
_FILLER: Final = r"(?:\s|过|了|到|的|满分|的?大约|大概|约|the\b|a\b|an\b|about\b|around\b|like\b)*"
_NO_LIMIT: Final = (
    r"(?![\d.]*\s*(?:步|steps?\b|iterations?\b|updates?\b))"
    r"(?![\d.]*\s*(?:-|–|—|~|～|→|->|=>|\bto\b|through\b|到|至)\s*\d)"
)
"""A number of steps, or the first of a range, is no limit."""
_SCALE: Final = re.compile(
    r"(?i)\s*(?:(minutes?\b|mins?\b|分钟?)|(hours?\b|hrs?\b|小时)|(k\b|千)|(万)|(ms\b|毫秒)|(?:seconds?\b|secs?\b|秒|s\b))?"
)
_SCALES: Final = (60.0, 3600.0, 1e3, 1e4, 1e-3)
_NOT_A_STEP: Final = re.compile(r"(?i)(?:steps?|第|步|iteration|epoch)\s*$")
_AHEAD: Final = re.compile(r"会|能|什么时候|啥时候|何时|几时|多久")
_TO: Final = re.compile(rf"(?i)到{_FILLER}{_NUMBER}{_NO_LIMIT}")


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit and where it stands in the question."""

    side: str
    value: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Words:
    before: re.Pattern[str]
    after: re.Pattern[str]
    nonzero: re.Pattern[str]
    negative: re.Pattern[str]
    sought: re.Pattern[str]


@lru_cache(maxsize=1)
def _words() -> _Words:
    """The wordings of ``limits.yaml``, compiled.

    Raises:
        KnowledgeError: a part of the file is missing or unknown.
    """
    path = Path(__file__).with_suffix(".yaml")
    raw = resources.yaml_table(path)
    odd = _PARTS ^ set(raw) or {
        f"{part}.{side}" for part in ("before", "after") for side in set(_SIDES) ^ set(raw[part])
    }
    if odd:
        names = ", ".join(sorted(odd))
        raise KnowledgeError(
            zh=f"{path.name}：缺少或多出的部分：{names}。", en=f"{path.name}: missing or unknown: {names}."
        )

    def sides(part: dict[str, Sequence[str]]) -> str:
        return "|".join(f"(?P<{side}>{'|'.join(part[side])})" for side in _SIDES)

    return _Words(
        re.compile(rf"(?i)(?:{sides(raw['before'])}){_FILLER}{_NUMBER}{_NO_LIMIT}"),
        re.compile(
            rf"(?i){_NUMBER}\s*(?P<unit>分钟?|小时|毫秒|秒|k\b|千|万|minutes?|mins?|hours?|hrs?|ms|seconds?|secs?|s)?"
            rf"\s*(?:的)?(?:{sides(raw['after'])})"
        ),
        *(re.compile(rf"(?i){raw[name]}") for name in ("nonzero", "negative", "sought")),
    )


def limit_in(text: str) -> Limit | None:
    """The first limit that a question names; percentages as fractions, minutes and hours in seconds."""
    words = _words()
    if match := words.before.search(text):
        side = "above" if match["above"] else "below"
        number, percent = match.group(3), match.group(4)
        rest = text[match.end() :]
        behind = re.match(r"\s*(?:[A-Za-z]+|秒|分钟?)?\s*(?:的)?(以下|之下|下面|以上|之上)", rest)
        if behind and match["above"] and behind[1] in {"以下", "之下", "下面"}:
            side = "below"
        return Limit(side, _fraction(number, percent) * _scale(rest), match.start(), match.end())
    for match in words.after.finditer(text):
        if not _NOT_A_STEP.search(text[: match.start(1)]):
            side = "above" if match["above"] else "below"
            scale = _scale(match["unit"] or "")
            return Limit(side, _fraction(match[1], match[2]) * scale, match.start(), match.end())
    if (match := _TO.search(text)) and _AHEAD.search(text):
        return Limit("above", _fraction(match[1], match[2]) * _scale(text[match.end() :]), match.start(), match.end())
    if match := words.nonzero.search(text):
        return Limit("above", 0.0, match.start(), match.end())
    if words.sought.search(text) and (match := words.negative.search(text)):
        return Limit("below", 0.0, match.start(), match.end())
    return None


def threshold_in(text: str) -> tuple[str, float] | None:
    """A limit as side and number: ``("above", 0.05)`` for "超过 0.05"."""
    found = limit_in(text)
    return None if found is None else (found.side, found.value)


def _scale(rest: str) -> float:
    """What a limit's unit is of the logged one: times are logged in seconds, counts in ones."""
    unit = _SCALE.match(rest)
    held = () if unit is None else unit.groups()
    return next((scale for scale, found in zip(_SCALES, held, strict=False) if found), 1.0)


def _fraction(number: str, percent: str | None) -> float:
    value = float(number.rstrip("."))
    return value / 100 if percent else value
