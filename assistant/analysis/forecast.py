"""Where a metric will be, when it gets somewhere, how long a run still takes: with intervals, or not at all.

A line with AR(1) noise is continued from the last stretch of a series that has no change in it. Nothing is told where
that line is not there, where the stretch bends (:mod:`assistant.analysis.pace`), where the metric cannot be what the
line says, or further ahead than half the stretch is long: that a trend goes on is the one assumption, and it is the
reader's to make. Every interval is one of at least 95 %, since it allows for the curvature that the points leave open.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assistant.analysis.ar_line import Line, fit_line
from assistant.analysis.ledger import Ledger
from assistant.analysis.nulls import NORMAL
from assistant.analysis.outside import as_facts
from assistant.analysis.pace import curvature, curved, is_curve
from assistant.analysis.series import Series, series
from assistant.analysis.time_left import remaining_seconds
from assistant.analysis.trend import Scale, Trend, trend_of
from assistant.model import Fact, Run

Array = NDArray[np.float64]
#: Least and largest possible value; ``None`` where there is no bound.
Possible = tuple[float | None, float | None]
Refusal = Literal[
    "few_points", "no_trend", "too_far", "not_ahead", "moving_away", "already_reached", "not_reached", "no_total",
    "no_step_times", "done", "pace_changes", "impossible", "beyond_possible",
]  # fmt: skip

#: Fewest points of a stretch that is continued.
LEAST_POINTS = 10
#: How far ahead, in lengths of the stretch. Further, what looks straight so far has turned too often.
HORIZON = 0.5
#: Exponents beyond which a factor counts as endless.
EXPONENT = 350.0
#: Keys of the seconds of a whole step, as frameworks spell them.
STEP_TIMES = (
    "timing_s/step", "perf/time_per_step", "perf/step_time", "timing/step", "timing/train/total_step_time",
    "time/step", "step_time", "time_per_step", "sec_per_step", "iteration_time",
)  # fmt: skip
#: What the interval of the time left rests on: that step times stay about a level, or that they may be drifting, too.
LEVEL, DRIFT = "level", "drift"
#: Keys under which a run says how many steps it will have.
TOTALS = ("total_steps", "max_steps", "total_training_steps", "progress_total")


@dataclass(frozen=True, slots=True)
class Forecast:
    """A value at a future step, or the step at which a value is reached.

    Attributes:
        value: of the metric, or the step; ``None`` where refused.
        low: lower end of the interval of at least 95 %.
        high: upper end; ``None`` for a step that the slower end of the interval does not reach in sight.
        reason: why nothing is told; ``None`` where something is.
        first_step: first step of the stretch that was continued.
        last_step: last step of the log.
        n: points of the stretch.
        logged: whether the line was laid through the logarithms of values, all positive, although the linear scale was
            asked for: a straight line would have reached below zero, or the values go by one factor a step.
    """

    value: float | None
    low: float | None
    high: float | None
    reason: Refusal | None
    first_step: int
    last_step: int
    n: int
    logged: bool = False


def forecast_at(
    steps: ArrayLike, values: ArrayLike, step: int, *, scale: Scale = "linear", possible: Possible = (None, None)
) -> Forecast:
    """The value at a future step, with a prediction interval of at least 95 % for a single value there.

    Nothing is told where the line leaves the ``possible`` values (least and largest, ``None`` where there is no such
    bound); an interval ends at them. Values of the series beyond them show that they do not hold for it.

    Where all values are positive and a straight line reaches below zero, or the series bends but goes by one factor a
    step, the line through the logarithms is continued instead; an interval of positive values ends at zero.

    The interval holds the scatter of single points, the error of the line and the autocorrelation of the residuals
    (:mod:`assistant.analysis.ar_line`), the line and the parabola through the points, and as much curvature to either
    side as the points leave open (:mod:`assistant.analysis.pace`). So it holds more than 95 % of what comes where the
    series is a line, and 93 % and more where it is one of the simulated curves and looks like a line so far.
    """
    return forecasts_at(steps, values, (step,), scale=scale, possible=possible)[0]


def forecasts_at(
    steps: ArrayLike, values: ArrayLike, ahead: Sequence[int], *, scale: Scale = "linear", known: Trend | None = None,
    possible: Possible = (None, None),
) -> tuple[Forecast, ...]:  # fmt: skip
    """As :func:`forecast_at`, for several future steps; ``known`` is the trend of all values, if the caller has it."""
    x, whole = np.asarray(steps), np.asarray(values, dtype=np.float64)
    if scale == "linear" and _grows(x, whole, known):
        by_factors = forecasts_at(steps, values, ahead, scale="log", possible=possible)
        return tuple(replace(one, logged=one.value is not None) for one in by_factors)
    x, y, refusal = _stretch(x, whole, scale, known)
    first, last = _ends(x)
    shown = np.log(y) if scale == "log" and not refusal else y
    line = None if refusal else fit_line(x, shown)
    bent = curvature(x, shown)
    again = len(x) < len(whole)
    turns = curved(x, shown, again=again)
    told = []
    for step in ahead:
        reason: Refusal | None = refusal or ("not_ahead" if step <= last else None)
        if reason is None and step - last > HORIZON * (last - first + 1):
            reason = "too_far"
        if reason is None and turns:
            reason = "pace_changes"
        if reason is not None or line is None:
            told.append(_refused(reason, x))
            continue
        value, bow = line.at(step), bent.bow(step)
        half = math.hypot(line.error(step, point=True), bent.doubt(step, again=again))
        if scale == "log":
            half = math.hypot(half, NORMAL * _uneven(line, x, shown, value))
        found = [value, value - half + min(bow, 0.0), value + half + max(bow, 0.0)]
        if scale == "linear" and found[1] <= 0 < whole.min():
            logged = forecast_at(steps, values, step, scale="log", possible=possible) if value <= 0 else None
            if logged is not None and logged.value is not None:
                told.append(replace(logged, logged=True))
                continue
            found = [max(v, 0.0) for v in found]
        if scale == "log":
            found = [math.exp(v) if v < 2 * EXPONENT else math.inf for v in found]
        low, high = _holding(whole, possible)
        if not low <= found[0] <= high:
            told.append(_refused("impossible", x))
            continue
        told.append(Forecast(found[0], max(found[1], low), min(found[2], high), None, first, last, len(x)))
    return tuple(told)


def _uneven(line: Line, steps: NDArray[np.int64], logs: Array, value: float) -> float:
    """By how much logarithms scatter more at a value than they did so far (standard deviation): noise that does not
    shrink with the values weighs the more the smaller they are."""
    level = line.level + line.slope * (steps - line.centre)
    rest = np.exp(np.minimum(logs - value, EXPONENT)) - np.exp(np.minimum(level - value, EXPONENT))
    return math.sqrt(max(float(rest @ rest) / (len(logs) - 2) - line.scatter**2, 0.0))


def _holding(values: Array, possible: Possible) -> tuple[float, float]:
    """The bounds that a series keeps; infinite where there is none or a value lies beyond it."""
    low, high = possible
    return (
        -math.inf if low is None or not len(values) or values.min() < low else low,
        math.inf if high is None or not len(values) or values.max() > high else high,
    )


def _grows(steps: NDArray[np.int64], values: Array, known: Trend | None = None) -> bool:
    """Whether a series that changes its pace goes by one factor a step all along: a line in its logarithms."""
    if len(values) < LEAST_POINTS or values.min() <= 0:
        return False
    trend = known or trend_of(steps, values)
    if not trend.changes and not curved(steps, values):
        return False
    if curved(steps, np.log(values)):
        return False
    logs = trend_of(steps, values, scale="log")
    return not logs.changes and logs.direction == trend.direction and logs.growth_interval is not None


def _refused(reason: Refusal | None, x: NDArray[np.int64]) -> Forecast:
    return Forecast(None, None, None, reason, *_ends(x), len(x))


def _ends(x: NDArray[np.int64]) -> tuple[int, int]:
    return (int(x[0]), int(x[-1])) if len(x) else (0, 0)


def steps_until(
    steps: ArrayLike, values: ArrayLike, target: float, *, scale: Scale = "linear", known: Trend | None = None,
    possible: Possible = (None, None),
) -> Forecast:  # fmt: skip
    """The step at which the trend (not a single lucky value) reaches a target, with an interval of at least 95 %.

    Its ends are whole steps, and the later one is left out where it lies beyond what can be foreseen. Where a line
    takes few steps through its interval, or few points tell it, the interval therefore holds the step more often than
    in 95 % of cases (``python -m evals.trend_levels --only reaches``).

    ``known`` is the trend of all values, if the caller has it.
    """
    x, y = np.asarray(steps), np.asarray(values, dtype=np.float64)
    low, high = _holding(y, possible)
    if not low <= target <= high:
        return _refused("beyond_possible", x)
    if scale == "linear" and target > 0 and _grows(x, y, known):
        logged = steps_until(steps, values, target, scale="log")
        return replace(logged, logged=logged.value is not None)
    count = len(x)
    x, y, refusal = _stretch(x, y, scale, known)
    again = len(x) < count
    first, last = _ends(x)
    if refusal is None and scale == "log" and target <= 0:
        refusal = "not_reached"
    if refusal is not None:
        return _refused(refusal, x)
    shown = np.log(y) if scale == "log" else y
    line, bent = fit_line(x, shown), curvature(x, shown)
    goal = math.log(target) if scale == "log" else target
    up = 1.0 if line.slope > 0 else -1.0
    if up * (line.at(first) - goal) > 0:
        refusal = "moving_away"  # it lies behind where the line began
    elif up * (line.at(last) - goal) >= 0:
        refusal = "already_reached"
    end = last + int(HORIZON * (last - first + 1))
    if refusal is None and curved(x, shown, again=again):
        refusal = "pace_changes"
    if refusal is None and up * (line.at(end) - goal) < 0:
        refusal = "not_reached"
    if refusal is not None:
        return _refused(refusal, x)
    value = math.ceil(line.centre + (goal - line.level) / line.slope)
    ahead = range(last + 1, end + 1)
    bows = {s: up * bent.bow(s) for s in ahead}
    error = {s: math.hypot(line.error(s, point=False, reaching=True), bent.doubt(s, again=again)) for s in ahead}
    sooner = next(s for s in ahead if up * (line.at(s) - goal) + error[s] + max(bows[s], 0.0) >= 0)
    later = next((s for s in ahead if up * (line.at(s) - goal) - error[s] + min(bows[s], 0.0) >= 0), None)
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
        bends = [change.step for change in whole.changes if change.kind == "slope"]
        only_bends = bool(bends) and len(bends) == len(whole.changes)
        if only_bends and is_curve(x, np.log(y) if scale == "log" else y, bends[-1]):
            return x, y, "pace_changes"
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
    scale: Scale = "linear", possible: Possible = (None, None),
) -> tuple[Fact | None, Refusal | None]:  # fmt: skip
    """The forecast of a metric as a fact (value, low, high, step), or the reason why there is none."""
    chosen, part = _part(ledger, metric, steps, run)
    trend = ledger.trend(metric, steps, run, scale=scale)
    if trend is None:
        return None, "few_points"
    found = forecast_at(part.steps, part.values, step, scale=_apt(part, scale), possible=possible)
    if found.value is None:
        return None, found.reason
    fact = ledger.add(
        ("forecast", chosen.id, metric, found.first_step, found.last_step, step, scale),
        kind="derived", run=chosen.id, name=f"forecast/{metric}", step=step, value=found.value,
        first_step=found.first_step, last_step=found.last_step, low=found.low, high=found.high, n=found.n,
        inputs=(trend.id,),
        formula=f"line through {f'log({metric})' if found.logged else metric} from step {found.first_step} "
        f"to {found.last_step}, continued; "
        "prediction interval of at least 95 %, with the curvature that the points leave open",
    )  # fmt: skip
    return fact, None


def reach(
    ledger: Ledger, metric: str, target: float, *, steps: Iterable[int] | None = None, run: Run | None = None,
    scale: Scale = "linear", possible: Possible = (None, None),
) -> tuple[Fact | None, Refusal | None]:  # fmt: skip
    """The step at which a metric's trend reaches a target as a fact (value, low, high), or why there is none."""
    chosen, part = _part(ledger, metric, steps, run)
    trend = ledger.trend(metric, steps, run, scale=scale)
    if trend is None:
        return None, "few_points"
    found = steps_until(part.steps, part.values, target, scale=_apt(part, scale), possible=possible)
    if found.value is None:
        return None, found.reason
    fact = ledger.add(
        ("reach", chosen.id, metric, found.first_step, found.last_step, target, scale),
        kind="derived", run=chosen.id, name=f"reach/{metric}", value=int(found.value), unit="step",
        first_step=found.first_step, last_step=found.last_step, low=found.low, high=found.high, n=found.n,
        inputs=(trend.id,),
        formula=f"step at which the line through {f'log({metric})' if found.logged else metric} from step "
        f"{found.first_step} to {found.last_step} "
        f"reaches {target:g}; interval of the line of at least 95 %, in whole steps",
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

    Returns:
        The fact's ``noise_basis`` is :data:`LEVEL` for an interval of 95 %, :data:`DRIFT` for one of at least 95 % that
        holds both that step times stay and that they go on changing. Below ten step times, ``few_points``.
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
    beside = as_facts(ledger, chosen, total)
    further = math.fsum(one.seconds for one, *_ in beside)
    below, above = found.expected - found.low, found.high - found.expected
    apart = [one.half for one, *_ in beside]
    inputs = [ledger.value(key, int(step), chosen) for step in times.steps[-3:]]
    if beside:
        inputs += [
            ledger.derived(
                "seconds_of_steps_left", found.expected, unit="s", inputs=inputs, run=chosen,
                formula=f"{key} continued over ({total} − {last}) steps",
            ), *(spent for *_, spent in beside),
        ]  # fmt: skip
    what = (
        f"the level of the last values of {key} and the trend that they may have", "at least 95 %",
    ) if found.drifting else (f"the level of the last values of {key}", "95 %")  # fmt: skip
    fact = ledger.add(
        ("remaining", chosen.id, key, total),
        kind="derived", run=chosen.id, name="remaining_seconds", value=found.expected + further, unit="s",
        low=max(found.low, found.expected + further - math.hypot(below, *apart)),
        high=found.expected + further + math.hypot(above, *apart),
        noise_basis=DRIFT if found.drifting else LEVEL, n=len(times), step=total,
        inputs=tuple(fact.id for fact in inputs if fact is not None),
        formula=f"{what[0]}, continued over ({total} − {last}) steps{' + what lies beside them' if beside else ''}; "
        f"{what[1]} prediction interval",
    )  # fmt: skip
    return fact, None


def _part(ledger: Ledger, metric: str, steps: Iterable[int] | None, run: Run | None) -> tuple[Run, Series]:
    chosen = run or ledger.run
    assert chosen is not None
    whole = series(chosen, metric)
    return chosen, whole if steps is None else whole.at(steps)


def _apt(part: Series, scale: Scale) -> Scale:
    return "linear" if scale == "log" and len(part) and part.values.min() <= 0 else scale
