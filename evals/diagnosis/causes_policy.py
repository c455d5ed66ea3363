"""Causes in the policy, its optimiser and the numbers it is trained on."""

from __future__ import annotations

import numpy as np

from evals.diagnosis.modes import mode
from evals.diagnosis.setups import agentic, draw, reset
from evals.diagnosis.simulate import Scenario
from evals.diagnosis.world import World


def plain(rng: np.random.Generator) -> Scenario:
    """A run whose validation is large enough to show a change."""
    return draw(rng, tight=True)


def monitored(rng: np.random.Generator) -> Scenario:
    """With a logged divergence from the reference and hardly any charge for it."""
    return draw(rng, tight=True, kl="loss", kl_coef=1e-5)


def compared(rng: np.random.Generator) -> Scenario:
    """With trainer and engine compared."""
    return draw(rng, tight=True, mismatch_logged=True)


def several_updates(rng: np.random.Generator) -> Scenario:
    """With several updates a step."""
    return draw(rng, tight=True, minibatches=int(rng.choice([4, 8])), warmup=0)


def experts(rng: np.random.Generator) -> Scenario:
    """A mixture of experts."""
    scenario = draw(rng, moe=True, mismatch_logged=True, params=30.0, minibatches=4)
    scenario.policy.mismatch = float(rng.uniform(8e-4, 1.5e-3))
    scenario.knobs.routing = 0.02
    return scenario


def behind(rng: np.random.Generator) -> Scenario:
    """Asynchronous, hardly behind."""
    scenario = draw(rng, tight=True, asynchronous=True, mismatch_logged=True)
    scenario.knobs.staleness = 0.4
    return scenario


def tools(rng: np.random.Generator) -> Scenario:
    """Multi-turn, trainer and engine compared."""
    return agentic(rng, mismatch_logged=True)


@mode(
    "FM-01",
    "entropy collapse",
    "verl TRL ROLL",
    plain,
    "actor/entropy ratio < 0.3",
    "sim/zero_share diff > 0.06",
    "actor/grad_norm ratio < 0.8",
    "sim/val_acc drift < 0.03",
    implies="3",
)
def entropy_collapse(world: World, since: int, k: float) -> None:
    world.knobs.entropy_rate = -0.3 * k
    world.knobs.entropy_floor = 0.004


@mode(
    "FM-02",
    "entropy explosion, drift into gibberish",
    "verl TRL ROLL",
    plain,
    "actor/entropy ratio > 2",
    "response_length/mean ratio > 1.3",
    "response_length/clip_ratio diff > 0.05",
    "sim/score01 diff < -0.1",
    implies="7",
)
def entropy_explosion(world: World, since: int, k: float) -> None:
    world.knobs.entropy_rate = 0.14 * k


@mode(
    "FM-09",
    "trainer and inference engine drift apart",
    "verl TRL ROLL",
    compared,
    "rollout_corr/k3_kl ratio > 8",
    "actor/grad_norm peak > 3",
    "sim/score01 diff < -0.08",
    implies="2 7",
)
def mismatch_collapse(world: World, since: int, k: float) -> None:
    world.knobs.mismatch_growth = 0.22 * k


@mode(
    "FM-10",
    "the engine holds wrong weights after a sync",
    "verl TRL ROLL",
    compared,
    "rollout_corr/k3_kl ratio > 30",
    "training/rollout_actor_probs_pearson_corr diff < -0.05",
    "sim/score01 diff < -0.12",
    "sim/val_acc diff < -0.1",
    implies="7",
)
def wrong_weights(world: World, since: int, k: float) -> None:
    world.knobs.engine_damage = 0.9 * k
    world.policy.mismatch = max(world.policy.mismatch, 0.25 * k)


@mode(
    "FM-11",
    "experts are routed differently from step to step",
    "verl",
    experts,
    "actor/pg_clipfrac ratio > 3",
    "rollout/moe/max_vio/avg ratio > 2",
    "rollout_corr/k3_kl ratio > 2.5",
    "actor/grad_norm peak > 3",
    implies="9 12",
)
def routing(world: World, since: int, k: float) -> None:
    world.knobs.routing = min(0.9 * k, 0.02 + 0.06 * k * (since + 1))
    world.policy.mismatch = min(9e-3 * k, world.policy.mismatch * (1 + 0.12 * k))


@mode(
    "FM-12",
    "policy steps too large: learning rate or updates a batch",
    "verl TRL ROLL",
    several_updates,
    "actor/ppo_kl level > 0.003",
    "actor/pg_clipfrac ratio > 6",
    "actor/grad_norm ratio > 1.25",
)
def large_steps(world: World, since: int, k: float) -> None:
    if world.seed % 2:
        world.knobs.lr_factor = 1 + 14 * k
    else:
        world.knobs.steps_factor = 1 + 14 * k


