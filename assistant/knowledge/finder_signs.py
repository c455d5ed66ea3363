"""The signs that a card answers a question, and those that a question is about metrics at all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from assistant.knowledge.cards import Card, Library
from assistant.knowledge.counterparts import Counterparts
from assistant.knowledge.elsewhere import Elsewhere
from assistant.knowledge.embedding import line_terms
from assistant.knowledge.finder_found import Found
from assistant.knowledge.index import Index
from assistant.knowledge.namewords import name_words, quantities_of, table
from assistant.knowledge.naming import GENERAL, LIKE_KEY, MAJOR, Naming
from assistant.knowledge.questions import (
    FRAMEWORKS,
    SYNONYM,
    asked_kinds,
    asks_counterpart,
    known_wordings,
    narrow,
    question_terms,
    search_table,
    without_asking,
    without_fillers,
    without_framework,
)
from assistant.knowledge.resolver import EXPLAINED_AS
from assistant.knowledge.terms import fold, terms
from assistant.knowledge.typos import KEY, NAME, Speller, replaced

_JOINT: Final = re.compile(r"[/_@]")
_SHORT: Final = 12
"""Characters up to which a question is short."""

_BEYOND: Final = 0.9
"""How like a card is to a question that the vectors do not tell, beside the last one that they tell."""

_COMMON: Final = 0.05
_USUAL: Final = 0.35
_HELD: Final = (1, 3, 10)
"""How many cards hold a word of the question: one at least, some, many."""

_NOT_ASKED: Final = 3.0
"""What another framework's card counts where the question names it only to ask for its counterpart."""

_SAME: Final = 0.999
"""Likeness from which on a question is made of a name's words, and of no others."""

_OF_CONCEPT: Final = 0.5
"""What it counts that a question is like a concept's name: who gives a name asks for a metric first."""

_NAME_WORDS: Final = 4
"""Words that a name has; what a longer question says besides of times and shares counts the less."""

_LONG_QUESTION: Final = 8
_EVERYDAY: Final = 2
_ALONE: Final = re.compile(r"(?<![\w/@.-])[a-z]+(?![\w/@-])", re.ASCII)
"""A word that is no part of a key."""

_RARE: Final = 2
_HARDLY: Final = 2
"""Cards that may hold a word which hardly any card holds."""

_MENDED: Final = 0.4
"""What a rare word counts that a slip parts from a known one."""

_SHORT_NAME: Final = 3
_MANY_WORDINGS: Final = 3
_LIKELY: Final = 0.4
_NAMING: Final = ("exact", "name")
_OF_FRAMEWORKS: Final = frozenset(name.lower() for name in (*FRAMEWORKS, *FRAMEWORKS.values()))

SIGNS: Final = (
    "exact", "name", "asks_metric", "asks_failure", "asks_concept", "words", "strength", "vectors", "framework",
    "other_framework", "failure", "concept", "symptom", "verl", "twin", "cover", "likely", "minor",
    "aside", "alike", "same", "quantity", "other_quantity",
)  # fmt: skip
"""What speaks for a card. ``exact``, ``name``: the question names it, weighed by how much of the question
that is; ``asks_…``: it is a metric, a failure mode or a concept, and the wording asks for one; ``words``: BM25
against the best card's, ``strength``: against what the question could reach; ``vectors``: the cosine; ``framework``:
whose it is; ``symptom``: it is a failure mode and the question tells no name; ``twin``: no framework is asked for,
this is verl's card, and another framework's card of the same quantity fits that well; ``cover``, ``likely``: how
much of the question the card holds, and how strongly its words point to the card
(:mod:`assistant.knowledge.termtable`); ``minor``: it is a card of a framework that is no trainer of language models
by reinforcement, and that is not asked for; ``aside``: it is a concept, though a framework is asked for; ``alike``,
``same``: how like the question is to one of its names, word by word, and whether it is nothing else; ``quantity``,
``other_quantity``: whether its numbers are what the question asks for (a time, a share, a length), the more the shorter
the question is."""


