"""Patterns of the words of direction in ``directions.yaml``: every form of a verb, phrases in Chinese and English."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from assistant import resources

SENSES: Final = {"up": "up", "down": "down", "higher": "more", "lower": "less"}
"""What a cue of ``words.yaml`` takes from the thesaurus."""
_VOWELS: Final = "aeiou"


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    table: dict[str, Any] = resources.yaml_table(Path(__file__).with_name("directions.yaml"))
    for sense in SENSES.values():
        if sense not in table:
            raise ValueError(f"directions.yaml: no section {sense!r}")
        if unknown := set(table[sense]) - {"verbs", "phrases", "zh"}:
            raise ValueError(f"directions.yaml: {sense}: unknown key {', '.join(sorted(unknown))}")
    return table


def forms(entry: str) -> list[str]:
    """Every form of a verb: ``creep crept`` → creep, creeps, creeping, crept.

    Args:
        entry: the base form, then the past and the participle where these are not regular.
    """
    base, *irregular = entry.split()
    doubled = bool(re.fullmatch(rf"[^{_VOWELS}]*[{_VOWELS}][bdgmnpt]", base))
    stem = base + base[-1] if doubled else base
    if base.endswith("y") and base[-2] not in _VOWELS:
        third, past = base[:-1] + "ies", base[:-1] + "ied"
    else:
        third = base + ("es" if re.search(r"(?:[sxz]|ch|sh|[^aeiou]o)$", base) else "s")
        past = base + "d" if base.endswith("e") else stem + "ed"
    running = (base[:-1] if base.endswith("e") and not base.endswith("ee") else stem) + "ing"
    return list(dict.fromkeys([base, third, running, *(irregular or [past])]))


@lru_cache(maxsize=8)
def directions(sense: str) -> str:
    """The pattern of one sense.

    Args:
        sense: ``up``, ``down``, ``more`` or ``less``.
    """
    table = _table()
    own, moving = table[sense], table["moving"]
    english = sorted((form for verb in own.get("verbs", ()) for form in forms(verb)), key=len, reverse=True)
    if sense in moving:
        verbs = "|".join(form for verb in moving["verbs"] for form in forms(verb))
        between = "|".join(moving["between"])
        ways = "|".join(moving[sense])
        english.append(rf"(?:{verbs}) (?:(?:{between}) ){{0,2}}(?:{ways})(?! (?:to (?:step|there)|until))")
    english += own.get("phrases", ())
    return "|".join([rf"\b(?:{'|'.join(english)})\b", *own.get("zh", ())])
