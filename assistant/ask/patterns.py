"""The wordings of ``patterns.yaml``, compiled once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from assistant import resources

#: Single patterns that the file must hold.
_SINGLE = ("domain", "out_of_domain", "offer", "split", "whole_run", "why", "more", "less", "follow", "correction")


@dataclass(frozen=True)
class Patterns:
    """What a question is recognised by."""

    intents: tuple[tuple[str, tuple[tuple[re.Pattern[str], float], ...]], ...]
    topics: tuple[tuple[str, re.Pattern[str], re.Pattern[str] | None], ...]
    depth: tuple[tuple[str, re.Pattern[str]], ...]
    operations: Mapping[str, re.Pattern[str]]
    steps: dict[str, Any]
    single: Mapping[str, re.Pattern[str]]

    def scores(self, texts: Mapping[str, str], default: str) -> dict[str, float]:
        """Summed weights of each intent's patterns; ``texts`` gives another text than ``default`` for some."""
        return {
            name: sum(weight for pattern, weight in items if pattern.search(texts.get(name, default)))
            for name, items in self.intents
        }


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


class Late:
    """A pattern that is compiled when it is first asked for: most exceptions to a wording never are."""

    __slots__ = ("_found", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> Any:
        if self._found is None:
            self._found = _compiled(self._text)
        return getattr(self._found, name)


def late(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled when it is first asked for."""
    return cast("re.Pattern[str]", Late(pattern))


def _worded(name: str, raw: Mapping[str, str]) -> list[str]:
    """A single pattern's alternatives: what is asked of something else stands by its matter in a file of its own."""
    if name != "out_of_domain":
        return [raw[name]]
    return [raw[name], *resources.yaml_table(Path(__file__).with_name("elsewhere.yaml")).values()]


@lru_cache(maxsize=1)
def patterns() -> Patterns:
    """The shipped patterns.

    Raises:
        ValueError: a part of the file is missing.
    """
    path = Path(__file__).parent / "patterns.yaml"
    raw = resources.yaml_table(path)
    missing = {"intents", "topics", "depth", "operations", "steps", *_SINGLE} - set(raw)
    if missing:
        raise ValueError(f"{path.name}: missing {', '.join(sorted(missing))}")
    topics = []
    for name, entry in raw["topics"].items():
        words, unless = (entry["re"], entry.get("unless")) if isinstance(entry, dict) else (entry, None)
        topics.append((name, _compiled(words), None if unless is None else late(unless)))
    return Patterns(
        intents=tuple(
            (name, tuple((_compiled(p["re"]), float(p["w"])) for p in items)) for name, items in raw["intents"].items()
        ),
        topics=tuple(topics),
        depth=tuple((name, _compiled(p)) for name, p in raw["depth"].items()),
        operations={name: _compiled(p) for name, p in raw["operations"].items()},
        steps={
            name: [_compiled(p) for p in value] if isinstance(value, list) else _compiled(value)
            for name, value in raw["steps"].items()
        },
        single={name: _compiled("|".join(_worded(name, raw))) for name in _SINGLE},
    )
