"""Tables and records beside a log: what stands on lines that the winning formats left and is unmistakably metrics.

Weak formats read what stands in prose, in configurations and in rollouts as well, so beside a log only what cannot be
anything else is a run: three or more rows of one structure, dated by a counter that rises, with a well-known metric
among them; and, for tables, not between two rows of a log that go on from one to the other, where a model's answer
would stand. Any other such block is told as not understood.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, Protocol

from assistant.model.run import Note, Run
from assistant.parsing.columns import is_result
from assistant.parsing.markdown import Fences
from assistant.parsing.repair import Document
from assistant.parsing.stepbook import is_step
from assistant.parsing.table import Reading

BLOCKS: Final = ("json", "csv", "markdown-table")
"""Formats of blocks that can stand beside a log."""

LOST: Final = "block_not_understood"
"""Code of the note on blocks that look like metrics and are no run."""

_FEWEST_ROWS: Final = 3
_MOST_A_STEP: Final = 8
"""More rows a step are samples rather than metrics (or more processes than anybody logs)."""
_BACK: Final = 0.25


_HEADED: Final = re.compile(
    rb"(?m)^[A-Za-z_\"#][^\n,;\t]{0,80}[,;\t][^\n]{1,4000}\n(?:[^\n,;\t]{0,40}[,;\t]){0,3}[-+.0-9]+(?:[eE][-+]?[0-9]+)?"
    rb"[,;\t][^\n]{0,4000}\n(?:[^\n,;\t]{0,40}[,;\t]){0,3}[-+.0-9]+(?:[eE][-+]?[0-9]+)?[,;\t\r\n]"
)
_ROWS: Final = re.compile(rb"(?m)(?:^[-+.0-9eE]{1,25}[,;\t](?:[^\n,;\t]{0,40}+[,;\t])[^\n]{0,4000}+\n){3}")
_RECORD: Final = re.compile(rb"(?m)^\{ ?\"[^\n]{0,2000}\}\r?$")
_RULED: Final = re.compile(rb"(?m)^ {0,8}\|? ?:?-{2,200}:? ?\|[-:| ]{1,2000}\r?$")
_COUNTER: Final = re.compile(rb"(?i)step|iter|epoch|update")


class Reader(Protocol):
    """A format by its name."""

    @property
    def name(self) -> str:
        """How it is registered."""
        ...

    def read(self, document: Document) -> Reading:
        """What it reads."""
        ...


@dataclass
class Beside:
    """What stands beside a log.

    Attributes:
        runs: blocks that are runs.
        taken: their lines.
        lost: lines of blocks that look like metrics and are no run.
    """

    runs: list[Run] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    lost: list[int] = field(default_factory=list)


def read_beside(document: Document, won: Reading, readers: Iterable[Reader]) -> Beside:
    """The blocks on the lines that no winner took.

    Args:
        document: the text.
        won: what the winners read.
        readers: the formats of blocks, but for the winners.
    """
    found = Beside()
    for reader in readers:
        rest = rest_of(document, won.taken, found.taken)
        if rest is None:
            break
        read_blocks = getattr(_loaded(reader), "read_blocks", None)
        reading = reader.read(rest) if read_blocks is None else read_blocks(rest)
        for run in reading.runs:
            lines = _lines(run, reading.taken, len(reading.runs) == 1)
            if len(run.steps) < _FEWEST_ROWS or not lines:
                continue
            records = reader.name == "json"
            if is_unmistakable(run) and (records or is_outside(run, won.runs)):
                found.runs.append(run)
                found.taken |= lines
            elif run.step_axis != "index" or records:
                found.lost.extend(lines)
    found.lost = sorted(set(found.lost) - found.taken)
    return found


def _loaded(reader: Reader) -> object:
    """The format behind one that is loaded when it is needed."""
    load = getattr(reader, "load", None)
    return reader if load is None else load()


def add_beside(won: Reading, beside: Beside) -> Reading:
    """A reading with the blocks beside it, all runs in order of appearance."""
    if not beside.runs and not beside.lost:
        return won
    runs = sorted([*won.runs, *beside.runs], key=first_line)
    notes = (*won.notes, lost_note(beside.lost)) if beside.lost else won.notes
    return replace(
        won,
        runs=tuple(replace(run, id=f"r{at}") for at, run in enumerate(runs)),
        taken=won.taken | beside.taken if beside.taken else won.taken,
        not_understood=tuple(sorted({*won.not_understood, *beside.lost} - beside.taken)),
        notes=notes,
    )


def lost_note(lines: Sequence[int]) -> Note:
    """Tells that lines look like metrics of another table or log and are no run."""
    return Note(
        LOST,
        f"另有 {len(lines)} 行（最先是第 {lines[0]} 行）像是另一份表格或记录里的指标，没有读入。",
        f"{len(lines)} further lines (first line {lines[0]}) look like metrics of another table or log "
        "and were not read.",
        lines[0],
        tuple(lines),
    )


def first_line(run: Run) -> int:
    """The first line of a run's rows."""
    return min(run.row_lines, default=0)