class Signs:
    """Reads signs off questions.

    Args:
        library: the cards.
        index: of their texts.
        speller: mends what is misspelt.
        naming: what a question calls by name.
        counterparts: cards for the same quantity elsewhere.
        elsewhere: questions for what another framework calls something.
    """

    def __init__(
        self, library: Library, index: Index, *, speller: Speller, naming: Naming, counterparts: Counterparts,
        elsewhere: Elsewhere,
    ) -> None:  # fmt: skip
        self._library = library
        self._index = index
        self._speller = speller
        self._naming = naming
        self._counterparts = counterparts
        self._elsewhere = elsewhere
        self._quantities: dict[str, frozenset[str]] = {}

    def mended(self, question: str) -> str:
        """A question with its names and words as they are spelt.

        Homophones are only mended here if the question is short: of the many pairs of a long one some are no typos.
        """
        text = narrow(question)
        short = len(text) <= _SHORT
        for typed, right in self._speller.mend(without_fillers(fold(question)))[1].items():
            if typed.isascii() or short:
                text = replaced(text, typed, right)
        return text

    def of(self, question: str, framework: str | None = None) -> dict[str, dict[str, float]]:
        """The signs for each card that has any."""
        question = self.mended(question)
        text = fold(question)
        asked, source = self._elsewhere.asked_and_source(text, framework)
        signs: dict[str, dict[str, float]] = {}

        def add(card: Card, sign: str, value: float) -> None:
            mine = signs.setdefault(card.id, {})
            mine[sign] = max(mine.get(sign, 0.0), value)

        counterpart = asks_counterpart(text)
        if counterpart or source is not None:
            text = without_asking(text)
        text = self._speller.mend(without_fillers(text))[0]
        weights = question_terms(text)
        whole = sum(weight for weight in weights.values() if weight > SYNONYM) or 1.0
        spells_key = False
        for found, sign, span in self._naming.named(question, asked):
            cards = [card for card in found if source is None or card.framework != source]
            if not cards:
                continue
            if LIKE_KEY.search(span):  # a name with joints is a metric, whatever concept is called alike
                cards = [card for card in cards if card.framework not in GENERAL] or cards
                spells_key = spells_key or any(card.framework not in GENERAL for card in cards)
            share = sum(weights.get(term, 0.0) for term in set(terms(span))) / whole
            value = min(1.0, 0.25 + share) if not KEY.search(span) else 1.0
            for card in cards:
                twins = self._counterparts.twins(card, asked) if counterpart or _JOINT.search(span) else []
                for twin in twins:
                    add(twin, "exact", value)
                    add(twin, "name", value)
                if not twins:
                    add(card, sign, value / len(cards) ** 0.25)
                    if sign == "name" and len(cards) == 1 and KEY.search(span):
                        add(card, "exact", value)
        if source is not None and asked is not None:
            spelt = self._elsewhere.spelt(fold(question), source)
            for cards, _, span in self._naming.named(question, source):
                if span.lower() not in _OF_FRAMEWORKS:
                    spelt += [card for card in cards if card.framework == source]
            told = self._counterparts.told(question, source, asked)
            for twin in told or [twin for card in spelt for twin in self._counterparts.twins(card, asked)]:
                add(twin, "exact", 1.0)
                add(twin, "name", 1.0)
            for card in spelt[:1]:  # what it is, for a counterpart that no card tells
                text = f"{text} {card.title('en')} {card.short('en')}"
        by_words = self._index.by_words(self._asked_words(weights))
        top = max(by_words.values(), default=1.0)
        for card_id, score in by_words.items():
            if card_id in self._library.cards:
                add(self._library.cards[card_id], "words", score / top)
                add(self._library.cards[card_id], "strength", min(1.0, score / (12.0 * whole)))
        likeness = self._index.by_vectors(text)
        for card_id, score in likeness.items():
            if card_id in self._library.cards:
                add(self._library.cards[card_id], "vectors", score)
        least = _BEYOND * min(likeness.values(), default=0.0)
        for mine in signs.values():  # what is named or holds the words is hardly less like than the last one told
            mine.setdefault("vectors", least)
        for card_id, (cover, likely) in self._index.by_terms(text, signs).items():
            if card_id in self._library.cards:
                mine = signs.setdefault(card_id, {})
                mine["cover"], mine["likely"] = cover, likely
        self._add_names(signs, text, question)
        named = max((max(mine.get(sign, 0.0) for sign in _NAMING) for mine in signs.values()), default=0.0)
        kinds = asked_kinds(narrow(question).lower())
        for card_id, mine in signs.items():
            of = self._library.cards[card_id].framework
            if self._library.cards[card_id].own:
                mine["framework"] = 1.0  # a team's own words come first
                continue
            kind = of if of in GENERAL else "metric"
            if kind in kinds and not (spells_key and kind == "concept" and "name" not in mine):
                mine[f"asks_{kind}"] = 1.0
            if of in GENERAL:
                mine[of] = 1.0
                if of == "failure":
                    mine["symptom"] = 1.0 - named
                elif asked is not None:
                    mine["aside"] = 1.0
            elif asked is not None:
                if of == EXPLAINED_AS.get(asked, asked):
                    mine["framework"] = 1.0
                else:
                    mine["other_framework"] = _NOT_ASKED if counterpart else 1.0
            elif of == "verl":
                mine["verl"] = 1.0
            if of not in MAJOR and of != EXPLAINED_AS.get(asked or "", asked):
                mine["minor"] = 1.0
        if asked is None:
            self._add_twins(signs)
        return signs

    def _add_names(self, signs: dict[str, dict[str, float]], text: str, question: str) -> None:
        """Tells how like a question is to the cards' names, and which cards are what it asks for: a time, a share …"""
        said = without_framework(text)
        for card_id, likeness in self._index.by_names({said, without_framework(fold(question))}).items():
            if card_id in self._library.cards:
                part = _OF_CONCEPT if self._library.cards[card_id].framework == "concept" else 1.0
                mine = signs.setdefault(card_id, {})
                mine["alike"] = part * likeness
                if likeness > _SAME:
                    mine["same"] = part
        words = name_words(said)
        asked = frozenset(word for word in words if word in table().quantities)
        if not asked:
            return
        short = min(1.0, _NAME_WORDS / len(words))
        for card_id, mine in signs.items():
            held = self._quantities_of(card_id)
            if shared := len(asked & held):
                mine["quantity"] = short * shared / len(asked)
            elif held:
                mine["other_quantity"] = short

    def _quantities_of(self, card_id: str) -> frozenset[str]:
        """What a metric's numbers are, remembered; empty for what is no metric."""
        if card_id not in self._quantities:
            card = self._library.cards[card_id]
            self._quantities[card_id] = quantities_of(card) if card.framework not in GENERAL else frozenset()
        return self._quantities[card_id]

    def _add_twins(self, signs: dict[str, dict[str, float]]) -> None:
        """Tells the cards of the framework that comes first how well their counterparts elsewhere fit."""
        for card_id, mine in list(signs.items()):
            likeness = (mine.get("words", 0.0) + mine.get("vectors", 0.0)) / 2
            if likeness < _LIKELY:
                continue
            for home in self._counterparts.homes.get(card_id, ()):
                its = signs.setdefault(home, {"verl": 1.0})
                its["twin"] = max(its.get("twin", 0.0), likeness)

    def _asked_words(self, weights: Mapping[str, float]) -> dict[str, float]:
        """The terms that full text is asked for: what is common tells nothing, and costs time."""
        share = self._index.share
        own = {term: share(term) for term, weight in weights.items() if weight > SYNONYM}
        rare = [term for term, held in own.items() if held <= (_COMMON if len(term) == 1 else _USUAL)]
        return dict.fromkeys(rare or own, 1.0)

    def of_sureness(self, question: str, best: Found, found: Sequence[Found], typed: str) -> dict[str, float]:
        """What tells that a question is about metrics at all, each from 0 to 1.

        Args:
            question: without its typos.
            best: the likeliest card.
            found: all cards that have any sign.
            typed: the question with its typos.
        """
        text = self._speller.mend(without_fillers(fold(question)))[0]
        own = {t: w for t, w in question_terms(text).items() if w > SYNONYM and len(t) > 1}
        whole = sum(own.values()) or 1.0
        held = {term: self._index.share(term) * len(self._library) for term in own}
        kinds = [value for sign, value in best.features.items() if sign.startswith("asks_")]
        words = len(name_words(without_framework(text))) or 1
        named = [max(other.features.get(sign, 0.0) for sign in _NAMING) for other in found]
        named += [1.0 for name in NAME.findall(fold(question)) if name in self._speller.settings]
        return {
            **{
                f"held_{least}": sum(weight for term, weight in own.items() if held[term] >= least) / whole
                for least in _HELD
            },
            **{sign: best.features.get(sign, 0.0) for sign in ("vectors", "cover", "framework", "alike")},
            "kind": max(kinds, default=0.0),
            "wordings": min(len(set(known_wordings(text))), _MANY_WORDINGS) / _MANY_WORDINGS,
            "length": min(len(own), _LONG_QUESTION) / _LONG_QUESTION,
            "named": max(named),
            "best_named": max(best.features.get(sign, 0.0) for sign in _NAMING),
            "score": best.score,
            "unlike": (1.0 - best.features.get("alike", 0.0)) * min(1.0, _SHORT_NAME / words),
            "rare": min(_RARE, self.rare_words(without_framework(without_fillers(fold(typed))))) / _RARE,
            "same": float(best.features.get("same", 0.0) >= 1.0),
            "beside": float(self._speaks_beside(fold(question), best.card)),
            "everyday": min(_EVERYDAY, len(search_table()["everyday"].findall(fold(question)))) / _EVERYDAY,
        }

    def _speaks_beside(self, text: str, card: Card) -> bool:
        """Whether a folded text speaks of a thing with numbers of its own, and no wording of a card does."""
        groups = {search_table()["things"][name] for name in search_table()["thing"].findall(text)}
        return not all(any(self._index.is_said(card.id, _terms_of(name)) for name in group) for group in groups)

    def rare_words(self, text: str) -> float:
        """How many English words of a folded text hardly a card holds; one that may be a misspelling counts less."""
        words = {word for word in _ALONE.findall(text) if len(word) > 1}
        rare = {word for word in words if self._index.share(word) * len(self._library) <= _HARDLY}
        return len(rare) - (1.0 - _MENDED) * len(rare & self._speller.mend(text)[1].keys())


@lru_cache(maxsize=1024)
def _terms_of(name: str) -> tuple[str, ...]:
    """The terms of a name that a wording which speaks of it holds."""
    return tuple(term for term in line_terms(name) if (len(term) > 1 or term.isascii()) and not term.startswith("="))
