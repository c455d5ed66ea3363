"""What a team's document holds, as plain data; reading one is :mod:`assistant.knowledge.documents`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from assistant.model import InputError

MAX_BYTES: Final = 5_000_000

Kind = Literal["normal", "warning"]


@dataclass(frozen=True, slots=True)
class Range:
    """Values that a document calls normal, or worth a warning.

    Attributes:
        low: least value, ``None`` if there is no bound.
        high: largest value, ``None`` if there is no bound.
        words: the document's own words.
        kind: ``normal``: values within are; ``warning``: values within are not.
        line: where it stands.
    """

    low: float | None
    high: float | None
    words: str
    kind: Kind
    line: int


@dataclass(frozen=True, slots=True)
class Definition:
    """What a document says of some keys.

    Attributes:
        keys: the keys that share it.
        text: the definition.
        line: where it begins.
        heading: the headings above it, outermost first.
        title: a name, where the document gives one.
        formula: the formula, where it gives one.
        unit: the unit, where it gives one.
        direction: ``higher_better`` or ``lower_better`` where it says so.
        ranges: normal and worrying values.
        normal: the words on normal values.
        notes: what else it says: label and text.
        template: the template that an instance came from.
    """

    keys: tuple[str, ...]
    text: str
    line: int
    heading: tuple[str, ...] = ()
    title: str = ""
    formula: str = ""
    unit: str = ""
    direction: str = ""
    ranges: tuple[Range, ...] = ()
    normal: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    template: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A passage of prose: the headings above it, its Markdown, and the line where it begins."""

    heading: tuple[str, ...]
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A key that was not taken: its line, and why, in both languages."""

    line: int
    zh: str
    en: str


@dataclass(frozen=True, slots=True)
class Document:
    """What a document holds.

    Attributes:
        name: what it goes by.
        path: where it was read.
        digest: SHA-256 of its bytes.
        size: number of bytes.
        added: when, ISO 8601; ``""`` until it is stored.
        definitions: of metrics.
        sections: of other prose.
        refused: keys that were not taken.
    """

    name: str
    path: str
    digest: str
    size: int
    added: str
    definitions: tuple[Definition, ...]
    sections: tuple[Section, ...]
    refused: tuple[Refused, ...] = ()


def too_large(shown: str, size: int) -> InputError:
    """The error for a document over the limit."""
    limit = MAX_BYTES // 1_000_000
    return InputError(
        zh=f"{shown} 有 {size / 1e6:.1f} MB，超过单个文档 {limit} MB 的上限：请拆分后再添加。",
        en=f"{shown} has {size / 1e6:.1f} MB, over the limit of {limit} MB a document: split it and add the parts.",
    )
