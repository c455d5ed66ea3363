"""The update: how a batch moves the latent state, and what the actor's metrics show of it.

Ability grows by the covariance of advantage and success; habits (format, hacks, tools, short answers) by replicator
dynamics on their mean advantage; length by its covariance with the advantage. The gradient's noise, the size of the
policy step, clip fractions and divergences follow from the signal in the groups, the learning rate, the number of
updates a step, staleness and the gap between trainer and engine.
"""

from __future__ import annotations

import numpy as np

from evals.diagnosis.advantages import Advantages, single
from evals.diagnosis.batch import Batch
from evals.diagnosis.world import Bools, Floats, Record, World, sigmoid

NAN = float("nan")


def selection(advantage: Floats, trait: Bools) -> float:
    """Mean advantage of answers with a trait over those without, shrunk where there are few."""
    have = int(trait.sum())
    lack = trait.size - have
    if not have or not lack:
        return 0.0
    gap = float(advantage[trait].mean() - advantage[~trait].mean())
    return gap * have / (have + 3) * lack / (lack + 3)


def learn(world: World, batch: Batch, adv: Advantages, rng: np.random.Generator) -> Record:
    """Actor metrics of the step, which then moves the policy."""
    knobs, policy, setup = world.knobs, world.policy, world.setup
    noise = rng.standard_normal(24)
    broken = policy.dead or rng.random() < knobs.nan_rate
    corrupt = 1.0 if policy.dead else sigmoid(policy.corrupt)
    loops = sigmoid(policy.loop)
    power = float(np.sqrt((adv.values**2).mean()))
    if setup.algorithm == "drgrpo":
        power *= 2.0 / max(setup.high - setup.low, 0.1) / max(knobs.reward_scale, 1e-6)
    waiting = world.step <= knobs.warm_critic
    rate = 0.0 if waiting else world.rate * knobs.learn
    still = rate == 0.0 or knobs.frozen
    pull = setup.kl_coef * knobs.kl_coef_factor if setup.kl != "none" else 0.0
    hold = 1.0 / (1.0 + 12.0 * pull)
    step = 0.0 if still else rate * knobs.steps_factor * power * hold
    record: Record = {}
    record |= _state(world, batch, corrupt, loops, noise)
    record |= _mismatch(world, record["actor/entropy"], noise)
    gap = policy.mismatch
    void = sigmoid(policy.void) if setup.agentic else 0.0
    spike = 1.0 + (float(np.exp(0.6 + 0.9 * abs(noise[0]))) if rng.random() < knobs.spike_rate else 0.0)
    fresh = 1.0 + world.grad_noise
    grad = world.grad_level * (power + 0.08 * min(1.0, 50 * pull * policy.kl)) * knobs.grad_scale * fresh * spike
    grad *= float(np.exp(0.09 * noise[1] * (1 + (256 / setup.size) ** 0.5)))
    grad *= 1 + 8 * corrupt * (1 - corrupt) + 2 * corrupt + _blow(world) + 12 * void
    grad *= 1 + 0.12 * max(0.0, step - 1) + 1.5 * knobs.routing * (1 + (noise[2] > 0.8) * 3)
    grad *= (policy.entropy / policy.entropy0) ** 0.25
    record |= _ratios(world, step, corrupt, noise)
    adv_mean = float((adv.values * batch.length).sum() / batch.length.sum())
    loss = -adv_mean if setup.algorithm != "ppo" else -0.01 + 0.012 * float(noise[3])
    record["actor/pg_loss"] = loss * knobs.loss_scale * (1 + 0.02 * float(noise[4]))
    if setup.kl == "loss":
        record["actor/kl_loss"] = record["sim/kl_ref"] * knobs.loss_scale
        record["actor/kl_coef"] = setup.kl_coef * knobs.kl_coef_factor
    record["actor/grad_norm"] = 0.0 if knobs.frozen else grad
    record["actor/lr"] = setup.lr * world.rate
    if broken:
        record |= dict.fromkeys(("actor/grad_norm", "actor/pg_loss"), NAN)
        if setup.kl == "loss":
            record["actor/kl_loss"] = NAN
    if policy.dead:
        record |= dict.fromkeys(("actor/entropy", "actor/ppo_kl", "sim/kl_ref"), NAN)
    if waiting:
        for key in [key for key in record if key.startswith("actor/") and key not in {"actor/entropy"}]:
            del record[key]
    if not (still or broken):
        _move(world, batch, adv, rate=rate, step=step, hold=hold, pull=pull, noise=noise)
    if not (broken or waiting):
        _drift(world, gap, step, void)
    return record


