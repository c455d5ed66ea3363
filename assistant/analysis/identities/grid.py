"""A run as aligned arrays, with how far a printed value may lie from the one that was computed."""

from __future__ import annotations

from collections import Counter
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.series import series
from assistant.model import Run

Values = NDArray[np.float64]
SAMPLE = 48
"""Cells of a column whose digits are looked at; a column is printed in one way throughout."""
FULL_DIGITS = 8
"""Significant digits from which a column counts as printed in full (float32 needs nine, a rounded one has fewer)."""


class Grid:
    """Columns over the distinct steps of a run, which it does not hold: it is kept for it, and let go with it.

    Attributes:
        steps: shape (n,), ascending.
    """

    def __init__(self, run: Run) -> None:
        self._run = ref(run)
        self.steps = np.asarray(run.distinct_steps, dtype=np.int64)
        self._values: dict[str, Values | None] = {}
        self._digits: dict[str, tuple[int, int, bool]] = {}
        self._half: dict[str, Values] = {}
        self._style: tuple[str, int] | None = None

    @property
    def run(self) -> Run:
        """The run, which whoever asks has in hand."""
        run = self._run()
        assert run is not None
        return run

    def values(self, metric: str) -> Values | None:
        """Shape (n,), NaN where the log has no finite value; ``None`` for a metric that is not there."""
        if metric not in self._values:
            found = series(self.run, metric)
            aligned: Values | None = None
            if len(found) == len(self.steps):
                aligned = found.values
            elif len(found):
                aligned = np.full(len(self.steps), np.nan)
                aligned[np.searchsorted(self.steps, found.steps)] = found.values
            self._values[metric] = aligned
        return self._values[metric]

    def rounding(self, metric: str) -> Values | float:
        """Half a unit of the last digit that the column prints; 0 where it prints in full.

        A run that prints fixed decimals throughout is off by half the last decimal, one of fixed significant digits
        by half the last digit. In a run that prints in full, whole numbers are exact and a column of few digits is
        rounded by itself (transformers rounds the loss).
        """
        if metric not in self._half:
            self._half[metric] = self._rounding(metric)
        return self._half[metric]

    def _rounding(self, metric: str) -> Values:
        values = self.values(metric)
        assert values is not None
        kind, many = self.style
        if kind == "fixed":
            return np.full(len(values), 0.5 * 10.0**-many)
        decimals, digits, whole = self._shape(metric)
        if kind == "significant" and (digits >= many or whole):
            return _last_digit(values, max(many, digits))
        if digits >= FULL_DIGITS or whole or self._constant(metric):
            return np.zeros(len(values))
        return np.maximum(_last_digit(values, digits), 0.5 * 10.0**-decimals)

    def digits(self, metric: str) -> int:
        """Most significant digits that a sample of the column shows."""
        return self._shape(metric)[1]

    def _constant(self, metric: str) -> bool:
        """Whether nearly all cells are the same: such a number (a coefficient, a rate) is short, not rounded."""
        column = self.run.columns[metric].values
        sample = column[:: max(1, len(column) // SAMPLE)]
        return len(sample) > 1 and 10 * Counter(sample).most_common(1)[0][1] >= 9 * len(sample)

    @property
    def style(self) -> tuple[str, int]:
        """How the run prints fractions: ``fixed`` decimals, ``significant`` digits (and how many), or ``full``."""
        if self._style is None:
            shapes = [self._shape(metric) for metric in list(self.run.columns)[:96]]
            broken = [(decimals, digits) for decimals, digits, whole in shapes if not whole]
            self._style = ("full", 0)
            if len(broken) >= 3:
                decimals, digits = (Counter(kind).most_common(1)[0] for kind in zip(*broken, strict=True))
                if decimals[0] <= 6 and 5 * decimals[1] >= 4 * len(broken):
                    self._style = ("fixed", decimals[0])
                elif digits[0] <= 6 and 5 * sum(own <= digits[0] for _, own in broken) >= 4 * len(broken):
                    self._style = ("significant", digits[0])
        return self._style

    def _shape(self, metric: str) -> tuple[int, int, bool]:
        """Most decimals and most significant digits that a sample of the column shows, and whether all are whole."""
        if metric not in self._digits:
            column = self.run.columns[metric].values
            stride = max(1, len(column) // SAMPLE)
            decimals, digits, whole = 0, 1, True
            for value in column[::stride]:
                text = repr(value).lower().lstrip("-")
                if not text[0].isdigit():
                    continue
                mantissa, _, power = text.partition("e")
                integer, _, fraction = mantissa.partition(".")
                fraction = fraction.rstrip("0")
                decimals = max(decimals, len(fraction) - int(power or 0))
                shown = (integer + fraction).lstrip("0")
                digits = max(digits, len(shown if fraction else shown.rstrip("0")))
                whole = whole and float(value).is_integer()
            self._digits[metric] = (decimals, digits, whole)
        return self._digits[metric]


def _last_digit(values: Values, digits: int) -> Values:
    """Half a unit of the last of so many significant digits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.floor(np.log10(np.abs(values)))
    return np.asarray(np.where(np.isfinite(exponent), 0.5 * 10.0 ** (exponent - digits + 1), 0.0))


_GRIDS: WeakKeyDictionary[Run, Grid] = WeakKeyDictionary()


def grid_of(run: Run) -> Grid:
    """The run's grid, made once and kept as long as the run lives."""
    found = _GRIDS.get(run)
    if found is None:
        found = _GRIDS[run] = Grid(run)
    return found
