"""What no rule speaks of and still asks to be explained: a leap out of a settled level, a KL that runs away."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from assistant.analysis.checks import RANK, Check, check_all
from assistant.analysis.consequences import is_consequence, with_consequences
from assistant.analysis.diagnosis import role
from assistant.analysis.held_out import NOISE, differ, sinking
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run

RULE: Final = "departure"
MOSTLY: Final = "departure_mostly"
RUNAWAY: Final = "runaway"
LEAST_RUNAWAY, FAR, GROWN, FASTER = 9, 0.1, 50.0, 3.0
#: Roles looked at besides the main metrics.
ROLES: Final = (
    "ratio_mean", "ref_kl", "old_kl", "grad_norm", "policy_entropy", "training_loss", "response_length_mean",
)  # fmt: skip

#: How many times the largest size before, how many points before that takes, and what must last of it.
TIMES, LEAST_BEFORE, LASTING = 10.0, 5, 5.0
#: Largest share of the values from the leap on that may lie within the sizes before it; none of the last ones may.
BACK, LAST = 0.1, 3
#: Keys that time, count, schedule or validate: one step apart is no news.
_NOT_MEASURED = ("timing", "time/", "perf/", "training/", "system/", "epoch", "lr", "actor/lr", "learning_rate",
                 "num_tokens", "step_time", "eval_runtime", "critic/returns", "critic/advantages")  # fmt: skip
_NO_LEVEL = ("/max", "/min", "clipfrac", "clip_ratio")


@dataclass(frozen=True, slots=True)
class Departure:
    """A metric's first value outside of all that it did before, by a factor of ten and to stay.

    Attributes:
        metric: key.
        at: the value.
        before: the value of largest size before it.
        beyond: share of the values from there on whose size is above that; ``None`` where all are.
    """

    metric: str
    at: Fact
    before: Fact
    beyond: Fact | None = None

    @property
    def rule(self) -> str:
        """The phrase: whether it never came back, or seldom."""
        return RULE if self.beyond is None else MOSTLY

    @property
    def facts(self) -> tuple[tuple[str, Fact], ...]:
        """By the names that the phrase uses."""
        named = (("at", self.at), ("before", self.before))
        return named if self.beyond is None else (*named, ("beyond", self.beyond))


def departure(ledger: Ledger, metric: str, run: Run) -> Departure | None:
    """The step at which a metric leaves its earlier range for good; ``None`` where it does not.

    A value counts whose size exceeds ten times the largest before it, with five or more points before that keep a
    level: the largest is at most ten times their median, so that what grows from nothing (a KL to the reference at the
    start of a run) leaves nothing. From there on the median size stays above five times the largest before, at most a
    tenth of the values lie back within it, and none of the last three.
    """
    if metric.startswith(_NOT_MEASURED) or metric.endswith(_NO_LEVEL):
        return None
    steps, values = run.series(metric)
    points = [(step, abs(float(value))) for step, value in zip(steps, values, strict=True) if math.isfinite(value)]
    largest, place = 0.0, 0
    for index, (step, size) in enumerate(points):
        if index >= LEAST_BEFORE and largest > 0 and size > TIMES * largest and _settled(points[:index], largest):
            rest = [later for _, later in points[index:]]
            back = sum(later <= largest for later in rest)
            if median(rest) < LASTING * largest or back > BACK * len(rest) or min(rest[-LAST:]) <= largest:
                return None
            at, before = ledger.value(metric, step, run), ledger.value(metric, points[place][0], run)
            if at is None or before is None:
                return None
            beyond = None if not back else ledger.derived(
                f"beyond/{metric}", 1 - back / len(rest), step=step, inputs=[at], run=run, unit="fraction",
                formula=f"share of the values of {metric} from step {step} on whose size is above the largest before",
            )  # fmt: skip
            return Departure(metric, at, before, beyond)
        if size > largest:
            largest, place = size, index
    return None


def _settled(before: Sequence[tuple[int, float]], largest: float) -> bool:
    return largest <= TIMES * median(size for _, size in before)


def departures(ledger: Ledger, run: Run, metrics: Iterable[str]) -> list[Departure]:
    """Metrics that leave their range, of those named and those of :data:`ROLES`, in the order of the steps."""
    names = [held.metrics[0] for name in ROLES if (held := role(run, name)) is not None]
    found = [
        one for metric in dict.fromkeys([*metrics, *names])
        if metric in run.columns and (one := departure(ledger, metric, run)) is not None
    ]  # fmt: skip
    return sorted(found, key=lambda one: one.at.step or 0)


def runaway(ledger: Ledger, run: Run) -> Check | None:
    """A KL to the reference that grows faster and faster to a size that matters, in a log too short for the rule on it.

    The median of the last third is at least a tenth of a nat a token and fifty times that of the first, and grew more
    than three times as much from the middle third as that from the first: a warm-up, which makes the distance grow as
    the square of the steps, stays at twice as much and below twenty-five-fold.
    """
    found = role(run, "ref_kl_token")
    if found is None or not found.spelling.plain:
        return None
    metric = found.metrics[0]
    trend = ledger.trend(metric, run=run)
    steps, values = run.series(metric)
    points = [(s, float(v)) for s, v in zip(steps, values, strict=True) if math.isfinite(v)]
    if trend is None or trend.direction != "rising" or len(points) < LEAST_RUNAWAY:
        return None
    part = len(points) // 3
    low, middle, high = (median(v for _, v in points[a:b]) for a, b in ((0, part), (part, -part), (-part, None)))
    if not (high >= FAR and low > 0 and high >= GROWN * low and high - middle > FASTER * (middle - low)):
        return None
    early, late = (ledger.level(metric, trend, which, run) for which in ("first", "last"))
    last = ledger.value(metric, points[-1][0], run)
    if early is None or late is None or last is None:
        return None
    onset = next(step for place, (step, _) in enumerate(points) if all(v > TIMES * low for _, v in points[place:]))
    began_at = ledger.value(metric, onset, run)
    assert began_at is not None
    facts = (("early", early), ("late", late), ("last", last), ("onset", began_at))
    return Check(RUNAWAY, "warning", (metric,), (onset,), facts)


def with_departures(
    ledger: Ledger, run: Run, steps: Sequence[int], metrics: Iterable[str], sizes: Mapping[str, int]
) -> list[Check]:
    """The rules' findings over some steps, gravest first, and leaps and runaways where no rule speaks of the metric.

    That differences between validations may be noise is left out where two of them certainly differ.

    Args:
        ledger: of the run.
        run: the run.
        steps: that the rules look at.
        metrics: the main ones, in which leaps are looked for besides :data:`ROLES`.
        sizes: number of problems of benchmarks by name.
    """
    checks = [
        check for check in check_all(ledger, steps, run)
        if check.rule != NOISE or not any(differ(ledger, run, metric, sizes) for metric in check.metrics)
    ]  # fmt: skip
    said = {metric for check in checks for metric in check.metrics if check.severity in {"critical", "warning"}}
    said |= {metric for check in checks if check.rule == "not_finite" for metric in run.metrics}
    said |= {metric for check in checks if is_consequence(check) for metric in check.metrics}
    wanted = set(steps)
    left = [one for one in departures(ledger, run, metrics) if one.metric not in said and (one.at.step or 0) in wanted]
    further = [Check(one.rule, "warning", (one.metric,), (one.at.step or 0,), one.facts) for one in left]
    grown = runaway(ledger, run)
    known = said | {one.metric for one in left}
    if grown is not None and not known & set(grown.metrics):
        further.append(grown)
    sunk = sinking(ledger, run, sizes)
    if sunk is not None and sunk.metrics[0] not in said and max(wanted, default=-1) >= sunk.steps[0]:
        further.append(sunk)
    return sorted(with_consequences(ledger, run, [*checks, *further]), key=lambda check: RANK[check.severity])
