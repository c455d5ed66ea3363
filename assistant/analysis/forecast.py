"""Where a metric will be, when it gets somewhere, how long a run still takes: with intervals, or not at all.

A line with AR(1) noise is continued from the last stretch of a series that has no change in it. Nothing is told where
that line is not there, or further ahead than the stretch is long: that a trend goes on is the one assumption, and it
is the reader's to make.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assistant.analysis.ar_line import fit_line, sum_interval
from assistant.analysis.ledger import Ledger
from assistant.analysis.series import Series, series
from assistant.analysis.trend import Scale, Trend, trend_of
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
            asked for: its interval would have reached below zero, or the values go by one factor a step.
    """

    value: float | None
    low: float | None
    high: float | None
    reason: Refusal | None
    first_step: int
    last_step: int
    n: int
    logged: bool = False


def forecast_at(steps: ArrayLike, values: ArrayLike, step: int, *, scale: Scale = "linear") -> Forecast:
    """The value at a future step, with a 95 % prediction interval for a single value there.

    Where all values are positive and the interval of a straight line reaches below zero, or the series bends but goes
    by one factor a step, the line through the logarithms is continued instead (where that has no trend, an interval
    ends at zero).

    The interval holds the scatter of single points, the error of the line and the autocorrelation of the residuals
    (:mod:`assistant.analysis.ar_line`); its width is simulated, so that it holds the value as often as it says.
    """
    return forecasts_at(steps, values, (step,), scale=scale)[0]


def forecasts_at(
    steps: ArrayLike, values: ArrayLike, ahead: Sequence[int], *, scale: Scale = "linear", known: Trend | None = None
) -> tuple[Forecast, ...]:
    """As :func:`forecast_at`, for several future steps; ``known`` is the trend of all values, if the caller has it."""
    x, whole = np.asarray(steps), np.asarray(values, dtype=np.float64)
    if scale == "linear" and _grows(x, whole, known):
        by_factors = forecasts_at(steps, values, ahead, scale="log")
        return tuple(replace(one, logged=one.value is not None) for one in by_factors)
    x, y, refusal = _stretch(x, whole, scale, known)
    first, last = _ends(x)
    line = None if refusal else fit_line(x, np.log(y) if scale == "log" else y)
    told = []
    for step in ahead:
        reason: Refusal | None = refusal or ("not_ahead" if step <= last else None)
        if reason is None and step - last > HORIZON * (last - first + 1):
            reason = "too_far"
        if reason is not None or line is None:
            told.append(_refused(reason, x))
            continue
        value, half = line.at(step), line.error(step, point=True)
        found = [value, value - half, value + half]
        if scale == "linear" and found[1] <= 0 < whole.min():
            logged = forecast_at(steps, values, step, scale="log")
            if logged.value is not None:
                told.append(replace(logged, logged=True))
                continue
            found = [max(v, 0.0) for v in found]
        if scale == "log":
            found = [math.exp(v) if v < 700 else math.inf for v in found]
        told.append(Forecast(found[0], found[1], found[2], None, first, last, len(x)))
    return tuple(told)


def _grows(steps: NDArray[np.int64], values: Array, known: Trend | None = None) -> bool:
    """Whether a series that changes its pace goes by one factor a step all along: a line in its logarithms."""
    if len(values) < LEAST_POINTS or values.min() <= 0:
        return False
    trend = known or trend_of(steps, values)
    if not trend.changes or any(change.kind == "level" for change in trend.changes):
        return False
    logs = trend_of(steps, values, scale="log")
    return not logs.changes and logs.direction == trend.direction and logs.growth_interval is not None


def _refused(reason: Refusal | None, x: NDArray[np.int64]) -> Forecast:
    return Forecast(None, None, None, reason, *_ends(x), len(x))


def _ends(x: NDArray[np.int64]) -> tuple[int, int]:
    return (int(x[0]), int(x[-1])) if len(x) else (0, 0)


def steps_until(steps: ArrayLike, values: ArrayLike, target: float, *, scale: Scale = "linear") -> Forecast:
    """The step at which the trend (not a single lucky value) reaches a target, with a 95 % interval."""
    x, y = np.asarray(steps), np.asarray(values, dtype=np.float64)
    if scale == "linear" and target > 0 and _grows(x, y):
        logged = steps_until(steps, values, target, scale="log")
        return replace(logged, logged=logged.value is not None)
    x, y, refusal = _stretch(x, y, scale)
    first, last = _ends(x)
    if refusal is None and scale == "log" and target <= 0:
        refusal = "not_reached"
    if refusal is not None:
        return _refused(refusal, x)
    line = fit_line(x, np.log(y) if scale == "log" else y)
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
        return _refused(refusal, x)
    value = math.ceil(line.centre + (goal - line.level) / line.slope)
    ahead = range(last + 1, end + 1)
    sooner = next(s for s in ahead if up * (line.at(s) - goal) + line.error(s, point=False) >= 0)
    later = next((s for s in ahead if up * (line.at(s) - goal) - line.error(s, point=False) >= 0), None)
    return Forecast(
        float(max(value, sooner)), float(sooner), None if later is None else float(later), None, first, last, len(x)
    )


def _stretch(
    x: NDArray[np.int64], y: Array, scale: Scale, known: Trend | None = None
) -> tuple[NDArray[np.int64], Array, Refusal | None]:
    """The points since the last change, and why their trend cannot be continued, if it cannot."""
    if len(x) < LEAST_POINTS:
        return x, y, "few_points"
    whole = known or trend_of(x, y, scale=scale)
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


# -- a run's end ----------------------------------------------------------------------------------------------
def remaining_seconds(times: ArrayLike, steps_left: int) -> tuple[float, float, float] | None:
    """Seconds that so many further steps take, with a 95 % prediction interval; ``None`` below five step times.

    The last steps stand for those to come: as many as are left, at least twenty. Long steps (a checkpoint, a
    validation) count as often as they came.
    """
    y = np.asarray(times, dtype=np.float64)
    y = y[-max(20, steps_left) :]
    if len(y) < LEAST_TIMES:
        return None
    expected, half = sum_interval(y, steps_left)
    return expected, max(0.0, expected - half), expected + half


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
    chosen, part = _part(ledger, metric, steps, run)
    trend = ledger.trend(metric, steps, run, scale=scale)
    if trend is None:
        return None, "few_points"
    found = forecast_at(part.steps, part.values, step, scale=_apt(part, scale))
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
    chosen, part = _part(ledger, metric, steps, run)
    trend = ledger.trend(metric, steps, run, scale=scale)
    if trend is None:
        return None, "few_points"
    found = steps_until(part.steps, part.values, target, scale=_apt(part, scale))
    if found.value is None:
        return None, found.reason
    fact = ledger.add(
        ("reach", chosen.id, metric, found.first_step, found.last_step, target, scale),
        kind="derived", run=chosen.id, name=f"reach/{metric}", value=int(found.value), unit="step",
        low=found.low, high=found.high, n=found.n, inputs=(trend.id,),
        formula=f"step at which the line through {f'log({metric})' if found.logged else metric} from step "
        f"{found.first_step} to {found.last_step} "
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


def _part(ledger: Ledger, metric: str, steps: Iterable[int] | None, run: Run | None) -> tuple[Run, Series]:
    chosen = run or ledger.run
    assert chosen is not None
    whole = series(chosen, metric)
    return chosen, whole if steps is None else whole.at(steps)


def _apt(part: Series, scale: Scale) -> Scale:
    return "linear" if scale == "log" and len(part) and part.values.min() <= 0 else scale
