"""Joins a record that a terminal broke over several lines, at any column, inside keys and numbers."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from assistant.parsing.numbers import decimals, significant_digits
from assistant.parsing.repair import strip_ray
from assistant.parsing.segments import SEPARATOR, WIDEST_TERMINAL, Header, is_open, is_whole, read_segment
from assistant.parsing.verlfront import quote_of

__all__ = ["WIDEST_TERMINAL", "Joined", "join_record"]

_DIGITS_ONLY: Final = re.compile(r"[0-9.eE+-]{1,24}")
_DIGIT: Final = re.compile("[0-9]")
_MOST_PIECES: Final = 4000
_LONGEST_LISTED: Final = 100_000
"""Records longer than this were not broken into lists by hand."""


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

    def part(self, begin: int, end: int) -> Joined:
        """A record of several that stand in the text."""
        first, last = bisect_right(self.starts, begin) - 1, bisect_left(self.starts, end)
        starts = [max(start - begin, 0) for start in self.starts[first:last]]
        return Joined(self.text[begin:end], starts, self.entries[first:last], end - begin)


@dataclass(frozen=True, slots=True)
class Prefix:
    """What stands before each line of a broken record.

    Attributes:
        quote: quote signs and blanks, as a quotation or an indented text has them.
        front: all that stands before the record; a log service or a launcher puts the like before each piece.
        shape: ``front`` up to a process's name, with zeros for its digits (times differ).
    """

    quote: str = ""
    front: str = ""
    shape: str = ""

    @classmethod
    def of(cls, line: str, header: Header) -> Prefix:
        """The prefix of the line on which a record starts."""
        body = header.line[header.start :]
        front = line[: len(line) - len(body)] if line.endswith(body) else ""
        named = front.find("pid=")
        outer = front[: max(front.rfind("(", 0, named), 0)] if named >= 0 else front
        return cls(quote_of(line), front, _DIGIT.sub("0", outer))

    def off(self, piece: str) -> str:
        """A piece without it."""
        if self.front and piece.startswith(self.front):
            return piece[len(self.front) :]
        size = len(self.shape)
        if size and _DIGIT.sub("0", piece[:size]) == self.shape:
            return piece[size:]
        return piece.removeprefix(self.quote)


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
    prefix = Prefix.of(lines[index], header)
    size = len(prefix.quote)
    edge = _Edge(len(lines[index]) - size, widest - size, header.step, len(prefix.front))
    for at in range(index + 1, min(len(lines), index + _MOST_PIECES)):
        piece = lines[at]
        piece = prefix.off(piece)
        width = len(piece)
        if not piece.strip():
            break
        glue = _continues(joined.text, piece, starts.get(at), edge)
        if glue is None:
            found = _list_item(joined.text, piece, edge) if at not in starts else None
            if found is None:
                break
            joined.text = joined.text.rstrip()
            glue, piece = found
            edge.listed = True
        joined.starts.append(len(joined.text) + len(glue))
        joined.entries.append(at)
        joined.text += glue + piece
        joined.full += len(glue) + len(piece)
        edge.equal = edge.equal + 1 if abs(width - edge.width) <= 1 else 0
        edge.width = width
    return joined


@dataclass(slots=True)
class _Edge:
    """The line to which a piece would be put.

    Attributes:
        width: its length, without quote signs or indentation.
        widest: length of the longest line that starts a record, likewise.
        step: the record's step.
        front: length of what stands before the record on its line.
        equal: how many lines of the record before it are as long.
        listed: whether it continues the record as an item of a list, not as a terminal would.
    """

    width: int
    widest: int
    step: int
    front: int = 0
    equal: int = 0
    listed: bool = False


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
        if not glue and segments[0].count(":") > 1 and is_whole(tail) and is_whole(piece.split(SEPARATOR, 1)[0]):
            continue
        if all(is_whole(segment) for segment in segments[:-1]) and _fits(tail, piece, segments, edge, text):
            return glue
    return None


def _list_item(text: str, piece: str, edge: _Edge) -> tuple[str, str] | None:
    """What to put between and behind, if somebody broke the record between cells, one or more of them a line.

    Items are whole cells only, indented or not, with the dash or without; a record's keys do not come again.
    """
    item = piece.strip()
    dashed = item.startswith("- ")
    segments = item.removeprefix("- ").split(SEPARATOR)
    if len(text) > _LONGEST_LISTED or len(item) > WIDEST_TERMINAL or not all(is_whole(one) for one in segments):
        return None
    tail = text[text.rfind(SEPARATOR) + len(SEPARATOR) :] if SEPARATOR in text else text
    if not is_whole(tail.rstrip()) or f" - {segments[0].partition(':')[0]}:" in text:
        return None
    if dashed:
        return " ", item
    paths = all("/" in one.partition(":")[0] for one in segments)
    return (SEPARATOR, item) if paths and (len(segments) > 1 or edge.listed) else None


def _splits_step_key(text: str, tail: str, start: Header, edge: _Edge) -> bool:
    """Whether ``step:3 - …`` ends a key such as ``training/global_`` and is no record of its own.

    ``global_step`` repeats the record's step, where a record that follows a cut line has another; any other
    key counts only inside a wrapped record, and if what follows is not how this record itself begins.
    """
    if start.start > edge.front or start.tag or edge.width > WIDEST_TERMINAL:
        return False
    if ":" in tail or not tail.endswith(("_", "/")):
        return False
    if start.step == edge.step:
        return True
    first, second = text.split(SEPARATOR, 2)[1:2], start.line.split(SEPARATOR, 2)[1:2]
    return edge.equal > 0 and [key.split(":")[0] for key in first] != [key.split(":")[0] for key in second]


def _fits(tail: str, piece: str, segments: list[str], edge: _Edge, text: str) -> bool:
    """Whether the last of the joined segments is one, and the piece is no text of its own."""
    last = segments[-1]
    if len(segments) > 1:
        named = len(segments) > 2 or "/" in last or ":" in last or not piece.startswith("- ")
        return is_whole(last.rstrip()) or (is_open(last) and (named or len(piece) >= edge.width - 1))
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
