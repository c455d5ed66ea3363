"""What a step and a run imply, against the truth the logs were made from and against a published run."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.analysis import DERIVATIONS, Ledger, derive, derive_all
from assistant.analysis.identities import check_formula, derive_run, identities, identity_of, largest_advantage
from assistant.analysis.identities.binomial import interval, tail
from assistant.analysis.identities.fits import shortest
from assistant.analysis.identities.model_size import candidates
from assistant.model import Fact, Run
from assistant.model.run import Version
from assistant.parsing import parse_file

from .made_logs import Row, custom_rows, dpo_rows, made_runs, trl_rows, verl_rows
from .support import run_of

RUNS = made_runs()
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "verl-retool-steps-0-3.log"


@pytest.fixture(scope="module")
def example() -> Run:
    return parse_file(EXAMPLE).runs[0]


def values(run: Run, step: int) -> dict[str, object]:
    return {name: fact.value for name, fact in derive_all(Ledger([run]), step).items()}


def whole(run: Run) -> dict[str, Fact]:
    return derive_run(Ledger([run]), run)


# --- a published run: figures that were worked out by hand ---------------------------------------------------

HARDWARE = {
    "n_gpus": 8,
    "trajectories_per_step": 8192,
    "data_parallel_ranks": 8,
    "group_size": 16,
    "prompts_per_step": 512,
}


@pytest.mark.parametrize("step", [1, 2, 3])
def test_derive_published_run_hardware_and_batch(example: Run, step: int) -> None:
    found = values(example, step)
    assert {name: found[name] for name in HARDWARE} == HARDWARE
    assert found["batch_multiple"] == 8192
    assert (found["estimator_family"], found["critic_present"], found["kl_in_reward"]) == ("outcome", False, False)
    assert (found["trajectories_per_rank"], found["model_parallel_size"]) == (1024, 1)


@pytest.mark.parametrize(
    ("step", "name", "value"),
    [
        (1, "clipped_trajectories", 207), (2, "clipped_trajectories", 201), (3, "clipped_trajectories", 233),
        (1, "generation_tail", 0.984), (2, "generation_tail", 0.982), (3, "generation_tail", 0.984),
        (1, "forward_backward_ratio", 0.281), (2, "forward_backward_ratio", 0.276),
        (3, "forward_backward_ratio", 0.277),
        (1, "tool_calls", 2.91), (2, "tool_calls", 2.85), (3, "tool_calls", 2.92),
        (1, "mean_concurrency", 4974), (1, "concurrency_per_gpu", 622), (1, "tail_utilisation", 0.607),
        (1, "generation_rate", 9692), (1, "generation_rate_per_gpu", 1211), (1, "slowest_speed", 4.85),
        (1, "response_tokens", 2596417 * 8), (1, "reward_gap_high", 1.57), (1, "accuracy_high", 0.523),
        (1, "imbalance_before", 0.228), (0, "within_variance", 0.0778), (0, "between_variance", 0.0993),
        (0, "reward_of_wrong", -0.799), (0, "problem_multiple", 10),
    ],
)  # fmt: skip
def test_derive_published_run_figures(example: Run, step: int, name: str, value: float) -> None:
    assert values(example, step)[name] == pytest.approx(value, rel=2e-3)


@pytest.mark.parametrize("step", [1, 2, 3])
def test_derive_published_run_gap_of_lowest_reward_is_about_two(example: Run, step: int) -> None:
    gap = values(example, step)["reward_gap_low"]
    assert isinstance(gap, float)
    assert 1.85 < gap < 2.05


def test_derive_published_run_accuracy_bounds_hold_the_shaped_ones(example: Run) -> None:
    found = values(example, 1)
    low, high = found["accuracy_low"], found["accuracy_high"]
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert low <= 0.404
    assert high >= 0.523 - 1e-3


def test_derive_run_published_run_whole(example: Run) -> None:
    found = whole(example)
    assert {name: found[name].value for name in HARDWARE} == HARDWARE
    assert all(found[name].n == 3 for name in HARDWARE)
    assert found["reward_quantum"].value == pytest.approx(0.1)
    assert found["micro_batches"].value == 32
    assert found["pg_loss_scale"].value == pytest.approx(32.3, rel=0.01)
    assert (found["single_update"].value, found["least_updates"].value) == (False, 2)
    assert found["loss_opposes_advantage"].value is True


def test_candidates_published_run_on_an_h100_is_a_32b_model(example: Run) -> None:
    found, fact = candidates(Ledger([example]), 1)
    assert fact is not None
    sizes = {candidate.billions for candidate in found if candidate.device.startswith("H100")}
    assert sizes == {32.5, 32.8}
    assert all(0.95 <= candidate.factor <= 1.25 for candidate in found)


def test_candidates_mfu_of_zero_rules_nothing_in() -> None:
    rows = verl_rows(3)
    rows[2]["perf/mfu/actor"] = 0.0
    assert candidates(Ledger([run_of(rows)]), 2) == ([], None)


# --- made logs: the truth is known ------------------------------------------------------------------------

TRUTH: dict[str, dict[str, object]] = {
    "verl": {
        "n_gpus": 16, "trajectories_per_step": 256, "data_parallel_ranks": 8, "group_size": 8, "prompts_per_step": 32,
        "reward_quantum": 0.1, "group_relative": True, "critic_present": False, "kl_in_reward": False,
        "estimator_family": "outcome", "entropy_coefficient": 0.002, "single_update": False, "least_updates": 2,
        "loss_opposes_advantage": True, "lr_schedule": "constant", "warmup_steps": 0, "informative_groups": 0.75,
        "pg_loss_scale": 1.0,
    },
    "critic": {"critic_present": True, "kl_in_reward": True, "estimator_family": "value", "advantages_whitened": True,
               "kl_charge": 0.05, "unexplained_share": 0.5, "single_update": True},
    "TRL": {
        "kl_beta": 0.04, "reward_weights/rewards/accuracy/mean": 1.0, "reward_weights/rewards/format/mean": 0.5,
        "completions_multiple": 96, "prompts_multiple": 12, "steps_per_epoch": 250.0, "logging_window": 1,
        "warmup_steps": 4, "unterminated_length": 200.0,
    },
    "PPO": {"kl_coefficient": 0.05, "episodes_per_row": 64.0},
    "DPO": {"dpo_beta": 0.1},
    "ROLL": {"roll_gpus": 8, "kl_loss_coefficient": 0.2, "rewards_normalised": True, "step_total_shift": 1},
    "OpenRLHF": {"kl_estimator": "k1"},
    "slime": {"slime_kl_coefficient": 0.01, "slime_entropy_coefficient": 0.001, "on_policy_start": True},
    "NeMo-RL": {"nemo_gpus": 16},
    "AReaL": {"single_minibatch": True},
    "custom": {"custom_beta": 0.1},
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, truth in TRUTH.items() for name in truth])
def test_derive_run_gives_what_the_log_was_made_with(kind: str, name: str) -> None:
    fact = whole(RUNS[kind])[name]
    expected = TRUTH[kind][name]
    assert fact.value == (pytest.approx(expected, rel=1e-4) if isinstance(expected, float) else expected)
    assert fact.formula
    assert fact.n


STEPWISE: dict[str, dict[str, object]] = {
    "verl": {"aborted_trajectories": 0, "trajectories_per_rank": 32, "model_parallel_size": 2,
             "forward_backward_ratio": 1 / 3.3},
    "ROLL": {"inference_parallel_size": 4, "device_memory": 79.25, "roll_gpus": 8},
    "slime": {"flat_groups": 8},
    "NeMo-RL": {"nemo_gpus": 16, "samples_per_step": 128},
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, truth in STEPWISE.items() for name in truth])
def test_derive_step_gives_what_the_log_was_made_with(kind: str, name: str) -> None:
    fact = derive(Ledger([RUNS[kind]]), name, 7)
    assert fact is not None
    assert fact.value == pytest.approx(STEPWISE[kind][name], rel=1e-6)


def test_derive_batch_multiple_divides_the_batch() -> None:
    found = [values(RUNS["verl"], step)["batch_multiple"] for step in RUNS["verl"].distinct_steps]
    assert all(isinstance(multiple, int) and 256 % multiple == 0 for multiple in found)
    assert 256 in found


def test_derive_tokens_from_times_are_those_from_lengths() -> None:
    run = RUNS["verl"]
    found = values(run, 7)
    assert found["response_tokens_from_time"] == found["response_tokens"]
    assert found["all_tokens_from_time"] == run.value("perf/total_num_tokens", 7)
    assert found["response_tokens"] + found["prompt_tokens"] == run.value("perf/total_num_tokens", 7)  # type: ignore[operator]


def test_derive_mean_importance_weight_without_importance_sampling() -> None:
    run = RUNS["verl"]
    weight, chi2 = derive(Ledger([run]), "mean_is_weight", 7), run.value("rollout_corr/chi2_token", 7)
    share = derive(Ledger([run]), "token_ess", 7)
    assert weight is not None
    assert share is not None
    assert chi2 is not None
    assert weight.value == pytest.approx(1.0, abs=1e-3)
    assert share.value == pytest.approx(float(weight.value or 0) ** 2 / (1 + chi2))


def test_derive_clipped_share_interval_holds_the_share() -> None:
    run = RUNS["verl"]
    found = values(run, 7)
    count = found["clipped_trajectories"]
    assert isinstance(count, int)
    assert found["clipped_share_low"] <= count / 256 <= found["clipped_share_high"]  # type: ignore[operator]


# --- names, identities, provenance -------------------------------------------------------------------------


def test_identity_of_every_derivation_says_what_would_void_it() -> None:
    for name in DERIVATIONS:
        identity = identity_of(name)
        assert identity is not None, name
        assert set(identity.unless) == {"zh", "en"}


def test_derives_names_nothing_that_no_code_gives() -> None:
    given_somewhere = set(DERIVATIONS) | {name.split("/")[0] for run in RUNS.values() for name in whole(run)}
    elsewhere = {"unaccounted_time", "validation_inside_step", "kl_loss_family", "micro_batches"}
    elsewhere |= {"other_gradient", "process_restarts"}  # tested by themselves
    named = {name for identity in identities().values() for name in identity.derives}
    assert named - given_somewhere <= elsewhere


def test_derive_run_inputs_are_facts_of_the_ledger() -> None:
    for kind, run in RUNS.items():
        ledger = Ledger([run])
        for fact in derive_run(ledger).values():
            assert all(ledger.get(source) is not None for source in fact.inputs or ()), kind
            assert identity_of(str(fact.name)) is not None, fact.name


def test_derive_run_twice_gives_the_same_facts() -> None:
    ledger = Ledger([RUNS["verl"]])
    first, again = derive_run(ledger), derive_run(ledger)
    assert {name: fact.id for name, fact in first.items()} == {name: fact.id for name, fact in again.items()}


def test_derive_run_without_rows_gives_nothing() -> None:
    assert derive_run(Ledger([])) == {}
    assert whole(run_of({})) == {}


def test_derive_run_one_edited_step_keeps_the_constants() -> None:
    rows = verl_rows()
    rows[7]["perf/total_num_tokens"] = int(rows[7]["perf/total_num_tokens"]) + 4000
    found = whole(run_of(rows))
    assert (found["n_gpus"].value, found["trajectories_per_step"].value) == (16, 256)
    assert found["trajectories_per_step"].n == 13


# --- coefficients ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [0.1, -0.1, 0.001, 2.5])
def test_derive_run_custom_beta_has_the_sign_of_the_data(beta: float) -> None:
    fact = whole(run_of(custom_rows(12, beta), framework=None))["custom_beta"]
    assert fact.value == pytest.approx(beta, rel=1e-3)
    assert fact.n == 12


def test_derive_run_custom_beta_from_one_row_says_that_one_row_gave_it() -> None:
    row: Row = {"loss": 171551552.0, "policy_loss": 171531792.0, "kl_penalty": 197562.5312}
    fact = whole(run_of({1: row}, framework=None))["custom_beta"]
    assert (fact.value, fact.n) == (0.1, 1)


def test_derive_run_custom_beta_one_edited_row_does_not_move_it() -> None:
    rows = custom_rows(12)
    rows[5]["loss"] = float(rows[5]["loss"]) * 3
    fact = whole(run_of(rows, framework=None))["custom_beta"]
    assert (fact.value, fact.n) == (pytest.approx(0.1), 11)


def test_derive_run_loss_that_is_no_combination_gives_no_beta() -> None:
    rows = custom_rows(12)
    for step, row in rows.items():
        row["loss"] = float(row["loss"]) + 0.3 * math.sin(7 * step)
    assert "custom_beta" not in whole(run_of(rows, framework=None))


@pytest.mark.parametrize(
    ("text", "agrees"),
    [
        ("loss = policy_loss + β * kl_penalty", True),
        ("loss = policy_loss + 0.1 * kl_penalty", None),
        ("loss = -(policy_loss - β * kl_penalty)", False),
        ("loss = policy_loss - beta * kl_penalty", False),
        ("loss = policy_loss − λ × kl_penalty", False),
    ],
)
def test_check_formula_against_the_data(text: str, agrees: bool | None) -> None:
    run = run_of(custom_rows(12), framework=None)
    found = check_formula(Ledger([run]), run, text)
    if agrees is None:
        assert found is None  # nothing is left free
        return
    assert found is not None
    assert found.agrees is agrees
    assert found.found == {"policy_loss": 1.0, "kl_penalty": pytest.approx(0.1)}


def test_check_formula_one_row_of_another_sign_is_contradicted() -> None:
    row: Row = {"loss": 171551552.0, "policy_loss": 171531792.0, "kl_penalty": 197562.5312}
    run = run_of({1: row}, framework=None)
    found = check_formula(Ledger([run]), run, "loss = -(policy_loss - β * kl_penalty)")
    assert found is not None
    assert found.agrees is False
    assert found.signs == {"policy_loss": -1, "kl_penalty": 1}
    assert found.found == {"policy_loss": 1.0, "kl_penalty": 0.1}


@pytest.mark.parametrize(
    "text", ["loss", "reward = a", "loss = f(policy_loss)", "loss = policy_loss / kl_penalty", "= x", "loss ="]
)
def test_check_formula_that_is_none_gives_nothing(text: str) -> None:
    run = run_of(custom_rows(12), framework=None)
    assert check_formula(Ledger([run]), run, text) is None


def test_derive_run_dpo_beta_never_from_training_batches() -> None:
    rows = dpo_rows()
    only_training = {step: {k: v for k, v in row.items() if not k.startswith("eval_")} for step, row in rows.items()}
    assert "dpo_beta" not in whole(run_of(only_training, framework="TRL"))


@pytest.mark.parametrize("beta", [0.05, 0.1, 0.5])
def test_derive_run_dpo_beta_from_a_fixed_evaluation_set(beta: float) -> None:
    assert whole(run_of(dpo_rows(beta=beta), framework="TRL"))["dpo_beta"].value == pytest.approx(beta, rel=1e-3)


def test_derive_run_kl_beta_not_where_the_policy_term_is_in_the_loss() -> None:
    rows = trl_rows()
    for step, row in rows.items():
        row["loss"] = float(row["loss"]) + 0.01 * math.cos(5 * step)
    assert "kl_beta" not in whole(run_of(rows, framework="TRL"))


@given(st.floats(1e-6, 1e3), st.integers(1, 5))
def test_shortest_is_within_the_error_and_no_longer_than_needed(value: float, digits: int) -> None:
    error = 0.5 * 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    assert abs(shortest(value, error) - value) <= error


# --- versions, estimators, restarts --------------------------------------------------------------------------


def scaled(rows: dict[int, Row], factor: float) -> dict[int, Row]:
    for row in rows.values():
        row["actor/pg_loss"] = float(row["actor/pg_loss"]) / factor
    return rows


def test_derive_run_micro_batches_inside_the_window_of_versions_alone() -> None:
    inside, after = Version("2025-08-13", None, ()), Version("2026-01-27", None, ())
    rows = scaled(verl_rows(), 8.0)
    assert whole(run_of(rows, version=inside))["micro_batches"].value == 8
    assert "micro_batches" not in whole(run_of(rows, version=after))
    assert "micro_batches" not in whole(run_of(rows, version=Version(None, "2025-06-01", ())))


def test_derive_run_kl_loss_family_by_sign() -> None:
    negative: dict[int, Row] = {s: {"actor/kl_loss": 0.001 * (-1) ** s} for s in range(5)}
    positive: dict[int, Row] = {s: {"actor/kl_loss": 0.001 + s * 1e-4} for s in range(25)}
    assert whole(run_of(negative))["kl_loss_family"].value == "k1"
    assert whole(run_of(positive))["kl_loss_family"].value != "k1"
    assert "kl_loss_family" not in whole(run_of({s: positive[s] for s in range(5)}))


def test_derive_run_restarts_are_counted() -> None:
    memory = [50, 52, 52, 40, 45, 45, 30, 31]
    rows: dict[int, Row] = {s: {"perf/max_memory_allocated_gb": float(m)} for s, m in enumerate(memory)}
    assert whole(run_of(rows))["process_restarts"].value == 2


def test_derive_run_gradient_without_reward_difference_is_of_something_else() -> None:
    rows: dict[int, Row] = {s: {"frac_reward_zero_std": 1.0, "grad_norm": 0.2, "loss": 0.1} for s in range(4)}
    assert whole(run_of(rows, framework="TRL"))["other_gradient"].value is True


# --- learning rates ----------------------------------------------------------------------------------------

N = 60


def rates(shape: str, warm: int, total: int = N) -> dict[int, Row]:
    top, rows = 3e-6, dict[int, Row]()
    for step in range(1, total + 1):
        if step <= warm:
            lr = top * step / warm
        else:
            left = (step - warm) / (total - warm)
            lr = {"constant": 1.0, "linear": 1 - left, "cosine": (1 + math.cos(math.pi * left)) / 2}[shape] * top
        rows[step] = {"actor/lr": lr}
    return rows


@pytest.mark.parametrize("shape", ["constant", "linear", "cosine"])
@pytest.mark.parametrize("warm", [0, 5, 12])
def test_derive_run_learning_rate_schedule(shape: str, warm: int) -> None:
    found = whole(run_of(rates(shape, warm)))
    assert found["lr_schedule"].value == shape
    if warm or shape == "constant":
        assert found["warmup_steps"].value == warm


def test_derive_run_learning_rate_windowed_cosine_that_starts_later() -> None:
    rows = {step: row for step, row in rates("cosine", 0, 400).items() if step % 20 == 0}
    found = whole(run_of(rows))
    assert found["lr_schedule"].value == "cosine"
    assert "warmup_steps" not in found  # what came before the first row is not in the log


def test_derive_run_learning_rate_still_rising_has_no_known_warmup() -> None:
    rows = {step: row for step, row in rates("constant", 40).items() if step <= 30}
    assert "warmup_steps" not in whole(run_of(rows))


def test_derive_run_learning_rate_of_one_digit_has_no_known_shape() -> None:
    rows = {
        step: {"actor/lr": float(f"{row['actor/lr']:.0e}"), "x": 0.123456789}
        for step, row in rates("cosine", 0).items()
    }
    assert "lr_schedule" not in whole(run_of(rows))


def test_derive_run_learning_rate_steps_are_no_known_shape() -> None:
    rows: dict[int, Row] = {s: {"actor/lr": 1.25e-5 if s < 20 else 2.75e-6 if s < 40 else 1.33e-7} for s in range(60)}
    assert whole(run_of(rows))["lr_schedule"].value == "other"


# --- binomial intervals --------------------------------------------------------------------------------------


@settings(deadline=None)  # the first call loads scipy
@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_interval_is_clopper_and_pearsons(pair: tuple[int, int]) -> None:
    from scipy.stats import beta

    k, n = pair
    low, high = interval(k, n)
    assert low == pytest.approx(beta.ppf(0.025, k, n - k + 1) if k else 0.0, rel=1e-7, abs=1e-12)
    assert high == pytest.approx(beta.ppf(0.975, k + 1, n - k) if k < n else 1.0, rel=1e-7)


@settings(deadline=None)
@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.001, 0.999))
def test_tail_is_the_binomial_distribution(pair: tuple[int, int], p: float) -> None:
    from scipy.stats import binom

    assert tail(*pair, p) == pytest.approx(binom.cdf(*pair, p), rel=1e-7, abs=1e-12)


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (6, 5), (0, 0)])
def test_interval_of_no_share_raises(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        interval(k, n)


def test_largest_advantage_stays_public() -> None:
    assert largest_advantage(16) == 3.75
