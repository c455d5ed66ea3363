"""Columns that grow: the values of each in a compact array, their places shared by all that stand in the same ones.

Most metrics of a log are printed in the same rows, so rows and lines are held once for all of them; a column that
comes to stand elsewhere takes a copy with it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from assistant.model.run import Column, Number

_SMALL: Final = 1 << 62
_PART: Final = 1 << 18
_FEWEST_PARTS: Final = 32


@dataclass(eq=False)
class Places:
    """Where the values of one or more columns stand.

    Attributes:
        size: number of values.
        rows: row of each value; ``None`` while there is one in each row from the first on.
        lines: line of each value; ``None`` while each stands on its row's line.
        columns: how many columns stand here.
    """

    size: int = 0
    rows: array[int] | None = None
    lines: array[int] | None = None
    columns: int = 0

    def last_row(self) -> int:
        """The row of the last value."""
        return self.size - 1 if self.rows is None else self.rows[-1]

    def apart(self, columns: int) -> Places:
        """A copy for some of the columns."""
        rows, lines = (None if held is None else held[:] for held in (self.rows, self.lines))
        self.columns -= columns
        return Places(self.size, rows, lines, columns)

    def extend(self, rows: Sequence[int], lines: Sequence[int], of: Sequence[int]) -> None:
        """Appends places.

        Args:
            rows: ascending.
            lines: of the values.
            of: the line of each row of the run.
        """
        size = self.size
        if self.rows is None and (rows[0] != size or rows[-1] != size + len(rows) - 1):
            self.rows = array("q", range(size))
        if self.lines is None and any(of[row] != line for row, line in zip(rows, lines, strict=True)):
            places = range(size) if self.rows is None else self.rows
            self.lines = array("q", (of[row] for row in places))
        if self.rows is not None:
            self.rows.extend(rows)
        if self.lines is not None:
            self.lines.extend(lines)
        self.size += len(rows)

    def finish(self, row_lines: tuple[int, ...]) -> tuple[Sequence[int], Sequence[int]]:
        """Row and line of each value."""
        rows: Sequence[int] = range(self.size) if self.rows is None else self.rows
        if self.lines is not None:
            return rows, self.lines
        if self.rows is None:
            return rows, row_lines[: self.size]
        return rows, array("q", (row_lines[row] for row in self.rows))


@dataclass(eq=False)
class JoinedColumn:
    """A column that grows."""

    values: MutableSequence[Any] = field(default_factory=list)
    places: Places = field(default_factory=Places)

    def extend(self, values: Sequence[Number]) -> None:
        """Appends values."""
        kind = _kind(values)
        if not self.values and kind is not None:
            self.values = array(kind)
        elif isinstance(self.values, array) and self.values.typecode != kind:
            self.values = list(self.values)
        self.values.extend(values)


@dataclass(eq=False)
class _Alike:
    """Columns that stand in the same places so far and go on in the same ones."""

    before: Places | None
    rows: Sequence[int]
    lines: Sequence[int]
    columns: list[JoinedColumn]


class JoinedColumns(dict[str, JoinedColumn]):
    """The columns of a run that grows, in the order in which they appear."""

    def append(self, columns: Mapping[str, Column], begin: int, end: int, base: int, of: Sequence[int]) -> None:
        """Appends the values of some rows.

        Args:
            columns: of a part of the run.
            begin: the first of the part's rows.
            end: the row behind the last.
            base: row of the joined run that the first one becomes; it may be the last one that is there already.
            of: the line of each row of the joined run.
        """
        groups: dict[tuple[int, int, int], list[_Alike]] = {}
        for key, column in columns.items():
            first, last = bisect_left(column.rows, begin), bisect_left(column.rows, end)
            joined = self.get(key)
            if joined is not None and first < last and joined.places.last_row() >= column.rows[first] - begin + base:
                first += 1  # the row before goes on here and holds this value
            if first == last:
                continue
            before = None if joined is None else joined.places
            if joined is None:
                joined = self[key] = JoinedColumn()
            joined.extend(column.values[first:last])
            rows, lines = column.rows[first:last], column.lines[first:last]
            known = groups.setdefault((id(before), rows[0], last - first), [])
            group = next((group for group in known if group.rows == rows and group.lines == lines), None)
            if group is None:
                known.append(group := _Alike(before, rows, lines, []))
            group.columns.append(joined)
        for group in (group for known in groups.values() for group in known):
            places, size = group.before, len(group.columns)
            if places is None:
                places = Places(columns=size)
            elif size < places.columns:
                places = places.apart(size)
            places.extend([row - begin + base for row in group.rows], group.lines, of)
            for joined in group.columns:
                joined.places = places

    def last_values(self, row: int) -> dict[str, Number]:
        """The values of a row that is the last one."""
        return {key: column.values[-1] for key, column in self.items() if column.places.last_row() == row}

    def finish(self, row_lines: tuple[int, ...]) -> dict[str, Column]:
        """The columns; these are used up."""
        shared: dict[bytes, Sequence[int]] = {}
        found: dict[int, tuple[Places, Sequence[int], Sequence[int]]] = {}
        columns: dict[str, Column] = {}
        for key in list(self):
            joined = self.pop(key)
            place = id(joined.places)
            if place not in found:
                rows, lines = joined.places.finish(row_lines)
                found[place] = joined.places, _once(shared, rows), _once(shared, lines)
            columns[key] = Column(found[place][1], joined.values, found[place][2])
        return columns


def _kind(values: Sequence[Number]) -> Literal["d", "q"] | None:
    """The type of array that holds numbers as they are; ``None`` if only a list does."""
    kinds = set(map(type, values))
    if kinds == {float}:
        return "d"
    return "q" if kinds == {int} and max(values) < _SMALL and min(values) > -_SMALL else None


def _once(shared: dict[bytes, Sequence[int]], numbers: Sequence[int]) -> Sequence[int]:
    """The same numbers as one object for all columns that have them: they may have parted and stand alike even so."""
    if not isinstance(numbers, array):
        return numbers
    from hashlib import blake2b

    return shared.setdefault(blake2b(numbers).digest(), numbers)


def taken_out(numbers: array[int]) -> tuple[int, ...]:
    """The numbers of an array as a tuple; the array is emptied meanwhile, so that not both are there in full."""

    def parts() -> Iterator[int]:
        size = max(_PART, len(numbers) // _FEWEST_PARTS)
        while numbers:
            part = numbers[:size]
            del numbers[:size]
            yield from part

    return tuple(parts())
