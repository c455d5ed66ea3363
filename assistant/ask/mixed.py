"""One form of mixed text: English words within a Chinese sentence become the Chinese ones that the patterns know.

"单步最 slow 的是 which step" and "单步最慢的是哪一步" ask the same; so that each wording need not be written for every
mixture of the two languages, the function words and common verbs of a mixed sentence are set into Chinese before
anything else is read. Names of metrics, keys and phrases that stand as English keep their form. The wordings stand in
``mixed.yaml``; words that mean the same wherever Chinese is on both sides of them in ``mixed_words.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from assistant import resources
from assistant.model import KnowledgeError

_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_ENGLISH: Final = re.compile(r"[A-Za-z]{2}")
_KEY: Final = re.compile(r"[A-Za-z0-9.-]*[A-Za-z0-9][/_@][A-Za-z0-9_@/.-]*[A-Za-z0-9]")
_FIRST_PLACE: Final = 0xE000
_PLACES: Final = frozenset(map(chr, range(_FIRST_PLACE, 0xF900)))
"""Private characters that stand for a question's keys while its words are put into Chinese."""


@lru_cache(maxsize=1)
def _words() -> tuple[tuple[re.Pattern[str], str], ...]:
    return wordings(Path(__file__).with_suffix(".yaml"))


def wordings(path: Path) -> tuple[tuple[re.Pattern[str], str], ...]:
    """The wordings of a file and what each becomes, compiled.

    Raises:
        KnowledgeError: an entry is not ``{re, to}``.
    """
    words = []
    for number, entry in enumerate(resources.yaml_table(path), 1):
        if set(entry) != {"re", "to"}:
            raise KnowledgeError(
                zh=f"{path.name}：第 {number} 条应为 re 与 to。", en=f"{path.name}: entry {number} is not re and to."
            )
        words.append((re.compile(entry["re"], re.IGNORECASE), str(entry["to"])))
    return tuple(words)


@dataclass(frozen=True, slots=True)
class _Word:
    """What an English word is among Chinese ones, and where."""

    to: str
    name: bool
    object: bool
    after: re.Pattern[str] | None
    before: re.Pattern[str] | None


_FIELDS: Final = {"to", "of", "name", "object", "after", "before"}
_PARTICLE: Final = re.compile(r"\s*[了过吗么嘛没得到成不吧]")
_OPEN: Final = re.compile(r"[\s,，。.;；:：?？!！、()（）\"'“”]*$")
_CLOSED: Final = re.compile(r"\s*(?:[\u3400-\u9fff,，。;；:：?？!！、)）]|$)")
_BEHIND_HAN: Final = re.compile(r"[\u3400-\u9fff]\s*$")
_BEHIND_NAME: Final = re.compile(r"[A-Za-z0-9\ue000-\uf8ff]\s*$")


@lru_cache(maxsize=1)
def _alone() -> tuple[re.Pattern[str], dict[str, tuple[_Word, ...]]]:
    """The words of ``mixed_words.yaml`` as one expression, and what each of them is.

    Raises:
        KnowledgeError: an entry has no ``to`` or ``of``, or something that is not known.
    """
    path = Path(__file__).with_name("mixed_words.yaml")
    known: dict[str, list[_Word]] = {}
    for number, entry in enumerate(resources.yaml_table(path), 1):
        if not {"to", "of"} <= set(entry) <= _FIELDS:
            raise KnowledgeError(
                zh=f"{path.name}：第 {number} 条应有 to 与 of。", en=f"{path.name}: entry {number} needs to and of."
            )
        after = re.compile(f"(?:{entry['after']})\\s*$") if "after" in entry else None
        before = re.compile(f"\\s*(?:{entry['before']})") if "before" in entry else None
        for word in entry["of"]:
            held = _Word(entry["to"], bool(entry.get("name")), bool(entry.get("object")), after, before)
            known.setdefault(word, []).append(held)
    every = "|".join(sorted((re.escape(word).replace("\\ ", r"\s+") for word in known), key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w/@.-])(?:{every})(?![\w/@.-])", re.IGNORECASE | re.ASCII)
    return pattern, {word: tuple(one) for word, one in known.items()}


#: So far is looked back for what a word stands behind.
_BACK: Final = 24


def _among_chinese(text: str, *, done: bool = False) -> str:
    """A text with the words that stand alone in Chinese; ``done``: only those of what is to be done."""
    pattern, known = _alone()

    def chinese(match: re.Match[str]) -> str:
        left, right = text[max(0, match.start() - _BACK) : match.start()], text[match.end() : match.end() + _BACK]
        behind = _BEHIND_HAN.search(left)
        among = behind and _CLOSED.match(right)
        named = _PARTICLE.match(right) and (_BEHIND_NAME.search(left) or _OPEN.match(left))
        for word in known[re.sub(r"\s+", " ", match[0].lower())]:
            fits = (word.after is None or word.after.search(left)) and (word.before is None or word.before.match(right))
            if fits and (word.object or not done) and (among or (named and word.name) or (behind and word.object)):
                return word.to
        return match[0]

    return pattern.sub(chinese, text)


_HAN_APART: Final = re.compile(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])")


def unmixed(text: str) -> str:
    """A text with the English words of its Chinese sentences in Chinese; a text in one language alone is as it was.

    Args:
        text: half-width signs, simplified characters.
    """
    if not _HAN.search(text) or not _ENGLISH.search(text):
        return text
    changed = beside_keys(text, lambda rest: _among_chinese(reworded(_among_chinese(rest, done=True), _words())))
    return changed if changed == text else _HAN_APART.sub("", changed)


def reworded(text: str, words: Iterable[tuple[re.Pattern[str], str]]) -> str:
    """A text after each of some wordings."""
    for pattern, meant in words:
        text = pattern.sub(meant, text)
    return text


def beside_keys(text: str, change: Callable[[str], str]) -> str:
    """A text with what is beside its keys changed: words within a key are none of the sentence."""
    keys: list[str] = []

    def put_by(match: re.Match[str]) -> str:
        keys.append(match[0])
        return chr(_FIRST_PLACE + len(keys) - 1)

    if "/" in text or "_" in text or "@" in text:
        text = _KEY.sub(put_by, text)
    text = change(text)
    return "".join(keys[ord(char) - _FIRST_PLACE] if char in _PLACES else char for char in text) if keys else text
