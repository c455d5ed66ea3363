"""Two readings of one log put together: of its beginning, and of its last lines with some that the first had, too."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from assistant.model import Column, Run
from assistant.model.run import Missing
from assistant.parsing.splitting import split_runs

#: Rows at the end of a reading that the next one may read otherwise: they may not have been complete.
OPEN_ROWS: Final = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines of the log, the first of which is line ``first``."""

    first: int
    data: bytes

    @property
    def lines(self) -> int:
        """How many."""
        return self.data.count(b"\n") + (not self.data.endswith(b"\n") and bool(self.data))


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
        extras={**old.extras, **run.extras},
        version=old.version or run.version,
    )


def _before(missing: Iterable[Missing], since: int) -> list[Missing]:
    return [gap for gap in missing if gap.line < since]
