"""Thresholds: what a source, a team's document or the user says should hold, against what the log shows.

A threshold is a condition (:mod:`assistant.analysis.conditions`), or a measure with bands. A breach tells the first
step, the worst one, and how many of the steps at hand; a step at which a value is missing is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assistant.analysis.condition_values import Series, holds, measure
from assistant.analysis.conditions import Condition, Node, parse_condition, parse_measure
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Number, Run
from assistant.model.fact import Severity

RANK: dict[Severity, int] = {"ok": 0, "info": 1, "warning": 2, "critical": 3}


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence in both languages."""

    zh: str
    en: str

    def of(self, language: str) -> str:
        """One language's."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True, slots=True)
class Band:
    """Values of a measure above ``above``; a ``critical`` band counts as such only where ``confirm`` holds too."""

    above: float
    severity: Severity
    advice: Text | None = None
    confirm: Condition | None = None


@dataclass(frozen=True, slots=True)
class Threshold:
    """What should hold.

    Attributes:
        id: stable name.
        condition: what should hold; ``None`` where bands of a measure are given.
        severity: of a breach.
        frameworks: it applies to these only; empty for any log that holds the metrics.
        source: who says so, for display.
        card: card that it belongs to, if any.
        share: a breach counts from this share of the steps on, or at the last step.
        measure_text: the measure as written, where there are bands.
        measure: its structure.
        bands: ascending.
        advice: what the source advises on a breach.
        given: whether the user asked for it.
        unmeasured: what the log prints where nothing was measured: no breach.
    """

    id: str
    condition: Condition | None = None
    severity: Severity = "warning"
    frameworks: tuple[str, ...] = ()
    source: str = ""
    card: str | None = None
    share: float = 0.0
    measure_text: str = ""
    measure: Node | None = None
    bands: tuple[Band, ...] = ()
    advice: Text | None = None
    given: bool = False
    unmeasured: float | None = None

    @property
    def metrics(self) -> tuple[str, ...]:
        """Keys that it needs."""
        if self.condition is not None:
            return self.condition.metrics
        return self.measure.metrics if self.measure is not None else ()

    @property
    def text(self) -> str:
        """What should hold, as it is shown."""
        if self.condition is not None:
            return self.condition.text
        return f"{self.measure_text} <= {self.bands[0].above:g}" if self.bands else self.measure_text


@dataclass(frozen=True, slots=True)
class Breach:
    """A threshold that does not hold.

    Attributes:
        threshold: which.
        severity: of this breach.
        steps: at which it fails, ascending.
        checked: number of steps at which it could be decided.
        first: the deciding value at the first step of the breach, as a fact.
        worst: the same where it is worst (``first`` where it is one step, or no single value decides).
        count: number of failing steps, as a fact.
        total: number of steps that were decided, as a fact.
        band: the band reached.
        limit: the bound that is overstepped, as a fact; ``None`` where several take part.
    """

    threshold: Threshold
    severity: Severity
    steps: tuple[int, ...]
    checked: int
    first: Fact
    worst: Fact
    count: Fact
    total: Fact
    band: Band | None = None
    limit: Fact | None = None


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A threshold that could not be decided at any step, and the metrics that the log does not hold."""

    threshold: Threshold
    absent: tuple[str, ...]


def given(text: str, number: int = 1) -> Threshold:
    """A threshold as the user typed it.

    Raises:
        InputError: it cannot be read.
    """
    condition = parse_condition(text)
    return Threshold(f"given-{number}", condition, condition.severity or "warning", source="", given=True)


def band_threshold(
    id: str, measure_text: str, bands: Sequence[Band], *, frameworks: tuple[str, ...], source: str, card: str | None
) -> Threshold:
    """A threshold of ascending bands over a measure."""
    ordered = tuple(sorted(bands, key=lambda band: band.above))
    return Threshold(
        id, severity=ordered[0].severity, frameworks=frameworks, source=source, card=card,
        measure_text=measure_text, measure=parse_measure(measure_text), bands=ordered,
    )  # fmt: skip


