"""Prints what NeMo-RL prints a step: banner, progress, results, times, throughputs, validations."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.parsing.generators.harm import Value

Row = tuple[int, dict[str, Value]]
EQUALS = "=" * 25


@dataclass
class Log:
    lines: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


def random_log(seed: int, steps: int, *, epochs: int = 1, validate: bool = True) -> Log:
    rng = random.Random(seed)
    log = Log()
    if validate:
        row: dict[str, Value] = {}
        log.lines.append("\n🔍 Running initial validation...")
        _validation(rng, log, row, 0)
        log.rows.append((0, row))
    for epoch in range(1, epochs + 1):
        log.lines += ["", f"{EQUALS} Epoch {epoch}/{epochs} {EQUALS}"]
        for step in range(1, steps + 1):
            row = {}
            number = step + (epoch - 1) * steps
            log.lines += ["", f"{EQUALS} Step {step}/{steps} {EQUALS}", "▶ Preparing batch...", "▶ Training policy..."]
            if validate and step % 2 == 0:
                _validation(rng, log, row, number)
            _training(rng, log, row)
            log.rows.append((number, row))
    log.lines = "\n".join(log.lines).split("\n")
    return log


def _say(log: Log, row: dict[str, Value], item: str, key: str, text: str, *, tail: str = "", prefix: str = "") -> None:
    log.lines.append(f"{item}{key}: {text}{tail}")
    row[prefix + key] = float(text) if set(text) & set(".n") else int(text)


def _training(rng: random.Random, log: Log, row: dict[str, Value]) -> None:
    log.lines += ["", "📊 Training Results:"]
    _say(log, row, "  • ", "Loss", rng.choice([f"{rng.gauss(0, 1):.4f}", "nan"]))
    for key in ("Generation KL Error", "Avg Reward", "Mean Generation Length"):
        _say(log, row, "  • ", key, f"{rng.uniform(0, 900):.4f}")
    log.lines += ["", "⏱️  Timing:"]
    _say(log, row, "  • ", "Total step time", f"{rng.uniform(10, 90):.2f}", tail="s", prefix="Timing/")
    for key in ("generation", "policy_training", "prepare_for_generation/total"):
        _say(log, row, "  • ", key, f"{rng.uniform(0, 9):.2f}", tail=f"s ({rng.uniform(0, 50):.1f}%)", prefix="Timing/")
    log.lines += ["", "🔍 Performance Metrics:"]
    _say(log, row, "  • ", "Mean Total Tokens per Sample", f"{rng.uniform(0, 900):.2f}", prefix="Performance/")
    log.lines.append("  • Throughputs (per GPU):")
    for key in ("E2E (Samples/sec/gpu)", "Policy and Reference Logprobs (Tokens/sec/gpu)"):
        _say(log, row, "    - ", key, f"{rng.uniform(0, 9000):.2f}", prefix="Performance/")
    tail = f" TFLOPS ({rng.random():.2f} TFLOPS per rank)"
    _say(log, row, "  • ", "Training FLOPS", f"{rng.uniform(0, 900):.2f}", tail=tail, prefix="Performance/")
    use = f"{rng.uniform(0, 60):.2f}"
    _say(log, row, "  • ", "Training Model Floating Point Utilization", use, tail="%", prefix="Performance/")


def _validation(rng: random.Random, log: Log, row: dict[str, Value], step: int) -> None:
    log.lines += [f"▶ Starting validation at step {step}...", "", "📊 Validation Results:"]
    _say(log, row, "    • ", "Accuracy", f"{rng.random():.4f}", prefix="Validation/")
    _say(
        log,
        row,
        "    • ",
        "Average response length",
        f"{rng.uniform(0, 900):.1f}",
        tail=" tokens",
        prefix="Validation/",
    )
    _say(log, row, "    • ", "Samples processed", str(rng.randrange(1, 999)), prefix="Validation/")
    log.lines += ["", "  ⏱️  Validation Timing:"]
    _say(
        log, row, "    • ", "Total validation time", f"{rng.uniform(1, 99):.2f}", tail="s", prefix="Validation Timing/"
    )
