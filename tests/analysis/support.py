"""Runs made in code: figures that agree with each other as a trainer's do, and runs of any other figures."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from assistant.model import Column, Number, Run


def run_of(table: Mapping[int, Mapping[str, Number]], **fields: Any) -> Run:
    """A run from ``{step: {metric: value}}``; line ``i + 1`` holds row ``i``."""
    steps = tuple(table)
    columns: dict[str, tuple[list[int], list[Number], list[int]]] = {}
    for row, values in enumerate(table.values()):
        for metric, value in values.items():
            rows, numbers, lines = columns.setdefault(metric, ([], [], []))
            rows.append(row)
            numbers.append(value)
            lines.append(row + 1)
    defaults: dict[str, Any] = {"id": "r0", "name": "made", "format": "verl", "framework": "verl", "step_axis": "step"}
    return Run(
        **{**defaults, **fields},
        steps=steps,
        row_lines=tuple(range(1, len(steps) + 1)),
        columns={metric: Column(*parts) for metric, parts in columns.items()},
    )


def series_run(metric: str, values: Sequence[Number], *, first: int = 1) -> Run:
    """One metric over consecutive steps."""
    return run_of({first + i: {metric: value} for i, value in enumerate(values)})


def geometry(
    *,
    n_gpus: int = 8,
    prompts: int = 32,
    group: int = 8,
    prompt_length: float = 300.0,
    response_length: float = 1500.0,
    seconds: float = 600.0,
) -> dict[str, Number]:
    """Figures of one step's batch that agree with each other, as verl computes them (metric_utils.py)."""
    batch = prompts * group
    tokens = batch * (prompt_length + response_length)
    return {
        "perf/total_num_tokens": tokens,
        "perf/time_per_step": seconds,
        "perf/throughput": tokens / (seconds * n_gpus),
        "prompt_length/mean": prompt_length,
        "response_length/mean": response_length,
        "global_seqlen/mean": tokens / n_gpus,
    }


def advantages(group: int) -> dict[str, Number]:
    """Advantages of a group-relative method in which one response of a group stands alone."""
    top = (group - 1) / math.sqrt(group)
    parts = {"mean": -0.004, "max": 0.9 * top, "min": -top}
    return {f"critic/{name}/{part}": value for name in ("advantages", "returns") for part, value in parts.items()}


def training_step(step: int, *, group: int = 8, seed: int = 7) -> dict[str, Number]:
    """One step of a healthy group-relative run; the figures scatter from step to step."""
    dice = random.Random(f"{seed}/{step}")
    length = 1500.0 + dice.uniform(-60, 60)
    reward = 0.1 + 0.01 * step + dice.gauss(0, 0.02)
    stages = {"gen": 300.0 + dice.uniform(-9, 9), "old_log_prob": 80.0, "adv": 0.5, "reward": 0.01}
    stages["update_actor"] = 210.0 + dice.uniform(-3, 3)
    total = sum(stages.values()) + 2.0
    return {
        **geometry(group=group, response_length=length, seconds=total),
        **advantages(group),
        **{f"timing_s/{name}": seconds for name, seconds in stages.items()},
        "timing_s/step": total,
        "timing_s/agent_loop/generate_sequences/mean": 0.6 * stages["gen"],
        "timing_s/agent_loop/generate_sequences/max": 0.98 * stages["gen"],
        "actor/entropy": 0.30 - 0.005 * step + dice.gauss(0, 0.004),
        "actor/ppo_kl": dice.gauss(0, 2e-5),
        "actor/pg_loss": dice.gauss(0, 3e-4),
        "actor/pg_clipfrac": 0.0018 + dice.uniform(0, 2e-4),
        "actor/pg_clipfrac_lower": 1e-7,
        "actor/grad_norm": 0.15 + dice.gauss(0, 0.01),
        "actor/lr": 1e-06,
        "perf/mfu/actor": 0.385 + dice.uniform(0, 0.001),
        "perf/max_memory_allocated_gb": 70.5,
        "perf/max_memory_reserved_gb": 76.25,
        "training/global_step": step,
        "training/epoch": 0,
        **{f"critic/{name}/mean": reward for name in ("score", "rewards")},
        **{f"critic/{name}/max": 1.0 for name in ("score", "rewards")},
        **{f"critic/{name}/min": -1.0 for name in ("score", "rewards")},
        "response_length/max": 10240.0,
        "response_length/min": 8.0,
        "response_length/clip_ratio": 6 / (32 * group),
        "response/aborted_ratio": 0.0,
        "prompt_length/max": 787.0,
        "prompt_length/min": 256.0,
        "prompt_length/clip_ratio": 0.0,
        "num_turns/mean": 7.75,
        "num_turns/min": 2,
        "num_turns/max": 16,
        "global_seqlen/min": 51000,
        "global_seqlen/max": 64000,
        "global_seqlen/minmax_diff": 13000,
        "global_seqlen/balanced_max": 32 * group * (300.0 + length) / 8 + 1,
    }


def validation_step(mean: float = 0.23, *, source: str = "aime_2025") -> dict[str, Number]:
    """A validation over 30 problems with 30 samples each; the figures of a published log."""
    acc, reward = f"val-aux/{source}/acc/", f"val-aux/{source}/reward/"
    core = f"val-core/{source}/acc/"
    return {
        core + "mean@30": mean,
        acc + "std@30": 0.2113,
        acc + "best@2/mean": mean + 0.07773,
        acc + "best@2/std": 0.21,
        acc + "worst@2/mean": mean - 0.07783,
        acc + "worst@2/std": 0.14,
        acc + "maj@2/mean": mean,
        core + "best@30/mean": 0.6026,
        core + "best@30/std": 0.1065,
        core + "maj@30/mean": 0.3273,
        acc + "worst@30/mean": 0.0336,
        reward + "mean@30": -0.385,
        reward + "std@30": 0.42,
    }


def long_run(last: int = 20, *, validations: Sequence[int] = (0, 10, 20), **fields: Any) -> Run:
    """A healthy run: validations at some steps, training at 1 … ``last``."""
    table: dict[int, dict[str, Number]] = {}
    for step in range(last + 1):
        values = {} if step == 0 else training_step(step)
        if step in validations:
            values = {**validation_step(round(900 * (0.23 + 0.002 * step)) / 900), **values}
        if values:
            table[step] = values
    return run_of(table, **fields)
