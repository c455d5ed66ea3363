"""Every identity holds for a log made as its framework makes it, and is missed where one value is changed."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from assistant.analysis import Ledger
from assistant.analysis.identities import Violation, identities, verify
from assistant.analysis.identities.constants import constants
from assistant.analysis.identities.grid import grid_of
from assistant.analysis.identities.relations import outcomes
from assistant.model import Column, Missing, Number, Run
from assistant.parsing import parse_text
from evals.diagnosis.cases import make
from tests.timing import assert_quick

from .made_logs import Row, made_runs, verl_rows
from .mutations import caught, change_digit, covered, mutations
from .support import run_of

RUNS = made_runs()
#: Identity → kind of log, metric, step, and what the value is multiplied by.
BREAKS: dict[str, tuple[str, str, int, float]] = {
    "I-01": ("verl", "perf/throughput", 7, 1.1),
    "I-02": ("verl", "perf/time_per_step", 7, 1.1),
    "I-03": ("verl", "prompt_length/mean", 7, 1.011),
    "I-05": ("verl", "num_turns/mean", 7, 1.0011),
    "I-06": ("verl", "global_seqlen/mean", 7, 1.01),
    "I-07": ("verl", "global_seqlen/minmax_diff", 7, 1.5),
    "I-08": ("verl", "response_length/mean", 7, 1.01),
    "I-12": ("verl", "timing_s/update_actor", 7, 1.5),
    "I-13": ("verl", "timing_s/generate_sequences", 7, 2.0),
    "I-14": ("verl", "timing_s/agent_loop/generate_sequences/max", 7, 9.0),
    "I-16": ("verl", "timing_per_token_ms/adv", 7, 1.3),
    "I-20": ("verl", "critic/score/max", 7, 0.5),
    "I-21": ("verl", "critic/returns/mean", 7, 1.4),
    "I-22": ("critic", "critic/advantages/mean", 7, 1e8),
    "I-23": ("verl", "critic/advantages/max", 7, 1.2),
    "I-26": ("verl", "critic/score/mean", 7, 1.0111),
    "I-28": ("critic", "critic/vf_explained_var", 7, 3.0),
    "I-30": ("verl", "actor/loss", 7, 1.2),
    "I-31": ("verl", "rollout_corr/k3_kl", 7, -1.0),
    "I-32": ("verl", "rollout_corr/log_ppl_diff", 7, 1.5),
    "I-36": ("verl", "perf/max_memory_allocated_gb", 7, 0.5),
    "I-37": ("verl", "variance_proxy/proxy1", 7, 1.2),
    "I-38": ("verl", "val-core/bench/acc/mean@8", 8, 1.0037),
    "I-39": ("verl", "val-aux/bench/acc/best@2/mean", 8, 1.2),
    "I-40": ("verl", "val-aux/bench/acc/worst@4/mean", 8, 4.0),
    "I-42": ("TRL", "reward", 7, 1.1),
    "I-43": ("TRL", "clip_ratio/low_mean", 7, 1.5),
    "I-44": ("TRL", "completions/clipped_ratio", 7, 1.037),
    "I-45": ("TRL", "completions/max_terminated_length", 7, 3.0),
    "I-46": ("TRL", "num_tokens", 7, 3.0),
    "I-47": ("TRL", "loss", 7, 1.3),
    "I-50": ("PPO", "objective/rlhf_reward", 7, 1.3),
    "I-51": ("DPO", "rewards/margins", 7, 1.3),
    "I-52": ("ROLL", "time/actor_train/train_step/execute", 7, 1.5),
    "I-53": ("ROLL", "actor/ppo_ratio_low_clipfrac@sum", 7, 1.5),
    "I-54": ("ROLL", "group/mixed_groups_ratio", 7, 1.5),
    "I-55": ("ROLL", "system/samples", 7, 1.5),
    "I-56": ("ROLL", "actor/total_loss@sum", 7, 1.5),
    "I-58": ("ROLL", "token/total_length/mean", 7, 1.5),
    "I-59": ("ROLL", "system/tps_gpu", 7, 1.2),
    "I-60": ("ROLL", "memory/actor_train/train_step/end/onload/max_allocated/0", 7, 0.5),
    "I-61": ("ROLL", "critic/rewards/mean", 7, 1e7),
    "I-62": ("OpenRLHF", "timing/ppo_train", 7, 1.2),
    "I-63": ("OpenRLHF", "kl", 7, 1.5),
    "I-64": ("OpenRLHF", "eval_math_pass4", 7, 0.4),
    "I-65": ("slime", "train/loss", 7, 1.5),
    "I-66": ("slime", "perf/train_time", 7, 1.1),
    "I-69": ("NeMo-RL", "train/baseline_reward/pct_mixed", 7, 0.9),
    "I-70": ("NeMo-RL", "train/token_mult_prob_error", 7, 0.9),
    "I-71": ("AReaL", "ppo_actor/incorrect_n_seqs", 7, 2.0),
    "I-72": ("AReaL", "ppo_actor/update/importance_weight/avg", 7, 1.01),
    "I-73": ("custom", "loss", 7, 1.3),
    "I-74": ("verl", "actor/lr", 7, 9.0),
    "I-76": ("verl", "tool_call_counts/mean", 7, 1.5),
    "I-77": ("verl", "num_turns/min", 7, 50.0),
    "I-79": ("verl", "val-aux/bench/score/mean@8", 8, 1.5),
    "I-78": ("verl", "training/global_step", 7, 3.0),
}


def broken(run: Run, metric: str, step: int, factor: float) -> Run:
    column = run.columns[metric]
    place = next(at for at, row in enumerate(column.rows) if run.steps[row] == step)
    values: list[Number] = list(column.values)
    values[place] = values[place] * factor
    columns = {**run.columns, metric: Column(column.rows, values, column.lines)}
    return replace(run, columns=columns)


def found(run: Run) -> list[Violation]:
    return verify(Ledger([run]))


@pytest.mark.parametrize("kind", sorted(RUNS))
def test_verify_log_as_its_framework_makes_it_breaks_nothing(kind: str) -> None:
    assert found(RUNS[kind]) == []


def test_verify_every_identity_with_a_check_is_broken_here() -> None:
    checked = {identity.id for identity in identities().values() if identity.verifies}
    assert checked - {"I-33"} == set(BREAKS)  # I-33 has a test of its own


@pytest.mark.parametrize("name", sorted(BREAKS))
def test_verify_one_value_changed_breaks_its_identity_at_that_step(name: str) -> None:
    kind, metric, step, factor = BREAKS[name]
    run = RUNS[kind]
    assert run.value(metric, step), "nothing to change"
    own = [v for v in found(broken(run, metric, step, factor)) if v.identity == name]
    assert own, f"{name} does not see {metric}"
    after = (step, step + 1) if name == "I-55" else (step,)  # a cumulative count is off against both neighbours
    assert any(v.steps in {(step,), after} and metric in v.metrics for v in own)


@pytest.mark.parametrize("name", sorted(BREAKS))
def test_verify_identity_applies_to_the_log_made_for_it(name: str) -> None:
    run = RUNS[BREAKS[name][0]]
    made = list(outcomes(grid_of(run), identities()[name], constants(run)))
    assert any(outcome.applies and outcome.tested.sum() >= 5 for outcome in made)


def test_verify_kl_loss_that_is_never_negative_but_once_is_i33() -> None:
    rows: dict[int, Row] = {step: {"actor/kl_loss": 0.001 * step} for step in range(1, 60)}
    assert found(run_of(rows)) == []
    rows[30]["actor/kl_loss"] = -0.03
    (violation,) = found(run_of(rows))
    assert (violation.identity, violation.steps) == ("I-33", (30,))


def test_verify_k1_kl_loss_that_changes_sign_is_no_violation() -> None:
    assert found(run_of({step: {"actor/kl_loss": 0.001 * (-1) ** step} for step in range(1, 60)})) == []


# --- what a violation says --------------------------------------------------------------------------------


def test_verify_violation_holds_its_numbers_as_facts() -> None:
    run = broken(RUNS["verl"], "perf/throughput", 7, 1.1)
    ledger = Ledger([run])
    violation = next(v for v in verify(ledger, run) if v.identity == "I-01")
    facts = dict(violation.facts)
    assert (facts["broken"].value, facts["tested"].value) == (1, 14)
    assert facts["residual"].step == 7
    assert facts["residual"].formula == violation.formula
    assert facts["residual"].inputs
    assert all(ledger.get(fact.id) is fact for fact in facts.values())
    cells = [fact for name, fact in facts.items() if name.startswith("cell_")]
    assert {fact.metric for fact in cells} == set(violation.metrics)
    assert violation.severity == "warning"


def test_verify_one_edited_value_is_named_and_its_partners_are_not() -> None:
    run = broken(RUNS["verl"], "response_length/mean", 7, 1.01)
    violations = found(run)
    assert {v.suspect for v in violations} == {"response_length/mean"}
    assert all("edited" in v.reasons for v in violations)


def test_verify_second_half_with_other_gpus_is_mixed_versions() -> None:
    rows = verl_rows(12) | {step + 12: row for step, row in verl_rows(5, seed=4).items()}
    for step in range(13, 18):
        rows[step]["training/global_step"] = step
        rows[step]["timing_s/step"] = float(rows[step]["timing_s/step"]) * 1.5
    violation = next(v for v in found(run_of(rows)) if v.identity == "I-02")
    assert violation.steps == (13, 14, 15, 16, 17)
    assert "mixed_versions" in violation.reasons


def test_verify_broken_where_the_line_is_cut_is_truncated() -> None:
    run = broken(RUNS["verl"], "perf/throughput", 7, 0.1)
    cut = Missing("perf/mfu/actor", 7, 7, "line_cut", limit=4096)
    violation = next(v for v in found(replace(run, missing=(cut,))) if v.identity == "I-01")
    assert violation.reasons[0] == "truncated"


def test_verify_row_alone_that_contradicts_itself_by_definition_is_broken() -> None:
    row: Row = {"global_seqlen/min": 100, "global_seqlen/max": 900, "global_seqlen/minmax_diff": 700}
    (violation,) = found(run_of({1: row}))
    assert (violation.identity, violation.metrics[0]) == ("I-07", "global_seqlen/minmax_diff")


def test_verify_identity_that_a_log_does_not_have_is_not_broken() -> None:
    rows = verl_rows()
    for row in rows.values():  # a fork whose mean lengths are of something else
        row["prompt_length/mean"] = float(row["prompt_length/mean"]) * 1.234567
    names = {v.identity for v in found(run_of(rows))}
    assert names & {"I-03", "I-05", "I-08"} == set()


@pytest.mark.parametrize("name", ["a{b", "a}b", "{", "{}", "a{b}c"])
def test_verify_metrics_whose_names_no_formula_can_hold_are_left_alone(name: str) -> None:
    group = [f"val-aux/{name}/acc/{end}" for end in ("mean@4", "best@4/mean", "best@2/mean", "worst@4/mean", "std@4")]
    group += [f"timing_s/{name}", f"timing_per_token_ms/{name}", f"{name}/mean", f"{name}/max", f"{name}/min"]
    run = run_of({step: {key: 0.5 + step + at for at, key in enumerate(group)} for step in range(1, 4)})
    assert verify(Ledger([run])) == []


def test_verify_other_framework_is_left_alone() -> None:
    rows: dict[int, Row] = {step: {"perf/time_per_step": 1.0, "timing_s/step": 2.0} for step in range(9)}
    assert found(run_of(rows, framework="TRL")) == []
    assert [v.identity for v in found(run_of(rows, framework="verl"))] == []
    rows[4] = {"perf/time_per_step": 3.0, "timing_s/step": 2.0}
    for step in set(rows) - {4}:
        rows[step]["timing_s/step"] = 1.0
    assert [v.identity for v in found(run_of(rows, framework="verl"))] == ["I-02"]


@pytest.mark.parametrize("places", [3, 4])
def test_verify_rounded_prints_are_no_violation(places: int) -> None:
    rows = {
        step: {metric: float(f"{value:.{places}f}") for metric, value in row.items()}
        for step, row in verl_rows().items()
    }
    assert found(run_of(rows)) == []


def test_verify_four_significant_digits_are_no_violation() -> None:
    for kind in ("verl", "TRL", "PPO", "DPO", "custom"):
        run = RUNS[kind]
        rows = {step: {m: float(f"{c.value:.4g}") for m, c in run.at(step).items()} for step in run.distinct_steps}
        assert found(run_of(rows, framework=run.framework)) == [], kind


def test_verify_restart_that_lowers_memory_is_no_violation() -> None:
    rows = verl_rows()
    for step in range(8, 15):
        for part in ("allocated", "reserved"):
            rows[step][f"perf/max_memory_{part}_gb"] = float(rows[step][f"perf/max_memory_{part}_gb"]) - 20
    assert found(run_of(rows)) == []


def test_verify_without_runs_or_rows_finds_nothing() -> None:
    assert verify(Ledger([])) == []
    assert found(run_of({})) == []


# --- edited digits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "digit"), [(2535.56, 1), (0.00021, 1), (1e-06, 1), (8192, 3), (0.25, 2), (-3.5, 2)])
def test_change_digit_changes_one_digit_alone(value: Number, digit: int) -> None:
    changed = change_digit(value, digit, random.Random(1))
    assert changed is not None
    assert changed != value
    assert type(changed) is type(value)
    places = [a != b for a, b in zip(f"{changed:.10f}", f"{value:.10f}", strict=True)]
    assert sum(places) == 1


CASES = [("steady_improvement", 4), ("agentic_multi_turn", 3), ("kl_in_reward", 5), ("plateau_high", 2)]


@pytest.mark.parametrize("framework", ["verl", "TRL", "ROLL"])
def test_verify_simulated_healthy_runs_break_nothing(framework: str) -> None:
    for label, seed in CASES:
        if framework == "TRL" and label == "kl_in_reward":
            continue
        for run in parse_text(make(label, seed, framework).text).runs:
            assert [(v.identity, v.formula) for v in found(run)] == []


@pytest.mark.parametrize(("framework", "least"), [("verl", 0.6), ("TRL", 0.7), ("ROLL", 0.85)])
def test_verify_edited_digit_in_a_covered_cell_is_mostly_caught(framework: str, least: float) -> None:
    dice = random.Random(17)
    seen = hit = 0
    for label, seed in CASES[:2]:
        run = parse_text(make(label, seed, framework).text).runs[0]
        reach = covered(run)
        for mutation in mutations(run, 40, dice):
            if mutation.step in reach.get(mutation.metric, ()):
                seen += 1
                hit += bool(caught(mutation))
    assert seen >= 15
    assert hit / seen >= least


def test_verify_ten_thousand_steps_take_a_fraction_of_a_second() -> None:
    rows = verl_rows(50)
    columns: dict[str, Column] = {}
    for metric in rows[2]:
        pairs = [(at, rows[at % 50 + 1].get(metric)) for at in range(10_000)]
        there = [(at, value) for at, value in pairs if value is not None]
        numbers = [at + 1 if metric == "training/global_step" else value for at, value in there]
        columns[metric] = Column(tuple(at for at, _ in there), numbers, tuple(at for at, _ in there))

    def verified() -> None:
        steps = tuple(range(1, 10_001))
        verify(Ledger([Run("r0", "long", "verl", "verl", "step", steps, steps, dict(columns))]))

    assert_quick(verified, 0.2, tries=3)
