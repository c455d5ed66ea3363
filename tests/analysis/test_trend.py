"""The trend test: exact for short series, honest about noise, blind to units."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, combinations, permutations
from statistics import NormalDist, median

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assistant.analysis import Ledger
from assistant.analysis.trend import MAX_POINTS, MIN_POINTS, Trend, mann_kendall, trend_of
from assistant.model import Column, Run
from tests.timing import assert_quick

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


@pytest.mark.parametrize(("n", "least"), [(10, 0.0), (20, 0.02), (60, 0.025), (400, 0.02)])
def test_trend_of_white_noise_is_called_a_trend_as_often_as_promised(n: int, least: float) -> None:
    # ten points cannot tell white noise from strongly correlated noise, so the test is careful there
    assert least <= false_positives(n, 0.0, 600) <= 0.07


def test_trend_of_five_points_of_noise_is_rarely_called_a_trend() -> None:
    # the only orders that reach p < 0.05 are the two perfect ones: 2/5! in the exact test
    assert false_positives(5, 0.0, 1000) <= 0.04


@pytest.mark.parametrize("rho", [0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("n", [10, 20, 60, 200])
def test_trend_of_correlated_noise_is_called_a_trend_no_more_often_than_promised(n: int, rho: float) -> None:
    # 5–7 % are promised, in short series of strong correlation 16 %; three standard errors of 250 draws come on top
    promised = 0.16 if rho == 0.9 and n <= 20 else 0.07
    assert false_positives(n, rho, 250) <= promised + 3 * math.sqrt(promised * (1 - promised) / 250)


def test_trend_of_random_walk_is_mostly_not_called_a_trend() -> None:
    hits = 0
    for seed in range(200):
        dice = random.Random(seed)
        walk = list(accumulate(dice.gauss(0, 1) for _ in range(60)))
        hits += trend_of(range(60), walk).direction in {"rising", "falling"}
    assert hits <= 40


def test_trend_of_random_walk_without_direction_says_that_it_wanders() -> None:
    forms = []
    for seed in range(60):
        dice = random.Random(seed)
        result = trend_of(range(200), list(accumulate(dice.gauss(0, 1) for _ in range(200))))
        forms += [result.form] if result.direction == "fluctuating" and not result.changes else []
    assert forms.count("walk") >= 0.8 * len(forms) > 20


def test_trend_of_white_noise_does_not_say_that_it_wanders() -> None:
    assert all(trend_of(range(100), noise(100, 0.0, seed)).form != "walk" for seed in range(50))


def test_trend_of_rise_of_one_deviation_in_noise_is_found() -> None:
    found = 0
    for seed in range(100):
        values = [v + 3 * i / 59 for i, v in enumerate(noise(60, 0.3, seed))]
        found += trend_of(range(60), values).direction == "rising"
    assert found >= 85


@pytest.mark.parametrize("n", [20, 60, 300])
def test_trend_of_real_rise_in_white_noise_is_found_nearly_as_often_as_by_the_plain_test(n: int) -> None:
    rise = 4.5 * math.sqrt(12 / n)
    series = [[v + rise * i / n for i, v in enumerate(noise(n, 0.0, seed))] for seed in range(150)]
    plain = sum(mann_kendall(values) < 0.05 for values in series)
    assert sum(trend_of(range(n), values).direction == "rising" for values in series) >= 0.8 * plain


# --- intervals, forms, scales ------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "rho"), [(30, 0.0), (60, 0.3), (60, 0.5), (100, 0.7)])
def test_trend_of_interval_covers_the_true_slope_as_often_as_promised(n: int, rho: float) -> None:
    held = 0
    for seed in range(400):
        result = trend_of(range(n), [v + 0.3 * i for i, v in enumerate(noise(n, rho, seed))])
        held += result.interval is None or result.interval[0] <= 0.3 <= result.interval[1]
    assert 0.92 <= held / 400 <= 0.98


@given(values_)
def test_trend_of_interval_holds_the_slope_and_agrees_with_p(values: list[int]) -> None:
    result = trend_of(range(len(values)), values)
    assume(result.p_value is not None and result.slope is not None and result.interval is not None)
    assert result.interval is not None
    assert result.p_value is not None
    low, high = result.interval
    assert low <= result.slope <= high  # type: ignore[operator]
    if result.p_value < 0.049:
        assert low >= 0 or high <= 0


#: Falls by every test, while its neighbours hang together so much that the slope could be of either sign.
HANGING = [0.7, 0.7, 0.85, 0.05, -0.01, -0.03, -0.39, -0.75, -1.33, -1.15, -0.56, -0.66]


def test_trend_of_few_points_that_hang_together_has_a_direction_without_an_interval() -> None:
    result = trend_of(range(12), HANGING)
    assert (result.direction, result.form, result.interval) == ("falling", "slope", None)


@given(values_, st.integers(-400, 400))
def test_trend_of_interval_beside_a_direction_holds_slopes_of_its_sign(values: list[int], climb: int) -> None:
    result = trend_of(range(len(values)), [value + climb * i for i, value in enumerate(values)])
    low, high = result.interval or (0, 0)
    assert result.direction != "rising" or low >= 0
    assert result.direction != "falling" or high <= 0


def test_trend_of_jump_is_told_as_a_jump_not_as_a_slope() -> None:
    values = [v + (4 if i >= 35 else 0) for i, v in enumerate(noise(60, 0.0, 3))]
    result = trend_of(range(100, 160), values)
    assert (result.direction, result.form) == ("rising", "shift")
    assert [(c.kind, abs(c.step - 135) <= 1) for c in result.changes] == [("level", True)]
    assert result.changes[0].after - result.changes[0].before == pytest.approx(4, abs=1)


def test_trend_of_line_is_told_as_a_slope() -> None:
    told = [trend_of(range(60), [v + 0.1 * i for i, v in enumerate(noise(60, 0.0, s))]).form for s in range(50)]
    assert told.count("slope") >= 45


def test_trend_of_rise_that_levels_off_is_told_as_a_ramp() -> None:
    values = [v + 8 * min(i, 30) / 30 for i, v in enumerate(noise(120, 0.0, 1))]
    result = trend_of(range(120), values)
    assert (result.direction, result.form, result.changes[0].kind) == ("rising", "ramp", "slope")
    assert abs(result.changes[0].step - 30) <= 8
    assert result.knots[0][0] == result.knots[1][0] == 0
    assert abs(result.knots[2][0] - 30) <= 8
    assert result.knots[2][1] == pytest.approx(8, abs=0.5)


def test_trend_of_up_and_down_again_goes_nowhere() -> None:
    values = [v + (5 if 80 <= i < 120 else 0) for i, v in enumerate(noise(200, 0.0, 5))]
    result = trend_of(range(200), values)
    assert (result.direction, result.form) == ("fluctuating", "turn")
    assert len(result.changes) >= 2
    assert [level for _, level in result.knots] == pytest.approx([0, 5, 5, 0], abs=1)


def test_trend_of_growth_by_factors_on_the_log_scale_gives_growth_per_step() -> None:
    values = [1e-4 * math.exp(0.05 * i + 0.2 * v) for i, v in enumerate(noise(60, 0.0, 2))]
    result = trend_of(range(60), values, scale="log")
    assert result.direction == "rising"
    assert result.growth == pytest.approx(math.expm1(0.05), rel=0.15)
    assert result.growth_interval is not None
    assert result.growth_interval[0] < math.expm1(0.05) < result.growth_interval[1]


def test_trend_of_log_scale_changes_have_levels_in_the_values_own_unit() -> None:
    values = [math.exp(0.1 * v) * (100 if i >= 30 else 1) for i, v in enumerate(noise(60, 0.0, 4))]
    change = trend_of(range(60), values, scale="log").changes[0]
    assert change.before == pytest.approx(1, rel=0.1)
    assert change.after == pytest.approx(100, rel=0.1)


def test_trend_of_log_scale_value_that_is_not_positive_raises() -> None:
    with pytest.raises(ValueError, match="no logarithm"):
        trend_of(range(6), [1.0, 2.0, 0.0, 1.0, 2.0, 3.0], scale="log")


def test_trend_of_huge_values_does_not_overflow() -> None:
    assert trend_of(range(8), [(-1) ** i * 1.7e308 for i in range(8)]).direction == "fluctuating"


# --- what a series did ---------------------------------------------------------------------------------------


def told(course: list[float], rho: float = 0.0, sizes: int = 60) -> list[Trend]:
    """Trends of a course in noise of unit variance, each with another seed."""
    n = len(course)
    return [trend_of(range(n), [a + b for a, b in zip(course, noise(n, rho, s), strict=True)]) for s in range(sizes)]


def most(trends: list[Trend]) -> tuple[str, str | None]:
    """The commonest direction and form, which must be that of two thirds."""
    [(found, count)] = Counter((trend.direction, trend.form) for trend in trends).most_common(1)
    assert count >= 2 / 3 * len(trends)
    return found


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_trend_of_level_ramp_level_in_noise_is_never_called_noise(rho: float) -> None:
    course = [min(max((i - 40) / 20, 0), 1) * 10 for i in range(100)]
    found = told(course, rho)
    assert sum(trend.direction == "rising" for trend in found) >= 54
    assert sum(trend.form in {"ramp", "shift"} for trend in found) >= 54


def test_trend_of_ramp_says_where_it_began_and_ended() -> None:
    course = [min(max((i - 40) / 20, 0), 1) * 30 for i in range(100)]
    found = told(course)
    assert most(found) == ("rising", "ramp")
    knots = [trend.knots for trend in found if trend.form == "ramp"]
    assert median(k[1][0] for k in knots) == pytest.approx(40, abs=3)
    assert median(k[2][0] for k in knots) == pytest.approx(60, abs=3)


@pytest.mark.parametrize("n", [43, 90])
def test_trend_of_saturating_curve_is_rising_whatever_the_correlation_about_a_line(n: int) -> None:
    found = told([30 * (1 - math.exp(-20 * i / n)) for i in range(n)])
    rising = [trend for trend in found if trend.direction == "rising"]
    assert len(rising) >= 57
    assert all(trend.form in {"ramp", "bend", "shift"} for trend in rising)
    assert all(trend.p_value is not None and trend.p_value < 0.05 for trend in rising)
    assert all(trend.form == "drift" for trend in found if trend.direction != "rising")


@pytest.mark.parametrize("n", [8, 16, 60])
def test_trend_of_collapse_after_the_first_point_is_a_fall(n: int) -> None:
    found = told([40.0] + [0.0] * (n - 1))
    assert most(found) == ("falling", "shift")
    assert all(trend.changes[0].step == 1 for trend in found if trend.form == "shift")


def test_trend_of_rise_and_fall_of_the_same_size_is_a_turn_without_direction() -> None:
    found = told([10 * (1 - abs(i - 40) / 40) for i in range(81)])
    assert most(found) == ("fluctuating", "turn")


def test_trend_of_rise_and_smaller_fall_is_a_turn_that_rises() -> None:
    found = told([10 * i / 40 if i < 40 else 10 - 4 * (i - 40) / 40 for i in range(81)])
    assert most(found) == ("rising", "turn")
    assert median(trend.knots[1][0] for trend in found if trend.form == "turn") == pytest.approx(40, abs=5)


def test_trend_of_level_then_rise_begins_where_the_rise_does() -> None:
    found = told([12 * max(i - 60, 0) / 40 for i in range(100)])
    assert most(found) == ("rising", "ramp")
    knots = [trend.knots for trend in found if trend.form == "ramp"]
    assert all(k[2][0] == k[3][0] == 99 for k in knots)
    assert median(k[1][0] for k in knots) == pytest.approx(60, abs=6)


def test_trend_of_true_jump_is_seldom_told_as_a_ramp() -> None:
    assert most(told([6.0 * (i >= 40) for i in range(80)], 0.3)) == ("rising", "shift")


@pytest.mark.parametrize("apart", [1, 2])
def test_trend_of_last_values_far_outside_is_a_spike_not_a_trend(apart: int) -> None:
    found = told([0.0] * (60 - apart) + [300.0, 900.0][:apart])
    assert most(found) == ("fluctuating", "spike")
    assert all(trend.tail == apart for trend in found if trend.form == "spike")


def test_trend_of_falling_series_with_a_last_spike_keeps_its_direction() -> None:
    found = told([-0.3 * i for i in range(58)] + [300.0, 900.0])
    assert all((trend.direction, trend.tail) == ("falling", 2) for trend in found)


@pytest.mark.parametrize(("rho", "most_"), [(0.0, 0.03), (0.5, 0.05), (0.7, 0.07)])
@pytest.mark.parametrize("n", [14, 30, 60, 200])
def test_trend_of_noise_is_seldom_told_to_have_changed_for_certain(n: int, rho: float, most_: float) -> None:
    found = told([0.0] * n, rho, 200)
    assert sum(trend.sure for trend in found) / 200 <= most_ + 2 * math.sqrt(most_ * (1 - most_) / 200)


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


def test_ledger_trend_asked_twice_or_step_by_step_is_one_fact() -> None:
    run = series_run("loss", [5.0, 4.0, 3.0, 2.5, 2.0, 1.0])
    ledger = Ledger([run])
    assert ledger.trend("loss") is ledger.trend("loss", range(1, 7)) is ledger.trend("loss", [6, 5, 4, 3, 2, 1, 99])
    assert len(ledger.facts) == 1


def test_ledger_trend_keeps_integers_of_the_log() -> None:
    fact = Ledger([series_run("tokens", [1, 2, 3, 4, 5, 6])]).trend("tokens")
    assert fact is not None
    assert (repr(fact.from_value), repr(fact.to_value)) == ("1", "6")


def test_ledger_trend_log_scale_states_growth_in_json() -> None:
    fact = Ledger([series_run("kl", [0.001 * 2**i for i in range(12)])]).trend("kl", scale="log")
    assert fact is not None
    said = fact.to_json()
    assert said["growth_per_step"] == pytest.approx(1.0)
    assert said["growth_low"] <= 1.0 + 1e-9
    assert said["low"] <= said["slope_per_step"] <= said["high"]


def test_ledger_trend_log_scale_of_values_not_positive_falls_back_to_the_linear_one() -> None:
    fact = Ledger([series_run("kl", [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0])]).trend("kl", scale="log")
    assert fact is not None
    assert (fact.direction, fact.growth_per_step) == ("rising", None)


def test_ledger_changes_are_facts_that_name_their_trend() -> None:
    run = series_run("reward", [v + (5 if i >= 40 else 0) for i, v in enumerate(noise(80, 0.0, 9))])
    ledger = Ledger([run])
    trend = ledger.trend("reward")
    assert trend is not None
    [(change, before, after)] = ledger.changes(trend)
    assert (before.value, after.value, before.step) == (change.before, change.after, 41)
    assert before.inputs == after.inputs == (trend.id,)


def test_ledger_trends_of_a_long_run_are_quick_and_asked_again_free() -> None:
    n, metrics = 10_000, 20
    dice = random.Random(0)
    values = [[dice.random() for _ in range(n)] for _ in range(metrics)]
    columns = {f"m{i}": Column(range(n), column, range(n)) for i, column in enumerate(values)}
    run = Run("r0", "long", "verl", None, "step", tuple(range(n)), tuple(range(n)), columns)
    ledger = Ledger([run])

    def asked() -> None:
        assert all(ledger.trend(metric) is not None for metric in columns)

    assert_quick(asked, 0.5)  # 3 ms a metric on the slowest machine at hand; ten times that here
    assert_quick(asked, 0.01, tries=3)
