"""Puts the table of settings, made from the docstrings of `assistant/settings.py`, into docs/service.md.

python tools/settings_table.py [--check]
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

from assistant.settings import Serving, Settings, Storing

PAGE = Path(__file__).resolve().parent.parent / "docs" / "service.md"
BEGIN, END = "<!-- settings:begin -->", "<!-- settings:end -->"
_ATTRIBUTE = re.compile(r"^    (\w+): (.*)$")
_NAME = re.compile(r"``((?:ASSISTANT|OPENAI)_\w+)``")


def attributes(cls: type) -> dict[str, str]:
    """Name and description of each attribute in a class's docstring."""
    found: dict[str, str] = {}
    name = ""
    _, _, listed = inspect.cleandoc(cls.__doc__ or "").partition("Attributes:\n")
    for line in listed.splitlines():
        if match := _ATTRIBUTE.match(line):
            name = match[1]
            found[name] = match[2]
        elif name and line.strip():
            found[name] += " " + line.strip()
    return found


def table() -> str:
    """The table: the variable that an attribute begins with, and what is said of it."""
    rows = ["| variable | what it sets |", "|---|---|"]
    for cls in (Serving, Storing, Settings):
        for text in attributes(cls).values():
            match = _NAME.match(text)
            if match is None:
                continue
            rest = text[match.end() :].lstrip(", ").replace("``", "`").replace("|", "\\|")
            rows.append(f"| `{match[1]}` | {rest[:1].upper()}{rest[1:]} |")
    return "\n".join(rows)


def main() -> int:
    """Writes the table, or with `--check` says whether it is up to date."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    new = f"{before}{BEGIN}\n{table()}\n{END}{after}"
    if "--check" in sys.argv[1:]:
        return int(new != text)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
