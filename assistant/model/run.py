"""A training run as an exact table: rows are log events, columns are metrics, each cell knows its line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby, islice
from operator import lt
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

Number = int | float

MissingReason = Literal["line_cut", "half_value", "half_wrapper", "half_key", "not_a_number"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One value as the log printed it.

    Attributes:
        metric: key, spelled as the log spells it.
        step: step of the row.
        value: the number; ``nan`` and infinities are values. An ``int`` where the text held an integer.
        line: 1-based line of the *original* text on which the value begins.
        row: index of the row in the run.
    """

    metric: str
    step: int
    value: Number
    line: int
    row: int


@dataclass(frozen=True, slots=True)
class Missing:
    """A cell that the log should hold and does not; never filled in.

    Attributes:
        metric: the key, or ``None`` when the cut came before any key could be read.
        step: step of the row.
        line: 1-based line where the text stops.
        reason: ``line_cut`` (the rest of the line is not there: every metric that other rows of the
            same kind carry), ``half_value`` (digits stop at the cut), ``half_wrapper``
            (``np.float64(0.2`` without its end), ``half_key``, ``not_a_number`` (``None`` or text
            where a number belongs).
        detail: what stood there, for display (at most 80 characters).
        limit: length in characters at which the line was cut, if the cut is at a known limit (4096).
    """

    metric: str | None
    step: int
    line: int
    reason: MissingReason
    detail: str = ""
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """Values of one metric over the rows that hold it; parallel sequences of equal length."""

    rows: Sequence[int]
    values: Sequence[Number]
    lines: Sequence[int]