def applies(threshold: Threshold, run: Run) -> bool:
    """Whether a threshold speaks of a run: its framework, and all its metrics are there."""
    if threshold.given:
        return True
    if threshold.frameworks and run.framework not in threshold.frameworks:
        return False
    return all(metric in run.columns for metric in threshold.metrics)


def check_thresholds(
    ledger: Ledger, thresholds: Iterable[Threshold], run: Run | None = None
) -> tuple[list[Breach], list[Unchecked]]:
    """Every threshold that applies to a run.

    Returns:
        The breaches, gravest first, and the user's thresholds that the log cannot decide.
    """
    run = run or ledger.run
    assert run is not None
    work = _Work(ledger, run)
    breaches, unchecked = [], []
    for threshold in thresholds:
        if not applies(threshold, run):
            continue
        found, decided = work.banded(threshold) if threshold.bands else work.plain(threshold)
        if found is not None:
            breaches.append(found)
        elif threshold.given and not decided:
            absent = tuple(m for m in threshold.metrics if not work.series(m).steps)
            unchecked.append(Unchecked(threshold, absent))
    return sorted(breaches, key=lambda b: -RANK[b.severity]), unchecked


class _Work:
    """Thresholds of one run; series are read once."""

    def __init__(self, ledger: Ledger, run: Run) -> None:
        self.ledger = ledger
        self.run = run
        self.tables: dict[str, Series] = {}
        self.extremes: dict[str, tuple[Number, ...]] = {}

    def series(self, metric: str) -> Series:
        if metric not in self.tables:
            self.tables[metric] = Series(*self.run.series(metric))
        return self.tables[metric]

    def steps(self, metrics: Iterable[str]) -> list[int]:
        return sorted({step for metric in metrics for step in self.series(metric).steps})

    def plain(self, threshold: Threshold) -> tuple[Breach | None, bool]:
        condition = threshold.condition
        assert condition is not None
        if condition.window.kind == "all" and self.always(condition.tree):
            return None, True
        steps = condition.window.choose(self.steps(condition.metrics))
        verdicts = [(step, holds(condition.tree, self.tables, step)) for step in steps]
        decided = [step for step, held in verdicts if held is not None]
        failing = [step for step, held in verdicts if held is False]
        if not threshold.given:  # NaN is told by a rule of its own
            failing = [step for step in failing if self.finite(condition.metrics, step)]
        if threshold.unmeasured is not None:
            failing = [s for s in failing if self.series(condition.metrics[0]).at(s) != threshold.unmeasured]
        if not failing:
            return None, bool(decided)
        if threshold.share and len(failing) < threshold.share * len(decided) and failing[-1] != decided[-1]:
            return None, True
        link, side = self.deciding(condition.tree, failing[0])
        limit = None
        if link is None:
            first = worst = self.any_value(threshold, failing[0])
        else:
            subject = link.parts[side]
            text = subject.name or threshold.text
            first = self.value(subject, text, failing[0])
            worst = self.value(subject, text, max(failing, key=lambda step: self.distance(link, step)))
            limit = self.limit(threshold, link.parts[1 - side], failing[0])
        counts = self.counts(threshold, len(failing), len(decided))
        return (
            Breach(threshold, threshold.severity, tuple(failing), len(decided), first, worst, *counts, limit=limit),
            True,
        )

    def banded(self, threshold: Threshold) -> tuple[Breach | None, bool]:
        node, text = threshold.measure, threshold.measure_text
        assert node is not None
        steps = self.steps(node.metrics)
        values = {step: value for step in steps if (value := measure(node, self.tables, step)) is not None}
        size = {step: math.inf if math.isnan(value) else value for step, value in values.items()}
        reached = [step for step in size if size[step] > threshold.bands[0].above]
        if not reached:
            return None, bool(values)
        worst = max(reached, key=lambda step: size[step])
        band = [b for b in threshold.bands if size[worst] > b.above][-1]
        failing = [step for step in reached if size[step] > band.above]
        severity = band.severity
        if severity == "critical" and band.confirm is not None:
            for metric in band.confirm.metrics:
                self.series(metric)
            confirmed = any(holds(band.confirm.tree, self.tables, step) for step in failing)
            severity = "critical" if confirmed else "warning"
        limit = self.ledger.derived(
            f"limit/{threshold.id}/{band.above:g}", band.above, run=self.run, formula=f"{text} <= {band.above:g}",
            inputs=(),
        )  # fmt: skip
        counts = self.counts(threshold, len(failing), len(values))
        first, last = self.value(node, text, failing[0]), self.value(node, text, worst)
        breach = Breach(threshold, severity, tuple(failing), len(values), first, last, *counts, band, limit)
        return breach, True

    def always(self, tree: Node) -> bool:
        """Whether bounds on single metrics hold at every step, told from the least and the largest value alone."""
        if tree.op == "and":
            return all(self.always(part) for part in tree.parts)
        ops = tuple(part.op for part in tree.parts)
        if tree.op == "!=" or ops not in {("metric", "number"), ("number", "metric")}:
            return False
        metric = next(part.name for part in tree.parts if part.op == "metric")
        if metric not in self.extremes:
            values = self.series(metric).values
            self.extremes[metric] = () if not values or any(map(math.isnan, values)) else (min(values), max(values))
        ends = self.extremes[metric]
        return bool(ends) and all(holds(tree, {metric: Series((0,), (end,))}, 0) for end in ends)

    def finite(self, metrics: Iterable[str], step: int) -> bool:
        """Whether no value of some metrics at a step is NaN."""
        return not any(math.isnan(value) for m in metrics if (value := self.series(m).at(step)) is not None)

    def deciding(self, tree: Node, step: int) -> tuple[Node | None, int]:
        """The comparison that fails at a step, and which of its sides is the measured one."""
        if tree.op == "and":
            part = next((part for part in tree.parts if holds(part, self.tables, step) is False), None)
            return (None, 0) if part is None else self.deciding(part, step)
        if tree.op in {"or", "not"}:
            return None, 0
        return tree, 0 if tree.parts[0].metrics else 1

    def distance(self, link: Node, step: int) -> float:
        a, b = (measure(part, self.tables, step) for part in link.parts)
        if a is None or b is None or holds(link, self.tables, step) is not False:
            return -1.0
        gap = abs(a - b)
        return math.inf if math.isnan(gap) else gap

    def value(self, node: Node, text: str, step: int) -> Fact:
        if node.op == "metric":
            fact = self.ledger.value(node.name, step, self.run)
            if fact is not None:
                return fact
        value = measure(node, self.tables, step)
        inputs = [self.ledger.value(metric, step, self.run) for metric in node.metrics]
        return self.ledger.derived(
            f"measure/{text}", math.nan if value is None else value, step=step, run=self.run, formula=text,
            inputs=inputs,
        )  # fmt: skip

    def any_value(self, threshold: Threshold, step: int) -> Fact:
        found = (self.ledger.value(metric, step, self.run) for metric in threshold.metrics)
        return next(fact for fact in found if fact is not None)

    def limit(self, threshold: Threshold, node: Node, step: int) -> Fact | None:
        value = measure(node, self.tables, step)
        if value is None:
            return None
        inputs = [self.ledger.value(metric, step, self.run) for metric in node.metrics]
        return self.ledger.derived(
            f"limit/{threshold.id}", value, step=step if node.metrics else None, run=self.run,
            formula=threshold.text, inputs=inputs,
        )  # fmt: skip

    def counts(self, threshold: Threshold, failing: int, decided: int) -> tuple[Fact, Fact]:
        return (
            self.ledger.derived(
                f"failing_steps/{threshold.id}", failing, run=self.run, inputs=(),
                formula=f"steps at which {threshold.text} does not hold",
            ),
            self.ledger.derived(
                f"checked_steps/{threshold.id}", decided, run=self.run, inputs=(),
                formula=f"steps at which {threshold.text} can be decided",
            ),
        )  # fmt: skip
