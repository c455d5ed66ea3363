"""What the formats with one event a line share: cells with units, rows by step number, and notes about both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Final, NamedTuple

from assistant.model.run import Missing, Note, Number, Run
from assistant.parsing.numbers import GROUPED, NUMBER, read_number, same_number
from assistant.parsing.prose import is_prose
from assistant.parsing.repair import Document
from assistant.parsing.table import Row, build_run, restart_notes

STEP_NAMES: Final = (
    "step",
    "steps",
    "_step",
    "global_step",
    "global_steps",
    "global step",
    "current_steps",
    "train/global_step",
    "trainer/global_step",
    "training/global_step",
    "iteration",
    "iterations",
    "iter",
    "it",
    "itr",
    "total_timesteps",
    "time/total_timesteps",
    "total timesteps",
    "totaltimesteps",
    "total_steps",
    "total steps",
    "timesteps",
    "timestep",
    "timesteps_total",
    "env_steps",
    "time/iterations",
    "update",
    "n_updates",
    "epoch",
    "epochs",
    "totalenvinteracts",
)
"""Names of columns that count the rows, in lower case; the first that does wins."""

_UNIT: Final = (
    r"(?:ms|us|µs|secs?|seconds?|mins?|hours?|hrs?|[smh]|%|[KMGT]i?B|bytes|BPC|bpc|BPB|bpb|"
    r"[TGP]?FLOPS|[TGP]FLOPs|(?:tokens?|toks?|its?|steps?|samples?|iters?|frames?)/s(?:ec)?|s/it)"
)
_MEASURE: Final = (
    r"(?:ms|s|[A-Za-z]{1,12}/s(?:ec)?(?:ond)?|(?:s|secs?|seconds?)/(?:it|iter|iteration|step|batch|epoch)"
    r"|(?:\w{1,8} )?MFU|[TGP]FLOPS?)"
)
_KEY_FIRST: Final = re.compile(
    r"(?P<key>[A-Za-z][^:=|,]{0,79}?)(?:\s{0,4}[:=]\s{0,40}|\s{1,40})"
    rf"(?P<number>{GROUPED}|{NUMBER})(?P<rest>(?![0-9.]).{{0,80}})$",
    re.DOTALL,
)
_VALUE_FIRST: Final = re.compile(rf"(?P<number>{GROUPED}|{NUMBER})(?P<percent>%?)\s(?P<key>{_MEASURE})$")
_REST: Final = re.compile(rf"\s?(?P<unit>{_UNIT})?(?![A-Za-z0-9_.])(?P<after>.*)$", re.DOTALL)
_STUMP: Final = re.compile(r"(?<![\w.+-])[-+]?[0-9]{1,30}\.?$")
_FEW_KNOWN: Final = 2
_MOST_KNOWN: Final = 50
_LONGEST_CELL: Final = 240


class Cell(NamedTuple):
    """One value of a line.

    Attributes:
        key: as the line prints it.
        value: without its unit.
        unit: what is glued to the value, or follows it after a blank.
        at: where the number begins in the text that was read.
    """

    key: str
    value: Number
    unit: str
    at: int = 0

    def moved(self, offset: int) -> Cell:
        """The same cell in a text that begins earlier."""
        return self._replace(at=self.at + offset)


def read_cell(text: str, *, value_first: bool = False) -> Cell | None:
    """The cell ``key: value unit`` or ``key value unit`` that is all of a text (``value key`` if asked for)."""
    lead = len(text) - len(text.lstrip())
    text = text.strip()
    if not 2 < len(text) <= _LONGEST_CELL:
        return None
    if value_first and (text[0].isdigit() or text[0] in "+-."):
        found = _VALUE_FIRST.match(text)
        value = None if found is None else read_number(found["number"])
        return None if found is None or value is None else Cell(found["key"], value, found["percent"], lead)
    found = _KEY_FIRST.match(text)
    if found is None:
        return None
    rest = _REST.match(found["rest"])
    if rest is None or (rest["after"][:2].strip().isalpha() and rest["unit"] != "%"):
        return None
    value = read_number(found["number"])
    if value is None:
        return None
    return Cell(found["key"].rstrip(), value, rest["unit"] or "", lead + found.start("number"))


@dataclass
class Book:
    """Rows by step number, in the log's order.

    Attributes:
        rows: one a step; values printed again for the same step start a further row.
        taken: original lines that were used.
        units: key → unit that stood behind its values.
        gaps: cells that are known to be absent.
        shapes: keys with their units, of each line.
        last: original number of the last line that was used.
    """

    rows: list[Row] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    units: dict[str, str] = field(default_factory=dict)
    gaps: list[Missing] = field(default_factory=list)
    shapes: list[tuple[tuple[str, str], ...]] = field(default_factory=list)
    last: int = 0

    def add(self, step: int, cells: Sequence[Cell], number: int, numbers: Sequence[int] = ()) -> Row:
        """Puts a line's cells into the row of their step.

        Args:
            step: as the line says.
            cells: at least one.
            number: original line of the event.
            numbers: original line of each cell, if the event was broken over several.
        """
        for cell in cells:
            if cell.unit:
                self.units.setdefault(cell.key, cell.unit)
        self.shapes.append(tuple((cell.key, cell.unit) for cell in cells))
        self.taken.update(numbers or (number,))
        self.taken.add(number)
        self.last = max([self.last, number, *numbers])
        row = self.rows[-1] if self.rows else None
        if (
            row is None
            or row.step != step
            or any(cell.key in row.values and not same_number(row.values[cell.key], cell.value) for cell in cells)
            or all(cell.key in row.values for cell in cells)
        ):
            row = Row(step, number)
            self.rows.append(row)
        for at, cell in enumerate(cells):
            if cell.key in row.values:
                continue
            row.values[cell.key] = cell.value
            line = numbers[at] if numbers else number
            if line != row.line:
                row.lines[cell.key] = line
        row.last_line = max([row.last_line, number, *numbers])
        return row

    def add_like(self, step: int, shape: tuple[tuple[str, str], ...], values: list[Number], number: int) -> None:
        """As :meth:`add` for a line with the keys and units of an earlier one, each key once.

        Args:
            step: as the line says.
            shape: keys with their units.
            values: of each key.
            number: original line.
        """
        row = self.rows[-1] if self.rows else None
        if row is not None and row.step == step:
            self.add(step, [Cell(key, value, unit) for (key, unit), value in zip(shape, values, strict=True)], number)
            return
        self.shapes.append(shape)
        self.taken.add(number)
        self.last = max(self.last, number)
        named = {key: value for (key, _), value in zip(shape, values, strict=True)}
        self.rows.append(Row(step, number, named, last_line=number))

    def settle_end(self, document: Document, tail: str = "") -> list[Note]:
        """Where a text stops inside its last line: drops a value that may be half and names what is not there.

        Args:
            document: the text.
            tail: what stood behind the last line's cells and is no cell.
        """
        if not self.rows or not is_end(document, self.last):
            return []
        shape = self.shapes[-1]
        keys = [key for key, _ in shape]
        if not keys:
            return []
        units = {key: unit for other in self.shapes[:-1] for key, unit in other}
        longer = [other for other in self.shapes[:-1] if [key for key, _ in other][: len(keys)] == keys]
        whole = any(len(other) == len(keys) and other[-1][1] == shape[-1][1] for other in longer)
        if whole or not longer:
            return self._drop_stump(document)
        row, key, unit = self.rows[-1], *shape[-1]
        other = max(longer, key=len)
        fits = unit == units.get(key, "")
        named = not tail and not (fits and unit)
        if named:
            text = str(row.values.pop(key))
            row.lines.pop(key, None)
            self.gaps.append(Missing(key, row.step, self.last, "half_value", text[:80]))
        self.gaps.extend(Missing(gone, row.step, self.last, "line_cut", tail[:80]) for gone, _ in other[len(keys) :])
        if not row.values:
            self.rows.pop()
        return [cut_note(self.last)]

    def _drop_stump(self, document: Document) -> list[Note]:
        """Drops the text's last value if it stops before or at the point where others of its metric go on."""
        row, (key, unit) = self.rows[-1], self.shapes[-1][-1]
        text = document.lines[-1].rstrip()
        if unit or document.numbers[-1] != self.last or row.lines.get(key, row.line) != self.last:
            return []
        stump = _STUMP.search(text)
        known = [other.values[key] for other in self.rows[-_MOST_KNOWN - 1 : -1] if key in other.values]
        if stump is None or not lost_decimals(stump[0], known) or row.values.get(key) != read_number(stump[0]):
            return []
        del row.values[key]
        row.lines.pop(key, None)
        self.gaps.append(Missing(key, row.step, self.last, "half_value", stump[0]))
        if not row.values:
            self.rows.pop()
        return [cut_note(self.last)]

    def notes(self) -> list[Note]:
        """Remarks on units and restarts."""
        return [*unit_notes(self.units), *restart_notes(self.rows)]

    def run(
        self, document: Document, *, format: str, framework: str | None, axis: str, warnings: Iterable[Note] = ()
    ) -> Run:
        """The run of all rows."""
        return build_run(
            self.rows,
            id="r0",
            name=document.name,
            format=format,
            framework=framework,
            step_axis=axis,
            missing=self.gaps,
            warnings=[*warnings, *self.notes()],
        )


