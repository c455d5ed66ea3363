"""From any wording to a card: exact key → template → short name → plain words; never a guess.

The order within each stage prefers the framework of the log at hand, and a match in another framework is
marked so, because the same short name means different things in different frameworks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import Final, Literal, TypeVar

from assistant import resources
from assistant.knowledge import barewords
from assistant.knowledge.cards import OWN, Card, Library
from assistant.knowledge.nearest import nearest_names
from assistant.knowledge.templates import OwnKeys, template_pattern, template_shape

T = TypeVar("T")

How = Literal["exact", "template", "alias", "search"]

_FULL_WIDTH = str.maketrans({chr(0xFF01 + i): chr(0x21 + i) for i in range(94)} | {"\u3000": " "})


@dataclass(frozen=True, slots=True)
class Resolution:
    """A card and how it was found; ``bindings`` are the template's fields (``{"n": "30"}``)."""

    card: Card
    how: How
    score: float
    bindings: tuple[tuple[str, str], ...] = ()
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class Mentioned:
    """A metric that a question names: characters ``start:end`` of it, and what they resolve to.

    ``key`` is set where one key of the log is meant. Without it the whole family of ``card`` is, unless
    ``specific``: the question spells one member, which the log does not hold.
    """

    start: int
    end: int
    text: str
    card: Card | None
    key: str | None = None
    specific: bool = False


