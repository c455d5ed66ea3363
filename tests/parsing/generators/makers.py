"""A log of each format by name: so many steps, drawn by a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tests.parsing.generators import (
    areal_log,
    easyr1_log,
    headed_trainers,
    line_logs,
    megatron,
    nemo_rl_log,
    openrlhf_log,
    roll_log,
    slime_log,
    small_trainers,
    tables,
    trainer_log,
    verl_log,
)

Lines = list[str]
Maker = Callable[[int, int], Lines]


def blocks(make: Callable[[random.Random, int], tuple[Lines, Any]]) -> Maker:
    def lines(seed: int, count: int) -> Lines:
        rng = random.Random(seed)
        return [line for step in range(1, count + 1) for line in make(rng, step)[0]]

    return lines


def trainers(make: Callable[[random.Random, int], list[tuple[str, int, Any]]]) -> Maker:
    return blocks(lambda rng, step: ([line for line, _, _ in make(rng, step)], None))


def validated(rng: random.Random, step: int) -> tuple[Lines, Any]:
    line, row = megatron.random_row(rng, step, nan=step % 7 == 3)
    return [line, *(megatron.validation(step, "7.0E-01", "2.0E+00") if step % 5 == 0 else [])], row


def jsonl(seed: int, count: int) -> Lines:
    rng = random.Random(seed)
    return [
        json.dumps({"step": n, "loss": rng.random(), "reward": {"mean": rng.gauss(0, 1), "n": rng.randrange(9)}})
        for n in range(count)
    ]


def csv(seed: int, count: int) -> Lines:
    rng = random.Random(seed)
    return ["step,loss,reward", *(f"{n},{rng.random()},{rng.choice(['', 0.5, 1])}" for n in range(count))]


MAKERS: dict[str, Maker] = {
    "areal": lambda seed, count: areal_log.random_log(seed, count).lines,
    "deepspeed": lambda seed, count: line_logs.deepspeed(seed, count).lines,
    "deepspeed epochs": lambda seed, count: line_logs.deepspeed(seed, count // 2, epochs=2, new=True).lines,
    "minimind": lambda seed, count: line_logs.minimind(seed, count // 2, epochs=2).lines,
    "prime-rl": lambda seed, count: line_logs.prime(seed, count).lines,
    "megatron": blocks(validated),
    "nanotron": blocks(lambda rng, step: ([megatron.nanotron_line(rng, step)[0]], None)),
    "nemo-rl": lambda seed, count: nemo_rl_log.random_log(seed, count).lines,
    "openrlhf": lambda seed, count: openrlhf_log.random_log(seed, count).lines,
    "roll": lambda seed, count: roll_log.random_log(seed, count).lines,
    "slime": lambda seed, count: slime_log.random_log(seed, count).lines,
    "nanogpt": trainers(small_trainers.nanogpt),
    "modded": trainers(small_trainers.modded),
    "llmc": trainers(small_trainers.llmc),
    "mlx": trainers(small_trainers.mlx),
    "nanochat": trainers(small_trainers.nanochat),
    "sb3": blocks(tables.sb3_table),
    "spinning-up": blocks(tables.spinning_up_table),
    "rsl-rl": blocks(tables.rsl_rl_block),
    "hf": lambda seed, count: trainer_log.console(seed, trainer_log.SFT_KEYS, count, bars=False).lines,
    "trl": lambda seed, count: (
        trainer_log.console(seed, trainer_log.GRPO_KEYS, count, bars=False, eval_every=3, text5=True).lines
    ),
    "trl bars": lambda seed, count: trainer_log.console(seed, trainer_log.GRPO_KEYS, count, eval_every=3).lines,
    "llama-factory": lambda seed, count: trainer_log.llama_factory(seed, count).lines,
    "swift": lambda seed, count: trainer_log.swift(seed, count).lines,
    "notebook": lambda seed, count: trainer_log.notebook_tsv(trainer_log.notebook_rows(seed, count)).split("\n")[:-1],
    "jsonl": jsonl,
    "csv": csv,
    "verl": lambda seed, count: verl_log.random_log(seed, count, val_every=3).lines,
}
UNBROKEN = {"notebook", "csv", "rsl-rl", "nemo-rl", "areal"}
"""Logs into whose blocks nothing else is printed here."""


def lines_of(make: Callable[[random.Random, int], str]) -> Maker:
    """A log of one line a step, steps from 1."""

    def lines(seed: int, count: int) -> Lines:
        rng = random.Random(seed)
        return [make(rng, step) for step in range(1, count + 1)]

    return lines


def keras(seed: int, count: int) -> Lines:
    rng = random.Random(seed)
    shown = [(epoch, rng.random(), rng.random()) for epoch in range(1, count + 1)]
    bars = "60000/60000 [==============================] - 5s 87us/step"
    return [
        line
        for epoch, loss, val in shown
        for line in (f"Epoch {epoch}/{count}", f"{bars} - loss: {loss:.4f} - val_loss: {val:.4f}")
    ]


def markdown(seed: int, count: int) -> Lines:
    rows = lines_of(lambda rng, step: f"| {step} | {rng.random():.4f} | {rng.random():.3f} |")(seed, count)
    return ["| step | loss | reward |", "| --- | --- | --- |", *rows]


def json_list(seed: int, count: int) -> Lines:
    rng = random.Random(seed)
    return json.dumps([{"step": n, "loss": rng.random(), "kl": rng.random()} for n in range(count)], indent=1).split(
        "\n"
    )


MORE: dict[str, Maker] = {
    "torchtitan": trainers(headed_trainers.torchtitan),
    "torchtune": trainers(headed_trainers.torchtune),
    "fairseq": trainers(headed_trainers.fairseq),
    "ml-agents": trainers(headed_trainers.mlagents),
    "rl-games": trainers(headed_trainers.rl_games),
    "easyr1": lambda seed, count: easyr1_log.random_log(seed, count).lines,
    "minimind old": lambda seed, count: line_logs.minimind(seed, count, old=True).lines,
    "trainer-state": lambda seed, count: trainer_log.trainer_state(seed, count).lines,
    "verl-sft": lines_of(
        lambda rng, n: f"step:{n} - train/loss:{rng.random():.5f} - train/lr(1e-3):{rng.random():.3f}"
    ),
    "key-value": lines_of(lambda rng, n: f"step={n} loss={rng.random():.4f} reward={rng.random():.4f}"),
    "logger-pairs": lines_of(
        lambda rng, n: f"2026-01-02 10:{n // 60:02}:{n % 60:02} INFO train: step={n} loss={rng.random():.4f} kl=0.5"
    ),
    "counted-lines": lines_of(lambda rng, n: f"Episode {n}: reward = {rng.random():.3f}, loss = {rng.random():.3f}"),
    "sb3-eval": lines_of(
        lambda rng, n: f"Eval num_timesteps={n * 1000}, episode_reward={rng.random():.2f} +/- {rng.random():.2f}"
    ),
    "bar-postfix": lines_of(
        lambda rng, n: (
            f"Epoch 0: {n}%|##   | {n}/100 [00:01<00:02, 4.0it/s, loss={rng.random():.3f}, reward={rng.random():.3f}]"
        )
    ),
    "keras": keras,
    "markdown": markdown,
    "json list": json_list,
    "jsonl wandb": lines_of(
        lambda rng, n: json.dumps({"_step": n, "_runtime": n * 3.5, "_timestamp": 1.7e9 + n, "loss": rng.random()})
    ),
}
"""Formats of one line or document that are not read in segments by tests."""
