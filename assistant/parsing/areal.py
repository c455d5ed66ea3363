"""AReaL's log: ``Epoch 1/10 Step 3/100 Train step 3/1000 done.`` and the boxed tables of statistics behind it.

A table has four pairs of columns, name and value, without a header; the last rows may have empty pairs. The first
versions print ``RPC name actor_train returns {…}`` (or such a table) and close the step with ``Epoch 1/1 step 6/19
(global step 6) finishes. … #End to end# execution time: *2299.448*s.``
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from assistant.model.run import Missing
from assistant.parsing.arealrpc import has_finished, read_finished
from assistant.parsing.logprefix import has_prefix, read_body
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.records import Record, make_runs
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.table import Reading, Row

_HEADING: Final = re.compile(
    r"(?:Epoch [0-9]{1,9}/[0-9]{1,9} )?+(?:Step [0-9]{1,12}/[0-9]{1,12} )?+Train step (?P<step>[0-9]{1,12})/[0-9]{1,12}"
)
_NUMBER: Final = re.compile(NUMBER)
_MOST_COLUMNS: Final = 64
_MOST_NOISE: Final = 20
_FEWEST_LOOSE: Final = 4


@dataclass(slots=True)
class _Table:
    """A table that is being read.

    Attributes:
        row: what is read.
        headed: whether a heading told the step.
        edge: the upper edge as far as it is read.
        bars: how many vertical lines a whole row has; ``0`` until the upper edge is read.
        loose: whether it has no upper edge (rows picked out of a log), so that rows may differ in length.
        pieces: what a terminal made of a row, with the line of each piece.
        noise: lines in the table, one after the other, that are none of its own.
    """

    row: Row
    headed: bool
    edge: str
    bars: int = 0
    loose: bool = False
    pieces: list[tuple[str, int]] = field(default_factory=list)
    noise: int = 0


@dataclass(slots=True)
class _Reader:
    """Goes through the lines of a document."""

    step: int | None = None
    table: _Table | None = None
    tables: list[_Table] = field(default_factory=list)
    taken: dict[int, list[int]] = field(default_factory=dict)

    def feed(self, line: str, number: int) -> None:
        """Takes the next line; lines outside a table matter only if they hold a heading or an upper edge."""
        tag, text = strip_ray(line)
        if "Train step " in line:
            heading = _HEADING.match(read_body(line)[1])
            if heading is not None:
                self.close()
                self.step = int(heading["step"])
                return
        if "╒" in text:
            self.close()
            step = len(self.tables) if self.step is None else self.step
            row = Row(step, number, last_line=number, tag=tag)
            self.table = _Table(row, self.step is not None, text[text.index("╒") :].rstrip())
            self._edge()
            return
        if text.startswith("│") and (self.table is None or self.table.loose):
            self._loose_row(text.rstrip(), number, tag)
        if self.table is not None:
            self._inside(self.table, text, number)

    def _loose_row(self, text: str, number: int, tag: str | None) -> None:
        """Opens a table without an edge, or makes it as wide as the next row, for a row that is whole."""
        bars = text.count("│")
        if not text.endswith("│") or bars % 2 == 0 or bars > _MOST_COLUMNS:
            return
        if self.table is None:
            step = len(self.tables) if self.step is None else self.step
            row = Row(step, number, last_line=number, tag=tag)
            self.table = _Table(row, self.step is not None, "", loose=True)
        if self.table is not None:
            self.table.bars, self.table.pieces = bars, []

    def _edge(self) -> None:
        table = self.table
        if table is not None and table.edge.endswith("╕"):
            table.bars = table.edge.count("╤") + 2
            if table.bars % 2 == 0 or table.bars > _MOST_COLUMNS:
                self.table = None

    def _inside(self, table: _Table, text: str, number: int) -> None:
        if not table.bars:
            if text.strip("═╤╕ "):
                self.table = None
                return
            table.edge += text.rstrip()
            self._edge()
        elif "╘" in text or "╛" in text:
            self.close()
        elif "│" in text and (not has_prefix(text) or text.startswith("│")):
            table.noise = 0
            table.pieces.append((text, number))
            self._try_row(table)
        elif table.pieces and text.strip("├┼┤─ ") and not has_prefix(text):
            table.pieces.append((text, number))
        elif "├" not in text and "─" not in text:
            table.noise += 1
            if table.noise > _MOST_NOISE:
                self.close()

    def _try_row(self, table: _Table) -> None:
        """Reads the pieces if they make a whole row."""
        whole = "".join(piece for piece, _ in table.pieces)
        count = whole.count("│")
        if count < table.bars or not whole.rstrip().endswith("│"):
            if len(table.pieces) > _MOST_NOISE:
                table.pieces = []
            return
        if count == table.bars:
            self._read_row(table, whole.strip().strip("│").split("│"))
        table.pieces = []

    def _read_row(self, table: _Table, cells: list[str]) -> None:
        row, lines, start, at = table.row, [number for _, number in table.pieces], 0, 0
        ends: list[int] = []
        for piece, _ in table.pieces:
            at += piece.count("│")
            ends.append(at)
        for start in range(0, len(cells) - 1, 2):
            key, text = cells[start].strip(), cells[start + 1].strip()
            if not key:
                continue
            line = lines[next((i for i, end in enumerate(ends) if end >= start + 2), -1)]
            value = read_number(text) if _NUMBER.fullmatch(text) else None
            if value is None:
                row.bad.append(Missing(key, row.step, line, "not_a_number", text[:80]))
            elif key not in row.values:
                row.values[key], row.lines[key] = value, line
        row.last_line = lines[-1]
        self.taken.setdefault(id(table), []).extend(lines)

    def close(self) -> None:
        """Ends the table that is open; pieces of a row that is not whole are what a cut left."""
        table, self.table = self.table, None
        if table is not None and table.pieces:
            self._half(table)
        if table is not None and table.loose and not table.headed and len(table.row.values) < _FEWEST_LOOSE:
            return
        if table is not None and table.row.values:
            self.tables.append(table)

    @staticmethod
    def _half(table: _Table) -> None:
        whole = "".join(piece for piece, _ in table.pieces).strip()
        cells = [cell.strip() for cell in whole.removeprefix("│").split("│")]
        row, last = table.row, table.pieces[-1][1]
        row.cut, row.last_line = True, last
        for start in range(0, len(cells) - 2, 2):
            value = read_number(cells[start + 1]) if _NUMBER.fullmatch(cells[start + 1]) else None
            if cells[start] and value is not None and cells[start] not in row.values:
                row.values[cells[start]], row.lines[cells[start]] = value, table.pieces[0][1]
        if len(cells) % 2:
            row.half = Missing(None, row.step, last, "half_key", cells[-1][:80]) if cells[-1] else None
        else:
            row.half = Missing(cells[-2] or None, row.step, last, "half_value", cells[-1][:80])


class AReaL:
    """Reads the tables of statistics; tables of one step make one row."""

    name: Final = "areal"
    strength: Final = 90

    def read(self, document: Document) -> Reading:
        """At most one run a process."""
        finished = has_finished(document)
        if not finished and not any("│" in line for line in document.lines):
            return Reading()
        reader = _Reader()
        for line, number in zip(document.lines, document.numbers, strict=False):
            if reader.table is not None or "╒" in line or "│" in line or "Train step " in line:
                reader.feed(line, number)
        reader.close()
        headed = any(table.headed for table in reader.tables)
        if finished and not headed:
            tables = [table for table in reader.tables if _is_statistics(table.row)]
            lines = {number for table in tables for number in reader.taken.get(id(table), [])}
            return read_finished(document, [table.row for table in tables], lines)
        used = [table for table in reader.tables if table.headed == headed and _is_statistics(table.row)]
        runs = make_runs(
            [Record("stats", table.row) for table in used],
            first=0,
            name=document.name,
            format="areal",
            framework="AReaL",
            step_axis="step" if headed else "index",
        )
        taken = frozenset(number for table in used for number in reader.taken.get(id(table), []))
        bad = tuple(table.row.line for table in reader.tables if table.headed != headed and _is_statistics(table.row))
        return Reading(tuple(runs), taken, bad)


def _is_statistics(row: Row) -> bool:
    """Whether the table's names are paths, as all of AReaL's are."""
    paths = sum("/" in key for key in row.values)
    return paths > 0 and 2 * paths >= len(row.values)
