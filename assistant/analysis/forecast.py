"""Where a metric will be, when it gets somewhere, how long a run still takes: with intervals, or not at all.

A line with AR(1) noise is continued from the last stretch of a series that has no change in it. Nothing is told where
that line is not there, or further ahead than the stretch is long: that a trend goes on is the one assumption, and it
is the reader's to make.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assistant.analysis.ledger import Ledger
from assistant.analysis.series import series
from assistant.analysis.stats import autocorrelation, without_spikes
from assistant.analysis.trend import Scale, trend_of
from assistant.model import Fact, Run

Array = NDArray[np.float64]
Refusal = Literal[
    "few_points", "no_trend", "too_far", "not_ahead", "moving_away", "already_reached", "not_reached", "no_total",
    "no_step_times", "done",
]  # fmt: skip

#: Fewest points of a stretch that is continued, and of step times.
LEAST_POINTS, LEAST_TIMES = 10, 5
#: How far ahead, in lengths of the stretch.
HORIZON = 1.0
#: Keys of the seconds of a whole step, as frameworks spell them.
STEP_TIMES = (
    "timing_s/step", "perf/time_per_step", "perf/step_time", "timing/step", "timing/train/total_step_time",
    "time/step", "step_time", "time_per_step", "sec_per_step", "iteration_time",
)  # fmt: skip
#: Keys under which a run says how many steps it will have.
TOTALS = ("total_steps", "max_steps", "total_training_steps", "progress_total")


@dataclass(frozen=True, slots=True)
class Forecast:
    """A value at a future step, or the step at which a value is reached.

    Attributes:
        value: of the metric, or the step; ``None`` where refused.
        low: lower end of the 95 % interval.
        high: upper end; ``None`` for a step that the slower end of the interval does not reach in sight.
        reason: why nothing is told; ``None`` where something is.
        first_step: first step of the stretch that was continued.
        last_step: last step of the log.
        n: points of the stretch.
        logged: whether the line was laid through the logarithms of values, all positive, although the linear scale was
            asked for: its interval would have reached below zero.
    """

    value: float | None
    low: float | None
    high: float | None
    reason: Refusal | None
    first_step: int
    last_step: int
    n: int
    logged: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    """A least-squares line with the scatter about it and the correlation of that scatter."""

    slope: float
    centre: float
    level: float
    scatter: float
    inflation: float
    spread: float
    n: int
    quantile: float

    def at(self, step: float) -> float:
        return self.level + self.slope * (step - self.centre)

    def error(self, step: float, *, point: bool) -> float:
        """Half-width of the 95 % interval of the line, or (``point``) of a single value."""
        lever = self.inflation * (1 / self.n + (step - self.centre) ** 2 / self.spread)
        return self.quantile * self.scatter * math.sqrt(lever + (1.0 if point else 0.0))


def forecast_at(steps: ArrayLike, values: ArrayLike, step: int, *, scale: Scale = "linear") -> Forecast:
    """The value at a future step, with a 95 % prediction interval for a single value there.

    Where all values are positive and the interval of a straight line reaches below zero, the line through their
    logarithms is continued instead (where that has no trend, the interval ends at zero).

    The interval holds the scatter of single points, the error of the slope and the autocorrelation of the residuals.

    Source: prediction from a regression line with AR(1) errors, the line's variance multiplied by (1 + ρ)/(1 − ρ)
    (Yue & Wang 2004), ρ without its small-sample bias, Student's quantile at the effective number of points.
    """
    x, whole = np.asarray(steps), np.asarray(values, dtype=np.float64)
    x, y, refusal = _stretch(x, whole, scale)
    first, last = (int(x[0]), int(x[-1])) if len(x) else (0, 0)
    if refusal is None and step <= last:
        refusal = "not_ahead"
    if refusal is None and step - last > HORIZON * (last - first + 1):
        refusal = "too_far"
    if refusal is not None:
        return Forecast(None, None, None, refusal, first, last, len(x))
    line = _fit(x, np.log(y) if scale == "log" else y)
    value, half = line.at(step), line.error(step, point=True)
    found = [value, value - half, value + half]
    if scale == "linear" and found[1] <= 0 < whole.min():
        logged = forecast_at(steps, values, step, scale="log")
        if logged.value is not None:
            return replace(logged, logged=True)
        found = [max(v, 0.0) for v in found]
    if scale == "log":
        found = [math.exp(v) if v < 700 else math.inf for v in found]
    return Forecast(found[0], found[1], found[2], None, first, last, len(x))


def steps_until(steps: ArrayLike, values: ArrayLike, target: float, *, scale: Scale = "linear") -> Forecast:
    """The step at which the trend (not a single lucky value) reaches a target, with a 95 % interval."""
    x, y = np.asarray(steps), np.asarray(values, dtype=np.float64)
    x, y, refusal = _stretch(x, y, scale)
    first, last = (int(x[0]), int(x[-1])) if len(x) else (0, 0)
    if refusal is None and scale == "log" and target <= 0:
        refusal = "not_reached"
    if refusal is not None:
        return Forecast(None, None, None, refusal, first, last, len(x))
    line = _fit(x, np.log(y) if scale == "log" else y)
    goal = math.log(target) if scale == "log" else target
    up = 1.0 if line.slope > 0 else -1.0
    if up * (line.at(first) - goal) > 0:
        refusal = "moving_away"  # it lies behind where the line began
    elif up * (line.at(last) - goal) >= 0:
        refusal = "already_reached"
    end = last + int(HORIZON * (last - first + 1))
    if refusal is None and up * (line.at(end) - goal) < 0:
        refusal = "not_reached"
    if refusal is not None:
        return Forecast(None, None, None, refusal, first, last, len(x))
    value = math.ceil(line.centre + (goal - line.level) / line.slope)
    ahead = range(last + 1, end + 1)
    sooner = next(s for s in ahead if up * (line.at(s) - goal) + line.error(s, point=False) >= 0)
    later = next((s for s in ahead if up * (line.at(s) - goal) - line.error(s, point=False) >= 0), None)
    return Forecast(
        float(max(value, sooner)), float(sooner), None if later is None else float(later), None, first, last, len(x)
    )


def _stretch(x: NDArray[np.int64], y: Array, scale: Scale) -> tuple[NDArray[np.int64], Array, Refusal | None]:
    """The points since the last change, and why their trend cannot be continued, if it cannot."""
    if len(x) < LEAST_POINTS:
        return x, y, "few_points"
    whole = trend_of(x, y, scale=scale)
    if whole.changes:
        since = int(np.searchsorted(x, whole.changes[-1].step))
        x, y = x[since:], y[since:]
        if len(x) < LEAST_POINTS:
            return x, y, "few_points"
        whole = trend_of(x, y, scale=scale)
    held = whole.interval if scale == "linear" else whole.growth_interval
    if whole.direction not in {"rising", "falling"} or whole.p_value is None or whole.p_value >= 0.05 or held is None:
        return x, y, "no_trend"  # a change decided, or nothing
    return x, y, None


def _fit(x: NDArray[np.int64], y: Array) -> _Line:
    n = len(x)
    clean = without_spikes(y)
    centre, level = float(x.mean()), float(clean.mean())
    t = x - centre
    spread = float(t @ t)
    slope = float(t @ clean) / spread
    rest = clean - level - slope * t
    rho = residual_correlation(rest)
    inflation = (1 + rho) / (1 - rho)
    free = max(n - 2 * inflation, n / 4)
    # Spikes are left out of the line but not out of what a single value may do.
    scatter = math.sqrt(float(((y - level - slope * t) ** 2).sum()) / free)
    return _Line(slope, centre, level, scatter, inflation, spread, n, student(max(n / inflation - 2, 2.0)))


def residual_correlation(rest: Array) -> float:
    """ρ of AR(1) residuals about a line, within [0, 0.97]: r + (2 + 4r)/n, for the bias of r (Kendall 1954)."""
    n, r = len(rest), autocorrelation(rest)
    return min(max((n * r + 2) / max(n - 4, 1), 0.0), 0.97) if r > 0 else 0.0


def student(degrees: float) -> float:
    """97.5 % quantile of Student's t, within 1 % from 3 degrees of freedom on (Fisher & Cornish 1960)."""
    z, v = 1.959963984540054, degrees
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * v**4)
    )


