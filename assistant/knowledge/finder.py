"""From a question in any words to cards: names first, then words and vectors, weighed together.

Exact keys, templates and aliases are the resolver's; a misspelt name is looked up as the nearest one. Everything else
is found by the index. What is not alike enough is not found: an unknown metric stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

from assistant import resources
from assistant.knowledge.cards import Card, Library
from assistant.knowledge.index import Entry, Index
from assistant.knowledge.resolver import Resolver
from assistant.knowledge.terms import fold, terms

How = Literal["exact", "template", "alias", "search"]

FRAMEWORKS: Final = {
    "verl": "verl", "trl": "TRL", "roll": "ROLL", "openrlhf": "OpenRLHF", "slime": "slime", "nemo": "NeMo-RL",
    "areal": "AReaL", "swift": "ms-swift",
}  # fmt: skip

_ASKED: Final = re.compile(
    r"(?<![a-z0-9/_])(verl|trl|roll|openrlhf|slime|nemo(?:[- ]?rl)?|areal|(?:ms-?)?swift)(?![a-z0-9/_])"
)
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_@./()|-]*")
_LEAST_TYPO: Final = 0.78
_GENERAL: Final = frozenset({"concept", "failure"})


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


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each sign counts."""

    exact: float = 1.0
    name: float = 0.55
    typo: float = 0.45
    words: float = 0.6
    vectors: float = 0.5
    framework: float = 0.25
    other_framework: float = 0.25
    general: float = 0.0
    verl: float = 0.03
    least: float = 0.3


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
        head=" ".join(f"{card.title(language)} {card.short(language)}" for language in ("zh", "en")),
        body=" ".join(text for texts in sections.values() for text in texts),
        parts=tuple(
            part
            for language in ("zh", "en")
            for part in (heads[language], *(sections[language][:1]), " ".join(sections[language][1:]))
            if part
        ),
    )


