"""ROLL's log: one JSON object of metrics a step, then ``pipeline step 3 finished``; SFT logs ``metrics: {…}``.

The step stands in ``system/step``, or on the ``pipeline step N start...`` line before the metrics, or on the
``finished`` line behind them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assistant.model.run import Missing
from assistant.parsing.frameworks import detect_framework
from assistant.parsing.logprefix import read_body
from assistant.parsing.printeddict import Printed
from assistant.parsing.records import Record, dict_record, make_runs
from assistant.parsing.repair import Document
from assistant.parsing.stepdicts import find_headed
from assistant.parsing.table import Reading

_HEADING: Final = re.compile(r"(?:(?P<val>val(?:idation)?[ _])?metrics: )?\{(?=\s{0,9}['\"][\w/@.-])", re.IGNORECASE)
_PIPELINE: Final = re.compile(r"(?:\w{1,20} )?pipeline step (?P<n>[0-9]{1,12}) (?P<what>start|finished)")
_STEP_KEYS: Final = ("system/step", "system/global_step", "global_step", "step", "_step")
_MARK: Final = "pipeline step "


class ROLL:
    """Reads the objects that ROLL logs, where its own lines or keys show that it is ROLL."""

    name: Final = "roll"
    strength: Final = 85

    def read(self, document: Document) -> Reading:
        """At most one run a process."""
        piped = any(_MARK in line for line in document.lines)
        if not piped and not any("@sum" in line or "system/tps" in line for line in document.lines):
            return Reading()
        records: list[Record] = []
        waiting: list[Record] = []
        taken: set[int] = set()
        current: int | None = None
        for event in _events(document):
            if isinstance(event, tuple):
                what, number = event
                if what == "finished":
                    for record in waiting:
                        _set_step(record, number)
                    waiting = []
                current = number if what == "start" else None
                continue
            found = event
            named = next((found.row.values[key] for key in _STEP_KEYS if key in found.row.values), None)
            if isinstance(named, int):
                _set_step(found, named)
            elif current is not None:
                _set_step(found, current)
            else:
                waiting.append(found)
            records.append(found)
            taken.update(range(found.row.line, found.row.last_line + 1))
        return _finish(document, records, taken, piped=piped, stepless=bool(waiting))


def _events(document: Document) -> Iterator[Record | tuple[str, int]]:
    """Pipeline lines and dicts of numbers, in order."""
    pipeline: list[tuple[int, str, int]] = []
    for index, line in enumerate(document.lines):
        if _MARK in line:
            found = _PIPELINE.match(read_body(line)[1])
            if found is not None:
                pipeline.append((index, found["what"], int(found["n"])))
    at = 0
    for headed in find_headed(document, _HEADING, ("{",)):
        while at < len(pipeline) and pipeline[at][0] < headed.index:
            yield pipeline[at][1:]
            at += 1
        if not _is_metrics(headed.printed):
            continue
        kind = "val" if headed.heading["val"] else "metrics"
        record = dict_record(kind, -1, headed.tag, headed.printed, document)
        if record is not None:
            yield record
    for rest in pipeline[at:]:
        yield rest[1:]


def _is_metrics(printed: Printed) -> bool:
    """Whether a dict holds numbers only, as a sample of a rollout or a configuration does not."""
    flat = printed.flat
    paths = sum("/" in key for key, _, _ in flat.cells)
    return not flat.others and bool(flat.cells) and 2 * paths >= len(flat.cells)


def _set_step(record: Record, step: int) -> None:
    row = record.row
    row.step = step
    row.bad = [Missing(gap.metric, step, gap.line, gap.reason, gap.detail, gap.limit) for gap in row.bad]
    if row.half is not None:
        gap = row.half
        row.half = Missing(gap.metric, step, gap.line, gap.reason, gap.detail, gap.limit)


def _finish(document: Document, records: list[Record], taken: set[int], *, piped: bool, stepless: bool) -> Reading:
    keys = {key for record in records for key in record.row.values}
    if not records or not (piped or detect_framework(keys) == "ROLL"):
        return Reading()
    known = [record.row.step for record in records if record.row.step >= 0]
    axis = "step"
    if not known:
        axis = "index"
        for index, record in enumerate(records):
            _set_step(record, index)
    elif stepless:
        after = max(known)
        for record in records:
            if record.row.step < 0:
                _set_step(record, after + 1)
    runs = make_runs(records, first=0, name=document.name, format="roll", framework="ROLL", step_axis=axis)
    return Reading(tuple(runs), frozenset(taken))