# -- a run's end ----------------------------------------------------------------------------------------------
def remaining_seconds(times: ArrayLike, steps_left: int) -> tuple[float, float, float] | None:
    """Seconds that so many further steps take, with a 95 % prediction interval; ``None`` below five step times.

    The last steps stand for those to come: as many as are left, at least twenty. Long steps (a checkpoint, a
    validation) count as often as they came.
    """
    y = np.asarray(times, dtype=np.float64)
    y = y[-max(20, steps_left) :]
    n = len(y)
    if n < LEAST_TIMES:
        return None
    mean = float(y.mean())
    rho = residual_correlation(y - mean)
    inflation = (1 + rho) / (1 - rho)
    variance = float(y.var(ddof=1)) * inflation * (steps_left + steps_left**2 / n)
    half = student(max(n / inflation - 1, 2.0)) * math.sqrt(variance)
    return steps_left * mean, max(0.0, steps_left * mean - half), steps_left * mean + half


def total_steps(run: Run) -> int | None:
    """How many steps the run says it will have (a progress bar's total), if it says so."""
    for key in TOTALS:
        held = run.extras.get(key)
        if held is not None and held[0] > 0:
            return int(held[0])
    return None


# -- as facts -------------------------------------------------------------------------------------------------
def forecast(
    ledger: Ledger, metric: str, step: int, *, steps: Iterable[int] | None = None, run: Run | None = None,
    scale: Scale = "linear",
) -> tuple[Fact | None, Refusal | None]:  # fmt: skip
    """The forecast of a metric as a fact (value, low, high, step), or the reason why there is none."""
    chosen = run or ledger.run
    assert chosen is not None
    part = series(chosen, metric) if steps is None else series(chosen, metric).at(steps)
    trend = ledger.trend(metric, steps, run, scale=scale)
    if trend is None:
        return None, "few_points"
    found = forecast_at(part.steps, part.values, step, scale=_apt(part.values, scale))
    if found.value is None:
        return None, found.reason
    fact = ledger.add(
        ("forecast", chosen.id, metric, found.first_step, found.last_step, step, scale),
        kind="derived", run=chosen.id, name=f"forecast/{metric}", step=step, value=found.value,
        low=found.low, high=found.high, n=found.n, inputs=(trend.id,),
        formula=f"line through {f'log({metric})' if found.logged else metric} from step {found.first_step} "
        f"to {found.last_step}, continued; "
        "95 % prediction interval",
    )  # fmt: skip
    return fact, None


