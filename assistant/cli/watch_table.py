"""A watch on a terminal: a table that renews itself, findings above it as they come.

Imported only when one is shown, since rich takes its time to load.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table as Grid
from rich.text import Text

from assistant.cli.watch_views import alert_text, found_text, progress_text, sparkline
from assistant.service.terminal_words import duration, say
from assistant.service.watching import Row, Snapshot

COLOURS: Final = {"critical": "bold red", "warning": "yellow"}
BAR: Final = 24
#: Columns of the sparkline, and those from which on there is room for it.
SPARK, ROOM = 24, 56
#: Seconds of silence from which on it is told.
SILENT_S: Final = 30.0


class Table:
    """The live table.

    Args:
        name: the log's.
        language: of the words.
        console: where to draw; the terminal by default.
    """

    def __init__(self, name: str, language: str, *, console: Console | None = None) -> None:
        self._name = name
        self._language = language
        self._console = console or Console()
        self._live = Live(console=self._console, auto_refresh=False, transient=False, vertical_overflow="ellipsis")
        self._snapshot: Snapshot | None = None
        self._waiting = False
        self._idle = 0.0
        self._drawn = 0.0

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def show(self, snapshot: Snapshot) -> None:
        """Draws it anew; a new finding is printed above, where it stays."""
        self._snapshot, self._idle, self._waiting = snapshot, 0.0, False
        for alert in snapshot.fresh:
            self._console.print(Text(f"{time.strftime('%H:%M:%S')} {alert_text(alert, self._language)}",
                                     style=COLOURS[alert.severity]))  # fmt: skip
        self._draw()

    def wait(self, *, waiting: bool, idle: float) -> None:
        """Keeps the clock of silence going, without more drawing than a person can see."""
        self._waiting, self._idle = waiting, idle
        if time.monotonic() - self._drawn >= 1.0:
            self._draw()

    def began_anew(self) -> None:
        """Said above the table."""
        self._console.print(Text(say("watch.anew", self._language, source=self._name), style="yellow"))

    def ended(self) -> None:
        """The table stays as it is, with one line under it."""
        self._draw(last=True)

    def _draw(self, *, last: bool = False) -> None:
        self._drawn = time.monotonic()
        self._live.update(self.render(last=last), refresh=True)

    def render(self, *, last: bool = False) -> RenderableType:
        """What is drawn."""
        snapshot, language = self._snapshot, self._language
        if snapshot is None or snapshot.run is None:
            key = "watch.waiting" if self._waiting else "watch.no_rows"
            return Text(say(key, language, source=self._name), style="dim")
        run, progress = snapshot.run, snapshot.progress
        assert progress is not None
        head = Text.assemble((run.name, "bold"), f" · {run.framework or run.format}")
        if snapshot.n_runs > 1:
            head.append(f" · {say('watch.runs', language, number=snapshot.n_runs)}")
        told = Text(progress_text(progress, language))
        if progress.share is not None:
            full = round(BAR * progress.share)
            told = Text.assemble(("━" * full, "green"), ("━" * (BAR - full), "dim"), f" {progress.share:.0%}\n", told)
        parts: list[RenderableType] = [head, told, self._grid(snapshot)]
        parts.append(Text(found_text(snapshot.alerts, language, snapshot.code), style=_style(snapshot)))
        if last:
            return Group(*parts)
        if self._idle >= SILENT_S:
            since = duration(self._idle, language)
            parts.append(Text(say("watch.silent", language, since=since), style="dim"))
        parts.append(Text(say("watch.stop", language), style="dim"))
        return Group(*parts)

    def _grid(self, snapshot: Snapshot) -> Grid:
        wide = self._console.width >= ROOM
        grid = Grid(box=None, pad_edge=False, header_style="dim")
        grid.add_column(say("watch.metric", self._language), overflow="fold", ratio=None)
        grid.add_column(say("watch.last", self._language), justify="right", overflow="fold")
        if wide:
            grid.add_column(say("watch.course", self._language), no_wrap=True, width=SPARK)
        for row in snapshot.rows:
            style = COLOURS.get(row.severity or "", "")
            cells = [Text(row.metric, style=style), Text(_short(row), style=style)]
            grid.add_row(*cells, *([Text(sparkline(row.spark), style="cyan")] if wide else []))
        return grid


def _short(row: Row) -> str:
    """A value without the second unit in brackets, which a narrow column has no room for."""
    return row.value.partition(" (")[0].partition("（")[0]


def _style(snapshot: Snapshot) -> str:
    return COLOURS[snapshot.alerts[0].severity] if snapshot.alerts else "green" if snapshot.code == "healthy" else "dim"
