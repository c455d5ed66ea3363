"""Faults of short, small runs: what a few steps already show, and the healthy runs that look like them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping

import pytest

from assistant.model import Number, Run
from assistant.parsing import parse_text

from ..support import run_of
from .made import diagnosed

Values = dict[str, Number]
Change = Callable[[int, Values], None]


def group_run(change: Change | None = None, *, steps: int = 60, seed: int = 4) -> Run:
    """A small GRPO run that learns, as TRL logs it; ``change`` alters the values of a step."""
    dice = random.Random(seed)
    table: dict[int, Values] = {}
    for step in range(1, steps + 1):
        part = step / steps
        reward = 0.3 + 0.3 * part + 0.05 * dice.gauss(0, 1)
        values: Values = {
            "loss": 0.01 * dice.gauss(0, 1), "grad_norm": 1.5 + 0.3 * dice.gauss(0, 1), "learning_rate": 5e-4,
            "reward": reward, "reward_std": 0.3 + 0.03 * dice.gauss(0, 1), "rewards/partial_reward/mean": reward,
            "frac_reward_zero_std": max(0.0, 0.1 + 0.05 * dice.gauss(0, 1)), "kl": 0.1 * part,
            "entropy": 1.4 - 0.6 * part + 0.03 * dice.gauss(0, 1), "clip_ratio/region_mean": 0.0,
            "completions/mean_length": 40 + 2 * dice.gauss(0, 1), "completions/max_length": 60.0,
            "completions/min_length": 12.0, "completions/clipped_ratio": 0.0,
            "step_time": 2.0 + 0.1 * dice.gauss(0, 1),
        }  # fmt: skip
        if change is not None:
            change(step, values)
        table[step] = values
    return run_of(table, framework="TRL", format="made")


def zero_rate(_: int, values: Values) -> None:
    values.update({"learning_rate": 0.0, "kl": 0.0})


def reward_gone(step: int, values: Values) -> None:
    if step > 25:
        del values["reward"], values["reward_std"]
        values.update({"grad_norm": 0.0, "loss": 0.0})


def rescaled(step: int, values: Values) -> None:
    if step >= 25:
        values["reward"] *= 10


def flipped(step: int, values: Values) -> None:
    if step >= 25:
        values["reward"] *= -1


def broken_down(step: int, values: Values) -> None:
    if step >= 20:
        left = max(0.1, 1 - (step - 20) / 15)
        values.update({"reward": values["reward"] * left, "grad_norm": values["grad_norm"] * 4, "entropy": 0.4 * left})


def slower(step: int, values: Values) -> None:
    if step >= 20:
        values["step_time"] *= 2.5


def far_away(step: int, values: Values) -> None:
    values["kl"] = 0.0 if step == 1 else 2.5


def shrinking(step: int, values: Values) -> None:
    if step >= 20:
        values["completions/mean_length"] *= 0.4
        values["completions/max_length"] = 30.0
        values["reward"] = 0.4


def cut_off(_: int, values: Values) -> None:
    values.update({"completions/clipped_ratio": 0.6, "completions/max_length": 45.0})


def all_alike(_: int, values: Values) -> None:
    values["frac_reward_zero_std"] = 0.9


@pytest.mark.parametrize(
    ("change", "rule", "mode", "onset"),
    [
        (zero_rate, "zero_rate", "FM-13", 1),
        (reward_gone, "reward_vanishes", "FM-20", 26),
        (rescaled, "score_shifted", "FM-20", 25),
        (flipped, "score_shifted", "FM-20", 25),
        (broken_down, "policy_breakdown", "FM-12", 24),
        (slower, "slow_steps", "FM-32", 20),
        (far_away, "reference_blow_up", "FM-19", 2),
        (shrinking, "answers_shrink", "FM-08", 20),
        (cut_off, "truncation_throughout", "FM-07", 1),
        (all_alike, "zero_signal_throughout", "FM-03", 1),
    ],
)
def test_short_run_with_a_fault_is_found(change: Change, rule: str, mode: str, onset: int) -> None:
    found = diagnosed(group_run(change))
    assert rule in found, sorted(found)
    assert found[rule].mode == mode
    assert found[rule].onset is not None
    assert abs(found[rule].onset - onset) <= 6
    assert found[rule].severity in {"warning", "critical"}


@pytest.mark.parametrize("seed", range(12))
def test_short_run_that_learns_is_silent(seed: int) -> None:
    assert diagnosed(group_run(seed=seed)) == {}


def longer_answers(step: int, values: Values) -> None:
    if step >= 20:
        for key in ("step_time", "completions/mean_length", "completions/max_length"):
            values[key] *= 2.5


def test_slower_steps_of_longer_answers_are_no_slow_down() -> None:
    assert "slow_steps" not in diagnosed(group_run(longer_answers))


@pytest.mark.parametrize("points", [3, 10])
def test_zero_rate_needs_three_steps_only(points: int) -> None:
    assert "zero_rate" in diagnosed(group_run(zero_rate, steps=points))


def test_zero_rate_of_a_console_that_rounds_is_not_believed() -> None:
    """verl's older console prints three decimals, so that 1e-6 reads 0.000."""
    rounded = {step: {"actor/lr": 0.0, "actor/grad_norm": 0.312, "actor/entropy": 0.5} for step in range(1, 20)}
    assert "zero_rate" not in diagnosed(run_of(rounded, framework="verl"))
    exact = {step: {**values, "actor/ppo_kl": 1.5e-05} for step, values in rounded.items()}
    assert "zero_rate" in diagnosed(run_of(exact, framework="verl"))