def _blow(world: World) -> float:
    """How far a trainer that drifts from its engine inflates the gradient; a wrong copy of the weights does not."""
    gap = world.policy.mismatch
    return 0.0 if gap < 0.003 or world.knobs.engine_damage else min(gap / 0.008, 40.0)


def _state(world: World, batch: Batch, corrupt: float, loops: float, noise: Floats) -> Record:
    """Entropy and divergence from the reference as measured on this batch."""
    policy, setup = world.policy, world.setup
    blur = 0.03 + 0.35 / np.sqrt(setup.size)
    tokens = batch.length.sum()
    stuck = loops * setup.cap * batch.length.size / max(tokens, 1)
    entropy = policy.entropy * (1 - 0.8 * min(stuck, 1.0)) * (1 + blur * 0.5 * noise[5]) + 2.5 * corrupt
    if world.knobs.engine_damage:
        entropy *= 1 + 0.4 * world.knobs.engine_damage
    kl = policy.kl * (1 + blur * 1.5 * abs(1 + noise[6])) + 1.2 * corrupt * (1 - (policy.kl == 0))
    return {
        "actor/entropy": single(max(float(entropy), 1e-4)),
        "sim/kl_ref": single(float(kl)),
        "sim/corrupt": corrupt,
    }


def _mismatch(world: World, entropy: float, noise: Floats) -> Record:
    """Trainer against engine: ``rollout_corr/*`` (verl ``rollout_corr_helper``); k3 - k1 = mean ratio - 1."""
    level = world.policy.mismatch * float(np.exp(0.12 * noise[7]))
    ratio = 1 + 0.12 * np.sqrt(level) * 0.05 * noise[8] - min(0.3, 0.4 * level)
    k3 = single(level)
    chi2 = single(float(2.2 * level * np.exp(0.1 * noise[9])))
    k1 = single(k3 - (float(ratio) - 1))
    # a damaged engine samples what the trainer finds unlikely
    log_ppl = entropy * (1 + 0.02 * noise[10]) + min(6.0, 8 * level)
    diff = k1 * (1 + 0.05 * noise[11])
    wide = abs(diff) + 0.4 * float(np.sqrt(level)) * 0.1
    worst = wide * (3 + abs(noise[12]))
    shown = min(1.0, 0.25 + 0.05 * abs(noise[13]) + 3 * float(np.sqrt(level)))
    return {
        "rollout_corr/kl": k1,
        "rollout_corr/k3_kl": k3,
        "rollout_corr/training_log_ppl": single(float(log_ppl)),
        "rollout_corr/rollout_log_ppl": single(float(log_ppl - diff)),
        "rollout_corr/training_ppl": single(float(np.exp(min(log_ppl, 20)))),
        "rollout_corr/rollout_ppl": single(float(np.exp(min(log_ppl - diff, 20)))),
        "rollout_corr/log_ppl_diff": single(float(log_ppl)) - single(float(log_ppl - diff)),
        "rollout_corr/log_ppl_abs_diff": single(float(wide)),
        "rollout_corr/log_ppl_diff_max": single(float(worst)),
        "rollout_corr/log_ppl_diff_min": single(float(-worst * 0.8)),
        "rollout_corr/chi2_token": chi2,
        "training/rollout_probs_diff_mean": single(float(min(0.6, 0.16 * np.sqrt(level)))),
        "training/rollout_probs_diff_max": single(float(shown)),
        "training/rollout_probs_diff_std": single(float(min(0.5, 0.4 * np.sqrt(level)))),
        "training/rollout_actor_probs_pearson_corr": single(float(max(0.05, 1 - 3 * level * (1 + 0.1 * noise[14])))),
        "sim/is_mean": float(ratio),
    }


