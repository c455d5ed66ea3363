"""What a diagnosis got right: outcomes of single cases, and the figures over many.

- A **report** is a mode named at ``warning`` or ``critical`` (several rules of one mode count once). ``info`` is none.
- A case is **found** when its own mode is reported.
- A report is a **false alarm** when it is neither the case's label nor one of the modes that hold besides (``also``);
  every report on a healthy run is one unless that kind of run is listed with it.
- **Precision** = true reports ÷ all reports, over ill and healthy runs together. **Recall** = found ÷ ill cases, by
  strength. A mode's own precision counts the reports of that mode, wherever they were made.
- **Onset error** = |reported − true first step| ÷ last step of the run, over the cases found, and only for rules that
  name an onset.
- **Healthy with critical** (**with any report**) = share of healthy runs with at least one such report that the kind
  of run does not hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assistant.analysis.diagnosis import Diagnosis

REPORTED = frozenset({"warning", "critical"})
NEAR = 0.10
"""Onset error, as a share of the run, up to which an onset counts as found."""


@dataclass(frozen=True, slots=True)
class Report:
    """A mode that was reported: its gravest severity, and the onset and rule that go with it."""

    mode: str
    severity: str
    onset: int | None
    rule: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case and what was reported of it.

    Attributes:
        label: mode or kind of healthy run.
        healthy: whether nothing is wrong.
        strength: ``mild``, ``strong`` or None.
        framework: that wrote the log.
        seed: of the case.
        onset: the true one.
        last: last step of the run.
        also: modes that hold besides the label.
        reports: each mode once.
    """

    label: str
    healthy: bool
    strength: str | None
    framework: str
    seed: int
    onset: int | None
    last: int
    also: tuple[str, ...]
    reports: tuple[Report, ...]

    @property
    def found(self) -> bool:
        """Whether the case's own mode is reported."""
        return any(report.mode == self.label for report in self.reports)

    @property
    def false(self) -> tuple[Report, ...]:
        """False alarms."""
        return tuple(report for report in self.reports if report.mode != self.label and report.mode not in self.also)

    @property
    def onset_error(self) -> float | None:
        """Share of the run's length by which the onset is missed; None if not found or no onset was named."""
        own = next((report for report in self.reports if report.mode == self.label), None)
        if own is None or own.onset is None or self.onset is None or self.last < 1:
            return None
        return abs(own.onset - self.onset) / self.last


def reports(diagnoses: Iterable[Diagnosis]) -> tuple[Report, ...]:
    """The modes reported, each with its gravest diagnosis (of equals, the earliest onset)."""
    best: dict[str, Diagnosis] = {}
    for one in diagnoses:
        if one.severity not in REPORTED:
            continue
        known = best.get(one.mode)
        if known is None or _order(one) < _order(known):
            best[one.mode] = one
    return tuple(Report(mode, one.severity, one.onset, one.rule) for mode, one in best.items())


def _order(one: Diagnosis) -> tuple[bool, float]:
    return (one.severity != "critical", float("inf") if one.onset is None else one.onset)


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures over outcomes; a share over nothing is None.

    Attributes:
        recall: by strength.
        counts: ill cases by strength.
        precision: true ÷ all reports.
        reported: all reports.
        healthy: healthy runs.
        healthy_critical: share of them with a critical report that is none of theirs.
        healthy_any: the same with any report.
        near: share of the onsets within ``NEAR`` of the run.
        onset_error: median onset error.
        onsets: cases whose onset was compared.
    """

    recall: dict[str, float]
    counts: dict[str, int]
    precision: float | None
    reported: int
    healthy: int
    healthy_critical: float | None
    healthy_any: float | None
    near: float | None
    onset_error: float | None
    onsets: int


def figures(outcomes: Sequence[Outcome]) -> Figures:
    """The figures of this module's head."""
    counts = Counter(one.strength or "" for one in outcomes if not one.healthy)
    found = Counter(one.strength or "" for one in outcomes if not one.healthy and one.found)
    total = sum(len(one.reports) for one in outcomes)
    false = sum(len(one.false) for one in outcomes)
    well = [one for one in outcomes if one.healthy]
    errors = sorted(error for one in outcomes if (error := one.onset_error) is not None)
    return Figures(
        recall={strength: found[strength] / count for strength, count in sorted(counts.items())},
        counts=dict(sorted(counts.items())),
        precision=_share(total - false, total),
        reported=total,
        healthy=len(well),
        healthy_critical=_share(sum(any(r.severity == "critical" for r in one.false) for one in well), len(well)),
        healthy_any=_share(sum(bool(one.false) for one in well), len(well)),
        near=_share(sum(error <= NEAR for error in errors), len(errors)),
        onset_error=errors[len(errors) // 2] if errors else None,
        onsets=len(errors),
    )


def mode_precision(outcomes: Iterable[Outcome], mode: str) -> tuple[int, int]:
    """True and all reports of one mode."""
    made = [one for one in outcomes if any(report.mode == mode for report in one.reports)]
    return sum(one.label == mode or mode in one.also for one in made), len(made)


def confusions(outcomes: Iterable[Outcome]) -> list[tuple[str, str, int]]:
    """(label, mode falsely reported, how often), most frequent first."""
    pairs = Counter((one.label, report.mode) for one in outcomes for report in one.false)
    return sorted(((label, mode, count) for (label, mode), count in pairs.items()), key=lambda e: (-e[2], e[0], e[1]))


def wilson(share: float, n: int) -> tuple[float, float]:
    """95 % interval of a share that was seen among ``n`` (Wilson 1927)."""
    z = 1.96
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5 / (1 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
