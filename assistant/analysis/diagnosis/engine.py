"""The engine: finds onsets, evaluates signs, grades, weighs look-alikes, and lets the more specific rule speak."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from assistant.analysis.diagnosis.breaks import FINDERS
from assistant.analysis.diagnosis.model import Diagnosis, LookAlike, NamedFacts, Sign
from assistant.analysis.diagnosis.onset import change, departs, first_for_good, lowest, top
from assistant.analysis.diagnosis.roles import RoleSeries, role
from assistant.analysis.diagnosis.rules import Grade, OnsetRule, Rule, SignRule, rules
from assistant.analysis.diagnosis.single import Broken, broken
from assistant.analysis.diagnosis.statistics import Measured, View, known
from assistant.analysis.ledger import Ledger
from assistant.analysis.series import Values
from assistant.model import Fact, Run
from assistant.model.fact import Severity

#: Steps below which a log is too short for a trend, so that single steps are all there is to judge.
SHORT: Final = 5
RANK: Final[Mapping[Severity, int]] = {"critical": 0, "warning": 1, "info": 2, "ok": 3}


@dataclass(frozen=True, slots=True)
class Seen:
    """A sign's outcome: whether it holds (``None``: unknown), and what was measured."""

    holds: bool | None
    measured: Measured | None = None
    source: RoleSeries | None = None
    stat: str = ""


class Reading:
    """One run as the rules read it; role series cut to the steps in question, onsets found once."""

    def __init__(self, run: Run, steps: Sequence[int] | None = None) -> None:
        self.run = run
        self.steps = None if steps is None else np.unique(np.asarray(list(steps), dtype=np.int64))
        self._roles: dict[str, RoleSeries | None] = {}
        self._onsets: dict[OnsetRule, int | None] = {}

    def role(self, names: Sequence[str]) -> RoleSeries | None:
        """The first of the roles that the log holds."""
        for name in names:
            if name not in self._roles:
                found = role(self.run, name)
                if found is not None and self.steps is not None:
                    held = np.isin(found.steps, self.steps)
                    found = replace(found, steps=found.steps[held], values=found.values[held])
                self._roles[name] = found if found is not None and len(found) else None
            series = self._roles[name]
            if series is not None:
                return series
        return None

    def onset(self, rule: OnsetRule) -> int | None:
        """The step of an onset; ``None`` where there is none."""
        if rule not in self._onsets:
            series = self.role(rule.of)
            self._onsets[rule] = None if series is None else _onset(series, rule)
        return self._onsets[rule]

    def see(self, rule: SignRule, onset: int) -> Seen:
        """Whether a sign holds from an onset on."""
        if rule.framework and self.run.framework not in rule.framework:
            return Seen(None)
        series = self.role(rule.of)
        if series is None:
            return Seen(None)
        other = np.empty(0)
        if rule.other:
            second = self.role(rule.other)
            if second is None:
                return Seen(None)
            other = np.full(len(series), np.nan)
            _, left, right = np.intersect1d(series.steps, second.steps, assume_unique=True, return_indices=True)
            other[left] = second.values[right]
        at = int(np.searchsorted(series.steps, onset))
        measured = known()[rule.stat](View(series.steps, series.values, at, other, rule.window, rule.bound, rule.early))
        if measured is None or math.isnan(measured.value):
            return Seen(None, None, series)
        holds = _bounded(measured.value, rule) and measured.errors >= rule.noise
        return Seen(holds, measured, series, rule.stat)


def _bounded(value: float, rule: SignRule | OnsetRule) -> bool:
    return (rule.above is None or value > rule.above) and (rule.below is None or value < rule.below)


def _breaks(values: Values, rule: OnsetRule) -> Values:
    held = np.ones(len(values), dtype=bool)
    if rule.above is not None:
        held &= values > rule.above
    if rule.below is not None:
        held &= values < rule.below
    return held


