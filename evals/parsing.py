"""Parsed cells against a slow, independent reading of the same text: `python -m evals.parsing [FOLDER…]`.

The reference knows one thing only: a verl console line, `step:N - key:value - …`, on one physical line. It reads such
lines with regular expressions of its own and shares no code with the parsers. A last pair that a cut may have
damaged is left out of the comparison on both sides. Exit status 1 where a cell differs.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from assistant.parsing import parse_bytes

ROOT = Path(__file__).resolve().parent.parent
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
HEAD = re.compile(r"^(?:\([\w.]+ pid=\d+[^)]*\) ?)?step:(\d+) - (.*)$")
PAIR = re.compile(r"^(.+?):(?:np\.\w+\()?(nan|-?inf|[-+]?\d[\d.]*(?:[eE][-+]?\d+)?)\)?$")
Cell = tuple[int, int, str]


@dataclass
class Result:
    """Figures of one file; ``wrong`` lists cells that are read otherwise or not at all."""

    name: str
    size: int
    rows: int
    reference: int
    read: int
    missing: int
    not_understood: int
    seconds: float
    wrong: list[str]


def reference_cells(text: str) -> dict[Cell, float]:
    """(line, step, key) → value of every complete pair on a verl console line that is not wrapped."""
    cells: dict[Cell, float] = {}
    for number, raw in enumerate(text.split("\n"), 1):
        match = HEAD.match(ANSI.sub("", raw).strip())
        if match is None:
            continue
        for pair in match[2].split(" - ")[:-1]:
            found = PAIR.match(pair.strip())
            if found is not None:
                cells[number, int(match[1]), found[1]] = float(found[2])
    return cells


def evaluate(path: Path) -> Result | None:
    """Figures of one file; ``None`` where the reference finds no verl line."""
    data = path.read_bytes()
    reference = reference_cells(data.decode("utf-8", "replace"))
    if not reference:
        return None
    started = time.perf_counter()
    parsed = parse_bytes(data, name=path.name)
    seconds = time.perf_counter() - started
    read = {
        (c.line, c.step, c.metric): float(c.value) for run in parsed.runs for m in run.metrics for c in run.cells(m)
    }
    elsewhere = {(step, metric): value for (_, step, metric), value in read.items()}
    wrong = []
    for (line, step, metric), value in reference.items():
        got = read.get((line, step, metric), elsewhere.get((step, metric)))
        same = got is not None and (got == value or (math.isnan(got) and math.isnan(value)))
        if not same:
            wrong.append(f"{path.name}:{line} step {step} {metric}: {value!r} read as {got!r}")
    missing = sum(len(run.missing) for run in parsed.runs)
    lost = parsed.runs[0].lines.not_understood if parsed.runs else 0
    rows = sum(len(run.steps) for run in parsed.runs)
    return Result(path.name, len(data), rows, len(reference), len(read), missing, lost, seconds, wrong)


def main(argv: list[str] | None = None) -> int:
    """Prints the table; 1 if any cell differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="*", default=[str(ROOT / "examples")])
    folders = parser.parse_args(argv).folder
    files = sorted(p for folder in folders for p in Path(folder).iterdir() if p.is_file())
    results = [result for path in files if (result := evaluate(path)) is not None]
    print(
        f"{'file':<52}{'rows':>6}{'cells':>8}{'reference':>11}{'wrong':>7}{'missing':>9}{'lost lines':>12}{'MB/s':>7}"
    )
    for r in results:
        rate = r.size / 1e6 / r.seconds
        print(
            f"{r.name[:51]:<52}{r.rows:>6}{r.read:>8}{r.reference:>11}{len(r.wrong):>7}{r.missing:>9}{r.not_understood:>12}{rate:>7.0f}"
        )
    for line in [w for r in results for w in r.wrong][:20]:
        print(line)
    return 1 if any(r.wrong for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
