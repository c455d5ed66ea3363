"""Keys of nobody known here that say in their words what a card's name says: ``sec_per_step``, ``frac_truncated``.

Other code bases join the words of the same names otherwise. A key is taken for a name only if every word of it stands
in names of cards and hardly a word is left over on either side; a word that no name holds makes it another thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from assistant.knowledge.cards import Card, Library
from assistant.knowledge.index import Index
from assistant.knowledge.namewords import name_words
from assistant.knowledge.naming import GENERAL

_JOINTS: Final = re.compile(r"[/_@.:]+")
_LEAST_ALIKE: Final = 0.85
"""How like a card's name a key's words must be (0 to 1) to be that name."""

_NEARLY: Final = 0.02
_REACH: Final = 40


class ForeignKeys:
    """Reads keys as the words that they are made of.

    Args:
        library: the cards.
        index: knows the cards' names.
    """

    def __init__(self, library: Library, index: Index) -> None:
        self._library = library
        self._index = index

    def find(self, keys: Iterable[str], framework: str | None) -> dict[str, list[Card]]:
        """Those of some folded keys whose words are the name of metrics, and the metrics most like each.

        Args:
            keys: that no card is called.
            framework: whose metrics are meant; ``None`` for everybody's.
        """
        found = {}
        for key in keys:
            words = said_in(key)
            if not all(self._index.is_named((word,)) for word in name_words(words)):
                continue
            likeness = {
                card: value
                for card_id, value in self._index.by_names((words,), _REACH).items()
                if (card := self._library.cards.get(card_id)) is not None and card.framework not in GENERAL
                if framework in {None, card.framework}
            }
            best = max(likeness.values(), default=0.0)
            if best >= _LEAST_ALIKE:
                found[key] = [card for card, value in likeness.items() if value >= best - _NEARLY]
        return found


def said_in(key: str) -> str:
    """A key's words, apart."""
    return _JOINTS.sub(" ", key)
