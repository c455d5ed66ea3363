"""Sentences that give another verdict than the offline engine's (``verdict_words.yaml``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from assistant.model import KnowledgeError

PATH = Path(__file__).with_name("verdict_words.yaml")


def read_verdict_words(path: Path) -> tuple[re.Pattern[str], dict[str, tuple[re.Pattern[str], frozenset[str]]]]:
    """The hedges, and for each verdict the words that give it and the codes that they are against.

    Raises:
        KnowledgeError: a field is missing or unknown, or no regular expression; names file and entry.
    """
    import yaml

    table: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(table, Mapping) or set(table) != {"hedges", "verdicts"}:
        raise KnowledgeError(
            zh=f"{path.name}：应有 hedges 与 verdicts。", en=f"{path.name}: needs hedges and verdicts."
        )
    found = {}
    for name, entry in table["verdicts"].items():
        where = f"{path.name}: {name}"
        if not isinstance(entry, Mapping) or set(entry) != {"says", "against"}:
            raise KnowledgeError(zh=f"{where}：应有 says 与 against。", en=f"{where}: needs says and against.")
        found[str(name)] = (_pattern(entry["says"], where), frozenset(map(str, entry["against"])))
    return _pattern(table["hedges"], f"{path.name}: hedges"), found


def _pattern(text: str, where: str) -> re.Pattern[str]:
    try:
        return re.compile("".join(part.strip() for part in re.split(r"\n| (?=[|\\])", str(text))), re.IGNORECASE)
    except re.error as error:
        raise KnowledgeError(zh=f"{where}：{error}", en=f"{where}: {error}") from None


@lru_cache(maxsize=1)
def _shipped() -> tuple[re.Pattern[str], dict[str, tuple[re.Pattern[str], frozenset[str]]]]:
    return read_verdict_words(PATH)


def contrary(text: str, code: str) -> str | None:
    """The verdict that a sentence gives against the answer's; ``None`` where it gives none, or hedges.

    Args:
        text: the sentence.
        code: the answer's ``verdict.code``.
    """
    hedges, verdicts = _shipped()
    if hedges.search(text):
        return None
    return next((name for name, (says, against) in verdicts.items() if code in against and says.search(text)), None)