def _ratios(world: World, step: float, corrupt: float, noise: Floats) -> Record:
    """Clip fractions, ``ppo_kl``, extreme ratios and importance weights; exactly 0 and 1 on a strictly fresh batch."""
    knobs, setup = world.knobs, world.setup
    late = world.knobs.staleness
    wild = knobs.routing
    fresh = setup.minibatches == 1 and not setup.asynchronous
    base = 0.0 if fresh or step == 0 else 1.0
    push = base * (step**1.3 + 2.2 * late**1.2 + 12 * wild + 20 * corrupt)
    clip = min(0.9, world.clip_level * knobs.clip_scale * push * float(np.exp(0.12 * noise[15])))
    low_share = float(np.clip(0.4 + 0.55 * (1 - knobs.positive) + 0.03 * noise[16], 0.02, 0.98))
    kl = base * (4e-5 * step**2.3 + 4e-4 * late**2 + 2e-3 * wild + 1e-5 * (1 + step) * float(noise[17]))
    lower = base * min(0.05, 1e-7 * (1 + 0.5 * abs(noise[18])) * step**4.0) * (1 + 6 * (1 - knobs.positive))
    peak = base * (0.25 * (1 + 0.1 * abs(noise[19])) * (1 + step**0.8) + 14 * wild + 1.5 * late)
    weight_spread = 0.02 + 0.09 * late * (1 + 0.1 * float(noise[20]))
    return {
        "actor/pg_clipfrac": clip,
        "sim/clip_low": clip * low_share,
        "sim/clip_high": clip * (1 - low_share),
        "actor/ppo_kl": kl,
        "actor/pg_clipfrac_lower": lower,
        "sim/ratio_max": 1 + peak,
        "sim/ratio_min": 1 / (1 + peak),
        "sim/ratio_mean": 1 + base * 2e-4 * (1 + step) * float(noise[21]),
        "training/off_policy/trajectory_staleness/mean": late * (0.8 + 0.02 * float(noise[22])),
        "training/off_policy/trajectory_staleness/max": float(np.ceil(late * 2)),
        "training/off_policy/trajectory_staleness/min": 0.0,
        "rollout_corr/rollout_is_mean": 1 - 0.35 * weight_spread**2 - min(0.2, 0.03 * late),
        "rollout_corr/rollout_is_std": weight_spread,
        "rollout_corr/rollout_is_eff_sample_size": 1 / (1 + 2.5 * weight_spread**2 + 0.5 * weight_spread),
        "rollout/moe/max_vio/avg": 0.4 + 3.5 * wild + 0.03 * abs(float(noise[23])),
        "rollout/moe/min_vio/avg": -min(1.0, 0.35 + 0.65 * min(wild, 1.0)),
    }


