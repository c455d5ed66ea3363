"""The table of a triage on a terminal: paths may break, verdicts may not.

Imported only when one is shown, since rich takes its time to load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from assistant.service.terminal_words import say
from assistant.service.triage import verdict_word

COLOURS: Final = {"critical": "bold red", "warning": "yellow", "healthy": "green"}


def print_table(
    total: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str], reasons: Sequence[str], language: str,
    *, console: Console | None = None,
) -> None:  # fmt: skip
    """Prints it, wrapped to the terminal's width."""
    out = console or Console()
    out.print(Text(total, style="bold"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(say("triage.verdict", language), no_wrap=True)
    table.add_column(say("triage.run", language), overflow="fold", ratio=3)
    table.add_column(say("triage.steps", language), no_wrap=True)
    table.add_column(say("triage.why", language), overflow="fold", ratio=3)
    for row, name, reason in zip(rows, names, reasons, strict=True):
        verdict = Text(verdict_word(row, language), style=COLOURS.get(row["verdict"], "dim"))
        steps = f"{row['steps'][0]:,}–{row['steps'][1]:,}" if row["steps"] else "–"
        table.add_row(verdict, Text(name), Text(steps), Text(reason))
    out.print(table)
