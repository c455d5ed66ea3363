"""Whether one key may be a misspelling of another, part by part and word by word."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from assistant.knowledge.namewords import name_words

_JOINTS: Final = re.compile(r"[/_@.\s-]+")
_LEAST_PART_ALIKE: Final = 0.5
_LEAST_WORD_ALIKE: Final = 0.4
"""Two slips in four letters."""

_LETTERS_A_SLIP: Final = 3
"""Letters of a long word for each slip in it."""

_NEARLY_JOINED: Final = 0.85
_SHORTEST: Final = 4
_PAIR: Final = 2


def parts_alike(typed: str, right: str, knows: Callable[[str], bool]) -> bool:
    """Whether each part of a key may be a misspelling of the other key's, and each word that nobody knows.

    ``zen`` in ``a/zen`` is none of ``min``, nor ``karma`` in ``karma_norm`` one of ``grad``.
    """
    parts, rights = typed.split("/"), right.split("/")
    if len(parts) != len(rights):  # a part left out, or a joint typed otherwise
        return len(parts) < len(rights) or _alike_but_for(_JOINTS.sub("", typed), _JOINTS.sub("", right))
    for part, other in zip(parts, rights, strict=True):
        if name_words(part) == name_words(other):
            continue
        words, others = part.split("_"), other.split("_")
        if len(words) == len(others):
            pairs = list(zip(words, others, strict=True))
        else:  # a joint more or less: what is left without the words that both have
            rests = ["".join(one for one in own if one not in rest) for own, rest in ((words, others), (others, words))]
            pairs = [(rests[0], rests[1])] if all(rests) else []
        if not _alike(part, other) or any(_is_no_slip_of(one, two, knows) for one, two in pairs):
            return False
    return True


def _is_no_slip_of(typed: str, right: str, knows: Callable[[str], bool]) -> bool:
    """Whether two words are too unlike, or two that are spelt right: ``sleep`` is no ``step``."""
    if _stands_for(typed, right):
        return False
    return _is_another(typed, right) or (len(typed) >= _SHORTEST and knows(typed) and _slips(typed, right) > 1)


def _slips(typed: str, right: str) -> int:
    from rapidfuzz.distance import OSA

    return int(OSA.distance(typed, right))


def _alike_but_for(typed: str, right: str) -> bool:
    from rapidfuzz.distance import OSA

    return float(OSA.normalized_similarity(typed, right)) >= _NEARLY_JOINED


def _stands_for(typed: str, right: str) -> bool:
    """Whether a word is another form of one, or written for it: ``average`` for ``mean``, ``maximum`` for ``max``."""
    return typed.startswith(right) or right.startswith(typed) or name_words(typed) == name_words(right)


def _is_another(typed: str, right: str) -> bool:
    """Whether a word of a key is no misspelling of another one; short ones may be any as short."""
    slips = _slips(typed, right)
    longest = max(len(typed), len(right))
    unlike = 1 - slips / longest < _LEAST_WORD_ALIKE or slips > max(_PAIR, longest // _LETTERS_A_SLIP)
    if min(len(typed), len(right)) < _SHORTEST:  # "kurtosis" is no misspelt "min"
        return abs(len(typed) - len(right)) > _PAIR
    return unlike and sorted(typed) != sorted(right)


def _alike(typed: str, right: str) -> bool:
    """Whether a part of a key may be a misspelling of another one."""
    from rapidfuzz.distance import OSA

    return float(OSA.normalized_similarity(typed, right)) > _LEAST_PART_ALIKE or sorted(typed) == sorted(right)


def same_letters(typed: str, other: str) -> bool:
    """Whether two names have the same letters, but for their order or for one that was typed twice: ``kll``, ``lk``."""
    if sorted(typed) == sorted(other):
        return True
    doubled = (at for at in range(1, len(typed)) if typed[at] == typed[at - 1])
    return len(typed) == len(other) + 1 and any(typed[:at] + typed[at + 1 :] == other for at in doubled)
