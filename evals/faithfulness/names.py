"""What metrics are called, by framework, key and language, and which keys the same words may mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from evals.faithfulness.shown import ANY
from evals.faithfulness.tables import Truth

PATH: Final = Path(__file__).with_name("names.yaml")


@dataclass(frozen=True, eq=False)
class Role:
    """A metric as people speak of it.

    Attributes:
        name: of the role, as templates write it.
        unit: of its values (keys of :data:`evals.faithfulness.shown.ANY`).
        keys: pattern of the key by framework.
        also: patterns of other keys that the same words may mean.
        words: short names by language.
    """

    name: str
    unit: str
    keys: Mapping[str, str]
    also: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]

    def key(self, truth: Truth) -> str | None:
        """The key that the role has in a run, if the run holds it."""
        return _key(self, truth)

    def others(self, truth: Truth) -> list[str]:
        """Other keys of the run that the role's words may mean."""
        return _others(self, truth)


@dataclass(frozen=True, eq=False)
class Absent:
    """A metric that a run does not hold: its words by language and its would-be key."""

    words: Mapping[str, str]
    key: str
    unless: tuple[str, ...]

    def is_absent(self, truth: Truth) -> bool:
        """Whether no key of the run could be meant."""
        return not any(fnmatchcase(key, pattern) for key in truth.run.metrics for pattern in self.unless)


@cache
def _key(role: Role, truth: Truth) -> str | None:
    pattern = role.keys.get(truth.run.framework or "")
    return next((key for key in truth.run.metrics if pattern and fnmatchcase(key, pattern)), None)


@cache
def _others(role: Role, truth: Truth) -> list[str]:
    own = role.key(truth)
    return [key for key in truth.run.metrics if key != own and any(fnmatchcase(key, also) for also in role.also)]


@cache
def _read() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(PATH.read_text(encoding="utf-8"))
    return read


@cache
def roles() -> dict[str, Role]:
    """All roles by name.

    Raises:
        ValueError: naming the role and what is wrong with it.
    """
    found = {}
    for name, entry in _read()["roles"].items():
        if entry.get("unit") not in ANY:
            raise ValueError(f"names.yaml: {name}: unit {entry.get('unit')!r} is none of {', '.join(ANY)}")
        if not entry.get("zh") or not entry.get("en") or not entry.get("keys"):
            raise ValueError(f"names.yaml: {name}: keys, zh and en are needed")
        words = {"zh": tuple(entry["zh"]), "en": tuple(entry["en"])}
        found[name] = Role(name, entry["unit"], entry["keys"], tuple(entry.get("also", ())), words)
    return found


@cache
def absent() -> Sequence[Absent]:
    """Metrics that models make up."""
    return tuple(
        Absent({"zh": entry["zh"], "en": entry["en"]}, entry["key"], tuple(entry["unless"]))
        for entry in _read()["absent"]
    )
