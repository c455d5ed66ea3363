"""Findings that follow from a more fundamental one: after an update with NaN, what else breaks is its consequence.

Which rule explains which is data (``consequences.yaml``). A consequence is told as such, as information: it calls for
no remedy of its own, the cause does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from assistant.analysis.diagnosis.files import read_yaml
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run

if TYPE_CHECKING:
    from assistant.analysis.checks import Check

PATH: Final = Path(__file__).with_name("consequences.yaml")
#: The phrase of values that are not finite from some step to the end of the log.
SINCE: Final = "finding.not_finite_since"


@dataclass(frozen=True, slots=True)
class Follows:
    """One entry of the table."""

    cause: str
    phrase: str
    follow: frozenset[str]
    apart: frozenset[str]

    def explains(self, rule: str) -> bool:
        """Whether a rule's finding may be a consequence of this cause."""
        return rule in self.follow or ("all" in self.follow and rule not in self.apart)


@lru_cache(maxsize=4)
def table(path: Path = PATH) -> tuple[Follows, ...]:
    """What follows from what."""
    return tuple(
        Follows(one["cause"], one["phrase"], frozenset([one["follow"]] if one["follow"] == "all" else one["follow"]),
                frozenset(one.get("apart", ())))
        for one in read_yaml(path)
    )  # fmt: skip


def is_consequence(check: Check) -> bool:
    """Whether a finding is told as what follows from another one."""
    return check.phrase in {entry.phrase for entry in table()}


def with_consequences(ledger: Ledger, run: Run, checks: Sequence[Check]) -> list[Check]:
    """The findings, those that set in with a more fundamental one or after it being told as what follows from it."""
    found, told = list(checks), {SINCE, *(entry.phrase for entry in table())}
    for entry in table():
        cause = _cause(entry, found)
        if cause is None:
            continue
        found = [
            one if not entry.explains(one.rule) or one.phrase in told else _following(ledger, run, one, entry, cause)
            for one in found
        ]
    return found


def _cause(entry: Follows, checks: Sequence[Check]) -> Fact | None:
    """The fact that shows where the cause sets in; of several the first."""
    held = []
    for one in checks:
        if one.rule != entry.cause or (one.diagnosis is None and one.phrase != SINCE):
            continue
        name = "value" if one.diagnosis is None else "onset"
        fact = next((fact for key, fact in one.facts if key == name), None)
        if fact is not None and fact.step is not None and one.severity in {"critical", "warning"}:
            held.append(fact)
    return min(held, key=lambda fact: fact.step or 0, default=None)


def _following(ledger: Ledger, run: Run, one: Check, entry: Follows, cause: Fact) -> Check:
    step = cause.step or 0
    began = _began(ledger, run, one, step)
    if began is None or began < step:
        return one
    for metric in one.metrics:
        steps, values = run.series(metric)
        points = [(at, value) for at, value in zip(steps, values, strict=True) if math.isfinite(value)]
        before = [at for at, _ in points if at < began]
        if not before or points[-1][0] < began:
            continue
        ends = [ledger.value(metric, at, run) for at in (before[-1], points[-1][0])]
        if ends[0] is not None and ends[1] is not None and ends[0].value != ends[1].value:
            facts = (("before", ends[0]), ("last", ends[1]), ("cause", cause))
            return replace(one, severity="info", facts=facts, phrase=entry.phrase, diagnosis=None)
    return one


def _began(ledger: Ledger, run: Run, one: Check, cause: int) -> int | None:
    """The step from which a finding holds; of a fall over the run the cause's where it did not fall before it."""
    if one.diagnosis is not None:
        return one.diagnosis.onset
    if not any(fact.kind == "trend" for _, fact in one.facts):
        return min(one.steps, default=None)
    metric = one.metrics[0]
    earlier = [at for at in run.series(metric)[0] if at <= cause]
    trend = ledger.trend(metric, earlier, run) if earlier else None
    return None if trend is None or trend.direction == "falling" else cause + 1
