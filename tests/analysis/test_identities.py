"""What a log implies: right on figures that agree, nothing at all on figures that do not."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.analysis import DERIVATIONS, Ledger, derive, derive_all
from assistant.analysis.identities import largest_advantage
from assistant.model import Fact, Number, Run

from .support import advantages, geometry, run_of, training_step

CLIP = {"response_length/clip_ratio": 6 / 256}
SCORES = {f"critic/{name}/{part}": 0.5 for name in ("score", "rewards") for part in ("mean", "max", "min")}
SEQUENCES = {"global_seqlen/minmax_diff": 5760.0, "global_seqlen/balanced_max": 57605.0}
TAIL = "timing_s/agent_loop/generate_sequences/"

FULL: dict[str, Number] = {
    **geometry(n_gpus=8, prompts=32, group=8, prompt_length=300.0, response_length=1500.0, seconds=600.0),
    **advantages(8),
    **CLIP,
    **SCORES,
    **SEQUENCES,
    TAIL + "mean": 120.0,
    TAIL + "max": 200.0,
    "timing_s/gen": 200.0,
    "timing_per_token_ms/gen": 0.1,
}
EXPECTED = {
    "n_gpus": 8,
    "trajectories_per_step": 256,
    "group_relative": True,
    "critic_present": False,
    "group_size": 8,
    "prompts_per_step": 32,
    "data_parallel_ranks": 8,
    "cluster_throughput": 768.0,
    "response_token_share": 5 / 6,
    "kl_in_reward": False,
    "imbalance_before": 0.1,
    "imbalance_after": 5 / 57600,
    "excess_tokens": 5.0,
    "clipped_trajectories": 6,
    "tail_utilisation": 0.6,
    "generation_rate": 10_000.0,
}
#: What each derivation cannot do without: taking any of these away must leave nothing.
NEEDS = {
    "n_gpus": ("perf/total_num_tokens", "perf/throughput", "perf/time_per_step"),
    "trajectories_per_step": ("perf/total_num_tokens", "prompt_length/mean", "response_length/mean"),
    "group_relative": ("critic/advantages/mean", "critic/returns/max"),
    "critic_present": ("critic/advantages/min",),
    "group_size": ("critic/advantages/max", "critic/returns/mean"),
    "prompts_per_step": ("perf/total_num_tokens", "critic/advantages/min"),
    "data_parallel_ranks": ("perf/total_num_tokens", "global_seqlen/mean"),
    "cluster_throughput": ("perf/throughput", "perf/time_per_step"),
    "response_token_share": ("prompt_length/mean", "response_length/mean"),
    "kl_in_reward": ("critic/score/mean", "critic/rewards/min"),
    "imbalance_before": ("global_seqlen/minmax_diff", "global_seqlen/mean"),
    "imbalance_after": ("global_seqlen/balanced_max", "global_seqlen/mean"),
    "excess_tokens": ("global_seqlen/balanced_max", "global_seqlen/mean"),
    "clipped_trajectories": ("response_length/clip_ratio", "perf/total_num_tokens"),
    "tail_utilisation": (TAIL + "mean", "timing_s/gen"),
    "generation_rate": ("timing_per_token_ms/gen",),
}


def derived(name: str, values: dict[str, Number]) -> Fact | None:
    return derive(Ledger([run_of({1: values})]), name, 1)


def without(*metrics: str) -> dict[str, Number]:
    return {metric: value for metric, value in FULL.items() if metric not in metrics}


def single(value: float) -> float:
    """The value as float32 holds it, which is how verl prints tensors' means."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


def test_derivations_of_a_plain_step_are_all_covered_here() -> None:
    assert set(EXPECTED) == set(NEEDS)
    assert set(EXPECTED) <= set(DERIVATIONS)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_derive_consistent_figures_gives_the_right_value(name: str) -> None:
    fact = derived(name, FULL)
    assert fact is not None
    assert fact.kind == "derived"
    assert fact.value == pytest.approx(EXPECTED[name], rel=1e-12)
    assert isinstance(fact.value, type(EXPECTED[name]))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_derive_says_formula_and_inputs_that_the_ledger_holds(name: str) -> None:
    ledger = Ledger([run_of({1: FULL})])
    fact = derive(ledger, name, 1)
    assert fact is not None
    assert fact.formula
    assert fact.inputs
    assert all(ledger.get(source) is not None for source in fact.inputs)


@pytest.mark.parametrize(("name", "missing"), [(name, metric) for name, needed in NEEDS.items() for metric in needed])
def test_derive_input_missing_gives_nothing(name: str, missing: str) -> None:
    assert derived(name, without(missing)) is None