class Finder:
    """Answers questions about cards.

    Args:
        library: the cards.
        index: makes the index on first use.
        weights: of the signs.
    """

    def __init__(self, library: Library, index: Callable[[Sequence[Entry]], Index], weights: Weights | None = None):
        self.library = library
        self.resolver = Resolver(library)
        self.weights = weights or Weights()
        self._make_index = index

    @cached_property
    def index(self) -> Index:
        """The index, opened or built on first use."""
        return self._make_index(self.entries)

    @cached_property
    def entries(self) -> list[Entry]:
        """What the index holds."""
        return [entry_of(card) for card in self.library]

    def find(self, question: str, framework: str | None = None, k: int = 5) -> list[Found]:
        """Cards that answer a question, best first; empty if none does.

        Args:
            question: a key, a name or a sentence.
            framework: whose metrics are meant, ``None`` if the question may say.
            k: how many at most.
        """
        direct = self.resolver.name(question, framework)
        features = self.features(question, framework)
        scored = [
            Found(self.library.cards[card], _how(signs), min(1.0, self._score(signs)), signs)
            for card, signs in features.items()
        ]
        first = [Found(r.card, r.how, 1.0 if r.how != "alias" else 0.95, {"name": 1.0}) for r in direct]
        known = {found.card.id for found in first}
        rest = sorted((f for f in scored if f.card.id not in known), key=lambda found: -found.score)
        return [*first, *(found for found in rest if found.score >= self.weights.least)][:k]

    def features(self, question: str, framework: str | None = None) -> dict[str, dict[str, float]]:
        """The signs for each card that has any."""
        text = fold(question)
        asked = framework or asked_framework(text)
        signs: dict[str, dict[str, float]] = {}

        def add(card: Card, sign: str, value: float) -> None:
            mine = signs.setdefault(card.id, {})
            mine[sign] = max(mine.get(sign, 0.0), value)

        weights = question_terms(text)
        whole = sum(weights.values()) or 1.0
        for cards, sign, span in self._named(question, asked):
            share = sum(weights.get(term, 0.0) for term in set(terms(span))) / whole
            for card in cards:
                add(card, sign, min(1.0, 0.25 + share) / len(cards) ** 0.25)
        by_words = self.index.by_words(weights)
        top = max(by_words.values(), default=1.0)
        for card_id, score in by_words.items():
            if card_id in self.library.cards:
                add(self.library.cards[card_id], "words", score / top)
                add(self.library.cards[card_id], "strength", score / (12.0 * whole))
        for card_id, score in self.index.by_vectors(_without_fillers(text)).items():
            if card_id in self.library.cards:
                add(self.library.cards[card_id], "vectors", score)
        for card_id, mine in signs.items():
            of = self.library.cards[card_id].framework
            if of in _GENERAL:
                mine["general"] = 1.0
            elif asked is not None:
                mine["framework" if of == asked else "other_framework"] = 1.0
            elif of == "verl":
                mine["verl"] = 1.0
        return signs

    def _score(self, signs: Mapping[str, float]) -> float:
        w = self.weights
        named = max(w.exact * signs.get("exact", 0.0), w.name * signs.get("name", 0.0), w.typo * signs.get("typo", 0.0))
        score = (
            named
            + w.words * signs.get("words", 0.0) * min(1.0, signs.get("strength", 0.0) * 3)
            + w.vectors * signs.get("vectors", 0.0)
            + w.framework * signs.get("framework", 0.0)
            - w.other_framework * signs.get("other_framework", 0.0)
            + w.general * signs.get("general", 0.0)
            + w.verl * signs.get("verl", 0.0)
        )
        return score / 1.5

    # -- names in the question -----------------------------------------------------------------
    def _named(self, question: str, framework: str | None) -> Iterable[tuple[list[Card], str, str]]:
        """Cards that a part of the question names: the cards, the kind of sign, and the part."""
        for match in _NAME.finditer(question):
            token = match.group().rstrip("./-:")
            found = self.resolver.key(token, framework)
            if found is not None:
                yield [found.card], "exact", token
            elif len(token) > 3:
                named = self.resolver.name(token, framework)
                if named:
                    yield [r.card for r in named], "name", token
                else:
                    yield from self._misspelt(token)
        for mention in self.resolver.mentions(question, (), framework):
            named = self.resolver.name(mention.text, framework)
            cards = [r.card for r in named] or ([mention.card] if mention.card is not None else [])
            if cards:
                yield cards, "name", mention.text

    def _misspelt(self, token: str) -> Iterable[tuple[list[Card], str, str]]:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        lower = token.lower()
        if lower in self._vocabulary:
            return
        names = self._spellings
        best = process.extract(lower, names.keys(), scorer=OSA.normalized_similarity, score_cutoff=_LEAST_TYPO, limit=3)
        for name, likeness, _ in best:
            if likeness >= best[0][1] - 0.02:
                yield names[name], "typo", token

    @cached_property
    def _spellings(self) -> dict[str, list[Card]]:
        """Every spelling of a name, in lower case."""
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


def asked_framework(text: str) -> str | None:
    """The framework that a folded question names, if it names one."""
    named = {next(FRAMEWORKS[f] for f in FRAMEWORKS if f in match) for match in _ASKED.findall(text)}
    return named.pop() if len(named) == 1 else None


def question_terms(text: str) -> dict[str, float]:
    """The terms of a folded question and their weights; what it is written around with is left out."""
    plain = _without_fillers(text)
    own = [term for term in terms(plain) if term not in _table()["fillers"]]
    result = {term: (0.35 if len(term) == 1 else 1.0) for term in own}
    for group in _table()["synonyms"]:
        if any(_holds(plain, wording) for wording in group):
            for wording in group:
                for term in terms(wording):
                    if len(term) > 1:
                        result.setdefault(term, 0.3)
    return result


def _holds(text: str, wording: str) -> bool:
    if not wording.isascii():
        return wording in text
    return re.search(rf"(?<![a-z]){re.escape(wording)}(?![a-z])", text) is not None


def _without_fillers(text: str) -> str:
    pattern = _table()["pattern"]
    return re.sub(r"\s+", " ", str(pattern.sub(" ", text))).strip() or text


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    import yaml

    text = (resources.data_folder("knowledge") / "search.yaml").read_text(encoding="utf-8")
    table: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    chinese = sorted(table["fillers"]["zh"], key=len, reverse=True)
    long = [word for word in chinese if len(word) > 1]
    english = table["fillers"]["en"]
    return {
        "synonyms": table["synonyms"],
        "fillers": {*english, *chinese},
        "pattern": re.compile("|".join([*map(re.escape, long), rf"\b(?:{'|'.join(english)})\b"])),
    }


def _how(signs: Mapping[str, float]) -> How:
    return "alias" if "exact" in signs or "name" in signs else "search"
