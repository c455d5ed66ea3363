"""Joins a record that a terminal broke over several lines, at any column, inside keys and numbers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from assistant.parsing.numbers import decimals, significant_digits
from assistant.parsing.repair import strip_ray
from assistant.parsing.segments import SEPARATOR, Header, is_open, is_whole, read_segment

WIDEST_TERMINAL: Final = 1000
"""Longer lines were not broken by a terminal."""

_DIGITS_ONLY: Final = re.compile(r"[0-9.eE+-]{1,24}")
_MOST_PIECES: Final = 4000


@dataclass(slots=True)
class Joined:
    """A record's text from ``step:`` on and where its pieces came from.

    Attributes:
        text: the pieces, joined.
        starts: offset in the text at which each piece begins.
        entries: index of each piece in the document's lines.
        full: length of the joined lines with the first line's prefix.
    """

    text: str
    starts: list[int] = field(default_factory=lambda: [0])
    entries: list[int] = field(default_factory=list)
    full: int = 0

    def entry(self, offset: int) -> int:
        """Index of the line on which an offset of the text lies."""
        if len(self.starts) == 1:
            return self.entries[0]
        return self.entries[bisect_right(self.starts, offset) - 1]


def join_record(lines: Sequence[str], index: int, starts: Mapping[int, Header], widest: int) -> Joined:
    """The record that starts at a line, with the lines that continue it.

    A line continues a record if, put behind it, the whole keeps verl's grammar; prose, progress bars and
    new records do not. Digits alone after a whole number are taken only where the line before is as wide
    as the terminal.

    Args:
        lines: the document's lines.
        index: where the record starts.
        starts: the lines that start a record if looked at alone, by index.
        widest: length of the longest line that starts a record.
    """
    header = starts[index]
    joined = Joined(header.line[header.start :], entries=[index], full=len(lines[index]))
    edge = _Edge(len(lines[index]), widest, header.step)
    for at in range(index + 1, min(len(lines), index + _MOST_PIECES)):
        piece = lines[at]
        if not piece or piece.isspace():
            break
        glue = _continues(joined.text, piece, starts.get(at), edge)
        if glue is None:
            break
        joined.starts.append(len(joined.text) + len(glue))
        joined.entries.append(at)
        joined.text += glue + piece
        joined.full += len(glue) + len(piece)
        edge.equal = edge.equal + 1 if abs(len(piece) - edge.width) <= 1 else 0
        edge.width = len(piece)
    return joined


@dataclass(slots=True)
class _Edge:
    """The line to which a piece would be put.

    Attributes:
        width: its length.
        widest: length of the longest line that starts a record.
        step: the record's step.
        equal: how many lines of the record before it are as long.
    """

    width: int
    widest: int
    step: int
    equal: int = 0


def _continues(text: str, piece: str, start: Header | None, edge: _Edge) -> str | None:
    """The blank (or nothing) to put between, if the piece continues the text; else ``None``."""
    cut = text.rfind(SEPARATOR)
    tail = text[cut + len(SEPARATOR) :] if cut >= 0 else text
    if start is not None:
        if not _splits_step_key(text, tail, start, edge):
            return None
    elif piece.startswith(("(", "[")) and strip_ray(piece)[0] is not None:
        return None
    glues = [""]
    if text.endswith(" -") or (piece.startswith("- ") and not text.endswith(" ")):
        glues.append(" ")
    for glue in glues:
        segments = (tail + glue + piece).split(SEPARATOR)
        if all(is_whole(segment) for segment in segments[:-1]) and _fits(tail, piece, segments, edge, text):
            return glue
    return None


def _splits_step_key(text: str, tail: str, start: Header, edge: _Edge) -> bool:
    """Whether ``step:3 - …`` ends a key such as ``training/global_`` and is no record of its own.

    ``global_step`` repeats the record's step, where a record that follows a cut line has another; any other
    key counts only inside a wrapped record, and if what follows is not how this record itself begins.
    """
    if start.start or start.tag or edge.width > WIDEST_TERMINAL or ":" in tail or not tail.endswith(("_", "/")):
        return False
    if start.step == edge.step:
        return True
    first, second = text.split(SEPARATOR, 2)[1:2], start.line.split(SEPARATOR, 2)[1:2]
    return edge.equal > 0 and [key.split(":")[0] for key in first] != [key.split(":")[0] for key in second]


def _fits(tail: str, piece: str, segments: list[str], edge: _Edge, text: str) -> bool:
    """Whether the last of the joined segments is one, and the piece is no text of its own."""
    last = segments[-1]
    if len(segments) > 1:
        return is_whole(last.rstrip()) or is_open(last)
    if is_whole(last.rstrip()):
        if not is_whole(tail):
            return edge.width <= WIDEST_TERMINAL or not piece.strip().isdigit()
        return edge.width <= WIDEST_TERMINAL and _digits_belong(text, piece.strip(), edge)
    full = edge.width - 1 <= len(piece) <= edge.width <= WIDEST_TERMINAL
    return full and is_open(last)


def _digits_belong(text: str, piece: str, edge: _Edge) -> bool:
    """Whether digits alone on a line finish a number that could as well stand for itself."""
    if _DIGITS_ONLY.fullmatch(piece) is None or (edge.equal == 0 and edge.width < edge.widest):
        return False
    tail = text[text.rfind(SEPARATOR) + len(SEPARATOR) :]
    before, after = read_segment(tail), read_segment(tail + piece)
    if before is None or after is None:
        return False
    places = decimals(before[1])
    if places is not None and "e" not in piece and _always_three(text, tail):
        return places < 3 and decimals(after[1]) == 3
    return significant_digits(after[1]) <= 17 or significant_digits(before[1]) == significant_digits(after[1])


def _always_three(text: str, tail: str) -> bool:
    """Whether all numbers of a record but the last are printed with three decimals."""
    numbers = re.findall(r":-?[0-9.e-]+(?= - )", text[: len(text) - len(tail)])
    shown = [number[1:] for number in numbers[1:]]
    return len(shown) >= 3 and all(decimals(number) == 3 for number in shown)
