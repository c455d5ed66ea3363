"""TensorBoard event files: records and protocol buffer fields, read by hand."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from evals.parsing.model import ANYWHERE, Cell, Event, Reference


def read_events(data: bytes, reference: Reference) -> bool:
    """Adds the scalars of an event file; ``False`` if it is none."""
    if len(data) < 16 or struct.unpack_from("<Q", data)[0] > len(data) or b"brain.Event" not in data[:64]:
        return False
    at = 0
    while at + 12 <= len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        record = data[at + 12 : at + 12 + size]
        at += 12 + size + 4
        if len(record) < size:
            break
        fields = list(_fields(record))
        step = next((value for number, value in fields if number == 2 and isinstance(value, int)), 0)
        cells = []
        for number, summary in fields:
            if number == 5 and isinstance(summary, bytes):
                cells += [
                    _cell(value, step) for kind, value in _fields(summary) if kind == 1 and isinstance(value, bytes)
                ]
        held = tuple(cell for cell in cells if cell is not None)
        if held:
            reference.events.append(Event("TensorBoard", 0, ANYWHERE, held))
    return True


def _cell(value: bytes, step: int) -> Cell | None:
    """``Summary.Value``: field 1 is the tag, field 2 a simple value, field 8 a tensor whose field 5 is one."""
    fields = dict(_fields(value))
    tag, number, tensor = fields.get(1), fields.get(2), fields.get(8)
    if isinstance(tensor, bytes):
        packed = dict(_fields(tensor)).get(5)
        number = struct.unpack("<f", packed)[0] if isinstance(packed, bytes) and len(packed) == 4 else packed
    if not isinstance(tag, bytes) or not isinstance(number, float):
        return None
    return Cell(tag.decode(), number, 0, ANYWHERE, step)


def _fields(data: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """Numbers and values of a message's fields; a group, or a text that is no message, ends it."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        value: int | float | bytes
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 2:
            size, at = _varint(data, at)
            value, at = data[at : at + size], at + size
        elif kind == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        else:
            return
        yield key >> 3, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            break
    return value, at
