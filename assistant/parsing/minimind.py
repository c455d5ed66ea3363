"""minimind's lines: ``Epoch:[1/2](100/9751), Reward: -1.57, KL_ref: 0.02, …`` (older: ``… loss:2.3 lr:0.0005 …``)."""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Missing, Note
from assistant.parsing.logprefix import read_body
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.records import Record, make_runs, settle_ends, unit_notes
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading, Row

_HEADING: Final = re.compile(
    r"(?:[A-Z][A-Za-z]{1,15}+ )?+Epoch:? ?\[(?P<epoch>[0-9]{1,9})/(?P<epochs>[0-9]{1,9})\]"
    r" ?\((?P<step>[0-9]{1,12})/(?P<total>[0-9]{1,12})\),?"
)
_CELL: Final = re.compile(
    rf"[ ,|]{{0,4}}+(?P<key>[A-Za-z_][\w/@.-]{{0,60}}+(?: (?!epoch_[Tt]ime)[A-Za-z_][\w/@.-]{{0,40}}+){{0,5}}+): ?+"
    rf"(?P<number>{NUMBER})(?P<unit> ?(?:min|ms|s|h|%)(?![\w.]))?+(?=[ ,|:;]|$)"
)
_NEXT: Final = re.compile(r"[^ ,|]{1,400}+[ ,|]")
_MARK: Final = "poch"


class MiniMind:
    """Reads one row a line; steps count on over the epochs."""

    name: Final = "minimind"
    strength: Final = 90

    def read(self, document: Document) -> Reading:
        """At most one run a process."""
        found: list[tuple[re.Match[str], str, int, str | None]] = []
        for line, number in zip(document.lines, document.numbers, strict=False):
            if _MARK not in line or ("](" not in line and "] (" not in line):
                continue
            tag, body = read_body(line)
            heading = _HEADING.match(body)
            if heading is not None:
                found.append((heading, body, number, tag))
        first = 0 if any(int(heading["epoch"]) == 0 for heading, _, _, _ in found) else 1
        records: list[Record] = []
        taken: set[int] = set()
        bad: list[int] = []
        units: dict[str, str] = {}
        shifted = False
        for heading, body, number, tag in found:
            offset = (int(heading["epoch"]) - first) * int(heading["total"])
            row = Row(offset + int(heading["step"]), number, last_line=number, tag=tag)
            record = _read_line(row, body, heading.end(), units)
            if not record.row.values:
                bad.append(number)
                continue
            shifted = shifted or offset > 0
            records.append(record)
            taken.add(number)
        settle_ends(records, fixed=True)
        runs = make_runs(
            records,
            first=0,
            name=document.name,
            format="minimind",
            framework="minimind",
            step_axis="step",
            notes=[*unit_notes(units.items()), *([_SHIFTED] if shifted else [])],
        )
        return Reading(tuple(runs), frozenset(taken) if runs else frozenset(), tuple(bad))


def _read_line(row: Row, body: str, at: int, units: dict[str, str]) -> Record:
    texts: dict[str, tuple[str, str]] = {}
    body = body.rstrip()
    while at < len(body) and len(row.values) < 200:
        cell = _CELL.match(body, at)
        if cell is None:
            skipped = _NEXT.match(body, at)
            if skipped is None:
                _note_tail(row, body[at:].lstrip(" ,|;:"))
                break
            at = skipped.end()
            continue
        value = read_number(cell["number"])
        key, unit = cell["key"], (cell["unit"] or "").strip()
        if value is not None and key not in row.values:
            row.values[key] = value
            texts[key] = (cell["number"], unit)
            units.setdefault(key, unit)
        at = cell.end()
    return Record("step", row, {} if row.cut else texts)


def _note_tail(row: Row, tail: str) -> None:
    """What stands at the end of a line behind the last whole cell: a key or a number that stops, or a remark."""
    key, colon, text = tail.partition(":")
    text = text.strip()
    if not colon and re.fullmatch(r"[A-Za-z_][\w/@. -]{0,100}", tail):
        row.cut = True
        row.half = Missing(None, row.step, row.line, "half_key", tail[:80])
    elif colon and re.fullmatch(r"[-+]?[0-9.]{0,40}(?:e[-+]?)?m?i?|[nai]{1,2}", text) and len(key) <= 100:
        row.cut = True
        row.half = Missing(key, row.step, row.line, "half_value", text[:80])
    elif colon and text in {"None", "nanmin"}:
        row.bad.append(Missing(key, row.step, row.line, "not_a_number", text))


_SHIFTED: Final = Note(
    "epochs",
    "括号中的步数在每个 epoch 重新开始；后面 epoch 的步数已加上前面各 epoch 的步数（N × (epoch − 1)）。",
    "The step in parentheses starts anew each epoch; later epochs are counted on by N × (epoch - 1).",
)
