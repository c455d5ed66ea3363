"""One metric on two sides: its change as a fact, with the noise that the log allows to tell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from assistant.analysis.compare_averaged import Averaged, difference
from assistant.analysis.compare_model import Better, Reason, Side
from assistant.analysis.compare_noise import Noise
from assistant.analysis.compare_rules import MetricClass, rules
from assistant.analysis.compare_validation import validation_error
from assistant.analysis.ledger import Ledger
from assistant.analysis.noise import sampling_variance, step_noise
from assistant.analysis.series import Series, series
from assistant.model import Fact, Run

#: Steps in which the size of a batch is looked for.
LOOKED_AT = 50


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

    noise: Noise | Averaged
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
        return _scatter(a, b, same=same) or self._sampling(a, b, sides)

    def _validations(self, a: Measured, b: Measured, sides: tuple[Side, Side]) -> Estimate | None:
        """Re-sampling noise of the validations on both sides, whose problems are the same."""
        total, spread, bases, inputs = 0.0, 0.0, set(), []
        for part, side in zip((a, b), sides, strict=True):
            for place in range(part.start, part.stop):
                step = int(part.points.steps[place])
                found = validation_error(self.ledger, side.run, part.points.metric, step, self.sizes)
                if found is None:
                    return None
                inputs.append(found.fact)
                bases.add(found.basis)
                variance = (found.value / part.n) ** 2
                total += variance
                spread += variance**2 / found.freedom
        basis = "resampling" if bases == {"resampling"} else "share_bound"
        freedom = round(total**2 / spread, 2) if spread > 0 else math.inf
        return Estimate(Noise(math.sqrt(total), freedom), basis, tuple(inputs))

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
        return Estimate(Noise(math.sqrt(total)), bases[0], tuple(inputs)) if total > 0 else None

    def unlike_work(self, sides: tuple[Side, Side]) -> tuple[str, Measured, Measured] | None:
        """The tokens that a step works on, where the sides differ in them too much for times to be compared."""
        for metric in rules().works(sides[0].run.metrics):
            parts = [self.measured(metric, side, "stability") for side in sides] if self._shared(metric, sides) else []
            if len(parts) < 2 or parts[0] is None or parts[1] is None or min(p.value for p in parts if p) <= 0:
                continue
            ratio = parts[1].value / parts[0].value
            apart = not 1 / rules().work_apart <= ratio <= rules().work_apart
            return (metric, parts[0], parts[1]) if apart else None
        return None

    @staticmethod
    def _shared(metric: str, sides: tuple[Side, Side]) -> bool:
        return all(metric in side.run.columns for side in sides)

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


def _scatter(a: Measured, b: Measured, *, same: bool) -> Estimate | None:
    """Noise of the difference of two means, from the scatter of each side."""
    if same and a.n == b.n == 1:
        direct = step_noise(a.points, *sorted((a.start, b.start)))
        return None if direct is None else Estimate(*direct)
    noise = difference(
        (a.points.values, b.points.values), ((a.start, a.stop), (b.start, b.stop)), same=same
    )  # fmt: skip
    return None if noise is None else Estimate(noise, "autocorrelated")
