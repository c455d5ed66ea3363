"""Blocks below a banner that counts them: ``----- Iteration #50 -----``, then a labelled value a line."""

from __future__ import annotations

import re
from typing import Final

from assistant.parsing.columns import is_result
from assistant.parsing.frameworks import detect_framework
from assistant.parsing.logprefix import read_body
from assistant.parsing.numbers import GROUPED, NUMBER, read_number
from assistant.parsing.repair import Document
from assistant.parsing.stepbook import Book, Cell
from assistant.parsing.table import Reading

_BANNER: Final = re.compile(
    r"\s{0,40}[-=*#>+]{3,200}\s{0,40}(?:\[[\w.-]{1,60}\] ?-? ?)?(?P<named>METRICS )?"
    r"(?P<word>(?i:iteration|itr|iter|epoch|episode|update|step|generation|round))"
    r"\s{0,4}[:#]?\s{0,4}(?P<step>[0-9]{1,12})(?:\s?/\s?[0-9]{1,12})?\s{0,40}[-=*#<+]{3,200}\s*$"
)
_COUNT: Final = re.compile(
    r"\s{0,8}(?P<word>(?i:iteration|itr|iter|epoch|episode|update|step|generation))s?\s{0,20}[:=#]\s{0,20}"
    r"(?P<step>[0-9]{1,12})(?:\s?/\s?[0-9]{1,12})?\s*$"
)
"""A line that counts the lines below it, where such lines repeat."""
_BORDER: Final = re.compile(r"\s{0,40}[-=*#+]{5,400}\s*$")
_LABEL: Final = re.compile(
    rf"\s{{0,60}}(?P<key>[A-Za-z%][^:=|\n]{{0,80}}?)\s{{0,40}}[:=]\s{{0,60}}(?P<number>{GROUPED}|{NUMBER})"
    r"(?P<unit>\s?(?:ms|secs?|seconds|mins?|minutes|hours|[smh%])(?![\w/]))?(?P<rest>\s{0,8}\([^()\n]{0,100}\))?\s*$"
)
_LINED: Final = re.compile(r"\s{0,8}[-=*#]{5,200} ?[^-=*#]{1,60} ?[-=*#]{5,200}\s*$")
_LONGEST: Final = 1000
_MOST_LINES: Final = 80
_MOST_STRANGE: Final = 3


class BannerBlocks:
    """Reads one row a banner: the labelled values below it, up to a border or to lines of another kind."""

    name: Final = "banner-blocks"
    strength: Final = 15

    def read(self, document: Document) -> Reading:
        """At most one run, of blocks with at least two values, one of them a result."""
        book = Book()
        cells: list[tuple[Cell, int]] = []
        step: int | None = None
        start = strange = 0
        named = False
        words: list[str] = []

        def flush() -> None:
            if step is not None and len(cells) > 1 and (named or any(is_result(cell.key) for cell, _ in cells)):
                book.add(step, [cell for cell, _ in cells], start, [at for _, at in cells])

        counted = _counts(document)
        for raw, number in zip(document.lines, document.numbers, strict=False):
            if len(raw) > _LONGEST:
                continue
            banner = _BANNER.match(raw) if raw.lstrip()[:3].strip("-=*#>+") == "" and raw.strip() else None
            if banner is None and counted and raw.strip()[-1:].isdigit():
                banner = _COUNT.match(raw)
            if banner is None and step is None:
                continue
            if banner is not None:
                flush()
                step, start, strange, cells = int(banner["step"]), number, 0, []
                named = banner.groupdict().get("named") is not None
                words.append(banner["word"].lower())
                continue
            found = _LABEL.match(read_body(raw)[1])
            value = None if found is None else read_number(found["number"])
            if found is not None and value is not None:
                cells.append((Cell(found["key"].strip(), value, (found["unit"] or "").strip()), number))
                continue
            strange += bool(raw.strip()) and not (_BORDER.match(raw) or _LINED.match(raw))
            if (
                strange > _MOST_STRANGE
                or number - start > _MOST_LINES
                or ((_BORDER.match(raw) or _LINED.match(raw)) and cells)
            ):
                flush()
                step, cells = None, []
        flush()
        if not book.rows:
            return Reading()
        notes = book.settle_end(document)
        if not book.rows:
            return Reading()
        axis = {"itr": "iteration", "iter": "iteration"}.get(words[0], words[0])
        framework = detect_framework(list({key for row in book.rows for key in row.values}))
        run = book.run(document, format=self.name, framework=framework, axis=axis, warnings=notes)
        return Reading((run,), frozenset(book.taken))


def _counts(document: Document) -> bool:
    """Whether the same count begins several blocks of labelled values, with borders between them."""
    steps: list[str] = []
    borders = labels = 0
    for raw in document.lines:
        if not raw or len(raw) > _LONGEST:
            continue
        if (found := _COUNT.match(raw)) is not None:
            steps.append(f"{found['word'].lower()} {found['step']}")
        elif _BORDER.match(raw) or _LINED.match(raw):
            borders += bool(steps)
        elif steps:
            labels += _LABEL.match(raw) is not None
    return len(set(steps)) == len(steps) > 1 and borders >= len(steps) - 1 and labels >= 2 * len(steps) - 1
