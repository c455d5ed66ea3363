"""Settings that differ between two runs and change what equal steps or equal values mean."""

from __future__ import annotations

import re

from assistant.analysis.compare_model import Reason, Side
from assistant.analysis.compare_rows import Workshop
from assistant.analysis.compare_rules import rules
from assistant.analysis.identities import derive
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run

#: Quantities whose difference makes equal steps unequal amounts of training.
SETUP = ("prompts_per_step", "trajectories_per_step", "group_size", "n_gpus")
#: A logged setting counts as different beyond this share of the larger value.
APART = 0.05
#: Steps in which a quantity is looked for.
LOOKED_AT = 20
_SAMPLES = re.compile(r"(?P<stem>.+/(?:mean|avg|pass))@(?P<n>\d+)")


def differing(ledger: Ledger, bench: Workshop, a: Side, b: Side) -> list[Reason]:
    """Logged coefficients, sizes that the logs imply, and samples a validation problem that differ.

    Args:
        ledger: where facts are entered.
        bench: measures a setting over a side.
        a: side of the first run.
        b: side of the second.
    """
    found = _logged(bench, a, b)
    for name in SETUP:
        sizes = [_first(ledger, name, side.run) for side in (a, b)]
        if sizes[0] is not None and sizes[1] is not None and sizes[0].value != sizes[1].value:
            found.append(Reason(f"differs_{name}", {"a": sizes[0], "b": sizes[1]}))
    return found + _samples(ledger, a.run, b.run)


def kl_apart(bench: Workshop, a: Side, b: Side) -> Reason | None:
    """The coefficient of the KL penalty, where two runs print it and differ in it: a reward from which the penalty was
    taken is on another scale then."""
    return next(iter(_logged(bench, a, b, kind="kl")), None)


def _logged(bench: Workshop, a: Side, b: Side, kind: str | None = None) -> list[Reason]:
    """Coefficients and rates that both logs print."""
    if a.run is b.run or a.run.framework != b.run.framework:
        return []
    found = []
    for metric in a.run.metrics:
        own = rules().setting(metric)
        if own is None or (kind is not None and own != kind) or metric not in b.run.columns:
            continue
        parts = [bench.measured(metric, side, "stability") for side in (a, b)]
        if parts[0] is None or parts[1] is None:
            continue
        values = parts[0].value, parts[1].value
        if abs(values[0] - values[1]) <= APART * max(map(abs, values)):
            continue
        facts: dict[str, Fact | str | int] = {"a": parts[0].fact, "b": parts[1].fact}
        found.append(Reason("setting_differs", {"metric": metric} | facts))
    return found


def _samples(ledger: Ledger, a: Run, b: Run) -> list[Reason]:
    """Validations of one kind with other numbers of answers a problem: their keys differ, so neither has a row."""
    held = [dict[str, set[int]](), dict[str, set[int]]()]
    for run, table in zip((a, b), held, strict=True):
        for metric in run.metrics:
            match = _SAMPLES.fullmatch(metric)
            if match is not None:
                table.setdefault(match["stem"], set()).add(int(match["n"]))
    found = []
    for stem in held[0].keys() & held[1].keys():
        one, two = held[0][stem], held[1][stem]
        if one & two:
            continue
        counts = [
            ledger.count(f"samples/{run.id}", max(numbers), metric=f"{stem}@{max(numbers)}")
            for run, numbers in ((a, one), (b, two))
        ]
        found.append(Reason("differs_samples", {"metric": stem, "a": counts[0], "b": counts[1]}))
    # One sentence a benchmark: its scores all come from the same answers.
    first: dict[str, Reason] = {}
    for reason in sorted(found, key=lambda reason: str(reason.values["metric"]), reverse=True):
        benchmark = str(reason.values["metric"]).partition("/")[2].rpartition("/")[0].rpartition("/")[0]
        first.setdefault(benchmark, reason)
    return list(first.values())[:3]


def _first(ledger: Ledger, name: str, run: Run) -> Fact | None:
    facts = (derive(ledger, name, step, run) for step in run.distinct_steps[:LOOKED_AT])
    return next((fact for fact in facts if fact is not None), None)
