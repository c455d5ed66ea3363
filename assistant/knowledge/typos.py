"""Misspelt names and words: edit distance, letters and segments in another order, joints left out, Chinese homophones.

Nothing is mended that some card spells so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Final, TypeVar

from assistant.knowledge.acronyms import Acronyms
from assistant.knowledge.cards import Card, Library
from assistant.knowledge.homophones import Homophones
from assistant.knowledge.keyforms import TemplateMender, before_statistic, family, spelt_forms
from assistant.knowledge.namewords import absent_words, written_words
from assistant.knowledge.questions import search_table
from assistant.knowledge.resolver import Resolver, _ordered
from assistant.knowledge.segments import broken, unbracketed
from assistant.knowledge.slips import parts_alike, same_letters
from assistant.knowledge.templates import template_pattern
from assistant.knowledge.wordmend import WordMender

K = TypeVar("K")

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_@./()|-]*")
KEY: Final = re.compile(r"[a-z0-9][/_@][a-z0-9]", re.IGNORECASE)
_LETTERS: Final = re.compile(r"[a-z]+")
_PROSE: Final = re.compile(r"[a-z]+(?:[.-][a-z]+)*")
"""Words, not names: no digits, no joints of a key."""

_SETTING: Final = re.compile(r"(?<![a-z0-9_/])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![a-z0-9_/])")
_JOINTS: Final = re.compile(r"[/_@.\s-]+")
_LISTED: Final = re.compile(r"\d|^(?:avg|mean|max|min|std|sum|total|acc|score|reward)$")
_LEAST_ALIKE: Final = 0.75
_SURELY_ALIKE: Final = 0.9
_LIKE_SETTING: Final = 0.82
_PART_ALIKE: Final = 0.7
_SHORT_PART_ALIKE: Final = 0.66  # one slip in three letters
_JOINED_ALIKE: Final = 0.9
_NEARLY_JOINED: Final = 0.85
_SHORT_TEXT: Final = 5
_SHORTEST: Final = 4
_SHORTEST_JOINED: Final = 7
_REJOINED: Final = re.compile(r"[a-z0-9][.-][a-z0-9]")
_COUNTED: Final = re.compile(r"@(?:\d+|[kn]\b)")
_MOST_WORDS: Final = 5
_MOST_PARTS: Final = 8
_PAIR: Final = 2
_MOST_REMEMBERED: Final = 256
_TIES: Final = 8
_NOTHING: Final = 1e-6
_OF_NAMES: Final = 3
"""What a word of a name or title counts beside one of a text."""


class Speller:
    """Mends what somebody typed.

    Args:
        library: the cards, whose spelling is right.
        resolver: from names to cards.
        share: how many of the cards hold a term, 0 to 1.
    """

    def __init__(self, library: Library, resolver: Resolver, share: Callable[[str], float]) -> None:
        self._library = library
        self._resolver = resolver
        self._share = share
        self._remembered: dict[str, tuple[str, dict[str, str]]] = {}

    def mend(self, text: str) -> tuple[str, dict[str, str]]:
        """A folded text with misspelt names and words as they are spelt, and what was mended (typed → right)."""
        known = self._remembered.get(text)
        if known is None:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            known = self._remembered[text] = self._mended(text)
        return known

    def _mended(self, text: str) -> tuple[str, dict[str, str]]:
        mended = dict(broken(text, self.words.counts))
        for halves, whole in mended.items():
            text = replaced(text, halves, whole)
        tokens = [unbracketed(token.rstrip("./-:")) for token in NAME.findall(text)]
        for at, name in enumerate(tokens):
            if not _PROSE.fullmatch(name):
                right = self._right(name) if len(name) >= _SHORTEST - 1 else None
            else:
                around = (tokens[at - 1] if at else "", tokens[at + 1] if at + 1 < len(tokens) else "")
                right = self._right_words(name, *around)
            if right is None and name not in self.spellings:
                right = self._acronyms.mend(name)
            if right is not None:
                mended[name] = right
        if not mended and (key := self._nearly_joined(text)) is not None:
            return key, {text: key}
        for typed, right in self._joined(text):
            if not any(typed in other or other in typed for other in mended):
                mended[typed] = right
        mended |= self._homophones.mend(text)
        for typed, right in mended.items():
            text = replaced(text, typed, right)
        return text, mended

    # -- words ---------------------------------------------------------------------------------
    def _right_words(self, name: str, before: str, after: str) -> str | None:
        """How words joined by hyphens are spelt, or a name that they nearly are; ``None`` if they are right."""
        if name in self.spellings:
            return None
        same = self.rejoined(name)
        if same is not None and ("/" in same or len(_JOINTS.split(same)) > _PAIR):  # "off-policy" is no key
            return same
        if all(word in self.words.counts for word in _LETTERS.findall(name)):
            return None
        short = len(name) < _SHORTEST and not self.words.knows(name)
        beside = (_LETTERS.findall(before)[-1:], _LETTERS.findall(after)[:1])
        if short and (mended := self.words.mend(name, *map("".join, beside))) is not None:
            return mended  # a neighbour vouches for it
        if short and (mended := self._abbreviations.get("".join(sorted(name)))) is not None:
            return mended
        if (joined := self._run_together(name)) is not None:
            return joined
        parts = re.split(r"([.-])", name)
        around = [*beside[0], *parts[::2], *beside[1]]
        shift = 1 if _LETTERS.search(before) else 0
        for at in range(0, len(parts), 2):
            place = at // 2 + shift
            neighbours = (around[place - 1] if place else "", around[place + 1] if place + 1 < len(around) else "")
            parts[at] = self.words.mend(parts[at], *neighbours) or parts[at]
        right = "".join(parts)
        if right != name:
            return right
        return self._right(name) or self._nearly_run_together(name) or self.words.apart(name)  # a name, if no words

    def rejoined(self, name: str) -> str | None:
        """The key of which a folded name is the parts, joined otherwise; ``None`` if there is none, or are several."""
        if not _REJOINED.search(name) or name in self.spellings or not NAME.fullmatch(name):
            return None
        for alike in (name.replace(".", "/").replace("-", "_"), name.replace("-", "/"), name.replace(".", "_")):
            if alike in self.spellings:
                return alike
        return self._rejoined.get(tuple(_JOINTS.split(name)))

    @cached_property
    def _acronyms(self) -> Acronyms:
        titles = (text for card in self._library for text in (card.title("en"), card.short("en"), *card.words("en")))
        names = (name for card in self._library for name in (*card.names, *card.words("en"), *card.keys))
        return Acronyms(
            titles, names, lambda word: word in self.words.counts or (len(word) > 2 and self.words.knows(word))
        )

    @cached_property
    def words(self) -> WordMender:
        """Mends words by those of the cards' English text and of their wordings."""
        texts = [
            (text, weight)
            for card in self._library
            for weight, held in (
                (_OF_NAMES, (card.title("en"), *card.names, *card.words("en"))),
                (1, (card.short("en"), *card.asks("en"), *card.asks("zh"), *(text for _, text in card.sections("en")))),
            )
            for text in held
        ]
        texts += [(short, 1) for short in search_table()["abbreviations"] if len(short) >= _SHORTEST]
        frameworks = _LETTERS.findall(" ".join(self._frameworks))
        known = (*search_table()["known"], *written_words(), *absent_words(), *frameworks)
        return WordMender(texts, known, written_words())

    def _is_word_of_keys(self, word: str) -> bool:
        """Whether a word is spelt right and may be one of a key: what is measured elsewhere, or everyday, is not."""
        everyday = search_table()["everyday"].fullmatch(word) is not None
        return self.words.knows(word) and word not in absent_words() and not everyday

    @cached_property
    def _homophones(self) -> Homophones:
        return Homophones(self._library, self._share)

    @property
    def _frameworks(self) -> list[str]:
        return [card.framework.lower() for card in self._library]

    # -- names ---------------------------------------------------------------------------------
    def _right(self, name: str) -> str | None:
        """How a name is spelt that is not spelt so anywhere; ``None`` if it is, or is like nothing."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        if self._is_known(name) or _COUNTED.sub("@n", name) in self._counted:
            return None
        if len(name) < _SHORTEST:
            return self._abbreviations.get("".join(sorted(name))) if name.isalpha() else None
        if KEY.search(name) and (same := self._reordered.get(_shape(name))) is not None:
            return same
        known = self._keys if KEY.search(name) else self._plain_names
        free = self._resolver.key(name) is not None  # any text fits into some templates
        cutoff = _SURELY_ALIKE if free else _LEAST_ALIKE
        best = process.extractOne(name, known, scorer=OSA.normalized_similarity, score_cutoff=cutoff)
        if best is not None:
            least = best[1] - _NOTHING
            alike = process.extract(name, known, scorer=OSA.normalized_similarity, score_cutoff=least, limit=_TIES)
            names = (other for other, _, _ in alike)
            meant = min(names, key=lambda other: (not same_letters(name, other), self._rank(other)))
            if parts_alike(name, meant, self._is_word_of_keys):
                return meant
        if (joined := self._run_together(name)) is not None:
            return joined
        if free or not KEY.search(name):
            return None
        if "/" not in name:
            setting = process.extractOne(
                name, self._settings, scorer=OSA.normalized_similarity, score_cutoff=_LIKE_SETTING
            )
            if setting is not None and parts_alike(name, str(setting[0]), self._is_word_of_keys):
                return str(setting[0])
        return self._templates.mend(name) or (self._mended_parts(name) if "/" in name else None)

    def _rank(self, name: str) -> int:
        """Place of a name's best known card among all."""
        return min(self._order[card.id] for card in self.spellings[name])

    @cached_property
    def _order(self) -> dict[str, int]:
        return {card.id: at for at, card in enumerate(_ordered(list(self._library), None))}

    @cached_property
    def _templates(self) -> TemplateMender:
        return TemplateMender(key for card in self._library for key in card.keys)

    def _mended_parts(self, name: str) -> str | None:
        """A key of a template, each of its parts as it is spelt; ``None`` if that is no key either."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        parts = []
        for part in re.split("([/@])", name):
            best = None
            if len(part) >= _SHORTEST - 1 and part not in self.parts:
                least = _PART_ALIKE if len(part) >= _SHORTEST else _SHORT_PART_ALIKE
                best = process.extractOne(part, self.parts, scorer=OSA.normalized_similarity, score_cutoff=least)
            parts.append(best[0] if best is not None else part)
        right = "".join(parts)
        return right if self._resolver.key(right) is not None else None

    def _run_together(self, name: str) -> str | None:
        """The name that is spelt so but for its joints, the best known of several: ``ppokl``, ``actor_gradnorm``."""
        names = self._without_joints.get(_JOINTS.sub("", name), ())
        return min(names, key=lambda other: (other.count("/") != name.count("/"), names.index(other)), default=None)

    def _nearly_run_together(self, name: str) -> str | None:
        """The same for a name that is misspelt besides; ``None`` if it is like nothing."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        if len(name) < _SHORTEST_JOINED or not name.isalnum():
            return None
        known = self._without_joints.keys()
        best = process.extractOne(name, known, scorer=OSA.normalized_similarity, score_cutoff=_NEARLY_JOINED)
        return None if best is None else self._run_together(best[0])

    @cached_property
    def _without_joints(self) -> dict[str, list[str]]:
        """Names without their joints → the names, those of the best known cards first."""
        table: dict[str, list[str]] = {}
        for name in self._keys:
            if len(name) > _SHORTEST:
                table.setdefault(_JOINTS.sub("", name), []).append(name)
        for names in table.values():
            names.sort(key=lambda name: (self._rank(name), name))
        return table

    def _joined(self, text: str) -> Iterable[tuple[str, str]]:
        """Runs of words that are a key without its joints: ``rollout corr k3 kl``."""
        words = [(match.start(), match.end()) for match in re.finditer(r"[a-z0-9]+", text)]
        at = 0
        while at < len(words):
            for length in range(min(_MOST_WORDS, len(words) - at), 1, -1):
                begin, end = words[at][0], words[at + length - 1][1]
                typed = text[begin:end]
                if typed.isascii() and re.fullmatch(r"[a-z0-9]+(?:[\s.-]+[a-z0-9]+)+", typed):
                    right = self._unjointed.get(_JOINTS.sub("", typed))
                    if right is not None and "/" in right:
                        yield typed, right
                        at += length - 1
                        break
            at += 1

    def _nearly_joined(self, text: str) -> str | None:
        """The key that a short text is nearly, without its joints: ``actor/kl los``; ``None`` if there is none."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        typed = _JOINTS.sub("", text)
        short = KEY.search(text) is not None and 1 < len(text.split()) <= _SHORT_TEXT
        if not short or not typed.isascii() or len(typed) < _SHORTEST_JOINED or typed in self._unjointed:
            return None
        best = process.extractOne(
            typed, self._unjointed.keys(), scorer=OSA.normalized_similarity, score_cutoff=_JOINED_ALIKE
        )
        return None if best is None else self._unjointed[best[0]]

    def _is_known(self, name: str) -> bool:
        if KEY.search(name):
            found = self._resolver.key(name)
            fixed = found is not None and all(value.isdigit() or value in self.parts for _, value in found.bindings)
            known = (self.spellings, self.tails, self._word_ends, self.settings)
            return fixed or any(name in names for names in known) or bool(self.template_heads(name))
        return name in self.spellings or name in self.settings or all(map(self.words.knows, _LETTERS.findall(name)))

    @cached_property
    def settings(self) -> frozenset[str]:
        """Names with joints that the cards' texts speak of: what is set, functions, fields."""
        texts = [
            text.lower()
            for card in self._library
            for language in ("zh", "en")
            for text in (card.short(language), *card.asks(language), *(text for _, text in card.sections(language)))
        ]
        return frozenset(name for text in texts for name in _SETTING.findall(text))

    @cached_property
    def _settings(self) -> list[str]:
        """The same in an order that does not change from one process to the next: of two as like the first counts."""
        return sorted(self.settings)

    @cached_property
    def spellings(self) -> dict[str, list[Card]]:
        """Every spelling of a name, in lower case, and the cards that are called so."""
        table: dict[str, list[Card]] = {}
        for card in self._library:
            for key in (*card.keys, *card.names):
                forms = spelt_forms(key.lower()) if "{" in key else [key.lower()]
                names = {name for form in forms for name in (form, form.rsplit("/", 1)[-1])}
                names |= {part for form in forms if (part := before_statistic(form)) is not None}
                head = family(key.lower())
                if head is not None and self._resolver.name(head):
                    names.add(head)
                for name in sorted(names):
                    if len(name) > 3:
                        bucket = table.setdefault(name, [])
                        if card not in bucket:
                            bucket.append(card)
        return table

    @cached_property
    def tails(self) -> dict[str, list[Card]]:
        """Ends of keys, from a joint on, and their cards."""
        table: dict[str, list[Card]] = {}
        for card in self._library:
            for key in card.keys:
                parts = key.lower().split("/")
                for at in range(1, len(parts) - 1):
                    bucket = table.setdefault("/".join(parts[at:]), [])
                    if card not in bucket:
                        bucket.append(card)
        return table

    @cached_property
    def _word_ends(self) -> set[str]:
        """Ends of names of two words and more: ``log_prob_ref`` of ``mean_log_prob_ref`` is no misspelling."""
        parts = [name.rsplit("/", 1)[-1].split("_") for name in self.spellings]
        return {"_".join(words[at:]) for words in parts for at in range(1, len(words) - 1)}

    def template_ends(self, name: str, framework: str) -> list[Card]:
        """A framework's cards whose templates may end so, from a joint on: ``acc/std@8``."""
        return [
            card for pattern, card in self._template_ends if card.framework == framework and pattern.fullmatch(name)
        ]

    def listed_ends(self, name: str) -> list[Card]:
        """Cards whose templates may end so where what fills them is listed or numbered, not any text.

        What a framework's keys begin with may stand before it: ``val-core/x/acc/worst@8/mean`` ends so, too.
        """
        parts = name.split("/", _MOST_PARTS)
        ends = ["/".join(parts[at:]) for at in range(1, len(parts) - 1)] if parts[0] in self._firsts else []
        for end in (name, *ends) if len(parts) <= _MOST_PARTS else ():
            found = [(pattern.fullmatch(end), card) for pattern, card in self._template_ends]
            cards = [card for match, card in found if match and all(map(_LISTED.search, match.groupdict().values()))]
            if own := [card for card in cards if end is name or card.framework in self._firsts[parts[0]]]:
                return own
        return []

    def template_heads(self, name: str) -> list[Card]:
        """Cards with a template that goes on with one more part: ``val-core/x/acc/maj@8`` with ``mean`` or ``std``."""
        found = {card.id: card for pattern, card in self._template_heads if pattern.fullmatch(name)}
        return list(found.values())

    @cached_property
    def _template_heads(self) -> list[tuple[re.Pattern[str], Card]]:
        """Templates of four parts and more without their last one, where what is left ends in a fixed text."""
        heads: dict[tuple[str, str], tuple[re.Pattern[str], Card]] = {}
        for card in self._library:
            for key in card.keys:
                head = key.rpartition("/")[0].lower()
                if "{" in head and head.count("/") > 1 and not re.search(r"/\{[^{}]*\}$", head):
                    heads.setdefault((card.id, head), (template_pattern(head), card))
        return list(heads.values())

    @cached_property
    def _firsts(self) -> dict[str, set[str]]:
        """What keys of several parts begin with → the frameworks."""
        table: dict[str, set[str]] = {}
        for card in self._library:
            for key in card.keys:
                if "/" in key and "{" not in key.split("/")[0]:
                    table.setdefault(key.split("/")[0].lower(), set()).add(card.framework)
        return table

    @cached_property
    def _template_ends(self) -> list[tuple[re.Pattern[str], Card]]:
        """Ends of templates that hold a fixed part."""
        ends: dict[tuple[str, str], tuple[re.Pattern[str], Card]] = {}
        for card in self._library:
            for key in card.keys:
                parts = key.split("/")
                for at in range(1, len(parts) - 1 if "{" in key else 0):
                    if any("{" not in part for part in parts[at:]) or "@" in parts[-1]:
                        end = "/".join(parts[at:])
                        ends.setdefault((card.id, end), (template_pattern(end), card))
        return list(ends.values())

    @cached_property
    def _counted(self) -> set[str]:
        """Names of so many tries: ``pass@n``."""
        return {_COUNTED.sub("@n", name) for name in self.spellings if _COUNTED.search(name)}

    @cached_property
    def parts(self) -> list[str]:
        """What the keys consist of, the most frequent first."""
        used = Counter(part for card in self._library for key in card.keys for part in re.split("[/@]", key.lower()))
        return [part for part, _ in used.most_common() if "{" not in part and len(part) > 2]

    @cached_property
    def _keys(self) -> list[str]:
        """Names with joints, to mend by."""
        return [name for name in self.spellings if KEY.search(name)]

    @cached_property
    def _plain_names(self) -> list[str]:
        """Names without joints, to mend by."""
        return sorted(name for name in self.spellings if NAME.fullmatch(name) and not KEY.search(name))

    @cached_property
    def _unjointed(self) -> dict[str, str]:
        """Keys without their joints → the key, where that is one key only."""
        pairs = ((_JOINTS.sub("", name), name) for name in self._keys if len(name) >= _SHORTEST_JOINED)
        return _unique(pairs, self._owner)

    def _owner(self, name: str) -> str:
        """The cards that are called so."""
        return " ".join(card.id for card in self.spellings[name])

    @cached_property
    def _rejoined(self) -> dict[tuple[str, ...], str]:
        """Parts of a key → the key, where all keys of these parts are one card's."""
        return _unique(((tuple(_JOINTS.split(name)), name) for name in self._keys), self._owner)

    @cached_property
    def _reordered(self) -> dict[tuple[str, ...], str]:
        """Sorted segments of a key → the key, where that is one key only."""
        return _unique((_shape(name), name) for name in self._keys)

    @cached_property
    def _abbreviations(self) -> dict[str, str]:
        """Sorted letters of a three-letter name or word of a title → it, where that is one only."""
        names = {name.lower() for card in self._library for name in card.names}
        titles = {w for card in self._library for w in re.findall(r"[a-z]+", card.title("en").lower())}
        short = sorted(word for word in names | titles if len(word) == _SHORTEST - 1 and word.isalpha())
        return _unique(("".join(sorted(word)), word) for word in short)


def keys_in(text: str) -> list[str]:
    """What looks like a key in a folded text: names with joints."""
    names = (match.group().rstrip("./-:") for match in NAME.finditer(text))
    return [name for name in names if KEY.search(name)]


def replaced(text: str, typed: str, right: str) -> str:
    """A text with a misspelt name or word, or pair of characters, as it is spelt."""
    if not typed.isascii():
        return text.replace(typed, right)
    pattern = rf"(?<![a-z0-9_/@]){re.escape(typed)}(?![a-z0-9_/@])"
    return re.sub(pattern, right.replace("\\", r"\\"), text, flags=re.IGNORECASE)


def _shape(name: str) -> tuple[str, ...]:
    return tuple(sorted(part for part in _JOINTS.split(name) if part))


def _unique(pairs: Iterable[tuple[K, str]], owner: Callable[[str], str] = str) -> dict[K, str]:
    """The pairs whose keys have one value, or values of one owner: then the first of them."""
    table: dict[K, dict[str, str]] = {}
    for key, value in pairs:
        table.setdefault(key, {}).setdefault(owner(value), value)
    return {key: next(iter(values.values())) for key, values in table.items() if len(values) == 1}
