"""A parsed run as bytes, and back, value for value: what a session's table keeps so that no log is read twice.

The form (``MAR1``), all of it behind one zlib stream: the length of a JSON head as four bytes (big endian), the head,
then the arrays that the head names one after the other. A sequence of numbers is one array: doubles and 64-bit integers
are stored as they lie in memory (so that NaN keeps its bits), byte by byte transposed, which lets zlib see that
neighbours are alike; what is neither (a mixture, an integer beyond 64 bits) has its kinds beside it. Rows and lines
that several columns share are stored once and shared again when they are read. A list comes back as a list, an array as
an array: the code that analyses a run meets what the parser made.
"""

from __future__ import annotations

import json
import struct
import sys
import zlib
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from assistant.model import Note, Run
from assistant.model.run import Column, LineCounts, Missing, Number, Version

MAGIC: Final = b"MAR1"
_LEVEL: Final = 3
_LENGTH: Final = struct.Struct(">I")
#: Bytes of a number and its place in a list, for the size of what is kept in memory.
_BOXED: Final = 40


class DamagedRun(ValueError):
    """Stored bytes that are no run of this version."""


def pack_run(run: Run) -> bytes:
    """The run as bytes."""
    store = _Writer()
    columns = []
    for key, column in run.columns.items():
        places = (store.shared(column.rows), store.shared(column.lines))
        columns.append([key, store.numbers(column.values), *places])
    extras = run.extras
    head = {
        "id": run.id, "name": run.name, "format": run.format, "framework": run.framework, "step_axis": run.step_axis,
        "steps": store.shared(run.steps), "row_lines": store.shared(run.row_lines), "columns": columns,
        "missing": [[m.metric, m.step, m.line, m.reason, m.detail, m.limit] for m in run.missing],
        "warnings": [note_to_json(note) for note in run.warnings],
        "lines": [run.lines.taken, run.lines.ignored, run.lines.not_understood, list(run.lines.samples)],
        "extras": [
            list(extras), store.numbers([value for value, _ in extras.values()]), [line for _, line in extras.values()]
        ],
        "version": run.version.to_json() if run.version else None,
        "arrays": store.shapes,
    }  # fmt: skip
    text = json.dumps(head, separators=(",", ":")).encode("ascii")
    packer = zlib.compressobj(_LEVEL)
    parts = [packer.compress(_LENGTH.pack(len(text))), packer.compress(text)]
    parts += [packer.compress(data) for data in store.data]
    return b"".join([MAGIC, *parts, packer.flush()])


def unpack_run(data: bytes) -> Run:
    """The run that :func:`pack_run` wrote.

    Raises:
        DamagedRun: the bytes are not whole, or of another version.
    """
    if not data.startswith(MAGIC):
        raise DamagedRun("no stored run")
    try:
        return _unpack(zlib.decompress(memoryview(data)[len(MAGIC) :]))
    except (zlib.error, struct.error, ValueError, KeyError, IndexError, TypeError) as error:
        raise DamagedRun(str(error)) from error


def size_of(run: Run) -> int:
    """About how many bytes a run holds in memory."""
    seen: dict[int, int] = {}
    for column in run.columns.values():
        for part in (column.rows, column.values, column.lines):
            if id(part) not in seen:
                seen[id(part)] = len(part) * (part.itemsize if isinstance(part, array) else _BOXED)
    return sum(seen.values()) + 200 * (len(run.columns) + len(run.missing)) + 80 * len(run.steps) + 4096


def note_to_json(note: Note) -> list[Any]:
    """A remark as a list, with the lines it counted."""
    return [note.code, note.zh, note.en, note.line, list(note.counted)]


def note_from_json(data: Sequence[Any]) -> Note:
    """The remark that :func:`note_to_json` wrote."""
    return Note(data[0], data[1], data[2], data[3], tuple(data[4]))


def _unpack(data: bytes) -> Run:
    (length,) = _LENGTH.unpack_from(data)
    begin = _LENGTH.size + length
    head = json.loads(data[_LENGTH.size : begin])
    read = _Reader(head["arrays"], memoryview(data)[begin:])
    names, values, lines = head["extras"]
    version = head["version"]
    columns = {key: Column(read.at(rows), read.at(held), read.at(where)) for key, held, rows, where in head["columns"]}
    taken, ignored, lost, samples = head["lines"]
    return Run(
        id=head["id"], name=head["name"], format=head["format"], framework=head["framework"],
        step_axis=head["step_axis"], steps=tuple(read.at(head["steps"])), row_lines=tuple(read.at(head["row_lines"])),
        columns=columns, missing=tuple(Missing(*one) for one in head["missing"]),
        warnings=tuple(note_from_json(one) for one in head["warnings"]),
        lines=LineCounts(taken, ignored, lost, tuple(samples)),
        extras={name: (value, line) for name, value, line in zip(names, read.at(values), lines, strict=True)},
        version=Version(version["since"], version["until"], tuple(version["evidence"])) if version else None,
    )  # fmt: skip


