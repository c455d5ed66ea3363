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
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from assistant.model import Column, Note, Run
from assistant.model.run import Missing
from assistant.parsing import parse_bytes, parse_file
from assistant.parsing.splitting import split_runs

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
#: Rows at the end of a reading that the next one may read otherwise: they may not have been complete.
OPEN_ROWS: Final = 2
#: Files with more bytes are read in parts at first.
LARGE: Final = 32 << 20
#: The whole is read again after this growth, or after so many times as long as it took.
GROWTH: Final = 1.1
REST: Final = 20.0


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines of the log, the first of which is line ``first``."""

    first: int
    data: bytes

    @property
    def lines(self) -> int:
        """How many."""
        return self.data.count(b"\n") + (not self.data.endswith(b"\n") and bool(self.data))


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


class LineMap:
    """From line numbers of joined pieces to those of the log."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._begins: list[int] = []
        self._moves: list[int] = []
        line = 1
        for piece in pieces:
            self._begins.append(line)
            self._moves.append(piece.first - line)
            line += piece.lines

    def line(self, number: int) -> int:
        """The log's number of a line."""
        return number + self._moves[max(bisect_right(self._begins, number) - 1, 0)]

    def run(self, run: Run) -> Run:
        """A run with the log's line numbers."""
        columns = {
            metric: Column(column.rows, column.values, [self.line(line) for line in column.lines])
            for metric, column in run.columns.items()
        }
        return replace(
            run,
            row_lines=tuple(self.line(line) for line in run.row_lines),
            columns=columns,
            missing=tuple(replace(gap, line=self.line(gap.line)) for gap in run.missing),
            warnings=tuple(
                note if note.line is None else replace(note, line=self.line(note.line)) for note in run.warnings
            ),
            extras={name: (value, self.line(line)) for name, (value, line) in run.extras.items()},
        )


def join(old: Sequence[Run], new: Sequence[Run], since: int) -> tuple[Run, ...] | None:
    """The runs of a log from two readings of it.

    Args:
        old: of all lines up to somewhere behind ``since``.
        new: of the lines from ``since`` on, by the log's line numbers; the kept rows among them.
        since: line of the first row that the second reading is to have as the first one has it; rows before it do not
            count.

    Returns:
        The runs of all lines; ``None`` where the second reading does not begin with the rows that the first one has
        there.
    """
    found = list(old)
    live = [at for at, run in enumerate(old) if run.row_lines and run.row_lines[-1] >= since]
    last = max((run.row_lines[-1] for run in old if run.row_lines), default=0)
    for read in new:
        run = _from_line(read, since)
        if not run.row_lines:
            continue
        place = next(
            (at for at in live if run.format == old[at].format and _met(old[at], run, since) is not None), None
        )
        if place is not None:
            found[place] = _continued(old[place], run, since)
            live.remove(place)
        elif run.row_lines[0] > last and (old or since == 1):
            found.append(run)
        else:
            return None
    if live:
        return None
    if any(_goes_back(run, since) for run in found):  # whether another run begins there takes all of it to tell
        return split_runs(found)
    return tuple(replace(run, id=f"r{at}") for at, run in enumerate(found))


def _goes_back(run: Run, since: int) -> bool:
    """Whether the steps go back somewhere from a line on."""
    begin = max(bisect_left(run.row_lines, since) - 1, 0)
    return any(later < earlier for earlier, later in pairwise(run.steps[begin:]))


def _from_line(run: Run, line: int) -> Run:
    """The rows of a run from a line on."""
    begin = bisect_left(run.row_lines, line)
    if not begin:
        return run
    columns = {}
    for metric, column in run.columns.items():
        at = bisect_left(column.rows, begin)
        if at < len(column.rows):
            rows = [row - begin for row in column.rows[at:]]
            columns[metric] = Column(rows, list(column.values[at:]), list(column.lines[at:]))
    return replace(
        run, steps=run.steps[begin:], row_lines=run.row_lines[begin:], columns=columns,
        missing=tuple(gap for gap in run.missing if gap.line >= line),
    )  # fmt: skip


def _met(old: Run, run: Run, since: int) -> int | None:
    """How much the steps of the second reading have to be moved by; ``None`` where the rows are not the same."""
    begin = bisect_left(old.row_lines, since)
    if begin == len(old.row_lines) or list(old.row_lines[begin:]) != sorted(old.row_lines[begin:]):
        return None
    count = len(old.row_lines) - begin
    if begin == 0 and count <= OPEN_ROWS and run.step_axis == old.step_axis:
        return 0  # all of the run was read again
    sure = max(count - OPEN_ROWS, 1)
    if len(run.row_lines) < sure or run.row_lines[0] != old.row_lines[begin]:
        return None
    if run.step_axis != old.step_axis and count > 1:
        return None
    move = old.steps[begin] - run.steps[0]
    if move and old.step_axis != "index":
        return None
    for at in range(sure):
        if run.row_lines[at] != old.row_lines[begin + at] or run.steps[at] + move != old.steps[begin + at]:
            return None
    if count > OPEN_ROWS and _cells(old, begin, sure) != _cells(run, 0, sure):
        return None
    return move


def _cells(run: Run, begin: int, count: int) -> dict[tuple[str, int], str]:
    """The cells of some rows, rows counted from the first of them."""
    found = {}
    for metric, column in run.columns.items():
        low, high = bisect_left(column.rows, begin), bisect_left(column.rows, begin + count)
        for at in range(low, high):
            found[metric, column.rows[at] - begin] = repr(float(column.values[at]))
    return found


def _continued(old: Run, run: Run, since: int) -> Run:
    """A run whose rows from a line on are those of another reading."""
    begin = bisect_left(old.row_lines, since)
    move = _met(old, run, since) or 0
    empty = Column((), (), ())
    columns = {}
    for metric in dict.fromkeys((*old.columns, *run.columns)):
        kept, more = old.columns.get(metric, empty), run.columns.get(metric, empty)
        end = bisect_left(kept.rows, begin)
        column = Column(
            [*kept.rows[:end], *(row + begin for row in more.rows)],
            [*kept.values[:end], *more.values],
            [*kept.lines[:end], *more.lines],
        )
        if column.rows:
            columns[metric] = column
    codes = {note.code for note in old.warnings}
    return replace(
        old,
        framework=old.framework or run.framework,
        steps=(*old.steps[:begin], *(step + move for step in run.steps)),
        row_lines=(*old.row_lines[:begin], *run.row_lines),
        columns=columns,
        missing=(*_before(old.missing, since), *(replace(gap, step=gap.step + move) for gap in run.missing)),
        warnings=(*old.warnings, *(note for note in run.warnings if note.code not in codes)),
        extras=_extras(old.extras, run.extras),
        version=old.version or run.version,
    )


def _before(missing: Iterable[Missing], since: int) -> list[Missing]:
    return [gap for gap in missing if gap.line < since]


def _extras(
    old: Mapping[str, tuple[int | float, int]], new: Mapping[str, tuple[int | float, int]]
) -> dict[str, tuple[int | float, int]]:
    return {**old, **new}
