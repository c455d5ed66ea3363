"""Damages generated logs as terminals, launchers and other processes do, and compares what was read."""

from __future__ import annotations

import random
from collections.abc import Sequence

from assistant.model.run import Run
from assistant.parsing import Parsed, parse_text

Value = int | float
Cells = set[tuple[int, str, str]]

NOISE = (
    "WARNING 03-05 12:00:00 [scheduler.py:12] cache is full, 3 requests wait",
    "(raylet) Spilled 2048 MiB, 12 objects, write throughput 512 MiB/s.",
    "/usr/lib/python3.11/site-packages/torch/x.py:55: UserWarning: lr_scheduler.step() is deprecated",
    "The answer is 42, because loss: 0.5 was given and step 3 follows.",
    "Saving checkpoint to /data/run/step_10 ...",
    "{'role': 'user', 'content': 'What is 3 + 4?'}",
)


def cells(run: Run) -> Cells:
    """All cells, with values as text so that ``nan`` equals itself and ``1`` is not ``1.0``."""
    return {(cell.step, metric, repr(cell.value)) for metric in run.metrics for cell in run.cells(metric)}


def truth(rows: Sequence[tuple[int, dict[str, Value]]]) -> Cells:
    return {(step, key, repr(value)) for step, row in rows for key, value in row.items()}


def read(lines: Sequence[str], end: str = "\n") -> Parsed:
    """Reads the lines and checks the line counts, the lines of cells and that no missing cell has a value."""
    parsed = parse_text(end.join(lines))
    for run in parsed.runs:
        assert run.lines.taken + run.lines.ignored + run.lines.not_understood == parsed.text_lines
        for metric in run.metrics:
            assert all(1 <= cell.line <= len(lines) for cell in run.cells(metric))
        for gap in run.missing:
            assert gap.metric is None or run.value(gap.metric, gap.step) is None
    return parsed


def read_one(lines: Sequence[str], end: str = "\n") -> Run:
    (run,) = read(lines, end).runs
    return run


def ray(line: str, pid: int = 4711, task: str = "TaskRunner", *, colour: bool = False) -> str:
    tag = f"({task} pid={pid})"
    return f"\x1b[36m{tag}\x1b[0m {line}" if colour else f"{tag} {line}"


def interleave(rng: random.Random, lines: Sequence[str], share: float = 0.5) -> list[str]:
    """Other output between the lines."""
    out: list[str] = []
    for line in lines:
        while rng.random() < share:
            out.append(rng.choice(NOISE))
        out.append(line)
    return out


def wrap(lines: Sequence[str], column: int, *, strip: bool = False) -> list[str]:
    """The lines as a terminal of a width breaks them; ``strip`` drops blanks at line ends as copying does."""
    out: list[str] = []
    for line in lines:
        pieces = [line[at : at + column] for at in range(0, len(line), column)] or [""]
        out.extend(piece.rstrip(" ") if strip else piece for piece in pieces)
    return out


def number(rng: random.Random) -> float:
    return rng.choice([rng.uniform(-1, 1), rng.gauss(0, 1e4), rng.uniform(0, 1e-7), 0.0, float("nan"), float("inf")])


class Scalar:
    """Prints as numpy's scalars do."""

    def __init__(self, value: Value, kind: str = "np.float64") -> None:
        self.value = value
        self.kind = kind

    def __repr__(self) -> str:
        return f"{self.kind}({self.value!r})"