@dataclass(frozen=True, slots=True)
class LineCounts:
    """How the lines of a text were used: ``taken`` + ``ignored`` + ``not_understood`` = all."""

    taken: int = 0
    ignored: int = 0
    not_understood: int = 0
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """A remark of the parser for the reader, in both languages, with a stable code.

    Attributes:
        counted: original lines whose number the remark tells, where it tells one.
    """

    code: str
    zh: str
    en: str
    line: int | None = None
    counted: tuple[int, ...] = field(default=(), compare=False, repr=False)

    def text(self, language: str) -> str:
        """The remark in one language."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True, slots=True)
class Version:
    """When the code that printed a log was current, as far as its keys tell.

    Attributes:
        since: ISO date of the change that brought one of its keys, if any did.
        until: ISO date of the change after which it would print otherwise, if any.
        evidence: the keys that tell it.
    """

    since: str | None
    until: str | None
    evidence: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """For ``parse`` and ``runs``."""
        return {"since": self.since, "until": self.until, "evidence": list(self.evidence)}


@dataclass(frozen=True, eq=False)
class Run:
    """One training run.

    Attributes:
        id: ``r0``, ``r1`` … in order of appearance.
        name: for display (file name or "pasted text").
        format: the parser that read it: ``verl``, ``key-value``, ``markdown-list`` …
        framework: ``verl``, ``ROLL``, ``TRL`` … or ``None`` where the keys do not tell.
        step_axis: name of the key that counts the rows (``step``), or ``index`` if there is none.
        steps: step of each row, in the log's order (a restart may go back).
        row_lines: first line of each row.
        columns: metric → its values. Order is the log's order of first appearance.
        missing: cells that should be there and are not.
        warnings: remarks for the reader.
        lines: how the text's lines were used.
        version: when the framework's code that printed it was current, where its keys tell.
        extras: side facts printed beside the metrics (such as ``validation_samples``: value, line).
    """

    id: str
    name: str
    format: str
    framework: str | None
    step_axis: str
    steps: tuple[int, ...]
    row_lines: tuple[int, ...]
    columns: Mapping[str, Column]
    missing: tuple[Missing, ...] = ()
    warnings: tuple[Note, ...] = ()
    lines: LineCounts = field(default_factory=LineCounts)
    extras: Mapping[str, tuple[Number, int]] = field(default_factory=dict)
    version: Version | None = None

    # -- reading -----------------------------------------------------------------------------
    @property
    def metrics(self) -> tuple[str, ...]:
        """All keys, in the log's order."""
        return tuple(self.columns)

    @property
    def distinct_steps(self) -> tuple[int, ...]:
        """Steps, ascending, each once."""
        if all(map(lt, self.steps, islice(self.steps, 1, None))):
            return tuple(self.steps)
        return tuple(step for step, _ in groupby(sorted(self.steps)))

    def cells(self, metric: str) -> list[Cell]:
        """All cells of a metric in the log's order; empty for a metric that is not there."""
        column = self.columns.get(metric)
        if column is None:
            return []
        return [
            Cell(metric, self.steps[row], value, line, row)
            for row, value, line in zip(column.rows, column.values, column.lines, strict=True)
        ]

    def cell(self, metric: str, step: int) -> Cell | None:
        """The cell of a metric at a step (the last one, where a restart printed the step again)."""
        place = self._places(metric).get(step)
        if place is None:
            return None
        column = self.columns[metric]
        return Cell(metric, step, column.values[place], column.lines[place], column.rows[place])

    def _places(self, metric: str) -> dict[int, int]:
        """Step → place in a metric's column; the last one, where a step was printed again. Built when first asked."""
        found = self._found.get(metric)
        if found is None:
            column = self.columns.get(metric)
            rows = () if column is None else column.rows
            found = self._found[metric] = {self.steps[row]: place for place, row in enumerate(rows)}
        return found

    @cached_property
    def _found(self) -> dict[str, dict[int, int]]:
        return {}

    @cached_property
    def _gaps(self) -> dict[tuple[str | None, int], Missing]:
        return {(gap.metric, gap.step): gap for gap in reversed(self.missing)}

    def value(self, metric: str, step: int) -> Number | None:
        """The value at a step, ``None`` if the cell is not there."""
        cell = self.cell(metric, step)
        return None if cell is None else cell.value

    def at(self, step: int) -> dict[str, Cell]:
        """All cells of a step, in the log's order of keys."""
        result = {}
        for metric in self.columns:
            cell = self.cell(metric, step)
            if cell is not None:
                result[metric] = cell
        return result

    def series(self, metric: str) -> tuple[list[int], list[Number]]:
        """Steps (ascending, a repeated step counted once: its last value) and values of a metric."""
        places = self._places(metric)
        steps = sorted(places)
        return steps, [self.columns[metric].values[places[step]] for step in steps]

    def missing_at(self, metric: str, step: int) -> Missing | None:
        """Why a cell is not there, if the parser knows."""
        return self._gaps.get((metric, step))

    def renamed(self, *, id: str | None = None, name: str | None = None) -> Run:
        """The same run under another id or name."""
        return replace(self, id=id or self.id, name=name or self.name)

    # -- writing -----------------------------------------------------------------------------
    def rows(self) -> Iterator[tuple[int, int, dict[str, Number]]]:
        """``(step, line, values)`` of each row, in the log's order."""
        table: list[dict[str, Number]] = [{} for _ in self.steps]
        for metric, column in self.columns.items():
            for row, value in zip(column.rows, column.values, strict=True):
                table[row][metric] = value
        yield from zip(self.steps, self.row_lines, table, strict=True)

    def to_json(self, language: str = "en") -> dict[str, Any]:
        """The run as the contract's ``parse`` JSON object (NaN and infinities as strings)."""
        return {
            "id": self.id,
            "name": self.name,
            "format": self.format,
            "framework": self.framework,
            "framework_version": self.version.to_json() if self.version else None,
            "step_axis": self.step_axis,
            "rows": [
                {"step": step, "line": line, "values": {k: json_number(v) for k, v in values.items()}}
                for step, line, values in self.rows()
            ],
            "missing": [
                {"metric": m.metric, "step": m.step, "line": m.line, "reason": m.reason, "detail": m.detail}
                for m in self.missing
            ],
            "warnings": [note.text(language) for note in self.warnings],
            "lines": {
                "taken": self.lines.taken,
                "ignored": self.lines.ignored,
                "not_understood": self.lines.not_understood,
                "samples": list(self.lines.samples),
            },
        }

    def summary_json(self, language: str = "en") -> dict[str, Any]:
        """The run as in ``runs`` of an answer."""
        steps = self.distinct_steps
        return {
            "id": self.id,
            "name": self.name,
            "format": self.format,
            "framework": self.framework,
            "framework_version": self.version.to_json() if self.version else None,
            "step_axis": self.step_axis,
            "steps": [steps[0], steps[-1]] if steps else [],
            "n_steps": len(steps),
            "n_metrics": len(self.columns),
            "warnings": [note.text(language) for note in self.warnings],
        }

    def to_pandas(self) -> pd.DataFrame:
        """A data frame: one row a log event, indexed by step; absent cells are NaN."""
        import pandas as pd

        frame = pd.DataFrame([values for _, _, values in self.rows()], columns=list(self.columns))
        frame.index = pd.Index(self.steps, name=self.step_axis)
        return frame


def json_number(value: Number) -> Number | str:
    """A number as strict JSON can hold it: ``"NaN"``, ``"Infinity"``, ``"-Infinity"`` as strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value
