"""verl's console log, read from its bytes: plain lines are rewritten to JSON and go straight into columns.

The text is never decoded as a whole. A line that JSON refuses, that may be cut, or that the next line may continue
goes the careful way of :mod:`assistant.parsing.verlscan`, with the lines around it. Where the careful way would need
the whole text, :class:`NeedsCare` is raised and the caller takes that way for all of it. Both ways give the same runs.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import Final

from assistant.model.run import LineCounts, Run
from assistant.parsing import cuts
from assistant.parsing.beside import may_hold_block
from assistant.parsing.counts import Lookalikes, looks_like_metrics, strip_colours
from assistant.parsing.decoding import MAGIC
from assistant.parsing.feed import Feed, count_breaks
from assistant.parsing.mojibake import is_garbled
from assistant.parsing.prose import Prose, prose_around
from assistant.parsing.repair import Document, strip_ansi
from assistant.parsing.segments import Header, find_header, find_split_front
from assistant.parsing.splitting import split_runs
from assistant.parsing.surroundings import Surroundings, characters, entries_at, lines_of
from assistant.parsing.uncollected import uncollected
from assistant.parsing.verl import MOST_ASIDES, finish_scan
from assistant.parsing.verldict import MARK, read_validation_dict
from assistant.parsing.verlends import NeedsCare
from assistant.parsing.verlforms import RecordReader
from assistant.parsing.verlline import LineReader
from assistant.parsing.verlscan import EXTRA_MARK, Scan, Seen, find_marks, take_other, take_record
from assistant.parsing.verlsigns import Signs, find_next
from assistant.parsing.verltaken import Taken
from assistant.parsing.wrap import WIDEST_TERMINAL, Joined, join_record

_HEADER: Final = re.compile(rb"step:([0-9]{1,15}) - ")
_SAMPLES: Final = EXTRA_MARK.encode()

_WINDOWS: Final = (6, 80, 1000, 12_000)
_GARBLED_SAMPLE: Final = 400_000
_MOST_PREFIXES: Final = 1000
_RETURN: Final = 13
_NEWLINE: Final = 10
_BRACE: Final = ord("{")
_UNKNOWN: Final = (None, -1)
_BLOCK: Final = 1 << 18
_FEWEST: Final = 4
_TAIL: Final = 1 << 16
"""Bytes of the last noise that are looked at for a table in any case."""
_PAUSE: Final = 64
"""Lines that go one by one after a block that had to."""


class _NeedsMore(Exception):
    """What is at hand ends too early to decide."""


@dataclass(frozen=True)
class BytesReading:
    """What was read from bytes.

    Attributes:
        runs: in order of appearance, with line counts.
        prose: paragraphs of natural language around the log.
        text_lines: number of lines.
        doubtful: numbers of the lines that look like metrics and were not read.
        skipped: bytes of noise that were not searched for metrics that were not understood.
        noise: samples of the lines that are no verl records, as ``(lines, numbers)``.
        blocks: whether a table or records may stand among those lines.
    """

    runs: tuple[Run, ...]
    prose: tuple[Prose, ...]
    text_lines: int
    doubtful: tuple[int, ...] = ()
    skipped: int = 0
    noise: tuple[list[str], list[int]] = field(default_factory=lambda: ([], []))
    blocks: bool = False


@uncollected()
def read_bytes(chunks: Iterator[bytes], name: str, *, thorough: bool = False) -> BytesReading:
    """Reads a verl console log.

    Args:
        chunks: the bytes of a UTF-8 text without mark.
        name: for display.
        thorough: look at every line of noise for metrics that were not understood, however many there are.

    Raises:
        NeedsCare: the careful way has to read it.
    """
    return _Scanner(chunks, name, thorough=thorough).read()


class _Scanner:
    """One pass over the bytes; ``position`` and ``line`` tell how far it has come."""

    def __init__(self, chunks: Iterator[bytes], name: str, *, thorough: bool) -> None:
        self.name = name
        self.scan = Scan(seen=Seen(array("q")))
        self.taken = Taken(self.scan)
        self.lookalikes = Lookalikes(thorough=thorough)
        self.line = 1
        self.position = 0
        self.prefixes: dict[bytes, tuple[str | None, int] | None] = {}
        self.reader = LineReader(self.taken.shapes)
        self.records = RecordReader()
        self.rest: list[bytes | list[str]] = []
        self.rest_lines = 0
        self.open_end = False
        self.around = Surroundings()
        self.block_from = 0
        self.signs = Signs()
        self.tail = b""
        self.feed = Feed(chunks, self._take)

    # -- input ---------------------------------------------------------------------------------
    def read(self) -> BytesReading:
        """All runs of the text."""
        self.feed.more(0)
        self._look_at_start()
        while not self._scan():
            self.feed.more(self.position)
            self.position = 0
        return self._finish()

    def _look_at_start(self) -> None:
        data = self.feed.data
        if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) or b"\x00" in data[: 1 << 16]:
            raise NeedsCare
        if b"\n" not in data or data.startswith(MAGIC):
            raise NeedsCare
        sample = data[: 4 * _GARBLED_SAMPLE]
        if not sample.isascii() and is_garbled(sample.decode("utf-8", "replace")[:_GARBLED_SAMPLE]):
            raise NeedsCare

    def _take(self, fresh: bytes) -> None:
        """Looks at what was read: only UTF-8 will do."""
        if fresh:
            self.open_end = fresh[-1] != _NEWLINE
        if not fresh.isascii():
            try:
                for begin, end in characters(fresh):
                    fresh[begin:end].decode()
            except UnicodeDecodeError:
                raise NeedsCare from None

    # -- the pass ------------------------------------------------------------------------------
    def _scan(self) -> bool:
        """Reads what is at hand; whether the text is at its end."""
        feed = self.feed
        data, ended = feed.data, feed.ended
        try:
            while True:
                position = self.position
                found = find_next(data, position)
                if found is None:
                    self._noise(data, len(data))
                    if self.position >= len(data):
                        return ended
                    continue
                a_dict = data[found.end() - 1] == _BRACE
                if len(found[0]) > 1 and not a_dict:
                    self._noise(data, data.find(b"\n", found.end()) + 1 or len(data), whole=False)
                    continue
                hit = found.start() + 1 - len(b"step:")
                start = data.rfind(b"\n", position, found.start()) + 1 or position
                if start > position:
                    self._noise(data, start)
                    if self.position != start:
                        continue
                if a_dict:
                    self._careful(data, start)
                    continue
                stop = data.find(b"\n", hit)
                if stop < 0:
                    stop = len(data)
                if self.line >= self.block_from and self._block(data, start, hit, stop):
                    continue
                if self._quick(data, start, hit, stop):
                    self.position = min(stop + 1, len(data))
                    self.line += 1
                else:
                    self._careful(data, start)
        except _NeedsMore:
            return False

    def _noise(self, data: bytes, end: int, *, whole: bool = True) -> None:
        """Lines without ``step:`` and validation dicts, up to an offset; a number of samples may stand there.

        Args:
            data: what is at hand.
            end: the offset behind them.
            whole: none of them, except for the first at hand, can be a head that a terminal broke.
        """
        while self.position < end:
            begin = self.position
            bracket = data.find(b"[", begin, end)  # one character is found at a tenth of the cost of many
            found = data.find(_SAMPLES, begin, end) if bracket >= 0 else -1
            stop = end
            if found >= 0:
                stop = data.rfind(b"\n", begin, found) + 1 or begin
            if stop > begin:
                self._skip(data, begin, stop, whole=whole)
            if found >= 0:
                self._careful(data, stop)

    def _skip(self, data: bytes, begin: int, end: int, *, whole: bool) -> None:
        self.signs.look(data, begin, end, len(self.taken.lines) + len(self.scan.taken), whole=whole)
        self.lookalikes.look(data, begin, end, self.line)
        self.around.noise(data, begin, end, self.line)
        self.tail = data[max(begin, end - _TAIL) : end]
        lines = count_breaks(data, begin, end) + (data[end - 1] != _NEWLINE)
        self.line += lines
        if self.rest_lines <= MOST_ASIDES:
            self.rest.append(data[begin:end])
        self.rest_lines += lines
        self.position = end

    # -- many plain lines ----------------------------------------------------------------------
    def _block(self, data: bytes, start: int, hit: int, stop: int) -> bool:
        """Takes whole records on consecutive lines; false, with nothing taken, if they need a closer look."""
        front = data[start:hit]
        head = front + b"step:"
        second = data.find(b"\n", stop + 1) + 1
        if any(0 < at < len(data) and not data.startswith(head, at) for at in (stop + 1, second)):
            return False
        known = self._prefix(front) if front else (None, 0)
        lines = BytesIO(data[start : start + _BLOCK]).readlines()
        count = next((index for index, line in enumerate(lines) if not line.startswith(head)), len(lines))
        # The end of the block may cut the last line, and what follows the last but one has to be a record.
        reaches = count == len(lines)
        lines = lines[: count - 2 if reaches else count - 1]
        if len(lines) < _FEWEST:
            if reaches and start + _BLOCK >= len(data) and not self.feed.ended:
                raise _NeedsMore
            return False
        end = start + sum(map(len, lines))
        groups = None
        if known is not None and _HEADER.match(data, end + len(front)):
            lines = [line[len(front) : -1] for line in lines]
            if self.taken.are_whole(lines, known[1]):
                groups = self.records.read(lines)
        if known is None or groups is None:
            self.block_from = self.line + _PAUSE
            return False
        copied = self.taken.add_block(groups, lines, self.line, *known)
        self.around.head_room -= len(lines)
        self.line += len(lines)
        self.rest, self.rest_lines = [], MOST_ASIDES + 1 if copied else 0
        self.position = end
        return True

    # -- plain lines ---------------------------------------------------------------------------
    def _quick(self, data: bytes, start: int, hit: int, stop: int) -> bool:
        """Takes a whole record on one line; false if it needs a closer look."""
        header = _HEADER.match(data, hit)
        if header is None:
            return False
        tag: str | None = None
        front = 0
        if hit > start:
            known = self._prefix(data[start:hit])
            if known is None:
                return False
            tag, front = known
        if data[stop - 1] == _RETURN:
            stop -= 1
            after = stop + 2
        else:
            after = stop + 1
        begin = header.end()
        body = data[begin:stop].rstrip(b" ")
        full = front + stop - hit
        size = begin - hit + len(body)
        if cuts.KNOWN_LIMIT in (full, size) or self.taken.ends.are_cut_at(size):
            return False
        cells = self.reader.read(body)
        if cells is None or self._may_continue(data, start, hit, after, full):
            return False
        self.around.head_room -= 1
        if self.taken.add_line(int(header[1]), cells, data[hit : hit + size], self.line, tag=tag, full=full):
            self.rest_lines = MOST_ASIDES + 1
        else:
            self.rest, self.rest_lines = [], 0
        return True

    def _prefix(self, raw: bytes) -> tuple[str | None, int] | None:
        """Process and visible length of what stands before ``step:``; ``None`` if no record starts there."""
        known = self.prefixes.get(raw, _UNKNOWN)
        if known is not _UNKNOWN:
            return known
        found: tuple[str | None, int] | None = None
        if b"\r" not in raw:
            text = strip_ansi(raw.decode("utf-8", "replace"))
            header = find_header(text + "step:1 - x:1")
            if header is not None and header.line[header.start :] == "step:1 - x:1":
                found = (header.tag, len(text))
        if len(self.prefixes) >= _MOST_PREFIXES:
            self.prefixes.clear()
        self.prefixes[raw] = found
        return found

    def _same_front(self, data: bytes, start: int, hit: int, after: int) -> bool:
        """Whether the next line is a record of the same process."""
        return data.startswith(data[start:hit], after) and bool(_HEADER.match(data, after + hit - start))

    def _may_continue(self, data: bytes, start: int, hit: int, after: int, full: int) -> bool:
        """Whether the line behind a whole record could belong to it."""
        if after >= len(data):
            if not self.feed.ended:
                raise _NeedsMore
            return False
        if _HEADER.match(data, after) or (hit > start and self._same_front(data, start, hit, after)):
            return False
        end = data.find(b"\n", after)
        piece = data[after : end if end >= 0 else len(data)]
        if b"\x1b" in piece:
            piece = strip_colours(piece)
        if not piece.strip() or (full > WIDEST_TERMINAL and b" - " not in piece):
            return False
        entries, _, _ = entries_at(data, start, 2, self.line)
        starts, _ = find_marks(entries)
        return 0 not in starts or len(join_record(entries, 0, starts, 0).entries) > 1

    # -- lines that need a closer look ---------------------------------------------------------
    def _careful(self, data: bytes, start: int) -> None:
        """Takes the line that starts at an offset, and those that belong to it, the careful way."""
        for size in _WINDOWS:
            entries, numbers, end = entries_at(data, start, size, self.line)
            complete = end > len(data)
            if complete and not self.feed.ended:
                raise _NeedsMore
            if size == _WINDOWS[0]:
                self._look_before(data, start, entries[0])
            taken = self._take_window(entries, numbers, complete=complete)
            if taken is not None:
                break
        else:
            raise NeedsCare
        last = len(entries) - (complete and not entries[-1])
        lines = (numbers[taken] if taken < last else numbers[last - 1] + 1) - self.line
        at = start
        for _ in range(lines):
            at = data.find(b"\n", at) + 1 or len(data)
        used = self.scan.taken.intersection(numbers[:taken])
        if len(used) < lines:
            self.around.keep(data[start:at], self.line)
        else:
            self.around.head_room -= taken
        self.line += lines
        self.position = at

    def _look_before(self, data: bytes, start: int, entry: str) -> None:
        """Whether a terminal may have broken the prefix of a line that is no record as it stands.

        Raises:
            NeedsCare: it may have.
        """
        if self.line == 1 or "step:" not in entry or find_header(entry) is not None:
            return
        if start == 0:
            raise NeedsCare
        before = data[data.rfind(b"\n", 0, start - 1) + 1 : start - 1].decode()
        if find_split_front(strip_ansi(before).rstrip("\r"), entry) is not None:
            raise NeedsCare

    def _take_window(self, entries: list[str], numbers: list[int], *, complete: bool) -> int | None:
        """Takes the first line of a window with all that belongs to it.

        Returns:
            The index of the first entry of the first line that was not used; ``None`` if the window is too small.
        """
        starts, others = find_marks(entries)
        records: list[tuple[Header, Joined] | int] = []
        at = 0
        while at < len(entries) and (at == 0 or numbers[at] == numbers[at - 1]):
            end = at + 1
            if at in starts:
                joined = _join(entries, at, starts)
                records.append((starts[at], joined))
                end = joined.entries[-1] + 1
            elif at in others:
                printed = read_validation_dict(entries, numbers, at) if MARK in entries[at] else None
                records.append(at)
                if printed is not None:
                    if printed.end >= len(entries) and not complete:  # cells may follow where none has come yet
                        return None
                    end = printed.end if printed.cells else end
            if end >= len(entries) and not complete:
                return None
            at = end
        scan = self.scan
        document = Document(self.name, entries, numbers, len(entries))
        doubtful = len(scan.bad)
        rest = 0
        for record in records:
            if isinstance(record, int):
                take_other(scan, document, record)
                continue
            known = len(scan.rows)
            end = take_record(scan, document, *record, hashed=True)
            if len(scan.rows) > known:
                self.taken.ends.add_careful(known)
                self.rest, self.rest_lines, rest = [], 0, end
        if self.rest_lines <= MOST_ASIDES:
            self.rest.append(entries[rest:at])
        self.rest_lines += at - rest
        bad = set(scan.bad[doubtful:])
        for entry, number in zip(entries[:at], numbers[:at], strict=True):
            if number not in scan.taken and (number in bad or looks_like_metrics(entry)):
                self.lookalikes.add(entry, number)
        return at

    # -- the end -------------------------------------------------------------------------------
    def _finish(self) -> BytesReading:
        scan = self.scan
        self.taken.ends.settle()
        scan.rest = self._rest()
        runs = finish_scan(scan, self.name)
        if not runs:
            raise NeedsCare
        text_lines = self.line - 1
        taken = len(self.taken.lines) + len(scan.taken)
        lost = len(self.lookalikes.numbers)
        counts = LineCounts(taken, text_lines - taken - lost, lost, tuple(self.lookalikes.samples.values()))
        kept, others = self.taken.lines, scan.taken
        ends = [*kept[:1], *kept[-1:], *others]
        parts = self.around.parts(self.line, closed=not self.open_end)
        prose = prose_around(parts, others, min(ends), max(ends))
        return BytesReading(
            tuple(replace(run, lines=counts) for run in split_runs(runs, used_up=True)),
            prose,
            text_lines,
            tuple(sorted(self.lookalikes.numbers)),
            self.lookalikes.skipped,
            self.around.sample,
            self.lookalikes.blocks or may_hold_block(self.tail, 0, len(self.tail)),
        )

    def _rest(self) -> list[str]:
        """The lines behind the last row, if there are not too many of them."""
        rest: list[str] = []
        if self.rest_lines > MOST_ASIDES:
            return [""] * (MOST_ASIDES + 1)
        for part in self.rest:
            rest += lines_of(part) if isinstance(part, bytes) else part
        return rest if self.open_end else [*rest, ""]


def _join(entries: list[str], index: int, starts: dict[int, Header]) -> Joined:
    """A record with its continuations; the width of the log's widest line is not known and must not matter."""
    joined = join_record(entries, index, starts, 0)
    if len(joined.entries) > 1 and len(join_record(entries, index, starts, 1 << 60).entries) != len(joined.entries):
        raise NeedsCare
    return joined
