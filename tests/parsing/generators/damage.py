"""What terminals, launchers and other processes do to lines of a log."""

from __future__ import annotations

import random

NOISE = (
    "",
    "WARNING: the tokenizer has no padding token",
    "[rank3]: saving checkpoint to out/ckpt",
    "2024-05-01 10:00:01,123 - urllib3.connectionpool - DEBUG - Starting new HTTPS connection (1): host:443",
    "  lr: 3e-4",
    "{'learning_rate': 1e-05, 'batch_size': 64}",
    "Step 3: John has 12 apples, then 5 more.",
    "|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |                    0 |",
    "| N/A   35C    P0    60W / 400W |      0MiB / 81920MiB |      0%      Default |",
    "+-----------------------------------------------------------------------------+",
    "        loss = model(x, y, step=5)",
)


def wrap(line: str, column: int) -> list[str]:
    """A line as a terminal breaks it."""
    return [line[at : at + column] for at in range(0, len(line), column)]


def colour(line: str) -> str:
    """A line in colour."""
    return f"\x1b[32m{line}\x1b[0m"


def ray(line: str) -> str:
    """A line as Ray forwards it."""
    return f"\x1b[36m(Trainer pid=4711)\x1b[0m {line}"


def with_noise(lines: list[str], rng: random.Random) -> tuple[list[str], list[int]]:
    """The lines with others between them, and where each now stands (from 1)."""
    mixed: list[str] = []
    places: list[int] = []
    for line in lines:
        while rng.random() < 0.3:
            mixed.append(rng.choice(NOISE))
        mixed.append(line)
        places.append(len(mixed))
    return mixed, places
