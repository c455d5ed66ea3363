"""Rules: each fires on what it names, stays silent on near misses, and is critical only on two signs."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import pytest

from assistant.analysis import Ledger
from assistant.analysis.checks import Check, check_all, check_step
from assistant.analysis.checks import check_run as run_checks
from assistant.model import Column, Number, Run
from tests.timing import assert_quick

from .support import run_of, training_step

NAN = math.nan
TRUNCATION_SHARE, KL_STEP, RATIO_LIMIT, LOG_PROB_GAP = 0.05, 0.05, 100.0, 10.0
Values = dict[str, Number]


def fired(values: Mapping[str, Number]) -> dict[str, Check]:
    found = check_step(Ledger([run_of({1: dict(values)})]), 1)
    assert len({check.rule for check in found}) == len(found)
    return {check.rule: check for check in found}


def log_probs(gap: float) -> Values:
    return {"mean_log_prob_current": -100.0, "mean_log_prob_ref": -100.0 - gap}


FIRES: list[tuple[str, str, Values]] = [
    ("not_finite", "warning", {"actor/grad_norm": NAN, "actor/entropy": 0.2}),
    ("not_finite", "critical", {"actor/grad_norm": NAN, "actor/pg_loss": NAN}),
    ("zero_gradient", "warning", {"actor/grad_norm": 0.0}),
    ("zero_gradient", "warning", {"grad_norm": 0.0}),
    ("zero_gradient", "warning", {"train/grad_norm": 0}),
    ("constant_reward", "warning", {"critic/score/min": 0.0, "critic/score/max": 0.0}),
    ("zero_advantage", "warning", {"critic/advantages/min": 0.0, "critic/advantages/max": 0.0}),
    ("truncation", "warning", {"response_length/clip_ratio": 0.051}),
    ("aborted", "warning", {"response/aborted_ratio": 0.001}),
    ("large_step", "warning", {"actor/ppo_kl": 0.051}),
    ("large_step", "warning", {"actor/ppo_kl": -0.2}),
    ("odd_ratio", "warning", {"mean_ratio": 101.0}),
    ("odd_ratio", "warning", {"mean_ratio": 0.0099, **log_probs(2.0)}),
    ("log_prob_gap", "warning", log_probs(10.5)),
    ("log_prob_gap", "warning", {"mean_ratio": 1.0, **log_probs(-11.0)}),
    ("exploding_ratio", "critical", {"mean_ratio": 485165216.0, **log_probs(197562.5)}),
    ("imbalance", "warning", {"global_seqlen/mean": 1000.0, "global_seqlen/balanced_max": 1051.0}),
    ("unaccounted", "info", {"timing_s/step": 100.0, "timing_s/gen": 94.0}),
]
SILENT: list[Values] = [
    {"actor/grad_norm": 1e-12},
    {"perf/throughput": NAN, "timing_s/step": math.inf, "val-core/x/acc/mean@4": NAN, "training/epoch": NAN},
    {"critic/score/min": 0.0, "critic/score/max": 1e-6},
    {"critic/score/min": 1.0},
    {"critic/advantages/min": 0.0, "critic/advantages/max": 0.5},
    {"critic/advantages/min": 1.0, "critic/advantages/max": 1.0},
    {"response_length/clip_ratio": TRUNCATION_SHARE},
    {"response_length_non_aborted/clip_ratio": 0.9},
    {"response/aborted_ratio": 0.0},
    {"actor/ppo_kl": KL_STEP},
    {"actor/ppo_kl": -KL_STEP},
    {"actor/kl_loss": 5.0},
    {"mean_ratio": RATIO_LIMIT},
    {"mean_ratio": 1 / RATIO_LIMIT},
    log_probs(LOG_PROB_GAP),
    {"mean_log_prob_current": -833610.0},
    {"global_seqlen/mean": 1000.0, "global_seqlen/balanced_max": 1049.0, "global_seqlen/minmax_diff": 900},
    {"timing_s/step": 100.0, "timing_s/gen": 96.0},
    {"timing_s/step": 100.0, "timing_s/agent_loop/tool_calls/max": 3.0},
    {"timing_s/step": 100.0, "timing_s/gen": 90.0, "timing_s/update_actor": 60.0},
]


@pytest.mark.parametrize(("rule", "severity", "values"), FIRES)
def test_check_step_broken_rule_fires(rule: str, severity: str, values: Values) -> None:
    found = fired(values)
    assert set(found) == {rule}
    assert found[rule].severity == severity
    assert found[rule].steps == (1,)
    assert found[rule].facts


@pytest.mark.parametrize("values", SILENT)
def test_check_step_near_miss_is_silent(values: Values) -> None:
    assert fired(values) == {}


def test_check_step_healthy_step_is_silent() -> None:
    for step in range(1, 21):
        assert fired(training_step(step)) == {}


@pytest.mark.parametrize(("rule", "severity", "values"), FIRES)
def test_check_step_critical_has_two_signs(rule: str, severity: str, values: Values) -> None:
    """Taking either sign away leaves no critical finding."""
    if severity != "critical":
        assert fired(values)[rule].severity != "critical"
        return
    for metric in values:
        fewer = {m: v for m, v in values.items() if m != metric}
        assert all(check.severity != "critical" for check in fired(fewer).values())


def test_check_step_infinite_value_is_not_finite() -> None:
    found = fired({"actor/grad_norm": math.inf, "actor/pg_loss": -math.inf})
    assert [(check.rule, check.severity) for check in found.values()] == [("not_finite", "critical")]


def test_check_step_facts_carry_the_values_that_broke_the_rule() -> None:
    found = fired({"response_length/clip_ratio": 0.2})
    facts = dict(found["truncation"].facts)
    assert facts["value"].value == 0.2
    assert (facts["limit"].value, facts["limit"].unit) == (TRUNCATION_SHARE, "fraction")
    assert found["truncation"].metrics == ("response_length/clip_ratio",)


def test_check_step_several_rules_are_gravest_first() -> None:
    values: Values = {
        "timing_s/step": 100.0, "timing_s/gen": 50.0, "actor/ppo_kl": 0.5,
        "mean_ratio": 1e9, **log_probs(50.0),
    }  # fmt: skip
    found = check_step(Ledger([run_of({1: values})]), 1)
    assert [check.severity for check in found] == ["critical", "warning", "info"]


# --- over a run ------------------------------------------------------------------------------------------


def falling(n: int, **last: float) -> list[Values]:
    """Mean length falls to a twentieth, evenly in logarithms; other values go to what is given."""
    ends = {"entropy": 0.3, "longest": 4000.0, "score": 0.5, **last}
    rows: list[Values] = []
    for i in range(n):
        part = i / (n - 1)
        rows.append(
            {
                "response_length/mean": 1000.0 * 0.05**part,
                "response_length/max": 4000.0 * (ends["longest"] / 4000.0) ** part,
                "actor/entropy": 0.3 * (ends["entropy"] / 0.3) ** part,
                "critic/score/mean": 0.5 + part * (ends["score"] - 0.5),
            }
        )
    return rows


def collapse(rows: list[Values]) -> Check | None:
    run = run_of(dict(enumerate(rows, 1)))
    found = {check.rule: check for check in run_checks(Ledger([run]), list(run.steps))}
    return found.get("length_collapse")


def test_check_run_short_answers_alone_is_a_warning() -> None:
    check = collapse(falling(20))
    assert check is not None
    assert (check.rule, check.severity, check.steps[-1]) == ("length_collapse", "warning", 20)
    assert check.steps[0] <= 3
    facts = dict(check.facts)
    assert facts["length_before"].value == pytest.approx(1000 * 0.05 ** (1 / 19), rel=0.2)
    assert facts["last"].value == pytest.approx(50)


@pytest.mark.parametrize("sign", [{"entropy": 0.02}, {"longest": 200.0}, {"score": 0.1}, {"score": 0.9}])
def test_check_run_short_answers_and_a_second_sign_is_critical(sign: dict[str, float]) -> None:
    """A score that rises while answers shrink to nothing is as telling as one that falls."""
    check = collapse(falling(20, **sign))
    assert check is not None
    assert check.severity == "critical"
    assert len(check.metrics) == 2


@pytest.mark.parametrize("sign", [{"entropy": 0.28}, {"longest": 3000.0}])
def test_check_run_second_sign_nearly_there_stays_a_warning(sign: dict[str, float]) -> None:
    check = collapse(falling(20, **sign))
    assert check is not None
    assert check.severity == "warning"


def test_check_run_other_signs_without_short_answers_is_silent() -> None:
    rows = falling(20, entropy=0.001, score=0.0)
    for i, row in enumerate(rows):
        row["response_length/mean"] = 1000.0 - 30.0 * i
    assert collapse(rows) is None


def test_check_run_fewer_than_eight_steps_is_silent() -> None:
    assert collapse(falling(7, entropy=0.001)) is None
    assert collapse(falling(10, entropy=0.001)) is not None


@pytest.mark.parametrize(("last", "fires"), [(0.1, True), (0.5, False), (0.9, False)])
def test_check_run_score_falling_over_the_run_is_reported(last: float, fires: bool) -> None:
    rows: dict[int, Values] = {}
    for step in range(1, 13):
        rows[step] = {**training_step(step), "critic/score/mean": 0.5 + (last - 0.5) * step / 12}
    found = run_checks(Ledger([run_of(rows)]), list(rows))
    assert [(check.rule, check.severity) for check in found] == ([("score_falling", "warning")] if fires else [])


# --- everything ------------------------------------------------------------------------------------------


def with_kl(steps: int, large: set[int]) -> list[Check]:
    run = run_of({s: {"actor/ppo_kl": 0.2 if s in large else 0.0, "actor/entropy": 0.3} for s in range(1, steps + 1)})
    return check_all(Ledger([run]), list(run.steps))


def test_check_all_rule_that_fires_often_is_reported_once_at_the_latest() -> None:
    (check,) = with_kl(10, {2, 5, 9})
    assert (check.rule, check.steps) == ("large_step", (2, 5, 9))
    assert dict(check.facts)["value"].step == 9


@pytest.mark.parametrize(("large", "kept"), [({3}, False), ({10}, True), ({2, 3}, True)])
def test_check_all_one_early_slip_is_forgiven(large: set[int], kept: bool) -> None:
    assert bool(with_kl(10, large)) is kept


def test_check_all_critical_step_is_kept_however_long_ago() -> None:
    rows: dict[int, Values] = {s: {"mean_ratio": 1.0, **log_probs(0.5)} for s in range(1, 31)}
    rows[4] = {"mean_ratio": 1e9, **log_probs(50.0)}
    found = check_all(Ledger([run_of(rows)]), list(rows))
    assert [(c.rule, c.severity, c.steps) for c in found] == [("exploding_ratio", "critical", (4,))]


def test_check_all_value_not_finite_is_kept_however_long_ago() -> None:
    rows: dict[int, Values] = {s: {"loss": 1.0, "entropy": 0.5} for s in range(1, 31)}
    rows[2]["loss"] = NAN
    assert [(c.rule, c.steps) for c in check_all(Ledger([run_of(rows)]), list(rows))] == [("not_finite", (2,))]


def test_check_all_healthy_run_is_silent() -> None:
    run = run_of({step: training_step(step) for step in range(1, 21)})
    assert check_all(Ledger([run]), list(run.steps)) == []


def test_check_all_is_kept_with_the_ledger() -> None:
    run = run_of(dict(enumerate(falling(20), 1)))
    ledger = Ledger([run])
    first = check_all(ledger, list(run.steps))
    count = len(ledger.facts)
    assert check_all(ledger, list(run.steps)) == first
    assert len(ledger.facts) == count
    assert check_all(ledger, [1, 2]) != first


def test_check_all_mode_of_the_run_is_not_said_again_of_its_steps() -> None:
    rows: dict[int, Values] = {s: {**training_step(s), "response_length/clip_ratio": 0.004} for s in range(1, 41)}
    for step in range(15, 41):
        rows[step]["response_length/clip_ratio"] = 0.3
    found = {check.rule for check in check_all(Ledger([run_of(rows)]), list(rows))}
    assert "truncation_rising" in found
    assert "truncation" not in found


def test_check_all_long_log_takes_less_than_a_second() -> None:
    """Ten thousand steps of a hundred metrics; the best of two, so that a busy machine does not decide."""
    dice = random.Random(4)
    base = {key: float(value) for key, value in training_step(3).items()}
    keys = [*base, *(f"extra/{i}" for i in range(100 - len(base)))]
    rows = range(10_000)
    columns = {
        key: Column(rows, [base.get(key, 1.0) * (1 + 0.05 * dice.gauss(0, 1)) for _ in rows], rows) for key in keys
    }
    assert len(columns) == 100

    def checked() -> None:
        run = Run("r0", "made", "verl", "verl", "step", tuple(range(1, 10_001)), tuple(rows), dict(columns))
        check_all(Ledger([run]), list(run.steps))

    assert_quick(checked, 1.0, tries=2)


# --- values that are not finite, spikes ------------------------------------------------------------------


def not_finite_checks(columns: dict[str, list[float]]) -> list[tuple[str, str, object]]:
    count = len(next(iter(columns.values())))
    run = run_of({i + 1: {key: values[i] for key, values in columns.items()} for i in range(count)})
    checks = check_all(Ledger([run]), list(run.steps), run)
    return [
        (check.metrics[0], check.severity, dict(check.facts)["count"].value)
        for check in checks
        if check.rule == "not_finite"
    ]


def test_check_all_counts_the_steps_of_each_metric_that_is_not_finite() -> None:
    columns = {
        "actor/grad_norm": [1.0 + 0.01 * (i % 3) if i != 30 else math.inf for i in range(60)],
        "critic/rewards/mean": [0.2 + 0.01 * (i % 5) if i != 31 else -math.inf for i in range(60)],
    }
    assert not_finite_checks(columns) == [("actor/grad_norm", "warning", 1), ("critic/rewards/mean", "warning", 1)]


@pytest.mark.parametrize("metric", ["reward", "critic/score/mean", "train/reward"])
def test_check_all_a_reward_that_is_nan_to_the_end_is_a_warning(metric: str) -> None:
    columns = {metric: [0.5 + 0.01 * (i % 4) if i < 40 else math.nan for i in range(60)], "x": [1.0] * 60}
    assert not_finite_checks(columns) == [(metric, "warning", 20)]


def test_check_all_a_single_gradient_spike_is_told_as_information() -> None:
    values = [50.0 if i == 25 else 1 + 0.05 * math.sin(7 * i) for i in range(50)]
    run = run_of({i + 1: {"actor/grad_norm": value} for i, value in enumerate(values)})
    found = [c for c in check_all(Ledger([run]), list(run.steps), run) if c.rule == "lone_spike"]
    assert [(c.severity, c.metrics, c.steps) for c in found] == [("info", ("actor/grad_norm",), (26,))]
