"""Prints tables as Stable-Baselines, Spinning Up and rsl_rl do, and event files as TensorBoard stores them."""

from __future__ import annotations

import random
import struct

from tests.parsing.generators.megatron import number

Row = dict[str, float | int]


def sb3_table(rng: random.Random, step: int) -> tuple[list[str], Row]:
    """A table of Stable-Baselines3 and its cells."""
    texts = {
        "rollout/": "",
        "rollout/ep_len_mean": f"{rng.uniform(1, 500):<8.3g}".strip(),
        "rollout/ep_rew_mean": rng.choice(["nan", f"{rng.uniform(-500, 500):.3g}"]),
        "time/": "",
        "time/fps": f"{rng.randrange(1, 3000)}",
        "time/total_timesteps": f"{step}",
        "train/": "",
        "train/approx_kl": f"{rng.uniform(0, 1e-5):.3g}",
        "train/loss": f"{rng.gauss(0, 1e4):.3g}",
    }
    shown = {key if key.endswith("/") else "   " + key.partition("/")[2]: text for key, text in texts.items()}
    keys, values = max(map(len, shown)), max(map(len, shown.values()))
    border = "-" * (keys + values + 7)
    lines = [border, *(f"| {key:<{keys}} | {text:<{values}} |" for key, text in shown.items()), border]
    return lines, {key: number(text) for key, text in texts.items() if text}


def spinning_up_table(rng: random.Random, epoch: int) -> tuple[list[str], Row]:
    """A table of Spinning Up and its cells (``Epoch`` counts them)."""
    texts = {
        "AverageEpRet": f"{rng.gauss(0, 300):8.3g}",
        "EpLen": f"{rng.uniform(1, 900):8.3g}",
        "Time": f"{epoch:8.3g}",
    }
    lines = [f"| {key:>15} | {text:>15} |" for key, text in {"Epoch": f"{epoch:8.3g}", **texts}.items()]
    return ["-" * 37, *lines, "-" * 37], {key: number(text) for key, text in texts.items()}


def rsl_rl_block(rng: random.Random, iteration: int) -> tuple[list[str], Row]:
    """A block of rsl_rl and its cells."""
    losses = {
        "Mean action noise std": f"{rng.uniform(0, 2):.2f}",
        "Mean value_function loss": rng.choice(["inf", f"{rng.uniform(0, 9):.4f}"]),
        "Mean reward": f"{rng.gauss(0, 30):.2f}",
        "Episode_Reward/a_very_long_name_of_a_reward_term": f"{rng.gauss(0, 1):.4f}",
    }
    fps, collection = f"{rng.randrange(1, 99999)}", f"{rng.uniform(0, 9):.3f}"
    lines = [
        "#" * 80,
        f"\x1b[1m Learning iteration {iteration}/1500 \x1b[0m".center(80),
        "",
        f"{'Computation:':>35} {fps} steps/s (collection: {collection}s, learning {collection}s)",
        *(f"{key + ':':>35} {text}" for key, text in losses.items()),
        "-" * 80,
        f"{'Total timesteps:':>35} {iteration * 4096}",
        f"{'Iteration time:':>35} {collection}s",
        f"{'Time elapsed:':>35} 00:01:02",
        f"{'ETA:':>35} 00:21:02",
        "",
    ]
    row = {"Computation": fps, "collection": collection, "learning": collection, **losses}
    row |= {"Total timesteps": f"{iteration * 4096}", "Iteration time": collection}
    return lines, {key: number(text) for key, text in row.items()}


def varint(value: int) -> bytes:
    """A protobuf integer."""
    value &= (1 << 64) - 1
    data = b""
    while value > 127:
        data += bytes([value & 127 | 128])
        value >>= 7
    return data + bytes([value])


def message(field: int, body: bytes) -> bytes:
    """A protobuf field that holds bytes."""
    return varint(field << 3 | 2) + varint(len(body)) + body


def event(step: int, summary: bytes) -> bytes:
    """A record of an event file."""
    body = b"\x09" + struct.pack("<d", 1.7e9) + b"\x10" + varint(step) + message(5, summary)
    return record(body)


def record(body: bytes) -> bytes:
    """A TFRecord (its checksums are not right)."""
    return struct.pack("<QI", len(body), 0) + body + b"\0\0\0\0"


def version() -> bytes:
    """The first record of an event file."""
    return record(b"\x09" + struct.pack("<d", 1.7e9) + message(3, b"brain.Event:2"))


def simple(tag: str, value: float) -> bytes:
    """A scalar as TensorBoard 1 and torch store it."""
    return message(1, message(1, tag.encode()) + b"\x15" + struct.pack("<f", value))


def tensor(tag: str, kind: int, content: bytes, *, plugin: str = "scalars", shape: bytes = b"") -> bytes:
    """A tensor summary as TensorBoard 2 stores it."""
    body = b"\x08" + varint(kind) + message(2, shape) + message(4, content)
    metadata = message(9, message(1, message(1, plugin.encode())))
    return message(1, message(1, tag.encode()) + metadata + message(8, body))
