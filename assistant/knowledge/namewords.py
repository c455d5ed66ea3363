"""What the words of a metric's name mean: "gen secs", "generation time" and "生成耗时" are the same words.

The table is ``knowledge/name_words.yaml``. It is narrower than the synonyms of ``search.yaml``: one word stands for
another here only where it may do so in any name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from assistant import resources
from assistant.knowledge.cards import Card
from assistant.knowledge.questions import search_table
from assistant.knowledge.terms import is_chinese, parted, pieces, stem

_LONGEST: Final = 5
"""Words of which the longest entry of the table consists."""

_LONGEST_CHINESE: Final = 6
_LANGUAGES: Final = ("zh", "en")


@dataclass(frozen=True, slots=True)
class NameWords:
    """The table: what is written → the words that are meant, what is left out, and quantities → kinds of numbers."""

    meant: Mapping[str, tuple[str, ...]]
    left_out: frozenset[str]
    quantities: Mapping[str, frozenset[str]]
    digest: str


def read_table(raw: Mapping[str, Any]) -> NameWords:
    """The table of a file.

    Raises:
        ValueError: something is written for two meanings, or left out though it means something.
    """
    meant: dict[str, tuple[str, ...]] = {}
    for words, others in raw["words"].items():
        mine = tuple(word if word in raw["words"] else stem(word) for word in words.split())
        for written in (words, *others):
            spelt = " ".join(pieces(parted(str(written))))
            if meant.setdefault(spelt, mine) != mine:
                raise ValueError(f"name_words.yaml: {written!r} stands for {' '.join(meant[spelt])!r} and {words!r}")
    left_out = frozenset(map(str, raw["left_out"]))
    if both := left_out & meant.keys():
        raise ValueError(f"name_words.yaml: left out, but with a meaning: {', '.join(sorted(both))}")
    quantities = {word: frozenset(kinds) for word, kinds in raw["quantities"].items()}
    digest = hashlib.sha256(repr((sorted(meant.items()), sorted(left_out))).encode()).hexdigest()[:12]
    return NameWords(meant, left_out, quantities, digest)


@lru_cache(maxsize=1)
def table() -> NameWords:
    """The shipped table."""
    return read_table(resources.yaml_table(resources.data_folder("knowledge") / "name_words.yaml"))


def written_words() -> frozenset[str]:
    """English words that the table holds: none of them is a misspelling."""
    return frozenset(word for written in table().meant for word in written.split() if word.isascii())


@lru_cache(maxsize=1)
def absent_words() -> frozenset[str]:
    """What is measured elsewhere and goes by one word: no misspelling, but no part of a key either."""
    return frozenset(name for name in search_table()["absent"] if name.isalpha())


@lru_cache(maxsize=1024)
def name_words(text: str) -> tuple[str, ...]:
    """The words that a name or a short question means, each once, in order.

    A word that the table does not hold stands for itself, without its ending; Chinese by pairs of characters.
    """
    meant, left_out = table().meant, table().left_out
    own = pieces(parted(text))
    result: dict[str, None] = {}
    at = 0
    while at < len(own):
        piece = own[at]
        if is_chinese(piece):
            result.update(dict.fromkeys(_chinese(piece)))
            at += 1
            continue
        for length in range(min(_LONGEST, len(own) - at), 0, -1):
            words = meant.get(" ".join(own[at : at + length]))
            if words is not None:
                result.update(dict.fromkeys(words))
                at += length
                break
        else:
            if piece not in left_out:
                result[stem(piece)] = None
            at += 1
    return tuple(result)


def _chinese(run: str) -> Iterable[str]:
    """The words that a run of Chinese characters means: the longest entry at each place, pairs of what is between."""
    meant, left_out = table().meant, table().left_out
    at = rest = 0
    while at < len(run):
        for length in range(min(_LONGEST_CHINESE, len(run) - at), 0, -1):
            part = run[at : at + length]
            if part in meant or part in left_out:
                yield from _pairs(run[rest:at])
                yield from meant.get(part, ())
                at += length
                rest = at
                break
        else:
            at += 1
    yield from _pairs(run[rest:])


def _pairs(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(len(text) - 1)] if len(text) > 1 else [text] if text else []


def names_of(card: Card) -> tuple[str, ...]:
    """What a card goes by: its keys, with and without what stands before the first slash, its names and titles, what
    people call it, and what its quantity is called elsewhere (``called`` in ``search.yaml``)."""
    said = [*card.names, *card.keys, *(key.partition("/")[2] for key in card.keys)]
    for language in _LANGUAGES:
        said += [card.title(language), *card.words(language)]
    said += _called().get(card.id, ())
    return tuple(name for name in dict.fromkeys(said) if name)


@lru_cache(maxsize=1)
def absent_names() -> tuple[frozenset[str], ...]:
    """Quantities that are measured elsewhere, each as its words (``absent`` in ``search.yaml``)."""
    return tuple(frozenset(name_words(name)) for name in search_table()["absent"])


@lru_cache(maxsize=1)
def _called() -> dict[str, list[str]]:
    """Card → what its quantity is called elsewhere."""
    names: dict[str, list[str]] = {}
    for entry in search_table()["called"]:
        for card in entry["cards"]:
            names.setdefault(card, []).extend(map(str, entry["names"]))
    return names


def quantities_of(card: Card) -> frozenset[str]:
    """What a card's numbers are: seconds, shares, lengths …, by their kind and by what keys and titles say."""
    words = {word for text in (*card.keys, *map(card.title, _LANGUAGES)) for word in name_words(text)}
    return frozenset(word for word, kinds in table().quantities.items() if word in words or card.kind in kinds)
