"""Lines of TensorFlow's estimators, and the summary object that a Trainer writes at its end.

``INFO:tensorflow:loss = 2.37, step = 200 (2.336 sec)`` closes a row; ``global_step/sec: 42.8`` and lines of
``cross_entropy = 2.0, train_accuracy = 0`` before it belong to the same one. The summary (``train_results.json``:
``"train_loss": 4.087, "train_runtime": 389852.35``) is one row where a text holds nothing else.
"""

from __future__ import annotations

import json
import math
import re
from typing import Final

from assistant.model.run import Note
from assistant.parsing.logprefix import read_body
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.repair import Document
from assistant.parsing.stepbook import Book, Cell
from assistant.parsing.table import Reading

_CELLS: Final = re.compile(
    rf"(?:[A-Za-z_][\w/ -]{{0,60}} = {NUMBER}(?:, (?=[A-Za-z_]))?){{1,20}}(?: \([0-9.]{{1,12}} sec\))?\s*$"
)
_CELL: Final = re.compile(rf"(?P<key>[A-Za-z_][\w/ -]{{0,60}}) = (?P<number>{NUMBER})")
_TOOK: Final = re.compile(r" \((?P<seconds>[0-9.]{1,12}) sec\)\s*$")
_RATE: Final = re.compile(rf"(?P<key>[\w/]{{1,60}}/sec|[\w]{{1,40}}_per_sec/[\w]{{1,40}}): (?P<number>{NUMBER})\s*$")
_HEAD: Final = re.compile(r"(?:[*> ]{0,6}INFO:tensorflow:|[*> ]{1,6})")
_OBJECT: Final = re.compile(r"\{[^{}]{20,4000}\}")
_SUMMARY: Final = re.compile(r'"(?:train|eval)_(?:loss|runtime)": ')
_LONGEST: Final = 600
_FEWEST: Final = 3


class Estimator:
    """Reads ``loss = 2.37, step = 200 (2.336 sec)`` with the rates and values printed before it."""

    name: Final = "tf-estimator"
    strength: Final = 12

    def read(self, document: Document) -> Reading:
        """At most one run."""
        book = Book()
        open_cells: list[tuple[Cell, int]] = []
        for raw, number in zip(document.lines, document.numbers, strict=False):
            if len(raw) > _LONGEST or (" = " not in raw and "/sec" not in raw and "_per_sec" not in raw):
                continue
            head = _HEAD.match(raw)
            line = read_body(raw if head is None else raw[head.end() :])[1].rstrip("* ")
            rate = _RATE.match(line)
            if rate is not None and (value := read_number(rate["number"])) is not None:
                open_cells.append((Cell(rate["key"], value, ""), number))
                continue
            if _CELLS.match(line) is None:
                continue
            cells = [Cell(found["key"], read_number(found["number"]) or 0, "") for found in _CELL.finditer(line)]
            step = next((int(cell.value) for cell in cells if cell.key in {"step", "global_step"}), None)
            cells = [cell for cell in cells if cell.key not in {"step", "global_step"}]
            if step is None:
                open_cells += [
                    (cell, number) for cell in cells if all(cell.key != other.key for other, _ in open_cells)
                ]
                continue
            took = _TOOK.search(line)
            if took is not None:
                cells.append(Cell("sec", float(took["seconds"]), "s"))
            whole = [*open_cells, *((cell, number) for cell in cells)]
            if whole:
                book.add(step, [cell for cell, _ in whole], number, [at for _, at in whole])
            open_cells = []
        if book.rows:
            run = book.run(document, format=self.name, framework="TensorFlow", axis="step")
            return Reading((run,), frozenset(book.taken))
        return _summary(document)


def _summary(document: Document) -> Reading:
    """The object that a Trainer writes at its end, alone in a text."""
    text = "\n".join(document.lines[:400])
    found = next((one for one in _OBJECT.finditer(text) if _SUMMARY.search(one[0])), None)
    if found is None:
        return Reading()
    try:
        held = json.loads(found[0])
    except ValueError:
        return Reading()
    cells = [
        Cell(key, value, "")
        for key, value in held.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    ]
    if len(cells) < _FEWEST:
        return Reading()
    first = text.count("\n", 0, found.start())
    numbers = document.numbers[first : text.count("\n", 0, found.end()) + 1]
    book = Book()
    book.add(0, cells, numbers[0])
    note = Note(
        "summary_only",
        "这是训练结束时的汇总：只有全程平均，没有各步的值。",
        "This is the summary written at the end of a training: means over all of it, no values by step.",
        numbers[0],
    )
    run = book.run(document, format="trainer-summary", framework="HF Trainer", axis="index", warnings=[note])
    return Reading((run,), frozenset(numbers))
