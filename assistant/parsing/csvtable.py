"""CSV and TSV: a header of names, then rows of the same width whose columns are mostly numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Final

from assistant.model.run import Run
from assistant.parsing.columns import NO_VALUES, Table, is_metric, table_run
from assistant.parsing.numbers import read_number
from assistant.parsing.repair import Document
from assistant.parsing.stepbook import is_end, is_step
from assistant.parsing.table import Reading

_NAME: Final = re.compile(r"[\w(#%][^\n]{0,119}")
_LONGEST: Final = 60_000
_MOST_COLUMNS: Final = 3000
_MOST_LINES_A_ROW: Final = 20
_MOST_TABLES: Final = 20
_MOST_ODD: Final = 3
"""Rows of another width that may follow each other inside a table."""

_OPEN_NUMBER: Final = re.compile(r"[-+]?[0-9]*(?:\.|\.?[0-9]*[eE][-+]?)")


class CsvTables:
    """Reads CSV and TSV, alone or with text around them."""

    name: Final = "csv"
    strength: Final = 40

    def read(self, document: Document) -> Reading:
        """One run a table."""
        runs: list[Run] = []
        taken: set[int] = set()
        odd: list[int] = []
        lines = document.lines
        at = 0
        while at < len(lines) - 1 and len(runs) < _MOST_TABLES:
            found = _table_at(document, at) if lines[at] else None
            if found is None:
                at += 1
                continue
            table, separator, end = found
            kind = "tsv" if separator == "\t" else "csv"
            run = table_run(table, document, format=kind, id=f"r{len(runs)}")
            if run is not None:
                runs.append(run)
                taken |= table.taken
                odd += table.odd
            at = end
        return Reading(tuple(runs), frozenset(taken), tuple(odd))


def _table_at(document: Document, at: int) -> tuple[Table, str, int] | None:
    """The table whose header is a line, what separates its cells, and the index of the line behind it."""
    header = document.lines[at]
    if len(header) > _LONGEST or not header.strip():
        return None
    for separator in ("\t", ",", ";"):
        if separator not in header or separator not in document.lines[at + 1][:_LONGEST]:
            continue
        names = _names(header, separator)
        if names is None:
            continue
        table, end = _rows(document, at, names, separator)
        if len(table.rows) >= 2 and _is_consistent(table):
            return table, separator, end
    return None


def _names(header: str, separator: str) -> list[str] | None:
    """The names of a header line: at least two, different, none of them a number."""
    try:
        names = [name.strip() for name in next(csv.reader([header], delimiter=separator, strict=True))]
    except (csv.Error, StopIteration):
        return None
    if not 2 <= len(names) <= _MOST_COLUMNS or len(set(names)) < len(names):
        return None
    if names[0].startswith("# "):
        names[0] = names[0][2:].strip()
    if any(name and (_NAME.fullmatch(name) is None or read_number(name) is not None) for name in names):
        return None
    if not all(names[1:]):
        return None
    prose = sum(len(name.split()) > 6 for name in names)
    known = any(is_step(name) or is_metric(name) for name in names)
    return names if known and not prose else None


def _rows(document: Document, at: int, names: list[str], separator: str) -> tuple[Table, int]:
    """The rows below a header, up to the first of another width."""
    lines, numbers = document.lines, document.numbers
    table = Table(names, taken={numbers[at]})
    state = [at + 1, at + 1]

    def feed() -> Iterator[str]:
        while state[0] < len(lines) and state[0] - state[1] < _MOST_LINES_A_ROW:
            line = lines[state[0]]
            if len(line) > _LONGEST:
                return
            state[0] += 1
            yield line

    reader = csv.reader(feed(), delimiter=separator)
    end = at + 1
    while True:
        start = state[0]
        state[1] = start
        try:
            row = next(reader, None)
        except csv.Error:
            break
        if row is None or not row:
            break
        cut = len(row) < len(names)
        whole = start == state[0] - 1
        if len(row) > len(names) or (cut and not (table.rows and whole and _is_cut(document, start, row))):
            if not whole or not _goes_on(lines, start, table, separator):
                break
            if len(row) >= 2 and _has_numbers(row):
                table.odd.append(numbers[start])
            continue
        if not _has_numbers(row):
            break
        cut = cut or _is_half(document, table, start, row[-1])
        table.rows.append(row)
        table.lines.append(numbers[start])
        table.taken.update(numbers[start : state[0]])
        end = state[0]
        if cut:
            table.cut = True
            break
    return table, end


def _is_cut(document: Document, index: int, row: list[str]) -> bool:
    """Whether a short row is one in which the text stops."""
    return len(row) >= 2 and is_end(document, document.numbers[index])


def _is_half(document: Document, table: Table, index: int, text: str) -> bool:
    """Whether the text stops inside a row's last number: at its point or its exponent."""
    return (
        _OPEN_NUMBER.fullmatch(text.strip()) is not None
        and bool(table.rows)
        and not any(row[-1].strip().endswith(".") for row in table.rows[-_MOST_LINES_A_ROW:])
        and is_end(document, document.numbers[index])
    )


def _goes_on(lines: list[str], index: int, table: Table, separator: str) -> bool:
    """Whether a line of another width stands inside a table: one of the next lines is a row like those before."""
    if not table.rows:
        return False
    for line in lines[index + 1 : index + 1 + _MOST_ODD]:
        if not line.strip() or len(line) > _LONGEST:
            return False
        row = next(csv.reader([line], delimiter=separator), [])
        if len(row) == len(table.names) and _numbers(row) >= max(1, _numbers(table.rows[0]) // 2):
            return True
    return False


def _numbers(row: list[str]) -> int:
    return sum(read_number(cell.strip()) is not None for cell in row)


def _has_numbers(row: list[str]) -> bool:
    return any(read_number(cell.strip()) is not None for cell in row if cell)


def _is_consistent(table: Table) -> bool:
    """Whether most cells of the first rows are numbers, blanks or words for "no value"."""
    cells = [cell.strip() for row in table.rows[:50] for cell in row]
    good = sum(not cell or cell.lower() in NO_VALUES or read_number(cell) is not None for cell in cells)
    return 2 * good >= len(cells)
