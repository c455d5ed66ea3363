"""How often a comparison calls noise a change, and how often it sees a change that is there. Seeds are fixed."""

from typing import cast

import numpy as np
import pytest

from assistant.analysis import Ledger
from assistant.analysis.compare import compare_runs, compare_steps, compare_windows
from assistant.analysis.compare_model import Comparison
from assistant.model import Column, Run

FAMILY, FAMILIES, POINTS = 20, 30, 40
#: Nominal 5 %; 600 series each, so that 7 % is two standard errors above.
MOST = 0.07
KEPT = {"white": 0.0, "ar": 0.9, "walk": 1.0}


def drawn(dice: np.random.Generator, kind: str, n: int = POINTS) -> np.ndarray:
    """Twenty series that go nowhere, shape (20, n)."""
    values = dice.normal(size=(FAMILY, n))
    for i in range(1, n):
        values[:, i] += KEPT[kind] * values[:, i - 1]
    return values


def run_with(values: np.ndarray, name: str = "r0") -> Run:
    n = values.shape[1]
    steps = tuple(range(1, n + 1))
    columns = {f"loss_{i}": Column(range(n), tuple(map(float, row)), steps) for i, row in enumerate(values)}
    return Run(
        id=name, name=name, format="made", framework=None, step_axis="step", steps=steps, row_lines=steps,
        columns=columns,
    )  # fmt: skip


def lower(metric: str) -> str:
    return "lower_better"


def compared(how: str, dice: np.random.Generator, kind: str) -> Comparison:
    run = run_with(drawn(dice, kind))
    if how == "adjacent steps":
        return compare_steps(Ledger([run]), POINTS - 1, POINTS, direction=lower)
    if how == "first and last step":
        return compare_steps(Ledger([run]), 1, POINTS, direction=lower)
    if how == "windows":
        return compare_windows(Ledger([run]), (1, 8), (POINTS - 7, POINTS), direction=lower)
    other = run_with(drawn(dice, kind), "r1")
    return compare_runs(Ledger([run, other]), run, other, direction=lower)


@pytest.mark.parametrize("how", ["adjacent steps", "first and last step", "windows", "runs"])
def test_compare_without_any_change_rarely_calls_one(how):
    dice = np.random.default_rng(20261121)
    called = []
    for kind in KEPT:
        found = [compared(how, dice, kind) for _ in range(FAMILIES)]
        p_values = [cast("float", row.p) for one in found for row in one.rows]
        assert len(p_values) == FAMILY * FAMILIES
        assert np.mean(np.array(p_values) < 0.05) <= MOST, kind
        assert sum(one.verdict in {"improved", "regressed", "mixed"} for one in found) <= 3
        called += [any(row.significant for row in one.rows) for one in found]
    # After the correction for twenty metrics: families that hold any false call.
    assert np.mean(called) <= MOST


@pytest.mark.parametrize(("how", "least"), [("windows", 0.8), ("runs", 0.9)])
def test_compare_sees_a_learning_curve_of_three_deviations(how, least):
    """A saturating fall over a hundred steps, after the correction for twenty metrics."""
    dice, n = np.random.default_rng(3), 100
    curve = 3 * (1 - np.exp(-5 * np.linspace(0, 1, n)))
    before, after = run_with(drawn(dice, "white", n)), run_with(drawn(dice, "white", n) - curve, "r1")
    if how == "windows":
        found = compare_windows(Ledger([after]), (1, 15), (86, 100), direction=lower)
    else:
        found = compare_runs(Ledger([before, after]), before, after, direction=lower)
    assert found.verdict == "improved"
    assert np.mean([row.code == "improved" for row in found.rows]) >= least
