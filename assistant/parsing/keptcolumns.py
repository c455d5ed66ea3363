"""The columns of rows that were kept compactly: those of their shapes, joined where a metric stands in several."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from assistant.model.run import Column
from assistant.parsing.kept import AnyRow, Rows, Shape, Store


def fill_columns(rows: Rows, lines: Sequence[int]) -> dict[str, Column]:
    """The columns of rows, keys in the order in which they first appear.

    Columns with the same rows share the sequences of rows and lines. The shapes' columns are used up.

    Args:
        rows: every one whose values the shapes hold.
        lines: on which each of them begins.
    """
    keys: dict[str, list[Shape]] = {}
    loose: dict[str, list[int]] = {}
    shapes: dict[int, Shape] = {}
    pieces: list[tuple[Shape | None, int, int]] = []
    for shape, begin, end in rows.stretches():
        if shape is None:
            pieces.append((None, begin, end))
            for key in rows[begin].values:
                keys.setdefault(key, [])
                loose.setdefault(key, []).append(begin)
            continue
        if id(shape) not in shapes:
            shapes[id(shape)] = shape
            shape.flush()
            _drop(shape)
            for key in shape.keys:
                keys.setdefault(key, []).append(shape)
        first = len(shape.line)
        shape.line.extend(lines[begin:end])
        shape.at.extend(range(begin, end))
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
                source = sources[id(shape)]
                if not values and code and end == len(source):  # mostly all but the last row: no copy is made
                    values = source
                else:
                    values.extend(source[begin:end])
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
