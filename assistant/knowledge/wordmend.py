"""Misspelt English words, mended by what the cards' texts say around them.

A word that no card holds is taken for the one that is a slip of the keyboard away and fits best between its neighbours:
a noisy channel with a bigram prior (Kernighan, Church and Gale 1990, "A spelling correction program based on a noisy
channel model"; Mays, Damerau and Mercer 1991, "Context based spelling correction"). Short words are only mended where
a neighbour vouches for it or the letters are the same: too many of them are one slip apart.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final

from assistant.knowledge import segments
from assistant.knowledge.terms import stem

_WORD: Final = re.compile(r"[a-z]+")
_SHORTEST: Final = 3
_SHORT: Final = 4
_LONG: Final = 8
"""Letters from which on a word may hold two slips."""

_SHORTEST_PAIR: Final = 6
_LONGEST_RUN: Final = 50
"""Letters of words that were written as one, at least and at most."""

_MIDDLING: Final = 6
"""Letters from which on it may if a neighbour vouches for the word that was meant, or its letters are the same."""

_TWO: Final = 2

_SLIP: Final = 3.0
"""What a slip costs, in nats."""

_SAME_LETTERS: Final = 1.0
_OTHER_FIRST: Final = 2.0
"""What a first letter that differs costs: it is seldom mistyped."""

_NEIGHBOUR: Final = 1.5
_MOST: Final = 40
_REMEMBERED: Final = 4096
_COMMON: Final = 5.5
"""Logarithm of how often a word must be held to be believed without a neighbour, where the typed one is short."""


class WordMender:
    """Mends words by the words of some texts.

    Args:
        texts: text → how much each of its words counts.
        known: further words that are spelt right.
        of_names: words of which names consist; two of them written as one are known, too.
    """

    def __init__(
        self, texts: Iterable[tuple[str, int]], known: Iterable[str] = (), of_names: Iterable[str] = ()
    ) -> None:
        self._counts: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()
        for text, weight in texts:
            words = _WORD.findall(text.lower())
            for word in words:
                self._counts[word] += weight
            for pair in pairwise(words):
                self._pairs[pair] += weight
        self._known = {*self._counts, *known}
        self._of_names = frozenset(of_names)
        self._stems = {stem(word) for word in self._known if len(word) > _SHORT}
        self._choices = sorted(word for word in self._counts if len(word) >= _SHORTEST)
        self._near: dict[str, list[tuple[str, int]]] = {}

    @property
    def counts(self) -> Mapping[str, int]:
        """How often each word is held."""
        return self._counts

    def knows(self, word: str) -> bool:
        """Whether a word in lower case is spelt right."""
        return len(word) < _SHORTEST or word in self._known or self._is_form(word)

    def _is_form(self, word: str) -> bool:
        """Whether a word is a known one with another ending, perhaps misspelt: ``cliping``.

        Three letters in common are enough only if they are a word: ``wating`` is no form of ``water``. Nor is a word
        without its last e one, or without its last r: ``polic`` is no form of ``police``, ``numbe`` none of ``number``.
        """
        base = stem(word)
        if base == word and f"{word}e" in self._known:
            return False
        if word.endswith("e") and f"{word}r" in self._known and base not in self._known:  # "numbe"
            return False
        whole = len(base) > _SHORTEST or base in self._counts or f"{base}e" in self._counts
        return len(word) > _SHORT and base in self._stems and whole

    def mend(self, word: str, before: str = "", after: str = "") -> str | None:
        """The word that was meant; ``None`` if the word is right, or like nothing.

        Args:
            word: in lower case, letters only.
            before: the word on its left, ``""`` if there is none.
            after: the word on its right.
        """
        if len(word) < _SHORTEST or word in self._known:
            return None
        form = stem(word) if self._is_form(word) else None
        best: tuple[float, str] | None = None
        doubled = next((word[:at] + word[at + 1 :] for at in range(len(word) - 1) if word[at] == word[at + 1]), "")
        if len(doubled) < _SHORTEST and doubled in self._of_names and doubled in self._counts:
            return doubled  # "kll loss"
        for other, slips in self._alike(word):
            if form is not None and (stem(other) != form or word.startswith(other) or other.startswith(word)):
                continue  # at most the same word with the letters of its ending put right
            vouched = math.log1p(self._pairs[before, other]) + math.log1p(self._pairs[other, after])
            same = sorted(word) == sorted(other)
            often = math.log(self._counts[other])
            if len(word) <= _SHORT and not vouched and not (same or often >= _COMMON):
                continue
            if len(word) == _SHORTEST and not vouched:
                continue
            if slips == _TWO and len(word) < _LONG and not (vouched or same):
                continue
            score = often + _NEIGHBOUR * vouched - _SLIP * slips + _SAME_LETTERS * same
            score -= _OTHER_FIRST * (word[0] != other[0])
            best = max(best or (score, other), (score, other))
        if best is not None and abs(len(best[1]) - len(word)) == _TWO and (two := self.apart(word)) is not None:
            return two  # "rolloutkl" is no misspelt rollout
        return None if best is None else best[1]

    def apart(self, word: str) -> str | None:
        """Words that were written as one, two of names first: ``gentime``, ``rewardafterkl``; ``None`` if it is none.

        Args:
            word: in lower case, letters only.
        """
        if not _SHORTEST_PAIR <= len(word) <= _LONGEST_RUN or not word.isalpha() or self.knows(word):
            return None
        halves = ((word[:at], word[at:]) for at in range(_SHORTEST - 1, len(word) - _SHORTEST + 2))
        found = [(first, last) for first, last in halves if first in self._of_names and last in self._of_names]
        best = max(found, key=lambda pair: self._pairs[pair] or min(map(len, pair)) - _LONG, default=None)
        return segments.parted(word, self._counts, self._of_names) if best is None else " ".join(best)

    def _alike(self, word: str) -> list[tuple[str, int]]:
        """Words that are one slip away, or two if the word is long, and how many; remembered."""
        if word not in self._near:
            from rapidfuzz import process
            from rapidfuzz.distance import OSA

            most = _TWO if len(word) >= _MIDDLING else 1
            found = process.extract(word, self._choices, scorer=OSA.distance, score_cutoff=most, limit=_MOST)
            if len(self._near) >= _REMEMBERED:
                self._near.clear()
            self._near[word] = [(other, int(slips)) for other, slips, _ in found if slips == 1 or other[0] == word[0]]
        return self._near[word]
