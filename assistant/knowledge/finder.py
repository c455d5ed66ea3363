"""From a question in any words to cards: names first, then words and vectors, weighed together.

Exact keys, templates and aliases are the resolver's; a misspelt name is looked up as the nearest one. Everything else
is found by the index. What is not alike enough is not found: an unknown metric stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from assistant.knowledge.cards import Card, Library
from assistant.knowledge.counterparts import Counterparts
from assistant.knowledge.elsewhere import Elsewhere
from assistant.knowledge.entries import entry_of, entry_of_passage
from assistant.knowledge.index import Entry, Index
from assistant.knowledge.naming import GENERAL, LIKE_KEY, MAJOR, Naming
from assistant.knowledge.passages import FoundPassage, find_passages
from assistant.knowledge.questions import (
    FRAMEWORKS,
    SYNONYM,
    asked_framework,
    asked_kinds,
    asks_counterpart,
    known_wordings,
    named_frameworks,
    narrow,
    question_terms,
    search_table,
    spelt_out,
    without_fillers,
    without_frame,
    without_framework,
)
from assistant.knowledge.resolver import EXPLAINED_AS, Resolution, Resolver, _ordered
from assistant.knowledge.spoken import SpokenKeys
from assistant.knowledge.terms import fold, pieces, terms
from assistant.knowledge.typos import KEY, NAME, Speller, replaced

How = Literal["exact", "template", "alias", "search"]

_JOINT: Final = re.compile(r"[/_@]")
_SHORT_REST: Final = 12
_LONG_REST: Final = 20
_COMMON: Final = 0.05
_USUAL: Final = 0.35
_LEAST: Final = 0.5
_HALF: Final = 5.6
"""Weighted sum of a card that is just likely enough; goes with the scale of the weights."""

_HELD: Final = (1, 3, 10)
"""How many cards hold a word of the question: one at least, some, many."""

_PLACES: Final = 3
_NEXT: Final = 5
_NEARLY: Final = 0.02
"""How much less a card of another kind may score than the third."""

_FEW: Final = 2
_NOT_ASKED: Final = 3.0
"""What another framework's card counts where the question names it only to ask for its counterpart."""

_UNJOINED: Final = re.compile(r"[\s-]+")
_WORDS: Final = re.compile(r"[a-z]+")
_LONG_QUESTION: Final = 8
_MANY_WORDINGS: Final = 3
_LIKELY: Final = 0.4
_LEAST_LIKENESS: Final = 0.5
_NAMING: Final = ("exact", "name")
_OF_FRAMEWORKS: Final = frozenset(name.lower() for name in (*FRAMEWORKS, *FRAMEWORKS.values()))


@dataclass(frozen=True, slots=True)
class Found:
    """A card that answers a question, and why.

    Attributes:
        card: the card.
        how: ``exact``, ``template``, ``alias`` (a name), or ``search``.
        score: 0 to 1; comparable within one search only.
        features: what the score was made of, for looking into it.
    """

    card: Card
    how: How
    score: float
    features: Mapping[str, float]


SIGNS: Final = (
    "exact", "name", "asks_metric", "asks_failure", "asks_concept", "words", "strength", "vectors", "framework",
    "other_framework", "failure", "concept", "symptom", "verl", "twin", "cover", "likely", "minor",
    "aside",
)  # fmt: skip
"""What speaks for a card. ``exact``, ``name``: the question names it, weighed by how much of the question
that is; ``asks_…``: it is a metric, a failure mode or a concept, and the wording asks for one; ``words``: BM25
against the best card's, ``strength``: against what the question could reach; ``vectors``: the cosine; ``framework``:
whose it is; ``symptom``: it is a failure mode and the question tells no name; ``twin``: no framework is asked for,
this is verl's card, and another framework's card of the same quantity fits that well; ``cover``, ``likely``: how
much of the question the card holds, and how strongly its words point to the card
(:mod:`assistant.knowledge.termtable`); ``minor``: it is a card of a framework that is no trainer of language models
by reinforcement, and that is not asked for; ``aside``: it is a concept, though a framework is asked for."""


