"""The facts that decided: gathered from the runs' ledgers and numbered anew for one audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assistant.analysis import Ledger
from assistant.ground.verdicts import Audit, Sentence
from assistant.model import Fact


def audit_of(sentences: Sequence[Sentence], ledgers: Sequence[Ledger]) -> Audit:
    """The audit that some sentences make: the facts that decided, and what those were made from, as E1, E2, ….

    Args:
        sentences: their claims name facts by run and id, as ``0:E7``.
        ledgers: of each run.
    """

    def fact_of(identity: str) -> Fact | None:
        number, _, own = identity.partition(":")
        return ledgers[int(number)].get(own)

    queue = list(dict.fromkeys(claim.fact for s in sentences for claim in s.claims if claim.fact))
    names: dict[str, str] = {}
    found: list[tuple[str, Fact]] = []
    for identity in queue:
        fact = fact_of(identity)
        if fact is None or identity in names:
            continue
        names[identity] = f"E{len(names) + 1}"
        found.append((identity, fact))
        prefix = identity.partition(":")[0]
        queue.extend(f"{prefix}:{parent}" for parent in (fact.inputs or ())[:50])
    facts = []
    for identity, fact in found:
        prefix = identity.partition(":")[0]
        parents = tuple(names[p] for parent in fact.inputs or () if (p := f"{prefix}:{parent}") in names)
        facts.append(replace(fact, id=names[identity], inputs=None if fact.inputs is None else parents))
    told = tuple(
        replace(s, claims=tuple(replace(c, fact=names.get(c.fact or "")) for c in s.claims)) for s in sentences
    )
    summary = {
        status: sum(s.status == status for s in told)
        for status in ("supported", "contradicted", "unsupported", "no_claim")
    }
    return Audit(told, tuple(facts), summary)
