"""Forecasts: intervals that hold what they promise, and refusals where nothing can be told."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assistant.analysis import Ledger
from assistant.analysis.ar_line import fit_line
from assistant.analysis.forecast import (
    forecast,
    forecast_at,
    forecasts_at,
    reach,
    remaining,
    steps_until,
)
from assistant.analysis.time_left import remaining_seconds
from assistant.analysis.trend import trend_of
from assistant.model import Run
from evals import trend_curves

from .support import run_of, series_run


def ar(n: int, rho: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng([11, seed])
    x = rng.standard_normal(n)
    for t in range(1, n):
        x[t] = rho * x[t - 1] + math.sqrt(1 - rho * rho) * x[t]
    return x


def rising(n: int = 60, slope: float = 0.2, rho: float = 0.0, seed: int = 0) -> np.ndarray:
    return ar(n, rho, seed) + slope * np.arange(n)


# --- a value ahead ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "rho", "ahead"), [(30, 0.0, 15), (60, 0.0, 30), (60, 0.5, 1), (200, 0.7, 100)])
def test_forecast_at_interval_holds_the_value_at_least_as_often_as_promised(n: int, rho: float, ahead: int) -> None:
    held = told = 0
    for seed in range(500):
        values = rising(n + ahead, 0.3, rho, seed)
        found = forecast_at(np.arange(n), values[:n], n + ahead - 1)
        if found.low is not None and found.high is not None:
            told += 1
            held += found.low <= values[-1] <= found.high
    assert told > 400
    assert held / told >= 0.95 - 0.02  # two standard errors


@pytest.mark.parametrize("kind", list(trend_curves.KINDS))
def test_forecast_at_interval_holds_what_curves_that_look_straight_do_next(kind: str) -> None:
    """93 % and more of what is told, less two standard errors of so many."""
    held = told = 0
    for n, values in trend_curves.drawn(kind, 250, np.random.default_rng([3, len(kind)])):
        known = trend_of(np.arange(n), values[:n])
        ahead = [n, n - 1 + n // 4, n - 1 + n // 2]
        for step, found in zip(ahead, forecasts_at(np.arange(n), values[:n], ahead, known=known), strict=True):
            if found.low is not None and found.high is not None:
                told += 1
                held += found.low <= values[step] <= found.high
    assert told > 250
    assert held / told >= 0.93 - 2 * (0.07 * 0.93 / (told / 3)) ** 0.5


@pytest.mark.parametrize(("name", "n"), [("logistic, 1/(1 + e^((40 − t)/8))", 30), ("1 + 0.3 sin(2πt/80)", 20)])
def test_steps_until_interval_holds_the_step_at_which_a_curve_gets_there_or_never_does(name: str, n: int) -> None:
    curve = trend_curves.CURVES[name][0](np.arange(4.0 * n))
    held = told = 0
    for seed in range(150):
        values = curve[:n] + 0.1 * ar(n, 0.0, seed)
        line = fit_line(np.arange(n), values)
        target = line.at(n - 1 + n // 4)
        found = steps_until(np.arange(n), values, target)
        if found.low is None:
            continue
        told += 1
        after = np.flatnonzero((curve[n:] >= target) if line.slope > 0 else (curve[n:] <= target))
        step = n + int(after[0]) if len(after) else math.inf
        held += found.low <= step <= (math.inf if found.high is None else found.high)
    assert told > 60
    assert held / told >= 0.93 - 2 * (0.07 * 0.93 / told) ** 0.5


def test_forecast_at_further_ahead_is_less_certain() -> None:
    near, far = (forecast_at(np.arange(60), rising(), step) for step in (65, 85))
    assert near.low is not None
    assert near.high is not None
    assert far.low is not None
    assert far.high is not None
    assert far.high - far.low > near.high - near.low


def test_forecast_at_log_scale_stays_positive_and_grows_by_factors() -> None:
    told = 0
    for seed in range(20):
        values = 1e-3 * np.exp(0.05 * np.arange(60) + 0.1 * ar(60, 0.0, seed))
        found = forecast_at(np.arange(60), values, 85, scale="log")
        if found.low is None:
            assert found.reason == "pace_changes"  # noise bends one line in twenty
            continue
        told += 1
        assert found.high is not None
        assert 0 < found.low < 1e-3 * math.exp(0.05 * 85) < found.high
        assert found.value == pytest.approx(1e-3 * math.exp(0.05 * 85), rel=0.3)
    assert told >= 17


def test_forecast_at_goes_on_from_the_last_bend() -> None:
    t = np.arange(120)
    found = forecast_at(t, ar(120, 0.0, 3) * 0.5 + 0.5 * np.minimum(t, 60) + 0.05 * np.maximum(t - 60, 0), 145)
    assert found.first_step >= 50
    assert found.value == pytest.approx(30 + 0.05 * 85, abs=2)


@pytest.mark.parametrize(
    ("values", "step", "reason"),
    [
        (rising(8), 10, "few_points"),
        (ar(60, 0.0, 1), 70, "no_trend"),
        (ar(60, 0.0, 2) + 8.0 * (np.arange(60) >= 30), 70, "no_trend"),
        (rising(), 59, "not_ahead"),
        (rising(), 120, "too_far"),
        (rising(), 90, "too_far"),
    ],
)
def test_forecast_at_refused_with_a_reason(values: np.ndarray, step: int, reason: str) -> None:
    found = forecast_at(np.arange(len(values)), values, step)
    assert (found.value, found.low, found.high, found.reason) == (None, None, None, reason)


# --- a target --------------------------------------------------------------------------------------------


def test_steps_until_interval_holds_the_step_of_the_true_line() -> None:
    told = [steps_until(np.arange(60), rising(60, 0.2, 0.3, seed), 16.0) for seed in range(300)]
    spans = [(found.low, found.high or math.inf) for found in told if found.low is not None]
    assert len(spans) >= 270
    assert sum(low <= 80 <= high for low, high in spans) / len(spans) >= 0.95
    steep = [steps_until(np.arange(60), rising(60, 1.0, 0.3, seed), 70.0) for seed in range(100)]
    named = [(found.low, found.high) for found in steep if found.low is not None and found.high is not None]
    assert len(named) >= 80
    assert sum(low <= 70 <= high for low, high in named) / len(named) >= 0.95


@pytest.mark.parametrize(("target", "reason"), [(1.0, "moving_away"), (11.0, "already_reached"), (40.0, "not_reached")])
def test_steps_until_refused_with_a_reason(target: float, reason: str) -> None:
    assert steps_until(np.arange(60), rising() + 3, target).reason == reason


def test_steps_until_falling_series_reaches_a_lower_target() -> None:
    found = steps_until(np.arange(60), -rising(), -16.0)
    assert found.value == pytest.approx(80, abs=5)


# --- the end of a run ------------------------------------------------------------------------------------


def test_remaining_seconds_interval_holds_the_time_as_often_as_promised() -> None:
    held = 0
    for seed in range(500):
        times = 100 + 10 * ar(60, 0.5, seed)
        found = remaining_seconds(times[:40], 20)
        assert found is not None
        held += found[1] <= times[40:].sum() <= found[2]
    assert 0.925 <= held / 500 <= 0.99


def test_remaining_seconds_few_step_times_gives_nothing() -> None:
    assert remaining_seconds([1.0, 2.0], 5) is None


def timed_run(**fields: object) -> Run:
    return run_of({i: {"timing_s/step": 60.0 + i % 3} for i in range(1, 31)}, **fields)


def test_remaining_takes_the_total_that_the_run_states() -> None:
    fact, reason = remaining(Ledger([timed_run(extras={"max_steps": (50, 3)})]))
    assert reason is None
    assert fact is not None
    assert fact.value == pytest.approx(20 * 61.0, rel=1e-3)
    assert fact.low is not None
    assert fact.low < fact.value < fact.high  # type: ignore[operator]
    assert fact.unit == "s"


@pytest.mark.parametrize(
    ("run", "total", "reason"),
    [
        (timed_run(), None, "no_total"),
        (timed_run(), 30, "done"),
        (series_run("loss", [1.0, 2.0]), 9, "no_step_times"),
        (run_of({1: {"timing_s/step": 5.0}}), 9, "few_points"),
    ],
)
def test_remaining_refused_with_a_reason(run: Run, total: int | None, reason: str) -> None:
    assert remaining(Ledger([run]), total=total) == (None, reason)


# --- as facts --------------------------------------------------------------------------------------------


def test_forecast_is_one_fact_that_names_its_trend() -> None:
    ledger = Ledger([series_run("reward", rising().tolist())])
    fact, reason = forecast(ledger, "reward", 80)
    assert reason is None
    assert fact is not None
    assert forecast(ledger, "reward", 80)[0] is fact
    trend = ledger.trend("reward")
    assert trend is not None
    assert fact.inputs == (trend.id,)
    said = fact.to_json()
    assert said["low"] < said["value"] < said["high"]
    assert said["step"] == 80


def test_forecast_of_noise_gives_the_reason_and_no_fact() -> None:
    ledger = Ledger([series_run("loss", ar(60, 0.0, 1).tolist())])
    assert forecast(ledger, "loss", 70) == (None, "no_trend")
    assert reach(ledger, "loss", 9.0) == (None, "no_trend")
    assert forecast(ledger, "entropy", 70) == (None, "few_points")


def test_reach_is_a_fact_with_the_earliest_and_the_latest_step() -> None:
    fact, _ = reach(Ledger([series_run("reward", rising().tolist())]), "reward", 16.0)
    assert fact is not None
    assert fact.low is not None
    assert 60 < fact.low <= fact.value <= (fact.high or math.inf)  # type: ignore[operator]


def test_forecast_at_of_positive_values_never_reaches_below_zero() -> None:
    values = np.exp(-3 + 0.03 * np.arange(60))
    found = forecast_at(np.arange(60), values, 70)
    assert found.low is not None
    assert found.low > 0
    falling = forecast_at(np.arange(60), 1.0 - 0.016 * np.arange(60), 75)
    assert falling.value is not None
    assert 0 <= (falling.low or 0) <= falling.value


def test_forecast_at_of_values_of_both_signs_may_be_negative() -> None:
    found = forecast_at(np.arange(60), 1.0 - 0.03 * np.arange(60), 70)
    assert found.value == pytest.approx(1.0 - 0.03 * 70, abs=0.01)
    assert not found.logged


# --- one factor a step -----------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_forecast_at_of_growth_by_one_factor_continues_the_factor(noise: float) -> None:
    """On the linear scale it bends all along, and a line from its last bend would fall far short."""
    values = np.exp(-3 + 0.05 * np.arange(60) + noise * ar(60, 0.0, 3))
    found = forecast_at(np.arange(60), values, 80)
    assert found.logged
    assert (found.first_step, found.n) == (0, 60)
    assert found.low is not None
    assert found.high is not None
    assert found.low * (1 - 1e-9) <= math.exp(-3 + 0.05 * 80) <= found.high * (1 + 1e-9)


def test_steps_until_of_growth_by_one_factor_takes_the_logarithms() -> None:
    found = steps_until(np.arange(60), np.exp(-3 + 0.05 * np.arange(60)), 2.0)
    assert found.logged
    assert found.value == math.ceil((math.log(2) + 3) / 0.05)


def test_forecast_at_of_a_ramp_that_levelled_off_is_not_growth_by_a_factor() -> None:
    values = 5 + np.minimum(np.arange(80), 30) * 0.2 + 0.1 * ar(80, 0.0, 2)
    assert forecast_at(np.arange(80), values, 90).reason == "no_trend"


def test_forecasts_at_known_trend_gives_the_same() -> None:
    steps, values = np.arange(60), rising()
    known = trend_of(steps, values)
    told = forecasts_at(steps, values, (65, 59, 200), known=known)
    assert told == tuple(forecast_at(steps, values, step) for step in (65, 59, 200))


# --- curves ----------------------------------------------------------------------------------------------


CURVES = {
    "saturates": (lambda t: 1 - np.exp(-t / 30), 60, 90),
    "decays": (lambda t: 2 * np.exp(-t / 15) + 0.5, 80, 100),
    "decays slowly": (lambda t: 2 * np.exp(-t / 40) + 0.5, 60, 90),
    "falls as a power": (lambda t: 3 / np.sqrt(t + 1), 100, 150),
    "logistic": (lambda t: 1 / (1 + np.exp(-(t - 40) / 8)), 60, 80),
    "turns": (lambda t: 1 + 0.3 * np.sin(2 * np.pi * t / 80), 60, 80),
}


@pytest.mark.parametrize("noise", [0.03, 0.1])
def test_forecast_at_of_curves_is_mostly_refused_and_seldom_wrong(noise: float) -> None:
    told = held = 0
    for shape, n, step in CURVES.values():
        for seed in range(20):
            values = shape(np.arange(n)) + noise * ar(n, 0.0, seed)
            found = forecast_at(np.arange(n), values, step)
            if found.low is not None and found.high is not None:
                told += 1
                held += found.low <= shape(np.array([float(step)]))[0] <= found.high
    assert told <= 0.15 * 20 * len(CURVES)
    assert told - held <= 0.04 * 20 * len(CURVES)


def test_forecast_at_of_a_curve_says_that_the_pace_changes() -> None:
    values = 1 - np.exp(-np.arange(60) / 30) + 0.01 * ar(60, 0.0, 1)
    assert forecast_at(np.arange(60), values, 70).reason == "pace_changes"
    assert steps_until(np.arange(60), values, 0.95).reason == "pace_changes"


# --- what is possible ------------------------------------------------------------------------------------


def test_forecast_at_beyond_what_is_possible_gives_no_value() -> None:
    values = 0.5 + 0.01 * np.arange(40) + 0.01 * ar(40, 0.0, 2)
    found = forecast_at(np.arange(40), values, 58, possible=(0.0, 1.0))
    assert (found.value, found.reason) == (None, "impossible")
    near = forecast_at(np.arange(40), values, 48, possible=(0.0, 1.0))
    assert near.value is not None
    assert near.high is not None
    assert near.high <= 1.0


def test_steps_until_a_value_that_is_not_possible_is_refused() -> None:
    values = 0.5 + 0.01 * np.arange(40) + 0.01 * ar(40, 0.0, 2)
    assert steps_until(np.arange(40), values, 1.2, possible=(0.0, 1.0)).reason == "beyond_possible"
