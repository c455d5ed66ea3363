"""Slips of the pen in the words that a question is asked with: "teh last stpe", "reponse lenght", "treand".

A word of letters alone that nobody knows becomes the one word of ``slips.yaml`` that is nearest: two letters changed
places, or one too many, too few or wrong (two in long words). Names with joints (``kl_los``) and short words are left
to :mod:`assistant.ask.metrics_named`, which knows the log's keys.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from assistant import resources
from assistant.model import KnowledgeError

_WORD: Final = re.compile(r"(?<![\w/@.-])[A-Za-z]{3,}(?![\w/@]|[.'-]\w)")
_SHORTEST: Final = 4
_LONG: Final = 9
"""From so many letters on, two may be wrong."""
_STEP: Final = re.compile(
    r"(?i)(?<![\w/])(?:setp|stpe|sept|tsep|etsp|spet|stp|sttep|stteep|stepp|sstep|steo|stap|stwp)s?(?=\s*#?\d)"
)
_SMALL_WORDS: Final = {
    "teh": "the", "hte": "the", "adn": "and", "nad": "and", "annd": "and", "waht": "what",
    "whats": "what's", "hwo": "how", "yuo": "you",
}  # fmt: skip


@lru_cache(maxsize=1)
def _words() -> tuple[dict[int, tuple[str, ...]], frozenset[str]]:
    """The words to mend by, by their length, and all that are known.

    Raises:
        KnowledgeError: a part of ``slips.yaml`` is missing or unknown.
    """
    path = Path(__file__).with_suffix(".yaml")
    raw = resources.yaml_table(path)
    if set(raw) != {"meant", "known"}:
        raise KnowledgeError(
            zh=f"{path.name}：应有 meant 与 known 两部分。", en=f"{path.name}: the parts are meant and known."
        )
    meant = sorted({word for word in raw["meant"].split() if len(word) >= _SHORTEST})
    lengths: dict[int, tuple[str, ...]] = {}
    for word in meant:
        lengths[len(word)] = (*lengths.get(len(word), ()), word)
    return lengths, frozenset(raw["meant"].split()) | frozenset(raw["known"].split())


def mended(text: str) -> str:
    """A text, half-width, with misspelt words as they are spelt."""
    text = _STEP.sub(lambda match: "steps" if match[0].lower().endswith("s") else "step", text)
    return _WORD.sub(lambda match: _right(match[0]), text)


def _right(word: str) -> str:
    small = word.lower()
    if small in _SMALL_WORDS:
        return _SMALL_WORDS[small]
    if len(word) < _SHORTEST or word[1:] != small[1:]:
        return word  # `LossQ` is a name
    return _nearest(small) or word


@lru_cache(maxsize=2048)
def _nearest(word: str) -> str | None:
    """The one word that a lower-case word may be a slip of; ``None`` for a known one, or where two are as near."""
    from rapidfuzz.distance import OSA

    lengths, known = _words()
    stem = next((word[: -len(end)] for end in ("ing", "ed", "es", "s", "ly", "er") if word.endswith(end)), word)
    if word in known or stem in known or f"{stem}e" in known:
        return None
    far = 2 if len(word) >= _LONG else 1
    near: dict[int, list[str]] = {}
    for length in range(len(word) - far, len(word) + far + 1):
        for meant in lengths.get(length, ()):
            distance = OSA.distance(word, meant, score_cutoff=far)
            if distance <= far and (meant[0] == word[0] or sorted(meant) == sorted(word)):
                near.setdefault(distance, []).append(meant)
    best = near[min(near)] if near else []
    return best[0] if len(best) == 1 else None
