"""Metrics of held-out data: which they are, whether they differ, and a score that falls while training's rises."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Final

from assistant.analysis.checks import Check
from assistant.analysis.compare_validation import validation_error
from assistant.analysis.diagnosis import role
from assistant.analysis.in_order import latest_in_order
from assistant.analysis.ledger import Ledger
from assistant.analysis.series import Series, series
from assistant.model import Fact, Run

#: The rule on a validation whose latest values only fall.
SINKS: Final = "validation_sinks"
#: The rule that tells differences between validations as noise.
NOISE: Final = "validation_noise"
#: Standard errors of a difference that no two of some twenty validations of one model lie apart.
APART: Final = 4.5
#: The same for the fall from a best that was picked.
FALLEN: Final = 3.0
_HELD_OUT = re.compile(r"(?:val|valid|validation|eval|evaluation|test)(?:[-_/ .]|$)", re.IGNORECASE)


def held_out(metric: str) -> bool:
    """Whether a key is of validations: of the same held-out data every time."""
    return _HELD_OUT.match(metric) is not None


def differ(ledger: Ledger, run: Run, metric: str, sizes: Mapping[str, int]) -> bool:
    """Whether two of a score's validations certainly differ: by more than sampling the answers could do."""
    points = series(run, metric)
    if len(points) < 2:
        return False
    gap = _apart(ledger, run, points, (int(points.values.argmin()), int(points.values.argmax())), sizes)
    return gap is not None and gap > APART


def sinking(ledger: Ledger, run: Run, sizes: Mapping[str, int]) -> Check | None:
    """A validation whose latest values fall one after the other to the lowest of all while the training reward rises.

    The fall from the best must exceed the sampling error, where it is known (:data:`FALLEN` standard errors of a
    difference).
    """
    found, reward = role(run, "val_accuracy"), role(run, "score_mean") or role(run, "reward_mean")
    if found is None or not found.spelling.plain or reward is None or not reward.spelling.plain:
        return None
    points = series(run, found.metrics[0])
    row = latest_in_order(points.values)
    if row is None or row.sign > 0 or not row.outermost:
        return None
    best, last = int(points.values.argmax()), len(points) - 1
    gap = _apart(ledger, run, points, (best, last), sizes)
    if gap is not None and gap < FALLEN:
        return None
    trend = ledger.trend(reward.metrics[0], run=run)
    if trend is None or trend.direction != "rising":
        return None
    ends = [ledger.value(reward.metrics[0], step or 0, run) for step in (trend.first_step, trend.last_step)]
    places = {"best": best, "since": row.start, "last": last}
    facts: dict[str, Fact | None] = {
        name: ledger.value(points.metric, int(points.steps[place]), run) for name, place in places.items()
    }
    facts |= {"train_first": ends[0], "train_last": ends[1]}
    facts["count"] = ledger.count("values in a row", row.count, metric=points.metric, last_step=int(points.steps[-1]))
    named = tuple((name, fact) for name, fact in facts.items() if fact is not None)
    if len(named) != len(facts) or float(ends[1].value or 0) <= float(ends[0].value or 0):  # type: ignore[union-attr]
        return None
    return Check(SINKS, "warning", (points.metric, reward.metrics[0]), (int(points.steps[row.start]),), named)


def _apart(ledger: Ledger, run: Run, points: Series, places: tuple[int, int], sizes: Mapping[str, int]) -> float | None:
    """So many standard errors lie between two validations; ``None`` where the log does not tell their error."""
    errors = [validation_error(ledger, run, points.metric, int(points.steps[place]), sizes) for place in places]
    if any(error is None for error in errors):
        return None
    error = math.sqrt(sum(error.value**2 for error in errors if error is not None))
    return abs(float(points.values[places[0]] - points.values[places[1]])) / error if error > 0 else None
