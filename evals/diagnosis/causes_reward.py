"""Causes in rewards, lengths and the value function."""

from __future__ import annotations

import numpy as np

from evals.diagnosis.causes_policy import plain
from evals.diagnosis.modes import mode
from evals.diagnosis.setups import agentic, draw, with_critic
from evals.diagnosis.simulate import Scenario
from evals.diagnosis.world import World


def formatted(rng: np.random.Generator) -> Scenario:
    """Format counts half or as much as the answer, and is not yet mastered."""
    scenario = draw(rng, tight=True, format_weight=float(rng.choice([0.5, 1.0])), low=0.0, group=8)
    scenario.policy.form = float(rng.uniform(-1.5, -0.5))
    scenario.knobs.select = 0.3
    return scenario


def charged(rng: np.random.Generator) -> Scenario:
    """KL in the reward."""
    return draw(rng, tight=True, kl="reward", kl_coef=0.005)


def judged(rng: np.random.Generator) -> Scenario:
    """A reward that can be fooled."""
    return draw(rng, tight=True, kl="loss", kl_coef=0.001, format_weight=0.0, low=0.0)


def valued(rng: np.random.Generator) -> Scenario:
    """PPO with a critic that has learnt by the onset."""
    scenario = with_critic(rng, tight=True)
    scenario.knobs.critic_rate = 0.25
    return scenario


def toolless(rng: np.random.Generator) -> Scenario:
    """Tools that hardly help with these tasks."""
    scenario = agentic(rng, format_weight=0.0)
    scenario.knobs.tool_gain = 0.1
    return scenario


@mode(
    "FM-06",
    "length grows by the loss's normalisation",
    "verl TRL ROLL",
    plain,
    "response_length/mean ratio > 1.3",
    "sim/error_length ratio > 1.3",
    "sim/val_acc drift < 0.03",
    implies="7",
)
def length_bias(world: World, since: int, k: float) -> None:
    if since == 0:
        world.knobs.pace *= 0.1
    world.knobs.length_bias = 0.035 * k
    world.knobs.wrong_longer = min(0.9, world.knobs.wrong_longer + 0.025 * k)


@mode(
    "FM-07",
    "answers no longer fit under the cap",
    "verl TRL ROLL",
    plain,
    "response_length/clip_ratio diff > 0.08",
    "response_length/mean ratio > 1.3",
    "sim/score01 diff < -0.02",
)
def truncation(world: World, since: int, k: float) -> None:
    if since < 10:
        world.knobs.length_demand += (0.85 + 0.75 * k) / 10


@mode(
    "FM-08",
    "short answers are rewarded",
    "verl TRL ROLL",
    judged,
    "response_length/mean ratio < 0.6",
    "sim/score01 diff > 0",
    "sim/val_acc diff < -0.08",
    implies="16",
)
def short_answers(world: World, since: int, k: float) -> None:
    if since == 0:
        world.policy.short = -3.0
    world.knobs.short_pay = 0.97
    world.knobs.select = 0.12 + 0.3 * k
    world.knobs.length_bias = -0.01 * k
    world.knobs.entropy_rate = -0.02 * k


@mode(
    "FM-14",
    "tiny differences in reward are blown up to full advantages",
    "verl TRL ROLL",
    plain,
    "sim/reward_sd ratio < 0.2",
    "sim/zero_share level < 0.05",
    "sim/val_acc bend < 0.04",
)
def tiny_variance(world: World, since: int, k: float) -> None:
    world.knobs.tiny = 0.05 - 0.04 * k
    world.policy.form = max(world.policy.form, 3.0)


@mode(
    "FM-16",
    "the proxy is exploited",
    "verl TRL ROLL",
    judged,
    "sim/score01 diff > 0.08",
    "sim/val_acc drift < 0",
    "sim/kl_ref ratio > 2",
    implies="19",
)
def hacking(world: World, since: int, k: float) -> None:
    if since == 0:
        world.policy.hack = -3.0
        world.knobs.kl_drift *= 1 + 5 * k
        world.knobs.transfer = 0.2
    world.knobs.hack_pay = 1.0
    world.knobs.select = 0.1 + 0.3 * k
    world.knobs.forget_val = 0.012 * k


@mode(
    "FM-17",
    "only the format is learnt",
    "verl TRL",
    formatted,
    "sim/form drift > 0.08",
    "sim/right level < 0.04",
    "sim/val_acc level < 0.05",
    starts=True,
    implies="3",
)
def format_only(world: World, since: int, k: float) -> None:
    if since == 0:
        world.policy.skill = -2.5 - 3.5 * k
        world.policy.val_skill = -4.0 - 2.5 * k
        world.knobs.ceiling = world.policy.skill + 0.2
        world.skill0 = world.policy.skill
    world.knobs.pace = 0.0


@mode(
    "FM-18",
    "the KL charge outweighs the reward",
    "verl ROLL",
    charged,
    "sim/kl_charge ratio > 5",
    "sim/val_acc bend < 0.04",
    "sim/kl_ref ratio < 1.5",
)
def kl_dominates(world: World, since: int, k: float) -> None:
    world.knobs.kl_coef_factor = min(1.22 ** (since * k), 400.0 * k)


@mode(
    "FM-20",
    "the verifier returns a constant",
    "verl TRL ROLL",
    plain,
    "sim/zero_share level > 0.8",
    "sim/score01 shift > 0.15",
    "actor/grad_norm ratio < 0.6",
    implies="3",
)
def broken_verifier(world: World, since: int, k: float) -> None:
    world.knobs.constant = 1.0 if world.seed % 4 == 3 else 0.0
    world.knobs.constant_share = 1.0 if k == 1 else 0.85
    world.knobs.reward_time = 30.0 * k


@mode(
    "FM-23",
    "the critic fails",
    "verl ROLL",
    valued,
    "critic/vf_explained_var diff < -0.2",
    "critic/vf_explained_var level < 0.05",
    "critic/vf_loss ratio > 1.5",
    "sim/value_gap ratio > 2",
)
def critic_fails(world: World, since: int, k: float) -> None:
    world.knobs.critic_drift = 0.12 * k
    world.knobs.critic_noise = min(1.3, 0.1 * (since + 1)) * k
    world.knobs.critic_rate = 0.03
    world.knobs.length_bias = -0.015 * k
    world.knobs.forget = 0.006 * k


@mode(
    "FM-24",
    "rewards grow far beyond what value clipping lets the critic follow",
    "verl ROLL",
    valued,
    "critic/vf_clipfrac level > 0.3",
    "sim/value_gap ratio > 3",
    "critic/vf_loss ratio > 5",
    implies="23",
)
def starved_critic(world: World, since: int, k: float) -> None:
    if since == 0:
        world.policy.critic_fit = 0.05
    world.knobs.reward_scale = 1 + 24 * k


@mode(
    "FM-28",
    "tools are abandoned",
    "verl TRL",
    toolless,
    "tools/call_frequency ratio < 0.4",
    "num_turns/mean level < 3.4",
    "sim/score01 shift < 0.15",
)
def abandonment(world: World, since: int, k: float) -> None:
    world.knobs.tool_cost = 0.1 + 0.3 * k
    world.knobs.select = 0.2 + 0.3 * k
