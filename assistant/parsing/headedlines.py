"""Cells of a line behind its counter, in the four ways in which trainers print them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from assistant.parsing.columns import NO_VALUES
from assistant.parsing.numbers import GROUPED, NUMBER, decimals, read_number
from assistant.parsing.stepbook import Cell, read_cell

_PAIR: Final = re.compile(
    r"[\s,;|]{0,40}+(?P<key>[A-Za-z_][\w./@%+()-]{0,120}+)(?::[ ]{0,12}+|[ ]{0,2}=[ ]{0,2}|[ ]:[ ]{1,2})"
    r"(?:(?P<time>(?:[0-9]{1,6} days?, )?+[0-9]{1,4}:[0-9]{2}(?::[0-9]{2})?+)"
    rf"|(?P<number>{GROUPED}|{NUMBER})(?P<unit>%|[A-Za-z][A-Za-z/]{{0,11}}+)?+"
    rf"(?:\((?P<share>{NUMBER})%\)|[ ]\((?P<mean>{NUMBER})\))?+"
    r"|(?P<word>[^\s,;|]{1,80}+))(?=[\s,;|:]|$)"
)
_SENTENCE: Final = re.compile(
    rf"(?P<key>[A-Z][A-Za-z]{{1,30}}+(?: [A-Za-z]{{1,30}}+){{0,3}}): (?P<number>{NUMBER})(?P<unit> s)?(?=\.?(?:\s|$))"
)
_GROUP: Final = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:,[0-9]{3})*,[0-9]{0,2}$")
_NUMBER: Final = re.compile(f"{GROUPED}|{NUMBER}")
_LABEL: Final = re.compile(
    rf"(?P<key>[a-z]{{1,30}}+(?: [a-z]{{1,30}}+){{0,6}}): {{1,4}}(?P<number>{NUMBER})(?:/[0-9]{{1,12}})?(?=\s|$)"
)


@dataclass
class Body:
    """What stands behind a line's counter.

    Attributes:
        cells: its values.
        lacking: keys with a word for "no value", and the word.
        tail: what is no cell, at the end.
        text: the last cell's number as it is printed.
        open: whether the line ends with that number.
    """

    cells: list[Cell] = field(default_factory=list)
    lacking: list[tuple[str, str]] = field(default_factory=list)
    tail: str = ""
    text: str = ""
    open: bool = False

    def drop_half(self, others: Iterable[Body]) -> bool:
        """Takes the last cell out if the text stops inside its number; whether it did.

        Args:
            others: lines of the same kind; where their numbers have more decimals, this one is not whole.
        """
        if not self.cells:
            return False
        key = self.cells[-1].key
        texts = [other.text for other in others if other.cells and other.cells[-1].key == key]
        if self.open and is_short(self.text, texts):
            self.tail = f"{key}: {self.text}"
            self.cells.pop()
            return True
        return False


def is_short(text: str, others: Iterable[str]) -> bool:
    """Whether a number has fewer decimals than all others, which have as many each time."""
    counts = {decimals(other) for other in others if "n" not in other and "e" not in other}
    if "n" in text or "e" in text or not counts or None in counts:
        return False
    return (decimals(text) or 0) < min(count for count in counts if count is not None)


def spaced(text: str) -> Body:
    """``key: value`` or ``key=value`` cells between blanks, commas or bars; no blanks in keys."""
    body, at = Body(), 0
    while at < len(text):
        found = _PAIR.match(text, at)
        if found is None:
            body.tail = text[at:].strip(" \t,;|")
            break
        at = found.end()
        key = found["key"]
        value = read_number(found["number"]) if found["number"] else None
        if value is None:
            if found["word"] and found["word"].lower() in NO_VALUES:
                body.lacking.append((key, found["word"]))
            continue
        body.cells.append(Cell(key, value, found["unit"] or "", found.start("number")))
        body.text, body.open = found["number"], found.end("number") == len(text.rstrip())
        for name, label in (("share", "(%)"), ("mean", "(mean)")):
            more = read_number(found[name]) if found[name] else None
            if more is not None:
                body.cells.append(Cell(f"{key} {label}", more, "", found.start(name)))
                body.text, body.open = found[name], False
    rest = _GROUP.search(text)
    if rest is not None and body.cells and body.cells[-1].at == rest.start():
        body.tail = rest[0]
        body.cells.pop()
    return body


def bars(text: str) -> Body:
    """``key value`` or ``key: value`` cells between bars or commas; keys may hold blanks."""
    body, offset = Body(), 0
    for piece in re.split("[|,]", text):
        cell = read_cell(piece)
        if cell is not None:
            body.cells.append(cell.moved(offset))
            found = _NUMBER.match(piece, cell.at)
            body.tail, body.text = "", found[0] if found is not None else ""
            body.open = found is not None and offset + found.end() == len(text.rstrip())
        else:
            key, colon, word = piece.strip().partition(": ")
            if colon and word.strip().lower() in NO_VALUES:
                body.lacking.append((key, word.strip()))
            elif piece.strip():
                body.tail = piece.strip()
        offset += len(piece) + 1
    return body


def sentences(text: str) -> Body:
    """``Mean Reward: 0.4. Std of Reward: 0.49.``"""
    body, end = Body(), 0
    for found in _SENTENCE.finditer(text):
        value = read_number(found["number"])
        if value is not None:
            body.cells.append(Cell(found["key"], value, (found["unit"] or "").strip(), found.start("number")))
            end = found.end()
            body.text, body.open = found["number"], end == len(text.rstrip())
    rest = text[end:].strip(". ")
    body.tail = "" if rest in {"Training", "Not Training", ""} else rest
    return body


def labels(text: str) -> Body:
    """``fps step: 15323 fps total: 12931 epoch: 11/500``"""
    body, end = Body(), 0
    for found in _LABEL.finditer(text):
        value = read_number(found["number"])
        if value is not None:
            body.cells.append(Cell(found["key"], value, "", found.start("number")))
            end = found.end()
    body.tail = text[end:].strip()
    return body
