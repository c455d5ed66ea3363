"""How far two steps differ by chance: the bounds are upper bounds, the scatter is the run's own."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from random import Random
from statistics import fmean, stdev

import pytest

from assistant.analysis import Ledger
from assistant.analysis.compare import compare_steps
from assistant.analysis.noise import MIN_DIFFERENCES, change_noise
from assistant.model import Number

from .support import advantages, geometry, run_of, series_run

PROMPTS, GROUP, BATCHES = 64, 8, 600
REWARD = "critic/score/"


def rewards_of_a_batch(dice: random.Random, kind: str) -> list[float]:
    """Bounded rewards of PROMPTS groups; within a group they share the prompt's difficulty."""
    rewards: list[float] = []
    for _ in range(PROMPTS):
        ease = dice.betavariate(0.4, 0.8)
        for _ in range(GROUP):
            right = dice.random() < ease
            if kind == "binary":
                rewards.append(1.0 if right else 0.0)
            elif kind == "signed":
                rewards.append(1.0 if right else -1.0)
            elif kind == "graded":
                rewards.append(round(dice.betavariate(1 + 3 * ease, 2), 3))
            else:  # every answer of a prompt alike: the worst case, one draw a prompt
                rewards.append(1.0 if ease > 0.5 else 0.0)
    return rewards


@pytest.mark.parametrize("kind", ["binary", "signed", "graded", "alike"])
def test_change_noise_bound_is_above_the_true_error(kind: str) -> None:
    dice = random.Random(f"rewards/{kind}")
    batches = [rewards_of_a_batch(dice, kind) for _ in range(BATCHES)]
    rows: dict[int, dict[str, Number]] = {
        i: {REWARD + "mean": fmean(batch), REWARD + "max": max(batch), REWARD + "min": min(batch)}
        for i, batch in enumerate(batches)
    }
    means = [float(row[REWARD + "mean"]) for row in rows.values()]
    true_error = math.sqrt(2) * stdev(means)
    bounds = []
    for i in range(0, BATCHES, 2):
        bound, basis = change_noise(run_of({0: rows[i], 1: rows[i + 1]}), REWARD + "mean", 0, 1, prompts=PROMPTS)
        assert basis == "bound"
        assert bound is not None
        bounds.append(bound)
    assert fmean(bounds) >= 0.95 * true_error  # 0.95: "alike" reaches the bound, and the error is itself estimated


def test_change_noise_share_bound_is_above_the_true_error() -> None:
    dice = random.Random(5)
    metric = "response_length/clip_ratio"
    shares = []
    for _ in range(BATCHES):
        hits = 0
        for _ in range(PROMPTS):
            prone = dice.betavariate(0.2, 4)
            hits += sum(dice.random() < prone for _ in range(GROUP))
        shares.append(hits / (PROMPTS * GROUP))
    true_error = math.sqrt(2) * stdev(shares)
    bounds = []
    for i in range(0, BATCHES, 2):
        pair = run_of({0: {metric: shares[i]}, 1: {metric: shares[i + 1]}})
        bound, basis = change_noise(pair, metric, 0, 1, prompts=PROMPTS)
        if bound is not None:
            assert basis == "fraction_bound"
            bounds.append(bound)
    assert len(bounds) > BATCHES // 3
    assert fmean(bounds) >= true_error


def test_change_noise_bound_is_bhatia_davis_over_prompts() -> None:
    rows = {
        1: {REWARD + "mean": 0.25, REWARD + "min": 0.0, REWARD + "max": 1.0},
        2: {REWARD + "mean": 0.50, REWARD + "min": -1.0, REWARD + "max": 1.0},
    }
    noise, basis = change_noise(run_of(rows), REWARD + "mean", 1, 2, prompts=100)
    assert basis == "bound"
    assert noise == pytest.approx(math.sqrt((0.75 * 0.25 + 0.5 * 1.5) / 100))


def test_change_noise_prompts_unknown_gives_nothing() -> None:
    rows = {s: {REWARD + "mean": 0.2 * s, REWARD + "min": 0.0, REWARD + "max": 1.0} for s in (1, 2)}
    assert change_noise(run_of(rows), REWARD + "mean", 1, 2, prompts=None) == (None, None)


@pytest.mark.parametrize("metric", ["critic/advantages/mean", "critic/returns/mean"])
def test_change_noise_normalised_quantities_have_no_bound(metric: str) -> None:
    stem = metric.removesuffix("mean")
    rows = {s: {metric: 0.01 * s, stem + "min": -2.0, stem + "max": 2.0} for s in (1, 2)}
    assert change_noise(run_of(rows), metric, 1, 2, prompts=64) == (None, None)


