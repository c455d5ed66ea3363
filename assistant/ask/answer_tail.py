"""What the trajectories of a step wait for: the slowest of them, the tools they call, and how long the tail is."""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Sequence
from typing import Final

from assistant.analysis import derive
from assistant.analysis.slowdown import Slowdown
from assistant.analysis.timing import layout_of
from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.ask.stages import finite, mean_of
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

AGENT_LOOP: Final = "timing_s/agent_loop/"
_OWN: Final = "timing_s/agent_loop/generate_sequences/"
_TOOLS: Final = "timing_s/agent_loop/tool_calls/"
_SLOWEST: Final = "timing_s/agent_loop/slowest/"
#: Trajectories' own times, by framework: the mean, and the longest.
_OWN_TIMES: Final = ((_OWN + "mean", _OWN + "max"), ("scheduler/*/time/generate/mean", "scheduler/*/time/generate/max"))
#: How much of the stage the longest trajectory takes at least where the stage waits for it.
WAITS: Final = 0.9
_MEAN: Final = re.compile(r"(?i)平均|均值|\baverage\b|\bmean\b|\btypical\b")
_TOOL: Final = re.compile(r"(?i)工具|\btools?\b|tool[_ ]calls?")


def tail(context: Context) -> Verdict | None:
    """How far the slowest trajectory lies from the mean one, at the step asked about (the last), and over the run.

    ``None`` where the log does not time single trajectories.
    """
    pair = _own_times(context)
    if pair is None:
        return None
    mean_key, longest_key = pair
    steps = [s for s in context.run.series(longest_key)[0] if finite(context, longest_key, s)]
    steps = [s for s in steps if (fact := finite(context, mean_key, s)) is not None and number(fact) > 0]
    at = _at(context, steps)
    if at is None:
        return None
    longest, mean = context.value(longest_key, at), context.value(mean_key, at)
    assert longest is not None
    assert mean is not None
    times = _times(context, longest, mean)
    text = context.say(
        "tail.lead", step=at, longest=_seconds(context, longest), mean=_seconds(context, mean), times=times
    )
    layout = layout_of(context.run)
    stage = None if layout is None else layout.tail.get("stage")
    whole = finite(context, str(stage), at) if stage in context.run.columns else None
    if whole is not None and number(whole):
        waits = number(longest) >= WAITS * number(whole)
        phrase = "tail.waits" if waits else "tail.stage"
        text += ("" if context.language == "zh" else " ") + context.say(
            phrase, stage=str(stage), whole=_seconds(context, whole)
        )
    context.doc.paragraph(f"**{text}**")
    lines = []
    if len(steps) > 1 and context.query.steps.kind in {"none", "all"}:
        ratios = [_times(context, *_pair_at(context, longest_key, mean_key, step)) for step in steps]
        most, least = max(ratios, key=number), min(ratios, key=number)
        average = mean_of(context, "slowest over mean trajectory", ratios, "ratio")
        count = context.ledger.count("steps with both", len(ratios))
        lines.append(context.say("tail.over", n=count, mean=average, high=most, low=least))
    lines += _tool_line(context, at)
    context.doc.bullets(lines)
    context.metrics.extend([longest_key, mean_key])
    for metric in (longest_key, mean_key):
        context.cite(context.card(metric))
    return Verdict("answered", unmark(text))


