"""What stands around a log that is read from its bytes: the first and last lines for prose, and samples of noise.

Nothing here knows what a metric line looks like; it only keeps bounded parts of the lines that were not taken.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from typing import Final

from assistant.parsing.prose import SCAN
from assistant.parsing.repair import split_returns, strip_ansi

Part = tuple[list[str], list[int]]
"""Lines and their numbers, of equal length."""

_RECENT: Final = 1 << 24
_LONG_LINE: Final = 4096
_NOISE_PART: Final = 1 << 15
_NOISE_GROWTH: Final = 8


class Surroundings:
    """Bounded memory of the lines that were not taken.

    Attributes:
        head_room: how many more lines belong to the beginning of the text (those that were taken count too).
        sample: samples of the noise, spread wider as there is more of it.
    """

    def __init__(self) -> None:
        self.head: list[Part] = []
        self.head_room = SCAN
        self.recent: deque[tuple[int, bytes]] = deque()
        self.recent_size = 0
        self.sample: Part = ([], [])
        self._noise_bytes = self._noise_room = self._noise_next = 0

    def noise(self, data: bytes, begin: int, end: int, line: int) -> None:
        """Keeps what may be needed of lines without a metric record.

        Args:
            data: where they stand.
            begin: offset of the first.
            end: offset behind the last.
            line: number of the first.
        """
        self._noise_bytes += end - begin
        if self._noise_bytes >= self._noise_next:
            self._noise_room += _NOISE_PART
            self._noise_next = _NOISE_GROWTH * max(self._noise_next, _NOISE_PART)
        if self._noise_room > 0:
            part = data[begin : min(end, begin + self._noise_room)]
            lines, numbers = self.sample
            for at, raw in enumerate(part.split(b"\n")[:-1]):
                lines.append(shown(raw))
                numbers.append(line + at)
            self._noise_room -= len(part)
        self.keep(data[begin:end], line)

    def keep(self, text: bytes, line: int) -> None:
        """Keeps lines that were not taken, if they are among the first or may be among the last."""
        if self.head_room > 0:
            lines = text.removesuffix(b"\n").split(b"\n", SCAN)[:SCAN]
            entries, numbers = split_returns([shown(raw) for raw in lines], line)
            entries, numbers = entries[: self.head_room], numbers[: self.head_room]
            self.head.append((entries, numbers))
            self.head_room -= len(entries)
        recent = self.recent
        recent.append((line, text))
        self.recent_size += len(text)
        while len(recent) > 1 and (recent[1][0] < line - SCAN or self.recent_size - len(recent[0][1]) > _RECENT):
            self.recent_size -= len(recent.popleft()[1])

    def parts(self, end: int, *, closed: bool) -> list[Part]:
        """The beginning and the end of the text, as far as prose is looked for there.

        Args:
            end: number of the line behind the last.
            closed: whether the text ends with a line break.
        """
        tail: list[Part] = []
        room = SCAN - closed
        after = end
        known = self.head[-1][1][-1] if self.head and self.head_room <= 0 else 0
        for line, text in reversed(self.recent if self.head_room <= 0 else ()):
            lines = text.removesuffix(b"\n").rsplit(b"\n", SCAN)
            size = len(lines) if len(lines) <= SCAN else text.removesuffix(b"\n").count(b"\n") + 1
            lines = lines[-SCAN:]
            room -= after - line - size
            if room <= 0:
                break
            entries, numbers = split_returns([shown(raw) for raw in lines], line + size - len(lines))
            skip = max(bisect_right(numbers, known), len(entries) - room)
            tail.append((entries[skip:], numbers[skip:]))
            room -= len(entries)
            after = line
        return [_with_breaks(self.head), _with_breaks(tail[::-1])]


def _with_breaks(parts: Iterable[Part]) -> Part:
    """Parts of a text in one, with an empty line where lines between them are left out."""
    lines: list[str] = []
    numbers: list[int] = []
    for entries, where in parts:
        if numbers and where and where[0] > numbers[-1] + 1:
            lines.append("")
            numbers.append(0)
        lines += entries
        numbers += where
    return lines, numbers


def characters(data: bytes) -> Iterable[tuple[int, int]]:
    """Parts of a megabyte that do not end inside a character."""
    begin = 0
    while begin < len(data):
        end = min(begin + (1 << 20), len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80 and end > begin + 1:
            end -= 1
        yield begin, end
        begin = end


def visible(raw: bytes) -> str:
    """A line without colours and without the carriage return that ends it."""
    return strip_ansi(raw.removesuffix(b"\r").decode("utf-8", "replace"))


def lines_of(text: bytes) -> list[str]:
    """A part's lines, parted at carriage returns too."""
    return split_returns([visible(raw) for raw in text.removesuffix(b"\n").split(b"\n")])[0]


def shown(raw: bytes) -> str:
    """The beginning of a line, for what does not need all of it."""
    return visible(raw if len(raw) <= _LONG_LINE else raw[:_LONG_LINE])


def entries_at(data: bytes, start: int, size: int, line: int) -> tuple[list[str], list[int], int]:
    """Visible lines from an offset on, their numbers, and the offset behind them."""
    lines: list[str] = []
    at = start
    for _ in range(size):
        end = data.find(b"\n", at)
        if end < 0:
            lines.append(visible(data[at:]))
            at = len(data) + 1
            break
        lines.append(visible(data[at:end]))
        at = end + 1
    if at == len(data):
        lines.append("")
        at += 1
    entries, numbers = split_returns(lines, line)
    return entries, numbers, at
