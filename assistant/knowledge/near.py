"""Which of a log's own metrics a description means: ``how much of the return variance does the critic explain``.

A search over the wordings of the cards whose metrics the log holds, and of no others: a few dozen cards, so that a
table of their words is made in milliseconds, with no index, and a word that tells little among them (``reward`` in a
log of reward components) counts little. The score of a card is the weighted share of the question's words that one of
its wordings holds, and of that wording's words that the question holds; a word weighs by how few cards hold it
(inverse document frequency).
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from assistant.knowledge.cards import Card
from assistant.knowledge.questions import all_without_fillers, known_wordings, search_table, without_fillers
from assistant.knowledge.resolver import Resolver
from assistant.knowledge.terms import fold, stem, terms, terms_of

_NUMBERED: Final = re.compile(r"(?:\bsteps?\b|第)?\s*(?<![a-z@])\d+(?:\.\d+)?\s*(?:%|步|\bsteps?\b)?")
_CHARACTER: Final = 0.35
"""What a single Chinese character counts beside a word."""
_SYNONYM: Final = 0.3
_UNHEARD: Final = 0.6
"""What a word that no card holds counts beside one that a single card holds."""
_OF_QUESTION: Final = 0.6
_OF_ONE_WORDING: Final = 0.7


@dataclass(frozen=True, slots=True)
class Near:
    """A card whose metrics a log holds, and how well it fits: 1 where every word of question and wording agree.

    Attributes:
        card: the card.
        keys: the log's metrics that it is about.
        score: how well it fits.
        shared: stems of the question that one of its wordings holds.
    """

    card: Card
    keys: tuple[str, ...]
    score: float
    shared: frozenset[str] = frozenset()


class OwnMetrics:
    """The cards of a log's metrics, by their words.

    Args:
        keys: the log's metrics.
        framework: whose they are, if known.
        resolver: from keys to cards.
    """

    def __init__(self, keys: Iterable[str], framework: str | None, resolver: Resolver) -> None:
        held: dict[str, tuple[Card, list[str]]] = {}
        for key in keys:
            found = resolver.key(key, framework)
            if found is not None:
                held.setdefault(found.card.id, (found.card, []))[1].append(key)
        self._held = held
        self._wordings: list[tuple[str, frozenset[str]]] = []
        self._of_term: dict[str, set[int]] = defaultdict(set)
        self._union: dict[str, set[str]] = defaultdict(set)
        cards_of: dict[str, set[str]] = defaultdict(set)
        for card_id, (card, own) in held.items():
            for words in dict.fromkeys((*_wordings(card), *(_terms(key) for key in own))):
                for term in words:
                    self._of_term[term].add(len(self._wordings))
                    cards_of[term].add(card_id)
                self._union[card_id] |= words
                self._wordings.append((card_id, words))
        self._weight = {t: math.log(1 + len(held) / len(of)) * _length_weight(t) for t, of in cards_of.items()}
        self._unheard = math.log(1 + len(held)) * _UNHEARD

    def find(self, question: str, k: int = 3) -> list[Near]:
        """The cards that a description fits, best first.

        Args:
            question: in any words; figures and steps are left out of account.
            k: how many at most.
        """
        text = _NUMBERED.sub(" ", without_fillers(fold(question)))
        own = _terms(text)
        if not own:
            return []
        asked = {term: self._weight.get(term, self._unheard * _length_weight(term)) for term in own}
        whole = sum(asked.values())
        for wording in known_wordings(text):
            for group in search_table()["synonyms"][wording]:
                for term in map(stem, group):
                    if term in self._weight:
                        asked.setdefault(term, _SYNONYM * self._weight[term])
        best: dict[str, float] = {}
        for place in set().union(*(self._of_term.get(term, ()) for term in asked)):
            card_id, words = self._wordings[place]
            shared = sum(asked[term] for term in words if term in asked)
            length = sum(self._weight[term] for term in words)
            score = _OF_QUESTION * shared / whole + (1 - _OF_QUESTION) * shared / length
            best[card_id] = max(best.get(card_id, 0.0), score)
        found = []
        for card_id, score in best.items():
            covered = sum(asked[term] for term in self._union[card_id] if term in asked) / whole
            card, keys = self._held[card_id]
            total = _OF_ONE_WORDING * score + (1 - _OF_ONE_WORDING) * covered
            found.append(Near(card, tuple(keys), min(1.0, total), own & self._union[card_id]))
        return sorted(found, key=lambda near: (-near.score, near.card.id))[:k]


def own_metrics(keys: tuple[str, ...], framework: str | None, resolver: Resolver) -> OwnMetrics:
    """The table of a log's metrics, kept for the logs asked about last."""
    return _kept(keys, framework, resolver)


@lru_cache(maxsize=16)
def _kept(keys: tuple[str, ...], framework: str | None, resolver: Resolver) -> OwnMetrics:
    return OwnMetrics(keys, framework, resolver)


_words_of: dict[int, tuple[Card, tuple[frozenset[str], ...]]] = {}


def _wordings(card: Card) -> tuple[frozenset[str], ...]:
    """The words of each wording of a card; cards are few and live as long as the process."""
    kept = _words_of.get(id(card))
    if kept is None or kept[0] is not card:
        said = [*card.names]
        for language in ("zh", "en"):
            said += [card.title(language), card.short(language), *card.words(language), *card.asks(language)]
        found = map(_stems, map(terms_of, all_without_fillers(tuple(dict.fromkeys(said)))))
        kept = (card, tuple(dict.fromkeys(words for words in found if words)))
        _words_of[id(card)] = kept
    return kept[1]


def _terms(text: str) -> frozenset[str]:
    return _stems(terms(text))


def _stems(found: Sequence[str]) -> frozenset[str]:
    fillers: Mapping[str, object] | set[str] = search_table()["fillers"]
    return frozenset(stem(term) for term in found if term not in fillers)


def _length_weight(term: str) -> float:
    return _CHARACTER if len(term) == 1 and not term.isascii() else 1.0
