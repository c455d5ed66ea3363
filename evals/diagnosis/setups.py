"""Ordinary settings drawn at random: batch shapes, models, benchmarks, rewards and noise as in public recipes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from evals.diagnosis.simulate import Scenario
from evals.diagnosis.world import Benchmark, Knobs, Policy, Setup

BENCHMARKS = (
    Benchmark("aime_2024", 30, 16, 10, 1.6, 1.6),
    Benchmark("aime_2025", 30, 30, 10, 1.9, 1.6),
    Benchmark("amc23", 40, 8, 10, 0.7, 1.7),
    Benchmark("math500", 500, 1, 10, 0.0, 1.9),
    Benchmark("math500", 500, 4, 10, 0.0, 1.9),
    Benchmark("openai/gsm8k", 1319, 1, 10, -0.8, 1.6),
)
TIGHT = (BENCHMARKS[3], BENCHMARKS[4], BENCHMARKS[5])
"""Benchmarks large enough to show a change of some points."""


def draw(rng: np.random.Generator, *, steps: int | None = None, tight: bool = False, **fixed: Any) -> Scenario:
    """A plain run that learns.

    Args:
        rng: of the case.
        steps: training steps; 60–110 if not given.
        tight: validate on a benchmark whose noise is small.
        fixed: fields of :class:`Setup` that are not left to chance.
    """
    length = int(steps if steps is not None else rng.integers(60, 111))
    group = int(rng.choice([4, 8, 8, 16]))
    prompts = int(rng.choice([32, 64, 96] if group == 4 else [32, 64] if group == 8 else [16, 32]))
    cap = int(rng.choice([1024, 2048, 4096, 8192]))
    bench = (TIGHT if tight else BENCHMARKS)[int(rng.integers(3 if tight else len(BENCHMARKS)))]
    bench = replace(bench, every=int(rng.choice([5, 10]) if length < 200 else rng.choice([10, 20])))
    signed = rng.random() < 0.25
    kl = str(rng.choice(["none", "loss", "loss", "reward"]))
    setup = Setup(
        steps=length,
        prompts=prompts,
        group=group,
        cap=cap,
        prompt_mean=float(rng.uniform(90, 340)),
        prompt_sd=float(rng.uniform(15, 60)),
        length_sd=float(rng.uniform(0.35, 0.55)),
        gpus=int(rng.choice([8, 16, 32])),
        dataset=int(rng.choice([7473, 12000, 17398, 40315])),
        kl=kl,  # type: ignore[arg-type]
        kl_coef=float(rng.choice([0.0005, 0.001, 0.005])),
        minibatches=int(rng.choice([1, 2, 4, 4, 8])),
        low=-1.0 if signed else 0.0,
        format_weight=float(rng.choice([0.0, 0.0, 0.1, 0.2])),
        mismatch_logged=bool(rng.random() < 0.4),
        lr=float(rng.choice([5e-7, 1e-6, 1e-6, 2e-6])),
        warmup=int(rng.choice([0, 0, 5, 10])),
        params=float(rng.choice([0.5, 1.5, 3.0, 7.0, 14.0])),
        save_every=int(rng.choice([0, 20])),
        validation=bench,
    )
    setup = replace(setup, **fixed)
    if setup.size % setup.parts:
        setup = replace(setup, parts=1)
    skill = float(rng.uniform(-0.9, 0.3))
    gain = float(rng.uniform(0.9, 1.9)) * min(1.0, length / 60)
    entropy = float(rng.uniform(0.25, 0.85))
    knobs = Knobs(
        pace=gain / length / 0.9,
        ceiling=skill + 1.7 * gain,
        transfer=float(rng.uniform(0.75, 1.0)),
        entropy_rate=-float(rng.uniform(0.15, 0.7)) / length,
        kl_drift=float(np.exp(rng.uniform(np.log(0.004), np.log(0.06)))) / length,
        spread=float(rng.uniform(1.1, 1.7)),
        think=float(rng.uniform(0.0, 0.15)),
        wrong_longer=float(rng.uniform(0.05, 0.2)),
        length_bias=float(rng.uniform(-0.1, 0.5)) / length,
        spike_rate=float(rng.choice([0.0, 0.01, 0.03])),
    )
    policy = Policy(
        skill=skill,
        val_skill=skill,
        entropy=entropy,
        entropy0=entropy,
        log_length=float(np.log(cap * rng.uniform(0.13, 0.24))),
        mismatch=float(np.exp(rng.uniform(np.log(1.5e-4), np.log(9e-4)))),
    )
    return Scenario(
        setup,
        knobs,
        policy,
        grad_level=float(np.exp(rng.uniform(np.log(0.12), np.log(0.9)))),
        clip_level=float(np.exp(rng.uniform(np.log(0.0012), np.log(0.004)))),
        tokens_per_second=float(rng.uniform(25, 60)),
    )


def agentic(rng: np.random.Generator, **fixed: Any) -> Scenario:
    """A multi-turn run with tools, as ReTool's."""
    scenario = draw(rng, **({"agentic": True, "cap": int(rng.choice([4096, 8192]))} | fixed))
    scenario.policy.tool = float(rng.uniform(1.6, 2.6))
    scenario.knobs.tool_latency = float(rng.uniform(0.2, 0.9))
    return scenario


def with_critic(rng: np.random.Generator, **fixed: Any) -> Scenario:
    """PPO with a value function, one answer a prompt, KL in the reward (as verl's GSM8K example)."""
    chosen: dict[str, Any] = {
        "algorithm": "ppo",
        "group": 1,
        "prompts": int(rng.choice([128, 256, 512])),
        "kl": "reward",
        "kl_coef": 0.001,
        "low": 0.0,
        "format_weight": 0.0,
        "minibatches": 4,
    }
    scenario = draw(rng, **(chosen | fixed))
    scenario.policy.critic_bias = float(rng.normal(0, 0.3))
    scenario.knobs.select = 0.1
    return scenario


def reset(scenario: Scenario, **fields: Any) -> Scenario:
    """The scenario with other settings."""
    scenario.setup = replace(scenario.setup, **fields)
    return scenario


def bench(scenario: Scenario, **fields: Any) -> Scenario:
    """The scenario with another validation set."""
    return reset(scenario, validation=replace(scenario.setup.validation, **fields))
