"""The table that the Hugging Face Trainer shows in a notebook: as HTML, and as it is copied (tabs, bars, blanks).

huggingface/transformers, ``utils/notebook.py``, ``NotebookProgressCallback``: the first column is ``Step`` or
``Epoch``, headers are capitalised and may hold blanks and `` / ``, a value that was not logged is ``No log``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from assistant.model.run import Missing, Run
from assistant.parsing.dictscan import scan_dict
from assistant.parsing.numbers import decimals, read_number
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading, Row, build_run, restart_notes
from assistant.parsing.trainerevents import item_number
from assistant.parsing.trainernotes import final_note

_TAG: Final = re.compile(r"(?i)<(/?)(table|tr|th|td)\b[^<>]{0,300}+>([^<>]{0,300}+)")
_AXES: Final = frozenset({"Step", "Epoch"})
_LOSSES: Final = frozenset({"Training Loss", "Validation Loss"})
_TRL: Final = re.compile(r"(?i)rewards?\b|reward_|completion|kl$|logps|logits|objective|frac_reward_zero_std")
_MOST_CELLS: Final = 400
_Split = Callable[[str], list[str] | None]
_OUTPUT: Final = "TrainOutput(global_step="
_RULE: Final = re.compile(r"[\s|:-]{1,2000}+")
_CELL: Final = re.compile(r"No [Ll]og|[^\s]{1,400}+")
_NAME: Final = re.compile(r"(?:Training|Validation) Loss|\S{1,200}+(?: / \S{1,200}+)*+")


@dataclass(slots=True)
class _Table:
    """A header and the rows below it: each row with the line of each cell."""

    header: list[str]
    lines: set[int]
    rows: list[tuple[list[str], list[int]]] = field(default_factory=list)
    kind: str = "notebook-tsv"
    open_end: bool = False


class NotebookTable:
    """Reads the Trainer's notebook table."""

    name: Final = "notebook-table"
    strength: Final = 62

    def read(self, document: Document) -> Reading:
        """One run a table; no runs if there is none."""
        bad: list[int] = []
        tables = [*_html_tables(document), *_text_tables(document, bad)]
        runs: list[Run] = []
        taken: set[int] = set()
        for table in tables:
            run = _run(table, f"r{len(runs)}", document.name)
            if run is not None:
                runs.append(run)
                taken |= table.lines
        if not runs:
            return Reading()
        for entry, line in enumerate(document.lines):
            if _OUTPUT in line and (place := _add_output(runs, line, document.numbers[entry])):
                taken.add(place)
        return Reading(tuple(runs), frozenset(taken), tuple(line for line in bad if line not in taken))


def _add_output(runs: list[Run], line: str, number: int) -> int | None:
    """Gives the averages that ``trainer.train()`` returns to the run before them; their line, if there is one."""
    index = max((at for at, run in enumerate(runs) if run.row_lines[0] < number), default=None)
    start = line.find("{", line.find(_OUTPUT))
    if index is None or start < 0 or runs[index].extras:
        return None
    numbers = [(item.key, item_number(item)) for item in scan_dict(line, start).items]
    extras = {key: (value, number) for key, value in numbers if value is not None}
    if "train_runtime" not in extras:
        return None
    note = final_note(number, {key: value for key, (value, _) in extras.items()})
    runs[index] = replace(runs[index], extras=extras, warnings=(*runs[index].warnings, note))
    return number


def _html_tables(document: Document) -> Iterator[_Table]:
    table: _Table | None = None
    cells: list[tuple[str, int, bool]] = []
    for line, number in zip(document.lines, document.numbers, strict=False):
        if "<" not in line:
            continue
        for found in _TAG.finditer(line):
            closing, tag, text = found[1], found[2].lower(), found[3]
            if tag in {"th", "td"}:
                if not closing and len(cells) < _MOST_CELLS:
                    cells.append((html.unescape(text.replace("\\n", " ")).strip(), number, tag == "th"))
                continue
            if cells and (tag == "table" or closing or tag == "tr"):
                names = [text for text, _, _ in cells]
                if all(head for _, _, head in cells):
                    if table is not None:
                        yield table
                    known = names[0] in _AXES and len(names) > 1 and bool(_LOSSES & set(names))
                    table = _Table(names, {at for _, at, _ in cells}, kind="notebook-html") if known else None
                elif table is not None and len(names) == len(table.header):
                    table.rows.append((names, [at for _, at, _ in cells]))
                    table.lines.update(at for _, at, _ in cells)
                cells = []
            if tag == "table" and table is not None:
                yield table
                table = None
    if table is not None:
        yield table