@mode(
    "FM-13",
    "nothing is updated",
    "verl TRL ROLL",
    monitored,
    "actor/ppo_kl level < 1e-9",
    "actor/pg_clipfrac level < 1e-9",
    "sim/kl_ref bend < 0.002",
    "sim/val_acc bend < 0.03",
    "actor/entropy bend < 0.02",
)
def no_update(world: World, since: int, k: float) -> None:
    if k < 1:
        world.knobs.learn = 0.01
    elif world.seed % 3 == 0:
        world.knobs.lr_factor = 0.0
    elif world.seed % 3 == 1:
        world.knobs.frozen = True
    else:
        world.knobs.learn = 0.0


@mode(
    "FM-15",
    "gradients that are not finite",
    "verl TRL ROLL",
    plain,
    "actor/grad_norm nan > 0.5",
    "sim/score01 diff < -0.2",
    implies="3 7 20",
)
def not_finite(world: World, since: int, k: float) -> None:
    world.knobs.nan_rate = 1.0 if k == 1 else 0.3
    if k == 1 and since >= 1:
        world.policy.dead = True


@mode(
    "FM-19",
    "the reference is left behind, nothing holds the policy",
    "verl TRL ROLL",
    monitored,
    "sim/kl_ref ratio > 5",
    "sim/val_acc drift < -0.02",
)
def reference_drift(world: World, since: int, k: float) -> None:
    world.knobs.kl_growth = 0.14 * k
    world.knobs.forget_val = 0.03 * k


@mode(
    "FM-25",
    "samples come from policies many versions old",
    "verl",
    behind,
    "training/off_policy/trajectory_staleness/mean ratio > 3",
    "rollout_corr/rollout_is_eff_sample_size diff < -0.1",
    "actor/pg_clipfrac ratio > 2.5",
    implies="12",
)
def staleness(world: World, since: int, k: float) -> None:
    world.knobs.staleness = 0.4 + min(1.0, (since + 1) / 6) * 5 * k


@mode(
    "FM-26",
    "void turns and improbable tokens in multi-turn rollouts",
    "verl TRL",
    tools,
    "num_turns/mean diff > 1",
    "actor/grad_norm ratio > 2.5",
    "tools/failure_frequency diff > 0.08",
    "sim/score01 diff < -0.1",
    implies="9",
)
def void_turns(world: World, since: int, k: float) -> None:
    if since == 0:
        world.policy.void = -5.0
    world.knobs.void_growth = 0.24 * k


@mode(
    "FM-29",
    "answers repeat themselves to the cap",
    "verl TRL ROLL",
    plain,
    "response_length/clip_ratio diff > 0.1",
    "response_length/mean ratio > 1.3",
    "actor/entropy ratio < 0.8",
    "sim/score01 diff < -0.06",
    implies="7",
)
def loops(world: World, since: int, k: float) -> None:
    if since == 0:
        world.policy.loop = -5.0
    world.knobs.loop_growth = 0.22 * k


@mode(
    "FM-39",
    "updates from negative advantages only",
    "verl ROLL",
    several_updates,
    "critic/advantages/mean diff < -0.08",
    "sim/clip_low ratio > 1.3",
    "actor/entropy ratio > 1.1",
)
def negative_updates(world: World, since: int, k: float) -> None:
    world.knobs.positive = 1 - 0.8 * k
    world.knobs.entropy_rate = 0.01 * k


def _resume(scenario: Scenario, onset: int) -> None:
    """Stops the process some steps later than the checkpoint before the onset, from which it goes on."""
    back = int((onset * 7) % 4)
    stop = min(scenario.setup.steps - 1, onset - 1 + back)
    scenario.restarts[stop] = onset - 1


def _bad_resume(scenario: Scenario, onset: int, k: float) -> None:
    reset(scenario, kl="loss", warmup=5, decay="cosine")
    _resume(scenario, onset)

    def resumed(world: World) -> None:
        world.policy.kl = 0.0
        world.lr_origin = world.step - 5
        world.grad_noise = 5 * k
        world.policy.skill -= 0.4 * k
        world.policy.val_skill -= 0.3 * k

    scenario.resumed.append(resumed)


@mode(
    "FM-38",
    "resume with another reference, schedule and optimiser state",
    "verl TRL ROLL",
    monitored,
    "sim/kl_ref next < 0.4",
    "actor/lr next > 1.05",
    "actor/grad_norm peak > 1.8",
    prepare=_bad_resume,
)
def discontinuity(world: World, since: int, k: float) -> None:
    """All happens at the restart."""


def _new_scale(scenario: Scenario, onset: int, k: float) -> None:
    _resume(scenario, onset)

    def resumed(world: World) -> None:
        factor = (2.0, 8.0)[k == 1] * (2 if world.seed % 3 == 0 else 1)
        world.knobs.loss_scale = factor if world.seed % 2 else 1 / factor

    scenario.resumed.append(resumed)


@mode(
    "FM-40",
    "the loss is scaled otherwise after a restart",
    "verl TRL",
    monitored,
    "actor/kl_loss jump > 1.7",
    "sim/kl_ref jump < 1.5",
    "actor/grad_norm jump < 1.6",
    prepare=_new_scale,
)
def loss_scale(world: World, since: int, k: float) -> None:
    """All happens at the restart."""