def slowest(context: Context) -> Verdict | None:
    """What the log tells of the slowest trajectory: its seconds of generation and of tools, its tokens."""
    columns = context.run.columns
    names = {
        name: next((key for key in keys if key in columns), None)
        for name, keys in (
            ("generation", (_SLOWEST + "generate_sequences", _OWN + "max")), ("tools", (_SLOWEST + "tool_calls",)),
            ("prompt", (_SLOWEST + "prompt_length",)), ("response", (_SLOWEST + "response_length",)),
        )
    }  # fmt: skip
    own = names["generation"]
    if names["response"] is None:
        return tail(context) if _MEAN.search(context.query.said) else None
    if own is None:
        return None
    steps = [s for s in context.run.series(own)[0] if finite(context, own, s)]
    at = _at(context, steps)
    if at is None:
        return None
    cells = {name: finite(context, key, at) for name, key in names.items() if key is not None}
    spent, response = cells["generation"], cells["response"]
    if spent is None or response is None:
        return None
    parts = [context.say("slowest.generation", v=_seconds(context, spent))]
    if (tools := cells.get("tools")) is not None:
        parts.append(context.say("slowest.tools", v=_seconds(context, tools)))
    if (prompt := cells.get("prompt")) is not None:
        parts.append(context.say("slowest.prompt", v=prompt))
    parts.append(context.say("slowest.response", v=response))
    text = context.say("slowest.lead", step=at, parts=context.join(parts))
    context.doc.paragraph(f"**{text}**")
    if len(steps) > 1 and context.query.steps.kind in {"none", "all"}:
        cells_of_all = [fact for step in steps if (fact := finite(context, own, step)) is not None]
        high = max(cells_of_all, key=number)
        context.doc.paragraph(
            context.say("slowest.highest", metric=own, v=_seconds(context, high), step=high.step or 0)
        )
    context.metrics.extend(key for key in (own, names["tools"] if "tools" in cells else None, names["response"]) if key)
    context.cite(context.card(own))
    return Verdict("answered", unmark(text))


def tools_or_generation(context: Context) -> Verdict | None:
    """Whether a trajectory waits longer for its tools or for the model; ``None`` where the log does not time both."""
    spent, own = _TOOLS + "mean", _OWN + "mean"
    if _TOOL.search(context.query.said) is None or not {spent, own} <= set(context.run.columns):
        return None
    steps = [s for s in context.run.series(spent)[0] if finite(context, spent, s) and finite(context, own, s)]
    slot = context.query.steps
    wanted = [s for s in steps if slot.kind not in {"single", "pair"} or s in slot.values]
    if not wanted:
        return None
    held = {
        name: [fact for step in wanted if (fact := finite(context, name, step)) is not None] for name in (spent, own)
    }
    means = {name: facts[0] if len(facts) == 1 else mean_of(context, name, facts, "s") for name, facts in held.items()}
    name = "tools" if number(means[spent]) > number(means[own]) else "generation"
    count = context.ledger.count("steps with both", len(wanted))
    where = (
        context.say("stages.at", step=wanted[0]) if len(wanted) == 1
        else context.say("stages.mean", n=count, first=wanted[0], last=wanted[-1])
    )  # fmt: skip
    text = context.say(
        f"tools.longer_{name}", where=where, tools=_seconds(context, means[spent]), own=_seconds(context, means[own])
    )
    context.doc.paragraph(f"**{text}**")
    lines = []
    if len(wanted) > 1:
        lines.append(context.say("tools.latest", step=wanted[-1], tools=_seconds(context, held[spent][-1]),
                                 own=_seconds(context, held[own][-1])))  # fmt: skip
    if "timing_s/gen" in context.run.columns:
        lines.append(context.say("tools.nested"))
    context.doc.bullets(lines)
    context.metrics.extend([spent, own])
    for metric in (spent, own):
        context.cite(context.card(metric))
    return Verdict("answered", unmark(text))


def tool_waits(context: Context, step: int) -> str:
    """What trajectories waited for their tools at a step, as a sentence; empty where that is little or not logged."""
    return next(iter(_tool_line(context, step)), "")


def in_flight(context: Context, step: int) -> str:
    """How much of the batch is in flight while it is generated, from a trajectory's mean time; empty where unknown.

    That the slowest one sets the stage's time is said only where it does, its time in tools counted.
    """
    use, whole = derive(context.ledger, "tail_utilisation", step), context.value("timing_s/gen", step)
    mean, longest = (context.value(f"{AGENT_LOOP}generate_sequences/{name}", step) for name in ("mean", "max"))
    if use is None or whole is None or mean is None or longest is None:
        return ""
    tools = context.value(f"{AGENT_LOOP}tool_calls/mean", step)
    last = [context.value(f"{AGENT_LOOP}slowest/{name}", step) for name in ("generate_sequences", "tool_calls")]
    both = last[0] is not None and last[1] is not None
    slowest, own = math.fsum(number(one) for one in last), number(longest)
    sets = max(slowest if both else 0.0, own) >= WAITS * number(whole)
    if sets and both and slowest >= WAITS * number(whole):
        shown = _with_tools(context, last[0], last[1])
    else:
        shown = context.doc.show(longest, None, "seconds")
    return context.say(
        "time.tail" if sets else "time.in_flight", use=use, slowest=shown, mean=_with_tools(context, mean, tools),
        whole=context.doc.show(whole, None, "seconds"),
    )  # fmt: skip


