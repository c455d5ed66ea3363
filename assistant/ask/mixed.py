"""One form of mixed text: English words within a Chinese sentence become the Chinese ones that the patterns know.

"单步最 slow 的是 which step" and "单步最慢的是哪一步" ask the same; so that each wording need not be written for every
mixture of the two languages, the function words and common verbs of a mixed sentence are set into Chinese before
anything else is read. Names of metrics, keys and phrases that stand as English keep their form. The wordings stand in
``mixed.yaml``.
"""

from __future__ import annotations

import re
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


def unmixed(text: str) -> str:
    """A text with the English words of its Chinese sentences in Chinese; a text in one language alone is as it was.

    Args:
        text: half-width signs, simplified characters.
    """
    if not _HAN.search(text) or not _ENGLISH.search(text):
        return text
    keys: list[str] = []

    def put_by(match: re.Match[str]) -> str:
        keys.append(match[0])
        return chr(_FIRST_PLACE + len(keys) - 1)

    if "/" in text or "_" in text or "@" in text:  # words within a key are none of the sentence
        text = _KEY.sub(put_by, text)
    for pattern, words in _words():
        text = pattern.sub(words, text)
    return "".join(keys[ord(char) - _FIRST_PLACE] if char in _PLACES else char for char in text) if keys else text
