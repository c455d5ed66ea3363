"""The interval of a comparison holds the true difference at least as often as it says. Seeds are fixed."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from assistant.analysis import Ledger, compare_noise
from assistant.analysis.compare import compare_runs, compare_steps, compare_windows
from assistant.analysis.compare_model import Comparison
from assistant.analysis.compare_noise import LARGEST, WIDENED, level, widening
from assistant.model import Column, Run

SERIES = 120
#: At least 95 %, less three standard errors of so many series, since twelve cells are looked at. Intervals of
#: neighbouring steps that are narrower by a quarter fall below, at every ρ.
LEAST = 0.95 - 3 * 0.02


def run_of(name: str, n: int, rho: float, shift: float, dice: np.random.Generator) -> Run:
    """AR(1) noise of unit variance about a level, one metric a series; the second half higher by ``shift``."""
    x = dice.standard_normal((SERIES, n))
    for t in range(1, n):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho * rho) * x[:, t]
    x[:, n // 2 :] += shift
    steps = tuple(range(1, n + 1))
    columns = {f"loss_{i}": Column(range(n), tuple(map(float, row)), steps) for i, row in enumerate(x)}
    return Run(
        id=name, name=name, format="made", framework=None, step_axis="step", steps=steps, row_lines=steps,
        columns=columns,
    )  # fmt: skip


@lru_cache
def compared(how: str, rho: float, shift: float) -> Comparison:
    dice = np.random.default_rng([9, len(how), int(10 * rho)])
    n = 40 if how == "neighbouring steps" else 60
    run = run_of("r0", n, rho, shift, dice)
    metrics = list(run.columns)
    if how == "neighbouring steps":
        return compare_steps(Ledger([run]), n // 2, n // 2 + 1, direction=str, metrics=metrics)
    if how == "first and last step":
        return compare_steps(Ledger([run]), 1, n, direction=str, metrics=metrics)
    if how == "windows":
        return compare_windows(Ledger([run]), (1, 8), (n - 7, n), direction=str, metrics=metrics)
    other = run_of("r1", n, rho, shift, dice)
    return compare_runs(Ledger([run, other]), run, other, direction=str, metrics=metrics)


@pytest.mark.parametrize("how", ["neighbouring steps", "first and last step", "windows", "runs"])
@pytest.mark.parametrize(("rho", "shift"), [(0.0, 0.0), (0.9, 0.0), (0.5, 2.0)])
def test_compare_interval_holds_the_difference_at_least_as_often_as_it_says(how: str, rho: float, shift: float) -> None:
    true = 0.0 if how == "runs" else shift
    rows = compared(how, rho, shift).rows
    held = [abs(float(row.change.delta or 0) - true) <= float(row.half.value) for row in rows if row.half is not None]  # type: ignore[arg-type]
    assert len(held) == SERIES
    assert np.mean(held) >= LEAST


@pytest.mark.parametrize("how", ["neighbouring steps", "windows", "runs"])
def test_compare_interval_of_independent_noise_is_no_wider_than_twice_what_it_needs(how: str) -> None:
    """At least 95 % is no licence to say nothing."""
    rows = compared(how, 0.0, 0.0).rows
    needed = np.quantile([abs(float(row.change.delta or 0)) for row in rows], 0.95)
    halves = [float(row.half.value) for row in rows if row.half is not None]  # type: ignore[arg-type]
    assert np.median(halves) < 2 * needed


@pytest.mark.parametrize("how", ["neighbouring steps", "windows", "runs"])
def test_compare_interval_holds_zero_exactly_where_the_change_does_not_count_by_itself(how: str) -> None:
    for row in compared(how, 0.5, 2.0).rows:
        assert row.half is not None
        assert (abs(float(row.change.delta or 0)) > float(row.half.value)) == row.change.significant  # type: ignore[arg-type]


# --- the widening ----------------------------------------------------------------------------------------------------
def test_level_that_is_strongly_correlated_is_widened_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    factor = WIDENED[8]
    dice = np.random.default_rng(1)
    walk, white = dice.normal(size=60).cumsum(), dice.normal(size=60)
    wide = level(walk, (0, 8)), level(white, (0, 8))
    monkeypatch.setattr(compare_noise, "WIDENED", {8: 1.0})
    plain = level(walk, (0, 8)), level(white, (0, 8))
    assert wide[0] is not None
    assert plain[0] is not None
    assert (plain[0].rho, wide[1]) == (LARGEST, plain[1])
    assert wide[0].variance == pytest.approx(plain[0].variance * factor**2)


def test_widening_at_a_size_is_the_tables_and_never_narrows() -> None:
    assert [widening(n) for n in WIDENED] == pytest.approx(list(WIDENED.values()))
    assert min(WIDENED.values()) >= 1
    assert widening(10**6) == list(WIDENED.values())[-1]
    assert widening(3) == pytest.approx((widening(2) + widening(4)) / 2, rel=0.05)
