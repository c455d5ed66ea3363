"""What a run keeps through all its steps (GPUs, batch, group size …), read off by majority as arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.identities.formula import Measured, parse
from assistant.analysis.identities.grid import Grid, Values, grid_of
from assistant.model import Run

QUANTA: Final = (1.0, 0.5, 0.25, 0.2, 0.1, 0.05, 0.025, 0.02, 0.01)
"""Smallest units of reward that are tried, largest first."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A quantity that holds through a run.

    Attributes:
        value: at most steps.
        agree: steps at which it comes out so; ``asked`` those at which it could be computed.
        at: the same at every step, shape (n,), where it follows the steps (a batch that varies); else ``None``.
    """

    value: float
    agree: int
    asked: int
    first: int
    last: int
    at: Values | None = None


@dataclass(slots=True)
class Constants:
    """Constants of a run by name, and the coefficients that fits found."""

    found: dict[str, Constant] = field(default_factory=dict)

    def names(self) -> Mapping[str, float | Measured]:
        """For the evaluation of formulas."""
        return {name: Measured(c.at) if c.at is not None else c.value for name, c in self.found.items()}


def cell(grid: Grid, key: str, relative: float) -> Measured:
    """A column with its error; NaN throughout for a metric that is not there."""
    values = grid.values(key)
    if values is None:
        return Measured(math.nan)
    return Measured(values, np.abs(values) * relative + grid.rounding(key))


def evaluate(grid: Grid, text: str, relative: float, names: Mapping[str, float | Measured]) -> Measured | None:
    """A formula over all steps: arrays of shape (n,); ``None`` if a metric or a name is not there."""
    formula = parse(text)
    if any(grid.values(key) is None for key in formula.keys) or any(name not in names for name in formula.names):
        return None
    result = formula.evaluate(lambda key: cell(grid, key, relative), names)
    shape = len(grid.steps)
    return Measured(
        np.broadcast_to(np.asarray(result.value, np.float64), shape),
        np.broadcast_to(np.asarray(result.error, np.float64), shape),
    )


_KEPT: WeakKeyDictionary[Run, Constants] = WeakKeyDictionary()
_WHOLE: Final = {
    "n_gpus": ("{perf/total_num_tokens} / ({perf/throughput} * {perf/time_per_step})", 1e-6),
    "data_parallel_ranks": ("{perf/total_num_tokens} / {global_seqlen/mean}", 1e-9),
    "roll_gpus": ("{system/tps/tps} / {system/tps_gpu}", 1e-9),
    "nemo_gpus": ("{performance/tokens_per_sec} / {performance/tokens_per_sec_per_gpu}", 1e-9),
}
BATCH: Final = "{perf/total_num_tokens} / ({prompt_length/mean} + {response_length/mean})"


def constants(run: Run) -> Constants:
    """The run's constants, found once and kept as long as the run lives."""
    known = _KEPT.get(run)
    if known is not None:
        return known
    grid, result = grid_of(run), Constants()
    with np.errstate(all="ignore"):
        for name, (text, relative) in _WHOLE.items():
            _add(result, name, grid, evaluate(grid, text, relative, {}))
        _batch(result, grid)
        _group(result, grid)
        _quantum(result, grid)
        _same(result, grid, "no_kl_in_reward", "critic/score/mean", "critic/rewards/mean")
        _validation(result, grid)
    _KEPT[run] = result
    return result


def whole(found: Measured) -> tuple[Values, NDArray[np.bool_]]:
    """Distance to the nearest integer, and where that says something (an error well below one half)."""
    distance = np.abs(found.value - np.round(found.value))
    return np.asarray(distance), np.asarray(np.isfinite(found.value) & (found.error < 0.05))


def _add(result: Constants, name: str, grid: Grid, found: Measured | None) -> None:
    if found is None:
        return
    distance, telling = whole(found)
    nearest = np.round(found.value)
    good = telling & (distance <= found.error + 1e-6) & (nearest > 0)
    asked = int(np.isfinite(found.value).sum())
    if not good.any():
        return
    values, counts = np.unique(nearest[good], return_counts=True)
    most, agree = float(values[counts.argmax()]), int(counts.max())
    if 3 * agree < 2 * asked:
        return
    steps = grid.steps[good & (nearest == most)]
    result.found[name] = Constant(most, agree, asked, int(steps[0]), int(steps[-1]))


