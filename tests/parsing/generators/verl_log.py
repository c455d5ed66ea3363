"""Prints what verl's console logger prints, and damages it as terminals and launchers do."""

from __future__ import annotations

import pprint
import random
from dataclasses import dataclass, field

Value = int | float
Row = dict[str, Value]

TRAIN_KEYS = (
    "global_seqlen/min",
    "actor/entropy",
    "actor/pg_loss",
    "actor/ppo_kl",
    "actor/grad_norm",
    "perf/mfu/actor",
    "actor/lr",
)
LATE_KEYS = (
    "training/global_step",
    "training/epoch",
    "critic/score/mean",
    "critic/rewards/min",
    "response_length/clip_ratio",
    "num_turns/min",
    "timing_s/agent_loop/generate_sequences/max",
    "timing_s/step",
    "perf/throughput",
)
VAL_KEYS = tuple(
    f"val-{'core' if name == 'acc' else 'aux'}/aime/{name}/{kind}"
    for name in ("reward", "acc")
    for kind in ("mean@30", "std@30", "best@2/mean", "best@2/std", "maj@16/mean")
)
KINDS: dict[type, str] = {int: "np.int32", float: "np.float64"}
INTEGERS = {"training/global_step", "training/epoch", "global_seqlen/min", "num_turns/min"}


@dataclass
class Wrapped:
    """Stands for a numpy scalar: prints as its repr does."""

    value: Value
    kind: str = "np.float64"

    def __repr__(self) -> str:
        return f"{self.kind}({self.value!r})"


@dataclass
class Log:
    """A generated log: its lines, and what a reader must find in them."""

    rows: list[tuple[int, Row]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


def random_row(rng: random.Random, step: int, *, validate: bool = False, train: bool = True) -> Row:
    """Metrics of one step in verl's order: actor, validation, then the rest."""
    keys = (TRAIN_KEYS if train else ()) + (VAL_KEYS if validate else ()) + (LATE_KEYS if train else ())
    row: Row = {}
    for key in keys:
        if key in INTEGERS:
            row[key] = step if key == "training/global_step" else rng.randrange(0, 5_000_000)
        else:
            row[key] = rng.choice([rng.uniform(-1, 1), rng.uniform(0, 1e-7), rng.gauss(0, 1e4), 0.0, 1e-06])
    return row


def step_line(step: int, row: Row, rng: random.Random | None = None, *, old: bool = False) -> str:
    """One console line; ``old`` prints three decimals, else some values come as numpy scalars."""
    parts = [f"step:{step}"]
    for key, value in row.items():
        if old:
            parts.append(f"{key}:{value:.3f}")
        elif rng is not None and rng.random() < 0.5:
            parts.append(f"{key}:{pprint.pformat(Wrapped(value, KINDS[type(value)]))}")
        else:
            parts.append(f"{key}:{pprint.pformat(value)}")
    return " - ".join(parts)


def old_row(row: Row) -> Row:
    """The values that three decimals leave."""
    return {key: float(f"{value:.3f}") for key, value in row.items()}


def validation_dict(row: Row) -> str:
    """``pprint(f"Initial validation metrics: {…}")`` with numpy scalars inside."""
    shown = {key: Wrapped(value, "np.int32" if isinstance(value, int) else "np.float64") for key, value in row.items()}
    return pprint.pformat(f"Initial validation metrics: {shown!r}")


def random_log(seed: int, steps: int, *, val_every: int = 0, old: bool = False) -> Log:
    """A log of ``steps`` steps from 1 on."""
    rng = random.Random(seed)
    log = Log()
    for step in range(1, steps + 1):
        row = random_row(rng, step, validate=bool(val_every) and step % val_every == 0)
        log.lines.append(step_line(step, row, rng, old=old))
        log.rows.append((step, old_row(row) if old else row))
    return log


def wrap(line: str, column: int, *, strip: bool = False) -> list[str]:
    """A line as a terminal breaks it; ``strip`` drops blanks at line ends as copying does."""
    pieces = [line[at : at + column] for at in range(0, len(line), column)]
    return [piece.rstrip(" ") for piece in pieces] if strip else pieces


def ray(line: str, pid: int = 4711, *, colour: bool = False, task: str = "TaskRunner") -> str:
    """A line as Ray forwards it from a worker."""
    tag = f"({task} pid={pid})"
    return f"\x1b[36m{tag}\x1b[0m {line}" if colour else f"{tag} {line}"


def bar(width: int, done: int, total: int, desc: str = "Epoch 1/3") -> str:
    """A progress bar that fills a terminal's line, as the SFT trainer leaves it before a record."""
    head = f"{desc}: {100 * done // total:3d}%|"
    tail = f"| {done}/{total} [00:0{done % 10}<09:36,  9.45s/it]"
    return head + "#" * (width - len(head) - len(tail)) + tail


def listed(rng: random.Random, line: str, *, dashed: bool, indent: str) -> list[str]:
    """A line that somebody broke between cells for reading: the head, then one or more cells a line."""
    head, *cells = line.split(" - ")
    lines = [head] if dashed else [" - ".join([head, cells.pop(0)])]
    while cells:
        size = rng.randint(1 if dashed else 2, 4)
        size = len(cells) if len(cells) - size == 1 else size
        item = " - ".join(cells[:size])
        lines.append(f"{indent}- {item}" if dashed else f"{indent}{item}")
        cells = cells[size:]
    return lines
