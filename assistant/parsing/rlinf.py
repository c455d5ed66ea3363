"""RLinf's metric table: ``│ Global Step: 51/1000 │``, then sections of cells ``│key=value │key=value │``.

Keys of the section ``Time`` are told as ``time/step``, the way they are logged elsewhere; the others stand as printed.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.parsing.logprefix import read_body
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.repair import Document
from assistant.parsing.stepbook import Book, Cell
from assistant.parsing.table import Reading

_STEP: Final = re.compile(r"Global Step:\s{1,12}(?P<step>[0-9]{1,12})\s?/\s?[0-9]{1,12}(?=\s|│|\|)")
_SECTION: Final = re.compile(r"[├+|][─\-═]{3,200} (?P<name>[A-Z][A-Za-z ]{2,30}) [─\-═]{3,200}")
_CELL: Final = re.compile(
    rf"\s{{0,40}}(?P<key>[A-Za-z][\w./@-]{{0,100}})=(?P<number>{NUMBER}|nan|inf)(?P<unit>s?)\s{{0,200}}"
)
_WHOLE: Final = re.compile(rf"\bStep Time: (?P<number>{NUMBER})s\b")
_LONGEST: Final = 1000


class RLinf:
    """Reads one row a table."""

    name: Final = "rlinf"
    strength: Final = 91

    def read(self, document: Document) -> Reading:
        """At most one run."""
        book, step, section = Book(), None, ""
        for raw, number in zip(document.lines, document.numbers, strict=False):
            if len(raw) > _LONGEST or not raw.strip():
                continue
            line = read_body(raw)[1].strip()
            head, title = _STEP.search(line), _SECTION.match(line)
            if head is not None:
                step, section = int(head["step"]), ""
                continue
            if title is not None:
                section = title["name"].strip().lower()
                continue
            if step is None or line[0] not in "│|":
                continue
            whole = _WHOLE.search(line)
            if whole is not None and (value := read_number(whole["number"])) is not None:
                book.add(step, [Cell("Step Time", value, "s")], number)
                continue
            cells = [
                Cell(
                    f"time/{found['key']}" if section == "time" else found["key"],
                    value,
                    "s" if section == "time" else "",
                )
                for part in line.strip("│| ").replace("|", "│").split("│")
                if (found := _CELL.fullmatch(part)) is not None and (value := read_number(found["number"])) is not None
            ]
            if cells:
                book.add(step, cells, number)
        if not book.rows:
            return Reading()
        run = book.run(document, format=self.name, framework="RLinf", axis="step")
        return Reading((run,), frozenset(book.taken))
