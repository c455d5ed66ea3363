"""Prints the one-line records of DeepSpeed-Chat, minimind and prime-rl."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.parsing.generators.harm import Value

Row = tuple[int, dict[str, Value]]
DASHES = "-" * 85


@dataclass
class Log:
    lines: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


def half(rng: random.Random) -> float:
    """A float as half precision has it: few bits, many digits."""
    return rng.choice([rng.randrange(-4000, 4000) / 4096, rng.gauss(0, 3), float("nan"), 0.0])


def deepspeed(seed: int, steps: int, *, epochs: int = 1, new: bool = False) -> Log:
    """Step 3 of DeepSpeed-Chat; ``new`` prints the later version's words."""
    rng = random.Random(seed)
    log = Log()
    for epoch in range(epochs):
        log.lines.append(f"Beginning of Epoch {epoch + 1}/{epochs}, Total Generation Batches {steps}")
        for step in range(steps):
            names = (
                ("Actor Loss", "Critic Loss", "Unsupervised Loss") if new else ("act_loss", "cri_loss", "unsuper_loss")
            )
            row: dict[str, Value] = {name: half(rng) for name in names}
            if new:
                head = [f"Epoch: {epoch}", f"Step: {step}", "PPO Epoch: 1"]
                log.lines.append(" | ".join(head + [f"{key}: {value}" for key, value in row.items()]))
                speed = {"Latency": (2.55, "s"), "TFLOPs": (3.29, ""), "BW": (112.09, " GB/sec"), "Batch Size": (4, "")}
                shown = ", ".join(f"{key}: {value}{unit}" for key, (value, unit) in speed.items())
                log.lines.append(f"Generation => {shown}, Per-token Latency 6.92 ms")
                row |= {f"Generation/{key}": value for key, (value, _) in speed.items()}
                row["Generation/Per-token Latency"] = 6.92
                reward = {"Average reward score": half(rng), "EMA reward score": half(rng)}
            else:
                head = [f"epoch: {epoch}", f"step: {step}", "ppo_ep: 1"]
                log.lines.append("|".join(head + [f"{key}: {value}" for key, value in row.items()]))
                reward = {"average reward score": half(rng)}
            log.lines.append(" | ".join(f"{key}: {value}" for key, value in reward.items()))
            row |= reward
            log.lines.append(DASHES)
            times: dict[str, Value] = {
                key: float(f"{rng.uniform(0, 20):.2f}") for key in ("E2E latency", "Generate time", "Others")
            }
            rate = float(f"{rng.uniform(1, 99):.2f}")
            log.lines.append(
                f"|E2E latency={times['E2E latency']:.2f}s |Generate time={times['Generate time']:.2f}s (65.81%) "
                f"|Others={times['Others']:.2f} (2.73%)|CurSamplesPerSec={rate:.2f} "
            )
            row |= times | {"CurSamplesPerSec": rate}
            log.rows.append((step + epoch * steps, row))
    return log


def minimind(seed: int, steps: int, *, epochs: int = 1, old: bool = False) -> Log:
    """minimind's GRPO line, or the line of its older trainers (``old``)."""
    rng = random.Random(seed)
    log = Log()
    every, total = 20, 20 * steps
    for epoch in range(1, epochs + 1):
        for step in range(every, total + 1, every):
            if old:
                texts = {"loss": f"{rng.uniform(0, 9):.3f}", "lr": f"{rng.uniform(0, 1e-3):.12f}", "epoch_Time": "7.0"}
                shown = " ".join(f"{key}:{text}" for key, text in texts.items()) + "min:"
                log.lines.append(f"Epoch:[{epoch}/{epochs}]({step}/{total}) {shown}")
            else:
                texts = {
                    "Reward": f"{rng.gauss(0, 2):.4f}",
                    "KL_ref": rng.choice([f"{rng.gauss(0, 1):.4f}", "nan"]),
                    "Adv Std": f"{rng.random():.4f}",
                    "Avg Response Len": f"{rng.uniform(0, 900):.2f}",
                    "Learning Rate": f"{rng.uniform(0, 1e-6):.8f}",
                }
                shown = ", ".join(f"{key}: {text}" for key, text in texts.items())
                log.lines.append(f"Epoch:[{epoch}/{epochs}]({step}/{total}), {shown}")
            log.rows.append((step + (epoch - 1) * total, {key: float(text) for key, text in texts.items()}))
    return log


