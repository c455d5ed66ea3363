"""Lines of loops that name themselves: ``[Learner] Loss = 0.058 | Steps = 70 | Walltime = 4.277`` (Acme)."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from assistant.model.run import Note
from assistant.parsing.columns import is_result
from assistant.parsing.markdown import Fences
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.stepbook import Book, Cell, read_cell, whole_number
from assistant.parsing.table import Reading

_LABEL: Final = re.compile(
    r"(?:[IWE][0-9]{4} [0-9:.]{8,16} {1,4}[0-9]{1,20} [\w./-]{1,80}:[0-9]{1,7}\] )?"
    r"\[(?P<label>[A-Z][A-Za-z_ ]{0,40})\] (?=[A-Za-z][\w /-]{0,40} = )"
)
_LONGEST: Final = 2000
_COUNTERS: Final = ("steps", "episodes")


class _Event(NamedTuple):
    """A line of a loop."""

    label: str
    cells: list[Cell]
    number: int

    def count(self, axis: str) -> int:
        """The step that the line prints."""
        return next(int(cell.value) for cell in self.cells if cell.key == axis)


class LabelledLines:
    """Reads ``[Learner] Loss = 0.058 | Steps = 70``, each loop with steps of its own."""

    name: Final = "labelled-lines"
    strength: Final = 13

    def read(self, document: Document) -> Reading:
        """At most one run: it counts the steps of the loop that prints most, and has the others at the line above."""
        events: list[_Event] = []
        fences = Fences()
        for raw, number in zip(document.lines, document.numbers, strict=False):
            if len(raw) > _LONGEST or " = " not in raw or fences.skip(raw):
                continue
            line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
            head = _LABEL.match(line)
            if head is None:
                continue
            pieces = line[head.end() :].rstrip().split(" | ")
            cells = [cell for cell in map(read_cell, pieces) if cell is not None]
            if len(cells) == len(pieces) > 1:
                events.append(_Event(head["label"], cells, number))
        lines = Counter(event.label for event in events if any(is_result(cell.key) for cell in event.cells))
        if not lines:
            return Reading()
        main = lines.most_common(1)[0][0]
        axis = _axis(main, [event.cells for event in events if event.label == main])
        if axis is None:
            return Reading()
        book = Book()
        step = next(event.count(axis) for event in events if event.label == main)
        for event in events:
            label, cells, number = event
            if label == main:
                step = event.count(axis)
                book.add(step, [cell for cell in cells if cell.key != axis], number)
            else:
                book.add(step, [cell._replace(key=f"{label}/{cell.key}") for cell in cells], number)
        notes = book.settle_end(document)
        if not book.rows:
            return Reading()
        others = sorted({event.label for event in events} - {main})
        if others:
            notes.append(_note(main, axis, others))
        run = book.run(document, format=self.name, framework=None, axis="step", warnings=notes)
        return Reading((run,), frozenset(book.taken))


def _note(main: str, axis: str, others: list[str]) -> Note:
    named = ", ".join(others)
    return Note(
        "loops",
        f"step 是 [{main}] 的 {axis}；其他循环（{named}）各数各的，它们的值放在上面最近一行 [{main}] 的 step 上。",
        f"The step is {axis} of [{main}]; the other loops ({named}) count for themselves, and their values stand "
        f"at the step of the nearest [{main}] line above.",
    )


def _axis(label: str, lines: list[list[Cell]]) -> str | None:
    """What counts a loop's lines: its own steps, else ``Steps``, else episodes; a whole number in every line."""
    words = [f"{label} {word}".lower() for word in _COUNTERS] + list(_COUNTERS)
    for word in words:
        named = [next((cell for cell in cells if cell.key.lower() == word), None) for cells in lines]
        counted = [cell for cell in named if cell is not None and whole_number(cell.value) is not None]
        if len(counted) == len(lines):
            return counted[0].key
    return None
