"""Removes what terminals and launchers put around a log: colours, carriage returns, Ray prefixes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from assistant.model.run import Note
from assistant.parsing.mojibake import repair_mojibake

_ANSI: Final = re.compile(
    r"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[()][0-9A-B]|[=>78MDEHc])"
)
_BARE_COLOUR: Final = r"(?:\[[0-9;]{1,12}m)*"
_RAY: Final = re.compile(
    rf"\s*(?:[0-9]{{1,9}}[:-])?{_BARE_COLOUR}\((?P<tag>[A-Za-z_][\w.:<>/@#=,\[\]-]{{0,160}} (?:pid|actor_id)=[0-9a-f]+)"
    rf"(?:, ip=[\w.:-]{{1,60}})?\)"
    rf"{_BARE_COLOUR} ?"
)
_REPEATED: Final = re.compile(
    rf"{_BARE_COLOUR}\s*\[repeated [0-9]+x across (?:all )?(?:cluster|nodes)\]{_BARE_COLOUR}"
    r"(?:\s*\(Ray deduplicates logs[^\n]*)?$"
)
_BROKEN_STEP: Final = tuple("step:"[:at] + "\n" + "step:"[at:] for at in range(1, 5))
_QUOTED: Final = re.compile(r"(?:> ?){1,3}(?=[^>]|$)")
_MOST_BLANKS: Final = 1000
_BLANKS: Final = "\n" * (_MOST_BLANKS + 1)


@dataclass(frozen=True)
class Document:
    """A text made ready for the formats.

    Attributes:
        name: for display.
        lines: visible lines, without colour codes; a carriage return inside a line starts a further
            entry with the same number.
        numbers: 1-based line number of each entry in the original text.
        text_lines: number of lines of the original text.
        notes: what was repaired.
    """

    name: str
    lines: list[str]
    numbers: Sequence[int]
    text_lines: int
    notes: tuple[Note, ...] = ()
    has_steps: bool = field(default=False)

    @cached_property
    def text(self) -> str:
        """All visible lines, which many formats search for a word before they load."""
        return "\n".join(self.lines)


def strip_ansi(text: str) -> str:
    """The text without terminal escape sequences; line breaks stay."""
    if "\x1b" not in text:
        return text
    return _ANSI.sub("", text).replace("\x1b", "")


def strip_ray(line: str) -> tuple[str | None, str]:
    """A line's Ray prefix (``TaskRunner pid=835480``, ``None`` if there is none) and the rest.

    A trailing ``[repeated 7x across cluster]`` is removed too.
    """
    if "[repeated " in line:
        line = _REPEATED.sub("", line)
    found = _RAY.match(line)
    if found is None:
        return None, line
    return found["tag"], line[found.end() :]


def prepare(name: str, text: str) -> Document:
    """Repairs a text as a whole: byte-order mark, line ends, double encoding, colour codes.

    Args:
        name: for display.
        text: as pasted or decoded.

    Returns:
        The lines with their original numbers. Never raises.
    """
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\n" not in text and "it/s" not in text and "%|" not in text:
            text = text.replace("\r", "\n")
    text, notes = repair_mojibake(text)
    text = strip_ansi(text)
    lines = text.split("\n")
    text_lines = len(lines) - (not lines[-1])
    numbers: Sequence[int] = range(1, len(lines) + 1)
    if "\r" in text:
        lines, numbers = split_returns(lines)
    if _BLANKS in text:
        lines, numbers = fewer_blanks(lines, numbers)
    if text.startswith("> ") or "\n> " in text:  # quoted, as mails and issues quote
        lines = [_QUOTED.sub("", line, count=1) if line.startswith(">") else line for line in lines]
    return Document(name, lines, numbers, text_lines, notes, has_steps=names_steps(text))


def names_steps(text: str) -> bool:
    """Whether ``step:`` stands in a text, be it that a terminal broke it."""
    return "step:" in text or any(broken in text for broken in _BROKEN_STEP)


def split_returns(lines: Iterable[str], first: int = 1) -> tuple[list[str], list[int]]:
    """Entries between carriage returns; empty ones between others are left out."""
    entries: list[str] = []
    numbers: list[int] = []
    for number, line in enumerate(lines, first):
        if "\r" not in line:
            entries.append(line)
            numbers.append(number)
            continue
        parts = [part for part in line.split("\r") if part] or [""]
        entries.extend(parts)
        numbers.extend([number] * len(parts))
    return entries, numbers


def fewer_blanks(lines: Sequence[str], numbers: Sequence[int]) -> tuple[list[str], list[int]]:
    """Of many empty lines in a row only the first few."""
    kept: list[str] = []
    where: list[int] = []
    blank = 0
    for line, number in zip(lines, numbers, strict=True):
        blank = 0 if line else blank + 1
        if blank <= _MOST_BLANKS:
            kept.append(line)
            where.append(number)
    return kept, where
