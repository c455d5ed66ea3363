"""Words written as one, and a word written as two: ``onloadtime``, ``ti_me``.

What is written as one is parted where its words are likeliest, each weighed by how often the cards hold it (Norvig,
"Natural language corpus data", 2009).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

_SHORTEST: Final = 3
_LONGEST: Final = 14
"""Letters of one word."""

_SHORTEST_RUN: Final = 6
_LONGEST_RUN: Final = 50
_OFTEN: Final = 3
"""How often the cards must hold a word for it to be a part."""

_LITTLE: Final = frozenset(
    ("of", "the", "is", "in", "at", "to", "by", "on", "and", "per", "for", "with", "kl", "lr", "pg", "vf", "gpu")
)
_LEAST_MEAN: Final = 3.0
"""Letters that the parts have on average, at least: anything can be written in shorter ones."""

_BROKEN: Final = re.compile(r"(?<![a-z0-9_/@.-])([a-z]{1,12})[ _-]([a-z]{1,12})(?![a-z0-9_/@])")
_SHORTEST_WHOLE: Final = 4


def parted(run: str, counts: Mapping[str, int], names: Collection[str]) -> str | None:
    """The likeliest words of a run of letters, two at least; ``None`` if it is none.

    Args:
        run: in lower case.
        counts: how often each word is held.
        names: words that count even if they are seldom held.
    """
    if not _SHORTEST_RUN <= len(run) <= _LONGEST_RUN or not run.isalpha():
        return None
    whole = math.log(sum(counts.values()) + 1.0)
    best: list[tuple[float, tuple[str, ...]] | None] = [(0.0, ())] + [None] * len(run)
    for end in range(2, len(run) + 1):
        for begin in range(max(0, end - _LONGEST), end - 1):
            before, word = best[begin], run[begin:end]
            if before is None or not (
                word in _LITTLE or (len(word) >= _SHORTEST and (counts.get(word, 0) >= _OFTEN or word in names))
            ):
                continue
            score = before[0] + math.log(counts.get(word, 0) + 1.0) - whole
            known = best[end]
            if known is None or score > known[0]:
                best[end] = (score, (*before[1], word))
    found = best[-1]
    if found is None or len(found[1]) < 2 or len(run) / len(found[1]) < _LEAST_MEAN:
        return None
    return " ".join(found[1]) if any(word not in _LITTLE for word in found[1]) else None


def broken(text: str, counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Pairs of what stands in a folded text as two though it is one word of the cards, and the word: ``gradie nt``.

    One of the two at least is no word itself.
    """
    at = 0
    while (match := _BROKEN.search(text, at)) is not None:
        first, last = match.groups()
        one = first + last
        if len(one) >= _SHORTEST_WHOLE and counts.get(one, 0) >= _OFTEN and not (first in counts and last in counts):
            yield match.group(), one
            at = match.end()
        else:
            at = match.end(1)


def unbracketed(token: str) -> str:
    """A name without a bracket that was opened before it: ``(value) loss``."""
    return token if token.count("(") >= token.count(")") else token.rstrip(")")
