"""The trend test: exact for short series, honest about noise, blind to units."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import combinations, permutations
from statistics import NormalDist, median

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assistant.analysis import Ledger
from assistant.analysis.trend import MAX_POINTS, MIN_POINTS, mann_kendall, trend_of

from .support import run_of, series_run

values_ = st.lists(st.integers(-1000, 1000), min_size=5, max_size=25)


def score(values: list[float]) -> int:
    return sum((b > a) - (b < a) for a, b in combinations(values, 2))


def noise(n: int, rho: float, seed: int) -> list[float]:
    """AR(1) noise of unit variance."""
    dice = random.Random(seed)
    values = [dice.gauss(0, 1)]
    while len(values) < n:
        values.append(rho * values[-1] + dice.gauss(0, math.sqrt(1 - rho * rho)))
    return values


def false_positives(n: int, rho: float, repeats: int) -> float:
    hits = (trend_of(range(n), noise(n, rho, seed)).direction in {"rising", "falling"} for seed in range(repeats))
    return sum(hits) / repeats


# --- Mann–Kendall ----------------------------------------------------------------------------------------


def test_mann_kendall_five_rising_values_gives_the_textbook_value() -> None:
    # S = 10, var S = 5·4·15/18, continuity correction 1
    z = 9 / math.sqrt(300 / 18)
    assert mann_kendall([1, 2, 3, 4, 5]) == pytest.approx(2 * (1 - NormalDist().cdf(z)), rel=1e-9)


def test_mann_kendall_ties_shrink_the_variance() -> None:
    # two groups of three equal values: var S = (6·5·17 − 2·3·2·11)/18, S = 9
    z = 8 / math.sqrt((510 - 132) / 18)
    assert mann_kendall([1, 1, 1, 2, 2, 2]) == pytest.approx(2 * (1 - NormalDist().cdf(z)), rel=1e-9)


@pytest.mark.parametrize("values", [[3.0] * 8, [1, 2, 2, 1], [1]])
def test_mann_kendall_no_order_gives_one(values: list[float]) -> None:
    assert mann_kendall(values) == 1.0


@pytest.fixture(scope="module")
def exact() -> dict[int, float]:
    """|S| → exact two-sided p under all orders of seven different values."""
    scores = [abs(score(list(order))) for order in permutations(range(7))]
    return {s: sum(other >= s for other in scores) / len(scores) for s in set(scores)}


def test_mann_kendall_seven_values_agrees_with_all_orders(exact: dict[int, float]) -> None:
    seen: set[int] = set()
    for order in permutations(range(7)):
        s = abs(score(list(order)))
        if s in seen:
            continue
        seen.add(s)
        assert mann_kendall(order) == pytest.approx(exact[s], abs=0.02)
    assert seen == set(exact)


def test_mann_kendall_seven_values_rejects_where_the_exact_test_does(exact: dict[int, float]) -> None:
    for order in (list(range(7)), [0, 1, 2, 3, 4, 6, 5], [1, 0, 2, 3, 5, 4, 6], [3, 2, 1, 0, 4, 5, 6]):
        assert (mann_kendall(order) < 0.05) == (exact[abs(score([float(v) for v in order]))] < 0.05)


@given(values_)
def test_mann_kendall_any_monotone_transform_changes_nothing(values: list[int]) -> None:
    assert mann_kendall([math.atan(v / 300) for v in values]) == mann_kendall(values)
    assert mann_kendall([v**3 + v for v in values]) == mann_kendall(values)


@given(values_)
def test_mann_kendall_reversed_or_negated_gives_the_same_p(values: list[int]) -> None:
    assert mann_kendall(values[::-1]) == mann_kendall(values) == mann_kendall([-v for v in values])


@given(values_, st.floats(1.0, 30.0))
def test_mann_kendall_more_inflation_never_lowers_p(values: list[int], inflation: float) -> None:
    assert mann_kendall(values) <= mann_kendall(values, inflation=inflation) <= 1.0


# --- slope -----------------------------------------------------------------------------------------------


@given(values_)
def test_trend_of_slope_is_the_median_of_all_pairs(values: list[int]) -> None:
    assume(len(set(values)) > 1)
    slopes = [(b - a) / (j - i) for (i, a), (j, b) in combinations(enumerate(values), 2)]
    assert trend_of(range(len(values)), values).slope == median(slopes)


def test_trend_of_one_wild_value_hardly_moves_the_slope() -> None:
    values = [0.5 * step for step in range(20)]
    values[7] = 1e6
    assert trend_of(range(20), values).slope == pytest.approx(0.5)


def test_trend_of_uneven_steps_gives_slope_per_step() -> None:
    steps = [0, 5, 10, 30, 100, 101]
    result = trend_of(steps, [2.0 + 0.25 * step for step in steps])
    assert result.direction == "rising"
    assert result.slope == pytest.approx(0.25)


@given(values_, st.integers(1, 100), st.integers(-1000, 1000))
def test_trend_of_other_units_same_direction(values: list[int], scale: int, shift: int) -> None:
    assume(max(values) - min(values) > 1e-3 * max(abs(v * scale + shift) for v in values))
    before = trend_of(range(len(values)), values)
    after = trend_of(range(len(values)), [v * scale + shift for v in values])
    assume(before.p_value is not None and abs(before.p_value - 0.05) > 1e-6)
    assert after.direction == before.direction
    assert after.slope == pytest.approx((before.slope or 0) * scale, abs=1e-9)


@given(values_)
def test_trend_of_negated_values_turns_round(values: list[int]) -> None:
    turned = {"rising": "falling", "falling": "rising"}
    before = trend_of(range(len(values)), values).direction
    assert trend_of(range(len(values)), [-v for v in values]).direction == turned.get(before, before)


# --- directions ------------------------------------------------------------------------------------------


def shapes() -> Iterator[tuple[str, list[float]]]:
    for n in (5, 6, 8, 10, 20, 60):
        yield f"square-{n}", [float(i * i) for i in range(n)]
        yield f"exp-{n}", [math.exp(i) for i in range(n)]
        yield f"log-{n}", [math.log(i + 1) for i in range(n)]
        yield f"saturating-{n}", [1 - math.exp(-i / 3) for i in range(n)]


@pytest.mark.parametrize("values", [pytest.param(v, id=name) for name, v in shapes()])
def test_trend_of_always_rising_series_is_rising(values: list[float]) -> None:
    assert trend_of(range(len(values)), values).direction == "rising"


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_trend_of_fewer_than_five_points_is_inconclusive(n: int) -> None:
    result = trend_of(range(n), [float(i) for i in range(n)])
    assert (result.direction, result.p_value, result.n) == ("inconclusive", None, n)
    assert MIN_POINTS == 5


@pytest.mark.parametrize("value", [0.0, 1e-06, -3.5, 204.84540128707886])
def test_trend_of_equal_values_is_flat(value: float) -> None:
    result = trend_of(range(6), [value] * 6)
    assert (result.direction, result.slope, result.p_value) == ("flat", 0.0, None)


def test_trend_of_scatter_is_fluctuating() -> None:
    assert trend_of(range(8), [1, 5, 2, 6, 1, 5, 2, 6]).direction == "fluctuating"


@pytest.mark.parametrize("n", [MAX_POINTS + 1, 3000])
def test_trend_of_very_long_series_keeps_slope_and_counts_all_points(n: int) -> None:
    dice = random.Random(n)
    result = trend_of(range(n), [0.01 * i + dice.gauss(0, 0.5) for i in range(n)])
    assert result.n == n
    assert result.direction == "rising"
    assert result.slope == pytest.approx(0.01, rel=0.1)


# --- how often chance is called a trend ------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 20, 60])
def test_trend_of_white_noise_is_called_a_trend_as_often_as_promised(n: int) -> None:
    assert 0.02 <= false_positives(n, 0.0, 600) <= 0.08


def test_trend_of_five_points_of_noise_is_rarely_called_a_trend() -> None:
    # the only orders that reach p < 0.05 are the two perfect ones: 2/5! in the exact test
    assert false_positives(5, 0.0, 1000) <= 0.04


@pytest.mark.parametrize("rho", [0.3, 0.5])
def test_trend_of_correlated_noise_is_not_called_a_trend_more_than_one_time_in_ten(rho: float) -> None:
    assert false_positives(60, rho, 600) <= 0.10


def test_trend_of_strongly_correlated_noise_stays_below_thirteen_percent() -> None:
    assert false_positives(60, 0.7, 600) <= 0.13


def test_trend_of_rise_of_one_deviation_in_noise_is_found() -> None:
    found = 0
    for seed in range(100):
        values = [v + 3 * i / 59 for i, v in enumerate(noise(60, 0.3, seed))]
        found += trend_of(range(60), values).direction == "rising"
    assert found >= 90


# --- as a fact -------------------------------------------------------------------------------------------


def test_ledger_trend_leaves_out_values_that_are_not_finite() -> None:
    run = series_run("loss", [1.0, 2.0, math.nan, 3.0, 4.0, math.inf, 5.0])
    fact = Ledger([run]).trend("loss")
    assert fact is not None
    assert (fact.n, fact.direction, fact.first_step, fact.last_step) == (5, "rising", 1, 7)
    assert (fact.from_value, fact.to_value) == (1.0, 5.0)


def test_ledger_trend_over_some_steps_is_about_those() -> None:
    run = series_run("loss", [9.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    fact = Ledger([run]).trend("loss", range(3, 8))
    assert fact is not None
    assert (fact.n, fact.direction, fact.first_step) == (5, "rising", 3)


def test_ledger_trend_no_value_gives_nothing() -> None:
    ledger = Ledger([run_of({1: {"loss": 1.0}})])
    assert ledger.trend("entropy") is None
    assert ledger.trend("loss", [2, 3]) is None