def _onset(series: RoleSeries, rule: OnsetRule) -> int | None:
    values = series.values
    if rule.how in FINDERS:
        return FINDERS[rule.how](series)
    if rule.how in {"first", "start", "any"}:
        held = _breaks(values, rule)
        if rule.how == "any":
            places = np.flatnonzero(held)
            return int(series.steps[places[0]]) if len(places) else None
        place = first_for_good(held, share=rule.share)
        if place is None or (rule.how == "start" and place > max(1, len(values) // 20)):
            return None
        return int(series.steps[place])
    if rule.how in {"top", "bottom", "departs"}:
        finder = {"top": top, "bottom": lowest}.get(rule.how)
        place = departs(series.steps, values) if finder is None else finder(values)
        return None if place is None else int(series.steps[place])
    if rule.log:
        if not (values > 0).any():
            return None
        values = np.log(np.maximum(values, float(values[values > 0].min()) / 2))
    if rule.how == "jump":
        if len(values) < 4:
            return None
        jumps = np.diff(values) if rule.to == "up" else -np.diff(values) if rule.to == "down" else abs(np.diff(values))
        return int(series.steps[int(np.argmax(jumps)) + 1])
    found = change(values, rule.to)
    return None if found is None else int(series.steps[found.index])


def diagnose(ledger: Ledger, run: Run | None = None, *, steps: Sequence[int] | None = None) -> list[Diagnosis]:
    """Failure modes that a run is consistent with, gravest first, then by onset.

    Args:
        ledger: receives the facts.
        run: the run; the ledger's first by default.
        steps: only these steps are read; all by default.
    """
    run = run or ledger.run
    if run is None:
        return []
    reading = Reading(run, steps)
    return _ordered([*_single(ledger, reading), *evaluate(ledger, reading, rules(), single_modes(reading))])


def _ordered(found: list[Diagnosis]) -> list[Diagnosis]:
    return sorted(found, key=lambda d: (RANK[d.severity], d.onset if d.onset is not None else 0))


def single_modes(reading: Reading) -> set[str]:
    """Rules and modes that single steps show by themselves."""
    return {name for one in _standing(reading) for name in (one.rule, one.mode)}


def _standing(reading: Reading) -> list[Broken]:
    """Single-step rules that are a diagnosis: those that one step settles, and in a short log all of them."""
    held = [one for one in broken(reading.run) if _counted(reading, one)]
    short = len(reading.run.distinct_steps) < SHORT
    return [one for one in held if (one.alone or short) and any(s != "info" for s in _counted(reading, one).values())]


def _counted(reading: Reading, one: Broken) -> dict[int, Severity]:
    wanted = None if reading.steps is None else set(reading.steps.tolist())
    return {step: severity for step, severity in one.severity.items() if wanted is None or step in wanted}


def _single(ledger: Ledger, reading: Reading) -> list[Diagnosis]:
    found = []
    for one in _standing(reading):
        severity = _counted(reading, one)
        worst = min(severity.values(), key=lambda s: RANK[s])
        step = next(step for step, s in severity.items() if s == worst)
        first = next(step for step, s in severity.items() if s != "info")
        facts = one.facts(ledger, reading.run, step)
        metrics = tuple(dict.fromkeys(fact.metric for _, fact in facts if fact.metric))
        signs = tuple(Sign(name, ((name, fact),), first) for name, fact in facts if name != "limit")
        found.append(Diagnosis(one.mode, one.rule, worst, first, metrics, tuple(severity), facts, signs, (), one.card))
    return found


def evaluate(ledger: Ledger, reading: Reading, chosen: Sequence[Rule], said: set[str] | None = None) -> list[Diagnosis]:
    """What given rules find; ``said``: rules and modes that are known to hold already."""
    found = {rule.rule: made for rule in chosen if (made := _apply(ledger, reading, rule)) is not None}
    all_said = {*found, *(one.mode for one in found.values()), *(said or ())}
    return _ordered([found[rule.rule] for rule in chosen if rule.rule in found and not all_said & set(rule.unless)])


def _apply(ledger: Ledger, reading: Reading, rule: Rule) -> Diagnosis | None:
    if rule.frameworks and reading.run.framework not in rule.frameworks:
        return None
    if any(reading.role((name,)) is None for name in rule.roles):
        return None
    found = _first_onset(reading, rule)
    if found is None:
        return None
    lead, onset = found
    seen = {name: reading.see(sign, onset) for name, sign in rule.signs.items()}
    severity = _severity(rule, seen)
    if severity is None:
        return None
    others = {name: reading.see(one.sign, onset) for name, one in rule.lookalikes.items()}
    held = {rule.lookalikes[name].then for name, outcome in others.items() if outcome.holds}
    if "silent" in held:
        return None
    if "lower" in held and severity == "critical":
        severity = "warning"
    return _written(ledger, rule, Judged(lead, onset, severity, seen, others))


def _first_onset(reading: Reading, rule: Rule) -> tuple[RoleSeries, int] | None:
    for one in rule.onset:
        lead = reading.role(one.of)
        onset = None if lead is None or len(lead) < rule.steps else reading.onset(one)
        if lead is not None and onset is not None:
            return lead, onset
    return None


def _severity(rule: Rule, seen: Mapping[str, Seen]) -> Severity | None:
    if rule.critical is not None and _reached(rule.critical, seen):
        taking = [name for name in (*rule.critical.need, *rule.critical.among) if seen[name].holds]
        metrics = {seen[name].source.metrics for name in taking if seen[name].source is not None}  # type: ignore[union-attr]
        if len(metrics) >= 2:  # two signs of one series are one sign
            return "critical"
    if rule.warning is not None and _reached(rule.warning, seen):
        return "warning"
    return "info" if rule.info is not None and _reached(rule.info, seen) else None


def _reached(grade: Grade, seen: Mapping[str, Seen]) -> bool:
    return all(seen[name].holds for name in grade.need) and sum(bool(seen[n].holds) for n in grade.among) >= grade.least


@dataclass(frozen=True, slots=True)
class Judged:
    """A rule's outcome: the onset and the series that tells it, the severity, its signs and look-alikes."""

    lead: RoleSeries
    onset: int
    severity: Severity
    seen: Mapping[str, Seen]
    others: Mapping[str, Seen]


def _written(ledger: Ledger, rule: Rule, found: Judged) -> Diagnosis:
    onset, lead = found.onset, found.lead
    held = {name: outcome for name, outcome in found.seen.items() if outcome.holds}
    signs = tuple(Sign(name, sign_facts(ledger, name, outcome, onset), onset) for name, outcome in held.items())
    lookalikes = tuple(
        LookAlike(name, None if outcome.holds is None else not outcome.holds, sign_facts(ledger, name, outcome, onset))
        for name, outcome in found.others.items()
    )
    metrics = [*lead.metrics, *(m for outcome in held.values() if outcome.source for m in outcome.source.metrics)]
    facts = (*onset_facts(ledger, lead, onset), *(pair for sign in signs for pair in sign.facts))
    last = int(lead.steps[-1])
    return Diagnosis(
        rule.mode, rule.rule, found.severity, onset, tuple(dict.fromkeys(metrics)),
        (onset,) if onset == last else (onset, last), facts, signs, lookalikes, rule.card,
    )  # fmt: skip


def onset_facts(ledger: Ledger, lead: RoleSeries, onset: int) -> NamedFacts:
    """The leading role's value at the onset and at the end, as ``onset`` and ``last``."""
    named = [("onset", lead.fact(ledger, onset)), ("last", lead.fact(ledger, int(lead.steps[-1])))]
    return tuple((name, fact) for name, fact in named if fact is not None)


def sign_facts(ledger: Ledger, name: str, outcome: Seen, onset: int) -> NamedFacts:
    """What a sign measured, as facts ``<sign>_<what>`` (``entropy_before``, ``entropy_after`` …)."""
    if outcome.measured is None or outcome.source is None:
        return ()
    series = outcome.source
    ends = [series.fact(ledger, int(step)) for step in {int(series.steps[0]): 0, int(series.steps[-1]): 0}]
    pairs: list[tuple[str, Fact]] = []
    for what, number in outcome.measured.shown.items():
        form = _FORMULAS.get(f"{outcome.stat}.{what}") or _FORMULAS.get(what, f"{what} of {{}}")
        formula = form.format(series.name, onset)
        key = ("diagnosis", series.run.id, series.role, what, onset, number, formula)
        pairs.append((
            f"{name}_{what}",
            ledger.add(
                key, kind="derived", run=series.run.id, name=f"{what}/{series.name}", step=onset, value=number,
                formula=formula, inputs=tuple(fact.id for fact in ends if fact is not None),
                metric=series.metrics[0] if series.spelling.plain else None,
            ),
        ))  # fmt: skip
    for what, place in outcome.measured.places.items():
        fact = series.fact(ledger, int(series.steps[place]))
        pairs += [] if fact is None else [(f"{name}_{what}", fact)]
    return tuple(pairs)


_FORMULAS: Final[Mapping[str, str]] = {
    "before": "median of {0} over the points before step {1}",
    "since.before": "median of the last three points of {0} before step {1}",
    "reset.before": "last value of {0} before step {1}",
    "reset.after": "first value of {0} from step {1} on",
    "under_all.lowest": "smallest of the ten values of {0} before step {1}",
    "under_all.highest": "largest of the first values of {0} from step {1} on",
    "after": "median of {0} over the second half of the points from step {1} on",
    "value": "median of {0} over the second half of the points from step {1} on",
    "start": "median of {0} over the first points",
    "end": "median of {0} over the last points",
    "peak": "largest median of three successive points of {0} from step {1} on",
    "lowest": "smallest median of three successive points of {0}",
    "share": "share of the points of {0} from step {1} on",
    "expected": "{0} at the end, had it kept the pace before step {1}",
    "points": "number of points of {0} from step {1} on",
    "first": "first value of {0}",
    "largest": "largest value of {0} from step {1} on",
    "late": "median of {0} over the second half of the run",
    "floor": "smallest median of five successive points of {0} in the later two thirds of the run",
    "high": "largest mean of successive points of {0} (an eighth of them, three to eight)",
    "low": "mean of the last points of {0} (a sixteenth of them, at least three)",
    "reached": "median of {0} over three points early in the run",
} | {
    f"{stat}.{what}": f"median of the points of {{0}} {where} step {{1}}"
    for stat in ("step_ratio", "step_shift", "step_size", "step_distance")
    for what, where in (("before", "just before"), ("after", "just after, and at,"))
}
"""What is shown → how it was computed; where statistics differ, by ``statistic.what``."""
