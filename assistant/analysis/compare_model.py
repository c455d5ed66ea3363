"""What a comparison consists of: two sides, a row a metric, reasons, a verdict; and the correction for many looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from assistant.analysis.compare_rules import Axis, MetricClass
from assistant.model import Fact, Run
from assistant.model.answer import Confidence

if TYPE_CHECKING:
    from assistant.analysis.checks import Check

Better = Literal["higher_better", "lower_better", "neutral", "context"]
Code = Literal["improved", "regressed", "mixed", "unchanged", "inconclusive", "not_comparable"]
#: Of a row: ``changed`` is a change beyond noise of a metric that has no better or worse.
RowCode = Literal["improved", "regressed", "unchanged", "inconclusive", "changed"]
Kind = Literal["steps", "windows", "runs"]
Value = Fact | str | int

#: ``direction(metric)``: which way is better, by the metric's card (``target_range`` counts as ``context``).
DirectionOf = Callable[[str], str]
#: ``category(metric)``: the category of the metric's card, ``None`` where there is no card.
CategoryOf = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Side:
    """One side: the points of a run from a step to a step, both included.

    Attributes:
        run: the run.
        first: first step.
        last: last step, the same for a single step.
        best_of: number of validations among which this step is the best, where it was chosen for that.
    """

    run: Run
    first: int
    last: int
    best_of: int | None = None

    @property
    def single(self) -> bool:
        """Whether it is one step."""
        return self.first == self.last


@dataclass(frozen=True, slots=True)
class Reason:
    """Something that decides, limits or qualifies a verdict; said by the phrase ``comparison.<code>``."""

    code: str
    values: Mapping[str, Value] = field(default_factory=dict)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts it states."""
        return tuple(value for value in self.values.values() if isinstance(value, Fact))


@dataclass(frozen=True, slots=True)
class Row:
    """One metric on both sides.

    Attributes:
        metric: key on side A.
        other: key on side B, where it is spelled otherwise.
        group: its class.
        direction: which way is better.
        change: B − A, with ``noise`` (a standard error such that 1.96 of them are half of the 95 % interval),
            ``noise_basis``, ``p_value`` and ``significant`` (before the correction).
        half: half of the interval of 95 %, or of at least 95 % (:attr:`conservative`), in the metric's unit; ``None``
            where the noise is unknown.
        p: p-value, after the correction for the number of validations that a step was chosen from.
        p_corrected: after the correction for all rows of the comparison, as a fact.
        significant: beyond noise after that correction; ``None`` where the noise is unknown.
        code: what it says.
        band: the band within which the interval lies, where the code is ``unchanged`` for that.
        points: points on side A and B.
        trend: the trend over the points between two steps, where that settles what the two ends do not.
        rho: the correlation of neighbouring steps that the noise allows for, the largest that is plausible or
            (of an interval of 95 %) the mean; ``None`` where none was assumed.
        wide: whether the interval is wider than the metric's range in the whole log, so that it is not shown.
    """

    metric: str
    other: str
    group: MetricClass
    direction: Better
    change: Fact
    half: Fact | None
    p: float | None
    p_corrected: Fact | None
    significant: bool | None
    code: RowCode
    band: Fact | None
    points: tuple[int, int]
    trend: Fact | None = None
    rho: float | None = None
    wide: bool = False

    @property
    def basis(self) -> str | None:
        """What the noise was estimated from."""
        return self.change.noise_basis

    @property
    def conservative(self) -> bool:
        """Whether the interval holds the truth more often than in 95 % of cases."""
        return self.half is not None and self.half.at_least

    @property
    def directed(self) -> bool:
        """Whether one way is better."""
        return self.direction in {"higher_better", "lower_better"}


@dataclass(frozen=True, slots=True)
class Lone:
    """A diagnosis that one side has and the other has not."""

    side: Literal["a", "b"]
    check: Check


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison and what carries it.

    Attributes:
        kind: ``steps``, ``windows`` or ``runs``.
        a: the side before (the first run).
        b: the side after (the second run).
        align: the axis on which two runs were aligned.
        verdict: the code of the whole.
        confidence: how sure.
        decisive: the rows that decide it, at most three.
        rows: one a metric, classes in deciding order.
        reasons: what decides and qualifies the verdict.
        not_comparable: what was left out, and why.
        lone: diagnoses that one side has and the other has not, gravest first.
    """

    kind: Kind
    a: Side
    b: Side
    align: Axis
    verdict: Code
    confidence: Confidence
    decisive: tuple[Row, ...]
    rows: tuple[Row, ...]
    reasons: tuple[Reason, ...]
    not_comparable: tuple[Reason, ...]
    lone: tuple[Lone, ...] = ()

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts that decide the verdict."""
        return tuple(dict.fromkeys(row.change for row in self.decisive))

    def row(self, metric: str) -> Row | None:
        """The row of a metric."""
        return next((row for row in self.rows if row.metric == metric), None)


def holm(p_values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Adjusted p-values of the weighted step-down procedure of Holm 1979; the family-wise error is at most α.

    Args:
        p_values: raw.
        weights: positive; the share of the error that each may spend.
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i] / weights[i])
    adjusted, left, reached = [1.0] * len(p_values), sum(weights), 0.0
    for i in order:
        reached = max(reached, min(1.0, p_values[i] / weights[i] * left))
        adjusted[i] = reached
        left -= weights[i]
    return adjusted


def spread(groups: Sequence[tuple[MetricClass, bool]], weight: Callable[[MetricClass], float]) -> Iterator[float]:
    """Weights of rows, given the class of each and whether it is directed.

    A class's share is divided among its rows; a row without a better or worse counts a quarter.
    """
    units = [1.0 if directed else 0.25 for _, directed in groups]
    totals: dict[MetricClass, float] = {}
    for (group, _), unit in zip(groups, units, strict=True):
        totals[group] = totals.get(group, 0.0) + unit
    for (group, _), unit in zip(groups, units, strict=True):
        yield weight(group) * unit / totals[group]