def _batch(result: Constants, grid: Grid) -> None:
    found = evaluate(grid, BATCH, 3e-7, {})
    _add(result, "trajectories_per_step", grid, found)
    if found is None or "trajectories_per_step" in result.found:
        return
    # A batch that varies between steps comes out whole at each of them.
    distance, telling = whole(found)
    good = telling & (distance <= found.error + 1e-6)
    asked = int(np.isfinite(found.value).sum())
    if asked >= 3 and 10 * int(good.sum()) >= 9 * asked:
        at = np.where(good, np.round(found.value), np.nan)
        steps = grid.steps[good]
        middle = float(np.median(at[good]))
        result.found["trajectories_per_step"] = Constant(middle, len(steps), asked, int(steps[0]), int(steps[-1]), at)


def _group(result: Constants, grid: Grid) -> None:
    """Group size where most extremes agree on it and none lies above the bound, and returns are advantages."""
    sides = [grid.values(f"critic/advantages/{part}") for part in ("max", "min")]
    same = [
        (grid.values(f"critic/advantages/{part}"), grid.values(f"critic/returns/{part}")) for part in ("max", "min")
    ]
    if sides[0] is None or sides[1] is None:
        return
    relative = np.ones(len(grid.steps), dtype=bool)
    for own, other in same:
        if own is None or other is None:
            return
        relative &= own == other
    bound = np.maximum(np.abs(sides[0]), np.abs(sides[1]))
    exact = ((bound + np.sqrt(bound * bound + 4)) / 2) ** 2
    size = np.round(exact)
    slack = grid.rounding("critic/advantages/max")
    near = np.abs((size - 1) / np.sqrt(np.maximum(size, 1)) - bound) <= 1e-4 * bound + slack
    good = relative & near & (size >= 2) & (np.abs(exact - size) < 0.05)
    batch = result.found.get("trajectories_per_step")
    if batch is not None and batch.at is None:
        good &= np.mod(batch.value, np.maximum(size, 1)) == 0
    if not good.any():
        return
    values, counts = np.unique(size[good], return_counts=True)
    most = float(values[counts.argmax()])
    agree, asked = int(counts.max()), int(np.isfinite(bound).sum())
    over = int((relative & (bound > (most - 1) / math.sqrt(most) * (1 + 1e-5) + slack)).sum())
    if agree < max(2, over * 4) and asked > 1:
        return
    steps = grid.steps[good & (size == most)]
    result.found["group_size"] = Constant(most, agree, asked, int(steps[0]), int(steps[-1]))


def _quantum(result: Constants, grid: Grid) -> None:
    """The largest unit of reward of which the batch's sum is a multiple at (almost) every step."""
    total = evaluate(grid, "{critic/score/mean} * trajectories_per_step", 3e-7, result.names())
    if total is None:
        return
    # The mean of rewards of both signs loses what cancels: some units of the last place of the largest reward.
    error = total.error + 3e-8 * result.found["trajectories_per_step"].value
    for quantum in QUANTA:
        found = Measured(total.value / quantum, error / quantum)
        distance, telling = whole(found)
        asked = int(telling.sum())
        good = telling & (distance <= found.error + 1e-6)
        if asked >= 3 and asked == int(np.isfinite(found.value).sum()) and 10 * int(good.sum()) >= 9 * asked:
            steps = grid.steps[good]
            result.found["reward_quantum"] = Constant(quantum, len(steps), asked, int(steps[0]), int(steps[-1]))
            return


def _same(result: Constants, grid: Grid, name: str, one: str, other: str) -> None:
    """1 under a name where two columns are equal at nearly every step."""
    a, b = grid.values(one), grid.values(other)
    if a is None or b is None:
        return
    both = np.isfinite(a) & np.isfinite(b)
    equal = both & (a == b)
    agree, asked = int(equal.sum()), int(both.sum())
    if asked and 4 * agree >= 3 * asked:
        steps = grid.steps[equal]
        result.found[name] = Constant(1.0, agree, asked, int(steps[0]), int(steps[-1]))


def _validation(result: Constants, grid: Grid) -> None:
    """``same_validation_score`` where nearly every statistic of score in the validations equals that of reward."""
    equal = asked = 0
    for metric in grid.run.columns:
        other = metric.replace("/score/", "/reward/") if metric.startswith("val-") else metric
        a, b = (None, None) if other == metric else (grid.values(metric), grid.values(other))
        if a is not None and b is not None:
            both = np.isfinite(a) & np.isfinite(b)
            asked += int(both.sum())
            equal += int((both & (np.abs(a - b) <= 1e-6 + 1e-6 * np.abs(a))).sum())  # one is float32
    if asked >= 4 and 10 * equal >= 9 * asked:
        steps = grid.steps
        result.found["same_validation_score"] = Constant(1.0, equal, asked, int(steps[0]), int(steps[-1]))
