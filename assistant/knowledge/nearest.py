"""The known names most like one that nothing is called, for an error message: no guess, only an offer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final

LEAST_LIKENESS: Final = 0.55
"""Names less alike than this (0 to 1) are only suggested when no name is."""

_FIELD: Final = re.compile(r"\{[^{}]*\}")
_TAIL: Final = 0.9
_OWN: Final = 0.05
_STATISTICS: Final = frozenset({"mean", "max", "min", "std", "sum", "avg", "count", "total", "median"})
"""Ends that half of all keys have: two keys are not alike for it."""


def nearest_names(text: str, names: Collection[str], own: Collection[str], k: int) -> list[str]:
    """The ``k`` names most like a text, best first.

    Args:
        text: what was typed, folded.
        names: what is known, folded; templates too, whose fields are filled from the text before it is compared.
        own: those of the log at hand, which come a little before others.
        k: how many.
    """
    tail = text.rsplit("/", 1)[-1]
    likeness: dict[str, float] = {}
    for name in names:
        if "{" in name:
            continue
        alike = _ratio(text, name)
        if tail not in _STATISTICS:
            alike = max(alike, _TAIL * _ratio(tail, name.rsplit("/", 1)[-1]))
        likeness[name] = alike + (_OWN if name in own else 0.0)
    for name, filled in _filled(text, (name for name in names if "{" in name)):
        likeness[name] = _ratio(text, filled)
    scored = sorted(likeness, key=lambda name: -likeness[name])
    alike_ones = [name for name in scored if likeness[name] >= LEAST_LIKENESS]
    return (alike_ones or scored)[:k]


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()


def _filled(text: str, templates: Iterable[str]) -> list[tuple[str, str]]:
    """Templates that begin as a text does, with their fields filled from it: what is left is how they differ."""
    given = text.split("/")
    result = []
    for template in templates:
        parts = template.split("/")
        if parts[0] != given[0] or len(given) == 1:
            continue
        filled = [_filled_part(part, own) for part, own in zip_longest(parts, given[: len(parts)], fillvalue="")]
        result.append((template, "/".join(filled)))
    return result


def _filled_part(part: str, own: str) -> str:
    if _FIELD.fullmatch(part):
        return own
    number = own.rpartition("@")[2]
    return _FIELD.sub(number, part) if number.isdigit() else part
