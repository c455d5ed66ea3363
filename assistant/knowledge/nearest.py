"""The known names most like one that nothing is called, for an error message: no guess, only an offer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import SequenceMatcher
from heapq import nlargest
from itertools import zip_longest
from typing import Final

LEAST_LIKENESS: Final = 0.55
"""Names less alike than this (0 to 1) are only suggested when no name is."""

_FIELD: Final = re.compile(r"\{[^{}]*\}")
_TAIL: Final = 0.9
_OWN: Final = 0.05
_ROUNDING: Final = 1e-9
STATISTICS: Final = frozenset({"mean", "max", "min", "std", "sum", "avg", "count", "total", "median"})
"""Ends that half of all keys have: two keys are not alike for it."""


def nearest_names(text: str, names: Collection[str], own: Collection[str], k: int) -> list[str]:
    """The ``k`` names most like a text, best first.

    Args:
        text: what was typed, folded.
        names: what is known, folded; templates too, whose fields are filled from the text before it is compared.
        own: those of the log at hand, which come a little before others.
        k: how many.
    """
    scored = alike_names(text, names, own, k)
    return [name for name, likeness in scored if likeness >= LEAST_LIKENESS] or [name for name, _ in scored]


def alike_names(text: str, names: Collection[str], own: Collection[str], k: int) -> list[tuple[str, float]]:
    """The ``k`` names most like a text with their likeness (0 to 1, :func:`difflib.SequenceMatcher.ratio`), best first.

    Only names that may be among them are compared: matching blocks are a common subsequence, so that the ratio of the
    longest one (``rapidfuzz.distance.Indel``, fast) is an upper bound of theirs.
    """
    tail = text.rsplit("/", 1)[-1]
    by_tail = tail not in STATISTICS
    likeness = {name: _ratio(text, filled) for name, filled in _filled(text, (name for name in names if "{" in name))}
    best = nlargest(k, likeness.values())
    plain = [name for name in names if "{" not in name]
    for name, most in _bounds(text, tail if by_tail else None, plain, own):
        if len(best) >= k and most < best[-1]:
            break
        alike = _ratio(text, name)
        if by_tail:
            alike = max(alike, _TAIL * _ratio(tail, name.rsplit("/", 1)[-1]))
        likeness[name] = alike + (_OWN if name in own else 0.0)
        best = nlargest(k, [*best, likeness[name]])
    order = {name: at for at, name in enumerate(names)}
    return sorted(likeness.items(), key=lambda pair: (-pair[1], "{" in pair[0], order[pair[0]]))[:k]


def _bounds(text: str, tail: str | None, names: Collection[str], own: Collection[str]) -> list[tuple[str, float]]:
    """The most that each name's likeness can be, the greatest first; without a tail, ends are not compared."""
    from rapidfuzz import process
    from rapidfuzz.distance import Indel

    alike = Indel.normalized_similarity
    most = {name: float(value) for name, value, _ in process.extract(text, names, scorer=alike, limit=None)}
    if tail is not None:
        ends = list(dict.fromkeys(name.rsplit("/", 1)[-1] for name in names))
        by_end = {end: float(value) for end, value, _ in process.extract(tail, ends, scorer=alike, limit=None)}
        most = {name: max(value, _TAIL * by_end[name.rsplit("/", 1)[-1]]) for name, value in most.items()}
    bounds = ((name, value + (_OWN if name in own else 0.0) + _ROUNDING) for name, value in most.items())
    return sorted(bounds, key=lambda pair: -pair[1])


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