def lost_decimals(text: str, known: Sequence[Number]) -> bool:
    """Whether a number stops at its point, or before it where the others of its metric, two at least, have one."""
    if len(known) < _FEW_KNOWN or not all(isinstance(value, float) and isfinite(value) for value in known):
        return False
    digits = text.lstrip("+-")
    return digits.endswith(".") or digits.isdigit()


def is_end(document: Document, number: int) -> bool:
    """Whether nothing but blank lines, prose and code fences follows a line of the original text."""
    for line, at in zip(reversed(document.lines[-200:]), reversed(document.numbers[-200:]), strict=False):
        if at <= number:
            return True
        if line.strip() and not line.lstrip().startswith("```") and not is_prose(line):
            return False
    return False


def cut_note(line: int) -> Note:
    """Tells that the text stops inside a line."""
    return Note(
        "text_cut",
        f"第 {line} 行没有完整：文本在行内中断，最后一个值可能只有一半，未采用。",
        f"Line {line} is not complete: the text stops inside it, and a value that may be half was left out.",
        line,
    )


def unit_notes(units: Mapping[str, str]) -> list[Note]:
    """A note that names the units that were printed behind values."""
    if not units:
        return []
    shown = ", ".join(f"{key} ({unit})" for key, unit in list(units.items())[:12])
    return [
        Note(
            "units",
            f"数值后面印有单位，表中只保留数值：{shown}。",
            f"Units are printed behind some values; the table holds the numbers as printed: {shown}.",
        )
    ]


