"""Conditions against a log: whether one holds at a step, and what an expression amounts to."""

from __future__ import annotations

import math
import operator
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from assistant.analysis.conditions import OVER_TIME, Node
from assistant.model import Number

BASELINE_POINTS: Final = 5
ROLLING_POINTS: Final = 10

_COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_ARITHMETIC: Final[dict[str, Callable[[float, float], float]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
}  # fmt: skip
_ROLLING: Final[dict[str, Callable[[Sequence[float]], float]]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "median": lambda values: float(median(values)),
    "min": min,
    "max": max,
}


@dataclass(frozen=True, slots=True)
class Series:
    """One metric: steps ascending, each once, and the values there."""

    steps: Sequence[int]
    values: Sequence[Number]

    def upto(self, step: int) -> int:
        """How many points there are up to a step."""
        return bisect_right(self.steps, step)

    def at(self, step: int) -> float | None:
        """The value at a step, ``None`` if there is none."""
        place = self.upto(step) - 1
        return float(self.values[place]) if place >= 0 and self.steps[place] == step else None


def holds(tree: Node, table: Mapping[str, Series], step: int) -> bool | None:
    """Whether a condition holds at a step; ``None`` where a value that decides it is not in the log.

    NaN fulfils no comparison, not even ``!=``.
    """
    if tree.op in {"and", "or"}:
        found = [holds(part, table, step) for part in tree.parts]
        decisive = tree.op == "or"
        if decisive in found:
            return decisive
        return None if None in found else not decisive
    if tree.op == "not":
        inner = holds(tree.parts[0], table, step)
        return None if inner is None else not inner
    first, second = (measure(part, table, step) for part in tree.parts)
    if first is None or second is None:
        return None
    if math.isnan(first) or math.isnan(second):
        return False
    return _COMPARE[tree.op](first, second)


def measure(node: Node, table: Mapping[str, Series], step: int) -> float | None:
    """The value of an expression at a step; ``None`` where the log does not hold what it needs."""
    if node.op == "number":
        return node.value
    if node.op == "metric":
        series = table.get(node.name)
        return None if series is None else series.at(step)
    if node.op in OVER_TIME:
        series = table.get(node.parts[0].name)
        return None if series is None else _over_time(node, series, step)
    parts = [measure(part, table, step) for part in node.parts]
    if any(part is None for part in parts):
        return None
    values = [float(part) for part in parts if part is not None]
    if node.op == "abs":
        return abs(values[0])
    if node.op == "negative":
        return -values[0]
    if node.op == "/":
        return values[0] / values[1] if values[1] else math.nan
    return _ARITHMETIC[node.op](*values)


def _over_time(node: Node, series: Series, step: int) -> float | None:
    if node.op == "baseline":
        count = int(node.value) or BASELINE_POINTS
        first = [float(v) for v in series.values[:count] if math.isfinite(v)]
        return float(median(first)) if len(first) >= min(count, 2) else None
    known = series.upto(step)
    if known == 0 or series.steps[known - 1] != step:
        return None
    if node.op in _ROLLING:
        count = int(node.value) or ROLLING_POINTS
        return _ROLLING[node.op]([float(v) for v in series.values[max(0, known - count) : known]])
    if known < 2:
        return None
    before, now = (float(v) for v in series.values[known - 2 : known])
    if node.op == "delta":
        return now - before
    return now / before if before else math.nan
