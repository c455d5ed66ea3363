"""Lines of metrics in styles of their own: ``[5000] a 0.0 / b nan / c 1.2`` and ``MeanRew: \\t -257 +- 63`` blocks."""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Note
from assistant.parsing.columns import is_metric
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.stepbook import Book, Cell, read_cell
from assistant.parsing.table import Reading

_BRACKET: Final = re.compile(r"\s{0,8}\[\s{0,12}(?P<step>[0-9]{1,12})(?:\s?/\s?[0-9]{1,12})?\]\s{1,4}(?=[A-Za-z])")
_TABBED: Final = re.compile(
    rf"\s{{0,8}}(?:INFO[\w:.\- ]{{0,60}}[:\]\s]\s?)?"
    rf"(?P<key>[A-Za-z][\w()]{{1,40}}(?: [a-z]\w{{0,20}}){{0,2}})(?::[ ]?|(?=\t))"
    rf"[ ]?\t[\t ]{{0,8}}(?P<number>{NUMBER})"
    rf"(?: (?:\+-|\+/-|±) (?P<spread>{NUMBER}))?(?P<rest>(?: (?:seconds|secs?|s))?\s*)$"
)
_BORDER: Final = re.compile(r"(?:INFO[\w:.\- ]{0,60}[:\]\s]\s?)?[-=*]{5,200}\s*$")
_COUNTERS: Final = frozenset({"iteration", "iter", "itr", "step", "epoch", "update"})
_LONGEST: Final = 2000


class BracketLines:
    """Reads ``[5000] a 0.0 / b nan / c 1.2``."""

    name: Final = "bracket-lines"
    strength: Final = 16

    def read(self, document: Document) -> Reading:
        """At most one run: at least two such lines, or one with a known metric."""
        book = Book()
        for raw, number in zip(document.lines, document.numbers, strict=False):
            if "[" not in raw[:10] or len(raw) > _LONGEST:
                continue
            line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
            head = _BRACKET.match(line)
            if head is None:
                continue
            pieces = line[head.end() :].split(" / ")
            cells = [read_cell(piece) for piece in pieces]
            good = [cell.moved(0) for cell in cells if cell is not None and len(cell.key.split()) <= 3]
            if len(good) == len(pieces) and (len(good) >= 2 or is_metric(good[0].key)):
                book.add(int(head["step"]), good, number)
        if not book.rows:
            return Reading()
        metrics = sum(is_metric(key) for key in book.rows[0].values)
        if len(book.rows) < 2 and not metrics:
            return Reading()
        notes = book.settle_end(document)
        if not book.rows:
            return Reading()
        run = book.run(document, format=self.name, framework=None, axis="step", warnings=notes)
        return Reading((run,), frozenset(book.taken))


class TabbedBlocks:
    """Reads blocks of ``Iteration: \\t 5`` and ``MeanRew: \\t -257 +- 63`` between dashes."""

    name: Final = "tabbed-blocks"
    strength: Final = 15

    def read(self, document: Document) -> Reading:
        """At most one run, one row a block that begins with its iteration."""
        book = Book()
        cells: list[tuple[Cell, int]] = []
        step: int | None = None
        start, spread = 0, False

        def flush() -> None:
            if step is not None and cells:
                book.add(step, [cell for cell, _ in cells], start, [at for _, at in cells])

        for raw, number in zip(document.lines, document.numbers, strict=False):
            if len(raw) > _LONGEST:
                continue
            line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
            found = _TABBED.match(line) if "\t" in line else None
            if found is None:
                if _BORDER.match(line) or (step is not None and number - start > 100):
                    flush()
                    step, cells = None, []
                continue
            value = read_number(found["number"])
            if value is None:
                continue
            if found["key"].lower() in _COUNTERS and isinstance(value, int):
                flush()
                step, start, cells = value, number, []
            elif step is not None:
                cells.append((Cell(found["key"], value, found["rest"].strip()), number))
                other = read_number(found["spread"]) if found["spread"] else None
                if other is not None:
                    spread = True
                    cells.append((Cell(f"{found['key']} +-", other, ""), number))
        flush()
        if not book.rows:
            return Reading()
        notes = []
        if spread:
            notes.append(
                Note(
                    "spread",
                    "“值 +- 离散度”的第二个数记在 “指标名 +-” 下。",
                    'Of "value +- spread", the second number is kept under the metric\'s name with " +-".',
                )
            )
        run = book.run(document, format=self.name, framework=None, axis="iteration", warnings=notes)
        return Reading((run,), frozenset(book.taken))
