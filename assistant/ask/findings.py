"""Findings with what was weighed for them, and what their cards say to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assistant.analysis.checks import Check
from assistant.ask.considered import others, signs
from assistant.ask.context import Context
from assistant.ask.departures import CARDS, all_checks
from assistant.knowledge import Card

MOST_DETAILED = 3
#: So far into the time since a finding's onset another one counts as a later event.
LATER = 0.1


@dataclass(frozen=True, slots=True)
class Told:
    """A finding as it is told.

    Attributes:
        check: the rule's result.
        sentence: what was seen (with marks).
        line: signs and look-alikes; empty where nothing was weighed.
        card: the failure mode's card, where there is one.
    """

    check: Check
    sentence: str
    line: str
    card: Card | None

    @property
    def grave(self) -> bool:
        """Whether it calls for attention."""
        return self.check.severity in {"critical", "warning"}

    def whole(self, language: str) -> str:
        """Sentence and line."""
        gap = "" if language == "zh" and not self.sentence.endswith("]") else " "
        return self.sentence + (gap + self.line if self.line else "")


def told(context: Context, checks: Sequence[Check]) -> list[Told]:
    """Each check as it is told; registers the findings and cites their cards."""
    result = []
    for place, check in enumerate(checks):
        sentence = context.finding(check)
        found = check.diagnosis
        name = (CARDS.get(check.phrase) or CARDS.get(check.rule)) if found is None else found.card
        card = None if name is None else context.resolver.library.get(name)
        context.cite(card)
        parts = (signs(context, check), others(context, check)) if place < MOST_DETAILED else ()
        parts = (*parts, _beside(context, check)) if any(parts) else parts
        line = ("" if context.language == "zh" else " ").join(part for part in parts if part)
        result.append(Told(check, sentence, line, card))
    return result


def _beside(context: Context, check: Check) -> str:
    """That what is compared with before holds another problem too, which set in later; empty where none did."""
    found = check.diagnosis
    if found is None or found.onset is None:
        return ""
    first, last = found.onset, context.given[0].distinct_steps[-1]
    later = [
        other.diagnosis.onset for other in all_checks(context)
        if other.diagnosis is not None and other.severity in {"critical", "warning"}
        and other.diagnosis.mode != found.mode and other.diagnosis.onset is not None
        and first + LATER * (last - first) < other.diagnosis.onset <= last
        and not set(other.metrics[:1]) & set(check.metrics)
    ]  # fmt: skip
    return context.say("check.beside", step=min(later)) if later else ""


def remedy(context: Context, found: Told) -> str:
    """What a finding's card says to look at and to try, in its order, verbatim; empty without a card."""
    return "" if found.card is None else context.quote(found.card, "next")
