"""The simulator's loop: settings, knobs and a cause in, one record a step out.

``python -m evals.diagnosis.simulate --show MODE`` prints a short table of a case (a mode such as ``FM-01`` or a kind of
healthy run such as ``ppo_critic``).

Every step has its own random stream, made of the run's seed and the step: a run with a cause and the same run without
it share all luck, so their difference is the cause's.
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from evals.diagnosis.advantages import advantages
from evals.diagnosis.batch import roll_out
from evals.diagnosis.learn import learn
from evals.diagnosis.system import clock, shapes
from evals.diagnosis.validation import validate
from evals.diagnosis.world import Knobs, Machine, Policy, Record, Setup, World

Tick = Callable[[World], None]
"""Called before each step; changes knobs or state as a cause, a curriculum or an operator would."""


@dataclass(slots=True)
class Scenario:
    """A run to be simulated.

    Attributes:
        ticks: hooks, called in order before every step.
        restarts: after which step the process stops → the checkpointed step from which it goes on (each once).
        resumed: called once after a restart.
        pinned: settings that the writers must honour, such as a framework's variant.
    """

    setup: Setup
    knobs: Knobs
    policy: Policy
    ticks: list[Tick] = field(default_factory=list)
    restarts: dict[int, int] = field(default_factory=dict)
    resumed: list[Tick] = field(default_factory=list)
    grad_level: float = 0.3
    clip_level: float = 0.002
    tokens_per_second: float = 45.0


@dataclass(frozen=True, slots=True)
class Trace:
    """A simulated run: ``steps[i]`` is the step of ``records[i]``; step 0 holds the first validation only."""

    setup: Setup
    seed: int
    steps: tuple[int, ...]
    records: tuple[Record, ...]

    def series(self, key: str) -> tuple[list[int], list[float]]:
        """Steps and values of a key, where it is present."""
        held = [
            (step, float(record[key])) for step, record in zip(self.steps, self.records, strict=True) if key in record
        ]
        return [step for step, _ in held], [value for _, value in held]


def simulate(scenario: Scenario, seed: int) -> Trace:
    """Runs a scenario; the same scenario and seed give the same records."""
    setup = scenario.setup
    world = World(
        setup,
        copy.copy(scenario.knobs),
        copy.copy(scenario.policy),
        Machine(),
        seed,
        grad_level=scenario.grad_level,
        clip_level=scenario.clip_level,
        tokens_per_second=scenario.tokens_per_second,
        skill0=scenario.policy.skill,
    )
    steps: list[int] = []
    records: list[Record] = []
    every = setup.validation.every
    if every:
        steps.append(0)
        records.append(validate(world, np.random.default_rng((seed, 0, 0))))
    saved = {0: (copy.copy(world.policy), 0)}
    waiting = dict(scenario.restarts)
    attempt = 0
    step = 0
    while step < setup.steps:
        step += 1
        world.step = step
        for tick in scenario.ticks:
            tick(world)
        record = one_step(world, np.random.default_rng((seed, attempt, step)))
        steps.append(step)
        records.append(record)
        if scenario.restarts:
            saved[step] = (copy.copy(world.policy), world.machine.tokens)
        if step in waiting:
            step = waiting.pop(step)
            attempt += 1
            policy, tokens = saved[step]
            world.policy = copy.copy(policy)
            world.machine = Machine(tokens=tokens)
            world.step = step
            for tick in scenario.resumed:
                tick(world)
    return Trace(setup, seed, tuple(steps), tuple(records))


def one_step(world: World, rng: np.random.Generator) -> Record:
    """Rollout, advantages, update, validation and clock of one step."""
    bench = world.setup.validation
    tested = bool(bench.every) and (world.step % bench.every == 0 or world.step == world.setup.steps)
    streams = rng.spawn(5)
    batch = roll_out(world, streams[0])
    record = shapes(world, batch, streams[1])
    found = advantages(world, batch, streams[1])
    record |= found.record
    record |= learn(world, batch, found, streams[2])
    record |= clock(world, batch, streams[3], tested=tested)
    if tested:
        record |= validate(world, streams[4])
    record["sim/size"] = world.setup.size
    record["sim/group"] = world.setup.group
    record["sim/dynamic"] = int(world.knobs.dynamic)
    record["training/global_step"] = world.step
    record["training/epoch"] = int(world.epoch)
    record["sim/epoch"] = (world.step) * world.setup.prompts / world.setup.dataset
    record["sim/skill"] = world.policy.skill
    return {key: value if isinstance(value, int) else float(value) for key, value in record.items()}


SHOWN = (
    "sim/score01",
    "sim/val_acc",
    "actor/entropy",
    "sim/zero_share",
    "actor/grad_norm",
    "actor/pg_clipfrac",
    "actor/ppo_kl",
    "sim/kl_ref",
    "rollout_corr/k3_kl",
    "response_length/mean",
    "response_length/clip_ratio",
    "num_turns/mean",
    "timing_s/gen",
    "timing_s/step",
)


def show(trace: Trace, rows: int = 14) -> str:
    """A table of a dozen steps."""
    lines = ["  step " + " ".join(f"{key.rpartition('/')[2][:10]:>10}" for key in SHOWN)]
    chosen = sorted(set(np.linspace(0, len(trace.steps) - 1, rows).astype(int).tolist()))
    for index in chosen:
        record = trace.records[index]
        cells = (f"{record[key]:10.4g}" if key in record else f"{'':>10}" for key in SHOWN)
        lines.append(f"{trace.steps[index]:6d} " + " ".join(cells))
    return "\n".join(lines)


def main() -> int:
    """Prints a case."""
    from evals.diagnosis.cases import build

    parser = argparse.ArgumentParser(description="Shows a simulated run.")
    parser.add_argument("--show", metavar="MODE", required=True, help="FM-01 … FM-40, or a kind of healthy run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--strength", choices=("mild", "strong"), default="strong")
    parser.add_argument("--without", action="store_true", help="the same run without the cause")
    given = parser.parse_args()
    scenario, onset = build(given.show, given.seed, given.strength, cause=not given.without)
    sys.stdout.write(f"{given.show} seed {given.seed} onset {onset}\n{show(simulate(scenario, given.seed))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
