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
from assistant.knowledge.resolver import EXPLAINED_AS
from assistant.knowledge.typos import Speller
from assistant.knowledge.wordmend import WordMender

_LETTERS: Final = re.compile(r"[a-z]+")
_JOINTS: Final = re.compile(r"[/_@.:]+")
_LEAST_ALIKE: Final = 0.85
"""How like a card's name a key's words must be (0 to 1) to be that name."""

_NEARLY: Final = 0.02
_REACH: Final = 40
_FEWEST: Final = 2
"""Words of a key of which one may be misspelt."""


class ForeignKeys:
    """Reads keys as the words that they are made of.

    Args:
        library: the cards.
        index: knows the cards' names.
    """

    def __init__(self, library: Library, index: Index) -> None:
        self._library = library
        self._index = index

    def find(self, keys: Iterable[str], framework: str | None, least: float = _LEAST_ALIKE) -> dict[str, list[Card]]:
        """Those of some folded keys whose words are the name of metrics, and the metrics most like each.

        Args:
            keys: that no card is called.
            framework: whose metrics are meant; ``None`` for everybody's.
            least: how like a name its words must be, 0 to 1.
        """
        found = {}
        home = EXPLAINED_AS.get(framework or "", framework)
        for key in keys:
            words = said_in(key)
            if not all(self._index.is_named((word,)) for word in name_words(words)):
                continue
            likeness = {
                card: value
                for card_id, value in self._index.by_names((words,), _REACH).items()
                if (card := self._library.cards.get(card_id)) is not None and card.framework not in GENERAL
                if home in {None, card.framework}
            }
            best = max(likeness.values(), default=0.0)
            if best >= least:
                found[key] = [card for card, value in likeness.items() if value >= best - _NEARLY]
        return found

    def misspelt(self, key: str, framework: str | None, words: WordMender) -> list[Card]:
        """The same for a key of which one word is misspelt: ``avg_entrpoy``.

        Args:
            key: folded; no card is called so.
            framework: whose metrics are meant; ``None`` for everybody's.
            words: mends single words.
        """
        own = said_in(key).split()
        wrong = [at for at, word in enumerate(own) if not self._index.is_named(name_words(word))]
        if len(wrong) != 1 or len(own) < _FEWEST:
            return []
        at = wrong[0]
        right = words.mend(own[at], own[at - 1] if at else "", own[at + 1] if at + 1 < len(own) else "")
        mended = "_".join([*own[:at], right or own[at], *own[at + 1 :]])
        return self.find((mended,), framework).get(mended, []) if right is not None else []


def said_in(key: str) -> str:
    """A key's words, apart."""
    return _JOINTS.sub(" ", key)


def taken_for_another(key: str, speller: Speller) -> bool:
    """Whether a folded key is mended into one of other words, though each of its own is spelt right."""
    right = speller.mend(key)[1].get(key)
    others = right is not None and name_words(right) != name_words(key)
    return others and all(map(speller.words.knows, _LETTERS.findall(key)))
