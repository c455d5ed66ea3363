"""Markdown for terminals: tables that fit the width without cutting a metric's key.

Imported only when something is printed on a terminal, since rich takes its time to load.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import ClassVar

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

#: Least width of a column of Chinese text, which may break between any two characters.
LEAST_TEXT = 10
THEME = Theme({"markdown.code": "cyan", "markdown.h3": "bold", "markdown.table.header": "dim"})


class FittingTable(TableElement):
    """A table whose first column is never cut; keys too long for it stand on lines of their own."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        header = [cell.content for cell in self.header.row.cells] if self.header and self.header.row else []
        rows = [[cell.content for cell in row.cells] for row in self.body.rows] if self.body else []
        widths = _least_widths([header, *rows])
        if sum(widths) + 2 * (len(widths) - 1) <= options.max_width or len(header) < 3:
            yield self._columns(header, rows, widths)
            yield Text("")
        else:
            yield from self._stacked(header, rows)

    @staticmethod
    def _columns(header: list[Text], rows: list[list[Text]], widths: list[int]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, style="markdown.table.border")
        for position, heading in enumerate(header):
            table.add_column(heading, min_width=widths[position], no_wrap=position == 0, overflow="fold")
        for row in rows:
            table.add_row(*row)
        return table

    @staticmethod
    def _stacked(header: list[Text], rows: list[list[Text]]) -> RenderResult:
        for row in rows:
            yield row[0]
            pairs = [
                Text(f"{heading.plain} ", style="markdown.table.header").append_text(cell)
                for heading, cell in zip(header[1:], row[1:], strict=False)
                if cell.plain
            ]
            yield Padding(Text(" · ").join(pairs), (0, 0, 0, 2))
        yield Text("")


def _least_widths(rows: list[list[Text]]) -> list[int]:
    """Cells that each column needs so that no key and no number is broken (a line break inside one misleads)."""
    widths: list[int] = []
    for column in zip_longest(*rows, fillvalue=Text("")):
        words = [word for cell in column for word in cell.plain.split()]
        solid = max((len(word) for word in words if word.isascii()), default=0)
        text = LEAST_TEXT if any(not word.isascii() for word in words) else 0
        widths.append(max(solid, text))
    if widths and rows:
        widths[0] = max((row[0].cell_len for row in rows[1:] if row), default=0)
    return widths


class TerminalMarkdown(Markdown):
    """Markdown with our tables."""

    elements: ClassVar = {**Markdown.elements, "table_open": FittingTable}


def print_markdown(text: str) -> None:
    """Prints Markdown on the terminal, wrapped to its width; colour only where the terminal has it."""
    Console(theme=THEME).print(TerminalMarkdown(text, hyperlinks=False))
