"""Diagnoses that one side of a comparison has and the other has not."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from assistant.analysis.checks import Check, check_all
from assistant.analysis.compare_model import Code, Comparison, Lone, Reason, Row, Side
from assistant.analysis.ledger import Ledger
from assistant.model import Fact

#: Most that are told.
MOST = 3
#: Diagnoses by which a high training reward is no merit.
DOUBTED: Final = frozenset({
    "reward_hacking", "format_reward_plateau", "plateau_without_accuracy", "score_jump", "score_shifted",
})  # fmt: skip


def lone_findings(ledger: Ledger, a: Side, b: Side) -> tuple[Lone, ...]:
    """Diagnoses on one side only, critical ones first, those of ``b`` before those of ``a``.

    A side of a run is read with what went before it, as a look at the log at that step would. What rests on metrics
    that the other side does not hold is left out: their absence there says nothing.
    """
    same = a.run is b.run
    seen = [_of_side(ledger, side, alone=not same) for side in (a, b)]
    if same and a.first > b.first:
        seen[0] = [check for check in seen[0] if check.rule not in {other.rule for other in seen[1]}]
    found = []
    for name, own, other, there in (("b", seen[1], seen[0], a), ("a", seen[0], seen[1], b)):
        known = {_mode(check) for check in other}
        found += [
            Lone("b" if name == "b" else "a", check)
            for check in own
            if _mode(check) not in known and all(metric in there.run.columns for metric in check.metrics)
        ]
    found.sort(key=lambda lone: lone.check.severity != "critical")
    return tuple(found[:MOST])


def weighed(code: Code, lone: tuple[Lone, ...]) -> Code:
    """A verdict with what critical diagnoses on one side add: they stand against a better mark elsewhere, and settle
    what the metrics leave open."""
    grave = {one.side for one in lone if one.check.severity == "critical"}
    if code == "not_comparable" or len(grave) != 1:
        return code
    against: Code = "regressed" if grave == {"b"} else "improved"
    if code in {"inconclusive", "unchanged"}:
        return against
    return code if code == against else "mixed"


def doubted(found: Comparison, lone: tuple[Lone, ...], *, asked: bool) -> Comparison:
    """The comparison in which the higher reward of a side is no longer called better, where that side alone has a
    diagnosis by which the reward can be had without merit; it then decides nothing, either.

    Args:
        found: what the rows say.
        lone: diagnoses of one side alone.
        asked: whether the rows are what was asked for, so that those that decide stay as they are.
    """
    sides = {one.side for one in lone if one.check.rule in DOUBTED}
    if len(sides) != 1:
        return found
    favours: Code = "improved" if sides == {"b"} else "regressed"
    kept = found.decisive if asked else ()
    rows = [row for row in found.rows if row.group == "reward" and row.code == favours and row not in kept]
    metrics = {row.metric for row in rows if row.p_corrected is not None}
    if not metrics:
        return found
    side, by = "B" if sides == {"b"} else "A", {row.metric: row for row in rows}
    reasons = []
    for one in found.reasons:
        row = by.get(str(one.values.get("metric")))
        told = one.code in {f"also_{favours}", f"row_{favours}"}
        if told and row is not None and row.p_corrected is not None:
            values: dict[str, Fact | str | int] = {"metric": row.metric, "c": row.change, "p": row.p_corrected}
            reasons.append(Reason("also_doubted", values | {"side": side}))
        else:
            reasons.append(one)
    decisive = tuple(row for row in found.decisive if row not in rows)
    verdict: Code = "inconclusive" if found.decisive and not decisive else found.verdict
    changed: list[Row] = [replace(row, code="changed") if row in rows else row for row in found.rows]
    return replace(found, rows=tuple(changed), reasons=tuple(reasons), decisive=decisive, verdict=verdict)


def _of_side(ledger: Ledger, side: Side, *, alone: bool) -> list[Check]:
    steps = [s for s in side.run.distinct_steps if s <= side.last and (alone or s >= side.first)]
    return [
        check
        for check in check_all(ledger, steps, side.run)
        if check.severity in {"critical", "warning"} and check.diagnosis is not None
    ]


def _mode(check: Check) -> str:
    return check.diagnosis.mode if check.diagnosis is not None else check.rule
