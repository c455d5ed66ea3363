"""Misspelt short names: letters of an acronym in another order, doubled or left out; the head of ``best@8``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

_ACRONYM: Final = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z]{2,5}|MoE)(?![A-Za-z0-9])")
_VOWELLESS: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{3,5}")
_COUNTED: Final = re.compile(r"([a-z]{2,6})@{1,2}(\d{1,4}|[kn])((?:/[a-z]+)?)")
_HEADS: Final = ("pass", "maj", "mean", "best", "worst", "avg", "cons", "std")
_SHORTEST_LEFT_OUT: Final = 4
"""Letters of an acronym of which one may be missing."""

_LONGEST: Final = 6


class Acronyms:
    """Mends short names.

    Args:
        texts: titles and explanations, in which acronyms are upper-case.
        names: further names; those without a vowel are short for something, too.
        knows: whether a word in lower case is spelt right.
    """

    def __init__(self, texts: Iterable[str], names: Iterable[str], knows: Callable[[str], bool]) -> None:
        self._knows = knows
        found = {name.lower() for text in texts for name in _ACRONYM.findall(text)}
        found |= {name.lower() for name in names if _VOWELLESS.fullmatch(name.lower())}
        self._of_letters: dict[str, set[str]] = {}
        for name in found:
            self._of_letters.setdefault("".join(sorted(name)), set()).add(name)
        self._names = frozenset(found)

    def mend(self, name: str) -> str | None:
        """The short name that was meant by a folded word; ``None`` if it is right, or like none or several."""
        counted = _COUNTED.fullmatch(name)
        if counted is not None:
            return _counted(counted)
        if not name.isalpha() or len(name) > _LONGEST or name in self._names or self._knows(name):
            return None
        alike = self._of_letters.get("".join(sorted(name)), set())
        if not alike and len(name) > 2:
            shorter = {name[:at] + name[at + 1 :] for at in range(1, len(name)) if name[at] == name[at - 1]}
            longer = {other for other in self._names if len(other) >= _SHORTEST_LEFT_OUT and _lacks_one(name, other)}
            alike = (shorter & self._names) | longer
        return next(iter(alike)) if len(alike) == 1 else None


def _counted(match: re.Match[str]) -> str | None:
    """The right head of a score over several tries, its sign put once."""
    from rapidfuzz.distance import OSA

    head, tries, rest = match.groups()
    if head not in _HEADS:
        near = [own for own in _HEADS if OSA.distance(head, own) == 1 or sorted(head) == sorted(own)]
        if len(near) != 1:
            return None
        head = near[0]
    right = f"{head}@{tries}{rest}"
    return right if right != match.group() else None


def _lacks_one(name: str, other: str) -> bool:
    """Whether a word is another one without one of its letters."""
    return len(other) == len(name) + 1 and any(other[:at] + other[at + 1 :] == name for at in range(len(other)))
