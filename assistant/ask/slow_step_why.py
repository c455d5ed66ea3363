"""Why generation took so long at one step: against the other steps, and by its slowest trajectory."""

from __future__ import annotations

import math
import re
from statistics import median
from typing import Final

from assistant.ask.context import Context, key
from assistant.ask.parts import number
from assistant.model import Fact

_STAGE: Final = "timing_s/gen"
_LOOP: Final = "timing_s/agent_loop/slowest/"
_LENGTHS: Final = (_LOOP + "response_length", "response_length/max")
#: From how many times the median on a step's generation is long, and what part of it the slowest trajectory takes.
LONG, MOST = 1.5, 0.8
LEAST_OTHERS: Final = 5
#: Part of the long steps that share the longest trajectory, and of the others that may, where it is what they share.
SHARED, ELSEWHERE = 0.8, 0.1
#: Most steps that are listed.
MOST_LISTED: Final = 20
#: How near the longest trajectory of all counts as one of its length.
NEAR: Final = 0.99
_WHY: Final = re.compile(
    r"(?i)为什么|为啥|怎么(?:会|这么|那么)|原因|慢|这么久|那么久|\bwhy\b|\bslow\w*\b|so long|\breason\b|\bcause\w*"
)


def of_one_step(context: Context, step: int) -> str:
    """The sentences on a step whose generation is asked about and is long; else empty."""
    here = context.value(_STAGE, step)
    steps = [s for s in context.run.series(_STAGE)[0] if s != step] if _STAGE in context.run.columns else []
    cells = [fact for s in steps if (fact := context.value(_STAGE, s)) is not None and math.isfinite(number(fact))]
    if here is None or _WHY.search(context.query.said) is None or len(cells) < LEAST_OTHERS:
        return ""
    usual = context.ledger.derived(
        f"median({_STAGE}) of the other steps", median(map(number, cells)), inputs=cells, unit="s", step=step,
        formula=f"median of {_STAGE} at the other steps",
    )  # fmt: skip
    if number(here) < LONG * number(usual):
        return context.say("slow_step.usual", stage=key(_STAGE), here=here, usual=usual)
    lines = [context.say("slow_step.long", stage=key(_STAGE), here=here, usual=usual), *_slowest(context, here, usual)]
    return ("" if context.language == "zh" else " ").join(lines)


def _slowest(context: Context, here: Fact, usual: Fact) -> list[str]:
    """What the slowest trajectory of the step was, and at how many steps it was of that kind."""
    step = here.step or 0
    metric = next((name for name in _LENGTHS if name in context.run.columns), None)
    longest = None if metric is None else context.value(metric, step)
    if metric is None or longest is None or not number(longest):
        return []
    lines = []
    own, tools = (context.value(_LOOP + name, step) for name in ("generate_sequences", "tool_calls"))
    if metric == _LENGTHS[0] and own is not None and number(own) >= MOST * number(here):
        waited = number(tools) if tools is not None else 0.0
        shown = {"v": longest, "own": context.doc.show(own, None, "seconds")}
        if tools is not None and waited >= 0.01 * number(own):
            lines.append(
                context.say("slow_step.slowest_tools", tools=context.doc.show(tools, None, "seconds"), **shown)
            )
        else:
            lines.append(context.say("slow_step.slowest", **shown))
    else:
        lines.append(context.say("slow_step.longest", v=longest, metric=metric))
    lengths = [f for s in context.run.series(metric)[0] if (f := context.value(metric, s)) is not None]
    top = max(lengths, key=number)
    if number(longest) < NEAR * number(top):
        return lines
    at_top: set[int | None] = {fact.step for fact in lengths if number(fact) >= NEAR * number(top)}
    long: set[int | None] = {
        s for s in context.run.series(_STAGE)[0]
        if (f := context.value(_STAGE, s)) is not None and number(f) >= LONG * number(usual)
    }  # fmt: skip
    both, others = at_top & long, at_top - long
    rest = len(context.run.series(_STAGE)[0]) - len(long)
    if len(long) > 1 and len(both) >= SHARED * len(long) and len(others) <= ELSEWHERE * max(rest, 1):
        counts = {"k": len(both), "n": len(long), "m": len(others)}
        facts = {name: context.ledger.count(f"{name} of long steps", held) for name, held in counts.items()}
        lines.append(context.say("slow_step.shared", top=top, usual=usual, steps=_listed(context, both), **facts))
    cut = context.value("response_length/clip_ratio", step)
    if cut is not None and number(cut) > 0:
        lines.append(context.say("slow_step.cut", clip=cut))
    return lines


def _listed(context: Context, steps: set[int | None]) -> str:
    """The steps, where they are few enough to be listed."""
    known = sorted(step for step in steps if step is not None)
    if len(known) > MOST_LISTED:
        return ""
    return (" " if context.language == "en" else "") + context.say("slow_step.steps", steps=context.doc.show(known))
