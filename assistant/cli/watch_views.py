"""What a watch prints where nobody looks at a table: a line a step, a line a finding; or JSON lines."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TextIO

from assistant.cli.verify import columns
from assistant.model.jsontext import json_bytes
from assistant.service.alerts import Alert
from assistant.service.terminal_words import duration, say
from assistant.service.watching import Progress, Snapshot, step_json

BARS = "▁▂▃▄▅▆▇█"
#: Metrics on a step's line, and columns that it takes at most.
METRICS, WIDTH = 5, 100
#: An interval that reaches farther than so many times the expected time tells nothing.
VAGUE = 3.0


class View(Protocol):
    """Where a watch shows what it sees."""

    def __enter__(self) -> Self:
        """Begins."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leaves the terminal as it was."""
        ...

    def show(self, snapshot: Snapshot) -> None:
        """The log has grown, or its rules were run."""
        ...

    def wait(self, *, waiting: bool, idle: float) -> None:
        """Nothing new for so many seconds."""
        ...

    def began_anew(self) -> None:
        """Another log stands in the file."""
        ...

    def ended(self) -> None:
        """It is over."""
        ...


def sparkline(values: Sequence[float | None]) -> str:
    """Values as bars of eight heights; a blank where there is none, the lowest bar where all are equal."""
    held = [value for value in values if value is not None]
    if not held:
        return " " * len(values)
    low, high = min(held), max(held)
    span = (high - low) or 1.0
    return "".join(" " if v is None else BARS[min(int((v - low) / span * len(BARS)), len(BARS) - 1)] for v in values)


def told(progress: Progress) -> bool:
    """Whether the time left is known well enough to be told in a line."""
    value, low, high = progress.seconds_left, progress.low, progress.high
    return value is not None and low is not None and high is not None and low >= value / VAGUE and high <= value * VAGUE


def progress_text(progress: Progress, language: str, *, short: bool = False) -> str:
    """``step 12 of 500 · about 3 h left (2.8–3.3 h)``."""
    parts = [say("watch.step", language, axis=progress.axis, step=f"{progress.step:,}")]
    if progress.total:
        parts[0] += " " + say("watch.of", language, total=f"{progress.total:,}")
    if progress.seconds_left is not None and told(progress):
        left = duration(progress.seconds_left, language)
        if short or progress.low is None or progress.high is None:
            parts.append(say("watch.left_short", language, left=left))
        else:
            low, high = (duration(value, language) for value in (progress.low, progress.high))
            parts.append(say("watch.left", language, left=left, low=low, high=high))
    return " · ".join(parts)


def alert_text(alert: Alert, language: str) -> str:
    """``warning · step 9 (line 216): sentence``."""
    where = "" if alert.step is None else f" · {alert.axis} {alert.step:,}"
    return f"{say(f'watch.{alert.severity}', language)}{where}: {alert.statement}"


def found_text(alerts: Sequence[Alert], language: str, code: str) -> str:
    """How much was found, in a few words."""
    if not alerts:
        return say("watch.few" if code == "insufficient_data" else "watch.nothing", language)
    parts = []
    for level in ("critical", "warning"):
        number = sum(alert.severity == level for alert in alerts)
        if number:
            parts.append(
                say(f"watch.{'one' if (number, level) == (1, 'warning') else 'n'}_{level}", language, n=number)
            )
    return ("、" if language == "zh" else ", ").join(parts)


class Lines:
    """A line a step and a line a finding, each once, for logs of jobs and for pipes."""

    def __init__(self, name: str, language: str, stream: TextIO) -> None:
        self._name = name
        self._language = language
        self._stream = stream
        self._rows: dict[str, int] = {}
        self._run = ""
        self._told_waiting = False
        self._last: Snapshot | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, snapshot: Snapshot) -> None:
        """The step, if there is a new one, then what was found."""
        run, language = snapshot.run, self._language
        if run is not None:
            self._last = snapshot
            if run.id not in self._rows:
                steps = run.distinct_steps
                self._print(
                    say("watch.read", language, source=run.name, kind=run.framework or run.format, axis=run.step_axis,
                        first=f"{steps[0]:,}", last=f"{steps[-1]:,}", metrics=len(run.metrics))
                )  # fmt: skip
            if len(run.steps) > self._rows.get(run.id, 0):
                self._rows[run.id] = len(run.steps)
                self._print(self._step(snapshot))
        for alert in snapshot.fresh:
            self._print(f"! {alert_text(alert, language)} [{alert.rule}]")

    def wait(self, *, waiting: bool, idle: float) -> None:
        """Said once: that there is nothing yet."""
        if self._told_waiting or self._last is not None:
            return
        self._told_waiting = True
        self._print(say("watch.waiting" if waiting else "watch.no_rows", self._language, source=self._name))

    def began_anew(self) -> None:
        """Said each time."""
        self._rows.clear()
        self._print(say("watch.anew", self._language, source=self._name))

    def ended(self) -> None:
        """The last step and how much was found."""
        if self._last is None or self._last.run is None:
            self._print(say("watch.no_rows", self._language, source=self._name))
            return
        run = self._last.run
        found = found_text(self._last.alerts, self._language, self._last.code)
        self._print(say("watch.ended", self._language, axis=run.step_axis, last=f"{max(run.steps):,}", found=found))

    def _step(self, snapshot: Snapshot) -> str:
        assert snapshot.progress is not None
        line = progress_text(snapshot.progress, self._language, short=True)
        for row in snapshot.rows[:METRICS]:
            more = f"  {row.metric} {row.value}"
            if columns(line) + columns(more) > WIDTH:
                break
            line += more
        return line

    def _print(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()


class JsonLines:
    """Events for programs: ``read`` (what was there at first), ``step``, ``finding``, ``restarted``, ``end``."""

    def __init__(self, name: str, stream: TextIO) -> None:
        self._name = name
        self._stream = stream
        self._rows: dict[str, int] = {}
        self._last: Snapshot | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, snapshot: Snapshot) -> None:
        """Each row since the last look, with all its values."""
        run = snapshot.run
        if run is not None:
            self._last = snapshot
            if not self._rows:
                self._write("read", {"run": run.summary_json(), **self._progress(snapshot)})
            elif len(run.steps) > self._rows.get(run.id, 0):
                for row in step_json(run, self._rows.get(run.id, 0)):
                    self._write("step", {**row, **self._progress(snapshot)})
            self._rows[run.id] = len(run.steps)
        for alert in snapshot.fresh:
            self._write("finding", alert.to_json())

    def wait(self, *, waiting: bool, idle: float) -> None:
        """Says nothing."""

    def began_anew(self) -> None:
        """Another log stands in the file."""
        self._rows.clear()
        self._write("restarted", {"source": self._name})

    def ended(self) -> None:
        """The verdict and everything that was found."""
        last = self._last
        findings = [] if last is None else [alert.to_json() for alert in last.alerts]
        code = "no_metrics" if last is None else last.code
        self._write("end", {"verdict": code, "findings": findings, **({} if last is None else self._progress(last))})

    @staticmethod
    def _progress(snapshot: Snapshot) -> dict[str, Any]:
        progress = snapshot.progress
        if progress is None or progress.total is None:
            return {}
        left = {"seconds": progress.seconds_left, "low": progress.low, "high": progress.high}
        shown = None if progress.seconds_left is None else left
        return {"progress": {"step": progress.step, "total": progress.total, "left": shown}}

    def _write(self, event: str, document: dict[str, Any]) -> None:

        told = {"event": event, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **document}
        self._stream.write(json_bytes(told).decode() + "\n")
        self._stream.flush()
