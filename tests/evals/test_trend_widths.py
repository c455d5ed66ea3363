"""The search for widths: its draws are the product's statistics, and what it finds misses as often as it should."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assistant.analysis.ar_line import fit_line
from assistant.analysis.forecast import forecasts_at
from assistant.analysis.nulls import critical
from assistant.analysis.pace import curvature
from assistant.analysis.stats import interval_score, median_slope, pair_slopes, persistence, score_variance
from assistant.analysis.widths import SEEN, TABLES
from evals import trend_widths
from evals.trend_calibration import noise


@pytest.mark.parametrize("bound", [1.8, 3.0, 5.0])
def test_slope_draw_is_above_a_bound_where_the_interval_misses(bound: float) -> None:
    n, repeats = 14, 60
    statistic, seen, test = trend_widths.slope_draw(n, 0.8, repeats, np.random.default_rng(1))
    series = noise(np.random.default_rng(1), repeats, n, 0.8)
    score = interval_score(score_variance(np.arange(float(n))), n * (n - 1) / 2, bound)
    for values, u, r, limit in zip(series, statistic, seen, test, strict=True):
        slopes = pair_slopes(np.arange(n), values)
        slope, interval = median_slope(slopes, score)
        assert interval is not None
        assert (interval[0] <= 0 <= interval[1]) == (u <= bound)
        assert r == pytest.approx(persistence(values - slope * np.arange(n)))
        assert limit == critical("trend", n, r)


def test_line_draw_is_the_error_in_the_products_deviations() -> None:
    found, seen = trend_widths.line_draw(20, 0.5, 5, np.random.default_rng(2))
    series = noise(np.random.default_rng(2), 5, 40, 0.5)
    for k, values in enumerate(series):
        line = fit_line(np.arange(20), values[:20])
        assert seen[k] == line.seen
        assert found[1, k] == pytest.approx(abs(line.at(29)) / line.deviation(29, point=False))


def test_ahead_draw_is_the_error_beyond_the_reach_of_what_is_told() -> None:
    found, seen = trend_widths.ahead_draw(20, 0.5, 30, np.random.default_rng(2))
    slope = trend_widths.steepness(0.5) / 20
    series = noise(np.random.default_rng(2), 30, 40, 0.5) + slope * np.arange(40)
    k = 0
    for values in series - 100:  # of values below zero, none is continued by factors
        (told,) = forecasts_at(np.arange(20), values[:20], (29,))
        if told.low is None or told.high is None:
            continue
        line, bent = fit_line(np.arange(20), values[:20]), curvature(np.arange(20), values[:20])
        assert seen[k] == pytest.approx(line.seen)
        error, bow = values[39] - line.at(39), trend_widths.one_sided(bent, 39)
        assert bow / bent.bow(39) == pytest.approx(1 + 2 / abs(bent.ratio))
        beyond = error - min(max(error, min(bow, 0.0)), max(bow, 0.0))
        assert found[5, k] * line.deviation(39, point=True) == pytest.approx(abs(beyond), abs=1e-9)
        k += 1
    assert k == len(seen) >= 20


def test_search_finds_widths_that_miss_one_in_twenty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trend_widths, "TRIES", 300)
    rng = np.random.default_rng(4)
    draws = [(np.abs(rng.standard_normal((1, 2000))), rng.uniform(-0.3, 0.8, 2000)) for _ in trend_widths.RHOS]
    shape = trend_widths.Shape(100, trend_widths.WEIGHTS)
    logs, shares = trend_widths.fit_errors(draws, np.full(len(SEEN), 1.2), rng, shape)
    assert (np.diff(logs) >= 0).all()
    assert (np.abs(shares[:-1] - 0.05) < 0.02).all()
    assert np.median(np.exp(logs)) == pytest.approx(1.96, abs=0.2)


def test_line_of_reads_as_a_row_of_the_table() -> None:
    text = trend_widths.line_of(20, np.log(np.linspace(2, 3.1, len(SEEN))), np.full((len(trend_widths.RHOS), 2), 0.05))
    row = text.split("#")[0].strip().rstrip(",")
    assert [float(v) for v in row.split("(")[1].strip(")").split(",")] == pytest.approx(np.linspace(2, 3.1, len(SEEN)))
    assert text.endswith("# 5.0 to 5.0")


def test_tables_hold_the_lengths_that_are_fitted() -> None:
    for which, parts in trend_widths.PARTS.items():
        for name in parts:
            assert list(TABLES[name]) == list(trend_widths.SIZES[which])  # type: ignore[index]
            assert all(len(row) == len(SEEN) and math.isfinite(sum(row)) for row in TABLES[name].values())  # type: ignore[index]
