"""The runs of a text's segments joined to the runs of the text, column by column in compact arrays."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from assistant.model.run import Column, Missing, Number, Run
from assistant.parsing.largecolumns import JoinedColumns, taken_out
from assistant.parsing.largecut import NeedsWhole, Segment
from assistant.parsing.largelines import LineSet
from assistant.parsing.largenotes import Notes
from assistant.parsing.numbers import same_number
from assistant.parsing.splitting import earlier
from assistant.parsing.table import Reading

_INDEX: Final = "index"
_DATED: Final = "steps_from_progress_bar"
_UNDATED: Final = "no_step"
FORGOTTEN: Final = "forgotten"
"""Format of a run of which only the size is known."""

_CHECKED: Final = 20
"""Rows before a segment that the segment must read as the one before it did."""


@dataclass
class JoinedRun:
    """A run that grows."""

    name: str
    format: str
    framework: str | None
    step_axis: str
    steps: array[int] = field(default_factory=lambda: array("q"))
    row_lines: array[int] = field(default_factory=lambda: array("q"))
    columns: JoinedColumns = field(default_factory=JoinedColumns)
    missing: list[Missing] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)
    extras: dict[str, tuple[Number, int]] = field(default_factory=dict)

    def row_of(self, line: int) -> int | None:
        """The row that begins on a line."""
        at = bisect_left(self.row_lines, line)
        return at if at < len(self.row_lines) and self.row_lines[at] == line else None

    def take(self, run: Run, segment: Segment, *, met: int | None) -> None:
        """Appends the rows of a segment's run that are the segment's own.

        Args:
            run: as the segment reads it.
            segment: the segment.
            met: the last row of the run, before the segment's own, that this one has too.
        """
        own = [at for at, line in enumerate(run.row_lines) if segment.holds(line)]
        if own and own[-1] - own[0] != len(own) - 1:
            raise NeedsWhole
        begin, end = (own[0], own[-1] + 1) if own else (0, 0)
        self._settle_kind(run)
        move = 0
        if self.step_axis == _INDEX:
            move = len(self.steps) - run.steps[begin] if own else 0
        elif met is not None:
            place = self.row_of(run.row_lines[met])
            move = 0 if place is None else self.steps[place] - run.steps[met]
        self.missing.extend(
            gap if not move else Missing(gap.metric, gap.step + move, gap.line, gap.reason, gap.detail, gap.limit)
            for gap in run.missing
            if segment.holds(gap.line)
        )
        for key, held in run.extras.items():
            if segment.holds(held[1]):
                if key in self.extras:  # it may be another run's
                    self.extras[earlier(key, self.extras[key][1])] = self.extras[key]
                self.extras[key] = held
        counted = self.step_axis == _INDEX
        self.notes.take((note for note in run.warnings if not (counted and note.code == _DATED)), segment)
        if own:
            base = len(self.steps) - (met is None and self._goes_on(run, begin))
            self._append(run, begin, end, base, move)

    def _append(self, run: Run, begin: int, end: int, base: int, move: int) -> None:
        fresh = begin + len(self.steps) - base
        try:
            if self.step_axis == _INDEX:
                self.steps.extend(range(len(self.steps), len(self.steps) + end - fresh))
            else:
                self.steps.extend([step + move for step in run.steps[fresh:end]])
        except OverflowError:
            raise NeedsWhole from None
        self.row_lines.extend(run.row_lines[fresh:end])
        self.columns.append(run.columns, begin, end, base, self.row_lines)

    def _goes_on(self, run: Run, at: int) -> bool:
        """Whether a row belongs to the last one: its step and nothing that contradicts it, and something new."""
        if not self.steps or self.step_axis == _INDEX or self.steps[-1] != run.steps[at]:
            return False
        held = self.columns.last_values(len(self.steps) - 1)
        values = values_of(run, at)
        same = all(key not in held or same_number(held[key], value) for key, value in values.items())
        return same and any(key not in held for key in values)

    def _settle_kind(self, run: Run) -> None:
        if run.framework != self.framework and (self.framework is None or run.framework == "TRL"):
            self.format, self.framework = run.format, run.framework
        if run.step_axis == self.step_axis:
            return
        if _INDEX not in (run.step_axis, self.step_axis) or not (
            self.notes.has(_DATED) or any(note.code in (_DATED, _UNDATED) for note in run.warnings)
        ):
            raise NeedsWhole
        if self.step_axis != _INDEX:  # what progress bars do not date throughout is counted
            self.step_axis = _INDEX
            self.steps = array("q", range(len(self.steps)))
            self.notes.drop(_DATED)

    def finish(self, id: str) -> Run:
        """The run; this one is used up."""
        steps, row_lines = taken_out(self.steps), taken_out(self.row_lines)
        columns = self.columns.finish(row_lines)
        run = Run(
            id,
            self.name,
            self.format,
            self.framework,
            self.step_axis,
            steps,
            row_lines,
            columns,
            tuple(self.missing),
            extras=self.extras,
        )
        return self.notes.onto(run)


def values_of(run: Run, at: int) -> dict[str, Number]:
    """The values of a row."""
    found = {}
    for key, column in run.columns.items():
        place = bisect_left(column.rows, at)
        if place < len(column.rows) and column.rows[place] == at:
            found[key] = column.values[place]
    return found


@dataclass
class JoinedReading:
    """What one format reads in all segments."""

    name: str
    strength: int
    runs: list[JoinedRun] = field(default_factory=list)
    taken: LineSet = field(default_factory=LineSet)
    not_understood: array[int] = field(default_factory=lambda: array("q"))
    asking: array[int] = field(default_factory=lambda: array("q"))
    counted: tuple[int, int] | None = None

    def count_only(self) -> None:
        """Forgets the table: a stronger format reads these lines, and only the number of rows and cells matters."""
        rows = sum(len(joined.steps) for joined in self.runs)
        self.counted = rows, self.cells()
        self.runs = []

    def cells(self) -> int:
        """How many cells it has so far."""
        if self.counted is not None:
            return self.counted[1]
        return sum(len(column.values) for joined in self.runs for column in joined.columns.values())

    def _count(self, runs: Sequence[Run], segment: Segment) -> None:
        rows, cells = self.counted or (0, 0)
        for run in runs:
            own = [at for at, line in enumerate(run.row_lines) if segment.holds(line)]
            if own:
                rows += len(own)
                places = ((c.rows, own[0], own[-1] + 1) for c in run.columns.values())
                cells += sum(bisect_left(held, end) - bisect_left(held, begin) for held, begin, end in places)
        self.counted = rows, cells

    def take(self, reading: Reading, segment: Segment) -> None:
        """Appends what a segment has of its own.

        Raises:
            NeedsWhole: the segment does not read what stands before it as the segment before did.
        """
        self.taken.update(filter(segment.holds, reading.taken))
        self.not_understood.extend(filter(segment.holds, reading.not_understood))
        self.asking.extend(filter(segment.holds, reading.asking))
        if self.counted is not None:
            self._count(reading.runs, segment)
            return
        used: list[JoinedRun] = []
        seen: set[int] = set()
        for run in reading.runs:
            seen.update(line for line in run.row_lines if segment.context <= line < segment.begin)
            joined, met = self._match(run, segment, used)
            if joined is None:
                if not any(map(segment.holds, run.row_lines)):
                    continue
                joined = JoinedRun(run.name, run.format, run.framework, run.step_axis)
                at = self.runs.index(used[-1]) + 1 if used else len(self.runs)
                self.runs.insert(at, joined)
            used.append(joined)
            joined.take(run, segment, met=met)
        self._check(seen, segment)

    def _match(self, run: Run, segment: Segment, used: list[JoinedRun]) -> tuple[JoinedRun | None, int | None]:
        """The run that a segment's run goes on with, and the last row before the segment that both have."""
        before = [at for at, line in enumerate(run.row_lines) if segment.context <= line < segment.begin]
        for at in reversed(before):
            for joined in self.runs:
                if joined not in used and joined.row_of(run.row_lines[at]) is not None:
                    return joined, at
        free = [
            joined
            for joined in self.runs
            if joined not in used
            and joined.name == run.name
            and not joined.extras
            and joined.columns.keys() & run.columns
        ]
        return (max(free, key=lambda joined: joined.row_lines[-1], default=None), None) if not used else (None, None)

    def _check(self, seen: set[int], segment: Segment) -> None:
        """Whether the rows in the second half of the lines before a segment were read again."""
        middle = (segment.context + segment.begin + 1) // 2
        for joined in self.runs:
            end = bisect_left(joined.row_lines, segment.begin)
            begin = max(bisect_left(joined.row_lines, middle), end - _CHECKED)
            if not seen.issuperset(joined.row_lines[begin:end]):
                raise NeedsWhole

    def finish(self) -> Reading:
        """The reading of the whole text; of a table that was forgotten only its size is right."""
        if self.counted is not None:
            rows, cells = map(range, self.counted)
            columns = {"": Column(range(len(cells)), cells, cells)}
            forgotten = Run("", "", FORGOTTEN, None, "", (), (), columns)
            steps: Any = rows  # a range has the length of the table
            return Reading((replace(forgotten, steps=steps),), self.taken)
        runs = tuple(joined.finish(f"r{at}") for at, joined in enumerate(self.runs))
        self.runs.clear()
        return Reading(runs, self.taken, tuple(self.not_understood), tuple(self.asking))
