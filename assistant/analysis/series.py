"""A metric over steps as arrays: finite values only, read once per run and kept as long as the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from assistant.model import Number, Run

Steps = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class Series:
    """Finite values of one metric over ascending steps, each step once.

    Attributes:
        metric: key, as the log spells it.
        steps: shape (n,), int64, strictly ascending. Read-only.
        values: shape (n,), float64, finite. Read-only.
        dropped: cells of the metric that are NaN or infinite (a repeated step counts once); 0 in a part of a series.
        places: shape (n,), where each value stands in the run's column; ``None``: in the same order, none left out.
    """

    metric: str
    steps: Steps
    values: Values
    dropped: int = 0
    places: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.steps)

    def between(self, first: int, last: int) -> Series:
        """The points with ``first`` ≤ step ≤ ``last``; a view, nothing is copied."""
        low, high = self.steps.searchsorted(first, "left"), self.steps.searchsorted(last, "right")
        return self._part(slice(int(low), int(high)))

    def last(self, n: int) -> Series:
        """The last ``n`` points (fewer if there are fewer)."""
        return self._part(slice(max(0, len(self) - n), len(self)))

    def at(self, steps: Iterable[int]) -> Series:
        """The points at the given steps that are there."""
        wanted = np.fromiter(steps, dtype=np.int64)
        return self._part(np.flatnonzero(np.isin(self.steps, wanted)))

    def _part(self, chosen: slice | NDArray[np.intp]) -> Series:
        places = np.arange(len(self))[chosen] if self.places is None else self.places[chosen]
        return Series(self.metric, self.steps[chosen], self.values[chosen], 0, places)

    def number(self, run: Run, index: int) -> Number:
        """The value at an index as the log has it: an integer where it printed one."""
        index = range(len(self))[index]
        place = index if self.places is None else int(self.places[index])
        return run.columns[self.metric].values[place]


_KEPT: WeakKeyDictionary[Run, dict[str, Series]] = WeakKeyDictionary()
_ORDERS: WeakKeyDictionary[Run, tuple[Steps, bool]] = WeakKeyDictionary()


def series(run: Run, metric: str) -> Series:
    """A metric of a run as arrays; empty for a metric that is not there.

    Steps ascend, a step that a restart printed again counts once with its last value (as :meth:`Run.series` does),
    and NaN and infinities are left out. The result is kept as long as the run itself lives, so that asking again
    costs nothing; do not write into the arrays (they are read-only).
    """
    kept = _KEPT.setdefault(run, {})
    found = kept.get(metric)
    if found is None:
        found = kept[metric] = _read(run, metric)
    return found


def _read(run: Run, metric: str) -> Series:
    column = run.columns.get(metric)
    if column is None:
        return _frozen(metric, np.empty(0, np.int64), np.empty(0), 0)
    all_steps, ascending = _steps_of(run)
    values = floats(column.values)
    # A column without gaps is the common case, and a slice is twenty times as fast as picking by index.
    rows = column.rows
    steps = all_steps if len(rows) == len(all_steps) else all_steps[np.asarray(rows, dtype=np.int64)]
    places: NDArray[np.intp] | None = None
    if not ascending:
        # The last of equal steps stays: the first in reversed order is what np.unique returns.
        steps, first = np.unique(steps[::-1], return_index=True)
        places = len(values) - 1 - first
        values = values[places]
    finite = np.isfinite(values)
    dropped = len(values) - int(np.count_nonzero(finite))
    if dropped:
        places = np.flatnonzero(finite) if places is None else places[finite]
        steps, values = steps[finite], values[finite]
    return _frozen(metric, steps, values, dropped, places)


def _steps_of(run: Run) -> tuple[Steps, bool]:
    """The steps of all rows, and whether they ascend strictly (no restart, no repeated step)."""
    found = _ORDERS.get(run)
    if found is None:
        try:
            steps = np.asarray(run.steps, dtype=np.int64)
        except OverflowError:  # a number of more than 18 digits that was read as a step
            limit = np.iinfo(np.int64).max
            steps = np.array([min(max(step, -limit), limit) for step in run.steps], dtype=np.int64)
        found = _ORDERS[run] = (steps, bool(np.all(steps[1:] > steps[:-1])))
    return found


def floats(values: Sequence[Number]) -> Values:
    """Numbers as float64, shape (n,); an integer beyond the largest float is infinite."""
    try:
        return np.asarray(values, dtype=np.float64)
    except OverflowError:
        return np.array([_number(value) for value in values], dtype=np.float64)


def _number(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _frozen(metric: str, steps: Steps, values: Values, dropped: int, places: NDArray[np.intp] | None = None) -> Series:
    steps, values = steps.view(), values.view()
    steps.flags.writeable = values.flags.writeable = False
    return Series(metric, steps, values, dropped, places)
