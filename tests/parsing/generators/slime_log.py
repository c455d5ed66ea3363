"""Prints what slime logs: ``f"{kind} {number}: {dict}"`` behind a logger's prefix."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.parsing.generators.harm import Scalar, Value, number

Row = tuple[int, dict[str, Value]]
TRAIN = ("train/loss", "train/pg_loss", "train/entropy_loss", "train/pg_clipfrac", "train/ppo_kl", "train/grad_norm")
ROLLOUT = ("rollout/log_probs", "rollout/raw_reward", "rollout/advantages", "rollout/response_len/mean")
PERF = ("perf/rollout_time", "perf/tokens_per_gpu_per_sec")
TRAINER_PERF = ("perf/train_wait_time", "perf/train_time", "perf/step_time")


@dataclass
class Log:
    lines: list[str] = field(default_factory=list)
    steps: list[Row] = field(default_factory=list)
    rollouts: list[Row] = field(default_factory=list)


def stamp(rng: random.Random, place: str) -> str:
    return f"[2025-09-{rng.randrange(10, 29)} 12:{rng.randrange(10, 59)}:07] {place}:{rng.randrange(10, 999)} - "


def shown(rng: random.Random, row: dict[str, Value]) -> str:
    return repr({key: Scalar(value) if rng.random() < 0.3 else value for key, value in row.items()})


def random_log(seed: int, rollouts: int, per: int = 2, *, evaluate: bool = True, prefix: bool = True) -> Log:
    rng = random.Random(seed)
    log = Log()

    def say(task: str, place: str, text: str) -> None:
        log.lines.append(f"({task} pid={len(task)}) {stamp(rng, place)}{text}" if prefix else text)

    for rollout in range(rollouts):
        merged: dict[str, Value] = {}
        if evaluate and rollout % 2 == 0:
            row: dict[str, Value] = {"eval/aime": number(rng), "eval/aime-truncated_ratio": rng.random()}
            say("RolloutManager", "rollout.py", f"eval {rollout}: {shown(rng, row)}")
            merged |= row
        for task, place, kind, keys in (
            ("RolloutManager", "rollout.py", "perf", PERF),
            ("MegatronTrainRayActor", "data.py", "rollout", ROLLOUT),
            ("MegatronTrainRayActor", "train_metric_utils.py", "perf", TRAINER_PERF),
        ):
            row = {key: number(rng) for key in keys}
            say(task, place, f"{kind} {rollout}: {shown(rng, row)}")
            merged |= row
        log.rollouts.append((rollout, merged))
        for step in range(rollout * per, rollout * per + per):
            row = {key: number(rng) for key in TRAIN} | {"train/lr-pg_0": 1e-06, "train/step": step}
            say("MegatronTrainRayActor", "model.py", f"step {step}: {shown(rng, row)}")
            log.steps.append((step, row))
    return log
