"""Log events on their way to a :class:`~assistant.model.run.Run`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice
from operator import lt
from typing import TYPE_CHECKING

from assistant.model.run import Column, Missing, Note, Number, Run

if TYPE_CHECKING:
    from assistant.parsing.kept import KeptRow


@dataclass(slots=True)
class Row:
    """One log event.

    Attributes:
        step: as the log says.
        line: 1-based original line on which the event begins.
        values: metric → value, in the log's order.
        lines: line of each value that does not stand on ``line``.
        last_line: original line on which the event's text ends.
        tag: process that printed it, if the log tells.
        half: the cell at which the text stops, if it stops inside one.
        cut: whether the rest of the line is not there.
        limit: length in characters at which the line was cut, if it is a known one.
        bad: cells whose value is no number.
    """

    step: int
    line: int
    values: dict[str, Number] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    last_line: int = 0
    tag: str | None = None
    half: Missing | None = None
    cut: bool = False
    limit: int | None = None
    bad: list[Missing] = field(default_factory=list)

    def keys(self) -> tuple[str, ...]:
        """The row's metrics, in the log's order."""
        return tuple(self.values)


@dataclass(frozen=True)
class Reading:
    """What a format read from a document.

    Attributes:
        runs: in order of appearance, without line counts.
        taken: original line numbers that were used.
        not_understood: original line numbers that look like this format and could not be read.
        asking: taken lines that hold a question beside the value.
        notes: remarks on the choice of the format.
    """

    runs: tuple[Run, ...] = ()
    taken: Set[int] = frozenset()
    not_understood: tuple[int, ...] = ()
    asking: tuple[int, ...] = ()
    notes: tuple[Note, ...] = ()


def build_run(
    rows: Sequence[Row | KeptRow],
    *,
    id: str,
    name: str,
    format: str,
    framework: str | None,
    step_axis: str,
    missing: Iterable[Missing] = (),
    warnings: Iterable[Note] = (),
    extras: Mapping[str, tuple[Number, int]] | None = None,
    columns: Mapping[str, Column] | None = None,
    axis: tuple[Sequence[int], Sequence[int]] | None = None,
) -> Run:
    """The run that holds the rows; columns in the order in which the keys first appear, if they are not given.

    ``axis`` is the step and the line of each row, where they are at hand.
    """
    steps, lines = axis or ([row.step for row in rows], [row.line for row in rows])
    return Run(
        id=id,
        name=name,
        format=format,
        framework=framework,
        step_axis=step_axis,
        steps=tuple(steps),
        row_lines=tuple(lines),
        columns=collect_columns(rows) if columns is None else columns,
        missing=tuple(missing),
        warnings=tuple(warnings),
        extras=dict(extras or {}),
    )


def collect_columns(rows: Sequence[Row | KeptRow]) -> dict[str, Column]:
    """The rows' values by metric."""
    columns: dict[str, tuple[list[int], list[Number], list[int]]] = {}
    for index, row in enumerate(rows):
        line, lines = row.line, row.lines
        for key, value in row.values.items():
            column = columns.get(key)
            if column is None:
                column = columns[key] = ([], [], [])
            column[0].append(index)
            column[1].append(value)
            column[2].append(lines.get(key, line) if lines else line)
    return {key: Column(*parts) for key, parts in columns.items()}


def restart_notes(rows: Sequence[Row | KeptRow]) -> list[Note]:
    """A note for each place where the step goes back (at most five, then a count)."""
    return back_notes([row.step for row in rows], [row.line for row in rows])


def back_notes(steps: Sequence[int], lines: Sequence[int]) -> list[Note]:
    """As :func:`restart_notes`, from the step and the line of each row."""
    notes: list[Note] = []
    back = [at for at, falls in enumerate(map(lt, islice(steps, 1, None), steps), 1) if falls]
    for at in back[:5]:
        notes.append(
            Note(
                "restart",
                f"第 {lines[at]} 行：步数从 {steps[at - 1]} 退回到 {steps[at]}，训练重启过（或粘贴了另一段日志）。",
                f"Line {lines[at]}: the step goes back from {steps[at - 1]} to {steps[at]}: "
                "the training was restarted (or another log was pasted).",
                lines[at],
            )
        )
    if len(back) > 5:
        notes.append(Note("restart", f"步数共退回 {len(back)} 次。", f"The step goes back {len(back)} times in all."))
    return notes