def is_unmistakable(run: Run) -> bool:
    """Whether rows are dated by a counter that rises, a few a step at most, and hold a well-known metric."""
    distinct = len(run.distinct_steps)
    if run.step_axis == "index" or distinct < _FEWEST_ROWS or len(run.steps) > _MOST_A_STEP * distinct:
        return False
    backs = sum(other < one for one, other in pairwise(run.steps))
    return backs <= _BACK * len(run.steps) and any(is_result(key) and not is_step(key) for key in run.columns)


def is_outside(run: Run, others: Iterable[Run]) -> bool:
    """Whether a block stands between no two rows of another run of which the second goes on from the first."""
    first, last = first_line(run), max(run.row_lines, default=0)
    for other in others:
        ordered = sorted(zip(other.row_lines, range(len(other.row_lines)), strict=True))
        lines = [line for line, _ in ordered]
        at, behind = bisect_left(lines, first), bisect_right(lines, last)
        if at != behind:
            return False
        if 0 < at < len(lines) and other.steps[ordered[at][1]] >= other.steps[ordered[at - 1][1]]:
            return False
    return True


def may_hold_block(data: bytes, begin: int, end: int) -> bool:
    """Whether a table's header with rows, or a record with a counter, may stand on lines of bytes.

    Args:
        data: the text.
        begin: where the first line begins.
        end: behind the last line.

    The rows of a table tell it, too: of a long text only parts are looked at, in which the header need not stand.
    """
    braces = data.find(b'{"', begin, end) >= 0 or data.find(b'{ "', begin, end) >= 0
    if braces and any(_COUNTER.search(found[0]) for found in _RECORD.finditer(data, begin, end)):
        return True
    if data.find(b"--", begin, end) >= 0 and data.find(b"|", begin, end) >= 0 and _RULED.search(data, begin, end):
        return True
    return _HEADED.search(data, begin, end) is not None or _ROWS.search(data, begin, end) is not None


def rest_of(document: Document, *taken: Set[int]) -> Document | None:
    """The document with blank lines for those that are taken, and for programs; ``None`` if nothing is left."""
    fences = Fences()
    lines: list[str] = []
    left = False
    for line, number in zip(document.lines, document.numbers, strict=False):
        skipped = fences.skip(line) or any(number in part for part in taken)
        lines.append("" if skipped else line)
        left = left or not (skipped or line.isspace() or not line)
    return replace(document, lines=lines) if left else None


def _lines(run: Run, taken: Set[int], alone: bool) -> set[int]:
    """The lines of one run of a reading: of a table from the header above its rows to the last of them."""
    if alone:
        return set(taken)
    if run.format == "jsonl":
        return set(run.row_lines)
    begin, end = first_line(run), max(run.row_lines, default=0)
    while begin - 1 in taken:
        begin -= 1
    return {number for number in range(begin, end + 1) if number in taken}
