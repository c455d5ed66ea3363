"""A dictionary of metrics behind a heading, possibly cut, or broken over lines by a terminal.

Texts, lists and dictionaries inside are stepped over.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from assistant.model.run import MissingReason, Number
from assistant.parsing.dictscan import scan_dict
from assistant.parsing.logprefix import has_prefix
from assistant.parsing.numbers import read_number

_WIDEST_TERMINAL: Final = 1000
_MOST_PIECES: Final = 400
_MOST_TRIES: Final = 8


@dataclass(slots=True)
class Flat:
    """What stands in a dict.

    Attributes:
        cells: key, value and offset of the value's text.
        bad: key, text and offset of values that are ``None``.
        others: how many values are texts, lists or dicts.
        half: why the last cell is not there, its key (if known), its text and its offset.
        closed: whether the closing brace is there.
        broken: whether something stands in the dict that no dict holds.
        end: offset behind the last character read.
    """

    cells: list[tuple[str, Number, int]] = field(default_factory=list)
    bad: list[tuple[str, str, int]] = field(default_factory=list)
    others: int = 0
    half: tuple[MissingReason, str | None, str, int] | None = None
    closed: bool = False
    broken: bool = False
    end: int = 0


def read_flat(text: str, at: int) -> Flat:
    """The dict whose opening brace stands at an offset of the text."""
    scanned = scan_dict(text, at, deep=True)
    flat = Flat(closed=scanned.state == "closed", end=scanned.end)
    flat.broken = scanned.state in {"broken", "nested"}
    for item in scanned.items:
        if item.kind == "number":
            value = read_number(item.text)
            if value is None:
                flat.bad.append((item.key, item.text[:80], item.at))
            else:
                flat.cells.append((item.key, value, item.at))
        elif item.kind == "none":
            flat.bad.append((item.key, item.text, item.at))
        else:
            flat.others += 1
    if scanned.state == "open" and scanned.reason is not None:
        flat.half = (scanned.reason, scanned.key, scanned.rest, scanned.end)
    return flat


@dataclass(slots=True)
class Printed:
    """A dict with the lines on which it stands.

    Attributes:
        flat: its cells; offsets count in the joined text.
        entries: index of each line it stands on.
        starts: offset at which each of these lines begins.
        text: the lines, joined.
    """

    flat: Flat
    entries: list[int]
    starts: list[int]
    text: str

    def entry(self, offset: int) -> int:
        """Index of the line on which an offset lies."""
        return self.entries[bisect_right(self.starts, offset) - 1]


def _is_next_entry(before: str, piece: str) -> bool:
    """Whether a line begins an entry of its own, as ``pprint`` and people break a dict, whatever its length."""
    return before.rstrip()[-1:] in {",", "{"} and piece.lstrip()[:1] in {"'", '"', "}"}


def read_printed(
    lines: Sequence[str], index: int, body: str, brace: int, is_start: Callable[[str], bool]
) -> Printed | None:
    """The dict that a line opens, joined with the lines that a terminal made of its rest.

    Args:
        lines: the document's lines.
        index: the line on which it begins.
        body: the end of that line, from somewhere before the brace.
        brace: offset of the opening brace in ``body``; it may lie in the following line.
        is_start: whether a line begins a record of its own.
    """
    printed = Printed(Flat(), [index], [0], body)
    if brace < len(body):
        printed.flat = read_flat(body, brace)
        if printed.flat.closed or printed.flat.broken:
            return printed
    width = len(lines[index])
    if width > _WIDEST_TERMINAL:
        return printed if brace < len(body) else None
    text, starts, entries = [body], [0], [index]
    size = len(body)
    best = printed if brace < len(body) else None
    tries = 0
    for at in range(index + 1, min(len(lines), index + _MOST_PIECES)):
        piece = lines[at]
        if not piece or piece.isspace() or is_start(piece) or has_prefix(piece):
            break
        if len(piece) > width + 1 and not _is_next_entry(text[-1], piece):
            break
        starts.append(size)
        entries.append(at)
        text.append(piece)
        size += len(piece)
        ends = len(piece) < width - 1
        if "}" in piece or ends or at + 1 == len(lines):
            whole = "".join(text)
            if brace >= len(whole) or tries >= _MOST_TRIES:
                break
            tries += 1
            flat = read_flat(whole, brace)
            if flat.broken:
                break
            if flat.closed and whole[flat.end :].strip():
                break
            best = Printed(flat, entries[:], starts[:], whole)
            if flat.closed:
                break
    return best
