"""Tables of the scores, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evals.diagnosis.modes import MODES
from evals.diagnosis.score_measure import NEAR, Outcome, confusions, figures, mode_precision, wilson

GOALS: Final = {
    "precision": "≥ 95%",
    "strong": "≥ 90%",
    "mild": "≥ 75%",
    "critical": "≤ 2%",
    "any": "",
    "near": "",
    "error": "",
}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def percent(value: float | None, digits: int = 1) -> str:
    """A share as shown; a dash for none."""
    return "—" if value is None else f"{100 * value:.{digits}f}%"


def of(value: float | None, n: int) -> str:
    """A share with its 95 % interval and what it is a share of."""
    if value is None or not n:
        return "—"
    low, high = wilson(value, n)
    return f"{percent(value)} of {n} ({100 * low:.0f}–{100 * high:.0f}%)"


def summary(halves: dict[str, Sequence[Outcome]]) -> str:
    """The figures, one column a half."""
    made = {name: figures(outcomes) for name, outcomes in halves.items()}
    rows = [
        ["Precision (true reports ÷ reports)", GOALS["precision"]]
        + [of(f.precision, f.reported) for f in made.values()],
        ["Recall, strong", GOALS["strong"]]
        + [of(f.recall.get("strong"), f.counts.get("strong", 0)) for f in made.values()],
        ["Recall, mild", GOALS["mild"]] + [of(f.recall.get("mild"), f.counts.get("mild", 0)) for f in made.values()],
        ["Healthy runs with a false `critical`", GOALS["critical"]]
        + [of(f.healthy_critical, f.healthy) for f in made.values()],
        ["Healthy runs with any false report", GOALS["any"]] + [of(f.healthy_any, f.healthy) for f in made.values()],
        [f"Onset within {percent(NEAR, 0)} of the run", GOALS["near"]] + [of(f.near, f.onsets) for f in made.values()],
        ["Median onset error (share of the run)", GOALS["error"]] + [percent(f.onset_error) for f in made.values()],
    ]
    return table(["figure", "goal", *halves], rows)


def by_mode(outcomes: Sequence[Outcome]) -> str:
    """A row for each mode: found and cases by strength, false reports of the mode, onsets."""
    rows = []
    for mode in sorted(MODES):
        own = [one for one in outcomes if one.label == mode]
        if not own:
            continue
        cells = []
        for strength in ("strong", "mild"):
            cases = [one for one in own if one.strength == strength]
            cells.append(f"{sum(one.found for one in cases)} / {len(cases)}" if cases else "—")
        true, made = mode_precision(outcomes, mode)
        errors = [error for one in own if (error := one.onset_error) is not None]
        near = f"{sum(error <= NEAR for error in errors)} / {len(errors)}" if errors else "—"
        rows.append([mode, MODES[mode].title, *cells, f"{made - true} / {made}", near])
    return table(["mode", "", "strong", "mild", "false / reports", f"onset ≤ {percent(NEAR, 0)}"], rows)


def by_framework(outcomes: Sequence[Outcome]) -> str:
    """A row for each framework."""
    rows = []
    for name in sorted({one.framework for one in outcomes}):
        f = figures([one for one in outcomes if one.framework == name])
        rows.append([
            name, percent(f.precision), percent(f.recall.get("strong")), percent(f.recall.get("mild")),
            percent(f.healthy_critical), percent(f.healthy_any), percent(f.near),
        ])  # fmt: skip
    head = ["log", "precision", "recall, strong", "recall, mild", "healthy, critical", "healthy, any", "onset near"]
    return table(head, rows)


def by_healthy(outcomes: Sequence[Outcome]) -> str:
    """A row for each kind of healthy run that has a false report."""
    rows = []
    for label in sorted({one.label for one in outcomes if one.healthy}):
        runs = [one for one in outcomes if one.label == label]
        named = sorted({f"{report.mode} {report.severity}" for one in runs for report in one.false})
        if named:
            rows.append([label, f"{sum(bool(one.false) for one in runs)} / {len(runs)}", ", ".join(named)])
    return table(["healthy runs", "with a false report", "what"], rows) if rows else "None."


def confused(outcomes: Sequence[Outcome], least: int = 1) -> str:
    """Which mode is taken for which."""
    pairs = [pair for pair in confusions([one for one in outcomes if not one.healthy]) if pair[2] >= least]
    rows = [[label, mode, str(count)] for label, mode, count in pairs]
    return table(["case", "reported besides", "times"], rows) if rows else "None."


def misses(outcomes: Sequence[Outcome]) -> str:
    """One line for each case missed or with a false report."""
    lines = []
    for one in outcomes:
        if not one.healthy and not one.found:
            told = ", ".join(f"{r.mode} {r.severity} @{r.onset}" for r in one.reports) or "nothing"
            lines.append(f"missed {one.label} {one.strength} {one.framework} {one.seed} (onset {one.onset}): {told}")
        for report in one.false:
            lines.append(
                f"false  {report.mode} {report.rule} {report.severity} @{report.onset} on {one.label} "
                f"{one.strength or ''} {one.framework} {one.seed} (onset {one.onset}, last {one.last})"
            )
    return "\n".join(lines)
