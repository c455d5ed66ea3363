"""Tables in aligned columns: a header that begins with what counts the rows, below it numbers (Chainer, fastai)."""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Run
from assistant.parsing.columns import Table, is_metric, table_run
from assistant.parsing.logprefix import read_body
from assistant.parsing.numbers import read_number
from assistant.parsing.repair import Document
from assistant.parsing.stepbook import is_step
from assistant.parsing.table import Reading

_TOKEN: Final = re.compile(r"\S{1,60}")
_NAME: Final = re.compile(r"[A-Za-z_%#][\w/.%#()@+-]{0,60}(?: [\w/.%#()@+-]{1,30}){0,3}")
_GAP: Final = re.compile(r"\s{2,60}|\t")
_COUNTS: Final = frozenset({"epoch", "epochs", "step", "steps", "iteration", "iter", "episode", "round", "update"})
_LONGEST: Final = 1000
_MOST_COLUMNS: Final = 60
_MOST_TABLES: Final = 5
_FEWEST: Final = 2


class AlignedTables:
    """Reads tables whose columns are held apart by blanks alone."""

    name: Final = "aligned-table"
    strength: Final = 13

    def read(self, document: Document) -> Reading:
        """One run a table of at least two rows."""
        runs: list[Run] = []
        taken: set[int] = set()
        at = 0
        lines = document.lines
        while at < len(lines) - _FEWEST and len(runs) < _MOST_TABLES:
            names = _header(lines[at], len(lines[at + 1].split()) if len(lines[at + 1]) <= _LONGEST else 0)
            if names is None:
                at += 1
                continue
            table, at = _rows(document, at, names)
            run = None
            if len(table.rows) >= _FEWEST:
                run = table_run(table, document, format=self.name, id=f"r{len(runs)}")
            if run is not None:
                runs.append(run)
                taken |= table.taken
        return Reading(tuple(runs), frozenset(taken))


def _header(line: str, width: int) -> list[tuple[str, int]] | None:
    """The names of a header with their places; the first counts the rows, another is a metric's.

    Args:
        line: that may be a header.
        width: how many words the line below it has; names may hold blanks where that fits.
    """
    if len(line) > _LONGEST or line.strip()[:4].lower() not in {"epoc", "step", "iter", "epis", "roun", "upda"}:
        return None
    body = line.strip()
    names = [name for name in _GAP.split(body) if name]
    if len(names) != width:
        words = body.split()
        names = words if len(words) == width or len(names) < _FEWEST else names
    if not _FEWEST <= len(names) <= _MOST_COLUMNS or names[0].lower() not in _COUNTS or len(set(names)) < len(names):
        return None
    if not all(_NAME.fullmatch(name) for name in names) or not any(is_metric(name) for name in names[1:]):
        return None
    places: list[tuple[str, int]] = []
    at = 0
    for name in names:
        at = line.index(name, at)
        places.append((name, at))
        at += len(name)
    return places


def _rows(document: Document, at: int, names: list[tuple[str, int]]) -> tuple[Table, int]:
    """The rows below a header, up to the first line that is none."""
    table = Table([name for name, _ in names], taken={document.numbers[at]})
    at += 1
    while at < len(document.lines):
        line, number = document.lines[at], document.numbers[at]
        if len(line) > _LONGEST or not line.strip():
            break
        cells = _cells(line, names)
        if cells is None:
            break
        table.rows.append(cells)
        table.lines.append(number)
        table.taken.add(number)
        at += 1
    return table, at


def _cells(line: str, names: list[tuple[str, int]]) -> list[str] | None:
    """A row's texts, by their order, or by their places where some are blank; ``None`` if the line is no row."""
    found = list(_TOKEN.finditer(line))
    if len(found) != len(names) and "|" not in line:
        found = list(_TOKEN.finditer(read_body(line)[1])) if len(found) > len(names) else found
    if not found or read_number(found[0][0]) is None or (not is_step(names[0][0]) and not found[0][0].isdigit()):
        return None
    if len(found) == len(names):
        texts = [token[0] for token in found]
    else:
        places = {place: index for index, (_, place) in enumerate(names)}
        texts = [""] * len(names)
        for token in found:
            if token.start() not in places:
                return None
            texts[places[token.start()]] = token[0]
    good = sum(read_number(text) is not None for text in texts)
    return texts if 2 * good >= len(found) else None
