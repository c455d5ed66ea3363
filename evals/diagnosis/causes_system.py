"""Causes in machines and services: the engine, the tools, the trainer's kernels, the hosts."""

from __future__ import annotations

import numpy as np

from evals.diagnosis.causes_policy import plain
from evals.diagnosis.modes import mode
from evals.diagnosis.setups import agentic, draw
from evals.diagnosis.simulate import Scenario
from evals.diagnosis.world import World


def snapshots(rng: np.random.Generator) -> Scenario:
    """With ROLL's memory snapshots."""
    return draw(rng, debug_memory=True, params=float(rng.choice([7.0, 14.0])))


def heavy(rng: np.random.Generator) -> Scenario:
    """A model large enough for its update to take time."""
    return draw(rng, params=14.0, gpus=8, cap=int(rng.choice([2048, 4096, 8192])))


@mode(
    "FM-27",
    "tools are down or slow",
    "verl TRL",
    agentic,
    "timing_s/agent_loop/tool_calls/mean ratio > 4",
    "tools/failure_frequency diff > 0.2",
    "sim/score01 diff < -0.04",
    "actor/entropy fold < 1.6",
)
def outage(world: World, since: int, k: float) -> None:
    world.knobs.tool_fail = 0.2 + 0.55 * k
    if since == 0:
        world.knobs.tool_latency *= 4 + 20 * k


@mode(
    "FM-30",
    "a few very slow trajectories hold up every step",
    "verl ROLL",
    plain,
    "sim/busy ratio < 0.6",
    "timing_s/gen ratio > 1.6",
    "sim/gen_share level > 0.6",
)
def long_tail(world: World, since: int, k: float) -> None:
    world.knobs.tail = 0.2 + 0.8 * k


@mode(
    "FM-31",
    "the engine is out of KV memory: requests wait and are preempted",
    "verl",
    plain,
    "timing_s/agent_loop/num_preempted/mean level > 0.1",
    "sim/busy ratio > 1.2",
    "timing_s/gen ratio > 1.2",
    "perf/throughput ratio < 0.9",
)
def saturation(world: World, since: int, k: float) -> None:
    world.knobs.queue = 0.15 + 0.85 * k


@mode(
    "FM-32",
    "training itself becomes slow",
    "verl ROLL",
    heavy,
    "perf/mfu/actor ratio < 0.7",
    "timing_per_token_ms/update_actor ratio > 1.4",
    "perf/throughput ratio < 0.97",
)
def slow_training(world: World, since: int, k: float) -> None:
    world.knobs.update_slow = 1 + 2.2 * k
    world.knobs.forward_slow = 1 + 4 * k


@mode(
    "FM-33",
    "some ranks get much more to do than others",
    "verl",
    heavy,
    "sim/imbalance level > 0.05",
    "timing_per_token_ms/update_actor ratio > 1.04",
)
def imbalance(world: World, since: int, k: float) -> None:
    world.knobs.imbalance = 0.04 + 0.3 * k


@mode(
    "FM-34",
    "memory leaks",
    "verl ROLL",
    snapshots,
    "perf/cpu_memory_used_gb diff > 20",
    "sim/start_allocated diff > 1.5",
    "perf/max_memory_reserved_gb diff > 1.5",
)
def leak(world: World, since: int, k: float) -> None:
    world.knobs.leak = 0.06 + 0.3 * k