class Resolver:
    """Look-ups over a library; build once, then each look-up costs microseconds."""

    def __init__(self, library: Library) -> None:
        self.library = library

    # -- tables, built on first use ------------------------------------------------------------
    @cached_property
    def _exact(self) -> dict[str, list[Card]]:
        table: dict[str, list[Card]] = {}
        for card in self.library.shipped.values():
            for key in (*card.keys, card.id):
                if "{" not in key:
                    table.setdefault(key.lower(), []).append(card)
        return table

    @cached_property
    def _templates(self) -> list[tuple[re.Pattern[str], Card]]:
        result = []
        for card in self.library.shipped.values():
            for key in card.keys:
                if "{" in key:
                    result.append((template_pattern(key), card))
        return result

    @cached_property
    def _own(self) -> OwnKeys:
        return OwnKeys(self.library.own.values())

    @cached_property
    def _names(self) -> dict[str, list[Card]]:
        table: dict[str, list[Card]] = {}
        for card in self.library:
            names = {*card.names, *(key.rsplit("/", 1)[-1] for key in card.keys if "{" not in key)}
            for name in names | {card.id.split("/", 1)[1]}:
                if name.lower() not in _NO_NAMES:
                    table.setdefault(_fold(name), []).append(card)
        return table

    @cached_property
    def _words(self) -> dict[str, list[Card]]:
        table: dict[str, list[Card]] = {}
        for card in self.library:
            for word in (*card.words("zh"), *card.words("en")):
                table.setdefault(_fold(word), []).append(card)
        return table

    @cached_property
    def _key_cache(self) -> dict[tuple[str, str | None], Resolution | None]:
        return {}

    # -- look-ups ------------------------------------------------------------------------------
    def key(self, key: str, framework: str | None = None) -> Resolution | None:
        """The card of a metric key as a log spells it: exact, then template; ``None`` if unknown."""
        cache_key = (key, framework)
        if cache_key not in self._key_cache:
            own = self._own.find(key) if self.library.own else None
            if own is not None and own.broad:  # a template without a fixed beginning: only where nothing else is known
                shipped = self.shipped_key(key, framework)
                own = own if shipped is None else None
            if own is not None:
                self._key_cache[cache_key] = Resolution(own.card, own.how, 1.0, own.bindings)
            else:
                self._key_cache[cache_key] = self.shipped_key(key, framework)
        return self._key_cache[cache_key]

    def definitions(self, key: str) -> list[Card]:
        """Every card that defines a key, exactly or by a template: a team's own first, then by framework."""
        found = list(self._own.all(key)) if self.library.own else []
        if "{" in key:
            shape = template_shape(key)
            shipped = [c for c in self.library.shipped.values() if any(template_shape(k) == shape for k in c.keys)]
        else:
            shipped = self._exact.get(key.lower(), [])
            shipped = shipped or [card for pattern, card in self._templates if pattern.fullmatch(key)]
        return list(dict.fromkeys([*found, *_ordered(shipped, None)]))

    def shipped_key(self, key: str, framework: str | None) -> Resolution | None:
        """The shipped card of a metric key, whatever a team's own documents say of it."""
        card = _prefer(self._exact.get(key.lower(), []), framework)
        if card is not None:
            return Resolution(card, "exact", 1.0, foreign=_foreign(card, framework))
        found: list[tuple[Card, re.Match[str]]] = []
        for pattern, candidate in self._templates:
            match = pattern.fullmatch(key)
            if match is not None:
                found.append((candidate, match))
        card = _prefer([candidate for candidate, _ in found], framework)
        if card is None:
            return None
        bindings = next(match for candidate, match in found if candidate is card).groupdict()
        return Resolution(card, "template", 1.0, tuple(bindings.items()), _foreign(card, framework))

    def name(self, text: str, framework: str | None = None) -> list[Resolution]:
        """All cards that a user's spelling names, best first; empty when none does."""
        text = text.translate(_FULL_WIDTH).strip().strip("`'\"")
        direct = self.key(text, framework)
        folded = _fold(text)
        if direct is not None and not direct.foreign:
            spelt = "/" in text or "@" in text or framework is not None
            if direct.card.own or (spelt and direct.card.framework != GENERAL):
                return [direct]
        if framework is None and (meanings := self._meanings(folded)):
            return meanings
        named = _ordered(self._names.get(folded, []), framework)
        if framework is not None or not named:
            named += [card for card in _ordered(self._words.get(folded, []), framework) if card not in named]
        known = [Resolution(card, "alias", 0.9, foreign=_foreign(card, framework)) for card in named]
        own = [found for found in known if not found.foreign and found.card.framework != GENERAL]
        first = [*own, *([direct] if direct is not None else [])]
        result = first + [found for found in known if all(found.card is not other.card for other in first)]
        home = "verl" if framework is None else EXPLAINED_AS.get(framework, framework)
        plain = self._plain_keys.get(folded, ())
        if result and not (plain and all(found.card.framework not in {home, OWN, "concept"} for found in result)):
            return result
        if plain:
            exact = [self.key(pattern, framework) for pattern in plain[0] if "*" not in pattern]
            meant = {r.card.id: r for r in exact if r is not None}
            return [Resolution(r.card, "alias", 0.8, foreign=r.foreign) for r in meant.values()] or result
        if _STATISTIC.fullmatch(text):
            _, card = self._statistic(text.lower(), "", {}, framework)
            if card is not None:
                return [Resolution(card, "template", 0.9, foreign=_foreign(card, framework))]
        if not result and _COUNTED.fullmatch(folded):  # cons@64 is cons@n
            named = _ordered(self._names.get(re.sub(r"\d+$", "n", folded), []), framework)
            return [Resolution(card, "alias", 0.8, foreign=_foreign(card, framework)) for card in named]
        return result

    @cached_property
    def said(self) -> frozenset[str]:
        """Every folded name, key and word that some shipped card goes by; templates aside."""
        return frozenset((*self._exact, *self._names, *self._words, *self._plain_keys))

    def _meanings(self, folded: str) -> list[Resolution]:
        """What a bare word may mean where no framework is known: the usual meaning, then every key and name like it."""
        usual = [self.key(key) for keys in self._plain_keys.get(folded, ()) for key in keys if "*" not in key]
        exact = self._exact.get(folded, [])
        alike = list(dict.fromkeys([*exact, *self._names.get(folded, [])]))
        alike.sort(key=lambda card: (not card.own, _RANK.get(card.framework, len(_RANK)), card not in exact, card.id))
        own = [card for card in (*alike, *self._words.get(folded, [])) if card.own]
        own.sort(key=lambda card: folded not in map(_fold, card.keys))  # the very key comes before another's tail
        cards = dict.fromkeys([*own, *(meaning.card for meaning in usual if meaning is not None), *alike])
        return [Resolution(card, "exact", 1.0) if card in exact else Resolution(card, "alias", 0.9) for card in cards]

    def nearest(self, text: str, k: int = 3, keys: Iterable[str] = (), *, only_keys: bool = False) -> list[str]:
        """The ``k`` known spellings most like a text, for an error message; ``only_keys``: among the log's own."""
        own = {_fold(k): k for k in keys}
        metrics = [card for card in self.library if card.framework not in {"concept", "failure"}]
        pool = own if only_keys else {**{_fold(key): key for card in metrics for key in card.keys}, **own}
        return [pool[name] for name in nearest_names(_fold(text), pool, own, k)]

    # -- metrics named in a question -----------------------------------------------------------
    def mentions(self, question: str, keys: Iterable[str] = (), framework: str | None = None) -> list[Mentioned]:
        """Every metric that a question names, left to right, longest match first, not overlapping.

        ``keys`` are the log's own keys: a full key, or an unambiguous tail of one, wins over card names.
        """
        text = question.translate(_FULL_WIDTH)
        lower = text.lower()
        found: list[Mentioned] = []
        taken = [False] * len(text)

        def take(start: int, end: int, card: Card | None, key: str | None, *, specific: bool = False) -> None:
            if not any(taken[start:end]):
                taken[start:end] = [True] * (end - start)
                found.append(Mentioned(start, end, question[start:end], card, key, specific and key is None))

        own = {key.lower(): key for key in keys}
        for match in _STATISTIC.finditer(text):
            key, card = self._statistic(match.group().lower(), lower, own, framework)
            if key is not None or card is not None:
                take(match.start(), match.end(), card, key, specific=True)
        for match in _KEY_LIKE.finditer(text):
            token = match.group().rstrip("./-:")
            if token.lower() in own:
                key = own[token.lower()]
                resolution = self.key(key, framework)
                take(match.start(), match.start() + len(token), _card(resolution), key)
            elif "/" in token or "@" in token:
                tails = [k for k in own if k.endswith("/" + token.lower())]
                resolved = self.key(token, framework)
                if len(tails) == 1:
                    own_key = own[tails[0]]
                    resolved = self.key(own_key, framework)
                    take(match.start(), match.start() + len(token), _card(resolved), own_key)
                elif resolved is not None:
                    take(match.start(), match.start() + len(token), resolved.card, None, specific="/" in token)
                elif "/" in token and _LOOKS_LIKE_KEY.fullmatch(token):
                    named = self.name(token, framework)
                    card = named[0].card if named else None
                    take(match.start(), match.start() + len(token), card, None)
        for start, end, card in () if own else barewords.places(lower, self._bare):
            if _whole_word(lower, start, end):
                take(start, end, card, None, specific=True)
        for word, patterns in _occurring(lower, self._plain, self._plain_places):
            start = lower.find(word)
            while start >= 0:
                end = start + len(word)
                if _whole_word(lower, start, end):
                    key = _first_held(patterns, own)
                    if key is not None or own:
                        sample = patterns[0].replace("@*", "@1").replace("*", "x")
                        card = _card(self.key(key or sample, framework))
                        if key is not None or card is not None:
                            take(start, end, card, key, specific=True)
                start = lower.find(word, end)
        for phrase, cards in _occurring(lower, self._phrases, self._phrase_places):
            start = lower.find(phrase)
            while start >= 0:
                end = start + len(phrase)
                if _whole_word(lower, start, end):
                    card = _prefer(self._held(cards, own), framework)
                    everyday = card is not None and not card.own and not _JOINT.search(phrase)
                    if card is not None and everyday and (_foreign(card, framework) or _is_absent(card, own)):
                        break  # another framework's everyday words say nothing about this log
                    key = None
                    if card is not None:
                        held = [k for k in own if k.endswith("/" + phrase) or k == phrase]
                        if f"{phrase}/mean" in own:  # the head of a family before the tail of another key
                            held = [f"{phrase}/mean"]
                        if len(held) == 1:
                            key = own[held[0]]
                            resolution = self.key(key, framework)
                            card = resolution.card if resolution else card
                    take(start, end, card, key)
                start = lower.find(phrase, end)
        for match in _SNAKE.finditer(text):
            if not any(taken[match.start() : match.end()]):
                token = match.group()
                tails = [k for k in own if k.endswith("/" + token.lower()) or k == token.lower()]
                if len(tails) == 1:
                    resolution = self.key(own[tails[0]], framework)
                    take(match.start(), match.end(), _card(resolution), own[tails[0]])
                elif not tails:
                    take(match.start(), match.end(), None, None)
        return sorted(found, key=lambda m: m.start)

    def _held(self, cards: list[Card], keys: dict[str, str]) -> list[Card]:
        """Of cards by one name, a team's own only if the log holds a key of theirs, unless there are no others."""
        others = [card for card in cards if not card.own]
        if not keys or not others or len(others) == len(cards):
            return cards
        own = {found.card for key in keys.values() if (found := self._own.find(key)) is not None}
        return [card for card in cards if not card.own or card in own]

    def _statistic(
        self, name: str, question: str, own: dict[str, str], framework: str | None
    ) -> tuple[str | None, Card | None]:
        """The log's key and the card of a statistic such as ``best@30``; accuracy unless reward is asked for."""
        held = [k for k in own if k.endswith((f"/{name}", f"/{name}/mean"))]
        variable = "/reward/" if re.search(r"reward|奖励", question) else "/score/" if "score" in question else "/acc/"
        said = re.search(r"\bacc|准确|正确率|reward|奖励|score|得分", question) is not None
        chosen = next((k for k in held if variable in k), held[0] if len(held) == 1 and not said else None)
        if chosen is not None:
            resolution = self.key(own[chosen], framework)
            return own[chosen], _card(resolution)
        stems = (f"val-core/x/acc/{name}", f"val-aux/x/acc/{name}")
        for sample in (*stems, *(f"{stem}/mean" for stem in stems)):
            resolution = self.key(sample, framework)
            if resolution is not None:
                return None, resolution.card
        return None, None

    @cached_property
    def _plain(self) -> list[tuple[str, list[str]]]:
        """Bare words with the keys they may mean, longest word first (``knowledge/plain_words.yaml``)."""
        entries = [(_fold(word), entry["keys"]) for entry in plain_words() for word in entry["words"]]
        return sorted(entries, key=lambda item: -len(item[0]))

    @cached_property
    def _plain_keys(self) -> dict[str, list[list[str]]]:
        return {word: [keys for other, keys in self._plain if other == word] for word, _ in self._plain}

    @cached_property
    def _bare(self) -> list[tuple[str, Card]]:
        return barewords.meanings(plain_words(), lambda key: _card(self.key(key)))

    @cached_property
    def _plain_places(self) -> _Places:
        return _places(self._plain)

    @cached_property
    def _phrase_places(self) -> _Places:
        return _places(self._phrases)

    @cached_property
    def _phrases(self) -> list[tuple[str, list[Card]]]:
        table: dict[str, list[Card]] = {}
        for source in (self._names, self._words):
            for phrase, cards in source.items():
                metrics = [card for card in cards if card.framework != "failure"]  # what goes wrong is no metric
                if metrics:
                    bucket = table.setdefault(phrase, [])
                    bucket.extend(card for card in metrics if card not in bucket)
        plain = {**table}
        for phrase, cards in table.items():  # "pg loss" and "pg-loss" for "pg_loss"
            if "_" in phrase:
                for variant in (phrase.replace("_", " "), phrase.replace("_", "-")):
                    plain.setdefault(variant, cards)
        usable = {
            p: c for p, c in plain.items() if (len(p) > 1 or not p.isascii()) and p not in _TOO_PLAIN and "{" not in p
        }
        return sorted(usable.items(), key=lambda item: -len(item[0]))


