"""What a run does beside training, as its metrics tell: whether tools are called, which steps are saved."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

from assistant.ask.context import Context, key
from assistant.ask.naming import steps_text
from assistant.ask.parts import number
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

#: Keys of how often and how long tools are called, and of turns, in order of what they say.
_CALLS: Final = ("tool_call_counts/mean", "tool_call_counts/max")
_TOOL_TIME: Final = ("timing_s/agent_loop/tool_calls/max", "timing_s/agent_loop/tool_calls/mean")
_TURNS: Final = ("num_turns/max", "num_turns/mean")
_MOST_SAVES: Final = 24


def tools(context: Context) -> Verdict | None:
    """Whether trajectories call tools: the calls counted, else the time spent in them.

    Returns:
        The verdict, which says so where the log holds neither; ``None`` where a metric of another spelling is named.
    """
    found = next((m for m in (*_CALLS, *_TOOL_TIME, *_TURNS) if m in context.run.columns), None)
    if found is None and any("tool" in m.lower() for m in context.run.metrics):
        return None
    if found is None:
        text = context.say("equipped.tools_unknown")
        context.doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    held = [f for s in context.run.series(found)[0] if (f := context.value(found, s)) is not None and _finite(f)]
    if not held:
        return None
    say, count = context.say, context.ledger.count("values", len(held), metric=found)
    top = max(held, key=number)
    if found in _TURNS:
        name = "equipped.turns_alone"
    elif number(top) > 0:
        name = "equipped.tools" if found in _CALLS else "equipped.tools_by_time"
    else:
        name = "equipped.no_tools"
    text = say(name, metric=found, v=held[-1], top=top, n=count)
    context.doc.paragraph(f"**{text}**")
    lines = []
    for metric in (*_CALLS, *_TOOL_TIME, *_TURNS):
        fact = context.value(metric, held[-1].step or 0) if metric in context.run.columns and metric != found else None
        if fact is not None:
            lines.append(say("lookup.one", metric=metric, v=fact))
            context.metrics.append(metric)
    context.doc.bullets(lines)
    context.doc.paragraph(context.gloss(found))
    context.metrics.insert(0, found)
    return Verdict("answered", unmark(text), "medium")


def _finite(fact: Fact) -> bool:
    return isinstance(fact.value, (int, float)) and math.isfinite(fact.value)


def saves(context: Context) -> Verdict | None:
    """The steps at which the time of saving a checkpoint was logged, and how far they are apart.

    Returns:
        The verdict, which says so where the log has no such time.
    """
    metric = next((m for m in context.run.metrics if "save_checkpoint" in m.lower()), None)
    if metric is None:
        text = context.say("equipped.no_saves")
        context.doc.paragraph(f"**{text}**")
        context.doc.paragraph(context.say("equipped.saves_elsewhere"))
        return Verdict("no_data", unmark(text))
    steps = list(context.run.series(metric)[0])
    count = context.ledger.count("saves", len(steps), metric=metric)
    shown = context.doc.show(steps) if len(steps) <= _MOST_SAVES else steps_text(context, steps)
    apart = {b - a for a, b in pairwise(steps)}
    text = context.say("equipped.saves", n=count, steps=shown, metric=key(metric))
    if len(apart) == 1:
        every = context.ledger.count("steps between saves", apart.pop(), metric=metric)
        text += ("" if context.language == "zh" else " ") + context.say("equipped.every", k=every)
    context.doc.paragraph(f"**{text}**")
    context.metrics.append(metric)
    return Verdict("answered", unmark(text))
