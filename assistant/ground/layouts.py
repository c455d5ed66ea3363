"""Tables that are no Markdown: drawn with lines, or in HTML."""

from __future__ import annotations

import re
from typing import Final

#: Bars of a drawn table, told as Markdown's.
_BARS: Final = str.maketrans(dict.fromkeys("│┃║┊┆", "|"))
_DRAWN: Final = frozenset("+|-=:_ \t┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝╭╮╰╯╞╪╡╟╫╢┏┳┓┣╋┫┗┻┛┠╂┨┡╇┩─━═")
_CORNERS: Final = frozenset("+┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝╭╮╰╯╞╪╡╟╫╢┏┳┓┣╋┫┗┻┛┠╂┨┡╇┩")
_DASHES: Final = frozenset("-=─━═")
_TAG: Final = re.compile(r"(?i)<(?P<end>/?)(?P<what>table|tr|t[hd])\b[^<>]{0,200}>")
#: What may stand around the text of a cell.
_EDGE: Final = re.compile(r"\s+|</?[A-Za-z][^<>]{0,80}>|&nbsp;")
_EDGE_END: Final = re.compile(r"(?:\s|</?[A-Za-z][^<>]{0,80}>|&nbsp;)$")

Cells = tuple[tuple[int, int], ...]


def levelled(text: str) -> str:
    """The text with the bars of drawn tables as Markdown's, character by character."""
    return text.translate(_BARS)


def is_rule(line: str) -> bool:
    """Whether a line only parts the rows of a drawn table: ``+---+---+``, ``├──┼──┤``, ``|---+---|``."""
    held = set(line)
    return held <= _DRAWN and bool(held & _CORNERS) and bool(held & _DASHES)


def html_table(text: str, start: int) -> tuple[list[tuple[int, int, Cells]], int] | None:
    """The rows of the HTML table that begins at a place, each with its cells, and where it ends."""
    first = _TAG.match(text, start)
    if first is None or first["what"].lower() != "table" or first["end"]:
        return None
    rows: list[tuple[int, int, Cells]] = []
    cells: list[tuple[int, int]] = []
    row_from = cell_from = -1
    end = first.end()
    for tag in _TAG.finditer(text, first.end()):
        what, closes = tag["what"].lower(), bool(tag["end"])
        if cell_from >= 0:  # whatever comes next ends a cell
            cells.append(_trimmed(text, cell_from, tag.start()))
            cell_from = -1
        if row_from >= 0 and what in {"tr", "table"}:
            if cells:
                rows.append((row_from, tag.start(), tuple(cells)))
            cells, row_from = [], -1
        end = tag.end()
        if what == "table":
            break
        if not closes and what == "tr":
            row_from = tag.start()
        elif not closes and row_from >= 0:
            cell_from = tag.end()
    return (rows, end) if rows else None


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The characters of a cell without the blanks and tags at its edges."""
    while start < end and (edge := _EDGE.match(text, start, end)):
        start = edge.end()
    while start < end and (edge := _EDGE_END.search(text, max(start, end - 90), end)):
        end = edge.start()
    return start, end
