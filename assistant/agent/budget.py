"""How many tokens a text is, and what of the facts fits into a prompt.

Tokens are counted by tiktoken where its rank file is already on this machine; nothing is ever downloaded or waited for.
Otherwise they are estimated from the kinds of characters, on the safe side: the estimate is at most a quarter above the
true number for Chinese, English and log text in the vocabularies of current models (``tests/agent/test_budget.py``).
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
Counter = Callable[[str], int]

#: tiktoken's encodings: the address under whose SHA-1 its cache keeps each rank file, and that file's SHA-256.
RANKS = {
    "o200k_base": (
        "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}
#: Tokens that a chat template puts around a message.
PER_MESSAGE = 4
_PIECES = re.compile(
    r"(?P<han>[\u3000-\u303f\u3400-\u9fff\uff00-\uffef])"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<digits>[0-9]+)"
    r"|(?P<gap>\s+)"
    r"|(?P<mark>[!-/:-@\[-`{-~]+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
#: Tokens by kind of text, fitted to be high: a Chinese character, a short word, further letters of a long one, three
#: digits, a run of marks, any other character.
HAN, WORD, LETTERS, LONG, DIGITS, MARKS, OTHER = 0.75, 1.0, 5.0, 4.5, 3, 1.5, 1.5


def estimate(text: str) -> int:
    """Tokens of a text by the kinds of its characters; high rather than low."""
    total = 0.0
    for match in _PIECES.finditer(text):
        length = match.end() - match.start()
        kind = match.lastgroup
        if kind == "han":
            total += HAN
        elif kind == "word":
            total += WORD if length <= LETTERS else WORD + (length - LETTERS) / LONG
        elif kind == "digits":
            total += -(-length // DIGITS)
        elif kind == "gap":  # a single blank belongs to the word after it
            total += 0.0 if match.group() == " " else 1.0
        elif kind == "mark":
            total += -(-length // MARKS)
        else:
            total += OTHER
    return int(total + 0.999)


def counter(model: str = "") -> Counter:
    """What counts tokens for a model: tiktoken where its ranks are at hand, else :func:`estimate`."""
    name = "cl100k_base" if re.match(r"gpt-(?:4(?!o|\.)|3)", model) else "o200k_base"
    named = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    return _counter(name, named or str(Path(tempfile.gettempdir()) / "data-gym-cache"))


@lru_cache(maxsize=4)
def _counter(name: str, folder: str) -> Counter:
    """tiktoken's count where it will find its file whole: a missing or broken one it would fetch."""
    address, expected = RANKS[name]
    path = Path(folder) / hashlib.sha1(address.encode()).hexdigest()
    try:
        if hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            return estimate
        import tiktoken

        encoding = tiktoken.get_encoding(name)
    except (OSError, ImportError, ValueError):
        return estimate
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def fitting(items: Sequence[T], size: Callable[[T], int], budget: int) -> list[T]:
    """The items, best first, as far as they fit; one that is too large does not keep out a smaller one after it."""
    chosen, left = [], budget
    for item in items:
        cost = size(item)
        if cost <= left:
            chosen.append(item)
            left -= cost
    return chosen


def cut_to(text: str, budget: int, count: Counter) -> str:
    """The text's paragraphs as far as they fit, whole; a table or list by its lines."""
    if count(text) <= budget:
        return text
    kept: list[str] = []
    left = budget
    for line in text.split("\n"):
        cost = count(line) + 1
        if cost > left:
            break
        kept.append(line)
        left -= cost
    while kept and not kept[-1].strip():
        kept.pop()
    return "\n".join(kept)
