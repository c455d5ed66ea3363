"""What is left of a question without what is said of a quantity: ``kl`` of ``kl 一直涨怎么办``, ``is my kl ok``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from assistant.knowledge.namewords import table
from assistant.knowledge.questions import search_table

_TOKEN: Final = re.compile(
    r"[A-Za-z0-9_@/]+(?:[.'-][A-Za-z0-9_@/]+)*|[\u3400-\u9fff]|[^\sA-Za-z0-9_\u3400-\u9fff]", re.ASCII
)
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?", re.ASCII)
_LONGEST: Final = 80
"""Characters of a question that is about one quantity and little else."""

_STATISTICS: Final = frozenset((word,) for word in ("mean", "max", "min", "total", "count", "token", "time", "ratio"))
"""Words of a name that are said around it, too."""

_MOST_AROUND: Final = 9
"""Words before a name, and after it."""


def names_within(text: str) -> Iterator[str]:
    """What a folded question may call by name if everything around it only says how that is, the longest first.

    The whole text is none of them; long texts have none.
    """
    if len(text) > _LONGEST:
        return
    tokens = list(_TOKEN.finditer(text))
    count = len(tokens)
    ends = [_after(tokens, at) for at in range(count)]
    before = {0}
    for at in range(min(count, 3 * _MOST_AROUND)):
        if at in before:
            before |= ends[at]
    after = {count}
    for at in reversed(range(count)):
        if ends[at] & after:
            after.add(at)
    pairs = sorted(
        ((begin, end) for begin in before for end in after if begin < end and end - begin < count),
        key=lambda pair: pair[0] - pair[1],
    )
    for begin, end in pairs:
        name = text[tokens[begin].start() : tokens[end - 1].end()]
        if not _is_said(name):
            yield name


def without_ends(text: str) -> tuple[str, bool]:
    """A folded question without what is only said before and after a name, and whether that only says how high it is.

    The name is empty if nothing is said around it, or there is none. Statistics belong to it: ``where do I see mean
    logprob`` is about ``mean logprob``.
    """
    words, meant = _said()[0], table().meant
    tokens = [token for token in _TOKEN.finditer(text) if token.group()[0].isalnum()]
    own = [
        at for at, token in enumerate(tokens) if token.group() not in words or meant.get(token.group()) in _STATISTICS
    ]
    if not own or len(text) > _LONGEST or len(own) == len(tokens):
        return "", False
    name = text[tokens[own[0]].start() : tokens[own[-1]].end()]
    around = {token.group() for token in (*tokens[: own[0]], *tokens[own[-1] + 1 :])}
    if not around or not name.isascii() or not any(char.isalpha() for char in name):
        return "", False
    return name, around <= search_table()["height"]


def _after(tokens: list[re.Match[str]], at: int) -> set[int]:
    """The places after each thing that is said and begins at a place."""
    words, longest = _said()
    token = tokens[at].group()
    if token[0] >= "\u3400":
        text = "".join(one.group() for one in tokens[at : at + longest] if one.group()[0] >= "\u3400")
        return {at + length for length in range(1, len(text) + 1) if text[:length] in words}
    plain = token.isascii() and not token[0].isalnum()
    return {at + 1} if plain or not token.isascii() or token in words or _NUMBER.fullmatch(token) else set()


def _is_said(name: str) -> bool:
    return name in _said()[0] or not any(char.isalpha() for char in name)


@lru_cache(maxsize=1)
def _said() -> tuple[frozenset[str], int]:
    """What may stand around a name (``fillers``, ``frame``, ``states``), and how long the longest Chinese one is."""
    table = search_table()
    words = frozenset({*table["fillers"], *table["framed"], *table["stated"]})
    return words, max(len(word) for word in words if not word.isascii())
