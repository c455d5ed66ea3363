"""Many whole verl records at once: a block of lines is rewritten to one JSON array.

A block is only read if nothing about it is peculiar; otherwise its lines go one by one, with the same result. What
makes it quick: few passes over many lines, replacements that keep the length (they copy nothing), and values that are
checked and converted as a whole. Lines like those of many records before are read by :mod:`assistant.parsing.verlforms`
in half the time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain, filterfalse, groupby
from struct import Struct
from typing import Any, Final

import orjson

WRAPPERS: Final = tuple(f":np.{kind}(".encode() for kind in ("float64", "float32", "int64", "int32"))
_BLANKS: Final = {wrapper: b":" + b"\t" * (len(wrapper) - 1) for wrapper in WRAPPERS}
_MISPLACED: Final = re.compile(rb"\)[^,\n]")
_REFUSED: Final = (b'"', b"\\", b"\t", b"\r")
_HUGE: Final = 2.0**62
_MOST_STEPS: Final = 10**15
_NUMBERS: Final = frozenset({int, float})


@dataclass(frozen=True)
class Group:
    """Consecutive records with the same keys in the same order, and of the same types.

    Attributes:
        keys: the metrics, without the step.
        types: of each metric: ``float`` or ``int``.
        steps: of each record.
        packed: each record's step and values, eight bytes each, as ``struct`` packs ``q`` and ``d``.
    """

    keys: tuple[str, ...]
    types: tuple[type, ...]
    steps: list[int]
    packed: bytes

    def without(self, dropped: Collection[int]) -> bytes:
        """``packed`` without some of the records, by index."""
        size = 8 + 8 * len(self.keys)
        return b"".join(
            [self.packed[at * size : (at + 1) * size] for at in range(len(self.steps)) if at not in dropped]
        )


def read_records(text: bytes) -> list[Group] | None:
    """The cells of whole records.

    Args:
        text: lines ``step:N - key:value - …`` without launcher's prefix, joined by line feeds, none at the end.

    Returns:
        The groups in the order of the lines; ``None`` if any line needs a closer look.
    """
    if not text.isascii() or any(mark in text for mark in _REFUSED):
        return None
    cells = _separate(text)
    if cells is None:
        return None
    json = cells.replace(b":", b'":')
    colons = len(json) - len(cells)
    json = b'[{"' + json.replace(b"\n", b'},{"') + b"}]"
    gaps = False
    try:
        rows: list[dict[str, Any]] = orjson.loads(json)
    except orjson.JSONDecodeError:
        if b"nan" not in text or b"null" in text:
            return None
        gaps = True
        try:
            rows = orjson.loads(json.replace(b":nan", b":null").replace(b"\tnan", b"\tnull"))
        except orjson.JSONDecodeError:
            return None
    if sum(map(len, rows)) != colons:  # a key that comes twice
        return None
    groups = []
    for keys, members in groupby(rows, tuple):
        group = pack_group(keys, list(chain.from_iterable(map(dict.values, members))), gaps=gaps)
        if group is None:
            return None
        groups.append(group)
    return groups


def _separate(text: bytes) -> bytes | None:
    """The lines with commas between the cells, and without wrappers; blanks take their place, so that little moves."""
    line = text.replace(b" - ", b',\t"')
    if b" " in line:
        return None
    if b"(" in line or b")" in line:
        opened = len(line) - len(line.replace(b"(", b""))
        sample = line[: line.find(b"\n")]
        for wrapper, blank in _BLANKS.items():
            if wrapper in sample:
                line = line.replace(wrapper, blank)
        for wrapper, blank in _BLANKS.items() if b"(" in line else ():
            line = line.replace(wrapper, blank)
        if b"(" in line or _MISPLACED.search(line):
            return None
        closed = len(line)
        line = line.replace(b")", b"")
        if closed - len(line) != opened:
            return None
    return line


def pack_group(keys: tuple[str, ...], values: list[Any], *, gaps: bool) -> Group | None:
    """Records with the same keys.

    Args:
        keys: ``step`` and the metrics.
        values: one record after the other, as JSON reads them.
        gaps: whether ``None`` stands for NaN.

    Returns:
        ``None`` if the keys are no record's, a metric is not always of one type, or a number may be no float.
    """
    if len(keys) < 2 or keys[0] != "step" or "" in keys:
        return None
    if gaps:
        values = [math.nan if value is None else value for value in values]
    width = len(keys)
    types = list(map(type, values[:width]))
    if types[0] is not int or not _NUMBERS.issuperset(types):
        return None
    if list(map(type, values)) != types * (len(values) // width):
        return None
    # An integer that JSON reads as a float is beyond this.
    if not math.hypot(*(filterfalse(math.isnan, values) if gaps else values)) < _HUGE:
        return None
    steps = values[::width]
    if min(steps) < 0 or max(steps) >= _MOST_STEPS:
        return None
    pack = Struct("".join("d" if kind is float else "q" for kind in types)).pack
    return Group(keys[1:], tuple(types[1:]), steps, b"".join(map(pack, *[iter(values)] * width)))
