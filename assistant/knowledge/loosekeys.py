"""Keys whose joints were typed otherwise, perhaps with slips besides: ``critic/kl coef``, ``val-core_gsm8k/accc``.

A key is compared word by word, whatever joins its words; a template's field stands for one word or a few. What is
spelt as some key is never looked up here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase
from typing import Final

from assistant.knowledge.cards import Card, Library
from assistant.knowledge.keyforms import spelt_forms
from assistant.knowledge.nearest import STATISTICS

_JOINTS: Final = re.compile(r"[\s/_@.()=:-]+")
_FIELD: Final = "*"
_NUMBER: Final = "#"
_NUMBERED: Final = frozenset({"n", "k", "i", "device_id"})
_MOST_WORDS: Final = 12
_LONGEST_FIELD: Final = 3
_LETTERS_A_SLIP: Final = 6
"""Fixed letters that a key needs for each slip that is forgiven beyond the first."""

_MOST_SLIPS: Final = 3
_LETTERS_OF_A_WORD: Final = 4
_LEAST_FIXED: Final = 5
_LEAST_AROUND_FIELD: Final = 10
"""Fixed letters of a key, and of one whose field may be any text."""

_LEAST_OF_PIECE: Final = 7
"""Fixed letters of a piece of a key."""

_SHORTEST: Final = 3
_MOST_CARDS: Final = 3
_PAIR: Final = 2
_AROUND: Final = 2
"""Words by which a typed key and one that it is may differ, what fills fields aside."""

_JOINED_OTHERWISE: Final = 0.5
"""What it costs that two words were written as one."""


@dataclass(frozen=True, slots=True)
class _Form:
    """A key as its words, how many fixed letters they have, and its cards."""

    words: tuple[str, ...]
    fixed: int
    cards: tuple[Card, ...]

    @property
    def most(self) -> int:
        """Slips that are forgiven."""
        return min(_MOST_SLIPS, 1 + self.fixed // _LETTERS_A_SLIP)


class _Sieve:
    """Passes over the keys that some typed words cannot be with few slips, without comparing word with word.

    A slip changes one letter at most: letters that only one side has are no more than the slips. What a field stands
    for may hold any letters.
    """

    def __init__(self, forms: Sequence[_Form]) -> None:
        import numpy as np

        fields = np.array([form.words.count(_FIELD) for form in forms], dtype=np.int16)
        words = np.array([len(form.words) for form in forms], dtype=np.int16)
        self._most = np.array([form.most for form in forms], dtype=np.int16)
        self._fewest, self._longest = words - _AROUND, words + _AROUND + _LONGEST_FIELD * fields
        fixed = np.array([form.fixed for form in forms], dtype=np.int32)
        self._least_letters = fixed - self._most
        self._most_letters = np.where(fields > 0, np.iinfo(np.int32).max, fixed + self._most)
        self._most_beside = np.where(fields > 0, np.iinfo(np.int16).max, self._most)
        self._counts = np.array([_counts(form.words) for form in forms], dtype=np.int16).reshape(len(forms), -1)

    def passed(self, typed: Sequence[str]) -> list[int]:
        """The places of the keys that are left, in order."""
        import numpy as np

        letters = sum(map(_letters, typed))
        near = (self._fewest <= len(typed)) & (len(typed) <= self._longest)
        near &= (self._least_letters <= letters) & (letters <= self._most_letters)
        places = np.flatnonzero(near)
        beside = np.array(_counts(typed), dtype=np.int16) - self._counts[places]
        alike = np.maximum(-beside, 0).sum(axis=1) <= self._most[places]
        alike &= np.maximum(beside, 0).sum(axis=1) <= self._most_beside[places]
        left: list[int] = places[alike].tolist()
        return left


class LooseKeys:
    """Looks keys up by their words.

    Args:
        library: the cards; only metrics' keys count.
        pieces: whether the keys are looked up without what they begin with, without the statistic that they end in, or
            without both (``moe/avg_vio`` of ``rollout/moe/avg_vio/max``), and not as they are.
    """

    def __init__(self, library: Library, *, pieces: bool = False) -> None:
        table: dict[tuple[str, ...], list[Card]] = {}
        for card in library:
            for key in card.keys if card.framework not in {"concept", "failure"} else ():
                for form in spelt_forms(key.lower()) or [key.lower()]:
                    for one in pieces_of(form) if pieces else (form,):
                        held = table.setdefault(_words(one), [])
                        if card not in held:
                            held.append(card)
        self._ends: dict[str, list[tuple[list[str], Card]]] = {}
        for card in library:
            for key in card.keys:
                parts = key.lower().split("/")
                if parts[-1] in STATISTICS:
                    parts.pop()
                if len(parts) > _PAIR and "{" not in key:
                    self._ends.setdefault(parts[0], []).append((parts, card))
        forms = (_Form(words, sum(map(_letters, words)), tuple(cards)) for words, cards in table.items())
        self._forms = [
            form
            for form in forms
            if form.fixed >= (_LEAST_AROUND_FIELD if _FIELD in form.words else _LEAST_FIXED) and len(form.words) > 1
        ]
        self._sieve = _Sieve(self._forms)

    def find(self, name: str, framework: str | None = None) -> list[Card]:
        """Cards of the key that a folded name most nearly is; empty if it is like none, or like several of many cards.

        Args:
            name: what was typed.
            framework: whose keys are looked up; ``None`` for everybody's.
        """
        typed = tuple(word for word in _JOINTS.split(name) if word)
        if not 1 < len(typed) <= _MOST_WORDS:
            return []
        best: tuple[float, int] | None = None
        found: list[Card] = []
        alike = 0
        for at in self._sieve.passed(typed):
            form = self._forms[at]
            slips = _slips_of(typed, form.words, float(form.most))
            if slips is None:
                continue
            cards = [card for card in form.cards if framework in {None, card.framework}]
            if not cards:
                continue
            rank = (slips, -form.fixed)
            if best is None or rank < best:
                best, found, alike = rank, cards, 1
            elif rank == best:
                found = [*found, *(card for card in cards if card not in found)]
                alike += 1
        return found if alike == 1 or len(found) <= _MOST_CARDS else []

    def between_left_out(self, name: str) -> list[Card]:
        """Cards of a key of which a folded name is the first and the last part: ``timing_s/compute_score``."""
        first, _, last = name.partition("/")
        found: list[tuple[tuple[float, int], Card]] = []
        for parts, card in self._ends.get(first, ()):
            slips = _slips(last, parts[-1]) if len(parts[-1]) >= _LEAST_FIXED else None
            if slips is not None:
                found.append(((slips, len(parts)), card))
        least = min((rank for rank, _ in found), default=None)
        cards = list(dict.fromkeys(card for rank, card in found if rank == least))
        return cards if len(cards) <= _MOST_CARDS else []


def pieces_of(key: str) -> list[str]:
    """What people write of a key who leave out its first parts, the statistic that it ends in, or both."""
    parts = re.split(r"/(?![^{}]*\})", key)
    last = len(parts) - (parts[-1] in STATISTICS)
    ends = [(at, len(parts)) for at in range(1, len(parts))] + [(at, last) for at in range(last) if last < len(parts)]
    found = ("/".join(parts[begin:end]) for begin, end in ends if not parts[begin].startswith("{"))
    return [piece for piece in found if len(_words(piece)) > 1 and sum(map(_letters, _words(piece))) >= _LEAST_OF_PIECE]


def _words(key: str) -> tuple[str, ...]:
    """A key's words; ``*`` for a field, ``#`` for one that is a number."""
    spelt = re.sub(r"\{([^{}]*)\}", lambda m: f" {_NUMBER if m.group(1) in _NUMBERED else _FIELD} ", key)
    return tuple(word for word in _JOINTS.split(spelt) if word)


