"""Logs as verl prints them, made by arithmetic: for the page's tests, pictures and measurements."""

from __future__ import annotations

import math
from collections.abc import Iterator

PREFIX = "(TaskRunner pid=4242) "


def noise(seed: int) -> Iterator[float]:
    """Numbers between −1 and 1 that look random and are the same everywhere."""
    state = seed * 2654435761 % 2**32 or 1
    while True:
        state = (1664525 * state + 1013904223) % 2**32
        yield state / 2**31 - 1


def verl_log(steps: int, *, seed: int = 1, collapse_at: int | None = None, extra: int = 0) -> str:
    """A GRPO run of so many steps.

    Args:
        steps: training steps, from 1.
        seed: which run.
        collapse_at: from this step on the entropy explodes and the reward falls.
        extra: further metrics per line, so that files grow large with few steps.
    """
    more = noise(seed)
    lines = []
    for step in range(1, steps + 1):
        share = step / steps
        gone = 0.0 if collapse_at is None or step < collapse_at else min(1.0, (step - collapse_at) / (0.2 * steps))
        reward = (0.12 + 0.55 * (1 - math.exp(-3 * share))) * (1 - gone) + 0.03 * next(more)
        entropy = 0.62 * math.exp(-1.4 * share) + 0.08 + 2.4 * gone + 0.015 * next(more)
        grad = 0.18 * (1 + 9 * gone) + 0.03 * next(more)
        length = 820 + 900 * share - 700 * gone + 40 * next(more)
        gen, update = 140 + 60 * share + 6 * next(more), 96 + 4 * next(more)
        values: dict[str, float] = {
            "training/global_step": step,
            "actor/entropy": entropy,
            "actor/pg_loss": 0.002 * next(more),
            "actor/ppo_kl": 2e-5 * (1 + 400 * gone) * (1 + next(more)),
            "actor/pg_clipfrac": 0.0018 * (1 + 60 * gone) * (1 + 0.2 * next(more)),
            "actor/grad_norm": grad,
            "actor/lr": 1e-6,
            "critic/score/mean": reward,
            "critic/score/max": 1.0,
            "critic/score/min": 0.0,
            "critic/rewards/mean": reward,
            "response_length/mean": length,
            "response_length/max": 4096.0,
            "response_length/clip_ratio": 0.01 + 0.03 * share,
            "prompt_length/mean": 212 + 3 * next(more),
            "timing_s/gen": gen,
            "timing_s/old_log_prob": 21 + next(more),
            "timing_s/update_actor": update,
            "timing_s/step": gen + update + 30,
            "perf/throughput": 690 + 20 * next(more),
        }
        values.update({f"extra/metric_{i:03d}": math.sin(step / (i + 3)) + 0.1 * next(more) for i in range(extra)})
        if step % 10 == 0:
            values["val-core/math500/acc/mean@8"] = 0.31 + 0.28 * share * (1 - gone) + 0.01 * next(more)
        lines.append(PREFIX + f"step:{step} - " + " - ".join(f"{key}:{value!r}" for key, value in values.items()))
    return "\n".join(lines) + "\n"
