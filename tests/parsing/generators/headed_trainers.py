"""Prints lines as torchtitan, torchtune, LitGPT, MMEngine, fairseq, ML-Agents, rl_games and progress bars do."""

from __future__ import annotations

import random

from tests.parsing.generators.small_trainers import Line, valued


def torchtitan(rng: random.Random, step: int) -> list[Line]:
    loss, norm = f"{rng.uniform(0, 12):8.5f}", f"{rng.uniform(0, 99):7.4f}"
    memory, share = f"{rng.uniform(1, 80):5.2f}", f"{rng.uniform(1, 99):.2f}"
    tps, mfu = rng.randrange(1, 99_999), f"{rng.uniform(1, 60):.2f}"
    line = (
        f"[rank0]:[titan] 2026-05-18 16:04:46,338 - root - INFO - step: {step:2}  loss: {loss}  grad_norm: {norm}  "
        f"memory: {memory}GiB({share}%)  tps: {tps:,}  tflops: 0.52  mfu: {mfu}%"
    )
    row = {"loss": loss.strip(), "grad_norm": norm.strip(), "memory": memory.strip(), "memory (%)": share}
    return valued([(line, step, {**row, "tps": str(tps), "tflops": "0.52", "mfu": mfu})])


def torchtune(rng: random.Random, step: int) -> list[Line]:
    loss, lr, tps = f"{rng.uniform(0, 9)}", f"{rng.uniform(0, 1e-3)}", f"{rng.uniform(1, 9e3)}"
    line = f"Step {step} | loss:{loss} lr:{lr} tokens_per_second_per_gpu:{tps} "
    return valued([(line, step, {"loss": loss, "lr": lr, "tokens_per_second_per_gpu": tps})])


def litgpt(rng: random.Random, step: int) -> list[Line]:
    train, val, time = f"{rng.uniform(0, 9):.3f}", f"{rng.uniform(0, 9):.3f}", f"{rng.uniform(9, 999):.2f}"
    line = (
        f"Epoch 2 | iter {step * 4} step {step} | loss train: {train}, val: {val} | iter time: {time} ms (step)"
        f" remaining time: 0:01:{step + 10}"
    )
    row = {"loss train": train, "loss val": val, "iter time": time, "epoch": "2", "iter": str(step * 4)}
    return valued([(line, step, row)])


def mmengine(rng: random.Random, step: int) -> list[Line]:
    lr, loss, time = f"{rng.uniform(0, 1):.3e}", f"{rng.uniform(-9, 99):.4f}", f"{rng.uniform(0, 9):.4f}"
    eta = rng.choice(["0:00:25", "1 day, 12:59:34", "2 days, 0:00:01"])
    line = (
        f"04/21 21:03:53 - mmengine - INFO - Epoch(train) [3][{step:4}/90]  base_lr: {lr} lr: {lr}  eta: {eta}  "
        f"time: {time}  memory: 3028  loss: {loss}"
    )
    row = {"base_lr": lr, "lr": lr, "time": time, "memory": "3028", "loss": loss, "epoch": "3"}
    return valued([(line, 180 + step, row)])


def fairseq(rng: random.Random, step: int) -> list[Line]:
    loss, ppl, norm = f"{rng.uniform(0, 12):.3f}", f"{rng.uniform(1, 1e4):.2f}", rng.choice(["nan", "1.543"])
    line = (
        f"2023-01-02 03:04:05 | INFO | train_inner | epoch 001:    {step} / 1891 loss={loss}, nll_loss={loss}, "
        f"ppl={ppl}, wps=52922, num_updates={step * 5}, gnorm={norm}, clip=0%"
    )
    row = {"loss": loss, "nll_loss": loss, "ppl": ppl, "wps": "52922", "gnorm": norm, "clip": "0"}
    lines = [(line, step * 5, row)]
    if step % 5 == 0:
        valid = f"| epoch 001 | valid on 'valid' subset | valid_loss {loss} | valid_ppl {ppl} | num_updates {step * 5}"
        lines.append((valid, step * 5, {"valid_loss": loss, "valid_ppl": ppl}))
    return valued(lines)


def mlagents(rng: random.Random, step: int) -> list[Line]:
    mean, std, time = f"{rng.uniform(-99, 9):.3f}", f"{rng.uniform(0, 9):.3f}", f"{rng.uniform(1, 9e3):.3f}"
    line = (
        f"[INFO] 3DBall. Step: {step}000. Time Elapsed: {time} s. Mean Reward: {mean}. Std of Reward: {std}. Training."
    )
    return valued([(line, step * 1000, {"Time Elapsed": time, "Mean Reward": mean, "Std of Reward": std})])


def rl_games(rng: random.Random, step: int) -> list[Line]:
    fps = str(rng.randrange(1, 99_999))
    line = (
        f"fps step: {fps} fps step and policy inference: {fps} fps total: {fps} epoch: {step}/500 frames: {step * 64}"
    )
    row = {"fps step": fps, "fps step and policy inference": fps, "fps total": fps, "frames": str(step * 64)}
    return valued([(line, step, row)])


def lightning(rng: random.Random, step: int) -> list[Line]:
    loss, acc = f"{rng.uniform(0, 9):.3f}", f"{rng.uniform(0, 1):.2e}"
    line = (
        f"Epoch 2:  {step}%|{'█' * step}▍   | {step}/18 [00:08<02:29,  8.77s/it, loss={loss}, v_num=7, "
        f"train/acc={acc}, val_loss=nan]"
    )
    return valued([(line, 36 + step, {"loss": loss, "train/acc": acc, "val_loss": "nan"})])


PRINTERS = {
    "torchtitan": torchtitan,
    "torchtune": torchtune,
    "litgpt": litgpt,
    "mmengine": mmengine,
    "fairseq": fairseq,
    "ml-agents": mlagents,
    "rl-games": rl_games,
    "bar-postfix": lightning,
}
