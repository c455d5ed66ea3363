"""How much memory a large log takes: peak of the process against the size of the tables it ends with.

python tools/bench_memory.py --gigabytes 2 --format trl|jsonl|megatron|verl
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from assistant.parsing import parse_file

ROOT = Path(__file__).resolve().parent.parent
WORDS = (
    "the",
    "of",
    "and",
    "so",
    "quick",
    "brown",
    "fox",
    "answer",
    "is",
    "we",
    "compute",
    "that",
    "42 x = 3/4",
    "{1}{2}",
)
BATCH = 2000
MB = 1e6


@cache
def rollouts() -> list[str]:
    """Lines of what models answer."""
    rng = random.Random(1)
    return ["(WorkerDict pid=77) " + " ".join(rng.choices(WORDS, k=24)) for _ in range(5000)]


def trl(rng: random.Random, step: int) -> Iterator[str]:
    """A dictionary of TRL between eight lines of rollouts."""
    yield from rng.choices(rollouts(), k=8)
    row = {key: rng.gauss(0, 1) for key in ("loss", "grad_norm", "reward", "reward_std", "kl", "entropy")}
    yield str({**row, "learning_rate": 1e-6, "completions/mean_length": rng.randrange(900), "epoch": step / 1000})


def jsonl(rng: random.Random, step: int) -> Iterator[str]:
    """An object of JSON lines."""
    row = {f"train/{key}": rng.gauss(0, 1) for key in ("loss", "reward", "kl", "entropy", "grad_norm", "lr")}
    yield json.dumps({"step": step, **row, "perf/tokens": rng.randrange(10**6)})


def megatron(rng: random.Random, step: int) -> Iterator[str]:
    """A line of Megatron-LM."""
    yield (
        f" [2024-05-01 10:00:00] iteration {step:8d}/{10**8:8d} | consumed samples: {step * 64:12d} | "
        f"elapsed time per iteration (ms): {rng.uniform(100, 9999):.1f} | learning rate: {rng.random():.6E} | "
        f"global batch size: {64:5d} | lm loss: {rng.uniform(0, 9):.6E} | loss scale: 1.0 | "
        f"grad norm: {rng.uniform(0, 9):.3f} | number of skipped iterations:   0 | number of nan iterations:   0 |"
    )


def verl(rng: random.Random, step: int) -> Iterator[str]:
    """A line of verl between four of rollouts."""
    yield from rng.choices(rollouts(), k=4)
    pairs = (f"{group}/metric_{at}:{rng.gauss(0, 1)!r}" for group in ("actor", "critic", "perf") for at in range(10))
    yield f"step:{step} - " + " - ".join(pairs)


FORMATS: dict[str, Callable[[random.Random, int], Iterator[str]]] = {
    "trl": trl,
    "jsonl": jsonl,
    "megatron": megatron,
    "verl": verl,
}


def write_log(path: Path, kind: str, size: int) -> None:
    """Writes a log of a size, the same at each call."""
    rng = random.Random(0)
    step = 0
    with path.open("w") as handle:
        while handle.tell() < size:
            lines = [line for at in range(BATCH) for line in FORMATS[kind](rng, step + at)]
            step += BATCH
            handle.write("\n".join(lines) + "\n")


def held(value: Any, seen: set[int]) -> int:
    """Bytes of an object with what it holds, each object once."""
    if id(value) in seen:
        return 0
    seen.add(id(value))
    size = sys.getsizeof(value)
    if isinstance(value, tuple | list):
        if value and all(type(item) in (int, float) for item in value[:10]):
            return size + sum(sys.getsizeof(item) for item in value if not (type(item) is int and -5 <= item <= 256))
        return size + sum(held(item, seen) for item in value)
    return size


def measure(path: Path) -> dict[str, float]:
    """Reads a log in this process and tells what it took."""
    start = time.perf_counter()
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    parsed = parse_file(path)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seen: set[int] = set()
    table = sum(
        held(part, seen)
        for run in parsed.runs
        for part in (run.steps, run.row_lines, *(p for c in run.columns.values() for p in (c.rows, c.values, c.lines)))
    )
    cells = sum(len(column.values) for run in parsed.runs for column in run.columns.values())
    return {"seconds": seconds, "base": base * 1024, "peak": peak * 1024, "table": table, "cells": cells}


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the log, reads it in a process of its own and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--format", choices=[*FORMATS], default="trl")
    parser.add_argument("--folder", type=Path, help="where the log is written and removed again")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.read is not None:
        print(json.dumps(measure(options.read)))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder, f"{options.format}.log")
        write_log(path, options.format, int(options.gigabytes * 1e9))
        size = path.stat().st_size
        command = [sys.executable, "-m", "tools.bench_memory", "--read", str(path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    found = json.loads(done.stdout)
    print(f"{options.format}: {size / MB:,.0f} MB read in {found['seconds']:.0f} s, {found['cells']:,} cells")
    print(f"peak        {found['peak'] / MB:8,.0f} MB (of which {found['base'] / MB:,.0f} MB before the log)")
    print(f"table       {found['table'] / MB:8,.0f} MB")
    print(f"difference  {(found['peak'] - found['table']) / MB:8,.0f} MB")


if __name__ == "__main__":
    main()
