"""prime-rl's console: ``16:43:08 SUCCESS Step 5 | Time: 5.23s | Reward: 0.3512 | …``.

The orchestrator (rewards) and the trainer (losses) print lines of the same shape for the same steps, each with
a ``Time`` of its own; where a text holds both, they make two runs. Lines inside the printed form of a Python list
(``['… Step 1 | …', '…']``) are read like lines of their own. The oldest versions print ``Finished training
step 5 in 5.23s (Loss: 0.12, …)`` and ``Orchestrator | step 5 | Time:5.23s | Avg. Reward: 0.35``.
"""

from __future__ import annotations

import re
from ast import literal_eval
from dataclasses import replace
from typing import Final

from assistant.model.run import Missing, MissingReason, Note, Run
from assistant.parsing.logprefix import read_body
from assistant.parsing.messages import Message, find_messages
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.records import Record, make_runs, settle_ends, unit_notes
from assistant.parsing.repair import Document, strip_ansi
from assistant.parsing.table import Reading, Row

_HEADING: Final = re.compile(
    r"(?:(?:Orchestrator|Trainer|Training) \| (?=step))?+[Ss]tep {0,8}"
    r"(?P<step>[0-9]{1,12})(?:/[0-9]{1,12})? {0,4}(?P<bar>\|)"
    r"|Finished (?:training|trainer|orchestrator) step (?P<old>[0-9]{1,12}) in (?P<time>[0-9.]{1,20})s \("
)
_CELL: Final = re.compile(
    rf"(?P<key>[A-Z][\w./@() -]{{0,60}}?)(?:: {{0,8}}| )(?P<number>{NUMBER})"
    r"(?:/[0-9.]{1,20}+)?+(?P<unit> ?(?:%|[A-Za-z]{1,10}(?:/[A-Za-z]{1,10})?))?+(?: ?\([^()|]{0,40}\))?+"
)
_OPEN: Final = re.compile(
    r"(?P<key>[A-Z][\w./@() -]{0,60}?)(?:: {0,8}(?P<text>[-+]?[0-9.]{0,40}(?:e[-+]?)?|[nai]{0,2}))?"
)
_DURATION: Final = re.compile(r"(?:[0-9]{1,6}[dhms] ?){2,4}(?:[0-9.]{1,6}s)?|[0-9.]{1,9} ?(?:ms|s|min|h)")
_KNOWN: Final = re.compile(
    r"(?:Time|(?:Avg\. )?(?:Reward|Seq\. Length)|Val\. Reward|Loss|Entropy|Throughput|Mismatch KL|Grad\. Norm|LR)\b"
)
_TRAINER: Final = frozenset({"Loss", "Grad. Norm", "LR", "Mismatch KL", "MFU", "Peak Mem.", "Clip Ratio"})
_NOT_NUMBERS: Final = {"None", "N/A", "-"}
_SPACED: Final = {
    key.replace(" ", ""): key
    for key in (
        "Async Level",
        "Avg. Reward",
        "Grad. Norm",
        "Max. Off-Policy Level",
        "Mismatch KL",
        "Peak Mem.",
        "Seq. Length",
        "Val. Reward",
    )
}
"""Keys by what is left of them where a terminal broke the line at a blank."""

_MOST: Final = 60
_ITEM: Final = r"(?:'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")"
_ITEMS: Final = re.compile(rf"\s{{0,80}}+\[?(?:{_ITEM}(?:,\s{{0,9}}+|(?=\]|$)))++\]?,?\s{{0,9}}+$")
_ONE_ITEM: Final = re.compile(_ITEM)
_WORDS: Final = ("Step ", "step ")


class PrimeRL:
    """Reads one row a step line."""

    name: Final = "prime-rl"
    strength: Final = 80

    def read(self, document: Document) -> Reading:
        """A run of the orchestrator, a run of the trainer, or one."""
        if not any("|" in line or "Finished " in line for line in document.lines):
            return Reading()
        records: dict[bool, list[Record]] = {False: [], True: []}
        taken: set[int] = set()
        bad: list[int] = []
        units: dict[str, str] = {}
        for message in find_messages(_unlisted(document), _WORDS, _measure):
            record, _ = _read_message(message, units)
            if not any(_KNOWN.match(key) for key in record.row.values):
                if any(_KNOWN.match(part.strip()) for part in message.body.split("|")[1:_MOST]):
                    bad.append(message.number)
                continue
            records[any(key in _TRAINER for key in record.row.values)].append(record)
            taken.update(message.numbers)
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


