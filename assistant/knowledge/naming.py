"""What a question calls by name: keys, ends and families of keys, names and keys said in words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from assistant.knowledge.cards import Card, Library
from assistant.knowledge.namewords import name_words
from assistant.knowledge.questions import FRAMEWORKS, search_table, without_frame, without_framework
from assistant.knowledge.resolver import EXPLAINED_AS, Resolution, Resolver, _ordered
from assistant.knowledge.spoken import SpokenKeys
from assistant.knowledge.terms import fold
from assistant.knowledge.typos import KEY, NAME, Speller

LIKE_KEY: Final = re.compile(r"[a-z0-9][/_][a-z0-9]", re.IGNORECASE)
GENERAL: Final = frozenset({"concept", "failure"})
"""Cards that are of no framework, and no metric."""

MAJOR: Final = frozenset({*FRAMEWORKS.values(), *GENERAL, "custom"})
_NO_PARTS: Final = frozenset({"log", "logs", "logged"})
_SHORTEST_NAME: Final = 3
_MOST_ALIKE: Final = 8
_SHORTEST_SAID: Final = 6
_LONGEST_SAID: Final = 60
_SAID_ALIKE: Final = 0.88
_JOINTS: Final = re.compile(r"(?:[\s_()-]|(?<=[a-z0-9\s])的(?=[a-z0-9\s]))+")


class Naming:
    """Reads names out of questions.

    Args:
        library: the cards.
        resolver: from names to cards.
        speller: knows every spelling of a name.
        spoken: keys said in words.
    """

    def __init__(self, library: Library, resolver: Resolver, speller: Speller, spoken: SpokenKeys) -> None:
        self._library = library
        self._resolver = resolver
        self._speller = speller
        self._spoken = spoken

    def called(self, name: str, framework: str | None) -> list[Resolution]:
        """What goes by a name: a key in other letter case or a family of keys, too."""
        alike = self._speller.spellings.get(name.lower(), ())
        return self._resolver.name(name, framework) or [
            Resolution(card, "alias", 0.8, foreign=_is_elsewhere(card, framework))
            for card in _ordered(list(alike), framework)
        ]

    def also_called(self, question: str, framework: str | None, *, in_words: bool = False) -> list[Card]:
        """Cards of what a question that is nothing but a name goes by elsewhere (``called`` in ``search.yaml``).

        Args:
            question: folded.
            framework: whose cards are meant, those of no other are returned; ``None`` for everybody's.
            in_words: whether the words of such a name, in any order and form, are enough.
        """
        home = None if framework is None else EXPLAINED_AS.get(framework, framework)
        bare = without_framework(question)
        names = [_joined(name.strip("`'\"?？ ")) for name in (bare, without_frame(bare))]
        found = [self._called.get(name) for name in names]
        if in_words and not KEY.search(bare) and not self._resolver.name(names[0].replace(" ", "_")):
            found.append(self._called_in_words.get(frozenset(name_words(names[0]))))
        cards = next((cards for cards in found if cards), [])
        return [card for card in cards if home in {None, card.framework}]

    def nearly_called(self, question: str, framework: str | None) -> list[Card]:
        """The same for a name with a slip in it: ``clip_fracc``. Nothing if all its words are spelt right."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        home = None if framework is None else EXPLAINED_AS.get(framework, framework)
        name = _joined(without_frame(without_framework(question)).strip("`'\"?？ "))
        held = self._speller.words.counts  # of two letters any word is right, but not all are words
        known = all(word in held or (len(word) > 2 and self._speller.words.knows(word)) for word in name.split())
        if known or not _SHORTEST_SAID <= len(name) <= _LONGEST_SAID or not name.isascii():
            return []
        scorer = OSA.normalized_similarity
        least = min(_SAID_ALIKE, 1 - 1 / len(name))  # one slip at least
        best = process.extractOne(name, self._called.keys(), scorer=scorer, score_cutoff=least)
        return [] if best is None else [card for card in self._called[best[0]] if home in {None, card.framework}]

    def alone(self, name: str, framework: str | None) -> list[Resolution]:
        """What a question means that holds nothing but a name, or the end of a key."""
        home = None if framework is None else EXPLAINED_AS.get(framework, framework)
        if not NAME.fullmatch(name) and home is not None and name:  # words: "mean advantage" of the framework asked for
            found = [r for r in self._resolver.name(name, framework) if r.card.framework == home]
            return found if len(found) == 1 else []
        if not NAME.fullmatch(name) or len(name) < _SHORTEST_NAME:
            return []
        named = self.called(name, framework)
        if LIKE_KEY.search(name) and all(r.card.framework in GENERAL for r in named):  # the concept called alike
            ends = [card for card in self._speller.spellings.get(name, ()) if card.framework not in GENERAL]
            own = [card for card in ends if card.framework == home] or (ends if home is None else [])
            named = [*(Resolution(card, "alias", 0.8) for card in _ordered(own, framework)), *named]
        if "/" not in name or not all(r.how == "template" for r in named):
            return [r for r in named if not r.foreign]
        ends = self._speller.tails.get(name, []) or self._parts_of_templates(name)
        if not ends:
            return named
        return [Resolution(card, "alias", 0.8) for card in _ordered(ends, framework)]

    def named(self, question: str, framework: str | None) -> Iterable[tuple[list[Card], str, str]]:
        """Cards that a part of the question names: the cards, the kind of sign, and the part."""
        home = None if framework is None else EXPLAINED_AS.get(framework, framework)
        for match in NAME.finditer(question):
            token = match.group().rstrip("./-:")
            found = self._resolver.key(token, framework)
            ends = [card for card in self._speller.tails.get(token.lower(), []) if card.framework == home]
            if not ends and home is not None and found is None and "/" in token:
                ends = self._speller.template_ends(token.lower(), home)
            if ends and (found is None or found.foreign):
                yield ends, "exact" if len(ends) == 1 else "name", token
                continue
            if found is not None:
                plain = found.card.framework not in MAJOR and not KEY.search(token)  # a word like any other
                meant = [] if framework is not None or KEY.search(token) else self._resolver.name(token)
                if meant and meant[0].card is not found.card:  # a bare word: what most people mean by it comes first
                    yield [meant[0].card], "name", token
                yield [found.card], "name" if plain or found.foreign or meant else "exact", token
                alike = [card for card in self._speller.spellings.get(token.lower(), []) if card is not found.card]
                if alike:
                    yield _ordered(alike, framework), "name", token
            elif len(token) > 3:
                named = [r.card for r in self.called(token, framework)]
                if not named and "/" in token:
                    named = _ordered(self._speller.tails.get(token.lower(), []), framework)
                    named = named or _ordered(self._parts_of_templates(token.lower()), framework)
                if named:
                    yield named, "name", token
            if framework is not None and (found is None or found.foreign) and _tells(token):
                parts = self._by_part.get((EXPLAINED_AS.get(framework, framework), token.lower()), [])
                if 0 < len(parts) <= _MOST_ALIKE:
                    yield parts, "name", token
        for spoken, span in self._spoken.ends(fold(question), framework):
            yield spoken, "exact" if framework is not None and len(spoken) == 1 else "name", span
        for mention in self._resolver.mentions(question, (), framework):
            cards = [r.card for r in self._resolver.name(mention.text, framework)]
            cards = cards or ([mention.card] if mention.card is not None else [])
            if KEY.search(mention.text):  # a name with joints is the metric of the framework asked for, not the concept
                cards = [card for card in cards if card.framework == home] or cards
            if cards:
                yield cards, "name", mention.text

    def said(self, words: str, framework: str | None) -> list[Card]:
        """Cards with a name that some folded words are, or nearly are, but for its joints: ``kl loss``.

        Args:
            words: two at least; nothing else is looked up.
            framework: whose cards are meant; ``None`` for everybody's.
        """
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        name = re.sub(r"[\s-]+", "_", words)
        if name == words or len(name) < _SHORTEST_SAID or not name.isascii():
            return []
        spellings = self._speller.spellings
        scorer = OSA.normalized_similarity
        best = process.extractOne(name, spellings.keys(), scorer=scorer, score_cutoff=_SAID_ALIKE)
        home = None if framework is None else EXPLAINED_AS.get(framework, framework)
        cards = [] if best is None else _ordered(spellings[best[0]], framework)
        return [card for card in cards if home in {None, card.framework}]

    def _parts_of_templates(self, name: str) -> list[Card]:
        """Cards with a template that ends so, or begins so and goes on with one more part."""
        return self._speller.listed_ends(name) or self._speller.template_heads(name)

    @cached_property
    def _called(self) -> dict[str, list[Card]]:
        """What else quantities go by, joints as spaces → their cards, as far as the library holds them."""
        table: dict[str, list[Card]] = {}
        for entry in search_table()["called"]:
            cards = [self._library.cards[card] for card in entry["cards"] if card in self._library.cards]
            table.update((_joined(fold(name)), cards) for name in entry["names"])
        return table

    @cached_property
    def _called_in_words(self) -> dict[frozenset[str], list[Card]]:
        """The words of each such name of several → its cards, where these are all names' of the same words."""
        table: dict[frozenset[str], list[Card]] = {}
        for name, cards in self._called.items():
            words = frozenset(name_words(name))
            if len(words) > 1 and table.setdefault(words, cards) != cards:
                table[words] = []
        return table

    @cached_property
    def _by_part(self) -> dict[tuple[str, str], list[Card]]:
        """Framework and part of a key → cards: ``kl`` in ``train/kl_loss``."""
        table: dict[tuple[str, str], list[Card]] = {}
        for card in self._library:
            for part in {part for key in card.keys for part in re.split("[/_@]", key.lower())}:
                table.setdefault((card.framework, part), []).append(card)
        return table


def _joined(name: str) -> str:
    """A folded name with one space for whatever joins its parts: ``value 的 clipfrac`` is ``value clipfrac``."""
    return _JOINTS.sub(" ", name).strip()


def _tells(token: str) -> bool:
    """Whether a word may stand for a part of a key: the s of ``slime's`` and a log do not."""
    return len(token) > 1 and token.lower() not in _NO_PARTS


def _is_elsewhere(card: Card, framework: str | None) -> bool:
    """Whether a card is of another framework than the one that is meant."""
    return framework is not None and card.framework not in {
        EXPLAINED_AS.get(framework, framework),
        "general",
        "custom",
        *GENERAL,
    }
