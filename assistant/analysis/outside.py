"""What a run spends beside its timed steps (validations, checkpoints), so far and until its end.

Frameworks count such times within a step or not, and one framework now so, now so: the layout says which keys may lie
outside, and :func:`assistant.analysis.timing.inside_step` asks the log.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, mode, stdev
from typing import Final

from assistant.analysis.compare_noise import t_quantile
from assistant.analysis.keeping import kept_with_run
from assistant.analysis.ledger import Ledger
from assistant.analysis.level_ahead import LEAST, level_interval
from assistant.analysis.series import series
from assistant.analysis.timing import inside_step, layout_of, total_key
from assistant.model import Fact, Run

#: Frameworks that validate and save at their last step, too, whatever the interval (verl/trainer/ppo/ray_trainer.py).
_AT_THE_END: Final = frozenset({"verl"})


@kept_with_run
def outside_keys(run: Run) -> tuple[str, ...]:
    """Keys of the seconds that the log shows to lie outside of the steps' time."""
    layout = layout_of(run)
    if layout is None or total_key(run, layout) is None:
        return ()
    found = [key for key in layout.sometimes if key in run.columns and inside_step(run, key) is False]
    return (*found, *(key for key in layout.outside if key in run.columns))


@kept_with_run
def within_keys(run: Run) -> tuple[str, ...]:
    """Keys of validations and checkpoints whose seconds are part of the steps' time."""
    layout = layout_of(run)
    if layout is None or total_key(run, layout) is None:
        return ()
    return tuple(key for key in layout.sometimes if key in run.columns and inside_step(run, key) is True)


def once_keys(run: Run) -> tuple[str, ...]:
    """Keys outside of the steps that stand at the last step alone: how often they come, the log does not show."""
    last = max(run.steps, default=0)
    return tuple(key for key in outside_keys(run) if {int(step) for step in series(run, key).steps} == {last})


@dataclass(frozen=True, slots=True)
class Ahead:
    """What is still to come of one key.

    Attributes:
        key: of its seconds.
        count: how many times.
        mean: seconds of one, the mean of those logged.
        half: half of the 95 % interval of all of them together.
    """

    key: str
    count: int
    mean: float
    half: float

    @property
    def seconds(self) -> float:
        """Of all of them together."""
        return self.count * self.mean


def ahead(run: Run, total: int) -> tuple[Ahead, ...]:
    """What comes beside the steps up to ``total``, as often as it came so far; nothing where none of it is to come."""
    found = []
    last = max(run.steps, default=0)
    for key in outside_keys(run):
        times = series(run, key)
        values = [float(value) for value in times.values if math.isfinite(value)]
        steps = [int(step) for step in times.steps if step > 0] or [int(step) for step in times.steps]
        count = times_ahead(steps, last, total, at_the_end=run.framework in _AT_THE_END) if values else 0
        if count:
            found.append(Ahead(key, count, fmean(values), _half(values, count)))
    return tuple(found)


def times_ahead(steps: list[int], last: int, total: int, *, at_the_end: bool) -> int:
    """How many of the steps after ``last`` up to ``total`` have what these steps had.

    By the usual interval of the steps; by how often they came where they have none. One alone at the last step may be
    that of the run's end, and tells no interval.
    """
    if not steps or total <= last or steps == [last]:
        return 0
    gaps = [b - a for a, b in pairwise(steps)]
    usual = mode(gaps) if gaps else steps[0]
    regular = bool(gaps) or last < 2 * usual
    if usual > 0 and regular and gaps.count(usual) * 2 >= len(gaps):
        phase = mode(step % usual for step in steps)
        due = [step for step in range(last + 1, total + 1) if step % usual == phase]
        return len(due) + (at_the_end and total not in due)
    return round(len(steps) / max(last, 1) * (total - last))


def _half(values: list[float], count: int) -> float:
    """Half of the interval of the sum of so many more; few values are taken to hang together as strongly as can be."""
    if len(values) >= LEAST:
        return level_interval(values, count)[1]
    if len(values) == 1:
        return count * values[0]  # no spread is known
    return count * t_quantile(0.975, len(values) - 1) * stdev(values) * math.sqrt(1 + 1 / len(values))


def as_facts(ledger: Ledger, run: Run, total: int) -> list[tuple[Ahead, Fact, Fact, Fact]]:
    """What is still to come beside the steps, with its number, the seconds of one, and of all, as facts."""
    told = []
    for one in ahead(run, total):
        cells = [ledger.value(one.key, int(step), run) for step in series(run, one.key).steps]
        mean = ledger.derived(
            f"mean({one.key})", one.mean, unit="s", inputs=cells, formula=f"mean of {one.key}", run=run
        )
        count = ledger.derived(
            f"{one.key} ahead", one.count, inputs=[], formula=f"{one.key} up to step {total}, as often as so far",
            run=run,
        )  # fmt: skip
        spent = ledger.derived(
            f"seconds of {one.key} ahead", one.seconds, unit="s", inputs=[mean, count], formula="count × mean", run=run
        )
        told.append((one, count, mean, spent))
    return told
