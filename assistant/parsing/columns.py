"""Tables whose columns are metrics, however they were written: which columns, which rows, which steps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from assistant.model.run import Missing, Note, Number, Run
from assistant.parsing.frameworks import detect_framework
from assistant.parsing.metric_names import is_metric_name
from assistant.parsing.numbers import read_number
from assistant.parsing.repair import Document
from assistant.parsing.stepbook import axis_first, is_step, keeps_axis
from assistant.parsing.table import Row, build_run, restart_notes

NO_VALUES: Final = frozenset({"none", "null", "n/a", "na", "#n/a", "<na>", "-", "--", "—", "undefined", "no log"})
_DIGIT: Final = re.compile("[0-9]")
_WORDS: Final = re.compile(
    r"(?i)(?<![a-z])(?:loss|reward|rewards|rew|return|ret|accuracy|acc|kl|entropy|lr|learning rate|ppl|perplexity|"
    r"score|grad(?:ient)? ?norm|value|fps|throughput|success|win ?rate|error|f1|bleu|rouge|mfu|auc)(?![a-z])"
)


@dataclass
class Table:
    """Cells of a table as text.

    Attributes:
        names: of the columns.
        rows: the text of each cell; shorter where the text was cut.
        lines: original line of each row.
        cells: original line of each cell, where they differ from the row's.
        cut: whether the text stops inside the last row.
        taken: original lines that were used.
        odd: original lines between the rows that have another number of cells.
    """

    names: list[str]
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    cut: bool = False
    taken: set[int] = field(default_factory=set)
    odd: list[int] = field(default_factory=list)


def is_metric(name: str) -> bool:
    """Whether a column's name is a metric's, spelled for programs or for people (``Training Loss``)."""
    return is_metric_name(name) or _WORDS.search(name) is not None


def is_result(name: str) -> bool:
    """Whether a name is a metric's even where nothing counts the rows: a well-known word, or a path."""
    return _WORDS.search(name) is not None or ("/" in name and is_metric_name(name))


def read_columns(table: Table) -> dict[str, list[tuple[int, Number | None, str]]]:
    """The columns that hold numbers: ``(row, value, text)`` of each cell that is not blank.

    A column with any other text than the words for "no value" holds no numbers, but for the odd cell in a
    long column or in that of a well-known metric.
    """
    columns: dict[str, list[tuple[int, Number | None, str]]] = {}
    for at, name in enumerate(table.names):
        if not name or name in columns:
            continue
        cells: list[tuple[int, Number | None, str]] = []
        good = odd = 0
        for index, row in enumerate(table.rows):
            text = row[at].strip() if at < len(row) else ""
            if not text:
                continue
            value = read_number(text)
            if value is None and table.cut and index == len(table.rows) - 1 and at == len(row) - 1:
                continue
            good += value is not None
            odd += value is None and text.lower() not in NO_VALUES
            cells.append((index, value, text))
        if good and (odd * 20 <= good or (odd <= good and is_result(name))):
            columns[name] = cells
    return columns


def table_run(
    table: Table, document: Document, *, format: str, id: str = "r0", warnings: Sequence[Note] = ()
) -> Run | None:
    """The run of a table, ``None`` if its columns are not those of a log of metrics."""
    columns = read_columns(table)
    filled = sum(any(row[at].strip() for row in table.rows if at < len(row)) for at in range(len(table.names)))
    numbers = {
        name: [value for _, value, _ in cells if value is not None]
        for name, cells in columns.items()
        if all(value is not None for _, value, _ in cells)
    }
    axis, steps = axis_first(numbers, len(table.rows))
    metrics = [name for name in columns if not is_step(name)]
    if 2 * len(columns) < filled or not metrics or not (axis is not None or any(map(is_result, metrics))):
        return None
    rows = [Row(step, line) for step, line in zip(steps, table.lines, strict=True)]
    missing: list[Missing] = []
    for name, cells in columns.items():
        if name == axis and not keeps_axis(name):
            continue
        good = sum(value is not None for _, value, _ in cells)
        for index, value, text in cells:
            row = rows[index]
            if value is not None:
                row.values[name] = value
            elif 2 * good >= len(table.rows) or text.lower() not in NO_VALUES:
                missing.append(Missing(name, row.step, row.line, "not_a_number", text[:80]))
    notes = [*warnings, *_left_out(table, columns), *restart_notes(rows)]
    if table.cut:
        missing += _cut(table, rows[-1], list(columns))
        line = rows[-1].line
        notes.append(
            Note(
                "text_cut",
                f"第 {line} 行没有完整：文本在行内中断，最后一个值可能只有一半，未采用。",
                f"Line {line} is not complete: the text stops inside it, and a value that may be half was left out.",
                line,
            )
        )
    return build_run(
        rows,
        id=id,
        name=document.name,
        format=format,
        framework=_framework(list(columns)),
        step_axis=axis or "index",
        missing=missing,
        warnings=notes,
    )


def _left_out(table: Table, columns: Mapping[str, object]) -> list[Note]:
    """Tells which columns of well-known metrics and which lines were not read, and what stands there."""
    notes: list[Note] = []
    for at, name in enumerate(table.names):
        if name in columns or not is_result(name) or is_step(name):
            continue
        cells = zip(table.rows, table.lines, strict=True)
        shown = next(
            ((row[at].strip()[:40], line) for row, line in cells if at < len(row) and _DIGIT.search(row[at])), None
        )
        if shown is not None:
            text, line = shown
            notes.append(
                Note(
                    "column_left_out",
                    f"列 {name} 不是单纯的数（例如第 {line} 行的 {text}），未采用。",
                    f"The column {name} does not hold plain numbers (such as {text} on line {line}) and was left out.",
                    line,
                )
            )
    if table.odd:
        count, first, width = len(table.odd), table.odd[0], len(table.names)
        notes.append(
            Note(
                "rows_left_out",
                f"有 {count} 行（最先是第 {first} 行）的单元格数与表头的 {width} 列不符，未采用。",
                f"{count} lines (first line {first}) do not have the header's {width} cells and were left out.",
                first,
                tuple(table.odd),
            )
        )
    return notes


def _cut(table: Table, row: Row, names: list[str]) -> list[Missing]:
    """What the last row lacks: its last cell may be half, those behind it are not there."""
    held = len(table.rows[-1])
    gaps = []
    for at, name in enumerate(table.names):
        if name in names and at == held - 1 and table.rows[-1][at].strip():
            row.values.pop(name, None)
            gaps.append(Missing(name, row.step, row.line, "half_value", table.rows[-1][at][:80]))
        elif name in names and at >= held:
            gaps.append(Missing(name, row.step, row.line, "line_cut"))
    return gaps


def _framework(names: list[str]) -> str | None:
    if any(name.startswith(("rollout/ep_", "time/total_timesteps")) for name in names):
        return "Stable-Baselines3"
    if {"AverageEpRet", "EpLen"} & set(names):
        return "Spinning Up"
    return detect_framework(names)