@pytest.mark.parametrize(("name", "broken"), [(n, m) for n, needed in NEEDS.items() for m in needed[:1]])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_derive_input_not_finite_gives_nothing(name: str, broken: str, value: float) -> None:
    assert derived(name, {**FULL, broken: value}) is None


def test_derive_all_consistent_figures_gives_everything() -> None:
    found = derive_all(Ledger([run_of({1: FULL})]), 1)
    assert set(EXPECTED) <= set(found)
    assert {name: fact.value for name, fact in found.items() if name in EXPECTED} == pytest.approx(EXPECTED, rel=1e-12)


def test_derive_all_unrelated_metrics_gives_nothing() -> None:
    assert derive_all(Ledger([run_of({1: {"train/loss": 1.5, "lr": 1e-5}})]), 1) == {}


def test_derive_without_runs_gives_nothing() -> None:
    assert derive(Ledger([]), "n_gpus", 1) is None


def test_derive_second_run_is_about_that_run() -> None:
    runs = [run_of({1: geometry(n_gpus=8)}), run_of({1: geometry(n_gpus=16)}, id="r1")]
    ledger = Ledger(runs)
    values = [derive(ledger, "n_gpus", 1, run) for run in runs]
    assert [(fact.run, fact.value) for fact in values if fact] == [("r0", 8), ("r1", 16)]


# --- figures that contradict each other ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "metric", "factor"),
    [
        ("n_gpus", "perf/throughput", 8 / 8.5),
        ("n_gpus", "perf/time_per_step", 1.03),
        ("trajectories_per_step", "response_length/mean", 1.002348),  # 255.5 trajectories
        ("data_parallel_ranks", "global_seqlen/mean", 1.001),
    ],
)
def test_derive_fraction_where_a_whole_number_must_come_gives_nothing(name: str, metric: str, factor: float) -> None:
    assert derived(name, {**FULL, metric: FULL[metric] * factor}) is None


@pytest.mark.parametrize("metric", ["perf/throughput", "perf/time_per_step"])
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_derive_n_gpus_rate_or_time_not_positive_gives_nothing(metric: str, value: float) -> None:
    assert derived("n_gpus", {**FULL, metric: value}) is None


@pytest.mark.parametrize("name", ["trajectories_per_step", "response_token_share"])
def test_derive_lengths_of_zero_gives_nothing(name: str) -> None:
    assert derived(name, {**FULL, "prompt_length/mean": 0.0, "response_length/mean": 0.0}) is None


def test_derive_clipped_trajectories_fraction_of_a_response_gives_nothing() -> None:
    assert derived("clipped_trajectories", {**FULL, "response_length/clip_ratio": 6.5 / 256}) is None


def test_derive_clipped_trajectories_none_clipped_gives_zero() -> None:
    fact = derived("clipped_trajectories", {**FULL, "response_length/clip_ratio": 0.0})
    assert fact is not None
    assert fact.value == 0


def test_derive_group_relative_returns_differ_says_no() -> None:
    fact = derived("group_relative", {**FULL, "critic/returns/max": 0.1})
    assert fact is not None
    assert fact.value is False


@pytest.mark.parametrize("metric", ["critic/values/mean", "critic/vf_loss", "timing_s/values", "critic/lr"])
def test_derive_critic_present_its_own_metrics_says_yes(metric: str) -> None:
    fact = derived("critic_present", {**FULL, metric: 0.5})
    assert fact is not None
    assert fact.value is True


def test_derive_critic_present_neither_sign_gives_nothing() -> None:
    assert derived("critic_present", {**FULL, "critic/returns/mean": 0.3}) is None


@pytest.mark.parametrize("part", ["mean", "max", "min"])
def test_derive_kl_in_reward_any_part_differs_says_yes(part: str) -> None:
    fact = derived("kl_in_reward", {**FULL, f"critic/rewards/{part}": 0.499})
    assert fact is not None
    assert fact.value is True


# --- group size ------------------------------------------------------------------------------------------


def test_largest_advantage_is_the_z_score_of_a_lone_reward() -> None:
    for n in range(2, 65):
        rewards = [1.0] + [0.0] * (n - 1)
        mean = sum(rewards) / n
        deviation = math.sqrt(sum((r - mean) ** 2 for r in rewards) / (n - 1))
        assert largest_advantage(n) == pytest.approx((1.0 - mean) / deviation, rel=1e-12)


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=40).filter(lambda rewards: len(set(rewards)) > 1))
def test_largest_advantage_is_never_exceeded(rewards: list[int]) -> None:
    n, mean = len(rewards), sum(rewards) / len(rewards)
    deviation = math.sqrt(sum((r - mean) ** 2 for r in rewards) / (n - 1))
    assert max(abs(r - mean) / deviation for r in rewards) <= largest_advantage(n) * (1 + 1e-12)


