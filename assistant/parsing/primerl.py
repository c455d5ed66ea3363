"""prime-rl's console: ``16:43:08 SUCCESS Step 5 | Time: 5.23s | Reward: 0.3512 | …``.

The orchestrator (rewards) and the trainer (losses) print lines of the same shape for the same steps, each with
a ``Time`` of its own; where a text holds both, they make two runs.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Missing, MissingReason, Note, Run
from assistant.parsing.logprefix import read_body
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.records import Record, make_runs, settle_ends, unit_notes
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading, Row

_HEADING: Final = re.compile(r"Step {1,8}(?P<step>[0-9]{1,12})(?:/[0-9]{1,12})? {1,4}\|")
_CELL: Final = re.compile(
    rf"(?P<key>[A-Z][\w./@() -]{{0,60}}?)(?:: {{0,8}}| )(?P<number>{NUMBER})"
    r"(?:/[0-9.]{1,20}+)?+(?P<unit> ?(?:%|[A-Za-z]{1,10}(?:/[A-Za-z]{1,10})?))?+(?: ?\([^()|]{0,40}\))?+"
)
_OPEN: Final = re.compile(
    r"(?P<key>[A-Z][\w./@() -]{0,60}?)(?:: {0,8}(?P<text>[-+]?[0-9.]{0,40}(?:e[-+]?)?|[nai]{0,2}))?"
)
_DURATION: Final = re.compile(r"(?:[0-9]{1,6}[dhms] ?){2,4}(?:[0-9.]{1,6}s)?|[0-9.]{1,9} ?(?:ms|s|min|h)")
_KNOWN: Final = re.compile(
    r"(?:Time|Reward|Val\. Reward|Loss|Entropy|Throughput|Mismatch KL|Seq\. Length|Grad\. Norm|LR)\b"
)
_TRAINER: Final = frozenset({"Loss", "Grad. Norm", "LR", "Mismatch KL", "MFU", "Peak Mem."})
_NOT_NUMBERS: Final = {"None", "N/A", "-"}
_MOST: Final = 60


class PrimeRL:
    """Reads one row a step line."""

    name: Final = "prime-rl"
    strength: Final = 80

    def read(self, document: Document) -> Reading:
        """A run of the orchestrator, a run of the trainer, or one."""
        records: dict[bool, list[Record]] = {False: [], True: []}
        taken: set[int] = set()
        bad: list[int] = []
        units: dict[str, str] = {}
        for line, number in zip(document.lines, document.numbers, strict=False):
            if "Step " not in line or "|" not in line:
                continue
            tag, body = read_body(line)
            heading = _HEADING.match(body)
            if heading is None:
                continue
            row = Row(int(heading["step"]), number, last_line=number, tag=tag)
            record = _read_line(row, body[heading.end() :], units)
            if not any(_KNOWN.match(key) for key in row.values):
                if any(_KNOWN.match(part.strip()) for part in body[heading.end() :].split("|")[:_MOST]):
                    bad.append(number)
                continue
            records[any(key in _TRAINER for key in row.values)].append(record)
            taken.add(number)
        _place_short(records)
        both = bool(records[True] and records[False])
        runs: list[Run] = []
        for trains in (False, True):
            settle_ends(records[trains], fixed=True)
            name = f"{document.name} ({'trainer' if trains else 'orchestrator'})" if both else document.name
            runs += make_runs(
                records[trains],
                first=len(runs),
                name=name,
                format="prime-rl",
                framework="prime-rl",
                step_axis="step",
                notes=[*unit_notes(units.items()), *([_BOTH] if both else [])],
            )
        return Reading(tuple(runs), frozenset(taken), tuple(bad))


def _place_short(records: dict[bool, list[Record]]) -> None:
    """Lines cut before a key that tells who printed them go to the one that lacks their step."""
    short = [record for record in records[False] if set(record.row.values) <= {"Time", "Entropy", "Throughput"}]
    if not records[True] or not short:
        return
    steps = {record.row.step for record in records[False] if record not in short}
    moved = [record for record in short if not steps or record.row.step in steps]
    records[False] = [record for record in records[False] if record not in moved]
    records[True] = sorted([*records[True], *moved], key=lambda record: record.row.line)


def _read_line(row: Row, rest: str, units: dict[str, str]) -> Record:
    texts: dict[str, tuple[str, str]] = {}
    parts = [part.strip() for part in rest.split("|", _MOST)[:_MOST]]
    for at, part in enumerate(parts):
        cell = _CELL.fullmatch(part)
        if cell is not None:
            value = read_number(cell["number"])
            key, unit = cell["key"], (cell["unit"] or "").strip()
            if value is not None and key not in row.values:
                row.values[key] = value
                texts[key] = (cell["number"], unit)
                units.setdefault(key, unit)
            continue
        key, colon, text = part.partition(": ")
        if colon and text in _NOT_NUMBERS:
            row.bad.append(Missing(key, row.step, row.line, "not_a_number", text))
        elif at == len(parts) - 1 and _DURATION.fullmatch(part) is None:
            _note_tail(row, part)
    return Record("step", row, {} if row.cut else texts)


def _note_tail(row: Row, part: str) -> None:
    """The last part of a line, where it is no cell: nothing, a half key or a half value."""
    found = _OPEN.fullmatch(part)
    if part and found is None:
        return
    row.cut = True
    if found is not None:
        reason: MissingReason = "half_key" if found["text"] is None else "half_value"
        key = None if found["text"] is None else found["key"]
        row.half = Missing(key, row.step, row.line, reason, (found["text"] or part)[:80])


_BOTH: Final = Note(
    "two_processes",
    "orchestrator 与 trainer 对同一步各输出一行（各有自己的 Time），因此分为两个 run。",
    "The orchestrator and the trainer each print a line a step, each with a Time of its own: two runs.",
)
