"""Pipe tables with a column of keys and a column of definitions; tables of values are none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.knowledge.documents_fields import Draft, Field, field_of
from assistant.knowledge.documents_keys import Item, read_item, says_something
from assistant.knowledge.documents_text import Line

_RULE: Final = re.compile(r"[\s|:\-]{3,}")
MAX_COLUMNS: Final = 40


def is_rule(line: str) -> bool:
    """Whether a line separates a table's header from its rows."""
    return "-" in line and "|" in line and _RULE.fullmatch(line) is not None


def cells(line: str) -> list[str]:
    r"""The cells of a row; ``\|`` and a bar in a code span part none."""
    row = line.strip().removeprefix("|")
    row = row[:-1] if row.endswith("|") and not row.endswith("\\|") else row
    if "\\|" not in row and "`" not in row:
        return [cell.strip() for cell in row.split("|", MAX_COLUMNS)]
    result, current, code, at = list[str](), list[str](), False, 0
    balanced = row.count("`") % 2 == 0
    while at < len(row):
        char = row[at]
        if row.startswith("\\|", at):
            current.append("|")
            at += 2
            continue
        if char == "`" and balanced:
            code = not code
        if char == "|" and not code:
            result.append("".join(current).strip())
            current = []
        else:
            current.append(char)
        at += 1
    result.append("".join(current).strip())
    return result[: MAX_COLUMNS + 1]


def read_table(lines: Sequence[Line], heading: tuple[str, ...]) -> tuple[list[Draft], set[int]]:
    """Definitions of a table (header, rule, rows), and the numbers of the lines that were taken."""
    header = cells(lines[0][1])
    rows = [(number, cells(text)) for number, text in lines[2:]]
    fields: list[Field | None] = [field_of(label) for label in header]
    items: dict[int, list[Item | None]] = {}
    for column in range(len(header)):
        items[column] = [_item(row[column]) if column < len(row) else None for _, row in rows]
    labelled = [at for at, name in enumerate(fields) if name == "key"]
    key_column = next((at for at in labelled if _share(items[at]) >= 0.5), None)
    if key_column is None:
        key_column = next(
            (at for at in items if fields[at] in {None, "title"} and _share(items[at], True) >= 0.5), None
        )
    if key_column is None or not rows:
        return [], set()
    weak = key_column in labelled
    fields[key_column] = "key"
    if "text" not in fields:
        _name_text_column(fields, rows)
    drafts, taken = [], set()
    for (number, row), item in zip(rows, items[key_column], strict=True):
        if item is None or not item.keys or not (weak or item.strong):
            continue
        draft = Draft(item.keys, number, heading, item.title)
        for at, name in enumerate(fields):
            cell = row[at] if at < len(row) else ""
            if at != key_column and cell and cell not in {"-", "—", "/", "N/A"}:
                if name is not None and name != "key":
                    draft.add(name, cell.replace("**", ""), number, header[at])
                elif says_something(cell):
                    draft.add("other", cell.replace("**", ""), number, header[at])
        drafts.append(draft)
        taken.add(number)
    return drafts, taken


def _item(cell: str) -> Item | None:
    """The keys of a cell that holds nothing else."""
    item = read_item(cell)
    return item if item is not None and not item.text else None


def _share(items: Sequence[Item | None], strong: bool = False) -> float:
    found = sum(1 for item in items if item is not None and item.keys and (item.strong or not strong))
    return found / len(items) if items else 0.0


def _name_text_column(fields: list[Field | None], rows: Sequence[tuple[int, list[str]]]) -> None:
    """Without a column that is labelled as definitions, the one with the most words is, if there is one."""
    words = {
        at: sum(len(row[at]) for _, row in rows if at < len(row) and says_something(row[at]))
        for at, name in enumerate(fields)
        if name is None
    }
    best = max(words, key=lambda at: words[at], default=None)
    if best is not None and words[best]:
        fields[best] = "text"
