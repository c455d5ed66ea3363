"""Large logs of any line-based format in bounded memory: read in segments, whose runs are joined.

The text is cut at line ends. Each segment is read by the same formats as a smaller text, with lines around it on both
sides and the beginning of the text in front (the header of a CSV table stands there); what lies on the segment's own
lines is kept and joined to what the segments before have. A format's claim is settled over all segments, as it is over
a whole text. Steps that a format counts itself go on where the segment before ended.

Of the whole reading it differs in what only far-apart lines tell together:

- A record that another process repeats farther away than the context is a row of its own; runs by process are told
  apart only where they contradict each other within one segment, and whether every event is printed as often (then
  even those with few digits are copies) is told within one segment.
- Which metrics a cut line lacks, and at which length lines are cut, is told from the lines of its segment.
- A group of values that is spread over more lines than the context is two rows.
- Where trainings with progress bars of different length follow each other, rows without a step may be counted instead.
- The framework is told from the keys that one segment shows.

Where a segment reads the lines before it otherwise than the segment before did, where the segments disagree on what
counts the rows, or where the text is one document, :class:`~assistant.parsing.largecut.NeedsWhole` is raised and all
of it has to be read at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from assistant.model.run import LineCounts, Note, Run
from assistant.parsing.beside import lost_note
from assistant.parsing.counts import looks_like_metrics
from assistant.parsing.decoding import lost_bytes
from assistant.parsing.endings import with_ending
from assistant.parsing.largecut import SIZES, Cutter, Entries, NeedsWhole, Segment, Sizes
from assistant.parsing.largejoin import FORGOTTEN, JoinedReading
from assistant.parsing.largelines import LineSet
from assistant.parsing.prose import SCAN, Prose, prose_around
from assistant.parsing.registry import LOG_STRENGTH, Claim, Registry, settle
from assistant.parsing.repair import strip_ray
from assistant.parsing.splitting import split_runs
from assistant.parsing.table import Reading
from assistant.parsing.totals import with_totals

_DOCUMENTS: Final = frozenset({"trainer-state", "json"})
"""Formats of runs that are one document, not lines."""

_MANY: Final = 20_000
_FEWER: Final = 0.9
_NEARLY: Final = 0.98
_MOST_SAMPLES: Final = 1000
_SAMPLES: Final = 3
_SAMPLE_WIDTH: Final = 160
_ENDS_SIZE: Final = 1 << 24


@dataclass(frozen=True)
class LargeReading:
    """What was read from a large text.

    Attributes:
        runs: in order of appearance, with line counts.
        prose: paragraphs of natural language around the log.
        notes: remarks on the text as a whole.
        text_lines: number of lines.
        doubtful: numbers of the lines that look like metrics and were not read.
        samples: texts of the first three of them.
    """

    runs: tuple[Run, ...]
    prose: tuple[Prose, ...]
    notes: tuple[Note, ...]
    text_lines: int
    doubtful: tuple[int, ...]
    samples: tuple[str, ...]


def read_large(registry: Registry, chunks: Iterator[bytes], name: str, sizes: Sizes | None = None) -> LargeReading:
    """Reads a large text in segments.

    Args:
        registry: the formats.
        chunks: its bytes.
        name: for display.
        sizes: how to cut it.

    Raises:
        NeedsWhole: it is not large, or has to be read as a whole.
    """
    cutter = Cutter(chunks, name, sizes or SIZES)
    joiner = _Joiner(registry)
    for segment in cutter.segments():
        joiner.take(segment)
    cutter.check_encoding()
    return joiner.finish(cutter)


@dataclass
class _Joiner:
    """What all formats have read so far."""

    registry: Registry
    readings: dict[str, JoinedReading] = field(default_factory=dict)
    lookalikes: LineSet = field(default_factory=LineSet)
    samples: dict[int, str] = field(default_factory=dict)
    blocks: list[int] = field(default_factory=list)
    first: Entries = field(default_factory=lambda: Entries([], []))
    last: Entries = field(default_factory=lambda: Entries([], []))

    def take(self, segment: Segment) -> None:
        """Reads a segment: log formats always, the others while no log format has found anything."""
        known: Reading | None = None
        read: list[Reading] = []
        for reader in self.registry.formats():
            joined = self.readings.get(reader.name)
            weak = reader.strength < LOG_STRENGTH
            if weak and (known is not None or self._found_log()):
                break
            if known is not None and joined is not None and self._is_idle(joined, known, segment):
                continue
            reading = reader.read(segment.document)
            read.append(reading)
            if joined is None:
                if not reading.runs and not reading.not_understood:
                    continue
                joined = self.readings[reader.name] = JoinedReading(reader.name, reader.strength)
            if any(run.format in _DOCUMENTS for run in reading.runs):
                raise NeedsWhole
            joined.take(reading, segment)
            if reading.runs and known is None:
                known = reading
        self._forget_rivals()
        self._look(segment, known)
        if self._found_log():
            self._look_beside(segment, read)
        self._keep_ends(segment.own)

    def _forget_rivals(self) -> None:
        """Keeps no table of a format whose lines a stronger one reads too: it would never be shown."""
        ranked = [self.readings[reader.name] for reader in self.registry.formats() if reader.name in self.readings]
        ranked = [joined for joined in ranked if joined.runs]
        for joined in ranked[1:]:
            if len(joined.taken) > _MANY and 2 * len(joined.taken & ranked[0].taken) > len(joined.taken):
                joined.count_only()

    def _is_idle(self, joined: JoinedReading, known: Reading, segment: Segment) -> bool:
        """Whether a format whose table was forgotten has nothing to find: a stronger one takes nearly all lines."""
        if joined.counted is None:
            return False
        most = max(other.cells() for other in self.readings.values() if other.counted is None)
        taken = sum(number in known.taken for number in segment.own.numbers)
        return joined.cells() < _FEWER * most and taken > _NEARLY * len(segment.own.numbers)

    def _found_log(self) -> bool:
        return any(joined.runs and joined.strength >= LOG_STRENGTH for joined in self.readings.values())

    def _look(self, segment: Segment, known: Reading | None) -> None:
        """Finds lines that look like metrics among those that the strongest log format did not take."""
        strong = known is not None and self._found_log()
        taken = known.taken if known is not None and strong else frozenset()
        for line, number in zip(segment.own.lines, segment.own.numbers, strict=True):
            if number not in taken and looks_like_metrics(line):
                self._doubt(number, line)
        wanted = {number for joined in self.readings.values() for number in joined.not_understood[-_MOST_SAMPLES:]}
        if wanted and len(self.samples) < _MOST_SAMPLES:
            for line, number in zip(segment.own.lines, segment.own.numbers, strict=True):
                if number in wanted:
                    self._sample(number, line)

    def _look_beside(self, segment: Segment, read: list[Reading]) -> None:
        """Finds tables and records of another log: beside a large one they are told, not read."""
        taken = frozenset().union(*(reading.taken for reading in read))
        beside = self.registry.beside(segment.document, Reading(tuple(r for one in read for r in one.runs), taken))
        lost = {number for number in (*beside.taken, *beside.lost) if segment.holds(number)}
        if lost:
            for line, number in zip(segment.own.lines, segment.own.numbers, strict=True):
                if number in lost:
                    self._doubt(number, line)
            self.blocks += sorted(lost)

    def _doubt(self, number: int, line: str) -> None:
        self.lookalikes.update((number,))
        self._sample(number, line)

    def _sample(self, number: int, line: str) -> None:
        if len(self.samples) < _MOST_SAMPLES:
            self.samples.setdefault(number, strip_ray(line)[1].strip()[:_SAMPLE_WIDTH])

    def _keep_ends(self, own: Entries) -> None:
        """The first and the last lines, where prose is looked for."""
        missing = SCAN - len(self.first.lines)
        if missing > 0:
            begin = own.first(missing, _ENDS_SIZE)
            self.first.lines += begin.lines
            self.first.numbers += begin.numbers
            own = Entries(own.lines[len(begin.lines) :], own.numbers[len(begin.numbers) :])
        if own.lines:
            end = Entries(self.last.lines + own.lines, self.last.numbers + own.numbers)
            self.last = end.last(SCAN, _ENDS_SIZE)

    def finish(self, cutter: Cutter) -> LargeReading:
        """The reading of the whole text."""
        claims: list[Claim] = []
        doubtful: list[int] = []
        for reader in self.registry.formats():
            known = self.readings.pop(reader.name, None)
            if known is None:
                continue
            if claims and (known.strength < LOG_STRENGTH or claims[0].strength < LOG_STRENGTH):
                break
            if known.runs or known.counted:
                claims.append(Claim(known.name, known.strength, known.finish()))
            else:
                doubtful.extend(known.not_understood)
        reading = settle(claims) if claims else Reading(not_understood=tuple(doubtful))
        if any(run.format == FORGOTTEN for run in reading.runs):
            raise NeedsWhole
        taken = reading.taken if isinstance(reading.taken, LineSet) else LineSet(reading.taken)
        self.lookalikes.update(reading.not_understood)
        lost = self.lookalikes.without(taken)
        shown = tuple(text for number, text in sorted(self.samples.items()) if number in lost)[:_SAMPLES]
        lines = cutter.line - 1
        counts = LineCounts(len(taken), lines - len(taken) - len(lost), len(lost), shown)
        asking = set(reading.asking)
        first, last = taken.ends()
        ends = ((part.lines, part.numbers) for part in (self.first, self.last))
        usable = taken.without(LineSet(asking)) if asking else taken
        notes = lost_bytes(cutter.bad) if cutter.damaged else ()
        blocks = [number for number in self.blocks if number in lost]
        if blocks:
            notes += (lost_note(blocks),)
        ends_lines = [*self.first.lines, *self.last.lines]
        ends_numbers = [*self.first.numbers, *self.last.numbers]
        told = with_totals(split_runs(reading.runs, used_up=True), ends_lines, ends_numbers)
        told = with_ending(told, ends_lines, ends_numbers)
        return LargeReading(
            tuple(replace(run, lines=counts) for run in told),
            prose_around(ends, usable, first, last),
            notes + reading.notes,
            lines,
            tuple(lost),
            shown,
        )