class Finder:
    """Answers questions about cards.

    Args:
        library: the cards.
        index: makes the index on first use.
        resolver: from names to cards; made if none is given.
        weights: of the signs; those of ``knowledge/search.yaml`` if none are given.
    """

    def __init__(
        self,
        library: Library,
        index: Callable[[Sequence[Entry]], Index],
        *,
        resolver: Resolver | None = None,
        weights: Mapping[str, float] | None = None,
    ):
        self.library = library
        self.resolver = resolver or Resolver(library)
        self._weights = weights
        self._make_index = index

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """How much each sign counts."""
        return self._weights or search_table()["weights"]

    @cached_property
    def sureness(self) -> Mapping[str, float]:
        """How much each sign tells that a question is about metrics at all."""
        table: Mapping[str, float] = search_table()["sureness"]
        return table

    @cached_property
    def index(self) -> Index:
        """The index, opened or built on first use."""
        return self._make_index(self.entries)

    @cached_property
    def speller(self) -> Speller:
        """Mends what is misspelt."""
        return Speller(self.library, self.resolver, self.index.share)

    @cached_property
    def counterparts(self) -> Counterparts:
        """Cards for the same quantity elsewhere."""
        return Counterparts(self.library, self.resolver)

    @cached_property
    def spoken(self) -> SpokenKeys:
        """Keys said in words."""
        return SpokenKeys(self.library)

    @cached_property
    def naming(self) -> Naming:
        """What a question calls by name."""
        return Naming(self.library, self.resolver, self.speller, self.spoken)

    @cached_property
    def elsewhere(self) -> Elsewhere:
        """Questions for what another framework calls something."""
        return Elsewhere(self.resolver, self.counterparts, self.spoken, self.speller)

    @cached_property
    def entries(self) -> list[Entry]:
        """What the index holds."""
        return [*map(entry_of, self.library), *map(entry_of_passage, self.library.passages)]

    def find(self, question: str, framework: str | None = None, k: int = 5) -> list[Found]:
        """Cards that answer a question, best first; empty if none does.

        Args:
            question: a key, a name or a sentence.
            framework: whose metrics are meant, ``None`` if the question may say.
            k: how many at most.
        """
        if (rejoined := self.speller.rejoined(fold(question))) is not None:
            question = rejoined
        direct = self.resolver.name(question, framework)
        if all(r.how == "template" for r in direct) and len(question.split()) > 1:
            direct = []  # a template takes a whole sentence, too
        typed = spelt_out(question)
        question = question if direct else self._mended(typed)
        asked = asked_framework(fold(question)) if framework is None and not direct else None
        if asked is not None:
            named = self.resolver.name(without_framework(narrow(question)), asked)
            direct = [resolution for resolution in named if not resolution.foreign]
            spoken = self.resolver.key(_UNJOINED.sub("_", without_framework(fold(question))), asked)
            if spoken is not None and spoken.how == "exact" and spoken.card.framework == asked:  # "TRL eval loss"
                direct = [spoken, *(resolution for resolution in direct if resolution.card is not spoken.card)]
        told = named_frameworks(fold(question))
        if not direct and (not told or (len(told) == 1 and not asks_counterpart(fold(question)))):
            names = dict.fromkeys(without_frame(without_framework(fold(text))) for text in (question, typed))
            alone = [found for name in names if (found := self.naming.alone(name, framework or asked))]
            spelt = [
                found for found in alone if any(r.how != "template" for r in found)
            ]  # any text fits into the others
            direct = next(iter(spelt or alone), [])
        if not direct:
            direct = [Resolution(card, "alias", 0.9) for card in self.elsewhere.told(question, framework)]
        if not (told and asks_counterpart(fold(question))) and all(
            resolution.how == "template" for resolution in direct
        ):  # any text fits into these
            text, mended = self.speller.mend(without_fillers(fold(question)))
            if text in mended.values():  # a misspelt name and nothing else
                direct = self.naming.called(text, framework)
        if not direct and framework is None:
            direct = [Resolution(card, "alias", 0.9) for card in self._wordings.get(_spoken(fold(question)), ())]
        if framework is None and not _JOINT.search(question) and all(r.card.framework not in MAJOR for r in direct):
            direct = []  # other trainers' bare names are weighed with everything else
        if not direct and self._asks_for_unknown(question, framework or asked):
            return []
        features = self.features(question, framework)
        scored = [
            Found(self.library.cards[card], _how(signs), self._score(signs), signs) for card, signs in features.items()
        ]
        if _JOINT.search(question.strip()):  # spelt as a key: a metric comes before the concept of the same name
            direct.sort(key=lambda resolution: resolution.card.framework in GENERAL)
        once = {resolution.card.id: resolution for resolution in reversed(direct)}
        direct = [r for r in direct if once[r.card.id] is r]
        first = [Found(r.card, r.how, 1.0 if r.how != "alias" else 0.95, {"name": 1.0}) for r in direct]
        known = {found.card.id for found in first}
        rest = sorted((f for f in scored if f.card.id not in known), key=lambda found: -found.score)
        best = rest[0] if rest else None
        if not first and (best is None or not (_is_named(best) or self._is_sure(question, best, scored))):
            cards = self.naming.said(without_frame(without_framework(fold(question))), framework or asked)
            return [Found(card, "alias", 0.9, {"name": 1.0}) for card in cards][:k]
        shown = [*first, *(found for found in rest if found.score >= _LEAST)]
        return _varied(shown, len(first))[:k]

    @cached_property
    def _wordings(self) -> dict[str, list[Card]]:
        """What people say who mean a card → the cards, if they are few."""
        table: dict[str, list[Card]] = {}
        for card in self.library:
            for language in ("zh", "en"):
                for said in (card.title(language), *card.words(language), *card.asks(language)):
                    bucket = table.setdefault(_spoken(said.lower()), [])
                    if card not in bucket:
                        bucket.append(card)
        return {said: _ordered(cards, None) for said, cards in table.items() if said and len(cards) <= _FEW}

    def _mended(self, question: str) -> str:
        """A question with its names and words as they are spelt.

        Homophones are only mended here if the question is short: of the many pairs of a long one some are no typos.
        """
        text = narrow(question)
        short = len(text) <= _SHORT_REST
        for typed, right in self.speller.mend(without_fillers(fold(question)))[1].items():
            if typed.isascii() or short:
                text = replaced(text, typed, right)
        return text

    def _is_sure(self, question: str, best: Found, found: Sequence[Found]) -> bool:
        """Whether what was found best is about the question at all; how much each sign tells is in the table."""
        signs = self.sure_signs(question, best, found)
        return sum(self.sureness[sign] * value for sign, value in signs.items()) >= self.sureness["least"]

    def sure_signs(self, question: str, best: Found, found: Sequence[Found]) -> dict[str, float]:
        """What tells that a question is about metrics at all, each from 0 to 1.

        Args:
            question: without its typos.
            best: the likeliest card.
            found: all cards that have any sign.
        """
        text = self.speller.mend(without_fillers(fold(question)))[0]
        own = {t: w for t, w in question_terms(text).items() if w > SYNONYM and len(t) > 1}
        whole = sum(own.values()) or 1.0
        held = {term: self.index.share(term) * len(self.library) for term in own}
        kinds = [value for sign, value in best.features.items() if sign.startswith("asks_")]
        return {
            **{
                f"held_{least}": sum(weight for term, weight in own.items() if held[term] >= least) / whole
                for least in _HELD
            },
            **{sign: best.features.get(sign, 0.0) for sign in ("vectors", "cover", "framework")},
            "kind": max(kinds, default=0.0),
            "wordings": min(len(set(known_wordings(text))), _MANY_WORDINGS) / _MANY_WORDINGS,
            "length": min(len(own), _LONG_QUESTION) / _LONG_QUESTION,
            "named": max(max(other.features.get(sign, 0.0) for sign in _NAMING) for other in found),
            "best_named": max(best.features.get(sign, 0.0) for sign in _NAMING),
        }

    def find_passages(self, question: str, k: int = 5) -> list[FoundPassage]:
        """Passages of a team's own documents that answer a question, best first."""
        passages = self.library.passages
        found = find_passages(passages, question, k)
        if not passages or len(found) >= k:
            return found
        known = {result.passage.id for result in found}
        near = self.index.by_vectors(without_fillers(fold(question)))
        for passage_id, likeness in near.items():
            passage = self.library.passage(passage_id)
            if passage is not None and passage_id not in known and likeness >= _LEAST_LIKENESS and len(found) < k:
                found.append(FoundPassage(passage, likeness, passage.text[:240]))
        return found

    def features(self, question: str, framework: str | None = None) -> dict[str, dict[str, float]]:
        """The signs for each card that has any."""
        question = self._mended(question)
        text = fold(question)
        asked, source = self.elsewhere.asked_and_source(text, framework)
        signs: dict[str, dict[str, float]] = {}

        def add(card: Card, sign: str, value: float) -> None:
            mine = signs.setdefault(card.id, {})
            mine[sign] = max(mine.get(sign, 0.0), value)

        text = self.speller.mend(without_fillers(text))[0]
        weights = question_terms(text)
        whole = sum(weight for weight in weights.values() if weight > SYNONYM) or 1.0
        counterpart = asks_counterpart(fold(question))
        spells_key = False
        for found, sign, span in self.naming.named(question, asked):
            cards = [card for card in found if source is None or card.framework != source]
            if not cards:
                continue
            if LIKE_KEY.search(span):  # a name with joints is a metric, whatever concept is called alike
                cards = [card for card in cards if card.framework not in GENERAL] or cards
                spells_key = spells_key or any(card.framework not in GENERAL for card in cards)
            share = sum(weights.get(term, 0.0) for term in set(terms(span))) / whole
            value = min(1.0, 0.25 + share) if not KEY.search(span) else 1.0
            for card in cards:
                twins = self.counterparts.twins(card, asked) if counterpart or _JOINT.search(span) else []
                for twin in twins:
                    add(twin, "exact", value)
                    add(twin, "name", value)
                if not twins:
                    add(card, sign, value / len(cards) ** 0.25)
                    if sign == "name" and len(cards) == 1 and KEY.search(span):
                        add(card, "exact", value)
        if source is not None and asked is not None:
            spelt = self.elsewhere.spelt(fold(question), source)
            for cards, _, span in self.naming.named(question, source):
                if span.lower() not in _OF_FRAMEWORKS:
                    spelt += [card for card in cards if card.framework == source]
            told = self.counterparts.told(question, source, asked)
            for twin in told or [twin for card in spelt for twin in self.counterparts.twins(card, asked)]:
                add(twin, "exact", 1.0)
                add(twin, "name", 1.0)
            for card in spelt[:1]:  # what it is, for a counterpart that no card tells
                text = f"{text} {card.title('en')} {card.short('en')}"
        by_words = self.index.by_words(self._asked_words(weights))
        top = max(by_words.values(), default=1.0)
        for card_id, score in by_words.items():
            if card_id in self.library.cards:
                add(self.library.cards[card_id], "words", score / top)
                add(self.library.cards[card_id], "strength", min(1.0, score / (12.0 * whole)))
        for card_id, score in self.index.by_vectors(text).items():
            if card_id in self.library.cards:
                add(self.library.cards[card_id], "vectors", score)
        for card_id, (cover, likely) in self.index.by_terms(text, signs).items():
            if card_id in self.library.cards:
                mine = signs.setdefault(card_id, {})
                mine["cover"], mine["likely"] = cover, likely
        named = max((max(mine.get(sign, 0.0) for sign in _NAMING) for mine in signs.values()), default=0.0)
        kinds = asked_kinds(narrow(question).lower())
        for card_id, mine in signs.items():
            of = self.library.cards[card_id].framework
            if self.library.cards[card_id].own:
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

    def _add_twins(self, signs: dict[str, dict[str, float]]) -> None:
        """Tells the cards of the framework that comes first how well their counterparts elsewhere fit."""
        for card_id, mine in list(signs.items()):
            likeness = (mine.get("words", 0.0) + mine.get("vectors", 0.0)) / 2
            if likeness < _LIKELY:
                continue
            for home in self.counterparts.homes.get(card_id, ()):
                its = signs.setdefault(home, {"verl": 1.0})
                its["twin"] = max(its.get("twin", 0.0), likeness)

    def _asked_words(self, weights: Mapping[str, float]) -> dict[str, float]:
        """The terms that full text is asked for: what is common tells nothing, and costs time."""
        share = self.index.share
        own = {term: share(term) for term, weight in weights.items() if weight > SYNONYM}
        rare = [term for term, held in own.items() if held <= (_COMMON if len(term) == 1 else _USUAL)]
        return dict.fromkeys(rare or own, 1.0)

    def _score(self, signs: Mapping[str, float]) -> float:
        """The weighted sum, brought to 0…1: a half at :data:`_HALF`."""
        total = max(0.0, sum(self.weights.get(sign, 0.0) * value for sign, value in signs.items()))
        return total / (_HALF + total)

    def _asks_for_unknown(self, question: str, framework: str | None) -> bool:
        """Whether a question is about a key that nothing here is called, even if it is misspelt."""
        text = narrow(question)
        keys = [match.group().rstrip("./-:") for match in NAME.finditer(text) if LIKE_KEY.search(match.group())]
        rest = len(without_fillers(fold(text))) - sum(map(len, keys))
        keys = [
            key for key in keys if "_" in key or key.count("/") > 1 or rest <= _SHORT_REST
        ]  # "train/infer" is prose
        if rest > _LONG_REST:  # "samples whose total length reaches max_len": a setting, not what is asked for
            keys = [
                key for key in keys if "/" in key or not all(map(self.speller.words.knows, _WORDS.findall(key.lower())))
            ]
        if any(key.lower() in self.speller.settings for key in keys):
            return False
        if not keys or any(True for key in keys for _ in self.naming.named(self.speller.mend(fold(key))[0], framework)):
            return False
        return not any(True for _ in self.naming.named(question, framework))


