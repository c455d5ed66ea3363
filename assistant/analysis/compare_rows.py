"""One metric on two sides: its change as a fact, with the noise that the log allows to tell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from assistant.analysis.compare_model import Better, Reason, Side
from assistant.analysis.compare_noise import (
    MAX_POINTS,
    Array,
    Noise,
    between_series,
    fit,
    known,
    level_variance,
    single,
    window_variance,
    within_series,
)
from assistant.analysis.compare_rules import MetricClass
from assistant.analysis.compare_validation import validation_error
from assistant.analysis.ledger import Ledger
from assistant.analysis.noise import same_gap_noise, sampling_variance
from assistant.analysis.series import Series, series
from assistant.model import Fact, Run

#: Points around two steps or windows from which their noise is taken, where the run is longer.
NEIGHBOURHOOD = 120
#: Steps in which the size of a batch is looked for.
LOOKED_AT = 50
#: A run whose first step is at most this one is logged from its start.
START = 1


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric's mean on one side, its points in the series, and the facts it rests on."""

    fact: Fact
    value: float
    points: Series
    start: int
    stop: int

    @property
    def n(self) -> int:
        """Points on this side."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Pair:
    """One metric on both sides, before its noise is known; fields as in :class:`Row`."""

    metric: str
    other: str
    group: MetricClass
    direction: Better
    parts: tuple[Measured, Measured]
    sides: tuple[Side, Side]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Noise, what it was estimated from, and the facts that carry it."""

    noise: Noise
    basis: str
    inputs: tuple[Fact, ...] = ()


@dataclass
class Workshop:
    """What the rows of one comparison share."""

    ledger: Ledger
    sizes: Mapping[str, int]
    reach_back: bool = False
    _prompts: dict[str, Fact | None] = field(default_factory=dict)

    def measured(self, metric: str, side: Side, group: MetricClass) -> Measured | None:
        """The metric's mean over a side; ``None`` where it has no finite value there.

        Two runs need not be validated in the window itself: the last validation before its end stands for a run.
        """
        points = series(side.run, metric)
        start = int(points.steps.searchsorted(side.first, "left"))
        stop = int(points.steps.searchsorted(side.last, "right"))
        if group == "validation" and self.reach_back and stop > 0:
            start = stop - 1
        if start == stop:
            return None
        first, last = int(points.steps[start]), int(points.steps[stop - 1])
        if stop - start == 1:
            cell = self.ledger.value(metric, first, side.run)
            return None if cell is None else Measured(cell, float(points.values[start]), points, start, stop)
        part = points.values[start:stop]
        # The mean of equal values is that value, without the rounding of their sum.
        mean = float(part[0]) if (part == part[0]).all() else float(part.mean())
        fact = self.ledger.add(
            ("mean", side.run.id, metric, first, last),
            kind="derived", run=side.run.id, name=f"mean/{metric}/{first}-{last}", metric=metric, value=mean,
            first_step=first, last_step=last, n=stop - start,
            formula=f"mean of {metric} over steps {first}–{last}", inputs=(),
        )  # fmt: skip
        return Measured(fact, mean, points, start, stop)

    def pair(
        self, keys: tuple[str, str], sides: tuple[Side, Side], group: MetricClass, direction: Better
    ) -> Pair | Reason:
        """A metric on both sides, or which side lacks it."""
        parts = []
        for key, side, code in zip(keys, sides, ("not_in_a", "not_in_b"), strict=True):
            part = self.measured(key, side, group) if key in side.run.columns else None
            if part is None:
                return Reason(code, {"metric": keys[0]})
            parts.append(part)
        return Pair(*keys, group, direction, (parts[0], parts[1]), sides)

    def estimate(self, pair: Pair) -> Estimate | None:
        """Noise of the change; ``None`` where the log cannot tell it."""
        (a, b), sides = pair.parts, pair.sides
        if pair.group == "validation":
            found = self._validations(a, b, sides)
            if found is not None:
                return found
        same = sides[0].run is sides[1].run and a.points.metric == b.points.metric
        found = _within(a, b) if same else _between(a, b)
        return found or self._sampling(a, b, sides)

    def _validations(self, a: Measured, b: Measured, sides: tuple[Side, Side]) -> Estimate | None:
        """Re-sampling noise of the validations on both sides, whose problems are the same."""
        total, bases, inputs = 0.0, set(), []
        for part, side in zip((a, b), sides, strict=True):
            for place in range(part.start, part.stop):
                step = int(part.points.steps[place])
                found = validation_error(self.ledger, side.run, part.points.metric, step, self.sizes)
                if found is None or not isinstance(found[0].value, float):
                    return None
                inputs.append(found[0])
                bases.add(found[1])
                total += (found[0].value / part.n) ** 2
        if total <= 0:
            return None
        basis = "resampling" if bases == {"resampling"} else "share_bound"
        return Estimate(known(math.sqrt(total)), basis, tuple(inputs))

    def _sampling(self, a: Measured, b: Measured, sides: tuple[Side, Side]) -> Estimate | None:
        """Bounds from the batch: what drawing other prompts can do at most."""
        total, bases, inputs = 0.0, [], []
        for part, side in zip((a, b), sides, strict=True):
            prompts = self.prompts(side.run)
            if prompts is None or not isinstance(prompts.value, int):
                return None
            inputs.append(prompts)
            for step in part.points.steps[part.start : part.stop]:
                found = sampling_variance(side.run, part.points.metric, int(step), prompts.value)
                if found is None:
                    return None
                total += found[0] / part.n**2
                bases.append(found[1])
        return Estimate(known(math.sqrt(total)), bases[0], tuple(inputs)) if total > 0 else None

    def prompts(self, run: Run) -> Fact | None:
        """Prompts in a step, derived once a run (independent draws of a batch)."""
        from assistant.analysis.identities import derive

        if run.id not in self._prompts:
            found = (derive(self.ledger, "prompts_per_step", step, run) for step in run.distinct_steps[:LOOKED_AT])
            self._prompts[run.id] = next((fact for fact in found if fact is not None), None)
        return self._prompts[run.id]

    def change(self, pair: Pair, found: Estimate | None, looks: int) -> Fact:
        """The change as a fact, with the noise that goes with it.

        ``noise`` is such that 1.96 of it are half of the 95 % interval; ``p_value`` allows for the ``looks``.
        """
        (a, b), sides = pair.parts, pair.sides
        metric, delta = pair.metric, b.value - a.value
        noise = p_value = significant = None
        if found is not None:
            noise = found.noise.half_width() / 1.96
            p_value = min(1.0, looks * found.noise.p_value(delta))
            significant = p_value < 0.05
        steps = dict[str, int]()
        if a.n == b.n == 1 and sides[0].run is sides[1].run:
            steps = {"from_step": int(a.points.steps[a.start]), "to_step": int(b.points.steps[b.start])}
        return self.ledger.add(
            ("comparison", a.fact.id, b.fact.id, None if found is None else found.basis, looks),
            kind="change", run=sides[1].run.id, metric=metric, **steps, from_value=a.value, to_value=b.value,
            delta=delta, ratio=(b.value / a.value if a.value else None), noise=noise,
            noise_basis=None if found is None else found.basis, significant=significant, p_value=p_value,
            formula=f"{_named(b, sides[1])} − {_named(a, sides[0])}",
            inputs=tuple(fact.id for fact in (a.fact, b.fact, *(found.inputs if found else ()))),
        )  # fmt: skip


