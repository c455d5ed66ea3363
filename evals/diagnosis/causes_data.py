"""Causes in data, prompts and how they are sampled."""

from __future__ import annotations

import numpy as np

from evals.diagnosis.causes_policy import monitored, plain
from evals.diagnosis.modes import mode
from evals.diagnosis.setups import draw, reset
from evals.diagnosis.simulate import Scenario
from evals.diagnosis.world import World


def filtered(rng: np.random.Generator) -> Scenario:
    """Dynamic sampling over data that still suits it."""
    scenario = draw(rng, format_weight=0.0)
    scenario.knobs.dynamic = True
    return scenario


def gaining(rng: np.random.Generator) -> Scenario:
    """Clear gains, score from the answer alone."""
    scenario = draw(rng, tight=True, format_weight=0.0, low=0.0, warmup=0, group=8, prompts=64)
    scenario.policy.skill = scenario.policy.val_skill = float(rng.uniform(-1.2, -0.7))
    scenario.knobs.pace *= 2
    scenario.knobs.spread = 3.5
    scenario.knobs.ceiling = scenario.policy.skill + 4
    return scenario


def uncertain(rng: np.random.Generator) -> Scenario:
    """Entropy of a base model."""
    scenario = draw(rng, tight=True)
    scenario.policy.entropy = scenario.policy.entropy0 = float(rng.uniform(0.5, 0.7))
    return scenario


def small_data(rng: np.random.Generator) -> Scenario:
    """A training set seen several times."""
    scenario = draw(rng, tight=True, kl="none")
    return reset(scenario, dataset=max(1, int(scenario.setup.steps * 0.3)) * scenario.setup.prompts)


def _side(world: World) -> float:
    """Whether data become too easy (-1) or too hard (1): the seed's choice."""
    return -1.0 if world.seed % 2 else 1.0


@mode(
    "FM-03",
    "groups without a signal: data far too easy or too hard",
    "verl TRL ROLL",
    plain,
    "sim/zero_share diff > 0.2",
    "sim/zero_share level > 0.5",
    "actor/grad_norm ratio < 0.85",
)
def zero_signal(world: World, since: int, k: float) -> None:
    if since < 8:
        world.knobs.difficulty += _side(world) * (1.2 + 4.8 * k) / 8
        world.knobs.spread *= 0.97


@mode(
    "FM-04",
    "dynamic sampling starves",
    "verl",
    filtered,
    "train/num_gen_batches ratio > 1.6",
    "timing_s/gen ratio > 1.5",
    "sim/raw_mixed diff < -0.15",
    implies="3 5",
)
def starvation(world: World, since: int, k: float) -> None:
    if since < 25:
        world.knobs.difficulty += _side(world) * (1.5 + 3.5 * k) / 25


@mode(
    "FM-05",
    "the training score is that of filtered groups",
    "verl ROLL",
    gaining,
    "sim/score01 bend < 0.1",
    "sim/val_acc drift > 0.06",
    "sim/zero_share level < 0.02",
    "train/num_gen_batches level > 1.2",
    starts=True,
)
def filtered_score(world: World, since: int, k: float) -> None:
    world.knobs.dynamic = True
    if k < 1 and since == 0:
        world.knobs.pace *= 0.7


@mode(
    "FM-21",
    "generation stops without the EOS token the trainer knows",
    "TRL",
    plain,
    "sim/unstopped level > 0.5",
    "sim/fill level < 0.6",
    "response_length/clip_ratio level < 0.15",
    starts=True,
)
def wrong_eos(world: World, since: int, k: float) -> None:
    world.knobs.no_eos = 0.3 + 0.69 * k


@mode(
    "FM-22",
    "prompts in a template the model was not trained on",
    "verl TRL ROLL",
    uncertain,
    "actor/entropy start > 0.9",
    "actor/entropy drift < -0.25",
    "sim/score01 drift > 0.2",
    starts=True,
)
def wrong_template(world: World, since: int, k: float) -> None:
    if since == 0:
        world.knobs.mislead = 1.2 + 1.6 * k
        world.policy.entropy *= 1.35 + 0.8 * k
    world.knobs.mislead *= 0.95
    if world.policy.entropy > world.policy.entropy0:
        world.policy.entropy *= 0.97


@mode(
    "FM-35",
    "the training set is learnt by heart",
    "verl TRL ROLL",
    small_data,
    "sim/score01 diff > 0.06",
    "sim/val_acc drift < -0.01",
    implies="1",
)
def overfitting(world: World, since: int, k: float) -> None:
    world.knobs.memorise = 0.09 * k
    world.knobs.transfer = 0.0
    world.knobs.forget_val = 0.014 * k
    world.knobs.entropy_rate = min(world.knobs.entropy_rate, -0.02 * k)


def _next_epoch(scenario: Scenario, onset: int, k: float) -> None:
    reset(scenario, dataset=scenario.setup.prompts * max(1, onset - 1))


@mode(
    "FM-37",
    "data of another kind from an epoch's end on",
    "verl ROLL",
    monitored,
    "sim/score01 shift > 0.12",
    "prompt_length/mean shift > 30",
    "actor/entropy fold < 1.5",
    prepare=_next_epoch,
)
def data_order(world: World, since: int, k: float) -> None:
    if since == 0:
        world.knobs.difficulty += _side(world) * (0.5 + 1.2 * k)
        world.knobs.prompt_shift += 40 + 60 * k
