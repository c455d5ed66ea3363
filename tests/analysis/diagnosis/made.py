"""Runs made for the rules: a healthy run of group-relative RL, in which chosen keys go another way from a step on."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from assistant.analysis import Ledger
from assistant.analysis.diagnosis import Diagnosis, diagnose
from assistant.model import Number, Run

from ..support import run_of

#: Value before → share of the way from the onset to the end (0 … 1) → value.
Course = Callable[[float, float], float]

VERL: Mapping[str, tuple[float, float]] = {
    "actor/entropy": (0.6, 0.02), "actor/grad_norm": (0.3, 0.12), "actor/pg_clipfrac": (0.002, 0.1),
    "actor/pg_clipfrac_lower": (1e-7, 0.3), "actor/ppo_kl": (3e-5, 0.3), "actor/pg_loss": (0.03, 0.5),
    "critic/score/mean": (0.5, 0.06), "critic/rewards/mean": (0.5, 0.06), "critic/score/min": (0.0, 0.0),
    "critic/score/max": (1.0, 0.0), "critic/advantages/mean": (-0.02, 0.5), "critic/advantages/max": (2.475, 0.0),
    "critic/advantages/min": (-2.475, 0.0), "response_length/mean": (1000.0, 0.04),
    "response_length/max": (3900.0, 0.05), "response_length/min": (180.0, 0.1),
    "response_length/clip_ratio": (0.004, 0.5),
    "num_turns/mean": (2.0, 0.0), "rollout_corr/k3_kl": (5e-4, 0.1), "training/rollout_probs_diff_max": (0.35, 0.05),
    "timing_s/gen": (100.0, 0.03),
}  # fmt: skip
TRL: Mapping[str, tuple[float, float]] = {
    "loss": (0.01, 0.4), "grad_norm": (0.3, 0.12), "entropy": (0.6, 0.02), "reward": (0.9, 0.04),
    "reward_std": (0.5, 0.03), "rewards/accuracy_reward/mean": (0.5, 0.05), "rewards/accuracy_reward/std": (0.5, 0.03),
    "frac_reward_zero_std": (0.15, 0.3), "completions/mean_length": (1000.0, 0.04),
    "completions/max_length": (3900.0, 0.05), "completions/min_length": (180.0, 0.1),
    "completions/clipped_ratio": (0.004, 0.5), "clip_ratio/region_mean": (0.002, 0.1),
    "sampling/sampling_logp_difference/mean": (0.002, 0.05),
}  # fmt: skip
#: Keys that grow by themselves in a healthy run: how much over the whole run.
GROWS: Mapping[str, float] = {"actor/kl_loss": 0.02, "kl": 0.02}


def made(
    courses: Mapping[str, Course] | None = None,
    *,
    framework: str = "verl",
    steps: int = 80,
    onset: int = 30,
    warmup: int = 8,
    seed: int = 3,
    without: tuple[str, ...] = (),
) -> Run:
    """A run of ``steps`` steps; keys of ``courses`` take them from ``onset`` on (new keys have no past: 0 before)."""
    dice = random.Random(seed)
    base = VERL if framework == "verl" else TRL
    rate = "actor/lr" if framework == "verl" else "learning_rate"
    distance = "actor/kl_loss" if framework == "verl" else "kl"
    held_out = "val-core/math/acc/mean@4" if framework == "verl" else "eval_rewards/accuracy_reward/mean"
    courses = dict(courses or {})
    table: dict[int, dict[str, Number]] = {}
    for step in range(1, steps + 1):
        part = step / steps
        values = {key: level * (1 + scatter * dice.gauss(0, 1)) for key, (level, scatter) in base.items()}
        values[distance] = GROWS[distance] * part * (1 + 0.05 * dice.gauss(0, 1))
        values[rate] = 1e-6 * min(1.0, step / warmup)
        if step % 5 == 0:
            values[held_out] = 0.4 + 0.1 * part + 0.008 * dice.gauss(0, 1)
        if "actor/pg_loss" in values:
            values["actor/pg_loss"] = -values["critic/advantages/mean"]  # the first update of a batch
        since = (step - onset) / (steps - onset)
        for key, course in courses.items():
            if key == held_out and key not in values:
                continue
            if step >= onset:
                values[key] = course(values.get(key, 0.0), since)
            elif key not in values:
                values[key] = course(0.0, 0.0)
        table[step] = {key: value for key, value in values.items() if key not in without}
    return run_of(table, framework=framework)


def diagnosed(run: Run, **steps: range) -> dict[str, Diagnosis]:
    """Diagnoses by rule."""
    return {one.rule: one for one in diagnose(Ledger([run]), run, **steps)}


def times(factor: float) -> Course:
    """Multiplied at once."""
    return lambda value, _: value * factor


def ramp(factor: float, over: float = 0.4) -> Course:
    """Multiplied, in a ramp over a share of what follows the onset."""
    return lambda value, since: value * (1 + (factor - 1) * min(1.0, since / over))


def decay(factor: float) -> Course:
    """Multiplied, evenly in logarithms to the end."""
    return lambda value, since: value * factor**since


def plus(amount: float, over: float = 0.4) -> Course:
    """An amount added in a ramp."""
    return lambda value, since: value + amount * min(1.0, since / over)


def at(level: float) -> Course:
    """A constant."""
    return lambda _value, _since: level
