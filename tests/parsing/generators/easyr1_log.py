"""Prints what EasyR1's console logger does: ``Step N`` and the metrics as nested YAML."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from tests.parsing.generators.harm import Value

Row = tuple[int, dict[str, Value]]
KEYS = (
    "actor/entropy_loss",
    "actor/grad_norm",
    "actor/lr",
    "actor/pg_loss",
    "actor/ppo_kl",
    "critic/advantages/max",
    "critic/advantages/mean",
    "critic/kl",
    "critic/score/mean",
    "global_seqlen/minmax_diff",
    "perf/total_num_tokens",
    "perf/throughput",
    "reward/accuracy",
    "reward/overall",
    "response_length/mean",
    "timing_s/step",
    "timing_per_token_ms/gen",
)
EXPONENT = re.compile(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+")


@dataclass
class Log:
    lines: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


class Dumper(yaml.Dumper):
    """Prints floats with three decimals, or with an exponent that has a point before it."""


def represent(dumper: yaml.Dumper, number: float) -> yaml.ScalarNode:
    text = str(number)
    if EXPONENT.fullmatch(text) is None:
        text = str(round(number, 3))
    elif "." not in text:
        text = text.replace("e", ".0e", 1)
    return dumper.represent_scalar("tag:yaml.org,2002:float", text)


Dumper.add_representer(float, represent)


def unflatten(row: dict[str, Value]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in row.items():
        place = tree
        *groups, name = key.split("/")
        for group in groups:
            place = place.setdefault(group, {})
        place[name] = value
    return tree


def as_printed(value: Value) -> Value:
    """What is left of a value once it is printed."""
    return value if isinstance(value, int) or EXPONENT.fullmatch(str(value)) else round(value, 3)


def random_value(rng: random.Random, key: str) -> Value:
    if key.endswith(("tokens", "diff")):
        return rng.randrange(10**6)
    return rng.choice([rng.gauss(0, 1), rng.uniform(0, 1e4), rng.uniform(0, 1e-6), 1e-06, 0.0, float("nan"), 2.5e17])


def random_log(seed: int, steps: int, *, val_every: int = 0, process: str = "") -> Log:
    """A validation before the training where there are any; ``process`` stands before each line, as Ray prints it."""
    rng = random.Random(seed)
    log = Log()
    front = f"({process}) " if process else ""
    for step in range(0 if val_every else 1, steps + 1):
        keys = list(KEYS) if step else []
        if val_every and step % val_every == 0:
            keys += ["val/accuracy_reward", "val/reward_score", "val_response_length/mean"]
        row = {key: random_value(rng, key) for key in keys}
        text = f"Step {step}\n" + yaml.dump(unflatten(row), indent=2, Dumper=Dumper)
        block = text.split("\n")
        log.lines += [front + line for line in (block if not process else block[:-1])]
        log.rows.append((step, {key: as_printed(value) for key, value in row.items()}))
    return log
