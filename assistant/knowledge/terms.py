"""Words of a text as the search sees them: folded, split at the joints of a key, Chinese in characters and pairs.

The same function serves cards and questions. Traditional characters become simplified ones (OpenCC), full-width
letters narrow ones; terms are not stemmed, the full-text index does that.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
_PIECES: Final = re.compile(r"[a-z]+|[0-9]+(?:\.[0-9]+)?|[\u3400-\u9fff]+")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


@lru_cache(maxsize=512)
def fold(text: str) -> str:
    """Lower case, half-width, simplified characters, single spaces."""
    text = unicodedata.normalize("NFKC", text).lower()
    if _CHINESE.search(text):
        text = _converter().convert(text)
    return re.sub(r"\s+", " ", text).strip()


@lru_cache(maxsize=1)
def _converter() -> Any:
    import opencc

    return opencc.OpenCC("t2s")


def pieces(text: str) -> list[str]:
    """Runs of letters, numbers and runs of Chinese characters of a folded text, in order."""
    return _PIECES.findall(text)


def parted(text: str) -> str:
    """A folded text with the words of ``CamelCase`` apart."""
    return fold(_CAMEL.sub(" ", text))


def terms(text: str) -> list[str]:
    """What the full-text index counts: words, numbers, Chinese characters and pairs of them.

    Args:
        text: as written; it is folded here.
    """
    return terms_of(parted(text))


def terms_of(folded: str) -> list[str]:
    """The :func:`terms` of a text that is folded already."""
    result: list[str] = []
    for piece in pieces(folded):
        if _CHINESE.match(piece):
            result += piece
            result += map("".join, pairwise(piece))
        else:
            result.append(piece)
    return result


def is_chinese(piece: str) -> bool:
    """Whether one of :func:`pieces` is a run of Chinese characters."""
    return "\u3400" <= piece[0] <= "\u9fff"


_ENDINGS: Final = ("ingly", "edly", "ing", "ed", "ly", "ment", "ness", "er")
_REPLACED: Final = {
    "isation": "ize", "ization": "ize", "ational": "ate", "fulness": "ful", "iveness": "ive", "ies": "y", "sses": "ss",
    "ied": "y",
}  # fmt: skip


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """An English word in lower case without its usual endings: ``clipping``, ``clipped`` and ``clips`` are ``clip``."""
    if len(word) <= 3:
        return word
    for ending, other in _REPLACED.items():
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            word = word[: -len(ending)] + other
            break
    else:
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-1]
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) >= len(ending) + 3:
                word = word[: -len(ending)]
                if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
                    word = word[:-1]
                break
    return word[:-1] if word.endswith("e") and len(word) > 4 else word