def reach(
    ledger: Ledger, metric: str, target: float, *, steps: Iterable[int] | None = None, run: Run | None = None,
    scale: Scale = "linear",
) -> tuple[Fact | None, Refusal | None]:  # fmt: skip
    """The step at which a metric's trend reaches a target as a fact (value, low, high), or why there is none."""
    chosen = run or ledger.run
    assert chosen is not None
    part = series(chosen, metric) if steps is None else series(chosen, metric).at(steps)
    trend = ledger.trend(metric, steps, run, scale=scale)
    if trend is None:
        return None, "few_points"
    found = steps_until(part.steps, part.values, target, scale=_apt(part.values, scale))
    if found.value is None:
        return None, found.reason
    fact = ledger.add(
        ("reach", chosen.id, metric, found.first_step, found.last_step, target, scale),
        kind="derived", run=chosen.id, name=f"reach/{metric}", value=int(found.value), unit="step",
        low=found.low, high=found.high, n=found.n, inputs=(trend.id,),
        formula=f"step at which the line through {metric} from step {found.first_step} to {found.last_step} "
        f"reaches {target:g}; 95 % interval of the line",
    )  # fmt: skip
    return fact, None


def remaining(
    ledger: Ledger, *, total: int | None = None, metric: str | None = None, run: Run | None = None
) -> tuple[Fact | None, Refusal | None]:
    """The seconds that a run still takes as a fact (value, low, high), or why they cannot be told.

    Args:
        ledger: of the run.
        total: how many steps the run will have; by default what its progress bar says.
        metric: the seconds of a step; by default the first key that frameworks print for it.
        run: the ledger's first by default.
    """
    chosen = run or ledger.run
    assert chosen is not None
    total = total_steps(chosen) if total is None else total
    if total is None:
        return None, "no_total"
    key = metric or next((name for name in STEP_TIMES if name in chosen.columns), None)
    if key is None:
        return None, "no_step_times"
    times = series(chosen, key)
    last = max(chosen.steps, default=0)
    if total <= last:
        return None, "done"
    found = remaining_seconds(times.values, total - last)
    if found is None:
        return None, "few_points"
    inputs = [ledger.value(key, int(step), chosen) for step in times.steps[-3:]]
    fact = ledger.add(
        ("remaining", chosen.id, key, total),
        kind="derived", run=chosen.id, name="remaining_seconds", value=found[0], unit="s", low=found[1], high=found[2],
        n=len(times), step=total, inputs=tuple(fact.id for fact in inputs if fact is not None),
        formula=f"mean of the last values of {key} × ({total} − {last}) steps; 95 % prediction interval",
    )  # fmt: skip
    return fact, None


def _apt(values: Array, scale: Scale) -> Scale:
    return "linear" if scale == "log" and len(values) and values.min() <= 0 else scale
