"""Stages of one step set against each other: how many times as long, by how many seconds, how long together."""

from __future__ import annotations

import math
from typing import Final

from assistant.ask import answer_rest, answer_share_put
from assistant.ask.answer_tail import tools_or_generation
from assistant.ask.context import Context, key
from assistant.ask.lexicon import words
from assistant.ask.parts import number
from assistant.ask.stages import finite, stages_in
from assistant.ask.subject import words_of
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

_INTENTS: Final = {"lookup", "compare", "bottleneck", "define", "explain", "derive"}
_MOST: Final = 6


def attempt(context: Context) -> Verdict | None:
    """The answer about the one step that is named, or that is all the log times; ``None`` for any other question."""
    of_part = answer_rest.attempt(context) or answer_share_put.attempt(context)
    if of_part is not None:
        return of_part
    query = context.query
    if len(context.runs) != 1 or query.intent not in _INTENTS or query.threshold is not None:
        return None
    text, held = words_of(context), words("stages")
    asked = next((name for name in ("pair_sum", "pair_times", "pair_gap") if held[name].search(text)), None)
    if asked is None:
        return None
    stages = stages_in(context)[:_MOST]
    if len(stages) < 2 or (asked != "pair_sum" and len(stages) > 2):
        return None
    if any("/agent_loop/" in stage for stage in stages):  # a trajectory's own time is no part of a step's
        return tools_or_generation(context) if asked != "pair_sum" else None
    step = _step(context, stages)
    if step is None:
        return None
    facts = [fact for stage in stages if (fact := finite(context, stage, step)) is not None]
    said = _sum(context, facts, step) if asked == "pair_sum" else _ratio(context, facts, step, asked == "pair_gap")
    if said is None:
        return None
    context.doc.paragraph(f"**{said}**")
    context.metrics.extend(stages)
    for stage in stages:
        context.cite(context.card(stage))
    return Verdict("answered", unmark(said))


def _step(context: Context, stages: list[str]) -> int | None:
    """The step that is meant: the one named, or the only one at which all stages are timed."""
    steps = [
        step for step in context.run.series(stages[0])[0]
        if all(finite(context, stage, step) is not None for stage in stages)
    ]  # fmt: skip
    slot = context.query.steps
    if slot.kind == "single":
        return slot.values[0] if slot.values[0] in steps else None
    if slot.kind in {"first", "last"} and steps:
        return steps[0 if slot.kind == "first" else -1]
    return steps[0] if len(steps) == 1 and slot.kind in {"none", "all"} else None


def _sum(context: Context, facts: list[Fact], step: int) -> str:
    total = context.ledger.derived(
        "sum of " + " and ".join(str(fact.metric) for fact in facts), math.fsum(map(number, facts)), inputs=facts,
        formula=" + ".join(str(fact.metric) for fact in facts), unit="s", step=step,
    )  # fmt: skip
    names = context.join(key(str(fact.metric)) for fact in facts)
    parts = " + ".join(context.doc.show(fact, None, "seconds") for fact in facts)
    return context.say("stage_pair.sum", names=names, step=step, total=context.doc.show(total), parts=parts)


def _ratio(context: Context, facts: list[Fact], step: int, gap: bool) -> str | None:
    """The longer stage against the shorter one."""
    short, long = sorted(facts, key=number)
    if number(short) <= 0:
        return None
    names = f"{long.metric} and {short.metric}"
    times = context.ledger.derived(
        f"ratio of {names}", number(long) / number(short), inputs=[long, short], step=step,
        formula=f"{long.metric} / {short.metric}",
    )  # fmt: skip
    more = context.ledger.derived(
        f"difference of {names}", number(long) - number(short), inputs=[long, short], step=step, unit="s",
        formula=f"{long.metric} - {short.metric}",
    )  # fmt: skip
    shown = {
        "long": context.doc.show(long, None, "seconds"), "short": context.doc.show(short, None, "seconds"),
        "more": context.doc.show(more),
    }  # fmt: skip
    name = "stage_pair.gap" if gap else "stage_pair.times"
    return context.say(name, a=key(str(long.metric)), b=key(str(short.metric)), step=step, times=times, **shown)


__all__ = ["attempt"]
