"""The notes of a text's segments, made those of the text: each place once, counts and lists over all of it."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, Protocol

from assistant.model.run import Missing, Note, Run
from assistant.parsing.cuts import cut_notes
from assistant.parsing.table import Row, restart_notes

_COUNTS: Final = frozenset({"duplicate_lines", "rows_left_out", "step_before"})
_REMADE: Final = frozenset({"restart", "line_cut"})
_ONCE: Final = frozenset({"steps_from_progress_bar", "no_step", "rows_counted"})
"""Notes that are about all of a run, though they name the line of its first row."""

_EPOCH: Final = "the epoch goes back"
_NUMBER: Final = re.compile("[0-9]+")


class Lines(Protocol):
    """A part of a text."""

    def holds(self, number: int | None) -> bool:
        """Whether a line is the part's own."""
        ...


@dataclass
class Notes:
    """Notes in the order of a run, by code."""

    _kept: dict[str, list[Note]] = field(default_factory=dict)
    _counted: dict[str, array[int]] = field(default_factory=dict)
    _order: list[str] = field(default_factory=list)

    def has(self, code: str) -> bool:
        """Whether there is a note of a kind."""
        return code in self._kept

    def drop(self, code: str) -> None:
        """Forgets the notes of a kind."""
        self._kept.pop(code, None)

    def take(self, notes: Iterable[Note], segment: Lines) -> None:
        """Adds those that concern the own lines of a segment, or of another part."""
        before = ""
        for note in notes:
            code = note.code
            if code == "restart" and _EPOCH in note.en and not segment.holds(note.line):
                continue  # the first place in a text is its first in a segment, whatever stands before that
            if code in _COUNTS:
                own = [line for line in note.counted if segment.holds(line)]
                if not own:
                    continue
                self._counted.setdefault(code, array("q")).extend(own)
                self._kept.setdefault(code, [note])
            elif code in _REMADE or code in _ONCE:
                self._kept.setdefault(code, [note])
            elif note.line is not None:
                if not segment.holds(note.line):
                    continue
                self._kept.setdefault(code, []).append(note)
            else:
                held = self._kept.setdefault(code, [note])
                if len(note.en) > len(held[0].en):
                    held[0] = note  # a longer list
            if code not in self._order:
                self._order.insert(self._order.index(before) + 1 if before else len(self._order), code)
            before = code

    def onto(self, run: Run) -> Run:
        """The run with its notes."""
        notes: list[Note] = []
        for code in self._order:
            held = self._kept.get(code)
            if held is None:
                continue
            if code in _COUNTS:
                notes.append(_count(held[0], self._counted[code]))
            elif code == "restart" and _EPOCH not in held[0].en:
                notes.extend(_restarts(run))
            elif code == "line_cut":
                notes.extend(cut_notes(_cut_rows(run.missing), run.missing))
            elif code in _ONCE:
                notes.extend(replace(note, line=min(run.row_lines, default=None)) for note in held)
            else:
                notes.extend(held)
        return replace(run, warnings=tuple(notes))


def _count(note: Note, lines: array[int]) -> Note:
    """A note that counts lines, for all of them; it may name the first."""
    new = [str(len(lines)), *([str(lines[0])] if note.line is not None else [])]
    line = None if note.line is None else lines[0]
    return replace(note, zh=_told(note.zh, new), en=_told(note.en, new), line=line)


def _told(text: str, new: list[str]) -> str:
    """A text with other numbers in place of its first ones."""
    left = iter(new)
    return _NUMBER.sub(lambda found: next(left, found[0]), text)


def _restarts(run: Run) -> list[Note]:
    """The notes on steps that go back, told from the joined rows."""
    rows: list[Row] = []
    for at, (before, after) in enumerate(pairwise(run.steps)):
        if after < before:
            rows += [Row(before, run.row_lines[at]), Row(after, run.row_lines[at + 1])]
    return restart_notes(rows)


def _cut_rows(missing: Iterable[Missing]) -> list[Row]:
    """The rows that were cut, as far as the notes tell of them."""
    rows: dict[tuple[int, int], Row] = {}
    for gap in missing:
        if gap.reason != "not_a_number":
            rows.setdefault(
                (gap.step, gap.line), Row(gap.step, gap.line, last_line=gap.line, cut=True, limit=gap.limit)
            )
    return list(rows.values())
