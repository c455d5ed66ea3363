"""The step at which a run became slower at once: where the step's time rose by a jump, or its main stage's did."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.analysis.forecast import STEP_TIMES
from assistant.analysis.slowdown import Slowdown
from assistant.ask.context import Context
from assistant.ask.departures import all_checks
from assistant.ask.findings import told
from assistant.ask.telling import main_change, sides
from assistant.model import Fact

#: Asks from which step on.
WHEN: Final = re.compile(
    r"(?i)哪(?:一)?(?:个)?\s*(?:步|step)|第几步|什么时候|何时|从哪|\bwhen\b|\bsince\b|\b(?:which|what) step\b"
)
#: How near a finding sets in to be told beside a jump, and how many are.
NEAR, MOST_BESIDE = 2, 2


def jump(context: Context, found: Slowdown) -> tuple[str, list[str]]:
    """Where the time rose by a jump: the sentence, and the grave findings that set in around that step.

    A step's own time may scatter too much to tell; the stage that carries the slowdown is asked then.
    """
    if not found.slower:
        return "", []
    whole = str(found.after.metric or next(iter(STEP_TIMES)))
    whole = next((name for name in (whole, *STEP_TIMES) if name in context.run.columns), whole)
    asked = WHEN.search(context.query.said) is not None
    stages = [str(found.carrier.stage)] if found.carrier is not None else []
    for metric in (whole, *stages):
        trend = context.ledger.trend(metric, context.train_steps or None)
        change = None if trend is None else main_change(context, trend, context.train_steps or None)
        if change is None or change[0].kind != "level" or change[0].after <= change[0].before:
            continue
        phrase = "slower.since" if asked else "slower.jump"
        text = context.say(phrase, **{**sides(context, change), "metric": metric})
        grave = [c for c in all_checks(context) if c.severity in {"critical", "warning"} and c.steps]
        near = [c for c in grave if abs(c.steps[0] - change[0].step) <= NEAR]
        return text, [context.say("premise.meanwhile", first=one.sentence) for one in told(context, near[:MOST_BESIDE])]
    return "", []


def jumped_between(context: Context, changes: Sequence[Fact], first: int, second: int) -> list[str]:
    """That the stage that grew most between two steps did so by a jump, where it did."""
    grown = [c for c in changes if (c.delta or 0) > 0]
    most = max(grown, key=lambda one: one.delta or 0, default=None)
    if most is None:
        return []
    metric = str(most.metric)
    trend = context.ledger.trend(metric, context.train_steps or None)
    change = None if trend is None else main_change(context, trend, context.train_steps or None)
    if change is None or change[0].kind != "level" or not first < change[0].step <= second:
        return []
    if change[0].after <= change[0].before:
        return []
    return [context.say("slower.jump", **{**sides(context, change), "metric": metric})]
