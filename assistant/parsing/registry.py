"""The formats that can be read, strongest first; third parties add theirs through the same object.

An installed package offers a format through the entry point group ``metric_assistant.parsers``: the entry
point names an object with the attributes of :class:`Format`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Set
from dataclasses import dataclass, replace
from typing import Final, Protocol

from assistant.model.run import Note
from assistant.parsing.beside import (
    BLOCKS,
    Beside,
    Reader,
    add_beside,
    first_line,
    is_outside,
    is_unmistakable,
    lost_note,
    read_beside,
)
from assistant.parsing.onerow import with_list
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading

ENTRY_POINTS: Final = "metric_assistant.parsers"
LOG_STRENGTH: Final = 50
"""Log formats are at least this strong."""

_FEWEST_ROWS: Final = 2
_FEWEST_CELLS: Final = 4
_SHARE: Final = 0.1
_SHARED: Final = 0.1
_TABLES: Final = "markdown-table"
_LISTS: Final = "key-value"


class Format(Protocol):
    """A log format.

    Attributes:
        name: how it is registered.
        strength: of formats that recognise the same lines the strongest wins. Log formats have 50 and more; weaker
            ones are tried only where no log format found anything, so that prose around a log is never read as
            metrics.
    """

    @property
    def name(self) -> str:
        """How it is registered."""
        ...

    @property
    def strength(self) -> int:
        """Its place in the order."""
        ...

    def read(self, document: Document) -> Reading:
        """The runs of a document; must not raise on any text."""
        ...


class Registry:
    """Formats by name."""

    def __init__(self) -> None:
        self._formats: dict[str, Format] = {}
        self._loaded = False

    def register(self, format: Format) -> None:
        """Adds a format; a later one of the same name replaces the earlier."""
        self._formats[format.name] = format

    def formats(self) -> list[Format]:
        """All formats, strongest first (of equals, the earlier registered first)."""
        return sorted(self._formats.values(), key=lambda known: -known.strength)

    def load_installed(self) -> list[str]:
        """As :meth:`load_entry_points`, at next to no cost where no installed package offers a format."""
        if self._loaded or not _is_offered():
            self._loaded = True
            return []
        return self.load_entry_points()

    def load_entry_points(self) -> list[str]:
        """Registers the formats of installed packages, once, and returns their names.

        Not called on import: :mod:`importlib.metadata` takes longer to load than a small log to read.
        """
        if self._loaded:
            return []
        self._loaded = True
        from importlib.metadata import entry_points

        names = []
        for entry in entry_points(group=ENTRY_POINTS):
            offered = entry.load()
            found = offered() if isinstance(offered, type) else offered
            self.register(found)
            names.append(found.name)
        return names

    def read(self, document: Document) -> Reading:
        """What the formats have read of a document.

        Each format says how much it recognises. The strongest that finds a run wins the lines it took. Another log
        format that took other lines, and not few, has its runs beside them, all in order of appearance; weak formats,
        which read what stands in prose as well, only count where no log format found anything.
        """
        claims: list[Claim] = []
        doubtful: list[int] = []
        for known in self.formats():
            weak = bool(claims) and min(known.strength, claims[0].strength) < LOG_STRENGTH
            if weak and (claims[0].name, known.name) != (_TABLES, _LISTS):
                continue
            reading = known.read(document)
            if claims and known.name == _LISTS and not _is_list(reading):
                continue
            if reading.runs:
                claims.append(Claim(known.name, known.strength, reading))
            else:
                doubtful.extend(reading.not_understood)
        if not claims:
            return Reading(not_understood=tuple(dict.fromkeys(doubtful)))
        won = settle(claims)
        if _LISTS in self._formats and all(claim.name != _LISTS for claim in claims):
            won = with_list(won, document, self._formats[_LISTS])
        return add_beside(won, self.beside(document, won, {claim.name for claim in claims}))

    def beside(self, document: Document, won: Reading, winners: Set[str] = frozenset()) -> Beside:
        """The tables and records that stand beside what was read (:mod:`assistant.parsing.beside`)."""
        return read_beside(document, won, self._blocks(winners))

    def _blocks(self, winners: Set[str]) -> list[Reader]:
        return [self._formats[name] for name in BLOCKS if name in self._formats and name not in winners]

    def others(self, document: Document, name: str) -> bool:
        """Whether a log format other than the named one finds several rows in a document."""
        return any(
            claim.rows >= _FEWEST_ROWS
            for known in self.formats()
            if known.name != name and known.strength >= LOG_STRENGTH
            for claim in [Claim(known.name, known.strength, known.read(document))]
        ) or bool((found := self.beside(document, Reading(), {name})).runs or found.lost)


def _is_list(reading: Reading) -> bool:
    """Whether a list of metrics was read: an answer in Markdown has both tables and lists."""
    return any(run.format == "markdown-list" for run in reading.runs)


def _is_offered() -> bool:
    """Whether the metadata of some installed package names the group."""
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                found = [entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for place in found:
            try:
                with open(os.path.join(place, "entry_points.txt"), "rb") as handle:  # noqa: PTH118, PTH123
                    if ENTRY_POINTS.encode() in handle.read():
                        return True
            except OSError:
                continue
    return False


@dataclass(frozen=True)
class Claim:
    """How much of a text a format recognises."""

    name: str
    strength: int
    reading: Reading

    @property
    def rows(self) -> int:
        """Rows of its runs."""
        return sum(len(run.steps) for run in self.reading.runs)

    @property
    def cells(self) -> int:
        """Cells of its runs."""
        return sum(len(column.values) for run in self.reading.runs for column in run.columns.values())

    @property
    def score(self) -> str:
        """What it recognises, for display."""
        return f"{self.name} ({self.cells} / {len(self.reading.taken)})"


def settle(claims: list[Claim]) -> Reading:
    """The strongest claim, with those that took other lines, and a note where several took the same."""
    best = claims[0]
    beside = [best]
    same = [best]
    taken: Set[int] = best.reading.taken
    lost: set[int] = set()
    for claim in claims[1:]:
        shared = len(claim.reading.taken & taken)
        if shared <= _SHARED * len(claim.reading.taken):
            many = claim.rows >= max(_FEWEST_ROWS, _SHARE * best.rows) and claim.cells >= _FEWEST_CELLS
            if many or _is_list(claim.reading) or _is_apart(claim, beside):
                beside.append(claim)
                taken = taken | claim.reading.taken
            elif any(is_unmistakable(run) for run in claim.reading.runs):
                lost |= claim.reading.taken
        elif claim.cells >= best.cells and shared >= len(best.reading.taken) / 2:
            same.append(claim)
    notes = _choice(same) if len(same) > 1 else ()
    left = sorted(lost - taken)
    if left:
        notes += (lost_note(left),)
    if len(beside) == 1:
        bad = best.reading.not_understood
        return replace(best.reading, notes=notes, not_understood=tuple(sorted({*bad, *left})) if left else bad)
    runs = sorted((run for claim in beside for run in claim.reading.runs), key=first_line)
    return Reading(
        tuple(replace(run, id=f"r{index}") for index, run in enumerate(runs)),
        taken,
        tuple(line for line in dict.fromkeys((*best.reading.not_understood, *left)) if line not in taken),
        tuple(line for claim in beside for line in claim.reading.asking),
        notes,
    )


def _is_apart(claim: Claim, others: list[Claim]) -> bool:
    """Whether a short log stands before or behind the others, not within one of them."""
    held = [run for other in others for run in other.reading.runs]
    return all(is_unmistakable(run) and is_outside(run, held) for run in claim.reading.runs)


def _choice(same: list[Claim]) -> tuple[Note, ...]:
    shown = ", ".join(claim.score for claim in same)
    return (
        Note(
            "format_choice",
            f"多种格式都能识别这些行，采用 {same[0].name}。候选（单元格数 / 行数）：{shown}。",
            f"Several formats recognise the same lines; {same[0].name} was taken. Candidates (cells / lines): {shown}.",
        ),
    )
