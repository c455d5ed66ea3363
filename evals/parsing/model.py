"""What the reference reading consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

Number = int | float
ANYWHERE = 1 << 40
"""Last line of a cell in a file that has no lines."""


class Line(NamedTuple):
    """A piece of text without colour codes, and the 1-based line it stands on.

    A carriage return inside a line begins a further piece of the same number.
    """

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a log.

    Attributes:
        key: as the log spells it.
        value: an ``int`` where the text held one.
        first, last: the 1-based lines on which the pair may be said to stand.
        step: where the text itself names it, else ``None``.
        optional: it need not be there, but must be right where it is: a text that can be read as a number, or a cell
            that was printed before.
    """

    key: str
    value: Number
    first: int
    last: int
    step: int | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """What one print statement, or one row, holds.

    Attributes:
        kind: for display.
        first, last: its lines; cells of the product on them have to be of this event.
        cells: its numbers, but for the one that is the step.
        summary: averages over the run, printed at its end: no step, and not a row.
    """

    kind: str
    first: int
    last: int
    cells: tuple[Cell, ...]
    summary: bool = False


@dataclass(slots=True)
class Reference:
    """The reading of one file.

    Attributes:
        events: in the text's order.
        refused: lines that hold a dictionary which is certainly no metric event (a configuration, a sample).
        doubtful: pairs at the end of a line, which may be half; they are not compared.
        open: lines about which the reference says nothing: cut, half, or of no kind it knows.
    """

    doubtful: set[tuple[str, Number]] = field(default_factory=set)
    events: list[Event] = field(default_factory=list)
    refused: set[int] = field(default_factory=set)
    open: set[int] = field(default_factory=set)

    @property
    def cells(self) -> list[Cell]:
        """Cells that have to be there."""
        return [cell for event in self.events for cell in event.cells if not cell.optional]

    @property
    def kinds(self) -> list[str]:
        """Kinds of events, each once."""
        return list(dict.fromkeys(event.kind for event in self.events))
