"""Every cell that was read, against what the trainer itself recorded.

The records (``.history.jsonl``) are the trainer's own numbers, unrounded. A console rounds them in its way, see
:func:`shown`; `trainer_state.json` and `progress.csv` carry all digits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.model import Run
from evals.training.label import Row

Key = tuple[int, str, float | str]
SB3_STEP = "time/total_timesteps"
_NOT_CELLS = frozenset({"step", "total_flos"})
_WHOLE = frozenset({"train/approx_kl"})
"""32-bit numbers, which Stable-Baselines3 prints whole (`common/logger.py`, ``HumanOutputFormat``)."""
Style = Literal["whole", "transformers 4", "transformers 5", "Stable-Baselines3"]


@dataclass(frozen=True, slots=True)
class Match:
    """The comparison of one text.

    Attributes:
        expected: cells that the text carries.
        agreeing: cells read with their key, step and value.
        missing: expected, not read so.
        phantom: read, and in no record so.
        steps: whether the text names the steps (otherwise the order was compared).
    """

    expected: int
    agreeing: int
    missing: tuple[Key, ...]
    phantom: tuple[Key, ...]
    steps: bool


def compare(rows: Iterable[Row], runs: Sequence[Run], *, style: Style) -> Match:
    """Compares the cells read with the records.

    Args:
        rows: the trainer's records, in order.
        runs: what was read.
        style: how the text rounds.
    """
    named = all(run.step_axis != "index" for run in runs)
    want = Counter(_expected(rows, style, named))
    got = Counter(_read(runs, named))
    return Match(
        expected=want.total(),
        agreeing=(want & got).total(),
        missing=tuple(sorted(want - got, key=str)),
        phantom=tuple(sorted(got - want, key=str)),
        steps=named,
    )


def style_of(name: str, data: bytes) -> Style:
    """How a text rounds: a console's dictionaries quote their numbers since transformers 5."""
    if not name.endswith(".log"):
        return "whole"
    if b"'loss': " not in data:
        return "Stable-Baselines3"
    return "transformers 5" if b"'loss': '" in data else "transformers 4"


def shown(key: str, value: float, style: Style) -> float:
    """A number as a text prints it.

    transformers 5 formats floats with 4 significant digits (`trainer_callback.py`, ``ProgressCallback.on_log``),
    transformers 4 rounds the epoch to 2 decimals and nothing else (`trainer.py`, ``log``), Stable-Baselines3 formats
    Python floats with 3 significant digits.
    """
    if isinstance(value, int) or style == "whole":
        return value
    if style == "transformers 4":
        return round(value, 2) if key == "epoch" else value
    if style == "Stable-Baselines3":
        return value if key in _WHOLE else float(f"{value:.3g}")
    return float(f"{value:.4g}")


def _value(value: float) -> float | str:
    return float(value) if math.isfinite(value) else str(float(value))


def _expected(rows: Iterable[Row], style: Style, named: bool) -> Iterable[Key]:
    rows, place = list(rows), -1
    trained = {row.get("step") for row in rows if "loss" in row}
    for row in rows:
        if "train_runtime" in row:  # averages over the run: no step's
            continue
        held_out = any(key.startswith("eval_") for key in row)
        double = held_out and row["step"] in trained  # both print the epoch
        place += not held_out
        step = int(row[SB3_STEP] if SB3_STEP in row else row["step"])
        for key, value in row.items():
            if key in _NOT_CELLS or isinstance(value, bool | str) or value is None or (double and key == "epoch"):
                continue
            yield step if named else place, key, _value(shown(key, value, style))


def _read(runs: Sequence[Run], named: bool) -> Iterable[Key]:
    before = 0
    for run in runs:
        for row, (step, _, values) in enumerate(run.rows()):
            for key, value in values.items():
                yield step if named else before + row, key, _value(value)
        before += len(run.steps)
