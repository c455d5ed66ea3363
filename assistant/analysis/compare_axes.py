"""Where each step of a run stands on an axis: steps, tokens seen, or time; and the part that two runs share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.compare_model import Side
from assistant.analysis.compare_rules import Axis, rules
from assistant.analysis.ledger import Ledger
from assistant.analysis.series import series
from assistant.model import Fact, Run

#: The part of the shared range whose means stand for where each run has got to.
LAST_PART = 0.25
#: A run is measured over at least so many of its last steps, where it has them.
LEAST_STEPS = 3


@dataclass(frozen=True, slots=True)
class Placed:
    """Steps of a run and where they stand: ascending, of equal length; ``key`` is what was counted."""

    steps: NDArray[np.int64]
    places: NDArray[np.float64]
    key: str | None


@dataclass(frozen=True, slots=True)
class Aligned:
    """Two runs on one axis.

    Attributes:
        a: the last part of the shared range in the first run.
        b: the same in the second.
        ends: where both sides end on the axis, as facts (``None`` for steps).
        cut: the run that goes on beyond the shared range, if one does, and its last step.
        keys: what was counted in each run.
    """

    a: Side
    b: Side
    ends: tuple[Fact, Fact] | None
    cut: tuple[Run, int] | None
    keys: tuple[str | None, str | None]


def placed(run: Run, axis: Axis) -> Placed | None:
    """Where the steps of a run stand on an axis; ``None`` where the log holds nothing to count by."""
    steps = np.array(run.distinct_steps, dtype=np.int64)
    if axis == "step":
        return Placed(steps, steps.astype(np.float64), None)
    keys = rules().axes[axis]
    for patterns, sums in ((keys.cumulative, False), (keys.per_step, True)):
        for key in _matching(run.metrics, patterns):
            found = series(run, key)
            values = np.cumsum(found.values) if sums else found.values
            if len(found) > 1 and bool(np.all(values[1:] > values[:-1])):
                return Placed(found.steps, values, key)
    return None


def _matching(metrics: Sequence[str], patterns: Sequence[re.Pattern[str]]) -> list[str]:
    return [metric for pattern in patterns for metric in metrics if pattern.fullmatch(metric)]


def align(ledger: Ledger, a: Run, b: Run, axis: Axis) -> Aligned | str:
    """The last quarter of the range that two runs share; the reason as a code where they share none.

    Returns:
        ``no_axis`` where a log holds nothing to count by, ``no_overlap`` where the ranges do not meet.
    """
    found = placed(a, axis), placed(b, axis)
    if found[0] is None or found[1] is None:
        return "no_axis"
    one, two = found[0], found[1]
    if not len(one.places) or not len(two.places):
        return "no_overlap"
    low, high = max(one.places[0], two.places[0]), min(one.places[-1], two.places[-1])
    if high < low:
        return "no_overlap"
    begin = high - LAST_PART * (high - low)
    sides, ends = [], []
    for run, part in ((a, one), (b, two)):
        stop = int(part.places.searchsorted(high, "right"))
        start = min(int(part.places.searchsorted(begin, "left")), max(0, stop - LEAST_STEPS))
        if stop == 0:
            return "no_overlap"
        sides.append(Side(run, int(part.steps[start]), int(part.steps[stop - 1])))
        ends.append(_end(ledger, run, part, stop, axis))
    longer = next(
        ((side.run, side.last) for side, part in zip(sides, (one, two), strict=True) if side.last < part.steps[-1]),
        None,
    )
    both = None if ends[0] is None or ends[1] is None else (ends[0], ends[1])
    return Aligned(sides[0], sides[1], both, longer, (one.key, two.key))


def _end(ledger: Ledger, run: Run, part: Placed, stop: int, axis: Axis) -> Fact | None:
    if part.key is None:
        return None
    last = int(part.steps[stop - 1])
    return ledger.derived(
        f"{axis}_seen/{part.key}", float(part.places[stop - 1]), step=last, run=run,
        unit="tokens" if axis == "tokens" else "s", inputs=[ledger.value(part.key, last, run)],
        formula=f"{part.key} up to step {last}",
    )  # fmt: skip
