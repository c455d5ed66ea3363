"""Leaps and runaways (:mod:`assistant.analysis.departures`) as answers ask for them: over the main metrics."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.analysis import departures as of_log
from assistant.analysis.checks import RANK, Check
from assistant.analysis.consequences import SINCE
from assistant.analysis.departures import LASTING, LEAST_BEFORE, MOSTLY, RULE, RUNAWAY, TIMES, Departure
from assistant.analysis.held_out import SINKS
from assistant.ask.context import Context, benchmark_sizes, is_validation
from assistant.ask.parts import headlines

__all__ = [
    "CARDS", "LASTING", "LEAPS", "LEAST_BEFORE", "RUNAWAY", "TIMES", "Departure", "all_checks", "began", "departure",
    "departures", "main_metrics", "runaway",
]  # fmt: skip

LEAPS = {RULE, MOSTLY}
"""Rules of a metric that leaves its range."""
CARDS = {RUNAWAY: "failure/reference-drift", SINKS: "failure/reward-hacking", SINCE: "failure/non-finite-gradient"}
"""Cards of findings that are no diagnosis, by their rule or phrase."""


def departure(context: Context, metric: str) -> Departure | None:
    """As :func:`assistant.analysis.departures.departure`; none for a validation."""
    return None if is_validation(metric) else of_log.departure(context.ledger, metric, context.run)


def departures(context: Context) -> list[Departure]:
    """Main metrics that leave their range, in the order of the steps."""
    return of_log.departures(context.ledger, context.run, main_metrics(context))


def runaway(context: Context) -> Check | None:
    """As :func:`assistant.analysis.departures.runaway`."""
    return of_log.runaway(context.ledger, context.run)


def all_checks(context: Context, steps: Sequence[int] | None = None) -> list[Check]:
    """The rules' findings over the run, gravest first, and metrics that leave their range where no rule speaks of them.

    Args:
        context: of the answer.
        steps: that the rules look at; the training steps by default.
    """
    chosen = list(steps) if steps is not None else context.train_steps or list(context.run.distinct_steps)
    found = of_log.with_departures(context.ledger, context.run, chosen, main_metrics(context), benchmark_sizes())
    if context.reaching:
        found = _with_reaching(context, found)
    return found


def _with_reaching(context: Context, found: list[Check]) -> list[Check]:
    """The findings of a part with those of the whole run that hold in it; what set in before it is told as that."""
    first = context.run.distinct_steps[0]
    earlier = {c.rule: c for c in context.reaching if c.diagnosis is not None and (c.diagnosis.onset or first) < first}
    found = [earlier.pop(check.rule, check) for check in found]
    rules = {check.rule for check in found}
    said = {metric for check in found if check.severity in {"critical", "warning"} for metric in check.metrics}
    further = [c for c in context.reaching if c.rule not in rules and not said & set(c.metrics)]
    return sorted([*found, *further], key=lambda check: RANK[check.severity])


def began(context: Context, check: Check) -> int | None:
    """The step from which a finding holds: its onset, or the step at which its metric leaves its range, if earlier.

    ``None`` where it holds over the run and sets in nowhere.
    """
    found = check.diagnosis
    steps = [found.onset] if found is not None and found.onset is not None else []
    steps += [
        one.at.step for metric in check.metrics if (one := departure(context, metric)) is not None and one.at.step
    ]
    if steps:
        return min(steps)
    if any(fact.kind == "trend" for _, fact in check.facts):
        return None  # it falls over the run: no step is where it began
    return min(check.steps, default=None)


def main_metrics(context: Context) -> list[str]:
    """The main metrics of training at the last step."""
    last = context.train_steps[-1] if context.train_steps else context.run.distinct_steps[-1]
    return [metric for metric in headlines(context, last) if not is_validation(metric)]
