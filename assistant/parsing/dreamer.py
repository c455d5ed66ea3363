"""What DreamerV3 prints: a rule with the step, then ``episode/score 0.09 / train/loss 4.8 / …`` over many lines.

danijar/dreamerv3, ``embodied/core/logger.py`` (``TerminalOutput``).
"""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Missing, MissingReason
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.stepbook import Book, Cell, cut_note, is_end
from assistant.parsing.table import Reading

_HEAD: Final = re.compile(
    r"\s{0,8}(?:>\s)?[-─━═=]{3,300}\s?\[?\s?(?:Agent )?Step (?P<step>[0-9][0-9_,]{0,20})\s?\]?\s?[-─━═=]{3,300}\s*$"
)
_CELL: Final = re.compile(rf"\s{{0,8}}(?P<key>[A-Za-z_][\w./@+()-]{{0,160}}+) (?P<number>{NUMBER})\s{{0,8}}")
_LONGEST: Final = 2000
_MOST_LINES: Final = 400


class Dreamer:
    """Reads the metrics below each step's rule."""

    name: Final = "dreamer"
    strength: Final = 54

    def read(self, document: Document) -> Reading:
        """At most one run, one row a step."""
        book = Book()
        step: int | None = None
        start, rest = 0, ""
        for raw, number in zip(document.lines, document.numbers, strict=False):
            if len(raw) > _LONGEST:
                step = None
                continue
            line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
            line = line.removeprefix("> ")
            head = _HEAD.match(line) if "Step " in line else None
            if head is not None:
                step, start = int(head["step"].replace("_", "").replace(",", "")), number
                continue
            if step is None or number - start > _MOST_LINES or " " not in line or line.startswith("Metrics filtered"):
                continue
            cells, rest = _cells(line)
            if not cells or (rest and not is_end(document, number)):
                step = None
                continue
            book.add(step, cells, number)
        if not book.rows:
            return Reading()
        notes = []
        if rest and is_end(document, book.last):
            row = book.rows[-1]
            key, _, text = rest.partition(" ")
            reason: MissingReason = "half_value" if text else "half_key"
            book.gaps.append(Missing(key if text else None, row.step, book.last, reason, rest[:80]))
            notes.append(cut_note(book.last))
        run = book.run(document, format=self.name, framework="DreamerV3", axis="step", warnings=notes)
        return Reading((run,), frozenset(book.taken))


def _cells(line: str) -> tuple[list[Cell], str]:
    """The cells between slashes, and what stands behind them that is none; a value without a slash may go on."""
    cells: list[Cell] = []
    at = 0
    line = line.rstrip()
    while at < len(line):
        found = _CELL.match(line, at)
        value = None if found is None else read_number(found["number"])
        if found is None or value is None or line[found.end() : found.end() + 1] not in {"/", ""}:
            return cells, line[at:].strip()
        cells.append(Cell(found["key"], value, "", found.start("number")))
        at = found.end() + 1
    return cells, ""
