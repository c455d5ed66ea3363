"""The measured levels of the trend test, and the statistics that its bounds were fitted on."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from assistant.analysis.changepoints import scan
from assistant.analysis.nulls import NORMAL, TABLES, critical
from assistant.analysis.stats import autocorrelation, kendall_score, theil_sen
from evals import trend_calibration, trend_levels


def test_trend_levels_prints_tables_with_a_row_for_each_length(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["trend_levels", "--repeats", "2"])
    monkeypatch.setattr(trend_levels, "SIZES", (10, 20))
    monkeypatch.setattr(trend_levels, "FEW", (20,))
    monkeypatch.setattr(trend_levels, "coverage", lambda repeats: None)
    monkeypatch.setattr(trend_levels, "reaches", lambda repeats: None)  # its rows have another width
    trend_levels.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines if line.startswith(("| 10 ", "| 20 "))] == ["| 10", "| 20"] * 2
    widths = {line.count("|") for line in lines if line.startswith("| 10 ")}
    assert widths == {len(trend_levels.RHOS) + 2}


@pytest.mark.parametrize("n", [10, 33])
def test_trend_calibration_takes_the_statistic_that_the_test_uses(n: int) -> None:
    series = trend_calibration.noise(np.random.default_rng(n), 20, n, 0.6)
    statistic, correlation = trend_calibration.trend_statistic(series)
    for values, u, r in zip(series, statistic, correlation, strict=True):
        pairs, deviation = n * (n - 1) / 2, math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
        assert u == pytest.approx(math.atanh((abs(kendall_score(values)) - 1) / pairs) * pairs / deviation)
        assert r == pytest.approx(autocorrelation(values - theil_sen(np.arange(n), values)[0] * np.arange(n)))


@pytest.mark.parametrize("kind", ["level", "slope"])
def test_trend_calibration_takes_the_statistic_that_the_scan_uses(kind: str) -> None:
    series = trend_calibration.noise(np.random.default_rng(4), 20, 40, 0.3)
    statistic, _ = trend_calibration.scan_statistic(kind)(series)
    found = [scan(values, kind) for values in series]  # type: ignore[arg-type]
    assert [one.statistic for one in found if one is not None] == pytest.approx(list(statistic))


def test_trend_calibration_table_row_passes_what_its_formula_says() -> None:
    a, b, k, cap = TABLES["trend"][20]
    for r in (-0.3, 0.0, 0.2, 0.9):
        q = min(max(a + b * r, 0), 0.9995)
        assert critical("trend", 20, r) == pytest.approx(min(cap, NORMAL * k * math.sqrt((1 + q) / (1 - q))))


@pytest.mark.parametrize("test", ["trend", "level", "slope"])
def test_trend_calibration_sizes_are_those_of_the_tables(test: str) -> None:
    assert set(trend_calibration.SIZES[test]) == set(TABLES[test]) - {5}  # type: ignore[index]
