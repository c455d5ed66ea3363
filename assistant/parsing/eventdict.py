"""Dictionaries within a document: with the lines over which a terminal broke them, and where their values stand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assistant.parsing.dictscan import ScannedDict, scan_dict
from assistant.parsing.repair import Document

_MOST_LINES: Final = 80
_MOST_TEXT: Final = 40_000
_LONGEST_PREFIX: Final = 160


@dataclass(frozen=True, slots=True)
class Placed:
    """A dictionary within a document.

    Attributes:
        flat: what was read; its offsets count in the joined pieces.
        entry: index of the entry on which it begins.
        offset: where it begins on that entry.
        last: index of the entry on which it ends.
        stop: where it ends on that entry.
        starts: offset of each joined piece.
        numbers: line number of each joined piece.
        raw: its text, joined.
        tail: what follows on the last line (at most 200 characters).
    """

    flat: ScannedDict
    entry: int
    offset: int
    last: int
    stop: int
    starts: Sequence[int]
    numbers: Sequence[int]
    raw: str
    tail: str

    def line(self, at: int) -> int:
        """The original line of an offset in the joined text."""
        return self.numbers[bisect_right(self.starts, at) - 1]


def place_dict(document: Document, entry: int, offset: int, line: str) -> Placed:
    """Reads the dictionary that begins on an entry, with the lines over which a terminal broke it.

    Lines are joined only while the dictionary is open and only if the joined text goes on as one; a line that
    begins a dictionary of its own, or is blank, ends the search. What stands before the brace on the first line (a
    launcher's prefix, a comment mark) and again on each further line is left out there.

    Args:
        document: the text.
        entry: index of the entry.
        offset: offset of the brace on it.
        line: the entry's text.
    """
    flat = scan_dict(line, offset)
    numbers = document.numbers
    tail = line[flat.end : flat.end + 200]
    alone = Placed(flat, entry, offset, entry, flat.end, (0,), (numbers[entry],), line[offset : flat.end], tail)
    if flat.state != "open":
        return alone
    pieces, starts, skipped = [_unpadded(line)], [0], [0]
    size = len(pieces[0])
    prefix = line[:offset] if offset <= _LONGEST_PREFIX and not line[:offset].isspace() else ""
    for further in range(entry + 1, min(len(document.lines), entry + _MOST_LINES)):
        piece = document.lines[further]
        skip = len(prefix) if piece.startswith(prefix) else 0
        piece = piece[skip:]
        front = piece[:80].lstrip()
        if not front or front[0] == "{" or "%|" in front or size > _MOST_TEXT:
            break
        pieces.append(_unpadded(piece))
        starts.append(size)
        skipped.append(skip)
        size += len(pieces[-1])
    text = "".join(pieces)
    joined = scan_dict(text, offset)
    if joined.state != "closed":
        if len(joined.items) <= len(flat.items):
            return alone
        final = joined.items[-1]
        held = bisect_right(starts, final.at + max(len(final.text) - 1, 0))
        pieces, starts = pieces[:held], starts[:held]
        text = "".join(pieces)
        joined = scan_dict(text, offset)
    last = bisect_right(starts, joined.end - 1) - 1
    stop = joined.end - starts[last] + skipped[last]
    own = tuple(numbers[entry : entry + len(pieces)])
    tail = document.lines[entry + last][stop : stop + 200]
    return Placed(joined, entry, offset, entry + last, stop, starts, own, text[offset : joined.end], tail)


def _unpadded(piece: str) -> str:
    return piece.rstrip() if piece.endswith("  ") else piece
