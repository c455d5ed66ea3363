"""From a question in any words to cards: names first, then words and vectors, weighed together.

Exact keys, templates and aliases are the resolver's; a misspelt name is looked up as the nearest one. Everything else
is found by the index. What is not alike enough is not found: an unknown metric stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import Final

from assistant.knowledge.cards import Card, Library
from assistant.knowledge.counterparts import Counterparts
from assistant.knowledge.elsewhere import Elsewhere
from assistant.knowledge.entries import entry_of, entry_of_passage
from assistant.knowledge.finder_found import SHOWN_NAMED, Found, How, Reading, varied, with_named
from assistant.knowledge.finder_signs import Signs
from assistant.knowledge.foreignkeys import ForeignKeys, said_in, taken_for_another
from assistant.knowledge.index import Entry, Index
from assistant.knowledge.loosekeys import LooseKeys
from assistant.knowledge.namewords import absent_names, name_words
from assistant.knowledge.naming import GENERAL, LIKE_KEY, MAJOR, Naming
from assistant.knowledge.nearest import LEAST_LIKENESS, alike_names
from assistant.knowledge.passages import FoundPassage, find_passages
from assistant.knowledge.prefixed import shown_as
from assistant.knowledge.questions import (
    asked_framework,
    asked_kinds,
    asks_counterpart,
    brackets_apart,
    named_frameworks,
    narrow,
    search_table,
    spelt_out,
    without_fillers,
    without_frame,
    without_framework,
    without_place,
)
from assistant.knowledge.resolver import EXPLAINED_AS, Resolution, Resolver, _ordered
from assistant.knowledge.resolver import GENERAL as ANYBODYS
from assistant.knowledge.spoken import SpokenKeys
from assistant.knowledge.stated import names_within, without_ends
from assistant.knowledge.terms import fold, pieces
from assistant.knowledge.typos import KEY, NAME, Speller, keys_in
from assistant.knowledge.wordings import plainly, wordings_of

_JOINT: Final = re.compile(r"[/_@]")
_SHORT_REST: Final = 12
_LONG_REST: Final = 20
_PLACES: Final = 3
_REACH: Final = 10
_LEAST: Final = 0.5
_HALF: Final = 5.6
"""Weighted sum of a card that is just likely enough; goes with the scale of the weights."""

_MISSPELT: Final = 0.75
"""How alike (0 to 1) two keys must be for one to be a misspelling of the other."""

_SPELLINGS: Final = 4
"""Keys that are compared for each card that is offered: a card has several."""

_THE_NAME: Final = 0.99
"""How alike the words of a key and of a name are that are the same."""

_FEW_WORDS: Final = 3
"""Words that a question for a quantity may hold besides its name."""

_HYPHENED: Final = re.compile(r"[a-z][.-][a-z]")
_UNJOINED: Final = re.compile(r"[\s-]+")
_WORDS: Final = re.compile(r"[a-z]+")
_LEAST_LIKENESS: Final = 0.5
"""Cosine from which on a passage of a team's own documents is about a question."""


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
    def signs(self) -> Signs:
        """What speaks for a card."""
        return Signs(
            self.library, self.index, speller=self.speller, naming=self.naming, counterparts=self.counterparts,
            elsewhere=self.elsewhere,
        )  # fmt: skip

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
        read = self._read(question, framework)
        if read.unknown:
            return []
        found = self._found(read, framework, k)
        name, says_how_high = without_ends(without_framework(fold(read.typed)))
        rare = not says_how_high and len(name.split()) <= _FEW_WORDS and self.signs.rare_words(name) >= 1
        perhaps_unknown = not read.direct and (says_how_high or rare)
        if not name or (found and not perhaps_unknown) or asks_counterpart(fold(read.typed)):
            return found
        bare = self._read(name, framework or read.asked)  # what is said around a name makes the search less or too sure
        alone = [] if bare.unknown else self._found(bare, framework or read.asked, k)
        return (found or alone) if alone else []

    def _found(self, read: Reading, framework: str | None, k: int) -> list[Found]:
        """Cards that answer a question that is read."""
        first, rest = self._ranked(read, framework)
        best = rest[0] if rest else None
        sure = bool(first) or (best is not None and (best.is_named or self._is_sure(read, best, rest)))
        about = [] if first else self._about(read, framework, sure=sure)
        if not sure:
            words = without_frame(without_framework(fold(read.question)))
            cards = about or [r.card for r in read.aside] or self.naming.said(words, framework or read.asked)
            named = [Found(card, "alias", 0.9, {"name": 1.0}) for card in cards]
            if about and "failure" in asked_kinds(fold(read.question)):  # what goes wrong with it, in the second place
                named[1:1] = [found for found in rest[:_REACH] if found.card.framework == "failure"][:1]
            return named[:k]
        shown = [*first, *(found for found in rest if found.score >= _LEAST)]
        if about:
            major = any(card.framework in MAJOR for card in about)
            shown = with_named(shown, about, leads=major and "failure" not in asked_kinds(fold(read.question)))
        elif not first and (spelt := self._spelt(read)):
            text = fold(read.question)
            about_it = NAME.match(text) is not None and KEY.search(text.split()[0]) is not None
            shown = with_named(shown, spelt, leads=about_it and "failure" not in asked_kinds(text))
        return varied(shown, len(first), self._counterparts_of(read, framework))[:k]

    def _about(self, read: Reading, framework: str | None, *, sure: bool) -> list[Card]:
        """Cards of the one quantity that a question calls by name where it says nothing else than how that is.

        What cards are asked for by besides names counts only where the search is not sure.
        """
        text = fold(read.question)
        told = named_frameworks(text)
        if len(told) > 1 or (told and asks_counterpart(text)):
            return []
        asked = framework or read.asked or (told[0] if told else None)
        for name in names_within(without_framework(text)):
            said = name in self.resolver.said or self.library.own or "@" in name
            cards = [r.card for r in self.resolver.name(name, asked) if r.how != "template"] if said else []
            cards = self.naming.also_called(name, asked) or cards or [r.card for r in self.naming.alone(name, asked)]
            if not cards and asked is None and not sure:
                cards = self._wordings.get(plainly(name), [])
            if cards:
                return cards
        return []

    def _spelt(self, read: Reading) -> list[Card]:
        """Cards of the keys that a question spells in full, with their joints, whatever else it says."""
        found = map(self.resolver.key, keys_in(fold(read.question)))
        return list(dict.fromkeys(one.card for one in found if one is not None and one.how == "exact"))[:SHOWN_NAMED]

    def nearest(self, question: str, framework: str | None = None, k: int = 3) -> list[Card]:
        """Cards that may have been meant where :meth:`find` is not sure, likeliest first: an offer, never an answer.

        A key goes by its spelling alone, where some key is as like it as a misspelling is. Otherwise what the search
        ranks highest and, for a text that is one name, what is spelt most alike take turns.

        Args:
            question: a key, a name or a sentence.
            framework: whose metrics are meant, ``None`` if the question may say.
            k: how many.
        """
        if not pieces(question):
            return []
        name = without_frame(without_framework(fold(question))).strip("`")
        alike = self._spelt_alike(name, framework, k) if NAME.fullmatch(name) else []
        if alike and KEY.search(name) and alike[0][1] >= _MISSPELT:  # no index need be opened for this
            return [card for card, _ in alike][:k]
        read = self._read(question, framework)
        first, rest = self._ranked(read, framework)
        ranked = [found.card for found in varied([*first, *rest], len(first), self._counterparts_of(read, framework))]
        perhaps = [card for card, likeness in alike if likeness >= LEAST_LIKENESS]
        pairs = zip_longest(ranked[: 2 * k], perhaps)
        offered = [card for pair in pairs for card in pair if card is not None]
        return list({card.id: card for card in (*offered, *(card for card, _ in alike))}.values())[:k]

    def leading_name(self, card: Card, text: str) -> str:
        """The key of a metric that is most like a text, if asking for it leads to its card; else the card's id."""
        keys = {key.lower(): key for key in card.keys} if card.framework not in GENERAL else {}
        alike = [keys[key] for key, likeness in alike_names(fold(text), keys, (), 1) if likeness >= LEAST_LIKENESS]
        for key in (*alike, *list(keys.values())[:1]):
            if any(found.card is card for found in self.resolver.name(key)[:1]):
                return key
        return card.id

    def _counterparts_of(self, read: Reading, framework: str | None) -> Callable[[str], Collection[str]]:
        """From a card to those of other frameworks for the same quantity, where the question is about no framework."""
        if framework is None and not named_frameworks(fold(read.question)):
            return self.counterparts.of
        return lambda _: ()

    def _spelt_alike(self, name: str, framework: str | None, k: int) -> list[tuple[Card, float]]:
        """Metrics with the keys spelt most like a name, each once, and how alike these are (0 to 1)."""
        cards: dict[str, tuple[Card, float]] = {}
        home = EXPLAINED_AS.get(framework or "", framework)
        own = {key for key, held in self._keys.items() if any(card.framework == home for card in held)}
        for key, likeness in alike_names(name, self._keys, own, _SPELLINGS * k):
            for card in _ordered(self._keys[key], framework):
                cards.setdefault(card.id, (card, likeness))
        return list(cards.values())

    @cached_property
    def _keys(self) -> dict[str, list[Card]]:
        """The keys of all metrics, in lower case, and their cards."""
        table: dict[str, list[Card]] = {}
        for card in self.library:
            for key in card.keys if card.framework not in GENERAL else ():
                table.setdefault(key.lower(), []).append(card)
        return table

    def _ranked(self, read: Reading, framework: str | None) -> tuple[list[Found], list[Found]]:
        """What a question names, then all other cards that have any sign, each list best first."""
        features = self.features(read.question, framework)
        scored = [
            Found(self.library.cards[card], _how(signs), self._score(signs), signs) for card, signs in features.items()
        ]
        direct = list(read.direct)
        if _JOINT.search(read.question.strip()):  # spelt as a key: a metric comes before the concept of the same name
            direct.sort(key=lambda resolution: resolution.card.framework in GENERAL)
        once = {resolution.card.id: resolution for resolution in reversed(direct)}
        direct = [r for r in direct if once[r.card.id] is r]
        first = [Found(r.card, r.how, 1.0 if r.how != "alias" else 0.95, {"name": 1.0}) for r in direct]
        known = {found.card.id for found in first}
        return first, sorted((f for f in scored if f.card.id not in known), key=lambda found: -found.score)

    def _read(self, question: str, framework: str | None) -> Reading:
        """A question without its typos, what it calls by name, and whether it is about a key that does not exist."""
        question = brackets_apart(without_place(question))
        if (rejoined := self.speller.rejoined(fold(question))) is not None:
            question = rejoined
        direct = self.resolver.name(question, framework)
        if all(r.how == "template" for r in direct) and len(question.split()) > 1:
            direct = []  # a template takes a whole sentence, too
        if direct and KEY.search(question) and all(r.card.framework in GENERAL for r in direct):  # a concept's name
            direct = self.naming.alone(fold(question).strip("`?？ "), framework) or direct
        if all(r.foreign or r.how == "template" or r.card.framework == ANYBODYS for r in direct):
            shown = shown_as(question, framework or asked_framework(fold(question)), self.resolver)
            direct = [Resolution(card, "alias", 0.9) for card in shown] or direct
        if framework is not None and not KEY.search(question) and all(r.foreign for r in direct):
            direct = []  # others' cards by this name are weighed with its own
        typed_as, typed = question, spelt_out(question)
        if not direct and (
            said := self._said_in_keys(question, framework or asked_framework(fold(question)), mended=True)
        ):
            direct = [Resolution(card, "search", 0.8) for card in said]
        question = question if direct else spelt_out(self.signs.mended(typed))
        asked = asked_framework(fold(question)) if framework is None and not direct else None
        if asked is not None:
            named = self.resolver.name(without_framework(narrow(question)), asked)
            direct = [resolution for resolution in named if not resolution.foreign]
            spoken = self.resolver.key(_UNJOINED.sub("_", without_framework(fold(question))), asked)
            if spoken is not None and spoken.how == "exact" and spoken.card.framework == asked:  # "TRL eval loss"
                direct = [spoken, *(resolution for resolution in direct if resolution.card is not spoken.card)]
        direct = self._with_other_names(direct, fold(narrow(typed_as)), framework or asked)
        told = named_frameworks(fold(question))
        if not direct and (not told or (len(told) == 1 and not asks_counterpart(fold(question)))):
            names = dict.fromkeys(without_frame(without_framework(fold(text))) for text in (question, typed))
            alone = [found for name in names if (found := self.naming.alone(name, framework or asked))]
            spelt = [r for r in alone if any(one.how != "template" for one in r)]  # any text fits into the others
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
            meant = [Resolution(card, "alias", 0.9) for card in self._wordings.get(plainly(fold(question)), ())]
            direct = self._with_other_names(meant, fold(question), None) if meant else []
        aside: list[Resolution] = []
        if framework is None and not _JOINT.search(question) and all(r.card.framework not in MAJOR for r in direct):
            direct, aside = [], direct  # other trainers' bare names are weighed with everything else
        if asked is not None and not KEY.search(typed) and all(r.card.framework == ANYBODYS for r in direct):
            direct = []  # words that are everybody's key may be another one of the framework asked for
        if not direct:
            nearly = self.naming.nearly_called(fold(narrow(typed_as)), framework or asked)
            direct = [Resolution(card, "alias", 0.8) for card in nearly]
        if not direct:
            direct = [Resolution(card, "alias", 0.8) for card in self._loosely_called(typed_as, framework or asked)]
        unknown = not direct and (self._asks_for_unknown(question, framework or asked) or self._asks_for_absent(typed))
        if unknown and (said := self._said_in_keys(typed_as, framework or asked)):
            direct, unknown = [Resolution(card, "search", 0.8) for card in said], False
        return Reading(typed, question, tuple(direct), asked, unknown, tuple(aside))

    def _loosely_called(self, question: str, framework: str | None) -> list[Card]:
        """Cards of a key that a question is nothing but, its joints or letters typed otherwise."""
        text = without_framework(fold(narrow(question)))
        home = None if framework is None else EXPLAINED_AS.get(framework, framework)
        for name in dict.fromkeys((text.strip("`?？ "), *names_within(text))):
            if not name.isascii() or not (KEY.search(name) or _HYPHENED.search(name)):
                continue
            if self.resolver.key(name) is not None:  # a key as it is
                return []
            if cards := _ordered(self.loose.find(name, home) or self.loose_pieces.find(name, home), framework):
                return cards
        for key in (match.group() for match in NAME.finditer(text) if KEY.search(match.group())):
            if all(map(self.speller.words.knows, _WORDS.findall(key))):  # "train/infer" is prose
                continue
            mended = self.speller.mend(key)[0]
            if self.resolver.key(mended) is None and not any(True for _ in self.naming.named(mended, framework)):
                found = self.loose.find(key, home) or self.loose.between_left_out(key)
                cards = _ordered(found or self.loose_pieces.find(key, home), framework)
                return [card for card in cards if home in {None, card.framework}]
        return []

    def _said_in_keys(self, question: str, framework: str | None, *, mended: bool = False) -> list[Card]:
        """Cards of what the one key that a question is about says in its words, the likeliest first.

        Args:
            question, framework: as typed, and whose metrics are meant.
            mended: only of a key that would be taken for a misspelt other one, though its words are a name and no more.
        """
        text = fold(narrow(question))
        keys = keys_in(text)
        if len(keys) != 1 or self._asks_for_absent(said_in(keys[0])):
            return []
        alone = without_frame(without_framework(text)) == keys[0]
        if mended and not (alone and taken_for_another(keys[0], self.speller)):
            return []
        cards = self.foreign_keys.find(keys, framework, *((_THE_NAME,) if mended else ())).get(keys[0], [])
        cards = cards or ([] if mended else self.foreign_keys.misspelt(keys[0], framework, self.speller.words))
        if len(cards) > 1:
            signs = self.signs.of(said_in(keys[0]), framework)
            cards.sort(key=lambda card: -self._score(signs.get(card.id, {})))
        return cards[:_PLACES]

    @cached_property
    def foreign_keys(self) -> ForeignKeys:
        """Keys of nobody known here, by what their words say."""
        return ForeignKeys(self.library, self.index)

    @cached_property
    def loose(self) -> LooseKeys:
        """Keys by their words."""
        return LooseKeys(self.library)

    @cached_property
    def loose_pieces(self) -> LooseKeys:
        """Keys without their beginning or their statistic, by their words."""
        return LooseKeys(self.library, pieces=True)

    def _with_other_names(self, direct: list[Resolution], question: str, framework: str | None) -> list[Resolution]:
        """What a question names; what goes by that name elsewhere first, if it is nothing, others' cards or no key.

        Where no framework is meant, a name with joints, or that is a key in full, is what it is spelt as.
        """
        home = None if framework is None else EXPLAINED_AS.get(framework, framework)
        if home is not None and any(resolution.card.framework == home for resolution in direct):
            return direct
        if home is None and direct and (KEY.search(question) or any(r.how != "alias" for r in direct if _is_major(r))):
            return direct
        called = self.naming.also_called(question, framework, in_words=not direct)
        return [*(Resolution(card, "alias", 0.9) for card in called), *direct]

    @cached_property
    def _wordings(self) -> dict[str, list[Card]]:
        """What people say who mean a card → the cards, if they are few."""
        return wordings_of(self.library)

    def _is_sure(self, read: Reading, best: Found, found: Sequence[Found]) -> bool:
        """Whether what was found best is about the question at all; how much each sign tells is in the table."""
        signs = self.signs.of_sureness(read.question, best, found, read.typed)
        return sum(self.sureness[sign] * value for sign, value in signs.items()) >= self.sureness["least"]

    def features(self, question: str, framework: str | None = None) -> dict[str, dict[str, float]]:
        """The signs for each card that has any."""
        return self.signs.of(question, framework)

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

    def _score(self, signs: Mapping[str, float]) -> float:
        """The weighted sum, brought to 0…1: a half at :data:`_HALF`."""
        weight = self.weights.get
        total = max(0.0, sum([weight(sign, 0.0) * value for sign, value in signs.items()]))
        return total / (_HALF + total)

    def _asks_for_absent(self, question: str) -> bool:
        """Whether a question names little else than a quantity that no card goes by (``absent`` in ``search.yaml``)."""
        text = without_framework(fold(question))
        words = set(name_words(without_frame(text)))
        all_words = set(name_words(text))  # "number of" tells something, too
        if "failure" in asked_kinds(narrow(question).lower()):
            return False
        named = [absent for absent in absent_names() if absent <= all_words and len(words - absent) <= _FEW_WORDS]
        return any(not self.index.is_named(absent) for absent in named)

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
        return not any(True for _ in self.naming.named(without_framework(question), framework))


def _is_major(resolution: Resolution) -> bool:
    return resolution.card.framework in MAJOR


def _how(signs: Mapping[str, float]) -> How:
    return "alias" if "exact" in signs or "name" in signs else "search"
