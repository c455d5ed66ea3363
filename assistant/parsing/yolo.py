"""Ultralytics' tables: ``Epoch GPU_mem box_loss …``, below it ``3/100 2.1G 1.2 …: 100%|``, and the row ``all``.

ultralytics/ultralytics, ``ultralytics/engine/trainer.py`` and ``ultralytics/models/yolo/detect/val.py``.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.repair import Document
from assistant.parsing.stepbook import Book, Cell
from assistant.parsing.table import Reading

_HEADER: Final = re.compile(r"\s{0,12}Epoch\s{1,20}[Gg][Pp][Uu]_mem(?P<rest>(?:\s{1,20}[\w/.]{1,30}){1,20})\s*$")
_ROW: Final = re.compile(r"\s{0,16}(?P<epoch>[0-9]{1,7})/[0-9]{1,7}\s{1,20}(?P<rest>[0-9][^:|%]{0,300})")
_CLASSES: Final = re.compile(r"\s{0,40}Class\s{1,20}Images\s{1,20}(?P<rest>[^|%]{1,300})")
_ALL: Final = re.compile(r"\s{0,40}all(?P<rest>(?:\s{1,20}[0-9.e+-]{1,20}){2,20})\s*$")
_MEMORY: Final = re.compile(rf"(?P<number>{NUMBER})(?P<unit>[MG]i?B?)")
_LONGEST: Final = 2000


class YoloTables:
    """Reads the lines of a training with Ultralytics; of the drawings of an epoch's bar the last counts."""

    name: Final = "yolo"
    strength: Final = 54

    def read(self, document: Document) -> Reading:
        """At most one run, one row an epoch."""
        names: list[str] = []
        scores: list[str] = []
        epochs: list[tuple[int, list[Cell], list[int]]] = []
        taken: set[int] = set()
        for line, number in zip(document.lines, document.numbers, strict=False):
            if len(line) > _LONGEST:
                continue
            header = _HEADER.match(line) if "_mem" in line else None
            if header is not None:
                names = ["GPU_mem", *header["rest"].split()]
                continue
            row = _ROW.match(line) if names else None
            if row is not None:
                cells = _cells(names, row["rest"].split())
                if cells is not None:
                    epoch = int(row["epoch"])
                    if epochs and epochs[-1][0] == epoch:
                        epochs.pop()
                    epochs.append((epoch, cells, [number] * len(cells)))
                    taken.add(number)
                continue
            classes = _CLASSES.match(line) if "Class" in line else None
            if classes is not None:
                words = classes["rest"].split()
                scores = ["Images", *_scores(words[:-1] if words[-1].isdigit() else words)]
                continue
            whole = _ALL.match(line) if scores and epochs else None
            if whole is not None:
                more = _cells(scores, whole["rest"].split())
                if more is not None and epochs[-1][1][-1].key != more[-1].key:
                    epochs[-1][1].extend(more)
                    epochs[-1][2].extend([number] * len(more))
                    taken.add(number)
        book = Book()
        for epoch, cells, numbers in epochs:
            book.add(epoch, cells, numbers[0], numbers)
        if not book.rows:
            return Reading()
        book.taken.update(taken)
        run = book.run(
            document, format=self.name, framework="Ultralytics", axis="epoch", warnings=book.settle_end(document)
        )
        return Reading((run,), frozenset(book.taken))


def _cells(names: list[str], texts: list[str]) -> list[Cell] | None:
    """The cells of a row, ``None`` if it is not as wide as its header."""
    if len(texts) != len(names):
        return None
    cells: list[Cell] = []
    for name, text in zip(names, texts, strict=True):
        memory = _MEMORY.fullmatch(text)
        value = read_number(memory["number"] if memory is not None else text)
        if value is None:
            return None
        cells.append(Cell(name, value, memory["unit"] if memory is not None else ""))
    return cells


def _scores(words: list[str]) -> list[str]:
    """``Box(P R mAP50)`` as ``Box(P)``, ``Box(R)``, ``Box(mAP50)``."""
    names: list[str] = []
    group = ""
    for word in words:
        name = word.rstrip(":")
        front, bracket, rest = name.partition("(")
        if bracket:
            group, name = front, rest
        ends = name.endswith(")")
        names.append(f"{group}({name.rstrip(')')})" if group else name)
        if ends:
            group = ""
    return names
