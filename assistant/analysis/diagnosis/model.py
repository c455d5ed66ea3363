"""What a diagnosis says: a failure mode that a log is consistent with, the signs seen, the explanations considered."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.model import Fact
from assistant.model.fact import Severity

NamedFacts = tuple[tuple[str, Fact], ...]


@dataclass(frozen=True, slots=True)
class Sign:
    """One element of a signature, as it was seen.

    Attributes:
        id: name within its rule.
        facts: what shows it (``before``/``after``/``value`` …, prefixed by the sign's id).
        since: step from which it holds; ``None`` where it concerns the run as a whole.
    """

    id: str
    facts: NamedFacts
    since: int | None = None


@dataclass(frozen=True, slots=True)
class LookAlike:
    """A harmless or different explanation that was considered.

    Attributes:
        id: name within its rule.
        ruled_out: ``None`` where the log cannot tell.
        facts: what decided it.
    """

    id: str
    ruled_out: bool | None
    facts: NamedFacts = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A failure mode that the log is consistent with.

    Attributes:
        mode: ``FM-01`` …
        rule: stable id; the sentence is the phrase ``finding.<rule>``.
        severity: ``critical`` only with two independent signs.
        onset: step from which the deciding sign holds.
        metrics: keys that took part, as the log spells them.
        steps: onset and last step (one step for a rule of a single step).
        facts: by the name that the phrase uses.
        signs: those seen.
        lookalikes: all that were considered.
        card: the mode's card in the knowledge base.
    """

    mode: str
    rule: str
    severity: Severity
    onset: int | None
    metrics: tuple[str, ...]
    steps: tuple[int, ...]
    facts: NamedFacts
    signs: tuple[Sign, ...]
    lookalikes: tuple[LookAlike, ...]
    card: str
