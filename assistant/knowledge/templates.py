"""Keys with fields, such as ``time/{metric_infix}/total``, and the keys of a team's own cards."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from assistant.knowledge.cards import Card

_FIELD: Final = re.compile(r"\{[^{}]*\}")
_WIDE: Final = frozenset({"data_source", "metric_infix", "phase", "cluster", "domain"})
_MOST_FIELDS: Final = 6
_LONGEST: Final = 400


@lru_cache(maxsize=8192)
def template_pattern(template: str) -> re.Pattern[str]:
    """The pattern of keys that a template such as ``timing_s/{phase}`` stands for; its fields are groups."""
    parts = re.split(r"(\{[^{}]*\})", template)
    pattern, seen = "", set[str]()
    for part in parts:
        if not part.startswith("{"):
            pattern += re.escape(part)
            continue
        name = re.sub(r"\W", "_", part[1:-1], flags=re.ASCII) or "x"
        name = f"_{name}" if name[0].isdigit() else name
        choices = part[1:-1].split("|")
        if len(choices) > 1:
            pattern += "(?:" + "|".join(map(re.escape, choices)) + ")"
        elif name in seen:
            pattern += "[^/]+"
        else:
            seen.add(name)
            value = r"\d+" if name in {"n", "N", "device_id", "k"} else (
                r"[^@]+" if name in _WIDE else r"[^/@]+"
            )  # fmt: skip
            pattern += f"(?P<{name}>{value})"
    return re.compile(pattern)


def is_telling(template: str) -> bool:
    """Whether a template of a team's document may be used: it has text of its own, and few ways to match a key.

    With two fields in one part at most, and one that spans parts, matching stays quick whatever the key.
    """
    own = _FIELD.sub("", template)
    fields = _FIELD.findall(template)
    if sum(char.isalnum() for char in own) < 2 or "}{" in template or len(fields) > _MOST_FIELDS:
        return False
    crowded = sum(1 for part in template.split("/") if len(_FIELD.findall(part)) > 1)
    wide = sum(1 for field in fields if field[1:-1] in _WIDE)
    return crowded + max(0, wide - 1) <= 1 and all(len(_FIELD.findall(part)) < 3 for part in template.split("/"))


def template_shape(template: str) -> str:
    """A template whose fields have lost their names: templates of one shape stand for the same keys."""
    return _FIELD.sub("{}", template).lower()


@dataclass(frozen=True, slots=True)
class OwnKey:
    """A team's own card for a key, and how it was found; ``broad``: by a template that begins with a field."""

    card: Card
    how: Literal["exact", "template"]
    bindings: tuple[tuple[str, str], ...] = ()
    broad: bool = False


class OwnKeys:
    """Look-up of keys among a team's own cards: exact ones first, then the template with the most text of its own.

    Templates are kept by what they begin with, so that thousands of them cost nothing for other keys.
    """

    def __init__(self, cards: Iterable[Card]) -> None:
        self._exact: dict[str, list[Card]] = {}
        self._templates: dict[str, list[tuple[int, str, Card]]] = {}
        for card in cards:
            self._exact.setdefault(card.id.lower(), []).append(card)
            for key in card.keys:
                self._exact.setdefault(key.lower(), []).append(card)
                if "{" in key:
                    first = key.split("/", 1)[0]
                    entry = (-len(_FIELD.sub("", key)), key, card)
                    self._templates.setdefault("" if "{" in first else first, []).append(entry)
        for entries in self._templates.values():
            entries.sort(key=lambda entry: entry[:2])

    def find(self, key: str) -> OwnKey | None:
        """The card for a key, ``None`` if no document defines it."""
        exact = self._exact.get(key.lower())
        if exact:
            return OwnKey(exact[0], "exact")
        for first in dict.fromkeys((key.split("/", 1)[0], "")) if len(key) <= _LONGEST else ():
            for _, template, card in self._templates.get(first, ()):
                match = template_pattern(template).fullmatch(key)
                if match is not None:
                    return OwnKey(card, "template", tuple(match.groupdict().items()), template.startswith("{"))
        return None

    def all(self, key: str) -> list[Card]:
        """Every card that defines a key."""
        found = list(self._exact.get(key.lower(), ()))
        if not found:
            first = self.find(key)
            found = [] if first is None else [first.card]
        return found
