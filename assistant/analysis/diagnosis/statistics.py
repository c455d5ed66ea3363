"""The vocabulary of signs: named statistics of a role's series before and after an onset.

A statistic takes a :class:`View` and returns :class:`Measured`, or ``None`` where the points do not allow it. Register
others with :func:`statistic`; modules that do are named in ``MODULES``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import Final

import numpy as np

from assistant.analysis.diagnosis.onset import scatter
from assistant.analysis.series import Steps, Values

MODULES: Final = tuple(f"assistant.analysis.diagnosis.statistics_{name}" for name in ("levels", "shape", "system"))
#: Points before the onset that make the baseline, at most; fewer points than this of either side say nothing.
BASELINE: Final = 40
LEAST: Final = 3


@dataclass(frozen=True, eq=False, slots=True)
class View:
    """A role's series around an onset.

    Attributes:
        steps: shape (n,).
        values: shape (n,).
        at: first point from the onset on.
        other: the second role's values at the same steps, shape (n,), NaN where it has none; empty without one.
        window: points, as the rule asks.
        bound: inner bound, as the rule asks.
        early: whether a change that begins with the run is measured against the run's first three points.
    """

    steps: Steps
    values: Values
    at: int
    other: Values = field(default_factory=lambda: np.empty(0))
    window: int | None = None
    bound: float | None = None
    early: bool = False

    @property
    def before(self) -> Values:
        """The baseline: the last points before the onset (with ``early``, the first three where there are fewer)."""
        if self.early and self.at < LEAST:
            return self.values[:LEAST]
        return self.values[max(0, self.at - BASELINE) : self.at]

    @property
    def after(self) -> Values:
        """From the onset on."""
        return self.values[self.at :]

    @property
    def late(self) -> Values:
        """The second half of what follows the onset."""
        return self.after[len(self.after) // 2 :]

    @property
    def first(self) -> Values:
        """The first points of the series (a tenth, at least three)."""
        return self.values[: max(LEAST, len(self.values) // 10)]

    @property
    def last(self) -> Values:
        """The last points (a tenth, at least three)."""
        return self.values[-max(LEAST, len(self.values) // 10) :]


@dataclass(frozen=True, slots=True)
class Measured:
    """A statistic's value, how many standard errors it stands out by, and what a sentence may show.

    Attributes:
        value: the statistic.
        errors: standard errors.
        shown: levels, by name.
        places: of single values of the series, by name: what a sentence calls best or latest is one that the log holds.
    """

    value: float
    errors: float = float("inf")
    shown: Mapping[str, float] = field(default_factory=dict)
    places: Mapping[str, int] = field(default_factory=dict)


Statistic = Callable[[View], "Measured | None"]
_KNOWN: dict[str, Statistic] = {}


def statistic(name: str) -> Callable[[Statistic], Statistic]:
    """Registers a function under the name that rules use."""

    def register(function: Statistic) -> Statistic:
        _KNOWN[name] = function
        return function

    return register


@lru_cache(maxsize=1)
def known() -> Mapping[str, Statistic]:
    """All statistics by name."""
    for module in MODULES:
        import_module(module)
    return _KNOWN


def about_line(side: Values) -> Values:
    """What a straight line through a side (least squares) leaves over; about the median below five points."""
    n = len(side)
    if n < 5:
        return np.asarray(side - np.median(side))
    at = np.arange(n) - (n - 1) / 2
    slope = float((at * side).sum() / (at**2).sum())
    rest = side - slope * at
    return np.asarray(rest - np.median(rest))


def error_of(side: Values) -> float:
    """Standard error of a side's median: scatter about its own line or about the neighbours, whichever is larger.

    Inflated by the lag-1 autocorrelation of the residuals: variance × (1 + ρ)/(1 − ρ), ρ in [0, 0.8] (Yue & Wang
    2004); 1.57 is the variance of a median over that of a mean for normal values.
    """
    rest = about_line(side)
    spread = max(scatter(side), 1.4826 * float(np.median(np.abs(rest))))
    power = float((rest**2).sum())
    lag = float((rest[1:] * rest[:-1]).sum()) / power if power > 0 and len(side) > 4 else 0.0
    lag = min(max(lag, 0.0), 0.8)
    return spread * math.sqrt(1.57 * (1 + lag) / (1 - lag) / len(side))


def errors_between(before: Values, after: Values) -> float:
    """Standard errors between two medians; infinite where neither side scatters and they differ."""
    error = math.hypot(error_of(before), error_of(after))
    gap = abs(float(np.median(after)) - float(np.median(before)))
    if error <= 0:
        return float("inf") if gap > 0 else 0.0
    return gap / error


def compared(before: Values, after: Values, value: float, *, named: tuple[str, str] = ("before", "after")) -> Measured:
    """A statistic of two sides, with the medians that a sentence may show."""
    shown = {named[0]: float(np.median(before)), named[1]: float(np.median(after))}
    return Measured(value, errors_between(before, after), shown)


def quotient(top: float, base: float) -> float:
    """``top / base``; infinite over zero, 1 for zero over zero."""
    if base == 0:
        return float("inf") if top > 0 else float("-inf") if top < 0 else 1.0
    return top / base


def divided(before: Values, after: Values, *, named: tuple[str, str] = ("before", "after")) -> Measured:
    """The later level over the earlier one; its errors are those of logarithms where all values are positive."""
    value = quotient(float(np.median(after)), float(np.median(before)))
    made = compared(before, after, value, named=named)
    if min(float(before.min()), float(after.min())) <= 0:
        return made
    return Measured(value, max(made.errors, errors_between(np.log(before), np.log(after))), made.shown)


def enough(*sides: Values) -> bool:
    """Whether every side has the points that a median asks for."""
    return all(len(side) >= LEAST for side in sides)
