"""Words of a text as the search sees them: folded, split at the joints of a key, Chinese in characters and pairs.

The same function serves cards and questions. Traditional characters become simplified ones (OpenCC), full-width
letters narrow ones; nothing is stemmed here, the full-text index does that.
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


def terms(text: str) -> list[str]:
    """What the full-text index counts: words, numbers, Chinese characters and pairs of them.

    Args:
        text: as written; it is folded here.
    """
    result: list[str] = []
    for piece in pieces(fold(_CAMEL.sub(" ", text))):
        if _CHINESE.match(piece):
            result += piece
            result += map("".join, pairwise(piece))
        else:
            result.append(piece)
    return result


def grams(text: str) -> list[str]:
    """Overlapping pieces of words for the embedding: what typos and inflections leave alike.

    Args:
        text: folded.
    """
    result: list[str] = []
    for piece in pieces(text):
        if _CHINESE.match(piece):
            result += piece
            result += (piece[at : at + 2] for at in range(len(piece) - 1))
            result += (piece[at : at + 3] for at in range(len(piece) - 2))
        else:
            marked = f"^{piece}$"
            result.append(marked)
            result += (marked[at : at + 3] for at in range(len(marked) - 2))
            result += (marked[at : at + 4] for at in range(len(marked) - 3))
    return result
