"""Keys that a question says in words: ``policy kl error`` is ``train/policy_kl_error``, if that is one card only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from assistant.knowledge.cards import Card, Library
from assistant.knowledge.resolver import EXPLAINED_AS

_WORD: Final = re.compile(r"[a-z0-9]+")
_RUN: Final = re.compile(r"(?=\S*\s)[a-z0-9]+(?:[\s()/_.-]+[a-z0-9]+)+")
"""Words of which at least two are not joined: a key as it is spelt is looked up as such."""

_LONGEST: Final = 6
_LEAST: Final = 2
_LEAST_OF_ALL: Final = 3
"""Words that tell a key where no framework is asked for: "policy loss" is everybody's."""

_FEW: Final = 2
"""How many cards a run of words may mean to tell anything."""

_PLAIN_ENDS: Final = frozenset({"mean", "avg", "sum"})
"""What people leave out at the end of a key."""


class SpokenKeys:
    """Finds the ends of keys among the words of a question.

    Args:
        library: the cards.
    """

    def __init__(self, library: Library) -> None:
        self._library = library

    def ends(self, text: str, framework: str | None) -> Iterable[tuple[list[Card], str]]:
        """Cards with a key that ends in some words of a folded text, the longest run at each place, and these words.

        Args:
            text: folded, its typos mended.
            framework: whose cards are meant; ``None`` for everybody's.
        """
        home = None if framework is None else EXPLAINED_AS.get(framework, framework)
        least = _LEAST if framework is not None else _LEAST_OF_ALL
        words = list(_WORD.finditer(text))
        at = 0
        while at < len(words):
            for length in range(min(_LONGEST, len(words) - at), least - 1, -1):
                run = tuple(word.group() for word in words[at : at + length])
                cards = [card for card in self._ends.get(run, ()) if home in (None, card.framework)]
                between = text[words[at].start() : words[at + length - 1].end()]
                if 0 < len(cards) <= _FEW and _RUN.fullmatch(between):
                    yield cards, between
                    at += length - 1
                    break
            at += 1

    def whole(self, text: str, framework: str) -> list[Card]:
        """The card of a framework's longest key with spaces in it that a folded text holds, if there is one."""
        return [card for key, card in self._spaced.get(framework, ()) if key in text][:1]

    @cached_property
    def _ends(self) -> dict[tuple[str, ...], list[Card]]:
        """The last words of keys, two at least → the cards whose keys end so, or so but for a mean or sum.

        Two words are to be a part between slashes and what follows it: ``response length`` is not enough to tell
        ``Validation/Average response length``.
        """
        table: dict[tuple[str, ...], list[Card]] = {}
        for card in self._library:
            for key in card.keys:
                parts = [_WORD.findall(part) for part in key.lower().split("/")] if "{" not in key else []
                words = [word for part in parts for word in part]
                begins = {sum(map(len, parts[:at])) for at in range(len(parts))}
                for end in (words, words[:-1] if words and words[-1] in _PLAIN_ENDS else []):
                    for at in range(len(end) - 1):
                        bucket = table.setdefault(tuple(end[at:]), [])
                        if card not in bucket and (at in begins or len(end) - at > _LEAST):
                            bucket.append(card)
        return table

    @cached_property
    def _spaced(self) -> dict[str, list[tuple[str, Card]]]:
        """Framework → its keys that hold spaces, in lower case, the longest first, and their cards."""
        table: dict[str, list[tuple[str, Card]]] = {}
        for card in self._library:
            for key in card.keys:
                if " " in key and "{" not in key:
                    table.setdefault(card.framework, []).append((key.lower(), card))
        return {framework: sorted(keys, key=lambda pair: -len(pair[0])) for framework, keys in table.items()}
