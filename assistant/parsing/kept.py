"""Rows whose values lie in shared columns: a log of gigabytes fits into little more than its numbers.

A row that was read quickly is one small object; its values stand in the arrays of its shape (all rows with the same
keys in the same order). What comes later and needs to change a row turns it into a
:class:`~assistant.parsing.table.Row` first.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, MutableSequence, Sequence
from contextlib import suppress
from itertools import groupby, islice, repeat
from operator import itemgetter
from struct import Struct
from types import MappingProxyType
from typing import Any, Final, Literal, overload

from assistant.model.run import Missing, Number
from assistant.parsing.table import Row

Store = MutableSequence[Any]
"""``array('d')`` of floats, ``array('q')`` of ints, or a list where both occur."""

_MOST_PACKED: Final = 1 << 20
"""Bytes of rows that wait to be brought into the columns."""


def _packer(types: tuple[type, ...]) -> Callable[..., bytes]:
    """Packs a row's values as :meth:`Shape.extend` takes them."""
    return Struct("8x" + "".join("d" if kind is float else "q" for kind in types)).pack


class Shape:
    """Rows with the same keys in the same order, and their values by column."""

    __slots__ = ("_pack", "_packed", "_packed_size", "at", "columns", "dropped", "keys", "line", "size", "types")

    def __init__(self, keys: tuple[str, ...], types: tuple[type, ...]) -> None:
        self.keys = keys
        self.columns: list[Store] = [array("d" if kind is float else "q") for kind in types]
        self.size = 0
        self.dropped: set[int] = set()
        self.at = array("q")
        self.line = array("q")
        self.types = types
        self._pack = _packer(types)
        self._packed: list[bytes] = []
        self._packed_size = 0

    def add(self, values: tuple[Number, ...], types: tuple[type, ...]) -> int:
        """Takes a row's values, floats and ints that fit 64 bits; returns its place."""
        if types != self.types or self._packed_size > _MOST_PACKED:
            self._begin(types)
        return self._wait(self._pack(*values), 1)

    def extend(self, packed: bytes, types: tuple[type, ...]) -> int:
        """Takes several rows; returns the place of the first.

        Args:
            packed: of each row eight bytes that are left out, then its values, eight bytes each.
            types: of the values: ``float`` (``d`` of ``struct``) or ``int`` (``q``).
        """
        if types != self.types or self._packed_size > _MOST_PACKED:
            self._begin(types)
        return self._wait(packed, len(packed) // (8 + 8 * len(types)))

    def _begin(self, types: tuple[type, ...]) -> None:
        self.flush()
        self.types = types
        self._pack = _packer(types)

    def _wait(self, packed: bytes, rows: int) -> int:
        self._packed.append(packed)
        self._packed_size += len(packed)
        place = self.size
        self.size += rows
        return place

    def flush(self) -> None:
        """Brings the rows that were taken last into the columns: many at once, since each column grows by a copy."""
        if not self._packed:
            return
        packed = b"".join(self._packed)
        self._packed.clear()
        self._packed_size = 0
        floats, ints = array("d", packed), array("q", packed)
        width = 1 + len(self.types)
        for index, kind in enumerate(self.types):
            column = self.columns[index]
            new = (floats if kind is float else ints)[index + 1 :: width]
            if isinstance(column, array) and column.typecode != new.typecode:
                column = self.columns[index] = list(column)
            column.extend(new)

    def values(self, place: int) -> dict[str, Number]:
        """The values of one row."""
        self.flush()
        return {key: column[place] for key, column in zip(self.keys, self.columns, strict=True)}


class KeptRow:
    """A whole row on one line, nothing missing; its values lie in a shape."""

    __slots__ = ("line", "place", "shape", "step", "tag")

    half: Final[Missing | None] = None
    cut: Final[Literal[False]] = False
    limit: Final[int | None] = None
    bad: Final[tuple[Missing, ...]] = ()
    lines: Final[Mapping[str, int]] = MappingProxyType({})

    def __init__(self, step: int, line: int, tag: str | None, shape: Shape, place: int) -> None:
        self.step = step
        self.line = line
        self.tag = tag
        self.shape = shape
        self.place = place

    @property
    def last_line(self) -> int:
        """The line it stands on."""
        return self.line

    @property
    def values(self) -> dict[str, Number]:
        """A copy of the values."""
        return self.shape.values(self.place)

    def keys(self) -> tuple[str, ...]:
        """The row's metrics, in the log's order."""
        return self.shape.keys

    def loose(self) -> Row:
        """The row with values of its own; its place in the shape is given up."""
        row = Row(self.step, self.line, self.values, last_line=self.line, tag=self.tag)
        self.shape.dropped.add(self.place)
        return row


AnyRow = Row | KeptRow

_LOOSE: Final = -1


class Rows(MutableSequence[AnyRow]):
    """A list of rows in which one that was read quickly takes 28 bytes; its object is made when it is looked at.

    What is asked of all rows is answered from the arrays: an object for each of many rows takes longer than to read
    its line.
    """

    __slots__ = ("_kind_of", "_kinds", "_lines", "_loose", "_of", "_places", "_steps")

    def __init__(self) -> None:
        self._kinds: list[tuple[str | None, Shape]] = []
        self._kind_of: dict[tuple[str | None, int], int] = {}
        self._loose: list[Row] = []
        self._of = array("l")  # index of its kind, or _LOOSE: then its place is that in the list of loose ones
        self._steps = array("q")
        self._lines = array("q")
        self._places = array("q")

    def add(self, step: int, line: int, tag: str | None, shape: Shape, place: int) -> None:
        """Appends a kept row."""
        self._of.append(self._kind(tag, shape))
        self._steps.append(step)
        self._lines.append(line)
        self._places.append(place)

    def add_all(self, steps: Sequence[int], lines: Sequence[int], tag: str | None, shape: Shape, place: int) -> None:
        """Appends kept rows whose places follow each other."""
        size = len(steps)
        self._of.extend(repeat(self._kind(tag, shape), size))
        self._steps.extend(steps)
        self._lines.extend(lines)
        self._places.extend(range(place, place + size))

    def _kind(self, tag: str | None, shape: Shape) -> int:
        key = (tag, id(shape))
        kind = self._kind_of.get(key)
        if kind is None:
            kind = self._kind_of[key] = len(self._kinds)
            self._kinds.append((tag, shape))
        return kind

    def _coded(self, row: AnyRow) -> tuple[int, int, int, int]:
        if isinstance(row, KeptRow):
            return self._kind(row.tag, row.shape), row.step, row.line, row.place
        self._loose.append(row)
        return _LOOSE, 0, 0, len(self._loose) - 1

    def __len__(self) -> int:
        return len(self._of)

    def __iter__(self) -> Iterator[AnyRow]:
        kinds, loose = self._kinds, self._loose
        for of, step, line, place in zip(self._of, self._steps, self._lines, self._places, strict=True):
            if of == _LOOSE:
                yield loose[place]
            else:
                yield KeptRow(step, line, *kinds[of], place)

    @overload
    def __getitem__(self, index: int) -> AnyRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[AnyRow]: ...
    def __getitem__(self, index: int | slice) -> AnyRow | list[AnyRow]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self._of)))]
        of, place = self._of[index], self._places[index]
        if of == _LOOSE:
            return self._loose[place]
        return KeptRow(self._steps[index], self._lines[index], *self._kinds[of], place)

    def __setitem__(self, index: Any, row: Any) -> None:
        self._of[index], self._steps[index], self._lines[index], self._places[index] = self._coded(row)

    def __delitem__(self, index: Any) -> None:
        for held in (self._of, self._steps, self._lines, self._places):
            del held[index]

    def insert(self, index: int, value: AnyRow) -> None:
        """Puts a row before that at an index."""
        for held, number in zip((self._of, self._steps, self._lines, self._places), self._coded(value), strict=True):
            held.insert(index, number)

    def own(self) -> Iterator[tuple[int, Row]]:
        """The rows with values of their own, and their indexes."""
        if not self._loose:
            return
        at = -1
        with suppress(ValueError):  # none is left
            while True:
                at = self._of.index(_LOOSE, at + 1)
                yield at, self._loose[self._places[at]]

    def is_kept(self) -> bool:
        """Whether the values of any row lie in a shape."""
        return any(kind != _LOOSE for kind in self._of)

    def steps(self) -> array[int]:
        """The step of each row."""
        steps = self._steps[:]
        for at, row in self.own():
            steps[at] = row.step
        return steps

    def lines(self) -> array[int]:
        """The line on which each row begins."""
        lines = self._lines[:]
        for at, row in self.own():
            lines[at] = row.line
        return lines

    def keys(self, end: int) -> list[tuple[str, ...]]:
        """The metrics of the rows before an index, each sequence of them once, as they first appear."""
        firsts = [(at, self._kinds[kind][1].keys) for kind, at in self._firsts(end).items()]
        firsts += [(at, row.keys()) for at, row in self.own() if at < end]
        return list(dict.fromkeys(keys for _, keys in sorted(firsts)))

    def spans(self) -> dict[str | None, tuple[int, int]]:
        """The first and the last row of each process, in the order in which they first appear."""
        lasts = dict(zip(self._of, range(len(self)), strict=True))
        found = [(first, lasts[kind], self._kinds[kind][0]) for kind, first in self._firsts(len(self)).items()]
        found += [(at, at, row.tag) for at, row in self.own()]
        spans: dict[str | None, tuple[int, int]] = {}
        for first, last, tag in sorted(found, key=itemgetter(0)):
            known = spans.get(tag, (first, last))
            spans[tag] = (known[0], max(known[1], last))
        return spans

    def _firsts(self, end: int) -> dict[int, int]:
        """The first row of each kind of rows before an index."""
        backward = islice(reversed(self._of), len(self) - end, None)
        firsts = dict(zip(backward, range(end - 1, -1, -1), strict=True))
        firsts.pop(_LOOSE, None)
        return firsts

    def stretches(self) -> Iterator[tuple[Shape | None, int, int]]:
        """Rows of one kind that follow each other, as ``(shape, begin, end)``; a row of its own is one by itself."""
        begin = 0
        for kind, members in groupby(self._of):
            end = begin + len(list(members))
            if kind == _LOOSE:
                yield from ((None, at, at + 1) for at in range(begin, end))
            else:
                yield self._kinds[kind][1], begin, end
            begin = end