def whole_number(value: Number) -> int | None:
    """The step that a number names, ``None`` if it is no whole one."""
    if isinstance(value, int):
        return value
    return int(value) if value.is_integer() and abs(value) < 1e15 else None


def find_axis(columns: Mapping[str, Sequence[Number]], rows: int) -> str | None:
    """The column that counts the rows: a known name, and a whole number in each row, not always the same."""
    named: dict[str, str] = {}
    for key in columns:
        named.setdefault(key.lower().strip(), key)
    for name in STEP_NAMES:
        found = named.get(name)
        if found is None or len(columns[found]) != rows or any(whole_number(v) is None for v in columns[found]):
            continue
        if rows < 3 or len(set(columns[found])) > 1:
            return found
    return None


def axis_first(columns: Mapping[str, Sequence[Number]], rows: int) -> tuple[str | None, list[int]]:
    """The counting column and the step of each row; the row's index where no column counts."""
    axis = find_axis(columns, rows)
    if axis is None:
        return None, list(range(rows))
    return axis, [whole_number(value) or 0 for value in columns[axis]]


def is_step(name: str) -> bool:
    """Whether a name is one that counts the rows."""
    return name.strip().lower() in STEP_NAMES


def keeps_axis(axis: str) -> bool:
    """Whether the counting column is a metric too: a path such as ``time/total_timesteps`` is, ``step`` is not."""
    return "/" in axis
