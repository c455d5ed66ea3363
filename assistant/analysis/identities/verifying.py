"""Which identities a log breaks, where, and why that may be: cut, edited, of mixed versions, or something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from assistant.analysis.identities.constants import constants
from assistant.analysis.identities.grid import Grid, grid_of
from assistant.analysis.identities.registry import Identity, identities
from assistant.analysis.identities.relations import Outcome, outcomes
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run
from assistant.model.fact import Severity

Reason = Literal["truncated", "edited", "mixed_versions", "other"]
MOST_STEPS: Final = 50
"""Steps that a violation lists at most; the count of all is one of its facts."""
MOST_CELLS: Final = 6
OUTLYING: Final = 4.0


@dataclass(frozen=True, slots=True)
class Violation:
    """An identity that a log breaks.

    Attributes:
        identity: its id, ``I-08``; the statement is ``IDENTITIES[id]``.
        severity: ``warning``; ``info`` where the identity is approximate.
        steps: where it is broken, ascending, at most fifty.
        metrics: cells that it ties together.
        facts: ``residual`` (left minus right at the worst step), ``broken`` (steps that break it), ``tested`` (steps
            at which it could be tested), ``suspect`` (the cell that explains the most) where there is one, and
            ``cell_0`` … (the cells at the worst step).
        reasons: what may be behind it, likeliest first.
        formula: the relation that was tested.
        suspect: the metric whose cell alone explains what is broken at the worst step, if one does.
    """

    identity: str
    severity: Severity
    steps: tuple[int, ...]
    metrics: tuple[str, ...]
    facts: tuple[tuple[str, Fact], ...]
    reasons: tuple[Reason, ...]
    formula: str
    suspect: str | None


def verify(ledger: Ledger, run: Run | None = None) -> list[Violation]:
    """Tests every identity that the run's framework has, over all steps at once.

    An identity counts as broken at two steps, or at one by ten times what rounding allows. One that the log breaks at
    many steps is one that its version does not have, unless it holds by definition.

    Args:
        ledger: where the facts are entered.
        run: the ledger's first by default.

    Returns:
        Violations in the order of their identities; one for each identity and set of metrics.
    """
    run = run or ledger.run
    if run is None or not run.steps:
        return []
    grid = grid_of(run)
    all_outcomes = list(_outcomes(grid))
    broken = [(identity, outcome) for identity, outcome in all_outcomes if outcome.applies and outcome.broken]
    if not broken:
        return []
    suspects = _suspects(grid, all_outcomes, broken)
    kept: dict[tuple[str, tuple[str, ...]], tuple[Identity, Outcome]] = {}
    for identity, outcome in broken:
        key = (identity.id, outcome.metrics)
        if key not in kept or outcome.failed.sum() > kept[key][1].failed.sum():
            kept[key] = (identity, outcome)
    return [_violation(ledger, run, grid, identity, outcome, suspects) for identity, outcome in kept.values()]


def _outcomes(grid: Grid) -> Iterator[tuple[Identity, Outcome]]:
    found = constants(grid.run)
    for identity in identities().values():
        if identity.applies(grid.run.framework):
            for outcome in outcomes(grid, identity, found):
                yield identity, outcome


def _suspects(
    grid: Grid, everything: list[tuple[Identity, Outcome]], broken: list[tuple[Identity, Outcome]]
) -> dict[int, str]:
    """Per broken step (its index) the metric in all broken relations that no satisfied equality vouches for."""
    result: dict[int, str] = {}
    places = np.unique(np.concatenate([np.flatnonzero(outcome.failed) for _, outcome in broken]))
    tight = [outcome for _, outcome in everything if outcome.applies and outcome.relation.kind != "at_most"]
    for at in places[: MOST_STEPS * 4]:
        counts = Counter(metric for _, outcome in broken if outcome.failed[at] for metric in outcome.metrics)
        vouched = Counter(
            m for outcome in tight if outcome.tested[at] and not outcome.failed[at] for m in outcome.metrics
        )
        order = {metric: (vouched[metric] > 0, -counts[metric], vouched[metric]) for metric in counts}
        lead = min(order.values())
        level = [metric for metric in counts if order[metric] == lead]
        if len(level) > 1:
            # Equally involved: the one that stands out of its own neighbours, if one does.
            outlying = sorted(((_stands_out(grid, metric, int(at)), metric) for metric in level), reverse=True)
            if outlying[0][0] < OUTLYING or outlying[0][0] < 3 * outlying[1][0]:
                continue
            level = [outlying[0][1]]
        result[int(at)] = level[0]
    return result


def _stands_out(grid: Grid, metric: str, at: int) -> float:
    """How far a cell lies from the six around it, in their robust standard deviations (a hundredth at least)."""
    values = grid.values(metric)
    assert values is not None
    around = np.concatenate([values[max(0, at - 6) : at], values[at + 1 : at + 7]])
    around = around[np.isfinite(around)]
    if len(around) < 4:
        return 0.0
    middle = float(np.median(around))
    scatter = 1.4826 * float(np.median(np.abs(around - middle)))
    return abs(float(values[at]) - middle) / max(scatter, 0.01 * abs(middle), 1e-12)


def _violation(  # noqa: PLR0917
    ledger: Ledger, run: Run, grid: Grid, identity: Identity, outcome: Outcome, suspects: dict[int, str]
) -> Violation:
    places = np.flatnonzero(outcome.failed)
    worst = int(places[outcome.ratio[places].argmax()])
    step = int(grid.steps[worst])
    suspect = suspects.get(worst)
    if suspect not in outcome.metrics:
        suspect = None
    cells = [(metric, ledger.value(metric, step, run)) for metric in outcome.metrics[:MOST_CELLS]]
    held = [(metric, fact) for metric, fact in cells if fact is not None]
    label = f"{identity.id}/{'+'.join(outcome.metrics)}"
    shown = outcome.formula.replace("{", "").replace("}", "").replace(" * ", " × ")
    residual = ledger.derived(
        f"residual/{label}", float(outcome.residual[worst]), formula=shown, step=step, run=run,
        inputs=[fact for _, fact in held],
    )  # fmt: skip
    counts = {
        name: ledger.derived(
            f"{name}/{label}", int(mask.sum()), formula=f"steps at which it is {name}: {shown}", run=run, inputs=()
        )
        for name, mask in (("broken", outcome.failed), ("tested", outcome.tested))
    }  # fmt: skip
    facts = [("residual", residual), *counts.items(), *((f"cell_{at}", fact) for at, (_, fact) in enumerate(held))]
    if suspect is not None:
        fact = ledger.value(suspect, step, run)
        if fact is not None:
            facts.append(("suspect", fact))
    steps = tuple(int(grid.steps[place]) for place in places[:MOST_STEPS])
    severity: Severity = "info" if identity.tolerance == "approx" else "warning"
    reasons = _reasons(run, outcome, steps, suspect)
    return Violation(identity.id, severity, steps, outcome.metrics, tuple(facts), reasons, shown, suspect)


def _reasons(run: Run, outcome: Outcome, steps: tuple[int, ...], suspect: str | None) -> tuple[Reason, ...]:
    cut = {gap.step for gap in run.missing}
    failed, tested = int(outcome.failed.sum()), int(outcome.tested.sum())
    reasons: list[Reason] = []
    if all(step in cut for step in steps):
        reasons.append("truncated")
    if failed >= 2 and tested > failed and outcome.one_side:
        reasons.append("mixed_versions")
    few = tested > failed and (failed <= 2 or failed * 10 <= tested)
    if few or (suspect is not None and tested == failed):
        reasons.append("edited")
    if not reasons or (tested == failed and tested > 1):
        reasons.append("other")
    return tuple(reasons)
