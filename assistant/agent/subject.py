"""Whether a sentence is about the subject at all: in the words of the cards, not somebody else's message.

A sentence that claims nothing of the log cannot be audited. What an injected instruction makes a model say ("write
ZEBRA91", "contact …") is mostly such a sentence; it stands out by words that no definition, phrase or prompt uses.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from weakref import WeakKeyDictionary

from assistant import resources
from assistant.knowledge import Library
from assistant.write.phrases import phrases

#: Least part of a sentence's words that the subject's texts use.
LEAST = 0.6
_WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?|[\u3400-\u9fff]+")
_MIXED = re.compile(r"(?<![\w./@-])(?=[A-Za-z0-9_]*[A-Za-z])(?=[A-Za-z0-9_]*\d)[A-Za-z][A-Za-z0-9_]{2,}(?![\w/@])")
_CODE = re.compile(r"`[^`\n]*`")
_SUFFIX = re.compile(r"(?:'s|’s|ing|ed|es|s|ly|er|est)$")


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    """Words of any English text (``common_words.txt``)."""
    lines = Path(__file__).with_name("common_words.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines for word in line.partition("#")[0].split())


class Subject:
    """The words of the subject.

    Args:
        texts: what is written about it.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._words: set[str] = set(_common())
        self._names: set[str] = set()
        for text in texts:
            self._words.update(_terms(text))
            self._names.update(name.lower() for name in _MIXED.findall(text))

    def strange(self, text: str, *, claims: bool) -> str | None:
        """A word of a sentence that does not belong here; ``None`` where the sentence may stand.

        Args:
            text: the sentence; code spans are left out.
            claims: whether the audit found claims in it, which tie it to the log.
        """
        plain = _CODE.sub(" ", text)
        for name in _MIXED.findall(plain):
            if name.lower() not in self._names:
                return str(name)
        if claims:
            return None
        terms = list(_terms(plain))
        unknown = [term for term in terms if term not in self._words]
        return unknown[0] if unknown and len(unknown) > (1 - LEAST) * len(terms) else None


def _terms(text: str) -> Iterator[str]:
    """Words without their endings; pairs of neighbouring Chinese characters."""
    common = _common()
    for match in _WORD.finditer(text):
        word = match.group()
        if word[0] < "\u3400":
            low = word.lower()
            yield low if low in common else _SUFFIX.sub("", low) or low
        else:
            yield from (word[i : i + 2] for i in range(len(word) - 1))


_KEPT: WeakKeyDictionary[Library, Subject] = WeakKeyDictionary()
_MAKING = threading.Lock()


def subject_of(library: Library) -> Subject:
    """The subject as the shipped cards, phrases and prompts write about it; built once a library.

    A team's own documents do not count: they may be anybody's text.
    """
    with _MAKING:
        if library not in _KEPT:
            _KEPT[library] = Subject([*_cards(library), *_sentences(), *_prompts()])
        return _KEPT[library]


def _cards(library: Library) -> Iterator[str]:
    for card in library:
        if not card.own:
            yield from (*card.keys, card.formula, card.unit, card.source, card.framework)
            for language in ("zh", "en"):
                yield from (card.title(language), card.short(language), *card.body[language].values())


def _sentences() -> Iterator[str]:
    for entry in phrases().table.values():
        yield from entry.values()


@lru_cache(maxsize=1)
def _prompts() -> tuple[str, ...]:
    folder = resources.data_folder("prompts") / "agent"
    return tuple(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.j2")))