@pytest.mark.parametrize("n", range(2, 65))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_derive_group_size_from_largest_advantage_as_printed(n: int, sign: float) -> None:
    # verl divides by the deviation + 1e-6 and prints a float32
    deviation = 1 / math.sqrt(n)
    bound = sign * single((1 - 1 / n) / (deviation + 1e-6))
    low, high = min(bound, -0.5 * bound), max(bound, -0.5 * bound)
    parts = {"mean": 0.001, "max": high, "min": low}
    values = {f"critic/{name}/{part}": v for name in ("advantages", "returns") for part, v in parts.items()}
    fact = derived("group_size", {**geometry(prompts=12, group=n), **values})
    assert fact is not None
    assert fact.value == n


@pytest.mark.parametrize("n", range(2, 65))
def test_derive_group_size_no_lone_reward_gives_no_other_size(n: int) -> None:
    """With k of n right, the extreme is sqrt((n-k)(n-1)/(kn)): never taken for the bound of another size."""
    for k in range(2, n // 2 + 1):
        top = math.sqrt((n - k) * (n - 1) / (k * n))
        parts = {"mean": 0.0, "max": top, "min": -1 / top * (n - 1) / n}
        values = {f"critic/{name}/{part}": v for name in ("advantages", "returns") for part, v in parts.items()}
        assert derived("group_size", values) is None, (n, k)


def test_derive_group_size_with_a_critic_gives_nothing() -> None:
    assert derived("group_size", {**FULL, "critic/returns/mean": 0.4}) is None


def test_derive_group_size_no_advantage_gives_nothing() -> None:
    zero = {f"critic/{name}/{part}": 0.0 for name in ("advantages", "returns") for part in ("mean", "max", "min")}
    assert derived("group_size", {**FULL, **zero}) is None


def test_derive_group_size_that_does_not_divide_the_batch_gives_nothing() -> None:
    assert derived("group_size", {**FULL, **advantages(7)}) is None
    assert derived("prompts_per_step", {**FULL, **advantages(7)}) is None


@given(
    n_gpus=st.integers(1, 128),
    prompts=st.integers(1, 1024),
    group=st.integers(2, 64),
    prompt_length=st.floats(1.0, 5000.0),
    response_length=st.floats(1.0, 30000.0),
    seconds=st.floats(0.5, 20000.0),
)
def test_derive_any_geometry_recovers_it(  # noqa: PLR0917
    n_gpus: int, prompts: int, group: int, prompt_length: float, response_length: float, seconds: float
) -> None:
    figures = geometry(
        n_gpus=n_gpus,
        prompts=prompts,
        group=group,
        prompt_length=prompt_length,
        response_length=response_length,
        seconds=seconds,
    )
    ledger = Ledger([run_of({1: {**figures, **advantages(group)}})])
    found = {name: fact.value for name, fact in derive_all(ledger, 1).items()}
    assert found["n_gpus"] == found["data_parallel_ranks"] == n_gpus
    assert found["trajectories_per_step"] == prompts * group
    assert found["group_size"] == group
    assert found["prompts_per_step"] == prompts
    rate = found["cluster_throughput"]
    assert isinstance(rate, float)
    assert math.isclose(rate, figures["perf/throughput"] * n_gpus, rel_tol=1e-12)


@given(n_gpus=st.integers(1, 4096), off=st.floats(0.1, 0.9))
def test_derive_n_gpus_between_two_whole_numbers_gives_nothing(n_gpus: int, off: float) -> None:
    figures = geometry(n_gpus=n_gpus)
    figures["perf/throughput"] *= n_gpus / (n_gpus + off)
    assert derived("n_gpus", figures) is None


@given(prompts=st.integers(1, 512), off=st.floats(0.1, 0.9))
def test_derive_trajectories_between_two_whole_numbers_gives_nothing(prompts: int, off: float) -> None:
    figures = geometry(prompts=prompts, group=16)
    figures["perf/total_num_tokens"] *= (16 * prompts + off) / (16 * prompts)
    assert derived("trajectories_per_step", figures) is None


def test_derive_every_step_of_a_run_agrees() -> None:
    run: Run = run_of({step: training_step(step) for step in range(1, 9)})
    ledger = Ledger([run])
    for name in ("n_gpus", "trajectories_per_step", "group_size", "prompts_per_step"):
        facts = [derive(ledger, name, step) for step in run.steps]
        assert {fact.value for fact in facts if fact is not None} == {EXPECTED[name]}