def _letters(word: str) -> int:
    return 0 if word in {_FIELD, _NUMBER} else sum(char.isalpha() for char in word)


def _counts(words: Iterable[str]) -> list[int]:
    """How often each letter stands in some words."""
    text = "".join(words)
    return [text.count(letter) for letter in ascii_lowercase]


def _slips_of(typed: Sequence[str], words: Sequence[str], most: float) -> float | None:
    """The fewest slips between typed words and a key's, ``None`` if there are more than so many."""
    if not len(words) - _AROUND <= len(typed) <= len(words) + _LONGEST_FIELD * words.count(_FIELD) + _AROUND:
        return None
    costs = {0: 0.0}  # typed words used → slips, for the key's words so far
    waiting: list[dict[int, float]] = []
    for at, word in enumerate(words):
        after: dict[int, float] = waiting.pop() if waiting else {}
        for used, cost in costs.items():
            for taken, slips in _matches(typed, used, word):
                if (total := cost + slips) <= most:
                    after[used + taken] = min(total, after.get(used + taken, most))
        if at + 1 < len(words) and word[0].isalnum() and words[at + 1][0].isalnum():  # two words written as one
            both: dict[int, float] = {}
            for used, cost in costs.items():
                slips_of_both = _slips(typed[used], word + words[at + 1]) if used < len(typed) else None
                if slips_of_both is not None and (total := cost + slips_of_both + _JOINED_OTHERWISE) <= most:
                    both[used + 1] = total
            waiting.append(both)
        if not after and not (waiting and waiting[-1]):
            return None
        costs = after
    return costs.get(len(typed))


def _matches(typed: Sequence[str], used: int, word: str) -> Iterable[tuple[int, float]]:
    """How many of the typed words from a place on one word of a key may be, and with how many slips."""
    if used >= len(typed):
        return
    if word == _FIELD:
        yield from ((taken, 0.0) for taken in range(1, min(_LONGEST_FIELD, len(typed) - used) + 1))
        return
    if word == _NUMBER:
        if typed[used].isdigit():
            yield 1, 0.0
        return
    slips = _slips(typed[used], word)
    if slips is not None:
        yield 1, slips
    if used + 1 < len(typed):
        slips = _slips(typed[used] + typed[used + 1], word)
        if slips is not None:
            yield 2, slips + _JOINED_OTHERWISE


@lru_cache(maxsize=16384)
def _slips(typed: str, word: str) -> float | None:
    """Edits between two words, ``None`` if they are too many to be slips."""
    from rapidfuzz.distance import OSA

    if typed == word:
        return 0.0
    most = max(1, len(word) // _LETTERS_OF_A_WORD)
    if word[0].isdigit() or len(word) < _SHORTEST or abs(len(typed) - len(word)) > most:
        return None
    slips = int(OSA.distance(typed, word, score_cutoff=most))
    if slips > most and sorted(typed) == sorted(word):
        slips = most
    return float(slips) if slips <= most else None
