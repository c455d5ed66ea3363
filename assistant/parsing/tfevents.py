"""TensorBoard event files: the scalars of a binary log, read without TensorFlow."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from assistant.model.run import Note, Number, Run
from assistant.parsing.frameworks import detect_framework
from assistant.parsing.stepbook import Book, Cell
from assistant.parsing.table import build_run

_HEAD: Final = struct.Struct("<QI")
_BIGGEST: Final = 1 << 31
_NUMBERS: Final = {1: "f", 2: "d", 3: "i", 4: "B", 5: "h", 6: "b", 9: "q", 10: "?", 17: "H", 19: "e", 22: "I", 23: "Q"}
_FLOATS: Final = {1, 2, 14, 19}
_LISTS: Final = {5: "f", 6: "d", 7: "varint", 10: "varint", 11: "varint", 13: "half", 16: "varint", 17: "varint"}

Field = tuple[int, int, int | bytes]


def is_tfevents(data: bytes) -> bool:
    """Whether bytes are a TensorBoard event file: their first record is an event with a file version or a step."""
    if len(data) < _HEAD.size + 4:
        return False
    size, _ = _HEAD.unpack_from(data)
    if not 9 <= size <= 1 << 16 or _HEAD.size + size > len(data):
        return False
    body = data[_HEAD.size : _HEAD.size + size]
    return body[:1] == b"\x09" and (b"brain.Event:" in body[:64] or next(_fields(body), None) is not None)


def read_tfevents(data: bytes, name: str) -> tuple[Run, ...]:
    """The scalars of an event file as one run; no run if it holds none. Never raises.

    Args:
        data: the file's bytes.
        name: for display.

    Returns:
        A run with one row a step; the "line" of a cell is the number of its record, from 1.
    """
    book = Book()
    number = 0
    broken = False
    for number, body in enumerate(_records(data), 1):
        if body is None:
            broken = True
            break
        step, values = _event(body)
        for tag, value in values:
            row = book.rows[-1] if book.rows else None
            again = row is not None and row.step == step and tag in row.values
            if row is None or row.step != step or again:
                book.add(step, [Cell(tag, value, "")], number)
            else:
                row.values[tag] = value
                row.lines[tag] = number
    if not book.rows:
        return ()
    notes = [
        Note(
            "records",
            "这是 TensorBoard 的二进制事件文件：行号是记录的序号；数值按文件中存储的（多为 32 位浮点）精确读出。",
            "This is a binary TensorBoard event file: a line number is the number of a record; values are exactly "
            "those the file stores (mostly 32-bit floats).",
        )
    ]
    if broken:
        notes.append(
            Note(
                "text_cut",
                f"文件在第 {number} 条记录处中断，这条记录未采用。",
                f"The file stops inside record {number}, which was left out.",
                number,
            )
        )
    keys = list(dict.fromkeys(key for row in book.rows for key in row.values))
    sb3 = any(key.startswith(("rollout/ep_", "time/fps")) for key in keys)
    run = build_run(
        book.rows,
        id="r0",
        name=name,
        format="tfevents",
        framework="Stable-Baselines3" if sb3 else detect_framework(keys),
        step_axis="step",
        warnings=[*notes, *book.notes()],
    )
    return (run,)


def _records(data: bytes) -> Iterator[bytes | None]:
    """The records' bodies; ``None`` for a last one that is not complete. Checksums are not looked at."""
    at = 0
    while at < len(data):
        if at + _HEAD.size > len(data):
            yield None
            return
        size, _ = _HEAD.unpack_from(data, at)
        start = at + _HEAD.size
        if size > _BIGGEST or start + size > len(data):
            yield None
            return
        yield data[start : start + size]
        at = start + size + 4


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A variable-length integer and the offset behind it.

    Raises:
        ValueError: there is none.
    """
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
    raise ValueError("varint")


def _fields(data: bytes) -> Iterator[Field]:
    """Number, wire type and raw value of each field of a message, up to the first that is none."""
    at = 0
    while at < len(data):
        try:
            key, at = _varint(data, at)
            wire = key & 7
            if wire == 0:
                number, at = _varint(data, at)
                yield key >> 3, wire, number
                continue
            if wire == 2:
                size, at = _varint(data, at)
            elif wire in (1, 5):
                size = 8 if wire == 1 else 4
            else:
                return
        except ValueError:
            return
        if at + size > len(data):
            return
        yield key >> 3, wire, data[at : at + size]
        at += size


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _event(body: bytes) -> tuple[int, list[tuple[str, Number]]]:
    """The step of an event and its scalars."""
    step = 0
    values: list[tuple[str, Number]] = []
    for field, _, value in _fields(body):
        if field == 2 and isinstance(value, int):
            step = _signed(value)
        elif field == 5 and isinstance(value, bytes):
            for inner, _, summary in _fields(value):
                scalar = _scalar(summary) if inner == 1 and isinstance(summary, bytes) else None
                if scalar is not None:
                    values.append(scalar)
    return step, values


def _scalar(summary: bytes) -> tuple[str, Number] | None:
    """Tag and value of a summary, ``None`` if it is an image, a histogram, a text …"""
    tag = ""
    value: Number | None = None
    plugin = "scalars"
    for field, wire, raw in _fields(summary):
        if field == 1 and isinstance(raw, bytes):
            tag = raw.decode("utf-8", errors="replace")
        elif field == 2 and wire == 5 and isinstance(raw, bytes):
            value = struct.unpack("<f", raw)[0]
        elif field == 8 and isinstance(raw, bytes):
            value = _tensor(raw)
        elif field == 9 and isinstance(raw, bytes):
            plugin = _plugin(raw) or plugin
    if value is None or not tag or plugin != "scalars":
        return None
    return tag, value


def _plugin(metadata: bytes) -> str:
    """Name of the plugin that a summary is for."""
    for field, _, raw in _fields(metadata):
        if field == 1 and isinstance(raw, bytes):
            for inner, _, name in _fields(raw):
                if inner == 1 and isinstance(name, bytes):
                    return name.decode("utf-8", errors="replace")
    return ""


def _tensor(raw: bytes) -> Number | None:
    """The value of a tensor that holds one number."""
    kind = 0
    content = b""
    listed: list[Number] = []
    for field, wire, value in _fields(raw):
        if field == 1 and isinstance(value, int):
            kind = value
        elif field == 2 and isinstance(value, bytes) and _size(value) != 1:
            return None
        elif field == 4 and isinstance(value, bytes):
            content = value
        elif field in _LISTS:
            listed += _listed(_LISTS[field], wire, value)
    code = _NUMBERS.get(kind)
    if content and kind == 14 and len(content) == 2:
        return float(struct.unpack("<f", b"\0\0" + content)[0])
    if content:
        if code is None or len(content) != struct.calcsize("<" + code):
            return None
        number = struct.unpack("<" + code, content)[0]
        return float(number) if kind in _FLOATS else int(number)
    if len(listed) != 1:
        return None
    number = listed[0]
    if kind in (14, 19) and isinstance(number, int):
        packed = struct.pack("<H", number & 0xFFFF)
        return float(struct.unpack("<e", packed)[0] if kind == 19 else struct.unpack("<f", b"\0\0" + packed)[0])
    return number if code is not None else None


def _size(shape: bytes) -> int:
    """How many numbers a tensor of a shape holds."""
    size = 1
    for field, _, dimension in _fields(shape):
        if field == 2 and isinstance(dimension, bytes):
            lengths = [value for inner, _, value in _fields(dimension) if inner == 1 and isinstance(value, int)]
            size *= lengths[0] if lengths else 0
    return size


def _listed(kind: str, wire: int, value: int | bytes) -> list[Number]:
    """The numbers of a repeated field, packed or not (the first two are enough)."""
    if isinstance(value, int):
        return [_signed(value)]
    if kind in ("f", "d"):
        width = 4 if kind == "f" else 8
        return [
            struct.unpack_from("<" + kind, value, at)[0]
            for at in range(0, min(len(value), 2 * width) - width + 1, width)
        ]
    numbers: list[Number] = []
    at = 0
    while wire == 2 and at < len(value) and len(numbers) < 2:
        try:
            number, at = _varint(value, at)
        except ValueError:
            break
        numbers.append(_signed(number))
    return numbers
