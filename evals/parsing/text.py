"""Bytes to lines, and numbers as programs print them: what all reference readings share."""

from __future__ import annotations

import gzip
import re
from typing import Final

from evals.parsing.model import Line, Number

_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_RAY: Final = re.compile(r"^\([A-Za-z_][\w.:]*(?:\([\w.]*\))? (?:pid|rank)=\d+[^()]*\) ?")
_REPEATED: Final = re.compile(r" *\[repeated \d+x across cluster\].*$")
NUMBER: Final = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|nan|NaN|[-+]?inf|[-+]?Infinity"
_NUMBER: Final = re.compile(NUMBER)
_WHOLE: Final = re.compile(r"[-+]?\d+")


def decode(data: bytes) -> str:
    """The text of a file: UTF-8, UTF-16 with a mark, either of them packed with gzip."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def split_lines(text: str) -> list[Line]:
    """Pieces between line feeds and carriage returns, without colour codes."""
    lines: list[Line] = []
    for number, raw in enumerate(text.split("\n"), 1):
        pieces = _ANSI.sub("", raw).split("\r")
        while len(pieces) > 1 and not pieces[-1].strip():
            pieces.pop()
        lines.extend(Line(number, piece) for piece in pieces)
    return lines


def without_process(text: str) -> str:
    """A line without Ray's ``(TaskRunner pid=1) `` before it and ``[repeated 2x across cluster]`` behind it."""
    while (found := _RAY.match(text)) is not None:
        text = _REPEATED.sub("", text[found.end() :])
    return text


def to_number(text: str) -> Number | None:
    """A number in the spellings of Python and JSON, ``None`` for any other text."""
    if _NUMBER.fullmatch(text) is None:
        return None
    return int(text) if _WHOLE.fullmatch(text) else float(text)
