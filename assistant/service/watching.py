"""What is shown of a run while it goes on: its key metrics, how far it has come, what was found."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from assistant.analysis.thresholds import RANK
from assistant.knowledge import Resolver
from assistant.model import Number, Run
from assistant.model.fact import Severity
from assistant.model.run import json_number
from assistant.service.alerts import Alert, Seen, alerts_of
from assistant.service.checking import Report, check_runs
from assistant.service.formats import located
from assistant.write.numbers import format_number

#: Roles whose metrics are shown, in this order: is it learning, does it stay in bounds, how fast is it.
SHOWN: Final = (
    "val_accuracy", "score_mean", "reward_mean", "training_loss", "held_out_loss", "policy_entropy", "ref_kl", "old_kl",
    "clip_fraction", "grad_norm", "response_length_mean", "truncated_share", "learning_rate",
)  # fmt: skip
FEWEST, MOST = 4, 12
SPARK: Final = 24
#: A check is not begun again before so many times as long as the last one took: rules over thousands of steps take
#: their time, and the machine has other work.
REST: Final = 10.0
_BOOKKEEPING: Final = ("training/", "epoch", "global_step", "step")


@dataclass(frozen=True, slots=True)
class Row:
    """One metric.

    Attributes:
        metric: its key.
        value: the last one, as text with its unit.
        step: at which step.
        spark: at most :data:`SPARK` values over the run, ``None`` where there are none.
        severity: of the gravest finding about it.
    """

    metric: str
    value: str
    step: int
    spark: tuple[float | None, ...]
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    Attributes:
        step: the last one.
        total: how many there will be, where the log says so.
        seconds_left: expected, with the ends of the 95 % interval; ``None`` where it cannot be told.
    """

    step: int
    axis: str
    total: int | None = None
    seconds_left: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def share(self) -> float | None:
        """Of the total, from 0 to 1."""
        return None if not self.total else min(max(self.step / self.total, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A log at one moment.

    Attributes:
        run: the last run of the log, which is the one that goes on; ``None`` before the first row.
        n_runs: how many runs the log holds.
        rows: its key metrics.
        progress: how far it has come.
        alerts: everything found so far that is still so, gravest first.
        fresh: those not told before.
        code: the verdict, or ``waiting`` before the first row.
    """

    run: Run | None
    n_runs: int
    rows: tuple[Row, ...]
    progress: Progress | None
    alerts: tuple[Alert, ...]
    fresh: tuple[Alert, ...]
    code: str


class Watcher:
    """Looks at the runs of a log as they grow.

    Args:
        resolver: for the cards.
        source: the log as the user named it.
        language: of statements.
        thresholds: what the user asks to hold.
        metrics: keys to show instead of the usual ones.
        clock: seconds that only go forward.
    """

    def __init__(
        self, resolver: Resolver, source: str, *, language: str = "en", thresholds: Sequence[str] = (),
        metrics: Sequence[str] = (), clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._resolver = resolver
        self._source = source
        self._language = language
        self._thresholds = tuple(thresholds)
        self._metrics = tuple(metrics)
        self._clock = clock
        self._seen = Seen()
        self._reports: dict[tuple[Any, ...], Report] = {}
        self._alerts: tuple[Alert, ...] = ()
        self._severities: dict[str, Severity] = {}
        self._code = "waiting"
        self._not_before = -math.inf
        self._stale = False

    @property
    def stale(self) -> bool:
        """Whether rows have come since the last check."""
        return self._stale

    def begin_anew(self) -> None:
        """Another log stands in the file: what was found in the one before may be found again."""
        self._seen.forget()
        self._reports.clear()
        self._alerts, self._code, self._not_before = (), "waiting", -math.inf

    def observe(self, runs: Sequence[Run], *, final: bool = False) -> Snapshot:
        """The log now; the rules are run again if it is time to, at the end always.

        Raises:
            InputError: a threshold cannot be read or names a metric that nobody knows.
        """
        runs = [run for run in runs if run.steps]
        fresh: tuple[Alert, ...] = ()
        if runs and (final or self._clock() >= self._not_before):
            fresh = self._check(runs)
            self._stale = False
        elif runs:
            self._stale = True
        if not runs:
            return Snapshot(None, 0, (), None, (), (), "waiting")
        run = runs[-1]
        return Snapshot(run, len(runs), self._rows(run), progress_of(run), self._alerts, fresh, self._code)

    def _check(self, runs: Sequence[Run]) -> tuple[Alert, ...]:
        begin = self._clock()
        kept: dict[tuple[Any, ...], Report] = {}
        found: list[Alert] = []
        codes = []
        self._severities = {}
        for run in runs:
            key = (run.id, len(run.steps), run.steps[-1], sum(len(column.values) for column in run.columns.values()))
            report = self._reports.get(key)
            if report is None:
                report = check_runs(
                    [run], self._resolver, thresholds=self._thresholds, language=self._language
                )  # fmt: skip
            kept[key] = report
            codes.append(report.verdict.code)
            found += alerts_of(located(report, [run], {run.id: self._source}))
            if run is runs[-1]:
                self._note_severities(report)
        self._reports = kept
        self._alerts = tuple(sorted(found, key=lambda alert: -RANK[alert.severity]))
        order = ("critical", "warning", "insufficient_data", "healthy")
        self._code = min(codes, key=order.index)
        now = self._clock()
        self._not_before = now + REST * (now - begin)
        return self._seen.fresh(self._alerts)

    def _note_severities(self, report: Report) -> None:
        for finding in report.findings:
            for metric in finding.metrics[:1]:
                known = self._severities.get(metric)
                if known is None or RANK[finding.severity] > RANK[known]:
                    self._severities[metric] = finding.severity

    # -- the table -----------------------------------------------------------------------------------------------------
    def _rows(self, run: Run) -> tuple[Row, ...]:
        keys = [key for key in self._metrics if key in run.columns] or key_metrics(run)
        context = self._context(run)
        rows = []
        for key in keys:
            steps, values = run.series(key)
            text = format_number(values[-1], context.kind_of(key), language=self._language)
            rows.append(Row(key, text, steps[-1], spark(values), self._severities.get(key)))
        return tuple(rows)

    def _context(self, run: Run) -> Any:
        from assistant.analysis import Ledger
        from assistant.ask.context import Context
        from assistant.ask.understand import Query

        return Context(Query("", self._language, "health"), (run,), self._resolver, Ledger([run]))


def key_metrics(run: Run) -> list[str]:
    """The metrics worth a row each: those that play a known part, filled up with the log's first ones."""
    from assistant.analysis.diagnosis import role
    from assistant.analysis.forecast import STEP_TIMES

    keys: list[str] = []
    for name in SHOWN:
        held = role(run, name)
        if held is not None and held.spelling.plain and held.metrics[0] not in keys:
            keys.append(held.metrics[0])
    keys = keys[: MOST - 1]
    keys += [key for key in STEP_TIMES if key in run.columns][:1]
    if len(keys) < FEWEST:
        others = (key for key in run.columns if key not in keys and not key.startswith(_BOOKKEEPING))
        keys += [key for key, _ in zip(others, range(MOST - FEWEST), strict=False)]
    return keys


def spark(values: Sequence[Number], width: int = SPARK) -> tuple[float | None, ...]:
    """At most ``width`` values over a series: means of equal parts, ``None`` where nothing is finite."""
    n = len(values)
    parts = min(n, width)
    found: list[float | None] = []
    for part in range(parts):
        held = [float(value) for value in values[part * n // parts : (part + 1) * n // parts] if math.isfinite(value)]
        found.append(math.fsum(held) / len(held) if held else None)
    return tuple(found)


def progress_of(run: Run) -> Progress:
    """How far a run has come and how long it still takes, where the log tells it."""
    from assistant.analysis import Ledger
    from assistant.analysis.forecast import remaining, total_steps

    step, total = max(run.steps), total_steps(run)
    found = Progress(step, run.step_axis, total)
    if total is None or total <= step or run.step_axis == "index":
        return found
    fact, _ = remaining(Ledger([run]), total=total, run=run)
    if fact is None or not isinstance(fact.value, float):
        return found
    return replace(found, seconds_left=fact.value, low=fact.low, high=fact.high)


def refuse_unreadable(thresholds: Sequence[str]) -> None:
    """Reads conditions before there is a log to hold them to.

    Raises:
        InputError: one cannot be read.
    """
    from assistant.service.thresholds import of_user

    of_user(thresholds, [], lambda _name, _run: None)


def step_json(run: Run, since: int) -> list[dict[str, Any]]:
    """The rows of a run from a row on, as ``parse`` writes them."""
    if since >= len(run.steps):
        return []
    table: list[dict[str, Any]] = [{} for _ in range(len(run.steps) - since)]
    for metric, column in run.columns.items():
        for at in range(len(column.rows) - 1, -1, -1):
            if column.rows[at] < since:
                break
            table[column.rows[at] - since][metric] = json_number(column.values[at])
    return [
        {"run": run.id, run.step_axis: run.steps[since + at], "line": run.row_lines[since + at], "values": values}
        for at, values in enumerate(table)
    ]
