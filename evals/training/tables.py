"""Tables of the scores, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from evals.training.cells import Match
from evals.training.meanings import LABELS
from evals.training.score import Outcome

BEGIN: Final = "<!-- score:begin -->"
END: Final = "<!-- score:end -->"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "—"


def summary(outcomes: Sequence[Outcome]) -> str:
    """The figures, open and held runs apart."""
    halves = {"open": [one for one in outcomes if not one.held], "held": [one for one in outcomes if one.held]}
    rows: list[list[str]] = [[text] for text in (
        "troubled runs found", "their labels found", "reports that are true",
        "healthy runs with a critical report", "healthy runs with any report",
    )]  # fmt: skip
    for half in halves.values():
        ill = [one for one in half if one.troubled]
        well = [one for one in half if one.healthy]
        marks = [(one, name) for one in ill for name in one.labels if LABELS[name].modes]
        made, false = sum(len(one.reports) for one in half), sum(len(one.false) for one in half)
        rows[0].append(_of(sum(one.found for one in ill), len(ill)))
        rows[1].append(_of(sum(one.names(name) for one, name in marks), len(marks)))
        rows[2].append(_of(made - false, made))
        rows[3].append(_of(sum(any(r.severity == "critical" for r in one.false) for one in well), len(well)))
        rows[4].append(_of(sum(bool(one.false) for one in well), len(well)))
    return _table(["figure", *halves], rows)


def by_label(outcomes: Sequence[Outcome]) -> str:
    """Found and runs, by label."""
    rows = []
    for name, meaning in LABELS.items():
        runs = [one for one in outcomes if name in one.labels]
        if runs and meaning.modes:
            halves = [[one for one in runs if one.held is held] for held in (False, True)]
            rows.append([name, ", ".join(meaning.modes), *(_of(sum(o.names(name) for o in h), len(h)) for h in halves)])
    return _table(["shown by the metrics", "modes", "open", "held"], rows)


def parsing(outcomes: Sequence[Outcome]) -> str:
    """Cells, by trainer and kind of text."""
    groups: dict[tuple[str, str], list[Match]] = {}
    for one in outcomes:
        for name, match in one.matches.items():
            groups.setdefault((one.trainer, name.removeprefix(f"{one.name}.")), []).append(match)
    rows = [
        [
            trainer, text, str(len(found)), f"{sum(m.expected for m in found):,}",
            f"{sum(m.agreeing for m in found):,}", str(sum(len(m.missing) for m in found)),
            str(sum(len(m.phantom) for m in found)), str(sum(m.steps for m in found)),
        ]
        for (trainer, text), found in sorted(groups.items())
    ]  # fmt: skip
    head = ["trainer", "text", "runs", "cells", "agreeing", "missing", "phantom", "with steps"]
    return _table(head, rows)


def runs_table(outcomes: Sequence[Outcome]) -> str:
    """A row a run: what it shows and what was said."""
    rows = []
    for one in outcomes:
        said = ", ".join(f"{r.mode}{'!' if r.severity == 'critical' else ''}" for r in one.reports) or "—"
        false = {r.mode for r in one.false}
        mark = "found" if one.troubled and one.found else "missed" if one.troubled else "healthy" if one.healthy else ""
        if false:
            mark += f", false: {' '.join(sorted(false))}"
        rows.append([one.name, "held" if one.held else "", ", ".join(one.labels) or "healthy", said, mark])
    return _table(["run", "", "shows", "reported (! critical)", ""], rows)


def misses(outcomes: Sequence[Outcome]) -> str:
    """Open runs that were missed or falsely accused, with what shows their labels."""
    lines = []
    for one in outcomes:
        if one.held or (not one.false and (one.found or not one.troubled)):
            continue
        lines.append(f"{one.name} ({one.trainer})")
        lines += [
            f"  shows {name}: {text}{'' if one.names(name) else '   <- not named'}" for name, text in one.labels.items()
        ]
        for r in one.reports:
            false = "   <- false" if r in one.false else ""
            lines.append(f"  says {r.mode} {r.severity} ({r.rule}) from step {r.onset}{false}")
    return "\n".join(lines)


def page(outcomes: Sequence[Outcome], *, runs: bool = True) -> str:
    """All tables; the one that has a row for each run may be left out."""
    parts = ["### Cells", parsing(outcomes), "### Diagnosis", summary(outcomes), "### By label", by_label(outcomes)]
    return "\n\n".join([*parts, "### Runs", runs_table(outcomes)] if runs else parts)


def into(text: str, tables: str) -> str:
    """A page with the tables between its marks.

    Raises:
        ValueError: a mark is not there.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no {BEGIN} … {END}")
    return f"{before}{begin}\n{tables}\n{end}{after}"
