"""A large text in segments: cut at line ends, each with some lines around it and the beginning of the text in front."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from assistant.parsing.decoding import MAGIC
from assistant.parsing.mojibake import is_garbled
from assistant.parsing.repair import Document, fewer_blanks, names_steps, split_returns, strip_ansi

_HIGH: Final = re.compile("[^\x00-\x7f]")
_MANY: Final = 1000
_MOST_COPIES: Final = 64
_ENDING: Final = 60
"""Copies of an event by several processes end alike, whatever prefix they have."""

_GARBLED_SAMPLE: Final = 400_000
_BLANKS: Final = "\n" * 1001
_SENTINEL: Final = "."
"""Stands behind a segment that is not the last, so that its last line is not taken for one in which the text stops."""


class NeedsWhole(Exception):
    """The text has to be read as a whole."""


@dataclass(frozen=True)
class Sizes:
    """How a text is cut.

    Attributes:
        least: bytes of text below which it is not cut.
        segment: bytes of a segment.
        context: most lines that are read on either side of a segment.
        context_size: most characters of these lines.
        head: most lines of the text's beginning that are read in front of each segment.
        longest: bytes of the longest line that a cut text may hold.
    """

    least: int = 1 << 26
    segment: int = 1 << 22
    context: int = 2000
    context_size: int = 1 << 18
    head: int = 200
    longest: int = 1 << 25


SIZES: Final = Sizes()
"""How texts are cut; tests cut smaller ones."""


@dataclass
class Entries:
    """Lines of a text ready for the formats, with their original numbers."""

    lines: list[str]
    numbers: list[int]

    def first(self, count: int, size: int) -> Entries:
        """The first ones, not more than so many lines and characters."""
        end = _within(self.lines, count, size)
        end = self._edge(end, -1)
        return Entries(self.lines[:end], self.numbers[:end])

    def last(self, count: int, size: int) -> Entries:
        """The last ones, not more than so many lines and characters."""
        begin = len(self.lines) - _within(self.lines[: -count - 1 : -1], count, size)
        begin = self._edge(begin, 1)
        return Entries(self.lines[begin:], self.numbers[begin:])

    def _edge(self, at: int, way: int) -> int:
        """The next place between two entries that are not of one line, nor the same event of several processes."""
        for _ in range(_MOST_COPIES):
            if not 0 < at < len(self.lines) or not self._is_within(at):
                return at
            at += way
        while 0 < at < len(self.lines) and self.numbers[at] == self.numbers[at - 1]:
            at += way
        return at

    def _is_within(self, at: int) -> bool:
        before, after = self.lines[at - 1], self.lines[at]
        alike = before[-_ENDING:] == after[-_ENDING:] and bool(after)
        return alike or self.numbers[at - 1] == self.numbers[at]


@dataclass(frozen=True)
class Segment:
    """A part of a text.

    Attributes:
        document: its lines with those around them and the beginning of the text in front.
        own: the segment's own entries.
        begin: number of its first line.
        end: number of the line behind its last one.
        context: number of the first line that is read before it.
    """

    document: Document
    own: Entries
    begin: int
    end: int
    context: int

    def holds(self, number: int | None) -> bool:
        """Whether a line is the segment's own."""
        return number is not None and self.begin <= number < self.end


def _within(lines: list[str], count: int, size: int) -> int:
    taken = 0
    for line in islice(lines, count):
        size -= len(line) + 1
        if size < 0:
            break
        taken += 1
    return taken


