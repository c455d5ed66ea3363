"""Prints lines as nanoGPT, modded-nanogpt, nanochat, llm.c and MLX do."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.parsing.generators.megatron import number

Row = dict[str, float | int]
Line = tuple[str, int, Row]


def nanogpt(rng: random.Random, step: int) -> list[Line]:
    loss, time, mfu = f"{rng.uniform(0, 9):.4f}", f"{rng.uniform(1, 9e4):.2f}", f"{rng.uniform(-100, 60):.2f}"
    lines = [(f"iter {step}: loss {loss}, time {time}ms, mfu {mfu}%", step, {"loss": loss, "time": time, "mfu": mfu})]
    if step % 4 == 0:
        train, val = f"{rng.uniform(0, 9):.4f}", f"{rng.uniform(0, 9):.4f}"
        lines.insert(
            0, (f"step {step}: train loss {train}, val loss {val}", step, {"train loss": train, "val loss": val})
        )
    return valued(lines)


def modded(rng: random.Random, step: int) -> list[Line]:
    loss, time = f"{rng.uniform(0, 9):.4f}", f"{rng.uniform(1, 9e5):.0f}"
    average = rng.choice(["nan", f"{rng.uniform(1, 999):.2f}"])
    line = f"step:{step}/6200 train_loss:{loss} train_time:{time}ms step_avg:{average}ms"
    return valued([(line, step, {"train_loss": loss, "train_time": time, "step_avg": average})])


def llmc(rng: random.Random, step: int) -> list[Line]:
    loss, norm, lr = f"{rng.uniform(0, 9):7.6f}", f"{rng.uniform(0, 9):6.4f}", f"{rng.uniform(0, 1e-3):.2e}"
    ms, mfu, rate = f"{rng.uniform(1, 9e3):.2f}", f"{rng.uniform(1, 90):.1f}", f"{rng.uniform(1, 9e5):.0f}"
    score = rng.choice(["+nan", f"{rng.uniform(-3, 3):+.2f}"])
    line = (
        f"step {step:4d}/100 | loss {loss} ({score}z)| norm {norm} ({score}z)| lr {lr} | {ms} ms | "
        f"{mfu}% bf16 MFU | {rate} tok/s"
    )
    return valued([(line, step, {"loss": loss, "norm": norm, "lr": lr, "ms": ms, "bf16 MFU": mfu, "tok/s": rate})])


def mlx(rng: random.Random, step: int) -> list[Line]:
    loss, lr, its = f"{rng.uniform(0, 9):.3f}", f"{rng.uniform(0, 1e-3):.3e}", f"{rng.uniform(0, 9):.3f}"
    tokens, mem = f"{rng.randrange(9999)}", f"{rng.uniform(1, 90):.3f}"
    line = (
        f"Iter {step}: Train loss {loss}, Learning Rate {lr}, It/sec {its}, Tokens/sec {its}, "
        f"Trained Tokens {tokens}, Peak mem {mem} GB"
    )
    row = {"Train loss": loss, "Learning Rate": lr, "It/sec": its, "Tokens/sec": its, "Trained Tokens": tokens}
    return valued([(line, step, {**row, "Peak mem": mem})])


def nanochat(rng: random.Random, step: int) -> list[Line]:
    loss, dt, rate = f"{rng.uniform(0, 9):.6f}", f"{rng.uniform(1, 9e3):.2f}", rng.randrange(1000, 999999)
    line = f"step {step:05d}/21400 ({step / 214:.2f}%) | loss: {loss} | lrm: 1.00 | dt: {dt}ms | tok/sec: {rate:,}"
    return valued([(line, step, {"loss": loss, "lrm": "1.00", "dt": dt, "tok/sec": str(rate)})])


def valued(lines: list[tuple[str, int, dict[str, str]]]) -> list[Line]:
    return [(line, step, {key: number(text) for key, text in row.items()}) for line, step, row in lines]


PRINTERS: dict[str, Callable[[random.Random, int], list[Line]]] = {
    "nanogpt": nanogpt,
    "modded-nanogpt": modded,
    "llm.c": llmc,
    "mlx": mlx,
    "nanochat": nanochat,
}
