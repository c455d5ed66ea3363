"""Flat dictionaries as ``print(dict)`` and ``json.dumps`` write them: one scanner, one pass, no evaluation.

A dictionary may be glued to other text, broken over lines by a terminal, or stop in the middle; a nested one is
no log event and is told as such.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from assistant.model.run import MissingReason
from assistant.parsing.numbers import NUMBER
from assistant.parsing.repair import Document

ItemKind = Literal["number", "text", "none", "flag", "list"]

_ITEM: Final = (
    r"\s{0,400}+(?:'([^'\"\\{}]{1,200}+)'|\"([^'\"\\{}]{1,200}+)\")\s{0,400}+:\s{0,400}+(?:"
    rf"({NUMBER})"
    rf"|(?:np\.|numpy\.|torch\.)?+[A-Za-z_]\w{{0,30}}+\(({NUMBER})(?:,[^(){{}}]{{0,80}}+)?+\)"
    r"|'([^'\\]{0,4000}+)'|\"((?:[^\"\\]|\\.){0,4000}+)\""
    r"|(None|null)|(True|False|true|false)|(\[[^\[\]{}]{0,4000}+\])"
    r")\s{0,400}+"
)
_CELL: Final = re.compile(rf"{_ITEM}([,}}])")
_LAST: Final = re.compile(rf"{_ITEM}(\Z)")
_KINDS: Final[tuple[ItemKind, ...]] = ("number", "number", "text", "text", "none", "flag", "list")
_REST: Final = re.compile(
    r"\s{0,400}+(?:(?P<quote>['\"])(?P<key>[^'\"\\{}]{0,200}+)"
    r"(?P<named>(?P=quote)(?:\s{0,80}+:\s{0,80}+(?P<value>['\"]?+[^'\",{}\[\]]{0,60}+['\"]?+))?+)?+)?+"
)
_MOST_LINES: Final = 80
_MOST_TEXT: Final = 40_000


@dataclass(frozen=True, slots=True)
class Item:
    """One ``key: value`` of a dictionary.

    Attributes:
        key: as spelled.
        kind: what the value is; a number inside ``np.float64(…)`` is a number, a quoted one is a text.
        text: the value's text without quotes or wrapper.
        at: where the value's text begins.
    """

    key: str
    kind: ItemKind
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class EventDict:
    """What was read from an opening brace on.

    Attributes:
        start: offset of the brace.
        end: offset after the closing brace, or where reading stopped.
        items: the whole items.
        state: ``closed``; ``open`` (the text ends inside); ``broken`` (other text follows inside);
            ``nested`` (a value is itself a dictionary or a list of them).
        key: key of the item in which it stops, if that key is whole.
        rest: what stood at the stop (at most 80 characters).
        reason: what the stop makes of that item, ``None`` between items.
    """

    start: int
    end: int
    items: tuple[Item, ...]
    state: Literal["closed", "open", "broken", "nested"]
    key: str | None = None
    rest: str = ""
    reason: MissingReason | None = None


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
        tail: what follows on the last line (at most 200 characters).
    """

    flat: EventDict
    entry: int
    offset: int
    last: int
    stop: int
    starts: Sequence[int]
    numbers: Sequence[int]
    tail: str

    def line(self, at: int) -> int:
        """The original line of an offset in the joined text."""
        return self.numbers[bisect_right(self.starts, at) - 1]


def scan_dict(text: str, start: int) -> EventDict:
    """Reads a dictionary.

    Args:
        text: any text.
        start: offset of an opening brace in it.

    Returns:
        Its items and how it ends; time is linear in what it consumes.
    """
    items: list[Item] = []
    at = start + 1
    while True:
        cell = _CELL.match(text, at)
        if cell is None:
            break
        items.append(_item(cell))
        at = cell.end()
        if cell[10] == "}":
            return EventDict(start, at, tuple(items), "closed")
    if len(text) - at < _MOST_TEXT and (cell := _LAST.match(text, at)) is not None and cell[3] is None:
        return EventDict(start, len(text), (*items, _item(cell)), "open")
    return _stopped(text, start, at, tuple(items))


def _item(cell: re.Match[str]) -> Item:
    index = next(at for at in range(3, 10) if cell[at] is not None)
    return Item(cell[1] or cell[2], _KINDS[index - 3], cell[index], cell.start(index))


def _stopped(text: str, start: int, at: int, items: tuple[Item, ...]) -> EventDict:
    rest = _REST.match(text, at)
    end = rest.end() if rest is not None else at
    if rest is None or rest["quote"] is None:
        return EventDict(start, end, items, "open" if end >= len(text) else "broken")
    at_end = end >= len(text) or (len(text) - end <= 400 and not text[end:].strip())
    state: Literal["open", "broken"] = "open" if at_end else "broken"
    if rest["named"] is None:
        return EventDict(start, end, items, state, None, rest["key"][:80], "half_key")
    value = (rest["value"] or "").strip().strip("'\"")
    if not value and end < len(text) and text[end] in "{[(":
        return EventDict(start, end, items, "nested", rest["key"])
    reason: MissingReason = "half_wrapper" if "(" in value else "half_value"
    return EventDict(start, end, items, state, rest["key"], value[:80], reason)


def place_dict(document: Document, entry: int, offset: int, line: str) -> Placed:
    """Reads the dictionary that begins on an entry, with the lines over which a terminal broke it.

    Lines are joined only while the dictionary is open and only if the joined text goes on as one; a line that
    begins a dictionary of its own, or is blank, ends the search.

    Args:
        document: the text.
        entry: index of the entry.
        offset: offset of the brace on it.
        line: the entry's text.
    """
    flat = scan_dict(line, offset)
    numbers = document.numbers
    alone = Placed(flat, entry, offset, entry, flat.end, (0,), (numbers[entry],), line[flat.end : flat.end + 200])
    if flat.state != "open":
        return alone
    pieces, starts = [_unpadded(line)], [0]
    size = len(pieces[0])
    for further in range(entry + 1, min(len(document.lines), entry + _MOST_LINES)):
        piece = document.lines[further]
        front = piece[:80].lstrip()
        if not front or front[0] == "{" or "%|" in front or size > _MOST_TEXT:
            break
        pieces.append(_unpadded(piece))
        starts.append(size)
        size += len(pieces[-1])
    joined = scan_dict("".join(pieces), offset)
    if joined.state != "closed":
        if len(joined.items) <= len(flat.items):
            return alone
        held = bisect_right(starts, joined.items[-1].at)
        pieces, starts = pieces[:held], starts[:held]
        joined = scan_dict("".join(pieces), offset)
    last = bisect_right(starts, joined.end - 1) - 1
    stop = joined.end - starts[last]
    own = tuple(numbers[entry : entry + len(pieces)])
    return Placed(joined, entry, offset, entry + last, stop, starts, own, pieces[last][stop : stop + 200])


def _unpadded(piece: str) -> str:
    return piece.rstrip() if piece.endswith("  ") else piece
