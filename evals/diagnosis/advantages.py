"""Rewards to advantages as the frameworks compute them, and what they log of both.

Group advantages: ``(r - mean) / (std + 1e-6)`` with ``ddof=1`` (verl ``core_algos.compute_grpo_outcome_advantage``,
ROLL ``functionals.reward_norm``), hence ``|A| <= (n - 1) / sqrt(n)``; returns are the same tensor. PPO: discount and
lambda 1, advantages whitened over tokens (verl ``compute_gae_advantage_return``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evals.diagnosis.batch import Batch
from evals.diagnosis.world import Floats, Record, World


@dataclass(slots=True)
class Advantages:
    """Per answer: advantage, reward after the KL charge, and (PPO) value; ``mixed`` is the informative share."""

    values: Floats
    rewards: Floats
    critic: Floats | None
    mixed: float
    record: Record


def single(value: float) -> float:
    """A number as float32 holds it, which is what torch's means print."""
    return float(np.float32(value))


def spread(name: str, values: Floats, mean: float | None = None) -> Record:
    """Mean, maximum and minimum under a key, in verl's order."""
    return {
        f"{name}/mean": single(float(values.mean()) if mean is None else mean),
        f"{name}/max": single(float(values.max())),
        f"{name}/min": single(float(values.min())),
    }


def advantages(world: World, batch: Batch, rng: np.random.Generator) -> Advantages:
    """Advantages of a batch with the ``critic/*`` and ``group/*`` records."""
    setup, knobs, policy = world.setup, world.knobs, world.policy
    score = batch.score
    rewards = score
    record: Record = spread("critic/score", score)
    drift = np.clip(1 + 0.3 * rng.standard_normal(score.shape), 0.05, None)
    if setup.kl == "reward":
        coefficient = setup.kl_coef * knobs.kl_coef_factor
        sums = batch.length * policy.kl * drift
        rewards = score - coefficient * sums
        record["actor/reward_kl_penalty"] = single(float((policy.kl * drift).mean()))
        record["actor/reward_kl_penalty_coeff"] = coefficient
    record |= spread("critic/rewards", rewards)
    deviation = rewards.std(axis=1, ddof=1) if setup.group > 1 else np.zeros(len(rewards))
    flat = score.std(axis=1) < 1e-9
    mixed = float(1 - flat.mean())
    weights = batch.length / batch.length.sum()
    critic: Floats | None = None
    if setup.algorithm == "ppo":
        critic, values = _critic(world, batch, rewards, record, rng)
    else:
        values = rewards - rewards.mean(axis=1, keepdims=True)
        if setup.algorithm == "grpo":
            values = values / (deviation[:, None] + 1e-6)
        values = np.where(values > 0, values * knobs.positive, values)
        mean = float((values * weights).sum())
        record |= spread("critic/advantages", values, mean) | spread("critic/returns", values, mean)
    won = (batch.paid - setup.low) / (setup.high - setup.low) > 0.5
    right = won.mean(axis=1)
    record |= {
        "sim/mixed": mixed,
        "sim/zero_share": float(flat.mean()),
        "sim/all_correct": float((right == 1).mean()),
        "sim/all_wrong": float((right == 0).mean()),
        "sim/right": float(won.mean()),
        "sim/right_sd": float(right.std()),
        "sim/reward_sd": single(float(score.std(ddof=1))),
        "sim/group_sd": single(float(score.std(axis=1, ddof=1).mean())) if setup.group > 1 else 0.0,
        "sim/paid": single(float(batch.paid.mean() * knobs.reward_scale)),
        "sim/paid_sd": single(float(batch.paid.std(ddof=1) * knobs.reward_scale)),
        "sim/form": single(float(batch.form.mean())),
        "sim/form_sd": single(float(batch.form.std(ddof=1))),
        "sim/score01": float((score.mean() / knobs.reward_scale - setup.low) / (setup.high - setup.low)),
        "sim/raw_score": batch.raw_score,
        "sim/raw_mixed": batch.raw_mixed,
        "sim/kl_charge": float((score - rewards).mean()),
        "sim/adv_diff": float(np.ptp(values, axis=1).mean()),
        "sim/adv_mean": float(values.mean()),
    }
    for name, mask in (("right", won), ("error", ~won)):
        if mask.any():
            record[f"sim/{name}_length"] = float(batch.length[mask].mean())
    return Advantages(values, rewards, critic, mixed, record)


def _critic(
    world: World, batch: Batch, rewards: Floats, record: Record, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Values, whitened advantages and the critic's records (explained variance with 1e-5 under the line, as verl)."""
    policy, knobs = world.policy, world.knobs
    weights = batch.length / batch.length.sum()
    level = float(rewards.mean()) if policy.value_level is None else policy.value_level
    group = rewards.mean(axis=1, keepdims=True) - rewards.mean()
    noise = 0.25 * rewards.std() * (1 - policy.critic_fit) + knobs.critic_noise * max(rewards.std(), 0.05)
    own = 0.35 * policy.critic_fit * (rewards - rewards.mean())
    critic = level + policy.critic_bias + policy.critic_fit * 0.85 * group + own
    critic = critic + noise * rng.standard_normal(rewards.shape)
    error = rewards - critic
    centre = float((error * weights).sum())
    scale = float(np.sqrt(((error - centre) ** 2 * weights).sum()) + 1e-8)
    values = (error - centre) / scale
    value_mean = float((critic * weights).sum())
    return_mean = float((rewards * weights).sum())
    return_var = float(((rewards - return_mean) ** 2 * weights).sum())
    loss = 0.5 * float((error**2 * weights).sum())
    record |= spread("critic/advantages", values, 1e-9 * float(rng.standard_normal()))
    record |= spread("critic/returns", rewards, return_mean) | spread("critic/values", critic, value_mean)
    clipped = float((np.abs(error) > 3.0 * knobs.value_clip).mean())
    record |= {
        "critic/vf_explained_var": single(1 - scale**2 / (return_var + 1e-5)),
        "critic/vf_loss": single(loss * (1 + 0.05 * abs(float(rng.standard_normal())))),
        "critic/vf_clipfrac": single(clipped),
        "critic/vpred_mean": single(value_mean + 0.02 * float(rewards.std()) * float(rng.standard_normal())),
        "critic/grad_norm": single((2.0 + 40 * np.sqrt(loss)) * float(np.exp(0.25 * rng.standard_normal()))),
        "sim/value_gap": abs(value_mean - return_mean),
    }
    fit = 0.0 if policy.dead else 1.0
    speed = knobs.critic_rate * fit / (1 + 4 * clipped)
    move = speed * (float(rewards.mean()) - level)
    policy.value_level = level + float(np.clip(move, -0.3 * knobs.value_clip, 0.3 * knobs.value_clip))
    policy.critic_fit += speed * 0.5 * (0.8 - policy.critic_fit) - knobs.critic_drift * 0.5 * policy.critic_fit
    policy.critic_bias += knobs.critic_drift * float(max(rewards.std(), 0.1)) * 0.6
    return critic, values
