"""verl's ``Initial validation metrics: {…}``, as ``pprint`` prints it: string literals side by side.

Long texts come as ``("Initial … 'key': "`` newline `` "np.float64(0.2), 'key': "`` … ``)``, with key and
value on different lines and with either quote; short ones as one literal on one line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from typing import Final

from assistant.model.run import Number
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.segments import find_header
from assistant.parsing.verlfront import quote_of, strip_front

MARK: Final = "validation metrics: {"
_START: Final = re.compile(r"(?P<paren>\(?)(?P<quote>[\"']?)(?P<which>Initial|Final) validation metrics: \{")
_PAIR: Final = re.compile(
    rf"[{{,]\s*['\"](?P<key>[^'\"{{}}]{{1,300}})['\"]:\s*"
    rf"(?:(?:np\.|numpy\.)?[A-Za-z_]\w*\((?P<inner>{NUMBER})\)|(?P<plain>{NUMBER}))(?=\s*[,}}])"
)
_MOST_LINES: Final = 5000


@dataclass(frozen=True)
class ValidationDict:
    """A printed dict of validation metrics.

    Attributes:
        final: ``Final validation metrics`` rather than ``Initial``.
        cells: ``(key, value, original line number on which the value begins)``.
        line: original number of its first line.
        last_line: original number of its last line.
        end: index after the last line in the document.
        tag: process that printed it.
        closed: whether the closing brace is there.
    """

    final: bool
    cells: tuple[tuple[str, Number, int], ...]
    line: int
    last_line: int
    end: int
    tag: str | None
    closed: bool


def read_validation_dict(lines: Sequence[str], numbers: Sequence[int], index: int) -> ValidationDict | None:
    """The dict that begins on a line, or ``None`` if the line only mentions one.

    Args:
        lines: the document's lines.
        numbers: their original numbers.
        index: a line that holds :data:`MARK`.
    """
    tag, line = strip_front(_plain(lines[index]), MARK)
    found = _START.match(line)
    if found is None:
        return None
    text, starts, entries, end = _collect(lines, index, line, found["quote"], bool(found["paren"]))
    cells: list[tuple[str, Number, int]] = []
    for pair in _PAIR.finditer(text):
        value = read_number(pair["inner"] or pair["plain"])
        if value is not None and "..." not in pair["key"] and _is_key(pair["key"]):
            begin = pair.end("key") + 1
            begin += len(text[begin : pair.end()]) - len(text[begin : pair.end()].lstrip("'\": "))
            cells.append((pair["key"], value, numbers[entries[bisect_right(starts, begin) - 1]]))
    final = found["which"] == "Final"
    return ValidationDict(final, tuple(cells), numbers[index], numbers[end - 1], end, tag, "}" in text)


def _is_key(text: str) -> bool:
    return text == text.strip() and any(char.isalnum() for char in text)


def _collect(
    lines: Sequence[str], index: int, first: str, quote: str, paren: bool
) -> tuple[str, list[int], list[int], int]:
    """The literals' contents joined, with the offset at which each line's content begins."""
    parts: list[str] = []
    starts: list[int] = []
    entries: list[int] = []
    length = 0
    open_quote = ""
    at = index
    margin = quote_of(lines[index])
    while at < min(len(lines), index + _MOST_LINES):
        if at == index:
            piece = first.removeprefix("(")
        else:
            if find_header(lines[at]) is not None:
                break
            line = _plain(lines[at]).removeprefix(margin)
            piece = line if open_quote else strip_front(line, "'")[1]
            if not open_quote and not piece.startswith(('"', "'", ")")):
                break
        content, open_quote, done = _contents(piece, open_quote) if quote else (piece, "", "}" in piece)
        starts.append(length)
        entries.append(at)
        parts.append(content)
        length += len(content)
        at += 1
        if done or (quote and not paren and not open_quote) or (not quote and done):
            break
        if "}" in content and not open_quote and not paren:
            break
    return "".join(parts), starts, entries, at


def _plain(line: str) -> str:
    """A line with its quotes as they were before a web page escaped them."""
    return unescape(line) if "&" in line else line


def _contents(piece: str, quote: str) -> tuple[str, str, bool]:
    """What a line holds inside its literals, the quote open at its end, and whether ``)`` closed all."""
    out: list[str] = []
    at = 0
    while at < len(piece):
        if quote:
            stop = piece.find(quote, at)
            while stop > 0 and piece[stop - 1] == "\\":
                stop = piece.find(quote, stop + 1)
            if stop < 0:
                out.append(piece[at:])
                return "".join(out).replace("\\'", "'"), quote, False
            out.append(piece[at:stop])
            quote = ""
            at = stop + 1
        elif piece[at] in "\"'":
            quote = piece[at]
            at += 1
        elif piece[at] == ")":
            return "".join(out).replace("\\'", "'"), "", True
        else:
            at += 1
    return "".join(out).replace("\\'", "'"), quote, False
