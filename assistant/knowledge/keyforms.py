"""Keys as people spell them: listed choices spelt out, a family without its last field, and misspelt templates.

A template such as ``val-core/{data_source}/{var}/mean@{n}`` is no spelling that a typed key could be compared with as a
whole: what fills its fields is free. It is compared part by part, the fixed ones by edit distance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Final

from assistant.knowledge.nearest import STATISTICS
from assistant.knowledge.templates import template_pattern

_FIELD: Final = re.compile(r"\{([^{}]*)\}")
_NUMBERED: Final = frozenset({"n", "k", "i", "device_id"})
_MOST_FORMS: Final = 24
_MOST_SLIPS: Final = 3
_LETTERS_A_SLIP: Final = 8
"""Fixed letters that a template needs for each slip that is forgiven beyond the first."""

_LEAST_FIXED: Final = 5
_LETTERS_OF_A_PART: Final = 4


def spelt_forms(key: str) -> list[str]:
    """The keys that a template with nothing but listed choices stands for; the key itself if it has no field.

    Empty if a field is free, or if there are too many.
    """
    pieces = re.split(r"(\{[^{}]*\})", key)
    choices = [piece[1:-1].split("|") if piece.startswith("{") else [piece] for piece in pieces]
    if any(piece.startswith("{") and "|" not in piece for piece in pieces):
        return []
    forms = ["".join(chosen) for chosen in product(*choices)]
    return forms if len(forms) <= _MOST_FORMS else []


def family(key: str) -> str | None:
    """A template without its last part, if only that one has fields: ``rollout/moe/avg_vio`` of ``…/layer_{i}``."""
    head, _, last = key.rpartition("/")
    return head if "/" in head and "{" in last and "{" not in head else None


def before_statistic(key: str) -> str | None:
    """The part of a key that a mean, a maximum … is of: ``trajectory_staleness``; ``None`` if it is a plain word."""
    *parts, last = key.split("/")
    return parts[-1] if len(parts) > 1 and last in STATISTICS and "_" in parts[-1] else None


@dataclass(frozen=True, slots=True)
class _Template:
    """A template's parts, each lower-case, and how many fixed letters it has."""

    parts: tuple[str, ...]
    fixed: int


class TemplateMender:
    """Mends misspelt keys of templates.

    Args:
        keys: of all cards; those without fields are passed over.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._by_length: dict[int, list[_Template]] = {}
        for key in dict.fromkeys(key for key in keys if "{" in key):
            parts = tuple(_split(key.lower()))
            fixed = sum(char.isalpha() for char in _FIELD.sub("", key))
            if fixed >= _LEAST_FIXED:
                self._by_length.setdefault(len(parts), []).append(_Template(parts, fixed))

    def mend(self, name: str) -> str | None:
        """The key of a template that a folded name nearly is; ``None`` if it is none, or one as it is."""
        typed = name.split("/")
        best: tuple[int, int, str] | None = None
        for template in self._by_length.get(len(typed), ()):
            most = min(_MOST_SLIPS, 1 + template.fixed // _LETTERS_A_SLIP)
            slips, mended, sure = 0, [], len(typed) == 1
            for part, own in zip(typed, template.parts, strict=True):
                found = _part(part, own)
                slips += most + 1 if found is None else found[0]
                if slips > most:
                    break
                mended.append(part if found is None else found[1])
                sure = sure or (part == mended[-1] and _FIELD.sub("", own) != "")
            else:
                if slips == 0:
                    return None
                if not sure:  # nothing but slips and what may be any text
                    continue
                one = (slips, -template.fixed, "/".join(mended))
                best = one if best is None else min(best, one)
        return None if best is None else best[2]


def _split(key: str) -> list[str]:
    """The parts of a template; a slash within a field does not part."""
    return re.split(r"/(?![^{}]*\})", key)


@lru_cache(maxsize=4096)
def _part(typed: str, own: str) -> tuple[int, str] | None:
    """How many slips lie between a typed part and a template's, and how it is spelt; ``None`` if they are not alike."""
    fields = _FIELD.findall(own)
    if not fields:
        return _slips(typed, own)
    if all("|" in field for field in fields):
        found = [_slips(typed, form) for form in spelt_forms(own)]
        return min((one for one in found if one is not None), default=None)
    if template_pattern(own).fullmatch(typed):
        number = len(fields) == 1 and fields[0] in _NUMBERED and own == f"{{{fields[0]}}}"
        return (0, typed) if not number or typed.isdigit() else None
    if own.startswith("{") and own.endswith("}") and len(fields) == 1:
        return None
    return _around(typed, own)


def _around(typed: str, own: str) -> tuple[int, str] | None:
    """The same for a part with fixed text around a field: ``layer_{i}``, ``{dataset}-truncated_ratio``."""
    if own.endswith("}") and _FIELD.findall(own)[-1] in _NUMBERED:  # what counts the tries, then the rest
        digits = re.search(r"\d+$", typed)
        found = None if digits is None else _part(typed[: digits.start()], own[: own.rindex("{")])
        return None if found is None or digits is None else (found[0], found[1] + digits.group())
    before, after = own[: own.index("{")], own[own.rindex("}") + 1 :]
    best: tuple[int, str] | None = None
    for begin in range(max(0, len(before) - 1), len(before) + 2) if before else (0,):
        for end in range(max(0, len(after) - 1), len(after) + 2) if after else (0,):
            value = typed[begin : len(typed) - end]
            first = _slips(typed[:begin], before)
            last = _slips(typed[len(typed) - end :], after)
            if value.strip("_-") and value[0] not in "_-" and first is not None and last is not None:
                found = (first[0] + last[0], before + value + after)
                best = found if best is None else min(best, found)
    return best


def _slips(typed: str, own: str) -> tuple[int, str] | None:
    """Edits between two fixed texts, ``None`` if they are too many to be slips."""
    from rapidfuzz.distance import OSA

    if typed == own:
        return 0, own
    most = max(1, len(own) // _LETTERS_OF_A_PART)
    slips = int(OSA.distance(typed, own, score_cutoff=most))
    if slips > most and sorted(typed) == sorted(own):
        slips = most
    return (slips, own) if slips <= most and len(own) > 1 else None