@pytest.mark.parametrize("metric", ["actor/entropy", "critic/score/max", "timing_s/gen"])
def test_change_noise_not_a_batch_mean_gives_nothing(metric: str) -> None:
    assert change_noise(run_of({1: {metric: 1.0}, 2: {metric: 2.0}}), metric, 1, 2, prompts=64) == (None, None)


def test_change_noise_mean_outside_its_bounds_gives_nothing() -> None:
    rows = {s: {REWARD + "mean": 2.0, REWARD + "min": 0.0, REWARD + "max": 1.0} for s in (1, 2)}
    assert change_noise(run_of(rows), REWARD + "mean", 1, 2, prompts=64) == (None, None)


def test_change_noise_share_outside_zero_to_one_gives_nothing() -> None:
    run = run_of({1: {"response_length/clip_ratio": 0.5}, 2: {"response_length/clip_ratio": 1.5}})
    assert change_noise(run, "response_length/clip_ratio", 1, 2, prompts=64) == (None, None)


# --- the run's own scatter -------------------------------------------------------------------------------


def test_change_noise_enough_steps_uses_their_scatter() -> None:
    dice = random.Random(2)
    values = [dice.gauss(5, 0.3) for _ in range(200)]
    noise, basis = change_noise(series_run("actor/entropy", values), "actor/entropy", 100, 101, prompts=None)
    assert basis == "residual"
    assert noise == pytest.approx(0.3 * math.sqrt(2), rel=0.25)


def test_change_noise_pair_asked_about_is_left_out() -> None:
    values = [1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 50.0]
    noise, basis = change_noise(series_run("grad_norm", values), "grad_norm", 6, 7, prompts=None)
    assert basis == "residual"
    assert noise is not None
    assert noise < 1


def test_change_noise_steady_drift_is_not_noise() -> None:
    dice = random.Random(4)
    values = [3.0 * i + dice.gauss(0, 0.1) for i in range(60)]
    noise, _ = change_noise(series_run("loss", values), "loss", 30, 31, prompts=None)
    assert noise is not None
    assert noise < 0.3


@pytest.mark.parametrize(("steps", "basis"), [(MIN_DIFFERENCES + 1, None), (MIN_DIFFERENCES + 2, "residual")])
def test_change_noise_scatter_needs_four_other_differences(steps: int, basis: str | None) -> None:
    values = [*[1.0, 1.3, 0.8, 1.1, 0.7, 1.2, 0.9][: steps - 1], 9.0]
    run = series_run("actor/entropy", values)
    assert change_noise(run, "actor/entropy", steps - 1, steps, prompts=None)[1] == basis


def test_change_noise_values_not_finite_are_left_out() -> None:
    values = [1.0, math.nan, 1.2, 1.0, math.inf, 1.1, 1.3, 5.0]
    noise, basis = change_noise(series_run("loss", values), "loss", 7, 8, prompts=None)
    assert basis == "residual"
    assert noise is not None
    assert 0 < noise < 1


def test_change_noise_wider_than_the_whole_range_tells_nothing() -> None:
    values = [1.0, 1.3, 0.8, 1.1, 0.7, 1.2, 0.9]
    assert change_noise(series_run("loss", values), "loss", 6, 7, prompts=None) == (None, "too_wide")
    change = Ledger([series_run("loss", values)]).change("loss", 6, 7)
    assert change is not None
    assert (change.noise, change.noise_basis, change.significant) == (None, "too_wide", None)


@pytest.mark.parametrize("gap", [1, 10, 40, 119])
def test_change_noise_is_that_of_a_comparison_unless_a_walk_is_not_excluded(gap: int) -> None:
    dice = random.Random(9)
    run = series_run("loss", [dice.gauss(5, 0.3) for _ in range(120)])
    first, second = (1, 120) if gap == 119 else (60, 60 + gap)
    noise, basis = change_noise(run, "loss", first, second, prompts=None)
    (row,) = compare_steps(Ledger([run]), first, second, direction=lambda metric: "lower_better").rows
    assert noise is not None
    assert (noise, basis) == (pytest.approx(row.change.noise), row.basis)


# --- as a fact -------------------------------------------------------------------------------------------


def two_steps(first: float, second: float) -> Ledger:
    low, high = {REWARD + "min": 0.0}, {REWARD + "max": 1.0}
    common = {**geometry(prompts=100, group=8), **advantages(8), **low, **high}
    return Ledger([run_of({1: {**common, REWARD + "mean": first}, 2: {**common, REWARD + "mean": second}})])