_STATISTIC = re.compile(r"(?<![A-Za-z0-9_/])(?:mean|std|best|worst|maj)@\d+(?:/(?:mean|std))?(?![\d/])", re.IGNORECASE)
_COUNTED = re.compile(r"[a-z_]+@\d+")
_KEY_LIKE = re.compile(r"[A-Za-z][A-Za-z0-9_@./|()-]{1,200}")
_LOOKS_LIKE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_@.-]*(?:/[A-Za-z0-9_@.-]+)+")
_JOINT = re.compile(r"[/_@]")
_SNAKE = re.compile(r"(?<![A-Za-z0-9_/@.])[A-Za-z]+(?:_[A-Za-z0-9]+)+(?![A-Za-z0-9_/@])")
_TOO_PLAIN = {
    "step", "loss", "mean", "time", "count", "epoch", "advantage/mean", "total", "adv", "ref", "reward/mean",
    "values", "gen", "actor", "critic", "value", "ratio", "episode",
}  # fmt: skip

#: Keys of a log, but as a word of a question they say nothing about a metric.
_NO_NAMES: Final = frozenset({
    "mean", "max", "min", "std", "total", "execute", "onload", "offload", "rss", "vms", "alpha", "backward",
    "baseline", "batch", "bw", "collection", "computation", "data", "dt", "eta", "ev", "eval", "forward",
    "frames", "gpu", "it", "iter", "iteration", "iterations", "latency", "learner", "learning", "len", "length",
    "losses", "masked", "mem", "memory", "model", "ms", "norm", "optimizer", "others", "percentage", "progress",
    "recall", "rollouts", "s", "scale", "score", "sec", "seq", "steps", "surrogate", "tel", "timers",
    "timesteps", "tokens", "took", "train", "trainable", "trl", "ups", "update", "updates", "val", "wall",
})  # fmt: skip


