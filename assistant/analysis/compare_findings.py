"""Diagnoses that one side of a comparison has and the other has not."""

from __future__ import annotations

from assistant.analysis.checks import Check, check_all
from assistant.analysis.compare_model import Code, Lone, Side
from assistant.analysis.ledger import Ledger

#: Most that are told.
MOST = 3


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


def _of_side(ledger: Ledger, side: Side, *, alone: bool) -> list[Check]:
    steps = [s for s in side.run.distinct_steps if s <= side.last and (alone or s >= side.first)]
    return [
        check
        for check in check_all(ledger, steps, side.run)
        if check.severity in {"critical", "warning"} and check.diagnosis is not None
    ]


def _mode(check: Check) -> str:
    return check.diagnosis.mode if check.diagnosis is not None else check.rule
