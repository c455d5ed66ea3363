"""The first versions of AReaL: statistics of each call, then a line that says which step they belong to.

``RPC name actor_train returns {'actor_loss': …}``, or a table instead of the dict, then ``Epoch 1/1 step 6/19 (global
step 6) finishes. … #End to end# execution time: *2299.448*s. Total time consumption: 13720.729s.``
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from assistant.model.run import Missing, Note
from assistant.parsing.logprefix import read_body
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.records import Record, dict_record, make_runs, unit_notes
from assistant.parsing.repair import Document
from assistant.parsing.stepdicts import find_headed
from assistant.parsing.table import Reading, Row

_FINISHED: Final = re.compile(
    r"Epoch [0-9]{1,9}/[0-9]{1,9} step [0-9]{1,12}(?:/[0-9]{1,12})? \(global step (?P<step>[0-9]{1,12})\) finishes\."
)
_SPENT: Final = re.compile(
    r"(?P<key>Average #tokens per batch|#End to end# execution time|Total time consumption|Estimated remaining time)"
    rf"(?: is|:) (?:\*(?P<starred>{NUMBER})\*s|(?P<time>[0-9]{{1,12}}(?:\.[0-9]{{1,9}}+)?|nan|inf)(?P<unit>s)?)"
    r"\.(?=\s|$)"
)
_RPC: Final = re.compile(r"RPC name (?P<rpc>[\w.-]{1,80}) returns:? ?\{")
_MARK: Final = ") finishes."


def has_finished(document: Document) -> bool:
    """Whether a line says that a step is finished, or what a call returns."""
    return any(_MARK in line or "RPC name " in line for line in document.lines)


def read_finished(document: Document, tables: Sequence[Row], lines: set[int]) -> Reading:
    """The run of such a log.

    Args:
        document: a text.
        tables: rows of the tables in it, without their steps.
        lines: numbers of the lines of the tables.
    """
    taken = set(lines)
    found = [Record("table", row) for row in tables]
    calls = list(find_headed(document, _RPC, ("RPC name ",)))
    several = len({headed.heading["rpc"] for headed in calls}) > 1
    for headed in calls:
        record = dict_record(headed.heading["rpc"], -1, headed.tag, headed.printed, document)
        if record is not None:
            _prefix(record.row, f"{record.kind}/" if several else "")
            found.append(record)
            taken.update(document.numbers[entry] for entry in headed.printed.entries)
    units: dict[str, str] = {}
    ends = _ends(document, units)
    taken.update(record.row.line for record in ends)
    inferred = _place(sorted(found, key=lambda record: record.row.line), ends)
    records = sorted([*found, *ends], key=lambda record: record.row.line)
    runs = make_runs(
        records,
        first=0,
        name=document.name,
        format="areal",
        framework="AReaL",
        step_axis="step" if ends else "index",
        notes=[*unit_notes(units.items()), *([_INFERRED] if inferred else [])],
    )
    return Reading(tuple(runs), frozenset(taken) if runs else frozenset())


def _ends(document: Document, units: dict[str, str]) -> list[Record]:
    """The lines that close a step, with the times they tell."""
    ends: list[Record] = []
    for line, number in zip(document.lines, document.numbers, strict=False):
        if _MARK not in line:
            continue
        tag, body = read_body(line)
        closed = _FINISHED.match(body)
        if closed is None:
            continue
        row = Row(int(closed["step"]), number, last_line=number, tag=tag)
        for spent in _SPENT.finditer(body, closed.end()):
            value = read_number(spent["starred"] or spent["time"])
            if value is not None:
                row.values[spent["key"]] = value
                units.setdefault(spent["key"], "s" if spent["starred"] or spent["unit"] else "")
        if row.values:
            ends.append(Record("finished", row))
    return ends


def _place(found: Sequence[Record], ends: Sequence[Record]) -> bool:
    """Gives each record the step that is finished next; whether the order alone tells some of them.

    Where statistics and closing lines were picked out of a log apart from each other, they go together in order.
    """
    rounds = _rounds(found)
    apart = ends and found and (found[0].row.line > ends[-1].row.line or found[-1].row.line < ends[0].row.line)
    if not ends or (apart and len(rounds) > 1 and len(rounds) != len(ends)):
        for index, group in enumerate(rounds):
            _set_steps(group, index if not ends else ends[-1].row.step + 1 + index)
        return bool(ends)
    if apart and len(rounds) == len(ends):
        for group, end in zip(rounds, ends, strict=True):
            _set_steps(group, end.row.step)
        return len(rounds) > 1 or found[0].row.line > ends[-1].row.line
    at = 0
    for record in found:
        while at < len(ends) and ends[at].row.line < record.row.line:
            at += 1
        _set_steps([record], ends[at].row.step if at < len(ends) else ends[-1].row.step + 1)
    return False


def _rounds(found: Sequence[Record]) -> list[list[Record]]:
    """Records in groups in which each call stands once."""
    rounds: list[list[Record]] = []
    seen: Counter[str] = Counter()
    for record in found:
        if not rounds or seen[record.kind]:
            rounds.append([])
            seen.clear()
        seen[record.kind] += 1
        rounds[-1].append(record)
    return rounds


def _set_steps(records: Sequence[Record], step: int) -> None:
    for record in records:
        row = record.row
        row.step = step
        row.bad = [Missing(gap.metric, step, gap.line, gap.reason, gap.detail, gap.limit) for gap in row.bad]
        if row.half is not None:
            gap = row.half
            row.half = Missing(gap.metric, step, gap.line, gap.reason, gap.detail, gap.limit)


def _prefix(row: Row, prefix: str) -> None:
    if prefix:
        row.values = {prefix + key: value for key, value in row.values.items()}
        row.lines = {prefix + key: line for key, line in row.lines.items()}


_INFERRED: Final = Note(
    "steps_inferred",
    "统计行与步结束行在文本中不相邻；按顺序一一对应。",
    "The statistics and the lines that close a step stand apart; they are put together in order.",
)