def _move(
    world: World,
    batch: Batch,
    adv: Advantages,
    *,
    rate: float,
    step: float,
    hold: float,
    pull: float,
    noise: Floats,
) -> None:
    """Gradient's effect on ability, entropy, length, habits and the distance from the reference."""
    knobs, policy, setup = world.knobs, world.policy, world.setup
    values = adv.values
    if setup.algorithm == "drgrpo":
        values = values * 2.0 / max(setup.high - setup.low, 0.1)
    if setup.algorithm == "ppo":
        values = values * 0.8
    centred = batch.correct - batch.correct.mean(axis=1, keepdims=True)
    signal = float((values * centred).mean()) / 0.25
    explore = min(1.0, policy.entropy / (0.22 * policy.entropy0))
    room = float(np.sqrt(max(0.0, knobs.ceiling - policy.skill) / max(0.3, knobs.ceiling - world.skill0)))
    dull = 1 / (1 + 0.5 * knobs.staleness + 25 * max(0.0, policy.mismatch - 0.004) + 0.3 * max(0.0, step - 4))
    size = min(3.0, rate * hold * min(3.0, knobs.steps_factor))
    rate = min(rate, 3.0)
    gain = knobs.pace * size * signal * explore * room * dull
    wander = 0.006 * step * noise[0] * (256 / setup.size) ** 0.5 * (1 + 1.2 * max(0.0, step - 3))
    policy.skill += gain + wander - 0.012 * max(0.0, step - 5) - knobs.forget * rate
    policy.val_skill += knobs.transfer * gain + 0.8 * wander - 0.012 * max(0.0, step - 5) - knobs.forget_val * rate
    policy.val_skill -= 0.012 * policy.kl * (knobs.kl_growth > 0)
    if world.epoch >= 1:
        policy.memory += knobs.memorise * rate * min(1.0, signal)
    floor = knobs.entropy_floor
    down = knobs.entropy_rate * rate * hold * min(1.5, 0.3 + 0.7 * adv.mixed)
    if down < 0:
        down *= max(0.0, 1 - floor / policy.entropy)
    down += 0.05 * (1 - knobs.positive) * rate
    jump = 0.004 * step * noise[1] + 0.05 * max(0.0, step - 4) ** 0.5 * noise[2]
    policy.entropy = float(np.clip(policy.entropy * np.exp(down + jump), 2e-3, 6.0))
    logs = np.log(np.maximum(batch.length, 1))
    tilt = float((values * (logs - logs.mean(axis=1, keepdims=True))).mean())
    policy.log_length += rate * hold * (0.06 * tilt + knobs.length_bias) + 0.002 * step * noise[3]
    policy.log_length = float(np.clip(policy.log_length, 1.0, np.log(setup.cap) + 0.4))
    push = knobs.select * rate * hold
    policy.form = min(policy.form + push * selection(values, batch.form), 6.0)
    policy.hack = min(policy.hack + push * selection(values, batch.hack), 5.0)
    policy.short = min(policy.short + push * selection(values, batch.short), 5.0)
    if setup.agentic:
        policy.tool = float(np.clip(policy.tool + push * selection(values, batch.calls > 0), -7, 4.0))
    drift = knobs.kl_drift * (0.25 * rate + 0.75 * step) + knobs.kl_growth * max(policy.kl, 0.002) * rate
    policy.kl = max(0.0, policy.kl + drift - policy.kl * min(0.07, 0.5 * pull * rate))


def _drift(world: World, gap: float, step: float, void: float) -> None:
    """What feeds on itself: mismatch, loops, void turns and the fall into gibberish."""
    knobs, policy = world.knobs, world.policy
    policy.mismatch = min(2.0, policy.mismatch * float(np.exp(knobs.mismatch_growth)) + 0.004 * void)
    policy.loop = min(2.0, policy.loop + knobs.loop_growth)
    policy.void = min(2.5, policy.void + knobs.void_growth)
    heat = policy.entropy / policy.entropy0
    push = 0.55 * max(0.0, float(np.log(heat / 2.2))) * (policy.entropy > 0.5)
    push += 0.5 * max(0.0, float(np.log(gap / 0.012))) * (knobs.mismatch_growth > 0)
    push += 0.02 * max(0.0, step - 9)
    policy.corrupt = min(2.5, policy.corrupt + push - 0.03 * (policy.corrupt + 9) * (push == 0))
    if world.grad_noise:
        world.grad_noise = world.grad_noise * 0.6 if world.grad_noise > 0.02 else 0.0