_Places = tuple[dict[str, list[int]], dict[str, list[int]]]
"""Where each phrase stands in a list, and the lengths of the phrases that begin with two characters."""


def _places(phrases: Iterable[tuple[str, object]]) -> _Places:
    places: dict[str, list[int]] = {}
    for at, (phrase, _) in enumerate(phrases):
        places.setdefault(phrase, []).append(at)
    lengths: dict[str, set[int]] = {}
    for phrase in places:
        lengths.setdefault(phrase[:2], set()).add(len(phrase))
    return places, {begin: sorted(found) for begin, found in lengths.items()}


def _occurring(text: str, phrases: list[tuple[str, T]], places: _Places) -> list[tuple[str, T]]:
    """The phrases that a text holds, in the order of the list; the list itself is too long to be tried one by one."""
    known, lengths = places
    found: set[int] = set()
    for start, char in enumerate(text):
        if start and _ascii_word(char) and (_ascii_word(text[start - 1]) or text[start - 1] in "/@"):
            continue  # inside a word, where no phrase begins
        found.update(known.get(char, ()))
        for length in lengths.get(text[start : start + 2], ()):
            if (phrase := text[start : start + length]) in known:
                found.update(known[phrase])
    return [phrases[at] for at in sorted(found)]


@lru_cache(maxsize=1)
def plain_words() -> list[dict[str, list[str]]]:
    """The shipped table of bare words."""
    table: list[dict[str, list[str]]] = resources.yaml_table(resources.data_folder("knowledge") / "plain_words.yaml")
    return table


