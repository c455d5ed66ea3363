"""Prints what ROLL logs: JSON a step between the pipeline's lines; SFT prints a Python dict."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

from tests.parsing.generators.harm import Value, number

Row = tuple[int, dict[str, Value]]
KEYS = (
    "actor/pg_loss@sum",
    "actor/kl_loss@sum",
    "critic/score/mean",
    "token/response_length/mean",
    "time/step_total",
    "memory/actor_train/train_step/start/onload/allocated/0",
)
HEAD = "[2025-11-20 12:34:56,123] [rlvr_pipeline.py (651)] [INFO] "


@dataclass
class Log:
    lines: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


def random_log(seed: int, steps: int, *, sft: bool = False, start: bool = True, named: bool = False) -> Log:
    rng = random.Random(seed)
    log = Log()
    for step in range(steps):
        row: dict[str, Value] = {key: number(rng) for key in KEYS}
        if named:
            row["system/step"] = step
        if start:
            log.lines.append(f"{HEAD}pipeline step {step} start...")
        samples = [{"prompt": "What is 3/4 + 1?", "response": "loss: 0.5", "episode_score": 0.25}]
        log.lines.append(HEAD + json.dumps(samples))
        log.lines.append(HEAD + (f"metrics: {row}" if sft else json.dumps(row)))
        log.lines.append(f"{HEAD}pipeline step {step} finished" + ("..." if sft else ""))
        log.rows.append((step, row))
    return log
