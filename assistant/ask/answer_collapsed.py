"""Whether the entropy has collapsed, of a log too short for a trend: how free the policy still is at its last step."""

from __future__ import annotations

import math
import re
from typing import Final

from assistant.analysis.trend import MIN_POINTS
from assistant.ask.causes import in_state, keys_for
from assistant.ask.concepts import concepts, keys_of
from assistant.ask.context import Context
from assistant.ask.departures import all_checks
from assistant.ask.naming import central, named_keys
from assistant.ask.parts import number
from assistant.model import Verdict
from assistant.write.document import unmark

_ASKED: Final = re.compile(r"(?i)\bcollaps\w*|崩|塌|坍")
#: Below this entropy (nats a token) a policy hardly chooses: fewer than 1.05 equal choices.
NARROW: Final = 0.05
#: No vocabulary allows more; what is beyond is a sum over tokens.
_MOST: Final = 14.0


def attempt(context: Context) -> Verdict | None:
    """The entropy as a number of equal choices, and what stands beside it; ``None`` for any other question or log."""
    run, say = context.run, context.say
    if len(context.runs) != 1 or not _ASKED.search(context.query.said) or context.query.steps.kind != "none":
        return None
    held = keys_of(concepts()["entropy"], run)
    named = central(named_keys(context))
    if len(held) != 1 or (named and named != held) or (context.query.mentions and not named):
        return None
    facts = [fact for step in run.series(held[0])[0] if (fact := context.value(held[0], step)) is not None]
    if not facts or len(facts) >= MIN_POINTS or not 0 <= number(facts[-1]) < _MOST:
        return None
    if any(check.severity in {"critical", "warning"} for check in all_checks(context)):
        return None  # what a rule finds comes first
    last = facts[-1]
    choices = context.ledger.derived(
        "equal choices per token", math.exp(number(last)), step=last.step, inputs=[last], formula="exp(entropy)"
    )
    narrow = number(last) < NARROW
    text = say(f"collapsed.{'narrow' if narrow else 'open'}", metric=held[0], v=last, choices=choices)
    beside = keys_for(run, "reward")[:1]
    nought = bool(beside) and in_state(run, beside[0], "zero", [last.step or 0]) is not None
    if nought:
        text += ("" if context.language == "zh" else " ") + say("collapsed.reward", metric=beside[0])
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(say("collapsed.means"))
    context.metrics.extend([held[0], *(beside if nought else ())])
    card = context.resolver.library.get("failure/entropy-collapse")
    if card is not None:
        context.cite(card)
    return Verdict("warning" if narrow and nought else "insufficient_data", unmark(text), "medium")


__all__ = ["NARROW", "attempt"]