def minimind_first(seed: int, steps: int, *, epochs: int = 1) -> Log:
    """The line of minimind's first PPO and SPO trainers."""
    rng = random.Random(seed)
    log = Log()
    for epoch in range(1, epochs + 1):
        for step in range(1, steps + 1):
            kl = rng.choice([rng.gauss(0, 1), float("nan")])
            texts = {
                "Actor Loss": f"{rng.gauss(0, 1):.6f}",
                "Critic Loss": f"{rng.random():.6f}",
                "Reward": f"{rng.gauss(0, 2):.6f}",
                "KL": f"{kl:.6f}",
                "KL_ref": f"{kl:.6f}",
                "Avg Response Len": f"{rng.uniform(0, 900):.2f}",
                "Actor LR": f"{rng.random() * 1e-6:.2e}",
                "Critic LR": f"{rng.random() * 1e-6:.2e}",
            }
            shown = ", ".join(f"{key}: {text}" for key, text in texts.items())
            log.lines.append(f"Epoch: {epoch}, Step: {step}/{steps}, {shown}")
            log.rows.append((step + (epoch - 1) * steps, {key: float(text) for key, text in texts.items()}))
    return log


def prime_first(seed: int, steps: int, *, trainer: bool = False, bars: bool = False) -> Log:
    """The sentences of prime-rl's first versions, or the orchestrator's line of the next one (``bars``)."""
    rng = random.Random(seed)
    log = Log()
    for step in range(steps):
        time, rate = f"{rng.uniform(1, 99):.2f}", f"{rng.uniform(1, 9999):.{2 if trainer else 1}f}"
        if trainer:
            keys = ("Loss", "Entropy", "Clip Ratio")
            texts = {key: (rng.choice([f"{rng.gauss(0, 1):.2f}", "nan"]), "") for key in keys}
            texts |= {"Throughput": (rate, " tokens/s"), "MFU": (f"{rng.uniform(0, 60):.2f}", "%")}
        else:
            texts = {"Avg. Reward": (f"{rng.random():.2f}", "")}
            if bars:
                texts["Avg. Advantage"] = (f"{rng.gauss(0, 1):.2f}", "")
            texts |= {"Throughput": (rate, " tokens/s")}
            texts["Avg. Seq. Length"] = (f"{rng.uniform(1, 4000):.1f}", " tokens/sample")
        parts = [f"{key}: {text}{unit}" for key, (text, unit) in texts.items()]
        head = f"16:43:{step % 60:02d} SUCCESS "
        if bars:
            log.lines.append(f"{head}Orchestrator | step {step} | Time:{time}s | {' | '.join(parts)}")
        else:
            who = "training" if trainer else "orchestrator"
            log.lines.append(f"{head}Finished {who} step {step} in {time}s ({', '.join(parts)})")
        log.rows.append((step, {"Time": float(time)} | {key: float(text) for key, (text, _) in texts.items()}))
    return log


def prime(seed: int, steps: int, *, trainer: bool = False, style: int = 0) -> Log:
    """prime-rl's step lines, of the orchestrator or the trainer."""
    rng = random.Random(seed)
    log = Log()
    heads = (
        "16:43:{:02d} SUCCESS ",
        "2025-11-20 16:43:{:02d}.123 | SUCCESS  | prime_rl.trainer.rl.train:train:345 - ",
        "",
    )
    for step in range(steps):
        texts: dict[str, tuple[str, str]] = {"Time": (f"{rng.uniform(1, 99):.2f}", "s")}
        if trainer:
            texts |= {
                "Loss": (rng.choice([f"{rng.gauss(0, 1):.4f}", "nan"]), ""),
                "Mismatch KL": (f"{rng.random():.4f}", ""),
                "Grad. Norm": (f"{rng.random():.4f}", ""),
                "LR": (f"{rng.random() * 1e-6:.2e}", ""),
                "Throughput": (f"{rng.uniform(1, 9999):.0f}", " tokens/s"),
                "MFU": (f"{rng.uniform(0, 60):.1f}", "%"),
                "Peak Mem.": (f"{rng.uniform(0, 80):.1f}", "/80.0 GiB (51.2%)"),
            }
        else:
            texts |= {
                "Reward": (f"{rng.random():.4f}", ""),
                "Seq. Length": (f"{rng.uniform(1, 4000):.1f}", " tokens/sample"),
                "Async Level": (str(rng.randrange(4)), ""),
                "Max. Off-Policy Level": (str(rng.randrange(4)), ""),
            }
        shown = " | ".join(f"{key}: {text}{unit}" for key, (text, unit) in texts.items())
        log.lines.append(f"{heads[style].format(step % 60)}Step {step} | {shown}")
        log.rows.append((step, {key: int(text) if text.isdigit() else float(text) for key, (text, _) in texts.items()}))
    return log
