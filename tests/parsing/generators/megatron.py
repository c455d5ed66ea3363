"""Prints iteration lines as Megatron-LM and nanotron do."""

from __future__ import annotations

import random

Row = dict[str, float | int]


def random_row(rng: random.Random, iteration: int, *, nan: bool = False) -> tuple[str, Row]:
    """A line of Megatron-LM and what stands on it; a NaN loss is not printed."""
    texts = {
        "consumed samples": f"{iteration * 64:12d}",
        "elapsed time per iteration (ms)": f"{rng.uniform(100, 9999):.1f}",
        "throughput per GPU (TFLOP/s/GPU)": f"{rng.uniform(10, 400):.1f}",
        "learning rate": f"{rng.uniform(0, 1e-4):.6E}",
        "global batch size": f"{64:5d}",
    }
    if not nan:
        texts["lm loss"] = f"{rng.uniform(0.1, 11):.6E}"
    texts |= {
        "loss scale": f"{1.0:.1f}",
        "grad norm": f"{rng.uniform(0, 9):.3f}",
        "num zeros": f"{rng.randrange(99)}",
        "number of skipped iterations": f"{0:3d}",
        "number of nan iterations": f"{int(nan):3d}",
    }
    line = f" [2024-05-01 10:00:00] iteration {iteration:8d}/{8000:8d} |"
    line += "".join(f" {key}: {text} |" for key, text in texts.items())
    return line, {key: number(text) for key, text in texts.items()}


def number(text: str) -> float | int:
    """What a printed number is worth."""
    text = text.strip()
    return int(text) if text.lstrip("-").isdigit() else float(text)


def validation(iteration: int, loss: str, ppl: str) -> list[str]:
    """What Megatron-LM prints after an evaluation."""
    line = (
        f" validation loss at iteration {iteration} on validation set | lm loss value: {loss} | lm loss PPL: {ppl} | "
    )
    return ["-" * len(line), line, "-" * len(line)]


def nanotron_line(rng: random.Random, iteration: int) -> tuple[str, Row]:
    """A line of nanotron and the values it shortens."""
    tokens, rate = rng.randrange(100, 999), rng.randrange(10, 99)
    loss, norm = f"{rng.uniform(1, 9):.3g}", f"{rng.uniform(0, 1):.3g}"
    line = (
        f"05/01/2024 10:00:00 [INFO|DP=0|PP=0|TP=0|node-1]: iteration: {iteration} / 9000 | "
        f"consumed_tokens: {tokens}M | tokens_per_sec: {rate}.5K | lm_loss: {loss} | lr: 0.0003 | grad_norm: {norm}"
    )
    row = {
        "consumed_tokens": float(f"{tokens}e6"),
        "tokens_per_sec": float(f"{rate}.5e3"),
        "lm_loss": number(loss),
        "lr": 0.0003,
        "grad_norm": number(norm),
    }
    return line, row
