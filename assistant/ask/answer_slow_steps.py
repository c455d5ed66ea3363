"""Steps that took much longer than the others, whatever times them, and what they have in common."""

from __future__ import annotations

import math
import re
from statistics import median
from typing import Final

from assistant.ask.answer_pace import whole_step_time
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.ask.stages import totals
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

#: From so many times the median on a step is slow.
SLOW: Final = 1.5
MOST_STEPS: Final = 5
#: Slow steps of which so large a part has a validation are slow because of it, as far as the log shows.
_MOSTLY: Final = 0.8
_HELD_OUT: Final = re.compile(r"(?i)^(?:val|eval|test)[-_/ ]|^valid|[-_/ ]val[-_/ ]")
#: For none, a few and more slow steps than are told: of a log that times whole steps, and of one that times stages.
_PHRASES: Final = (
    ("slow_steps.none", "slow_steps.sum_none"), ("slow_steps.lead", "slow_steps.sum_lead"),
    ("slow_steps.more", "slow_steps.sum_more"),
)  # fmt: skip
_TIMER: Final = re.compile(r"(?i)tim(?:e|ing)")


def slow_steps(context: Context) -> Verdict | None:
    """The steps that took longest, beside the median of all; ``None`` where the log times neither steps nor stages."""
    metric, cells = _timed(context)
    cells = [fact for fact in cells if math.isfinite(number(fact)) and number(fact) > 0]
    if len(cells) < MOST_STEPS:
        return None
    name = metric or "Σ"
    style = "seconds" if metric is None else context.kind_of(metric)
    usual = context.ledger.derived(
        f"median of {name}", median(map(number, cells)), inputs=cells, formula=f"median of {name}",
        unit="s" if style == "seconds" else None,
    )  # fmt: skip

    def shown(fact: Fact) -> str:
        return context.doc.show(fact, None, style)

    ordered = sorted(cells, key=number, reverse=True)
    every = [fact for fact in ordered if number(fact) >= SLOW * number(usual)]
    slow = every[:MOST_STEPS]
    items = [context.say("slow_steps.item", v=fact, shown=shown(fact)) for fact in slow or ordered[:1]]
    values = {
        "items": context.join(items), "n": context.ledger.count("steps timed", len(cells)), "usual": shown(usual),
        "k": context.ledger.count("slow steps", len(every)),
    }  # fmt: skip
    phrases = _PHRASES[0 if not slow else 2 if len(every) > len(slow) else 1]
    text = context.say(phrases[1], **values) if metric is None else context.say(phrases[0], metric=metric, **values)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(_in_common(context, every))
    if metric is not None:
        context.metrics.append(metric)
        context.cite(context.card(metric))
        context.chart(context.title(metric), [metric])
    return Verdict("answered", unmark(text))


def _timed(context: Context) -> tuple[str | None, list[Fact]]:
    """The key of a whole step's time with its values; without one, the sums of the stages."""
    metric = whole_step_time(context.run)
    if metric is None:
        timed = totals(context)
        return (timed.whole, list(timed.totals.values())) if timed is not None else (None, [])
    return metric, [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]


def _in_common(context: Context, slow: list[Fact]) -> str:
    """That most slow steps hold a validation, where its time lies in theirs."""
    held = set(context.validation_steps)
    for name in context.run.metrics:
        if _HELD_OUT.search(name) and not _TIMER.search(name):
            held.update(context.run.series(name)[0])
    there = [fact for fact in slow if fact.step in held]
    if len(slow) < 2 or len(there) < _MOSTLY * len(slow) or len(held) > len(context.run.distinct_steps) / 2:
        return ""
    count = context.ledger.count("slow steps with a validation", len(there))
    total = context.ledger.count("slow steps", len(slow))
    return context.say("slow_steps.validated", k=count, n=total)
