"""The simulated runs: reproducible, arithmetically sound, with the causes' signatures and none in healthy runs."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from assistant.parsing import parse_text
from evals.diagnosis.cases import Case, able_frameworks, build, entries, make, runs
from evals.diagnosis.healthy import HEALTHY
from evals.diagnosis.modes import MODES, NOT_SHOWN, inject, measure, shown
from evals.diagnosis.simulate import Trace, simulate
from evals.diagnosis.verl_log import Style, write_verl
from evals.diagnosis.world import Number, Record
from evals.diagnosis.write import write

ROOT = Path(__file__).resolve().parents[2]
SEEDS = (1, 2, 3, 4, 5, 6)
FP32 = 2e-6
RESTARTED = {"FM-38", "FM-40", "restarts_back", "resume_new_optimiser"}


def trace_of(label: str, seed: int, strength: str = "strong", *, cause: bool = True) -> tuple[Trace, int | None]:
    scenario, onset = build(label, seed, strength, cause=cause)  # type: ignore[arg-type]
    return simulate(scenario, seed), onset


def steps_of(trace: Trace) -> list[Record]:
    return [record for step, record in zip(trace.steps, trace.records, strict=True) if step]


def close(left: Number, right: Number, relative: float = FP32) -> bool:
    return math.isclose(left, right, rel_tol=relative, abs_tol=1e-9)


def whole(value: float, tolerance: float = 2e-3) -> bool:
    return abs(value - round(value)) < tolerance


# --- reproducible -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("framework", ["verl", "TRL", "ROLL"])
def test_make_same_seed_gives_the_same_case_and_another_seed_another(framework: str) -> None:
    first, again, other = (make("FM-01", seed, framework, "mild") for seed in (5, 5, 6))
    assert first == again
    assert first.text != other.text
    assert (first.label, first.strength, first.healthy) == ("FM-01", "mild", False)


def test_runs_same_seed_gives_the_same_cases() -> None:
    def few() -> list[Case]:
        return list(runs(3, 4, labels=["FM-08", "few_steps", "ppo_critic"]))

    assert few() == few()
    assert [case.onset is None for case in few()] == [case.healthy for case in few()]


def test_simulate_same_scenario_twice_gives_the_same_records() -> None:
    scenario, _ = build("busy_cluster", 2)
    assert simulate(scenario, 2) == simulate(scenario, 2)


def test_inject_shares_all_luck_before_the_onset() -> None:
    (with_cause, onset), (without, _) = trace_of("FM-02", 4), trace_of("FM-02", 4, cause=False)
    assert onset is not None
    before = [index for index, step in enumerate(with_cause.steps) if step < onset]
    assert [with_cause.records[i] for i in before] == [without.records[i] for i in before]
    assert with_cause.records[-1] != without.records[-1]


def test_inject_unknown_mode_raises() -> None:
    with pytest.raises(KeyError):
        inject("FM-36", 5, "mild")


def test_modes_and_reasons_cover_all_forty() -> None:
    assert {*MODES, *NOT_SHOWN} == {f"FM-{number:02d}" for number in range(1, 41)}
    assert len(HEALTHY) >= 20


def test_suite_holds_every_cell_in_both_halves_and_300_healthy_runs() -> None:
    lines = entries()
    cells = Counter((line["label"], line["strength"], line["framework"], line["held"]) for line in lines)
    for label, mode in MODES.items():
        for framework in mode.frameworks:
            assert all(cells[label, k, framework, held] == 1 for k in ("mild", "strong") for held in (True, False))
    healthy = [line for line in lines if line["label"] in HEALTHY]
    assert len(healthy) == 300
    assert {line["label"] for line in healthy} == set(HEALTHY)
    assert sum(line["held"] for line in healthy) in range(145, 156)
    assert len({line["seed"] for line in lines}) == len(lines)
    assert all(line["framework"] in able_frameworks(line["label"]) for line in lines)


def test_command_line_show_prints_a_table() -> None:
    command = [sys.executable, "-W", "error", "-m", "evals.diagnosis.simulate", "--show", "FM-09"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    assert "FM-09" in done.stdout
    assert len(done.stdout.splitlines()) > 10


# --- identities -------------------------------------------------------------------------------------------

STAGES = ("gen", "reward", "old_log_prob", "ref", "values", "adv", "update_critic", "update_actor", "update_weights")
PLAIN = ("steady_improvement", "agentic_multi_turn", "kl_in_reward", "FM-07", "FM-39", "async_fresh")


@pytest.mark.parametrize("label", PLAIN)
def test_identities_of_batch_time_and_hardware_hold(label: str) -> None:
    trace, _ = trace_of(label, 3)
    setup = trace.setup
    peak = 0.0
    for row in steps_of(trace):
        tokens, size = row["perf/total_num_tokens"], setup.size
        assert close(tokens / (row["perf/throughput"] * row["perf/time_per_step"]), setup.gpus, 1e-9)
        assert close(tokens / (row["prompt_length/mean"] + row["response_length/mean"]), size)
        for key in ("response_length/clip_ratio", "response_length/mean", "prompt_length/mean", "num_turns/mean"):
            assert whole(row[key] * size, max(2e-3, row[key] * size * 1e-7))
        assert row["global_seqlen/minmax_diff"] == row["global_seqlen/max"] - row["global_seqlen/min"]
        assert row["global_seqlen/min"] <= row["global_seqlen/mean"] <= row["global_seqlen/max"]
        assert row["global_seqlen/balanced_min"] <= row["global_seqlen/mean"] <= row["global_seqlen/balanced_max"]
        assert close(tokens / row["global_seqlen/mean"], setup.parts, 1e-12)
        parts = sum(row.get(f"timing_s/{name}", 0.0) for name in STAGES)
        assert 0 <= row["timing_s/step"] - parts < 0.02 * row["timing_s/step"]
        slowest = row["timing_s/agent_loop/slowest/generate_sequences"] + row["timing_s/agent_loop/slowest/tool_calls"]
        assert slowest <= row["timing_s/gen"]
        spoken = row["response_length/mean"] * size
        assert close(row["timing_per_token_ms/gen"], row["timing_s/gen"] * 1000 / spoken)
        assert close(row["timing_per_token_ms/adv"], row["timing_s/adv"] * 1000 / tokens, 1e-12)
        assert row["perf/max_memory_allocated_gb"] >= peak
        peak = row["perf/max_memory_allocated_gb"]
        assert close(row["rollout_corr/k3_kl"] - row["rollout_corr/kl"], row["sim/is_mean"] - 1, 1e-3)
        difference = row["rollout_corr/training_log_ppl"] - row["rollout_corr/rollout_log_ppl"]
        assert row["rollout_corr/log_ppl_diff"] == difference
        assert abs(difference) <= row["rollout_corr/log_ppl_abs_diff"] + 1e-6


@pytest.mark.parametrize("label", ["steady_improvement", "no_kl", "kl_in_reward", "plateau_high", "FM-03"])
def test_identities_of_group_advantages_hold(label: str) -> None:
    trace, _ = trace_of(label, 2)
    n = trace.setup.group
    bound = (n - 1) / math.sqrt(n)
    for row in steps_of(trace):
        for kind in ("mean", "max", "min"):
            assert row[f"critic/advantages/{kind}"] == row[f"critic/returns/{kind}"]
            if trace.setup.kl != "reward":
                assert row[f"critic/score/{kind}"] == row[f"critic/rewards/{kind}"]
        assert -bound - 1e-5 <= row["critic/advantages/min"] <= row["critic/advantages/max"] <= bound + 1e-5
        if abs(row["critic/advantages/mean"]) > 1e-3:
            assert row["actor/pg_loss"] * row["critic/advantages/mean"] < 0
        if trace.setup.kl == "reward":
            assert row["critic/rewards/mean"] <= row["critic/score/mean"]


def test_identities_of_a_critic_hold() -> None:
    trace, _ = trace_of("ppo_critic", 2)
    for row in steps_of(trace):
        assert abs(row["critic/advantages/mean"]) < 1e-4
        assert row["critic/vf_explained_var"] <= 1
        assert row["critic/values/min"] <= row["critic/values/mean"] <= row["critic/values/max"]


def test_strictly_on_policy_run_clips_nothing() -> None:
    trace, _ = trace_of("strictly_on_policy", 1)
    assert {(row["actor/ppo_kl"], row["actor/pg_clipfrac"]) for row in steps_of(trace)} == {(0.0, 0.0)}


def test_validation_best_and_worst_of_two_sum_to_twice_the_mean() -> None:
    scenario, _ = build("tiny_validation", 1)
    trace = simulate(scenario, 1)
    bench = trace.setup.validation
    for record in trace.records:
        if "sim/val_acc" not in record:
            continue
        assert whole(float(record["sim/val_acc"]) * bench.problems * bench.samples)
        if bench.samples > 1:
            best, worst = (
                next(v for k, v in record.items() if f"/acc/{kind}@2/mean" in k) for kind in ("best", "worst")
            )
            assert abs(best + worst - 2 * record["sim/val_acc"]) < 0.012


def test_trl_identities_hold_within_print_precision() -> None:
    for label, seed in (("steady_improvement", 4), ("FM-17", 2), ("agentic_multi_turn", 3)):
        case = make(label, seed, "TRL", "strong" if label in MODES else None)
        scenario, _ = build(label, seed)
        setup, last = scenario.setup, 0.0
        quoted = "'loss': '" in case.text
        near = 2e-3 if quoted else FP32
        for _, row in case.table:
            parts = row["rewards/accuracy_reward/mean"]
            parts += setup.format_weight * row.get("rewards/format_reward/mean", 0.0)
            assert close(row["reward"], parts, near) or abs(row["reward"] - parts) < 2e-3
            assert close(row["clip_ratio/region_mean"], row["clip_ratio/low_mean"] + row["clip_ratio/high_mean"], near)
            assert row["num_tokens"] >= last
            last = row["num_tokens"]
            assert 0 <= row["frac_reward_zero_std"] <= 1


def test_roll_identities_hold() -> None:
    case = make("changing_batch_size", 3, "ROLL")
    before = 0.0
    trace, _ = trace_of("changing_batch_size", 3)
    spent = [row["timing_s/step"] for row in steps_of(trace)]
    samples = 0
    for index, (step, row) in enumerate(case.table):
        assert step == index
        assert row["time/step_total"] == before
        before = spent[index]
        groups = [row[f"group/{kind}_groups_ratio"] for kind in ("all_correct", "all_incorrect", "mixed")]
        assert close(sum(groups), 1, 1e-9)
        both = row["actor/ppo_ratio_high_clipfrac@sum"] + row["actor/ppo_ratio_low_clipfrac@sum"]
        assert close(both, row["actor/ppo_ratio_clipfrac@sum"])
        total = row["token/prompt_length/mean"] + row["token/response_length/mean"]
        assert close(row["token/total_length/mean"], total, 1e-12)
        assert close(row["system/tps_gpu"] * trace.setup.gpus, row["system/tps/tps"], 1e-9)
        samples += int(row["system/batch_size"])
        assert row["system/samples"] == samples
        assert abs(row["critic/rewards/mean"]) < 1e-3


# --- logs parse back --------------------------------------------------------------------------------------

PARSED = ("steady_improvement", "agentic_multi_turn", "ppo_critic", "frequent_validation", "restarts_back", "FM-15")


@pytest.mark.parametrize("label", PARSED)
@pytest.mark.parametrize("framework", ["verl", "TRL", "ROLL"])
def test_parse_text_gives_the_table_back(label: str, framework: str) -> None:
    if framework not in able_frameworks(label):
        assert framework == "TRL"
        return
    for seed in (11, 12, 13):
        check_parsed(make(label, seed, framework, "strong" if label in MODES else None))


def check_parsed(case: Case) -> None:
    (run,) = parse_text(case.text).runs
    assert run.framework == case.framework
    if case.framework == "TRL" and case.label in RESTARTED:  # no step in the text is certain where bars go back
        values = Counter((key, repr(cell.value)) for key in run.metrics for cell in run.cells(key))
        assert values == Counter((key, repr(value)) for _, row in case.table for key, value in row.items())
        return
    found = {(cell.step, key, repr(cell.value)) for key in run.metrics for cell in run.cells(key)}
    printed = {(step, key, repr(value)) for step, row in case.table for key, value in row.items()}
    # a bare number that ends a line of exactly 4096 characters may have been cut: not counted
    ends = {(step, key, repr(row[key])) for step, row in case.table for key in [*row][-1:]}
    full = sum(len(line) >= 4096 for line in case.text.splitlines())
    assert found <= printed
    assert printed - found <= (ends if full else set())


def test_verl_early_form_prints_three_decimals() -> None:
    trace, _ = trace_of("ppo_critic", 1)
    text, table = write_verl(trace, Style(numpy=False, early=True))
    assert "actor/entropy_loss:0." in text
    assert all(value == round(value, 3) for _, row in table for value in row.values())
    (run,) = parse_text(text).runs
    assert {(c.step, k, repr(c.value)) for k in run.metrics for c in run.cells(k)} == {
        (step, key, repr(value)) for step, row in table for key, value in row.items()
    }


def test_verl_cut_lines_lose_what_stood_behind_the_limit() -> None:
    trace, _ = trace_of("tiny_validation", 3)
    text, table = write_verl(trace, Style(cut=True))
    assert max(map(len, text.splitlines())) <= 4096
    _, whole_table = write_verl(trace, Style())
    assert sum(len(row) for _, row in table) <= sum(len(row) for _, row in whole_table)


def test_write_unknown_framework_raises() -> None:
    trace, _ = trace_of("few_steps", 1)
    with pytest.raises(ValueError, match="no writer"):
        write(trace, "torchtune")


# --- signatures -------------------------------------------------------------------------------------------


def median(rows: list[list[float]]) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a series may be absent from a kind of run
        return [float(value) for value in np.nanmedian(np.asarray(rows), axis=0)]


def statistics(label: str, strength: str, *, cause: bool = True) -> list[float]:
    rows = []
    for seed in SEEDS:
        trace, onset = trace_of(label, seed, strength, cause=cause)
        assert onset is not None
        rows.append([measure(trace, sign, onset) for sign in MODES[label].signature])
    return median(rows)


@pytest.mark.parametrize("label", sorted(MODES))
def test_cause_strong_shows_its_signature_and_mild_goes_the_same_way(label: str) -> None:
    signature = MODES[label].signature
    assert len(signature) >= 2
    strong, mild, without = (
        statistics(label, "strong"),
        statistics(label, "mild"),
        statistics(label, "strong", cause=False),
    )
    assert shown(signature, strong), list(zip(signature, strong, strict=True))
    assert not shown(signature, without)
    for sign, weak, none in zip(signature, mild, without, strict=True):
        meets = weak > sign.value if sign.above else weak < sign.value
        assert meets or ((weak > none) == sign.above), sign


@pytest.mark.parametrize("kind", sorted(HEALTHY))
def test_healthy_runs_show_no_signature_on_average(kind: str) -> None:
    traces = [trace_of(kind, seed)[0] for seed in SEEDS[:4]]
    for label, mode in MODES.items():
        if label in HEALTHY[kind].holds:
            continue
        rows = []
        for trace in traces:
            onset = 1 if mode.starts else max(1, int(trace.setup.steps * 0.4))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                rows.append([measure(trace, sign, onset) for sign in mode.signature])
        assert not shown(mode.signature, median(rows)), label