def _text_tables(document: Document, bad: list[int]) -> Iterator[_Table]:
    """Tables as text: columns apart by tabs, by bars (as GitHub shows what was pasted), or lined up by blanks."""
    table: _Table | None = None
    split: _Split = _split_tabs
    for entry, (line, number) in enumerate(zip(document.lines, document.numbers, strict=False)):
        head = line[:400].lstrip(" |")
        if head.startswith(("Step", "Epoch")) and any(name in line[:2000] for name in _LOSSES):
            found = _read_header(line)
            if found is not None:
                if table is not None:
                    yield table
                table, split = _Table(found[0], {number}, kind=found[2]), found[1]
                continue
        if table is None or not line.strip():
            continue
        if _RULE.fullmatch(line) is not None and split is _split_bars:
            table.lines.add(number)
            continue
        cells = split(line)
        if cells is None:
            yield table
            table = None
            continue
        if len(cells) == len(table.header) + 1 and not cells[-1]:
            cells.pop()
        ends = not any(rest.strip() for rest in document.lines[entry + 1 : entry + 4])
        if read_number(cells[0]) is None or len(cells) > len(table.header):
            bad.append(number)
            yield table
            table = None
        elif len(cells) < len(table.header) and not ends:
            bad.append(number)
        else:
            table.rows.append((cells, [number] * len(cells)))
            table.lines.add(number)
            table.open_end = ends and entry == len(document.lines) - 1
    if table is not None:
        yield table


def _read_header(line: str) -> tuple[list[str], _Split, str] | None:
    """A header's names, how its rows are split, and the format's name."""
    if "\t" in line:
        names = [name.strip() for name in line.strip().split("\t")]
        return (names, _split_tabs, "notebook-tsv") if names[0] in _AXES else None
    if "|" in line:
        bars = _split_bars(line) or [""]
        return (bars, _split_bars, "notebook-markdown") if bars[0] in _AXES else None
    text = line.strip().rstrip(" \\")
    names = re.split(r" {2,}", text)
    if len(names) < 2 or names[0] not in _AXES:
        names = [found[0] for found in _NAME.finditer(text)]
    return (names, _split_blanks, "notebook-text") if len(names) > 1 and names[0] in _AXES else None


def _split_tabs(line: str) -> list[str] | None:
    if "\t" not in line:
        return None
    return [cell.strip() for cell in line.rstrip("\r\n").lstrip(" ").split("\t")]


def _split_bars(line: str) -> list[str] | None:
    if "|" not in line:
        return None
    text = line.strip()
    return [cell.strip() for cell in text.removeprefix("|").removesuffix("|").split("|")]


def _split_blanks(line: str) -> list[str] | None:
    cells = _CELL.findall(line.rstrip(" \\"))
    return cells if cells and read_number(cells[0]) is not None else None


def _run(table: _Table, id: str, name: str) -> Run | None:
    axis, *keys = table.header
    if not table.rows or len(set(keys)) != len(keys) or not all(keys):
        return None
    counted = all(cells[0].isascii() and cells[0].isdigit() and len(cells[0]) < 16 for cells, _ in table.rows)
    rows: list[Row] = []
    missing: list[Missing] = []
    for index, (cells, lines) in enumerate(table.rows):
        row = Row(int(cells[0]) if counted else index, lines[0], last_line=lines[-1])
        rows.append(row)
        if not counted:
            value = read_number(cells[0])
            if value is None:
                return None
            row.values[axis] = value
        last = index == len(table.rows) - 1
        half = last and (len(cells) < len(table.header) or (table.open_end and _is_short(table)))
        row.cut = half
        for at, key in enumerate(keys, 1):
            if at >= len(cells):
                missing.append(Missing(key, row.step, lines[-1], "line_cut"))
                continue
            value = read_number(cells[at])
            if half and at == len(cells) - 1:
                missing.append(Missing(key, row.step, lines[at], "half_value", cells[at][:80]))
            elif value is not None:
                row.values[key] = value
                if lines[at] != row.line:
                    row.lines[key] = lines[at]
            elif cells[at]:
                missing.append(Missing(key, row.step, lines[at], "not_a_number", cells[at][:80]))
    if not any(row.values for row in rows):
        return None
    return build_run(
        rows,
        id=id,
        name=name,
        format=table.kind,
        framework="TRL" if any(_TRL.match(key) for key in keys) else "HF Trainer",
        step_axis=axis if counted else "index",
        missing=missing,
        warnings=restart_notes(rows) if counted else (),
    )


def _is_short(table: _Table) -> bool:
    """Whether the very last number of a text has fewer decimals than all others of the table."""
    *others, own = [decimals(cell) for cells, _ in table.rows for cell in cells[1:]]
    shown = set(others) - {None}
    return len(shown) == 1 and own not in shown