class _Writer:
    """Sequences of numbers, each once, and what they are.

    A shape is ``[container, code, count, length…]``: the container is ``l`` (list), ``t`` (tuple) or an array's type
    code; the code is ``d``, ``q``, ``r`` (begin and step of an even sequence instead of data) or ``m`` (a mixture).
    """

    def __init__(self) -> None:
        self.shapes: list[list[Any]] = []
        self.data: list[bytes] = []
        self._known: dict[tuple[Any, ...], int] = {}
        self._by_id: dict[int, tuple[object, int]] = {}

    def shared(self, values: Sequence[int]) -> int:
        """The place of a sequence that others may equal."""
        known = self._by_id.get(id(values))
        if known is None:
            shape, data = _encoded(values)
            name = (*map(str, shape), *data)
            place = self._known.get(name)
            if place is None:
                place = self._known[name] = self._add(shape, data)
            known = self._by_id[id(values)] = (values, place)  # held, so that its id stays its own
        return known[1]

    def numbers(self, values: Sequence[Number]) -> int:
        """The place of a sequence of its own."""
        return self._add(*_encoded(values))

    def _add(self, shape: list[Any], data: list[bytes]) -> int:
        self.shapes.append([*shape, *map(len, data)])
        self.data += data
        return len(self.shapes) - 1


class _Reader:
    """The sequences that a writer kept; each is made once and shared."""

    def __init__(self, shapes: Sequence[Sequence[Any]], data: memoryview) -> None:
        self.made: list[Any] = []
        at = 0
        for container, code, count, *rest in shapes:
            if code == "r":
                begin, step = rest
                values: Any = range(begin, begin + count * step, step) if step else [begin] * count
            else:
                parts = []
                for length in rest:
                    if at + length > len(data):
                        raise DamagedRun("the data end early")
                    parts.append(bytes(data[at : at + length]))
                    at += length
                values = _mixed(parts) if code == "m" else _array(code, parts[0])
            if len(values) != count:
                raise DamagedRun("a sequence has another length")
            self.made.append(_contained(container, values))

    def at(self, place: int) -> Any:
        """The sequence at a place."""
        return self.made[place]


def _encoded(values: Sequence[Number]) -> tuple[list[Any], list[bytes]]:
    """Shape without lengths, and data."""
    container = values.typecode if isinstance(values, array) else "t" if isinstance(values, tuple) else "l"
    count = len(values)
    if isinstance(values, array) and values.typecode in "dq":
        code, held = values.typecode, values
    else:
        kinds = set(map(type, values))
        if kinds <= {int}:
            try:
                code, held = "q", array("q", values)
            except OverflowError:
                return [container, "m", count], _mixture(values)
        elif kinds == {float}:
            code, held = "d", array("d", values)
        else:
            return [container, "m", count], _mixture(values)
    if code == "q" and count:
        step = held[1] - held[0] if count > 1 else 0
        if held == array("q", _even(held[0], step, count)):
            return [container, "r", count, held[0], step], []
    return [container, code, count], [_transposed(held)]


def _even(begin: int, step: int, count: int) -> Sequence[int]:
    end = begin + step * (count - 1)
    if not -(2**63) <= end < 2**63:
        return ()
    return range(begin, begin + step * count, step) if step else [begin] * count


def _mixture(values: Sequence[Number]) -> list[bytes]:
    """The kind of each (0 double, 1 integer, 2 truth), the doubles, and the rest as JSON."""
    kinds = bytes(2 if isinstance(v, bool) else 1 if isinstance(v, int) else 0 for v in values)
    doubles = array("d", [float(v) for v, kind in zip(values, kinds, strict=True) if kind == 0])
    whole = [str(int(v)) for v, kind in zip(values, kinds, strict=True) if kind]
    return [kinds, _transposed(doubles), ",".join(whole).encode("ascii")]


def _mixed(parts: Sequence[bytes]) -> list[Number]:
    kinds, doubles, whole = parts[0], iter(_array("d", parts[1])), iter(parts[2].split(b","))
    return [next(doubles) if kind == 0 else int(next(whole)) if kind == 1 else bool(int(next(whole))) for kind in kinds]


def _transposed(held: array[Any]) -> bytes:
    """The bytes of numbers (little endian), first bytes first."""
    if sys.byteorder == "big":
        held = held[:]
        held.byteswap()
    data = held.tobytes()
    return b"".join(data[at::8] for at in range(8))


def _array(code: str, data: bytes) -> array[Any]:
    count = len(data) // 8
    plain = bytearray(len(data))
    for at in range(8):
        plain[at::8] = data[at * count : (at + 1) * count]
    held: array[Any] = array("q" if code == "q" else "d")
    held.frombytes(plain)
    if sys.byteorder == "big":
        held.byteswap()
    return held


def _contained(container: str, values: Any) -> Any:
    if container == "t":
        return tuple(values)
    if container == "l":
        return values if isinstance(values, list) else values.tolist() if isinstance(values, array) else list(values)
    return values if isinstance(values, array) and values.typecode == container else array(container, values)


def same_run(one: Run, other: Run) -> bool:
    """Whether two runs are alike to the bit: NaN equals NaN of the same bits, ``1`` is not ``1.0``."""
    return bool(_form(one) == _form(other))


def _form(run: Run) -> Any:
    def bits(value: Number) -> tuple[str, Any]:
        return (type(value).__name__, struct.pack(">d", value) if isinstance(value, float) else value)

    columns = [
        (key, list(column.rows), list(map(bits, column.values)), list(column.lines))
        for key, column in run.columns.items()
    ]
    extras: Mapping[str, tuple[Number, int]] = run.extras
    return (
        run.id, run.name, run.format, run.framework, run.step_axis, tuple(run.steps), tuple(run.row_lines), columns,
        run.missing, [(*note_to_json(note),) for note in run.warnings], asdict(run.lines),
        [(name, bits(value), line) for name, (value, line) in extras.items()], run.version,
    )  # fmt: skip
