"""The formats that can be read, strongest first; third parties add theirs through the same object.

An installed package offers a format through the entry point group ``metric_assistant.parsers``: the entry
point names an object with the attributes of :class:`Format`.
"""

from __future__ import annotations

from typing import Final, Protocol

from assistant.parsing.repair import Document
from assistant.parsing.table import Reading

ENTRY_POINTS: Final = "metric_assistant.parsers"


class Format(Protocol):
    """A log format.

    Attributes:
        name: how it is registered.
        strength: formats are tried from the strongest to the weakest; the first that finds a run wins,
            so that prose around a log is never read as metrics.
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

    def register(self, format: Format) -> None:
        """Adds a format; a later one of the same name replaces the earlier."""
        self._formats[format.name] = format

    def formats(self) -> list[Format]:
        """All formats, strongest first (of equals, the earlier registered first)."""
        return sorted(self._formats.values(), key=lambda known: -known.strength)

    def load_entry_points(self) -> list[str]:
        """Registers the formats of installed packages and returns their names.

        Not called on import: looking through installed packages takes longer than reading a log.
        """
        from importlib.metadata import entry_points

        names = []
        for entry in entry_points(group=ENTRY_POINTS):
            offered = entry.load()
            found = offered() if isinstance(offered, type) else offered
            self.register(found)
            names.append(found.name)
        return names

    def read(self, document: Document) -> Reading:
        """What the strongest format that finds a run has read; an empty reading if none does."""
        doubtful: list[int] = []
        for known in self.formats():
            reading = known.read(document)
            if reading.runs:
                return reading
            doubtful.extend(reading.not_understood)
        return Reading(not_understood=tuple(dict.fromkeys(doubtful)))