class Cutter:
    """Cuts a text; ``bad`` and ``high`` count characters that could not be decoded, and others outside ASCII.

    Attributes:
        line: number of the line behind the last one that was read.
        damaged: whether some bytes are no UTF-8.
        open_end: whether what was read stops within a line.
    """

    def __init__(self, chunks: Iterator[bytes], name: str, sizes: Sizes) -> None:
        self.name = name
        self.sizes = sizes
        self.line = 1
        self.damaged = False
        self.open_end = False
        self.bad = self.high = self.size = 0
        self._chunks = chunks

    def segments(self) -> Iterator[Segment]:
        """All segments.

        Raises:
            NeedsWhole: the text is short, one document, one line, or in another encoding than UTF-8.
        """
        sizes = self.sizes
        parts = self._parts()
        raw: bytes | None = next(parts)
        coming = next(parts, None)
        current = self._entries(raw or b"")
        head, before, begin = current.first(sizes.head, sizes.context_size), Entries([], []), 1
        while True:
            end = self.line
            raw, coming = coming, next(parts, None)
            following = Entries([], []) if raw is None else self._entries(raw)
            after = following.first(sizes.context, sizes.context_size)
            if coming is not None or len(after.lines) < len(following.lines):
                after = Entries([*after.lines, _SENTINEL], [*after.numbers, self.line])
            elif not self.open_end:
                after = Entries([*after.lines, ""], [*after.numbers, self.line])
            context = before.numbers[0] if before.numbers else begin
            front = sum(number < context for number in head.numbers)
            lines = head.lines[:front] + before.lines + current.lines + after.lines
            numbers = head.numbers[:front] + before.numbers + current.numbers + after.numbers
            steps = names_steps("\n".join(lines))
            yield Segment(
                Document(self.name, lines, numbers, len(lines), has_steps=steps), current, begin, end, context
            )
            if raw is None:
                return
            if len(current.lines) < sizes.context:
                current = Entries(before.lines + current.lines, before.numbers + current.numbers)
            before = current.last(sizes.context, sizes.context_size)
            current, begin = following, end

    def _parts(self) -> Iterator[bytes]:
        """The bytes of the segments; only the last one may be short."""
        source = self._source()
        rest, ended = b"", False
        while rest or not ended:
            pieces, size = [rest], len(rest)
            while size <= self.sizes.segment and not ended:
                pieces.append(next(source, b""))
                size += len(pieces[-1])
                ended = not pieces[-1]
            data = b"".join(pieces)
            del pieces
            if size <= self.sizes.segment:
                if data:
                    yield data
                return
            at = data.rfind(b"\n", 0, self.sizes.segment) + 1 or data.find(b"\n") + 1
            while not at and not ended:
                if len(data) > self.sizes.longest:
                    raise NeedsWhole
                chunk = next(source, b"")
                ended = not chunk
                end = chunk.find(b"\n") + 1
                at = len(data) + end if end else 0
                data += chunk
            at = at or len(data)
            rest = data[at:]
            yield data[:at]

    def _source(self) -> Iterator[bytes]:
        """The chunks, once it is known that they are large and can be cut."""
        held: deque[bytes] = deque()
        size = 0
        for chunk in self._chunks:
            held.append(chunk)
            size += len(chunk)
            if size >= self.sizes.least:
                break
        else:
            raise NeedsWhole
        self._look_at_start(b"".join(islice(held, 2)))
        while held:
            yield held.popleft()
        yield from self._chunks

    def _look_at_start(self, data: bytes) -> None:
        """Only lines of UTF-8 can be cut."""
        if data.startswith((*MAGIC, b"\xff\xfe", b"\xfe\xff")) or b"\x00" in data[: 1 << 16] or b"\n" not in data:
            raise NeedsWhole
        first = data.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0].rstrip().rstrip(b",")
        if (first.startswith(b"[") and (len(first) == 1 or first[1:2] in b'{"')) or b'"log_history"' in first:
            raise NeedsWhole
        if first.startswith(b"{") and not first.endswith(b"}"):
            raise NeedsWhole
        sample = data[: 4 * _GARBLED_SAMPLE]
        if not sample.isascii() and is_garbled(sample.decode("utf-8", "replace")[:_GARBLED_SAMPLE]):
            raise NeedsWhole

    def check_encoding(self) -> None:
        """Looks at what could not be decoded: a few bytes may be lost, but more tell of another encoding.

        Raises:
            NeedsWhole: they are many.
        """
        if self.damaged and self.bad > 2 and self.bad > min(0.02 * self.high, 0.1 * self.size):
            raise NeedsWhole

    def _entries(self, data: bytes) -> Entries:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
            self.damaged = True
        self.size += len(text)
        if not data.isascii():
            bad = text.count("\ufffd")
            self.bad += bad
            self.high += len(_HIGH.findall(text)) - bad
            if self.bad > _MANY:
                self.check_encoding()
        if self.line == 1:
            text = text.removeprefix("\ufeff")
        self.open_end = not text.endswith("\n")
        text = strip_ansi(text.replace("\r\n", "\n"))
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        first, self.line = self.line, self.line + len(lines)
        numbers = list(range(first, self.line))
        if "\r" in text:
            lines, numbers = split_returns(lines, first)
        if _BLANKS in text:
            lines, numbers = fewer_blanks(lines, numbers)
        return Entries(lines, numbers)
