"""The product's cells against the reference's."""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from assistant.model import AssistantError, Run
from assistant.parsing import parse_bytes
from evals.parsing.model import ANYWHERE, Cell, Event, Number, Reference
from evals.parsing.reference import read_reference
from evals.parsing.verl_lines import VALIDATION

_READ: Final = frozenset(
    [
        "verl",
        "verl-sft",
        "hf-dict",
        "trl-dict",
        "trl-ppo",
        "slime",
        "roll",
        "openrlhf",
        "trainer-state",
        "csv",
        "tsv",
        "jsonl",
        "json",
        "llamafactory-jsonl",
        "ms-swift",
        "notebook-tsv",
    ]
)
"""Formats of the product that the reference reads completely: their cells have to be the reference's."""


_SMALL: Final = 4_000_000
"""Bytes below which a file is parsed twice, and the better time taken: the first call loads the parser."""


class Read(NamedTuple):
    """A cell that the product has."""

    line: int
    step: int
    key: str
    value: Number
    format: str


@dataclass(slots=True)
class Result:
    """Figures of one file.

    Attributes:
        name, label: the file, and what it is without naming it.
        kinds: what the reference read; empty where it reads nothing.
        rows, cells: of the product.
        reference: cells that have to be there.
        agreeing: of them, those that the product has.
        wrong: cells read otherwise or not at all.
        phantom: cells where the reference has none.
        open: cells of the product about which the reference says nothing.
        missing: cells that the product says are not in the text.
        not_understood: lines.
    """

    name: str
    label: str
    kinds: list[str]
    size: int
    rows: int
    cells: int
    seconds: float
    missing: int
    not_understood: int
    reference: int = 0
    agreeing: int = 0
    open: int = 0
    wrong: list[str] = field(default_factory=list)
    phantom: list[str] = field(default_factory=list)


def evaluate(path: Path) -> Result | None:
    """Figures of one file; ``None`` where neither the product nor the reference finds a cell."""
    data = path.read_bytes()
    times = []
    for _ in range(2 if len(data) < _SMALL else 1):
        started = time.perf_counter()
        try:
            parsed = parse_bytes(data, name=path.name, thorough=True)
        except AssistantError:
            return None
        times.append(time.perf_counter() - started)
    seconds = min(times)
    reference = read_reference(data, path.name)
    if not parsed.runs and not reference.events:
        return None
    result = Result(
        path.name,
        label(parsed.runs),
        reference.kinds,
        len(data),
        rows=sum(len(run.steps) for run in parsed.runs),
        cells=sum(len(column.rows) for run in parsed.runs for column in run.columns.values()),
        seconds=seconds,
        missing=sum(len(run.missing) for run in parsed.runs),
        not_understood=len(parsed.doubtful),
    )
    if reference.events or reference.refused:
        compare(parsed.runs, reference, result)
    return result


def label(runs: Iterable[Run]) -> str:
    """What a log is, without its file's name: ``verl, steps 0–14``."""
    names = []
    for run in runs:
        by = run.framework or "other"
        first, last = min(run.steps), max(run.steps)
        what = "rows" if run.step_axis == "index" else "steps" if first < last else "step"
        form = "" if run.format == by.lower() else f" ({run.format})"
        names.append(f"{by}{form}, {what} {first}–{last}" if first < last else f"{by}{form}, {what} {first}")
    return "; ".join(names) or "nothing read"


def compare(runs: Iterable[Run], reference: Reference, result: Result) -> None:
    """Fills in what agrees, what is wrong, and what is phantom.

    A cell agrees if key, value, line and (where the text names it) step are the same. A key that counts the rows may
    be the row's step instead; a validation that was printed as a dictionary and on a line may stand on either; what
    sums up a whole run stands beside the table, in ``Run.extras``.
    """
    runs = tuple(runs)
    read = [
        Read(cell.line, cell.step, key, cell.value, run.format)
        for run in runs
        for key in run.metrics
        for cell in run.cells(key)
    ]
    places = _by_key(read)
    axes = {(run.step_axis, line): step for run in runs for line, step in zip(run.row_lines, run.steps, strict=True)}
    beside = {(key, line): value for run in runs for key, (value, line) in run.extras.items()}
    anywhere = {(cell.key, cell.value) for cell in read}
    used: set[int] = set()
    for event in reference.events:
        for cell in event.cells:
            near = _near(places, cell)
            same = [held for held in near if _same(held.value, cell.value) and cell.step in (None, held.step)]
            used.update(map(id, same))
            there = (event.summary or not near) and _stands_beside(cell, event, axes, beside)
            there = there or (event.kind == VALIDATION and (cell.key, cell.value) in anywhere)
            if same or there:
                result.agreeing += not cell.optional
            elif near:
                result.wrong.append(_say(result.name, cell, f"read as {near[0].value!r} at step {near[0].step}"))
            elif not cell.optional:
                result.wrong.append(_say(result.name, cell, "not read"))
    result.reference = len(reference.cells)
    placed = [event for event in reference.events if event.last < ANYWHERE]
    claimed = {line for event in placed for line in range(event.first, event.last + 1)} | reference.refused
    for held in read:
        if id(held) in used or held.line in reference.open:
            result.open += id(held) not in used
            continue
        if held.line in claimed or held.format in _READ:
            result.phantom.append(f"{result.name}:{held.line} step {held.step} {held.key}: {held.value!r} is none")


def _stands_beside(
    cell: Cell, event: Event, axes: dict[tuple[str, int], int], beside: dict[tuple[str, int], Number]
) -> bool:
    """Whether a cell that is in no row is the step of one, or among the averages over the run."""
    for line in range(event.first, min(event.last, event.first + 400) + 1):
        if axes.get((cell.key, line)) == cell.value:
            return True
        value = beside.get((cell.key, line))
        if event.summary and value is not None and _same(value, cell.value):
            return True
    return False


def _by_key(read: Iterable[Read]) -> dict[str, tuple[list[int], list[Read]]]:
    groups: dict[str, list[Read]] = defaultdict(list)
    for cell in read:
        groups[cell.key].append(cell)
    ordered = {key: sorted(cells, key=lambda cell: cell.line) for key, cells in groups.items()}
    return {key: ([cell.line for cell in cells], cells) for key, cells in ordered.items()}


def _near(places: dict[str, tuple[list[int], list[Read]]], cell: Cell) -> list[Read]:
    """The product's cells of that key on the lines of a reference cell."""
    lines, cells = places.get(cell.key, ([], []))
    return cells[bisect_left(lines, cell.first) : bisect_left(lines, cell.last + 1)]


def _same(one: Number, other: Number) -> bool:
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other):
        return True
    return one == other and math.copysign(1, one) == math.copysign(1, other)


def _say(name: str, cell: Cell, what: str) -> str:
    step = "" if cell.step is None else f" step {cell.step}"
    return f"{name}:{cell.first}{step} {cell.key}: {cell.value!r} {what}"
