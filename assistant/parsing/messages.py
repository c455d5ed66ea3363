"""One-line records, each with the lines that a terminal made of it.

A record begins where its format says so. A line that follows it belongs to it if it has no prefix, begins no record,
if the lines before it are as wide as each other, and if the whole is a better record than its first line alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from assistant.parsing.logprefix import has_prefix, read_body
from assistant.parsing.repair import Document

Measure = Callable[[str], tuple[tuple[str, ...], bool] | None]
"""The metrics of a message and whether nothing is left over; ``None`` if it is no record."""

_WIDEST_TERMINAL: Final = 1000
_NARROWEST_TERMINAL: Final = 20
_USUAL_TERMINAL: Final = 60
_MOST_PIECES: Final = 40
_FENCE: Final = "`"
_FRACTION: Final = re.compile(r"[0-9]\.[0-9]{0,30}$|[0-9]e[-+]?[0-9]$")
_DIGITS: Final = re.compile(r"[ 0-9+-][ 0-9.eE+-]{0,40}")


@dataclass(frozen=True, slots=True)
class Message:
    """A record's text.

    Attributes:
        tag: the process that printed it, if the log tells.
        body: the message without what precedes it.
        starts: offset in the body at which each piece begins.
        numbers: line number of each piece.
    """

    tag: str | None
    body: str
    starts: tuple[int, ...]
    numbers: tuple[int, ...]

    @property
    def number(self) -> int:
        """Number of the line on which it begins."""
        return self.numbers[0]

    def line(self, offset: int) -> int:
        """Number of the line on which an offset of the body lies."""
        return self.numbers[max(bisect_right(self.starts, offset) - 1, 0)]


@dataclass(frozen=True, slots=True)
class _Found:
    alone: Message | None
    joined: Message | None
    sure: bool
    width: int
    lines: list[str]
    names: tuple[str, ...] = ()


def find_messages(document: Document, words: tuple[str, ...], measure: Measure) -> Iterator[Message]:
    """All records of a document, in order.

    Args:
        document: a text.
        words: one of them stands in the line on which a record begins (a cheap test).
        measure: judges a message, also one that is only the beginning of a record.
    """
    found: list[_Found] = []
    widths: set[int] = set()
    measure = _once(measure)
    index = 0
    while index < len(document.lines):
        one = _find(document, index, words, measure)
        if one is None:
            index += 1
            continue
        found.append(one)
        if one.joined is not None and one.sure:
            widths.add(one.width)
            index += len(one.joined.numbers)
        else:
            index += 1
    again = Counter(one.width for one in found if one.joined is not None)
    widths.update(width for width, count in again.items() if count > 1)
    widest = max(widths, default=0)
    longest = max(map(len, document.lines)) if any(one.joined is not None for one in found) else 0
    near = {width + by for width in widths for by in (-1, 0, 1)}
    names: set[str] = set()
    for one in found:
        if one.alone is not None and one.joined is None:
            names.update(one.names)
    for one in found:
        sure = one.sure or one.width in near or (one.width == longest and _ends_in_fraction(one.lines[0]))
        message = one.joined if one.joined is not None and sure else one.alone
        if message is not None:
            yield message if len(message.numbers) == 1 else _respaced(message, one.lines, widest, names, measure)


def _once(measure: Measure) -> Measure:
    """The same judgement, which is not made again for the message that was judged last."""
    last: list[tuple[str, tuple[tuple[str, ...], bool] | None]] = []

    def judge(body: str) -> tuple[tuple[str, ...], bool] | None:
        if not last or last[0][0] != body:
            last[:] = [(body, measure(body))]
        return last[0][1]

    return judge


def _ends_in_fraction(line: str) -> bool:
    """Whether a line as wide as a usual terminal ends where more digits may follow.

    That is behind the point of a number, or behind the first digit of an exponent, which all programs print with two.
    """
    return len(line) >= _USUAL_TERMINAL and _FRACTION.search(line[-40:]) is not None


def _respaced(message: Message, lines: list[str], width: int, names: set[str], measure: Measure) -> Message:
    """A joined message with the blanks that copying has dropped at the ends of lines.

    The blanks are told by lines that are shorter than the terminal, or by the metrics of records that stand on one
    line each.
    """
    between = ["" if len(line) >= width else " " for line in lines[:-1]]
    glued = _glue(lines, between if any(between) else [" "] * len(between), message.numbers)
    old, new = measure(message.body), measure(glued.body)
    if old is None or new is None or old[1] > new[1] or len(old[0]) > len(new[0]):
        return message
    known = sum(name in names for name in new[0]) - sum(name in names for name in old[0])
    return glued if known > 0 or (known == 0 and any(between)) else message


def _glue(lines: list[str], between: list[str], numbers: tuple[int, ...]) -> Message:
    """Lines as one message."""
    whole = "".join(part for pair in zip(lines, [*between, ""], strict=True) for part in pair)
    tag, body = _message(whole)
    at = -whole.rfind(body)
    starts: list[int] = []
    for line, glue in zip(lines, [*between, ""], strict=True):
        starts.append(max(at, 0))
        at += len(line) + len(glue)
    return Message(tag, body, tuple(starts), numbers)


def _find(document: Document, index: int, words: tuple[str, ...], measure: Measure) -> _Found | None:
    """The record that begins on a line: its first line alone, and as far as a terminal may have broken it."""
    line = document.lines[index]
    following = document.lines[index + 1] if index + 1 < len(document.lines) else ""
    tag, body = _message(line) if any(word in line for word in words) else (None, "")
    alone = measure(body) if body else None
    if alone is None and not (_breaks(line) and following and has_prefix(line) and not has_prefix(following)):
        return None
    if alone is None and not any(word in line[-80:] + glue + following[:160] for word in words for glue in ("", " ")):
        return None
    first = Message(tag, body, (0,), (document.numbers[index],)) if alone is not None else None
    whole = alone[0] if alone is not None and alone[1] else ()
    single = None if first is None else _Found(first, None, False, len(line), [line], whole)
    pieces = _continued(document, index, words, measure) if _breaks(line) else []
    joined = _join(document, index, pieces, measure, alone or ((), False)) if pieces else None
    return single if joined is None else replace(joined, alone=first)


def _message(line: str) -> tuple[str | None, str]:
    tag, body = read_body(line)
    return tag, body.rstrip().removesuffix(_FENCE) if _FENCE in body else body


def _breaks(line: str) -> bool:
    return _NARROWEST_TERMINAL <= len(line) <= _WIDEST_TERMINAL


def _continued(document: Document, index: int, words: tuple[str, ...], measure: Measure) -> list[tuple[str, int]]:
    """The lines that may belong to a record, with their numbers."""
    width = len(document.lines[index])
    pieces: list[tuple[str, int]] = []
    for at in range(index + 1, min(len(document.lines), index + _MOST_PIECES)):
        piece = document.lines[at]
        if not piece or piece.isspace() or len(piece) > width + 1 or has_prefix(piece):
            break
        if any(word in piece for word in words) and measure(_message(piece)[1]) is not None:
            break
        pieces.append((piece, document.numbers[at]))
        if len(piece) < width - 1:
            break
    return pieces


def _join(
    document: Document, index: int, pieces: list[tuple[str, int]], measure: Measure, alone: tuple[tuple[str, ...], bool]
) -> _Found | None:
    """The pieces as one record; ``None`` if they are none."""
    lines = [document.lines[index], *(piece for piece, _ in pieces)]
    behind = document.lines[index + len(lines) : index + len(lines) + 1]
    numbers = (document.numbers[index], *(number for _, number in pieces))
    for glue in ("", " "):
        message = _glue(lines, [glue] * len(pieces), numbers)
        measured = measure(message.body)
        if measured is None or len(measured[0]) < len(alone[0]):
            continue
        if not measured[1] and (any(behind) or len(measured[0]) == len(alone[0])):
            continue
        sure = len(measured[0]) > len(alone[0]) or not alone[1] or _DIGITS.fullmatch("".join(lines[1:])) is None
        return _Found(None, message, sure, max(len(line) for line in lines[:-1]), lines)
    return None
