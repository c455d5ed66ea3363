"""A log that grows, read as it grows: what is new with a bounded part of what stood before it, never all again.

Up to :data:`WHOLE` bytes all of the log is read anew, which is exact. Beyond that the last rows and the lines behind
them are kept; new lines are read together with these, and the rows of that reading take the place of the last rows
from the first kept one on. The kept rows must come out as they did before; where they do not (a format that only makes
sense from its beginning), the whole file is read again, when it has grown by a tenth or after twenty times as long as
that takes.

Only whole lines are read: half a line may hold half a number.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from assistant.model import Note, Run
from assistant.parsing import parse_bytes, parse_file
from assistant.service.joining import LineMap, Piece, join

#: Bytes up to which all of a log is read anew.
WHOLE: Final = 1 << 20
#: Rows that are kept and read again, and most bytes of them.
ROWS: Final = 8
MOST_KEPT: Final = 1 << 20
#: Bytes kept behind the last row, and at the very end, where many lines without a row follow.
BEHIND: Final = 1 << 16
AT_END: Final = 1 << 18
#: Bytes of the log's beginning that are put in front where a format needs its header.
HEAD: Final = 1 << 14
#: Files with more bytes are read in parts at first.
LARGE: Final = 32 << 20
#: The whole is read again after this growth, or after so many times as long as it took.
GROWTH: Final = 1.1
REST: Final = 20.0


class GrowingLog:
    """The runs of a log that grows.

    Args:
        name: for display.
        reread: reads all of the log again, for formats that need it; ``None`` if that cannot be.
        whole: bytes up to which it is always read anew.

    Attributes:
        runs: what was read so far; other objects after each growth.
        notes: remarks on the text as a whole, of the last whole reading.
        size: bytes taken.
        readings: bytes that were parsed so far, over all readings (what following costs).
    """

    def __init__(self, name: str, *, reread: Callable[[], bytes | Path] | None = None, whole: int = WHOLE) -> None:
        self.name = name
        self.runs: tuple[Run, ...] = ()
        self.notes: tuple[Note, ...] = ()
        self.size = 0
        self.readings = 0
        self._reread = reread
        self._whole = whole
        self._pieces: list[Piece] = [Piece(1, b"")]
        self._since = 1  # first row that a further reading replaces
        self._open = b""
        self._head: Piece | None = None
        self._uses_head = False
        self._complete = True  # the pieces are all of the log
        self._whole_at = 0
        self._whole_took = 0.0
        self._whole_done = 0.0
        self._binary = False

    def start(self, path: Path) -> None:
        """Begins with a file that holds much already: read in parts.

        Raises:
            OSError: it cannot be read.
            InputError: it is no text.
        """
        read = [0]

        def count(size: int) -> None:
            read[0] = size

        begin = time.monotonic()
        parsed = parse_file(path, name=self.name, progress=count)
        self._whole_done = time.monotonic()
        self._whole_took = self._whole_done - begin
        size = read[0] or path.stat().st_size
        self.runs, self.notes = parsed.runs, parsed.notes
        self.size, self.readings = size, self.readings + size
        self._whole_at = size
        self._complete = False
        with path.open("rb") as handle:
            head = handle.read(min(HEAD, size))
            self._binary = b"\x00" in head
            handle.seek(max(0, size - MOST_KEPT - AT_END))
            end = handle.read(min(size, MOST_KEPT + AT_END))
        self._remember_head(head)
        whole_lines = end.rfind(b"\n") + 1
        self._open = end[whole_lines:]
        end = end[end.find(b"\n") + 1 : whole_lines]
        total = _count_lines(path, size)
        self._pieces = [Piece(total - end.count(b"\n") + 1, end)]
        self._trim()

    def take(self, data: bytes, *, final: bool = False) -> bool:
        """Reads what was appended.

        Args:
            data: the next bytes.
            final: nothing follows, so that a line without an end is one.

        Returns:
            Whether a row came or changed.
        """
        if self.size == 0:
            self._binary = b"\x00" in data[:HEAD]
        self.size += len(data)
        fresh = self._open + data
        end = len(fresh) if final or self._binary else fresh.rfind(b"\n") + 1
        self._open = fresh[end:]
        if not end and not (final and self.size):
            return False
        last = self._pieces[-1]
        self._pieces[-1] = Piece(last.first, last.data + fresh[:end])
        before = self._state()
        self._read(final)
        return self._state() != before

    def _state(self) -> list[tuple[str, int, int]]:
        return [(run.format, len(run.steps), sum(len(c.values) for c in run.columns.values())) for run in self.runs]

    # -- reading -------------------------------------------------------------------------------------------------------
    def _may_reread(self) -> bool:
        rested = time.monotonic() - self._whole_done >= REST * self._whole_took
        return rested or self.size >= GROWTH * self._whole_at

    def _read(self, final: bool) -> None:
        held = sum(len(piece.data) for piece in self._pieces)
        if self._complete or self._binary:
            data = b"".join(piece.data for piece in self._pieces)
            self._parse_whole(data)
            if held > self._whole and not self._binary:
                self._remember_head(data[:HEAD])
                self._complete = False
                self._trim()
            return
        joined = self._joined()
        if joined is not None:
            self.runs = joined
        elif self._reread is not None and (final or self._may_reread()):
            self._parse_whole(self._reread())
        else:
            return  # with what comes next
        self._trim()

    def _parse_whole(self, content: bytes | Path) -> None:
        size = content.stat().st_size if isinstance(content, Path) else len(content)
        self.readings += size
        self._whole_at = size
        if not size or (isinstance(content, bytes) and not content.strip()):
            return
        begin = time.monotonic()
        if isinstance(content, Path):
            parsed = parse_file(content, name=self.name)
        else:
            parsed = parse_bytes(content, name=self.name)
        self._whole_done = time.monotonic()
        self._whole_took = self._whole_done - begin
        self.runs, self.notes = parsed.runs, parsed.notes

    def _joined(self) -> tuple[Run, ...] | None:
        """The runs with those of the kept lines and what follows them; ``None`` where these do not fit together."""
        with_head = [self._head, *self._pieces] if self._head is not None else None
        ways = [with_head, self._pieces] if self._uses_head else [self._pieces, with_head]
        for pieces in ways:
            if pieces is None:
                continue
            data = b"".join(piece.data for piece in pieces)
            if not data.strip():
                return self.runs
            self.readings += len(data)
            parsed = parse_bytes(data, name=self.name)
            lines = LineMap(pieces)
            found = [lines.run(run) for run in parsed.runs]
            joined = join(self.runs, found, self._since)
            if joined is not None:
                self._uses_head = pieces is not self._pieces
                return joined
        return None

    # -- what is kept --------------------------------------------------------------------------------------------------
    def _remember_head(self, head: bytes) -> None:
        """What stands before the first row: a table's header, a launcher's settings."""
        first = min((run.row_lines[0] for run in self.runs if run.row_lines), default=1)
        kept = b"".join(head.splitlines(keepends=True)[: max(first - 1, 0)])
        self._head = Piece(1, kept) if kept.endswith(b"\n") else None

    def _trim(self) -> None:
        """Drops all but the last rows, what stands behind them, and the end.

        What stands between the row before them and the first of them stays: the step may be told there.
        """
        lines = sorted({line for run in self.runs for line in run.row_lines[-ROWS - 1 :]})[-ROWS - 1 :]
        starts = [place for line in lines[:-1] if (place := self._place(line)) is not None]
        if len(lines) <= ROWS:
            starts.insert(0, (0, 0))
        sizes = [sum(len(piece.data) for piece in self._from(place)) for place in starts]
        kept = [place for place, size in zip(starts, sizes, strict=True) if size <= MOST_KEPT + AT_END]
        if starts:
            self._pieces = self._from((kept or starts[-1:])[0])
        begin = self._pieces[0].first
        held = [line for line in lines if line >= begin]
        self._since = held[0] if len(lines) <= ROWS and held else next((line for line in held if line > begin), begin)
        last = self._place(lines[-1]) if lines else (0, 0)
        behind = self._from(last) if last is not None else self._pieces
        if sum(len(piece.data) for piece in behind) <= BEHIND + AT_END:
            return
        before = self._pieces[: len(self._pieces) - len(behind)]
        first, end = behind[0], behind[-1]
        if before or last is None:
            near = Piece(first.first, _lines_within(first.data, BEHIND))
        else:  # the piece of the last row begins before it
            whole = self._pieces[len(self._pieces) - len(behind)]
            near = Piece(
                whole.first, whole.data[: len(whole.data) - len(first.data)] + _lines_within(first.data, BEHIND)
            )
        cut = end.data[-AT_END:]
        cut = cut[cut.find(b"\n") + 1 :]
        number = end.first + end.data.count(b"\n") - cut.count(b"\n")
        if number >= near.first + near.lines:
            self._pieces = [*before, near, Piece(number, cut)]

    def _place(self, line: int) -> tuple[int, int] | None:
        """Piece and byte at which a line begins."""
        for at, piece in enumerate(self._pieces):
            offset = 0
            if not piece.first <= line < piece.first + piece.lines:
                continue
            for _ in range(line - piece.first):
                offset = piece.data.index(b"\n", offset) + 1
            return at, offset
        return None

    def _from(self, place: tuple[int, int]) -> list[Piece]:
        at, offset = place
        piece = self._pieces[at]
        cut = Piece(piece.first + piece.data.count(b"\n", 0, offset), piece.data[offset:])
        return [cut, *self._pieces[at + 1 :]]


def _lines_within(data: bytes, size: int) -> bytes:
    """The first lines, at most so many bytes but one line at least."""
    end = data.rfind(b"\n", 0, size) + 1
    return data[: end or data.find(b"\n") + 1 or len(data)]


def _count_lines(path: Path, size: int) -> int:
    """Line feeds in the first bytes of a file."""
    count = 0
    with path.open("rb") as handle:
        while size > 0 and (chunk := handle.read(min(size, 1 << 20))):
            count += chunk.count(b"\n")
            size -= len(chunk)
    return count
