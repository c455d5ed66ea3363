"""Prints what OpenRLHF logs a step, and the progress bars of its older versions and supervised trainers."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.parsing.generators.harm import Scalar, Value, number

Row = tuple[int, dict[str, Value]]
KEYS = ("policy_loss", "actor_lr", "ppo_clip_ratio", "kl", "reward", "response_length", "timing/generation")


@dataclass
class Log:
    lines: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


def random_log(seed: int, steps: int, *, evaluate: bool = True, prefix: bool = True) -> Log:
    rng = random.Random(seed)
    log = Log()
    head = "(PPOTrainer pid=3211) INFO 03-05 12:34:56 ppo_trainer.py:210] " if prefix else ""
    for step in range(1, steps + 1):
        row: dict[str, Value] = {key: number(rng) for key in KEYS}
        shown = {key: Scalar(value) if rng.random() < 0.2 else value for key, value in row.items()}
        log.lines.append(f"{head}✨ Global step {step}: {shown}")
        if evaluate and step % 2 == 0:
            evals: dict[str, Value] = {"eval_default_pass1": rng.random(), "eval_default_pass4": rng.random()}
            took = f"0:00:{rng.randrange(10, 59)}"
            log.lines.append(f"{head}✨ Evaluation completed in {took}, global_step {step}, eval_metrics: {evals}")
            row |= evals
        log.rows.append((step, row))
    return log


def bar(what: str, count: int, total: int, postfix: str) -> str:
    """A line of a progress bar with metrics behind it."""
    share = 100 * count // total
    blocks = "█" * (share // 10)
    shown = f", {postfix}" if postfix else ""
    return (
        f"{what}: {share:3d}%|{blocks:<10}| {count}/{total} [00:{count:02d}<00:{total - count:02d},  1.03s/it{shown}]"
    )


def random_bars(seed: int, what: str, rounds: int, total: int) -> tuple[Log, str]:
    """Bars of several rounds, each redrawn with ``\\r``: metrics of an item show before the bar counts it."""
    rng = random.Random(seed)
    log = Log()
    text = ""
    for turn in range(rounds):
        postfix = ""
        parts = [bar(what.format(turn + 1, rounds), 0, total, postfix)]
        for item in range(1, total + 1):
            printed = {key: f"{rng.uniform(0, 5):.3g}" for key in ("pg", "rm", "kl", "act_lr")}
            postfix = ", ".join(f"{key}={text}" for key, text in printed.items())
            row = {key: float(text) if set(text) & set(".en") else int(text) for key, text in printed.items()}
            parts.append(bar(what.format(turn + 1, rounds), item - 1, total, postfix))
            parts.append(bar(what.format(turn + 1, rounds), item, total, postfix))
            log.rows.append((turn * total + item, row))
        text += "\r".join(parts) + "\n"
    log.lines = text.split("\n")[:-1]
    return log, text