def test_ledger_change_takes_prompts_from_the_log() -> None:
    change = two_steps(0.5, 0.5).change(REWARD + "mean", 1, 2)
    assert change is not None
    assert change.noise == pytest.approx(math.sqrt(0.5 / 100))
    assert change.noise_basis == "bound"


@pytest.mark.parametrize(("second", "significant"), [(0.60, False), (0.68, True), (0.30, True)])
def test_ledger_change_is_significant_beyond_two_errors(second: float, significant: bool) -> None:
    change = two_steps(0.5, second).change(REWARD + "mean", 1, 2)
    assert change is not None
    assert change.significant is significant
    assert change.delta == pytest.approx(second - 0.5)
    assert change.ratio == pytest.approx(second / 0.5)


def test_ledger_change_noise_unknown_is_neither_significant_nor_not() -> None:
    change = Ledger([run_of({1: {"lr": 1e-6}, 2: {"lr": 2e-6}})]).change("lr", 1, 2)
    assert change is not None
    assert (change.noise, change.significant) == (None, None)
    assert change.to_json()["significant"] is None


def test_ledger_change_from_zero_has_no_ratio() -> None:
    change = Ledger([run_of({1: {"aborted": 0.0}, 2: {"aborted": 0.1}})]).change("aborted", 1, 2)
    assert change is not None
    assert change.ratio is None


@pytest.mark.parametrize("second", [{}, {"loss": math.nan}, {"loss": math.inf}])
def test_ledger_change_value_missing_or_not_finite_gives_nothing(second: dict[str, Number]) -> None:
    assert Ledger([run_of({1: {"loss": 1.0}, 2: {"x": 1.0, **second}})]).change("loss", 1, 2) is None


def test_ledger_change_scatter_of_a_long_run_calls_little_noise_a_change() -> None:
    hits = 0
    for seed in range(300):
        dice = random.Random(seed)
        run = series_run("actor/entropy", [dice.gauss(0, 1) for _ in range(60)])
        change = Ledger([run]).change("actor/entropy", 59, 60)
        assert change is not None
        hits += bool(change.significant)
    assert hits / 300 <= 0.10


def drawn(kind: str, n: int, random: Random) -> list[float]:
    """White noise, a strongly correlated AR(1) series, or a random walk."""
    values = [random.gauss(0, 1)]
    keep = {"white": 0.0, "ar": 0.9, "walk": 1.0}[kind]
    for _ in range(n - 1):
        values.append(keep * values[-1] + random.gauss(0, 1))
    return values


@pytest.mark.parametrize("kind", ["white", "ar", "walk"])
@pytest.mark.parametrize("n", [6, 10, 30])
@pytest.mark.parametrize("ends", [False, True], ids=["adjacent", "first-last"])
def test_change_noise_without_any_change_rarely_called_significant(kind: str, n: int, ends: bool) -> None:
    """Nominal 5 %; 300 series each, so that 11 % is three standard errors above."""
    random = Random(20261121 + n)
    called = 0
    for _ in range(300):
        values = drawn(kind, n, random)
        first, second = (1, n) if ends else (n - 1, n)
        noise, _ = change_noise(series_run("loss", values), "loss", first, second, prompts=None)
        called += noise is not None and abs(values[second - 1] - values[first - 1]) > 1.96 * noise
    assert called / 300 <= 0.11


@pytest.mark.parametrize("key", ["loss", "response_length/mean", "mean_ratio"])
@pytest.mark.parametrize("after", [lambda at: 40.0 * 3.0**at, lambda at: 2000.0 + at, lambda at: -900.0 - 7 * at])
@pytest.mark.parametrize("second", [19, 20])
def test_change_noise_before_a_break_is_that_of_the_values_before_it(
    key: str, after: Callable[[int], float], second: int
) -> None:
    """A collapse or an explosion from step 20 on, at it or right after it, does not widen the noise before."""
    dice = random.Random(f"{key}/{second}")
    calm = [1.0 + dice.gauss(0, 0.02) for _ in range(20)]
    for n in (5, 30):
        noise, basis = change_noise(
            series_run(key, [*calm, *(after(i) for i in range(n))], first=0), key, second - 1, second, prompts=None
        )
        assert basis == "residual"
        assert noise is not None
        assert 0.01 < noise < 0.08


def test_change_noise_of_a_level_that_comes_back_is_that_of_the_whole() -> None:
    dice = random.Random(9)
    values = [1.0 + dice.gauss(0, 0.02) for _ in range(20)]
    values += [3.0 if i % 3 else 1.0 + dice.gauss(0, 0.02) for i in range(20)]
    noise, _ = change_noise(series_run("loss", values, first=0), "loss", 18, 19, prompts=None)
    assert noise is None or noise > 0.5
