"""Tables in Markdown: columns of metrics, rows of metrics over steps, or a list of metric and value."""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Note, Number, Run
from assistant.parsing.columns import NO_VALUES, Table, is_metric, table_run
from assistant.parsing.frameworks import detect_framework
from assistant.parsing.markdown import Fences
from assistant.parsing.metric_names import is_metric_name
from assistant.parsing.numbers import read_number
from assistant.parsing.repair import Document
from assistant.parsing.stepbook import is_step, unit_notes
from assistant.parsing.table import Reading, Row, build_run

_RULE: Final = re.compile(r"\s{0,8}\|?\s{0,20}:?-{2,200}:?\s{0,20}(?:\|\s{0,20}:?-{2,200}:?\s{0,20}){1,200}\|?\s*$")
_STEP: Final = re.compile(
    r"(?i)(?:global[_ ]?)?(?:step|steps|iter|iteration|epoch|步|第)[ _:=#]{0,3}(?P<step>[0-9]{1,12})\s?(?:步|轮)?$"
)
_NAMES: Final = re.compile(
    r"(?i)metrics?|key|name|metric name|(?:tensorboard|wandb|w&b|logged)? ?(?:scalar|metric)s?(?: name| key)?|"
    r"指标|指标名|指标名称|名称|监控指标|关键指标"
)
_VALUES: Final = re.compile(
    r"(?i)value|values|current(?: value)?|actual(?: value)?|latest(?: value)?|now|"
    r"值|数值|当前值|当前|实际值|最新值|结果|result"
)
_SETTINGS: Final = re.compile(
    r"(?i)param|hyper|config|setting|argument|option|flag|参数|超参|配置|设置|推荐|建议|阈值|范围"
)
_LONGEST: Final = 20_000
_MOST_TABLES: Final = 20


class MarkdownTables:
    """Reads ``| step | loss |`` tables, ``| metric | step 0 | step 10 |`` tables and ``| metric | value |`` lists."""

    name: Final = "markdown-table"
    strength: Final = 12

    def read(self, document: Document) -> Reading:
        """One run a table."""
        runs: list[Run] = []
        taken: set[int] = set()
        for table in _tables(document):
            if len(runs) >= _MOST_TABLES:
                break
            run = _run(table, document, f"r{len(runs)}")
            if run is not None:
                runs.append(run)
                taken |= table.taken
        return Reading(tuple(runs), frozenset(taken))


def _tables(document: Document) -> list[Table]:
    """The tables of a document that are not in fences of programs."""
    tables: list[Table] = []
    table: Table | None = None
    before: tuple[str, int] | None = None
    fences = Fences()
    for line, number in zip(document.lines, document.numbers, strict=False):
        if len(line) > _LONGEST or fences.skip(line) or "|" not in line:
            table = before = None
            continue
        if table is None and before is not None and _RULE.match(line):
            names = _split(before[0])
            if len(names) == len(_split(line)) >= 2:
                table = Table(names, taken={before[1], number})
                tables.append(table)
            before = None
            continue
        if table is not None:
            cells = _split(line)
            if len(cells) == len(table.names) and cells != table.names:  # a table may follow without a blank line
                table.rows.append(cells)
                table.lines.append(number)
                table.taken.add(number)
                continue
            table = None
        before = (line, number)
    return [found for found in tables if found.rows]


def _split(line: str) -> list[str]:
    """The cells of a row, without what marks them bold or as code."""
    text = line.strip()
    text = text.removeprefix("|")
    if not text.endswith("\\|"):
        text = text.removesuffix("|")
    return [cell.strip().strip("*`_ ").strip() for cell in text.replace("\\|", "\x00").split("|")]


def _run(table: Table, document: Document, id: str) -> Run | None:
    first, others = table.names[0], table.names[1:]
    if _SETTINGS.search(first):
        return None
    steps = [_STEP.match(name) for name in others]
    if sum(step is not None for step in steps) >= 2 or (len(others) == 1 and steps[0] is not None):
        cells = {at: int(step["step"]) for at, step in enumerate(steps, 1) if step is not None}
        return _across(table, document, id, cells, "step")
    if _NAMES.fullmatch(first) and not is_step(first):
        values = [at for at, name in enumerate(others, 1) if _VALUES.fullmatch(name)]
        return _across(table, document, id, {values[0]: 0}, "index") if values else None
    if not all(is_step(name) or is_metric(name) or not _SETTINGS.search(name) for name in table.names):
        return None
    if len(table.rows) < 2 and not is_step(first):
        return None
    if not any(is_step(name) for name in table.names) and len(table.rows) > 1 and not _plain(table):
        return None
    return table_run(table, document, format="markdown-table", id=id, warnings=_without_percent(table))


def _without_percent(table: Table) -> list[Note]:
    """Takes the percent signs off columns of nothing but shares, and tells so."""
    units: dict[str, str] = {}
    for at, name in enumerate(table.names):
        shown = [row[at] for row in table.rows if row[at] and row[at].lower() not in NO_VALUES]
        if shown and all(text.endswith("%") and read_number(text[:-1].rstrip()) is not None for text in shown):
            units[name] = "%"
            for row in table.rows:
                row[at] = row[at].removesuffix("%").rstrip()
    return unit_notes(units)


def _plain(table: Table) -> bool:
    """Whether no column names the rows: a table of models or settings is none of steps."""
    return all(read_number(row[0]) is not None for row in table.rows)


def _across(table: Table, document: Document, id: str, columns: dict[int, int], axis: str) -> Run | None:
    """The run of a table whose rows are metrics."""
    rows = [Row(step, 0) for step in columns.values()]
    found = 0
    for cells, line in zip(table.rows, table.lines, strict=True):
        key = cells[0]
        if not is_metric_name(key) and not (is_metric(key) and len(key.split()) <= 4):
            continue
        for row, at in zip(rows, columns, strict=True):
            value: Number | None = read_number(cells[at])
            if value is None or key in row.values:
                continue
            found += 1
            row.line = row.line or line
            row.values[key] = value
            if line != row.line:
                row.lines[key] = line
    rows = [row for row in rows if row.values]
    if not found or 3 * found < len(table.rows) * len(columns):
        return None
    keys = list(dict.fromkeys(key for row in rows for key in row.values))
    notes: list[Note] = []
    return build_run(
        sorted(rows, key=lambda row: row.step),
        id=id,
        name=document.name,
        format="markdown-table",
        framework=detect_framework(keys),
        step_axis=axis,
        warnings=notes,
    )
