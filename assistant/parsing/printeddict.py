"""A dict of metrics as Python or JSON prints it, possibly cut, or broken over lines by a terminal.

Read from the left in one pass: keys are quoted, values are numbers, numpy or torch scalars, ``None``; texts,
lists and dicts inside are stepped over. Nothing is evaluated.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from assistant.model.run import MissingReason, Number
from assistant.parsing.logprefix import has_prefix
from assistant.parsing.numbers import NUMBER, read_number

_KEY: Final = re.compile(r"\s*+(?:'(?P<one>[^'\\\n]{1,300}+)'|\"(?P<two>[^\"\\\n]{1,300}+)\")\s*+:\s*+")
_OPEN_KEY: Final = re.compile(r"\s*+['\"][^'\"\\{}\n]{0,300}+$")
_WRAPPED: Final = re.compile(
    rf"[A-Za-z_][\w.]{{0,40}}+\((?P<number>{NUMBER})(?:,[^()'\"{{}}]{{0,60}}+(?:'[^'(){{}}]{{0,30}}+'[^()'{{}}]{{0,60}}+)?+"
    r"(?:<\w{1,40}>)?+)?+\)"
)
_OPEN_WRAPPER: Final = re.compile(r"[A-Za-z_][\w.]{0,40}+(?:\([-+.\w]{0,60}+(?:,[^(){}]{0,100}+)?+)?+$")
_BARE: Final = re.compile(rf"(?P<number>{NUMBER})(?=\s*+[,}}]|\s*+$)")
_WORD: Final = re.compile(r"(?:None|null|True|False|true|false)(?=\s*+[,}]|\s*+$)")
_OPEN_NUMBER: Final = re.compile(r"[-+]?(?:[0-9.][0-9.eE+-]{0,60}+|n|na|i|in|N|Na|I|[Ii]nfi?n?i?t?)?+\s*+$")
_PLAIN: Final = re.compile(r"[^\[\](){}'\"]++")
_STRING: Final = re.compile(r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"")
_BLANK: Final = re.compile(r"\s*+")
_CLOSING: Final = {"[": "]", "(": ")", "{": "}"}

_WIDEST_TERMINAL: Final = 1000
_MOST_PIECES: Final = 400
_MOST_TRIES: Final = 8


@dataclass(slots=True)
class Flat:
    """What stands in a dict.

    Attributes:
        cells: key, value and offset of the value's text.
        bad: key, text and offset of values that are ``None``.
        others: how many values are texts, lists or dicts.
        half: why the last cell is not there, its key (if known), its text and its offset.
        closed: whether the closing brace is there.
        broken: whether something stands in the dict that no dict holds.
        end: offset behind the last character read.
    """

    cells: list[tuple[str, Number, int]] = field(default_factory=list)
    bad: list[tuple[str, str, int]] = field(default_factory=list)
    others: int = 0
    half: tuple[MissingReason, str | None, str, int] | None = None
    closed: bool = False
    broken: bool = False
    end: int = 0


def read_flat(text: str, at: int) -> Flat:
    """The dict whose opening brace stands at an offset of the text."""
    flat = Flat(end=at + 1)
    at += 1
    while True:
        key = _KEY.match(text, at)
        if key is None:
            _end_without_key(flat, text, at)
            return flat
        name = key["one"] or key["two"]
        at = key.end()
        after = _read_value(flat, text, at, name)
        if after is None:
            return flat
        blank = _BLANK.match(text, after)
        at = blank.end() if blank is not None else after
        stop = text[at : at + 1]
        if stop == ",":
            at += 1
            flat.end = at
            continue
        flat.end = at + 1
        flat.closed = stop == "}"
        flat.broken = stop not in ("", "}")
        return flat


def _end_without_key(flat: Flat, text: str, at: int) -> None:
    """Closed, cut, or broken where a key should begin."""
    blank = _BLANK.match(text, at)
    at = blank.end() if blank is not None else at
    flat.end = at
    if text.startswith("}", at):
        flat.closed, flat.end = True, at + 1
    elif at < len(text):
        rest = text[at : at + 400]
        if len(text) - at < 400 and _open_key(rest):
            flat.half = ("half_key", None, rest[:80], at)
        else:
            flat.broken = True


def _open_key(rest: str) -> bool:
    if _OPEN_KEY.match(rest) is not None:
        return True
    return len(rest) > 2 and rest[0] in "'\"" and rest.rstrip()[-1] == rest[0] and rest.count(rest[0]) == 2


def _read_value(flat: Flat, text: str, at: int, name: str) -> int | None:
    """Offset behind the value, or ``None`` if the text stops or breaks in it."""
    found = _BARE.match(text, at) or _WRAPPED.match(text, at)
    if found is not None:
        value = read_number(found["number"])
        if found.re is _BARE and _is_last(text, found.end()):
            flat.half = ("half_value", name, found[0], at)
            flat.end = found.end()
            return None
        if value is None:
            flat.bad.append((name, found[0][:80], at))
        else:
            flat.cells.append((name, value, at))
        return found.end()
    word = _WORD.match(text, at)
    if word is not None:
        if word[0] in ("None", "null"):
            flat.bad.append((name, word[0], at))
        else:
            flat.others += 1
        return word.end()
    if text[at : at + 1] in ("'", '"', "[", "(", "{"):
        after = _step_over(text, at)
        if after is not None:
            flat.others += 1
            return after
        flat.half = ("not_a_number", name, text[at : at + 80], at)
        flat.end = len(text)
        return None
    flat.end = at
    rest = text[at : at + 200]
    if at + 200 < len(text):
        flat.broken = True
    elif _OPEN_NUMBER.match(rest) is not None:
        flat.half = ("half_value", name, rest.rstrip()[:80], at)
    elif _OPEN_WRAPPER.match(rest) is not None:
        flat.half = ("half_wrapper", name, rest[:80], at)
    else:
        flat.broken = True
    return None


def _is_last(text: str, at: int) -> bool:
    blank = _BLANK.match(text, at)
    return blank is not None and blank.end() == len(text)


def _step_over(text: str, at: int) -> int | None:
    """Offset behind a text, list, tuple or dict; ``None`` if it does not end."""
    open_ones: list[str] = []
    while at < len(text):
        char = text[at]
        if char in "'\"":
            string = _STRING.match(text, at)
            if string is None:
                return None
            at = string.end()
        elif char in _CLOSING:
            open_ones.append(_CLOSING[char])
            at += 1
        elif char in "])}":
            if not open_ones or open_ones.pop() != char:
                return None
            at += 1
        else:
            plain = _PLAIN.match(text, at)
            at = plain.end() if plain is not None else at + 1
        if not open_ones:
            return at
    return None


@dataclass(slots=True)
class Printed:
    """A dict with the lines on which it stands.

    Attributes:
        flat: its cells; offsets count in the joined text.
        entries: index of each line it stands on.
        starts: offset at which each of these lines begins.
        text: the lines, joined.
    """

    flat: Flat
    entries: list[int]
    starts: list[int]
    text: str

    def entry(self, offset: int) -> int:
        """Index of the line on which an offset lies."""
        return self.entries[bisect_right(self.starts, offset) - 1]


def read_printed(
    lines: Sequence[str], index: int, body: str, brace: int, is_start: Callable[[str], bool]
) -> Printed | None:
    """The dict that a line opens, joined with the lines that a terminal made of its rest.

    Args:
        lines: the document's lines.
        index: the line on which it begins.
        body: the end of that line, from somewhere before the brace.
        brace: offset of the opening brace in ``body``; it may lie in the following line.
        is_start: whether a line begins a record of its own.
    """
    printed = Printed(Flat(), [index], [0], body)
    if brace < len(body):
        printed.flat = read_flat(body, brace)
        if printed.flat.closed or printed.flat.broken:
            return printed
    width = len(lines[index])
    if width > _WIDEST_TERMINAL:
        return printed if brace < len(body) else None
    text, starts, entries = [body], [0], [index]
    size = len(body)
    best = printed if brace < len(body) else None
    tries = 0
    for at in range(index + 1, min(len(lines), index + _MOST_PIECES)):
        piece = lines[at]
        if not piece or piece.isspace() or len(piece) > width + 1 or is_start(piece) or has_prefix(piece):
            break
        starts.append(size)
        entries.append(at)
        text.append(piece)
        size += len(piece)
        ends = len(piece) < width - 1
        if "}" in piece or ends or at + 1 == len(lines):
            whole = "".join(text)
            if brace >= len(whole) or tries >= _MOST_TRIES:
                break
            tries += 1
            flat = read_flat(whole, brace)
            if flat.broken:
                break
            if flat.closed and whole[flat.end :].strip():
                break
            best = Printed(flat, entries[:], starts[:], whole)
            if flat.closed:
                break
    return best
