"""Keras's lines: ``Epoch 3/10`` and ``60000/60000 [====] - 5s 87us/step - loss: 0.34 - acc: 0.90 - val_loss: 0.08``.

keras-team/keras, ``keras/src/utils/progbar.py``.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Note
from assistant.parsing.headedlines import is_short
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.stepbook import Book, Cell, is_end
from assistant.parsing.table import Reading

_EPOCH: Final = re.compile(r"\s{0,4}Epoch (?P<epoch>[0-9]{1,9})/(?P<of>[0-9]{1,9})\s*$")
_BAR: Final = re.compile(
    r"\s{0,8}(?P<at>[0-9]{1,12})/(?P<of>[0-9]{1,12}|Unknown) "
    r"(?:\[[=>.]{1,200}\]|[━╸╺ \s]{1,200})?(?: ?- |\s)"
    r"(?P<time>ETA: [0-9:]{1,12}s?|[0-9:.]{1,12}s?)?(?: [0-9.]{1,12}[mun]?s/(?:step|epoch|sample|iter))?"
)
_OLD: Final = re.compile(
    r"\s{0,8}(?:- )?[0-9]{1,9}(?:\.[0-9]{1,6})?[mun]?s(?: [0-9.]{1,12}[mun]?s/(?:step|epoch|sample|iter))?(?= - [a-z])"
)
_PAIR: Final = re.compile(rf" ?- (?P<key>[A-Za-z_][\w./@+ ()-]{{0,80}}?): (?P<number>{NUMBER})(?=\s|$)")
_LONGEST: Final = 5000


class KerasBars:
    """Reads Keras's epochs; of the drawings of an epoch's bar the last counts."""

    name: Final = "keras"
    strength: Final = 54

    def read(self, document: Document) -> Reading:
        """At most one run, one row an epoch."""
        epoch, named = 0, 0
        rows: list[tuple[int, list[Cell], int, bool]] = []
        texts: list[str] = []
        taken: set[int] = set()
        for raw, number in zip(document.lines, document.numbers, strict=False):
            if len(raw) > _LONGEST or ("Epoch " not in raw and " - " not in raw and "━" not in raw):
                continue
            line = (strip_ray(raw)[1] if "pid=" in raw[:120] else raw).replace("\x08", "")
            head = _EPOCH.match(line)
            if head is not None:
                epoch = int(head["epoch"])
                named += 1
                continue
            bar = _BAR.match(line)
            old = _OLD.match(line) if bar is None and named else None
            if bar is None and old is None:
                continue
            end = bar.end() if bar is not None else old.end() if old is not None else 0
            pairs = [
                (pair, value)
                for pair in _PAIR.finditer(line, end)
                if (value := read_number(pair["number"])) is not None
            ]
            cells = [Cell(pair["key"], value, "", pair.start("number")) for pair, value in pairs]
            if not cells or not any(cell.key == "loss" or cell.key.endswith("loss") for cell in cells):
                continue
            texts.append(pairs[-1][0]["number"])
            done = bar is None or bar["at"] == bar["of"] or bar["of"] == "Unknown"
            shown = epoch
            taken.add(number)
            if rows and rows[-1][0] == shown and not (rows[-1][3] and not named):
                rows.pop()
            rows.append((shown, cells, number, done))
        if rows and is_end(document, rows[-1][2]) and is_short(texts[-1], texts[:-1]) and len(rows[-1][1]) > 1:
            rows[-1][1].pop()
        return self._reading(document, rows, taken)

    def _reading(self, document: Document, rows: list[tuple[int, list[Cell], int, bool]], taken: set[int]) -> Reading:
        if not rows:
            return Reading()
        if not any(row[0] for row in rows):
            rows = [(at, *row[1:]) for at, row in enumerate(rows, 1)]
        if rows[0][0] == 0 and len(rows) > 1 and rows[1][0] > 1:
            rows[0] = (rows[1][0] - 1, *rows[0][1:])
        book = Book()
        for epoch, cells, number, _ in rows:
            book.add(epoch, cells, number)
        book.taken.update(taken)
        notes = book.settle_end(document) if rows[-1][3] else []
        if not rows[-1][3]:
            epoch, number = rows[-1][0], rows[-1][2]
            notes.append(
                Note(
                    "running_mean",
                    f"第 {number} 行：第 {epoch} 轮尚未结束，显示的是轮内的累计平均。",
                    f"Line {number}: epoch {epoch} has not ended; what is shown is its mean so far.",
                    number,
                )
            )
        run = book.run(document, format=self.name, framework="Keras", axis="epoch", warnings=notes)
        return Reading((run,), frozenset(book.taken))