def _with_tools(context: Context, own: Fact | None, tools: Fact | None) -> str:
    """Seconds of generation, and those in tools beside them where they show."""
    shown = "" if own is None else context.doc.show(own, None, "seconds")
    if tools is None or number(tools) < TOLD_TOOLS * number(own):
        return shown
    return context.say("time.with_tools", own=shown, tools=context.doc.show(tools, None, "seconds"))


# -- parts -------------------------------------------------------------------------------------------------------------
def _tool_line(context: Context, step: int) -> list[str]:
    mean, longest, own = (finite(context, key, step) for key in (_TOOLS + "mean", _TOOLS + "max", _OWN + "mean"))
    if mean is None or longest is None or own is None or number(mean) < NOTABLE * number(own):
        return []
    shown = {name: _seconds(context, fact) for name, fact in (("mean", mean), ("longest", longest), ("own", own))}
    return [context.say("tail.tools", **shown)]


#: Share of a trajectory's own time from which its time in tools changes what is told of the whole.
TOLD_TOOLS: Final = 0.005
#: Share of a trajectory's own time from which its waiting for tools is told.
NOTABLE: Final = 0.1


def _own_times(context: Context) -> tuple[str, str] | None:
    for mean, longest in _OWN_TIMES:
        means, longests = (sorted(fnmatch.filter(context.run.columns, pattern)) for pattern in (mean, longest))
        if means and longests:
            return means[0], longests[0]
    return None


def _at(context: Context, steps: Sequence[int]) -> int | None:
    """The step that is told: the one named, else the first or the last."""
    slot = context.query.steps
    if slot.kind in {"single", "pair"}:
        return next((step for step in slot.values if step in steps), None)
    return None if not steps else steps[0] if slot.kind == "first" else steps[-1]


def _pair_at(context: Context, longest: str, mean: str, step: int) -> tuple[Fact, Fact]:
    facts = context.value(longest, step), context.value(mean, step)
    assert facts[0] is not None
    assert facts[1] is not None
    return facts[0], facts[1]


def _times(context: Context, longest: Fact, mean: Fact) -> Fact:
    return context.ledger.derived(
        "slowest over mean trajectory", number(longest) / number(mean) if number(mean) else math.inf,
        inputs=[longest, mean], step=longest.step, formula=f"{longest.metric} / {mean.metric}",
    )  # fmt: skip


def _seconds(context: Context, fact: Fact) -> str:
    return context.doc.show(fact, None, "seconds")


# -- longer generation -------------------------------------------------------------------------------------------------
#: Part of a trajectory's longer time from which its cause is the tools.
MOSTLY: Final = 0.5
Window = tuple[int, int]


def waited(context: Context, found: Slowdown, windows: tuple[Window, Window]) -> tuple[Fact, Fact] | None:
    """What a trajectory waited for its tools on each side, where that makes up most of the longer generation."""
    carrier = found.carrier
    if carrier is None or carrier.stage != "timing_s/gen" or number(carrier.change) <= 0:
        return None
    sides = [
        (_mean_over(context, _TOOLS + "mean", window), _mean_over(context, _OWN + "mean", window)) for window in windows
    ]
    (before, own_before), (after, own_after) = sides
    if before is None or after is None or own_before is None or own_after is None:
        return None
    longer = number(after) - number(before)
    whole = longer + number(own_after) - number(own_before)
    return (before, after) if longer > 0 and whole > 0 and longer >= MOSTLY * whole else None


def _mean_over(context: Context, metric: str, window: Window) -> Fact | None:
    first, last = window
    held = [f for s in context.train_steps if first <= s <= last and (f := finite(context, metric, s)) is not None]
    if not held:
        return None
    return context.ledger.derived(
        f"mean({metric})/{first}-{last}", math.fsum(map(number, held)) / len(held), inputs=held, unit="s",
        formula=f"mean of {metric} over steps {first} to {last}",
    )  # fmt: skip