def sb3(change: Callable[[int, Values], None]) -> Run:
    dice = random.Random(2)
    table: dict[int, Values] = {}
    for step in range(1, 31):
        values: Values = {
            "rollout/ep_rew_mean": 20.0 + 3 * step + dice.gauss(0, 1), "time/fps": 700.0, "time/iterations": step,
            "time/total_timesteps": 512 * step, "train/approx_kl": 0.005 + 0.001 * dice.random(),
            "train/clip_fraction": 0.02, "train/entropy_loss": -0.69 + 0.003 * step, "train/learning_rate": 3e-4,
            "train/value_loss": 60.0 + dice.gauss(0, 3), "train/explained_variance": 0.02 * step,
        }  # fmt: skip
        change(step, values)
        table[512 * step] = values
    return run_of(table, framework="Stable-Baselines3", format="made")


def large_steps(step: int, values: Values) -> None:
    if step % 4 == 0:
        values["train/approx_kl"] = 0.4


def stalls(step: int, values: Values) -> None:
    """The printed rate is the mean since the start: 700 a second up to 10 rollouts, then 200."""
    if step > 10:
        count = 512 * step
        values["time/fps"] = round(count / (5120 / 700 + (count - 5120) / 200))


def no_reward(_: int, values: Values) -> None:
    values["rollout/ep_rew_mean"] = -100.0


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (lambda _s, _v: None, set()),
        (large_steps, {"divergent_updates"}),
        (stalls, {"slow_steps"}),
        (no_reward, {"constant_mean_score"}),
    ],
)
def test_stable_baselines_names_are_understood(change: Change, rules: set[str]) -> None:
    assert set(diagnosed(sb3(change))) == rules


def tuned(values: Mapping[str, Callable[[int], float]], steps: int = 60) -> Run:
    dice = random.Random(8)
    table: dict[int, Values] = {
        step: {key: at(step) * (1 + 0.03 * dice.gauss(0, 1)) for key, at in values.items()} for step in range(1, steps)
    }
    return run_of(table, framework="TRL", format="made")


def test_loss_far_above_its_first_value_is_found_though_it_has_no_past() -> None:
    run = tuned({"loss": lambda s: 0.7 if s == 1 else 15.0, "mean_token_accuracy": lambda s: 0.8 if s == 1 else 0.1})
    assert diagnosed(run)["loss_above_start"].severity == "critical"


def test_loss_that_ends_above_its_start_is_found_late() -> None:
    run = tuned({
        "loss": lambda s: 3.5 - 0.03 * s if s < 48 else 2.1 + 0.3 * (s - 48), "mean_token_accuracy": lambda _: 0.3,
    })  # fmt: skip
    assert {"loss_regained", "loss_divergence"} & set(diagnosed(run))


def test_preferred_answers_that_become_improbable_are_found_although_the_loss_falls() -> None:
    run = tuned({
        "loss": lambda s: 0.69 - 0.005 * s, "rewards/margins": lambda s: 0.05 * s,
        "logps/chosen": lambda s: -2.6 if s < 3 else -35.0, "logps/rejected": lambda s: -8.0 if s < 3 else -60.0,
    })  # fmt: skip
    assert {one.mode for one in diagnosed(run).values()} == {"FM-12"}


def test_preference_training_that_learns_is_silent() -> None:
    run = tuned({
        "loss": lambda s: 0.69 - 0.005 * s, "rewards/margins": lambda s: 0.02 * s, "grad_norm": lambda _: 0.5,
        "logps/chosen": lambda s: -120.0 - 0.8 * s, "logps/rejected": lambda s: -130.0 - 1.5 * s,
        "mean_token_accuracy": lambda _: 0.8, "learning_rate": lambda _: 5e-7,
    })  # fmt: skip
    assert diagnosed(run) == {}


def test_steps_that_repeat_unchanged_are_a_note() -> None:
    first = group_run()
    rows = [{key: column.values[row] for key, column in first.columns.items()} for row in range(len(first.steps))]
    lines = [json.dumps({"step": step, **rows[step - 1]}) for step in (*range(1, 29), *range(21, 61))]
    (run,) = parse_text("\n".join(lines)).runs
    assert len(run.steps) == 68
    found = diagnosed(run)
    assert set(found) == {"steps_repeat"}
    assert (found["steps_repeat"].severity, found["steps_repeat"].onset) == ("info", 21)