def loosen(rows: MutableSequence[AnyRow], index: int) -> Row:
    """The row at an index, to be changed."""
    row = rows[index]
    if isinstance(row, KeptRow):
        row = rows[index] = row.loose()
    return row


def own_rows(rows: Sequence[AnyRow]) -> Iterator[tuple[int, Row]]:
    """The rows with values of their own, and their indexes."""
    if isinstance(rows, Rows):
        return rows.own()
    return ((at, row) for at, row in enumerate(rows) if isinstance(row, Row))


def steps_of(rows: Sequence[AnyRow]) -> Sequence[int]:
    """The step of each row, as a new sequence."""
    return rows.steps() if isinstance(rows, Rows) else [row.step for row in rows]


def lines_of(rows: Sequence[AnyRow]) -> Sequence[int]:
    """The line on which each row begins, as a new sequence."""
    return rows.lines() if isinstance(rows, Rows) else [row.line for row in rows]


def kinds_of(rows: Sequence[AnyRow], end: int | None = None) -> list[tuple[str, ...]]:
    """The metrics of rows, each sequence of them once, in the order in which they first appear.

    Args:
        rows: any.
        end: only those before this index are looked at.
    """
    end = len(rows) if end is None else end
    if isinstance(rows, Rows):
        return rows.keys(end)
    return list(dict.fromkeys(row.keys() for row in islice(rows, end)))
