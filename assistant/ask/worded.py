"""Entries of the tables of questions: the words that they are asked by, and those beside which they are not meant."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from assistant.model import KnowledgeError


def checked(path: Path, name: str, entry: Any, needed: Collection[str], known: Collection[str]) -> None:
    """Holds an entry against the fields that a table's entries need, and may have.

    Raises:
        KnowledgeError: it has others, or lacks some.
    """
    if not isinstance(entry, dict) or not set(needed) <= set(entry) <= set(known):
        raise malformed(path, name, entry)


def malformed(path: Path, name: str, entry: Any) -> KnowledgeError:
    """The error for an entry that a table cannot hold."""
    return KnowledgeError(
        zh=f"{path.name}：{name} 的字段不对：{entry}。", en=f"{path.name}: {name} is malformed: {entry}."
    )


def patterns(path: Path, name: str, entry: dict[str, Any]) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    """An entry's ``re`` and ``unless`` (``None`` where it has none), letters of either case.

    Raises:
        KnowledgeError: one of them is no regular expression.
    """
    try:
        unless = re.compile(entry["unless"], re.IGNORECASE) if "unless" in entry else None
        return re.compile(entry["re"], re.IGNORECASE), unless
    except re.error as error:
        raise KnowledgeError(
            zh=f"{path.name}：{name} 不是正则表达式：{error}。", en=f"{path.name}: {name} is no pattern: {error}."
        ) from None