def _unlisted(document: Document) -> Document:
    """The document with the items of printed lists as lines of their own, under the number of the list's line."""
    lines: list[str] = []
    numbers: list[int] = []
    found = False
    for line, number in zip(document.lines, document.numbers, strict=False):
        items = _items(line) if " | " in line and line.rstrip()[-1:] in {"]", "'", '"', ","} else []
        found = found or bool(items)
        lines += items or [line]
        numbers += [number] * max(len(items), 1)
    return replace(document, lines=lines, numbers=numbers) if found else document


def _items(line: str) -> list[str]:
    """The texts of a list of step lines as Python prints it; nothing if the line is anything else."""
    begin = min((at for at in (line.find("'"), line.find('"')) if at >= 0), default=-1)
    if begin < 0 or "tep " not in line[begin:] or _ITEMS.match(line, begin) is None:
        return []
    try:
        texts = [str(literal_eval(item[0])) for item in _ONE_ITEM.finditer(line, begin)]
    except (SyntaxError, ValueError):
        return []
    items = [part for text in texts for part in strip_ansi(text).split("\n")]
    return items if any(_HEADING.match(read_body(item)[1]) is not None for item in items) else []


def _place_short(records: dict[bool, list[Record]]) -> None:
    """Lines cut before a key that tells who printed them go to the one that lacks their step."""
    short = [record for record in records[False] if set(record.row.values) <= {"Time", "Entropy", "Throughput"}]
    if not records[True] or not short:
        return
    steps = {record.row.step for record in records[False] if record not in short}
    moved = [record for record in short if not steps or record.row.step in steps]
    records[False] = [record for record in records[False] if record not in moved]
    records[True] = sorted([*records[True], *moved], key=lambda record: record.row.line)


def _measure(body: str) -> tuple[tuple[str, ...], bool] | None:
    if _HEADING.match(body) is None:
        return None
    record, complete = _read_message(Message(None, body, (0,), (0,)), {})
    return (*record.row.values, *(gap.metric or "" for gap in record.row.bad)), complete


def _read_message(message: Message, units: dict[str, str]) -> tuple[Record, bool]:
    """The record of a step line, and whether every part of it was understood."""
    body = message.body
    heading = _HEADING.match(body)
    row = Row(0, message.number, last_line=message.numbers[-1], tag=message.tag)
    texts: dict[str, tuple[str, str]] = {}
    if heading is None:
        return Record("step", row), False
    row.step = int(heading["step"] or heading["old"])
    comma = heading["bar"] is None
    rest = body[heading.end() :].rstrip()
    if comma:
        time = read_number(heading["time"])
        if time is not None:
            row.values["Time"] = time
            units.setdefault("Time", "s")
        rest = rest.removesuffix(")")
    complete = not comma or body.rstrip().endswith(")")
    at = heading.end()
    separator = ", " if comma else "|"
    parts = rest.split(separator, _MOST)[:_MOST]
    for index, raw in enumerate(parts):
        part = raw.strip()
        last = index == len(parts) - 1
        place, at = at + raw.find(part), at + len(raw) + len(separator)
        cell = _CELL.fullmatch(part)
        if cell is not None:
            value = read_number(cell["number"])
            key, unit = _SPACED.get(cell["key"].replace(" ", ""), cell["key"]), (cell["unit"] or "").strip()
            if value is not None and key not in row.values:
                row.values[key], row.lines[key] = value, message.line(place + cell.start("number"))
                texts[key] = (cell["number"], unit)
                units.setdefault(key, unit)
            continue
        key, colon, text = part.partition(": ")
        if colon and text in _NOT_NUMBERS:
            row.bad.append(Missing(key, row.step, message.line(place), "not_a_number", text))
        elif _DURATION.fullmatch(part) is None:
            complete = False
            if last:
                _note_tail(row, part)
    return Record("step", row, {} if row.cut or (comma and complete) else texts), complete


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
