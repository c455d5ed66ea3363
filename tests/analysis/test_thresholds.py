import math

import pytest

from assistant.analysis import Ledger
from assistant.analysis.conditions import parse_condition
from assistant.analysis.thresholds import Band, Threshold, band_threshold, check_thresholds, given
from assistant.model import Column, Run


def run_of(columns, framework=None):
    steps = sorted({step for values in columns.values() for step in values})
    rows = {step: row for row, step in enumerate(steps)}
    table = {
        key: Column([rows[s] for s in values], list(values.values()), [rows[s] + 1 for s in values])
        for key, values in columns.items()
    }
    return Run("r0", "made", "verl", framework, "step", tuple(steps), tuple(range(1, len(steps) + 1)), table)


def breaches(run, *thresholds):
    return check_thresholds(Ledger([run]), thresholds)[0]


def test_threshold_that_holds_gives_no_breach():
    assert breaches(run_of({"kl": {1: 0.01, 2: 0.02}}), given("kl < 0.05")) == []


def test_breach_names_first_worst_and_counts():
    run = run_of({"kl": {1: 0.01, 2: 0.06, 3: 0.2, 4: 0.01}})
    (breach,) = breaches(run, given("kl < 0.05 => critical"))
    assert breach.severity == "critical"
    assert breach.steps == (2, 3)
    assert (breach.first.step, breach.first.value, breach.first.line) == (2, 0.06, 2)
    assert (breach.worst.step, breach.worst.value) == (3, 0.2)
    assert (breach.count.value, breach.total.value) == (2, 4)
    assert breach.limit is not None
    assert breach.limit.value == 0.05


def test_range_with_breaches_on_both_sides_takes_the_farther_one():
    run = run_of({"ratio": {1: 1.0, 2: 0.4, 3: 9.0}})
    (breach,) = breaches(run, given("0.5 <= ratio <= 2"))
    assert breach.steps == (2, 3)
    assert breach.first.value == 0.4


def test_window_limits_what_is_judged():
    run = run_of({"kl": {1: 9.0, 2: 0.01, 3: 0.01}})
    assert breaches(run, given("kl < 0.05 @ last 2")) == []
    assert len(breaches(run, given("kl < 0.05 @ :2"))) == 1


def test_nan_breaks_a_users_threshold_and_no_sourced_one():
    run = run_of({"kl": {1: 0.01, 2: math.nan}})
    assert len(breaches(run, given("kl < 0.05"))) == 1
    assert breaches(run, Threshold("sourced", parse_condition("kl < 0.05"))) == []


def test_threshold_no_step_can_decide_is_told_as_unchecked():
    run = run_of({"kl": {1: 0.01}})
    found, unchecked = check_thresholds(Ledger([run]), [given("entropy > 0.1")])
    assert found == []
    assert [u.absent for u in unchecked] == [("entropy",)]


def test_share_lets_a_single_old_breach_pass_and_the_last_step_not():
    rule = Threshold("clip", parse_condition("clip <= 0.05"), share=0.5)
    assert breaches(run_of({"clip": {1: 0.09, 2: 0.01, 3: 0.01, 4: 0.01}}), rule) == []
    assert len(breaches(run_of({"clip": {1: 0.01, 2: 0.01, 3: 0.01, 4: 0.09}}), rule)) == 1


def test_frameworks_of_a_threshold_are_respected():
    rule = Threshold("kl", parse_condition("kl < 0.05"), frameworks=("TRL",))
    assert breaches(run_of({"kl": {1: 1.0}}, "verl"), rule) == []
    assert len(breaches(run_of({"kl": {1: 1.0}}, "TRL"), rule)) == 1


BANDS = (
    Band(5, "info"),
    Band(10, "warning"),
    Band(20, "critical", confirm=parse_condition("ratio > 100")),
)


@pytest.mark.parametrize(
    ("gap", "ratio", "severity", "above"),
    [(4, 1, None, None), (7, 1, "info", 5), (-12, 1, "warning", 10), (25, 1, "warning", 20), (25, 1e6, "critical", 20),
     (math.nan, 1e6, "critical", 20)],
)  # fmt: skip
def test_bands_of_a_difference_reach_critical_only_with_a_second_sign(gap, ratio, severity, above):
    run = run_of({"now": {1: 100.0 + gap}, "ref": {1: 100.0}, "ratio": {1: float(ratio)}})
    rule = band_threshold("gap", "|now - ref|", BANDS, frameworks=(), source="", card=None)
    found = breaches(run, rule)
    assert [b.severity for b in found] == ([severity] if severity else [])
    if found:
        assert found[0].band is not None
        assert found[0].band.above == above
        if math.isfinite(gap):
            assert found[0].first.value == pytest.approx(abs(gap))


def test_every_fact_of_a_breach_of_a_difference_rests_on_cells():
    run = run_of({"now": {1: 30.0}, "ref": {1: 1.0}})
    ledger = Ledger([run])
    ((breach,), _) = check_thresholds(ledger, [given("|now - ref| < 10")])
    inputs = [ledger.get(i) for i in breach.first.inputs or ()]
    assert [(f.metric, f.value) for f in inputs if f] == [("now", 30.0), ("ref", 1.0)]


def test_many_steps_are_judged_in_time_that_grows_with_them():
    steps = range(1, 10_001)
    run = run_of({"kl": dict.fromkeys(steps, 0.01)})
    assert breaches(run, given("mean(kl, 50) < 0.05 and kl < 2 * baseline(kl)")) == []


@pytest.mark.parametrize("text", ["kl != 5", "0 <= kl <= 9", "kl >= 1", "kl == 5"])
def test_bounds_told_from_the_extremes_agree_with_every_step(text):
    run = run_of({"kl": {1: 1.0, 2: 5.0, 3: 9.0}})
    failing = [step for step, value in ((1, 1.0), (2, 5.0), (3, 9.0)) if not eval(text, {"kl": value})]
    found = breaches(run, given(text))
    assert (list(found[0].steps) if found else []) == failing
