"""How often the diagnosis is right: `python -m evals.diagnosis.score [--open | --held] [--modes FM-01,…] [--misses]`.

Every case of the frozen suite is written as a log, read by the parsers and diagnosed, as a pasted log is; nothing of
the simulator but the text reaches the diagnosis. The definitions of the figures are in `evals.diagnosis.score_measure`.
Rules may be tuned on the open half alone: of the held half, and of newly drawn cases (``--fresh``), only tables are
shown. ``--peers`` gives the same runs to the nearest tools. docs/diagnosis-results.md holds the tables.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from assistant.analysis.diagnosis import diagnose
from assistant.analysis.ledger import Ledger
from evals.diagnosis.cases import entries
from evals.diagnosis.score_cases import Labelled, cases, fresh
from evals.diagnosis.score_measure import Outcome, reports
from evals.diagnosis.score_tables import by_framework, by_healthy, by_mode, confused, misses, percent, summary

MARKS: Final = ("<!-- tables:begin -->", "<!-- tables:end -->")
"""Between these, a page holds what ``--write`` puts there."""


def judge(case: Labelled) -> Outcome:
    """Diagnoses one case; where the text was read as several runs, their reports together."""
    found = [one for run in case.runs for one in diagnose(Ledger([run]), run)]
    return Outcome(
        case.label, case.healthy, case.strength, case.framework, case.seed, case.onset, case.last, case.also,
        reports(found),
    )  # fmt: skip


def outcomes(
    *, held: bool | None = None, labels: Iterable[str] | None = None, jobs: int = 1, cache: Path | None = None
) -> list[Outcome]:
    """Outcomes of the suite's cases, in its order; ``jobs`` processes share the labels."""
    wanted = list(dict.fromkeys(entry["label"] for entry in entries())) if labels is None else list(labels)
    work = partial(_of_labels, held=held, cache=cache)
    if jobs <= 1:
        return work(wanted)
    with ProcessPoolExecutor(jobs) as pool:
        return [one for part in pool.map(work, [[label] for label in wanted]) for one in part]


def _of_labels(labels: Sequence[str], *, held: bool | None, cache: Path | None) -> list[Outcome]:
    return [judge(case) for case in cases(held=held, labels=labels, cache=cache)]


def page(halves: dict[str, Sequence[Outcome]]) -> str:
    """All tables."""
    both = [one for half in halves.values() for one in half]
    parts = [
        summary(halves),
        "### By mode, all cases",
        by_mode(both),
        "### By framework, all cases",
        by_framework(both),
        "### Healthy runs with a false report",
        by_healthy(both),
        "### Modes reported that are not the case's own",
        confused(both),
    ]
    return "\n\n".join(parts)


def own_row(made: Sequence[Outcome]) -> list[str]:
    """This project's row beside the peers': the same figures over the same runs."""
    ill, well = [one for one in made if not one.healthy], [one for one in made if one.healthy]
    critical = sum(any(report.severity == "critical" for report in one.reports) for one in well)
    return [
        "metric-assistant, text", f"{len(made)} of {len(made)}",
        percent(sum(bool(one.reports) for one in ill) / len(ill) if ill else None),
        percent(sum(one.found for one in ill) / len(ill) if ill else None),
        percent(critical / len(well) if well else None),
        percent(sum(bool(one.reports) for one in well) / len(well) if well else None),
    ]  # fmt: skip


def put(text: str, page: Path) -> None:
    """Replaces what stands between the marks of a page.

    Raises:
        SystemExit: the page has no such marks.
    """
    old = page.read_text(encoding="utf-8")
    before, first, rest = old.partition(MARKS[0])
    _, last, after = rest.partition(MARKS[1])
    if not (first and last):
        raise SystemExit(f"{page}: needs {MARKS[0]} and {MARKS[1]}")
    page.write_text(f"{before}{first}\n\n{text.strip()}\n\n{last}{after}", encoding="utf-8")


def main(argv: list[str] | None = None) -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(prog="python -m evals.diagnosis.score", description=__doc__)
    half = parser.add_mutually_exclusive_group()
    half.add_argument("--open", action="store_true", help="the open half only")
    half.add_argument("--held", action="store_true", help="the held half only: scores, no tuning")
    parser.add_argument("--modes", help="labels (modes, kinds of healthy run, `healthy` for all of these), by commas")
    parser.add_argument("--misses", action="store_true", help="each case of the open half that is missed or accused")
    parser.add_argument("--fresh", type=int, metavar="N", help="N newly drawn cases instead of the frozen suite")
    parser.add_argument("--seed", type=int, default=1, help="of the newly drawn cases (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (%(default)s)")
    parser.add_argument("--peers", action="store_true", help="also the nearest tools, on the same runs")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables between the marks of a page")
    parser.add_argument("--cache", type=Path, help="where texts and runs are kept")
    given = parser.parse_args(argv)
    labels = _labels(given.modes)
    began = time.monotonic()
    halves: dict[str, Sequence[Outcome]] = {}
    if given.fresh:
        halves[f"{given.fresh} new cases, seed {given.seed}"] = [judge(case) for case in fresh(given.fresh, given.seed)]
    elif not given.held:
        halves["open half"] = outcomes(held=False, labels=labels, jobs=given.jobs, cache=given.cache)
    if not given.open and not given.fresh:
        halves["held half"] = outcomes(held=True, labels=labels, jobs=given.jobs, cache=given.cache)
    text = page(halves)
    print(text)
    if given.misses and "open half" in halves:
        print("\n" + misses(halves["open half"]))
    if given.peers and not given.fresh:
        from evals.diagnosis.score_peers import PeersMissing, compare

        held = None if len(halves) == 2 else given.held
        both = [one for half in halves.values() for one in half]
        try:
            peers = compare(list(cases(held=held, labels=labels, cache=given.cache)), own_row(both), given.cache)
        except PeersMissing as error:
            print(error, file=sys.stderr)
            return 2
        text += peers
        print(peers)
    if given.write is not None:
        put(text, given.write)
    print(f"\n{sum(map(len, halves.values()))} cases in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return 0


def _labels(given: str | None) -> list[str] | None:
    if given is None:
        return None
    known = list(dict.fromkeys(entry["label"] for entry in entries()))
    chosen: list[str] = []
    for name in given.split(","):
        chosen += [label for label in known if not label.startswith("FM-")] if name == "healthy" else [name]
    if strange := [name for name in chosen if name not in known]:
        raise SystemExit(f"no case is labelled {strange[0]}; there are {', '.join(known)}")
    return chosen


if __name__ == "__main__":
    sys.exit(main())