def _first_held(patterns: Iterable[str], own: dict[str, str]) -> str | None:
    """The first of some key patterns that a log's key answers to."""
    for pattern in patterns:
        lowered = pattern.lower()
        if "*" not in lowered:
            if lowered in own:
                return own[lowered]
            continue
        matching = [key for key in own if fnmatchcase(key, lowered)]
        if matching:
            return own[matching[0]]
    return None


def _card(resolution: Resolution | None) -> Card | None:
    return None if resolution is None else resolution.card


def _fold(text: str) -> str:
    return re.sub(r"\s+", " ", text.translate(_FULL_WIDTH).strip().lower())


def _whole_word(text: str, start: int, end: int) -> bool:
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    first, last = text[start], text[end - 1]
    left = not (_ascii_word(first) and (_ascii_word(before) or before in "/@"))
    right = not (_ascii_word(last) and (_ascii_word(after) or after in "/@"))
    plural = last.isascii() and after == "s" and (end + 1 >= len(text) or not _ascii_word(text[end + 1 : end + 2]))
    return left and (right or plural)


def _ascii_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


_RANK = {
    name: at
    for at, name in enumerate(
        ("verl", "TRL", "OpenRLHF", "ROLL", "slime", "NeMo-RL", "AReaL", "ms-swift", "custom", "concept", "general")
    )
}
"""Whose meaning of a bare word comes first where no framework is known."""

GENERAL = "general"
"""The framework of cards whose keys mean the same everywhere."""

#: What a parser calls the framework, where its metrics are explained under another name.
EXPLAINED_AS = {
    "HF Trainer": "TRL",
    "Unsloth": "TRL",
    "transformers": "TRL",
    "Stable-Baselines": "Stable-Baselines3",
}


def _is_absent(card: Card, own: dict[str, str]) -> bool:
    """Whether a card of no framework in particular is about none of a log's keys."""
    return card.framework == GENERAL and bool(own) and not any(key.lower() in own for key in card.keys)


def _foreign(card: Card, framework: str | None) -> bool:
    return framework is not None and card.framework not in {
        EXPLAINED_AS.get(framework, framework),
        "concept",
        "failure",
        GENERAL,
        OWN,
    }


def _ordered(cards: list[Card], framework: str | None) -> list[Card]:
    own = EXPLAINED_AS.get(framework or "", framework)
    concept, general, failure = (3, 1, 4) if framework is not None else (1, 3, 1.5)  # a failure's name means it
    order = {OWN: -1, "verl": 2, "concept": concept, GENERAL: general, "failure": failure, own: 0}
    return sorted(
        cards, key=lambda card: (order.get(card.framework, 4), _RANK.get(card.framework, len(_RANK)), card.id)
    )


def _prefer(cards: list[Card], framework: str | None) -> Card | None:
    ordered = _ordered(cards, framework)
    return ordered[0] if ordered else None
