"""One table of a TOML file, set or removed as text; the rest of the file is not touched.

Python reads TOML and does not write it. A table is taken from its header to the next one; one that is written in any
other way (inline, with dotted keys) is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any


class BadToml(ValueError):
    """The text is no TOML, or holds the table in a form that is not edited."""


def parse(text: str) -> dict[str, Any]:
    """Reads a text.

    Raises:
        BadToml: it is no TOML.
    """
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise BadToml(str(error)) from None


def with_table(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with a table of texts and lists of texts set, at its old place or at the end.

    Raises:
        BadToml: the text is no TOML, or the table stands there in another form.
    """
    line = "\r\n" if "\r\n" in text else "\n"
    block = [f"[{'.'.join(map(_key, path))}]"]
    block += [f"{_key(key)} = {json.dumps(item, ensure_ascii=False)}" for key, item in value.items()]
    found = _span(text, path)
    if found is not None:
        before, after = text[: found[0]], text[found[1] :]
        return before + line.join(block) + line + (line if after.strip() else "") + after.lstrip("\r\n")
    gap = "" if not text.strip() else line if text.endswith("\n") else line * 2
    return text + gap + line.join(block) + line


def without_table(text: str, path: Sequence[str]) -> str:
    """The text without a table; as it was where there is none.

    Raises:
        BadToml: as in :func:`with_table`.
    """
    found = _span(text, path)
    if found is None:
        return text
    before, after = text[: found[0]], text[found[1] :]
    return (
        before.rstrip("\r\n")
        + ("\n" if before.strip() else "")
        + ("\n" if after.strip() and before.strip() else "")
        + after
    )


def _span(text: str, path: Sequence[str]) -> tuple[int, int] | None:
    """Where the table and its sub-tables stand; ``None`` where there is none."""
    node: Any = parse(text)
    for key in path:
        if not isinstance(node, dict) or key not in node:
            return None
        node = node[key]
    name = r"\s*\.\s*".join(rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')" for key in path)
    header = re.compile(rf"^[ \t]*\[\s*{name}\s*(?:\.[^\]\n]*)?\][^\n]*\n?", re.MULTILINE)
    starts = [match.start() for match in header.finditer(text)]
    if not starts:
        raise BadToml(f"{'.'.join(path)} is not written as a table of its own")
    others = [m.start() for m in re.finditer(r"^[ \t]*\[", text, re.MULTILINE) if m.start() > starts[0]]
    end = next((place for place in others if place not in starts), len(text))
    if any(start > end for start in starts):
        raise BadToml(f"the tables of {'.'.join(path)} do not stand together")
    return starts[0], end


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)
