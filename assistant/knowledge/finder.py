"""From a question in any words to cards: names first, then words and vectors, weighed together.

Exact keys, templates and aliases are the resolver's; a misspelt name is looked up as the nearest one. Everything else
is found by the index. What is not alike enough is not found: an unknown metric stays unknown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from assistant.knowledge.cards import Card, Library
from assistant.knowledge.index import Entry, Index
from assistant.knowledge.passages import FoundPassage, Passage, find_passages
from assistant.knowledge.questions import (
    SYNONYM,
    asked_framework,
    asked_kinds,
    narrow,
    question_terms,
    search_table,
    without_fillers,
    without_framework,
)
from assistant.knowledge.resolver import EXPLAINED_AS, Resolver, _ordered
from assistant.knowledge.terms import fold, terms

How = Literal["exact", "template", "alias", "search"]

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_@./()|-]*")
_KEY: Final = re.compile(r"[a-z0-9][/_@][a-z0-9]", re.IGNORECASE)
_JOINT: Final = re.compile(r"[/_@]")
_LIKE_KEY: Final = re.compile(r"[a-z0-9][/_][a-z0-9]", re.IGNORECASE)
_LEAST_TYPO: Final = 0.78
_SURE_TYPO: Final = 0.9
_SHORT_REST: Final = 12
_SHORTEST_TYPO: Final = 4
_LONG_TYPO: Final = 12
_COMMON: Final = 0.05
_MOST_ALIKE: Final = 8
_LEAST: Final = 0.5
_FEWEST_TERMS: Final = 3
_ALIKE: Final = 0.35
"""A question of one or two words has to be this much like a card."""

_LEAST_LIKENESS: Final = 0.3
_GENERAL: Final = frozenset({"concept", "failure"})
_NAMING: Final = ("exact", "name", "typo")


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
    "exact", "name", "typo", "kind", "words", "strength", "vectors", "framework", "other_framework", "failure",
    "concept", "symptom", "verl",
)  # fmt: skip
"""What speaks for a card. ``exact``, ``name``, ``typo``: the question names it, weighed by how much of the question
that is; ``kind``: it is a metric, a failure mode or a concept, and the wording asks for one; ``words``: BM25 against
the best card's, ``strength``: against what the question could reach; ``vectors``: the cosine; ``framework``: whose it
is; ``symptom``: it is a failure mode and the question tells no name."""


def entry_of(card: Card) -> Entry:
    """What the index holds of a card: both languages."""
    keys = " ".join([*card.keys, *card.names])
    sections = {language: [text for _, text in card.sections(language)] for language in ("zh", "en")}
    heads = {
        language: " ".join([keys, card.framework, card.title(language), card.short(language), *card.words(language)])
        for language in ("zh", "en")
    }
    return Entry(
        id=card.id,
        names=keys,
        words=" ".join([*card.words("zh"), *card.words("en")]),
        asks=" ".join([*card.asks("zh"), *card.asks("en")]),
        head=" ".join(f"{card.title(language)} {card.short(language)}" for language in ("zh", "en")),
        body=" ".join(text for texts in sections.values() for text in texts),
        parts=tuple(
            part
            for language in ("zh", "en")
            for part in (
                heads[language],
                " ".join(card.asks(language)),
                *sections[language][:1],
                " ".join(sections[language][1:]),
            )
            if part
        ),
    )


def entry_of_passage(passage: Passage) -> Entry:
    """What the index holds of a passage of a team's own document."""
    head = " ".join([*passage.heading, passage.document])
    return Entry(passage.id, "", "", "", head, passage.text, (f"{head} {passage.text}",))


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
        self._mended: tuple[str, tuple[str, dict[str, str]]] = ("", ("", {}))
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
        direct = self.resolver.name(question, framework)
        asked = asked_framework(fold(question)) if framework is None and not direct else None
        if asked is not None:
            named = self.resolver.name(without_framework(narrow(question)), asked)
            direct = [resolution for resolution in named if not resolution.foreign]
        if not direct and self._asks_for_unknown(question, framework):
            return []
        features = self.features(question, framework)
        scored = [
            Found(self.library.cards[card], _how(signs), self._score(signs), signs) for card, signs in features.items()
        ]
        if _JOINT.search(question.strip()):  # spelt as a key: a metric comes before the concept of the same name
            direct.sort(key=lambda resolution: resolution.card.framework in _GENERAL)
        first = [Found(r.card, r.how, 1.0 if r.how != "alias" else 0.95, {"name": 1.0}) for r in direct]
        known = {found.card.id for found in first}
        rest = sorted((f for f in scored if f.card.id not in known), key=lambda found: -found.score)
        best = rest[0] if rest else None
        if not first and (best is None or not self._is_sure(question, best, scored)):
            return []
        return [*first, *(found for found in rest if found.score >= _LEAST)][:k]

    def _is_sure(self, question: str, best: Found, found: Sequence[Found]) -> bool:
        """Whether what was found best is about the question at all: by its words, its likeness, a name in it."""
        sure = self.sureness
        own = [term for term, weight in question_terms(without_fillers(fold(question))).items() if weight > SYNONYM]
        if sum(len(term) > 1 for term in own) < _FEWEST_TERMS and best.features.get("vectors", 0.0) < _ALIKE:
            return any(other.features.get("exact") or other.features.get("name") for other in found)
        named = max(best.features.get(sign, 0.0) for sign in _NAMING)
        total = (
            sure["vectors"] * best.features.get("vectors", 0.0)
            + sure["share"] * self._known_share(question)
            + sure["named"] * named
            + sure["framework"] * best.features.get("framework", 0.0)
        )
        return total >= sure["least"]

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

    def _known_share(self, question: str) -> float:
        """How much of a question's own words any card uses."""
        weights = question_terms(self._mend(without_fillers(fold(question)))[0])
        own = {term: weight for term, weight in weights.items() if weight > SYNONYM and len(term) > 1}
        known = self.index.known(own)
        return sum(own[term] for term in known) / (sum(own.values()) or 1.0)

    def features(self, question: str, framework: str | None = None) -> dict[str, dict[str, float]]:
        """The signs for each card that has any."""
        text = fold(question)
        asked = framework or asked_framework(text)
        signs: dict[str, dict[str, float]] = {}

        def add(card: Card, sign: str, value: float) -> None:
            mine = signs.setdefault(card.id, {})
            mine[sign] = max(mine.get(sign, 0.0), value)

        text, mended = self._mend(without_fillers(text))
        weights = question_terms(text)
        whole = sum(weight for weight in weights.values() if weight > SYNONYM) or 1.0
        for cards, sign, span in self._named(narrow(question), mended, asked):
            share = sum(weights.get(term, 0.0) for term in set(terms(span))) / whole
            value = min(1.0, 0.25 + share) if not _KEY.search(span) else 1.0
            for card in cards:
                twins = self._twins(card, asked) if _JOINT.search(span) else []
                for twin in twins:
                    add(twin, "exact", value)
                    add(twin, "name", value)
                if not twins:
                    add(card, sign, value / len(cards) ** 0.25)
        asked_words = {
            term: weight
            for term, weight in weights.items()
            if weight > SYNONYM or self.index.share(term) <= _COMMON  # a common synonym tells nothing, and costs time
        }
        by_words = self.index.by_words(asked_words)
        top = max(by_words.values(), default=1.0)
        for card_id, score in by_words.items():
            if card_id in self.library.cards:
                add(self.library.cards[card_id], "words", score / top)
                add(self.library.cards[card_id], "strength", min(1.0, score / (12.0 * whole)))
        for card_id, score in self.index.by_vectors(text).items():
            if card_id in self.library.cards:
                add(self.library.cards[card_id], "vectors", score)
        named = max((max(mine.get(sign, 0.0) for sign in _NAMING) for mine in signs.values()), default=0.0)
        kinds = asked_kinds(narrow(question).lower())
        for card_id, mine in signs.items():
            of = self.library.cards[card_id].framework
            if self.library.cards[card_id].own:
                mine["framework"] = 1.0  # a team's own words come first
                continue
            if (of if of in _GENERAL else "metric") in kinds:
                mine["kind"] = 1.0
            if of in _GENERAL:
                mine[of] = 1.0
                if of == "failure":
                    mine["symptom"] = 1.0 - named
            elif asked is not None:
                mine["framework" if of == EXPLAINED_AS.get(asked, asked) else "other_framework"] = 1.0
            elif of == "verl":
                mine["verl"] = 1.0
        return signs

    def _score(self, signs: Mapping[str, float]) -> float:
        """The weighted sum, brought to 0…1: a half at 4."""
        total = max(0.0, sum(self.weights[sign] * value for sign, value in signs.items()))
        return total / (4.0 + total)

    def _asks_for_unknown(self, question: str, framework: str | None) -> bool:
        """Whether a question is about a key that nothing here is called, even if it is misspelt."""
        text = narrow(question)
        keys = [match.group().rstrip("./-:") for match in _NAME.finditer(text) if _LIKE_KEY.search(match.group())]
        rest = len(without_fillers(fold(text))) - sum(map(len, keys))
        keys = [
            key for key in keys if "_" in key or key.count("/") > 1 or rest <= _SHORT_REST
        ]  # "train/infer" is prose
        if not keys or any(next(iter(self._named(key, self._mend(fold(key))[1], framework)), None) for key in keys):
            return False
        return not any(True for _ in self._named(question, {}, framework))

    # -- names in the question -----------------------------------------------------------------
    def _named(
        self, question: str, mended: Mapping[str, str], framework: str | None
    ) -> Iterable[tuple[list[Card], str, str]]:
        """Cards that a part of the question names: the cards, the kind of sign, and the part."""
        for match in _NAME.finditer(question):
            token = match.group().rstrip("./-:")
            found = self.resolver.key(token, framework)
            if found is not None:
                yield [found.card], "exact", token
                alike = [card for card in self._spellings.get(token.lower(), []) if card is not found.card]
                if alike:
                    yield _ordered(alike, framework), "name", token
            elif len(token) > 3:
                named = [r.card for r in self.resolver.name(token, framework)]
                if not named and "/" in token:
                    named = _ordered(self._tails.get(token.lower(), []), framework)
                if named:
                    yield named, "name", token
            if framework is not None and (found is None or found.foreign):
                alike = self._by_part.get((EXPLAINED_AS.get(framework, framework), token.lower()), [])
                if 0 < len(alike) <= _MOST_ALIKE:
                    yield alike, "name", token
        for mention in self.resolver.mentions(question, (), framework):
            cards = [r.card for r in self.resolver.name(mention.text, framework)]
            cards = cards or ([mention.card] if mention.card is not None else [])
            if cards:
                yield cards, "name", mention.text
        for typed, name in mended.items():
            cards = _ordered(self._spellings.get(name, []), framework)
            if not cards and (found := self.resolver.key(name, framework)) is not None:
                cards = [found.card]
            if cards:
                yield cards, "typo", name
                if len(typed) >= _LONG_TYPO:
                    yield cards[:1], "exact", name

    @cached_property
    def _by_part(self) -> dict[tuple[str, str], list[Card]]:
        """Framework and part of a key → cards: ``kl`` in ``train/kl_loss``."""
        table: dict[tuple[str, str], list[Card]] = {}
        for card in self.library:
            for part in {part for key in card.keys for part in re.split("[/_@]", key.lower())}:
                table.setdefault((card.framework, part), []).append(card)
        return table

    @cached_property
    def _tails(self) -> dict[str, list[Card]]:
        """Ends of keys, from a joint on, and their cards."""
        table: dict[str, list[Card]] = {}
        for card in self.library:
            for key in card.keys:
                parts = key.lower().split("/")
                for at in range(1, len(parts) - 1):
                    bucket = table.setdefault("/".join(parts[at:]), [])
                    if card not in bucket:
                        bucket.append(card)
        return table

    def _twins(self, card: Card, asked: str | None) -> list[Card]:
        """Cards of the framework asked for that say to be another framework's card."""
        if asked is None or card.framework == asked:
            return []
        return [
            other
            for key in card.keys
            for other in self._cross.get((card.framework, key.lower()), ())
            if other.framework == asked
        ] + [
            other
            for entry in card.meta.get("also", ())
            if entry["framework"] == asked
            for key in entry["keys"]
            if (found := self.resolver.key(key, asked)) is not None and (other := found.card).framework == asked
        ]

    @cached_property
    def _cross(self) -> dict[tuple[str, str], list[Card]]:
        """Key of a framework → cards of others that name it as theirs."""
        table: dict[tuple[str, str], list[Card]] = {}
        for card in self.library:
            for entry in card.meta.get("also", ()):
                for key in entry["keys"]:
                    table.setdefault((entry["framework"], key.lower()), []).append(card)
        return table

    def _mend(self, text: str) -> tuple[str, dict[str, str]]:
        """A folded text with misspelt names and words as they are spelt, and what was mended."""
        known = self._mended
        if known[0] != text:
            known = self._mended = (text, self._mended_text(text))
        return known[1]

    def _mended_text(self, text: str) -> tuple[str, dict[str, str]]:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        mended: dict[str, str] = {}
        for token in _NAME.findall(text):
            name = token.rstrip("./-:")
            if len(name) < _SHORTEST_TYPO or self._is_known(name):
                continue
            known = self._keys if _KEY.search(name) else self._words
            free = self.resolver.key(name) is not None  # any text fits into some templates
            cutoff = _SURE_TYPO if free else _LEAST_TYPO
            best = process.extractOne(name, known, scorer=OSA.normalized_similarity, score_cutoff=cutoff)
            right = best[0] if best is not None else self._mend_parts(name) if "/" in name and not free else None
            if right is not None:
                mended[name] = right
        for name, right in mended.items():
            text = text.replace(name, right)
        return text, mended

    def _mend_parts(self, name: str) -> str | None:
        """A key of a template, each of its parts as it is spelt; ``None`` if that is no key either."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        parts = []
        for part in re.split("([/@])", name):
            best = None
            if len(part) >= _SHORTEST_TYPO and part not in self._parts:
                best = process.extractOne(part, self._parts, scorer=OSA.normalized_similarity, score_cutoff=0.7)
            parts.append(best[0] if best is not None else part)
        right = "".join(parts)
        return right if self.resolver.key(right) is not None else None

    @cached_property
    def _parts(self) -> list[str]:
        """What the keys consist of, the most frequent first."""
        used = Counter(part for card in self.library for key in card.keys for part in re.split("[/@]", key.lower()))
        return [part for part, _ in used.most_common() if "{" not in part and len(part) > 2]

    def _is_known(self, name: str) -> bool:
        if _KEY.search(name):
            found = self.resolver.key(name)
            fixed = found is not None and all(value.isdigit() or value in self._parts for _, value in found.bindings)
            return name in self._spellings or name in self._tails or fixed
        return name in self._spellings or all(
            word in self._vocabulary or len(word) < _SHORTEST_TYPO for word in re.findall(r"[a-z]+", name)
        )

    @cached_property
    def _keys(self) -> list[str]:
        """Names with joints, to mend by."""
        return [name for name in self._spellings if _KEY.search(name)]

    @cached_property
    def _words(self) -> list[str]:
        """Words and names without joints, to mend by."""
        return sorted(
            {*(w for w in self._vocabulary if len(w) > 3), *(n for n in self._spellings if not _KEY.search(n))}
        )

    @cached_property
    def _spellings(self) -> dict[str, list[Card]]:
        """Every spelling of a name, in lower case; extractOne takes the names as choices."""
        table: dict[str, list[Card]] = {}
        for card in self.library:
            for key in (*card.keys, *card.names):
                for name in {key.lower(), key.lower().rsplit("/", 1)[-1]}:
                    if "{" not in name and len(name) > 3:
                        bucket = table.setdefault(name, [])
                        if card not in bucket:
                            bucket.append(card)
        return table

    @cached_property
    def _vocabulary(self) -> set[str]:
        """Words that are spelt right: those of the cards' English text."""
        return {
            word
            for card in self.library
            for text in (card.title("en"), card.short("en"), *card.words("en"), *(t for _, t in card.sections("en")))
            for word in re.findall(r"[a-z]+", text.lower())
        }


def _how(signs: Mapping[str, float]) -> How:
    return "alias" if "exact" in signs or "name" in signs else "search"