def _is_named(found: Found) -> bool:
    """Whether the question spells a key or a name with joints of the card."""
    return found.features.get("exact", 0.0) >= 1.0


def _varied(found: list[Found], named: int) -> list[Found]:
    """What was found, so ordered that the first three differ where their scores hardly do.

    A card of a kind (metric, concept, failure mode) that is not among the first three takes the third place from
    one of a kind that is there twice, if it scores nearly as well.

    Args:
        found: best first.
        named: how many of them the question names; these stay.
    """
    first, rest = found[:_PLACES], found[_PLACES:]
    if len(first) == _PLACES and named < _PLACES:
        kinds = [_kind(one.card) for one in first]
        near = (one for one in rest[:_NEXT] if one.score > first[-1].score - _NEARLY and _kind(one.card) not in kinds)
        other = next(near, None)
        if other is not None and kinds.count(kinds[-1]) > 1:
            first, rest = [*first[:-1], other], [first[-1], *(one for one in rest if one is not other)]
    return [*first, *rest]


def _kind(card: Card) -> str:
    """Metric, concept or failure mode."""
    return card.framework if card.framework in GENERAL else "metric"


def _spoken(text: str) -> str:
    """A wording in lower case without its signs."""
    return " ".join(pieces(text))


def _how(signs: Mapping[str, float]) -> How:
    return "alias" if "exact" in signs or "name" in signs else "search"