def _named(part: Measured, side: Side) -> str:
    first, last = int(part.points.steps[part.start]), int(part.points.steps[part.stop - 1])
    where = f"step {first}" if first == last else f"steps {first}–{last}"
    return f"{side.run.id}:{part.points.metric} at {where}"


def _within(a: Measured, b: Measured) -> Estimate | None:
    """Noise between two steps or windows of one series."""
    low, high = min(a.start, b.start), max(a.stop, b.stop)
    values = a.points.values
    if a.n == b.n == 1:
        first, second = sorted((a.start, b.start))
        around = values[max(0, low - NEIGHBOURHOOD) : high + NEIGHBOURHOOD]
        shift = max(0, low - NEIGHBOURHOOD)
        direct = same_gap_noise(around.tolist(), first - shift, second - shift)
        if direct is not None:
            return Estimate(single(*direct), "residual")
    spare = max(0, NEIGHBOURHOOD - (high - low))
    left = max(0, low - (spare + 1) // 2)
    right = min(len(values), left + max(high - low, NEIGHBOURHOOD))
    left = max(0, min(left, right - max(high - low, NEIGHBOURHOOD)))
    right = max(right, high)
    if right - left > MAX_POINTS:
        return _between(a, b)
    found = fit(values[left:right])
    if found is None:
        return None
    variance = window_variance((a.start - left, a.stop - left), (b.start - left, b.stop - left))
    return Estimate(within_series(found, variance), "autocorrelated")


def _between(a: Measured, b: Measured) -> Estimate | None:
    """Noise between two series, or far ends of one: that of each by itself, added."""
    fits, variances = [], []
    for part in (a, b):
        values, window, from_start = _around(part)
        found = fit(values)
        if found is None:
            return None
        started = from_start and int(part.points.steps[0]) <= START
        fits.append(found)
        variances.append(level_variance(window, started=started))
    return Estimate(between_series((fits[0], fits[1]), (variances[0], variances[1])), "autocorrelated")


def _around(part: Measured) -> tuple[Array, tuple[int, int], bool]:
    """Points from which one side's noise is taken, where the side lies in them, and whether they begin the series.

    From the start on where that is not too many; else the neighbourhood, in means of neighbours for a long window.
    """
    values = part.points.values
    right = min(len(values), max(part.stop, part.start + NEIGHBOURHOOD))
    if right <= MAX_POINTS:
        return values[:right], (part.start, part.stop), True
    reach = max(MAX_POINTS // 4, part.n)
    left, right = max(0, part.start - reach), min(len(values), part.stop + reach)
    size = -(-(right - left) // MAX_POINTS)
    left += (part.start - left) % size  # a block begins where the window does
    count = (right - left) // size
    blocks = values[left : left + count * size].reshape(count, size).mean(axis=1)
    start = (part.start - left) // size
    return blocks, (start, min(count, start + max(1, part.n // size))), False
