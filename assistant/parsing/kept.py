"""Rows whose values lie in shared columns: a log of gigabytes fits into little more than its numbers.

A row that was read quickly is one small object; its values stand in the arrays of its shape (all rows with the same
keys in the same order). What comes later and needs to change a row turns it into a
:class:`~assistant.parsing.table.Row` first.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence, Sequence
from itertools import groupby, repeat
from struct import Struct
from types import MappingProxyType
from typing import Any, Final, Literal, overload

from assistant.model.run import Column, Missing, Number
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
    """A list of rows in which one that was read quickly takes 28 bytes; its object is made when it is looked at."""

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


def loosen(rows: MutableSequence[AnyRow], index: int) -> Row:
    """The row at an index, to be changed."""
    row = rows[index]
    if isinstance(row, KeptRow):
        row = rows[index] = row.loose()
    return row


def kinds_of(rows: Iterable[AnyRow]) -> list[tuple[str, ...]]:
    """The metrics of rows, each sequence of them once, in the order in which they first appear."""
    shared = {id(keys): keys for keys in (row.keys() for row in rows)}  # the rows of a shape have one and the same
    return list(dict.fromkeys(shared.values()))


def _shape_of(row: AnyRow) -> Shape | None:
    return row.shape if isinstance(row, KeptRow) else None


def fill_columns(rows: Sequence[AnyRow]) -> dict[str, Column]:
    """The columns of rows, keys in the order in which they first appear.

    Columns with the same rows share the sequences of rows and lines. The shapes' columns are used up.
    """
    keys: dict[str, list[Shape]] = {}
    loose: dict[str, list[int]] = {}
    shapes: dict[int, Shape] = {}
    pieces: list[tuple[Shape | None, int, int]] = []
    index = 0
    for shape, members in groupby(rows, _shape_of):
        begin = index
        if shape is None:
            for row in members:
                pieces.append((None, index, index + 1))
                for key in row.values:
                    keys.setdefault(key, [])
                    loose.setdefault(key, []).append(index)
                index += 1
            continue
        if id(shape) not in shapes:
            shapes[id(shape)] = shape
            shape.flush()
            _drop(shape)
            for key in shape.keys:
                keys.setdefault(key, []).append(shape)
        first = len(shape.line)
        shape.line.extend([row.line for row in members])
        index += len(shape.line) - first
        shape.at.extend(range(begin, index))
        pieces.append((shape, first, len(shape.line)))
    columns: dict[str, Column] = {}
    merger = _Merger(rows, pieces)
    for key, held in keys.items():
        alone = loose.get(key, ())
        if len(held) == 1 and not alone:
            shape = held[0]
            at = shape.keys.index(key)
            columns[key] = Column(shape.at, shape.columns[at], shape.line)
            continue
        columns[key] = merger.merge(key, held, alone)
    return columns


def _drop(shape: Shape) -> None:
    """Takes the values of rows that left the shape out of its columns."""
    if not shape.dropped:
        return
    places = sorted(shape.dropped, reverse=True)
    for column in shape.columns:
        for place in places:
            del column[place]
    shape.size -= len(shape.dropped)
    shape.dropped = set()


class _Merger:
    """Puts a metric's values from several shapes, and from rows of their own, in the order of the rows."""

    def __init__(self, rows: Sequence[AnyRow], pieces: Sequence[tuple[Shape | None, int, int]]) -> None:
        self.rows = rows
        self.pieces = pieces
        self.shared: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[array[int], array[int]]] = {}

    def merge(self, key: str, held: Sequence[Shape], alone: Sequence[int]) -> Column:
        """One column.

        Args:
            key: the metric.
            held: the shapes that have it.
            alone: indexes of the rows of their own that have it.
        """
        sources = {id(shape): shape.columns[shape.keys.index(key)] for shape in held}
        mine = set(alone)
        own = {index: self.rows[index].values[key] for index in alone}
        codes = {column.typecode if isinstance(column, array) else "" for column in sources.values()}
        for value in own.values():
            small = isinstance(value, int) and -(2**63) <= value < 2**63
            codes.add("d" if isinstance(value, float) else "q" if small else "")
        code = codes.pop() if len(codes) == 1 else ""
        values: Store = array(code) if code else []
        for shape, begin, end in self.pieces:
            if shape is None:
                if begin in mine:
                    values.append(own[begin])
            elif id(shape) in sources:
                values.extend(sources[id(shape)][begin:end])
        for shape in held:  # one column at a time stands in memory twice
            shape.columns[shape.keys.index(key)] = []
        lines_differ = any(key in self.rows[index].lines for index in alone)
        kind = (tuple(sources), tuple(alone))
        places = self.shared.get(kind)
        if places is None or lines_differ:
            at, line = array("q"), array("q")
            for shape, begin, end in self.pieces:
                if shape is None:
                    if begin in mine:
                        row = self.rows[begin]
                        at.append(begin)
                        line.append(row.lines.get(key, row.line))
                elif id(shape) in sources:
                    at.extend(shape.at[begin:end])
                    line.extend(shape.line[begin:end])
            places = (at, line)
            if not lines_differ:
                self.shared[kind] = places
        return Column(places[0], values, places[1])
