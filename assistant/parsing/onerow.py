"""One set of values in two spellings: a dictionary on one line beside a list of ``key: value``, neither with a step.

People who paste one step put together what they have: a line of a dictionary, and the summary of a dashboard. Both are
one row; read as two logs, a question about the one would not see the other. Only where the names beside the dictionary
are paths (``reward/mean``): settings and prose are written the same way, with plain names.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Protocol

from assistant.model.run import Run
from assistant.parsing.beside import rest_of
from assistant.parsing.columns import is_result
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading

#: A paste of one step is no longer.
_MOST_LINES: Final = 400
_FEWEST: Final = 2


class Reader(Protocol):
    """A format that reads lists."""

    def read(self, document: Document) -> Reading:
        """What it reads."""
        ...


def with_list(won: Reading, document: Document, reader: Reader) -> Reading:
    """What was read, its one row together with the row of a list on the lines that are left; else as it was.

    Args:
        won: what was read.
        document: the text.
        reader: of lists.
    """
    if len(won.runs) != 1 or len(won.runs[0].steps) != 1 or len(document.lines) > _MOST_LINES:
        return won
    row = won.runs[0]
    rest = rest_of(document, won.taken) if _is_undated(row, document) else None
    if rest is None:
        return won
    found = reader.read(rest)
    if len(found.runs) != 1 or len(found.runs[0].steps) != 1:
        return won
    other = found.runs[0]
    if (
        len(other.columns) < _FEWEST
        or set(other.columns) & set(row.columns)
        or not all("/" in key for key in other.columns)
        or not any(is_result(key) for key in other.columns)
        or (row.framework and other.framework and row.framework != other.framework)
    ):
        return won
    first, second = sorted((row, other), key=lambda run: min(run.row_lines, default=0))
    joined = replace(
        row, columns={**first.columns, **second.columns}, row_lines=first.row_lines, steps=other.steps,
        step_axis=other.step_axis, framework=row.framework or other.framework, version=row.version or other.version,
        missing=(*row.missing, *other.missing), warnings=(*row.warnings, *other.warnings),
    )  # fmt: skip
    return replace(
        won, runs=(joined,), taken=won.taken | found.taken, asking=(*won.asking, *found.asking),
        not_understood=tuple(number for number in won.not_understood if number not in found.taken),
    )  # fmt: skip


def _is_undated(row: Run, document: Document) -> bool:
    """Whether no step stands with a row; one that a format takes for granted is zero."""
    if row.step_axis == "index":
        return True
    held = {line for column in row.columns.values() for line in column.lines}
    text = " ".join(line for line, number in zip(document.lines, document.numbers, strict=False) if number in held)
    return row.steps == (0,) and "step" not in text.lower()


__all__ = ["with_list"]
