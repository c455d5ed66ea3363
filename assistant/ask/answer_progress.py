"""How far a run got, its slowest step and why, its slowest stage against the start, and whether its batch changed."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from statistics import median

from assistant.analysis import derive
from assistant.analysis.forecast import STEP_TIMES, total_steps
from assistant.analysis.timing import layout_of, stage_keys, total_key
from assistant.ask.answer_ended import complete, said_cause
from assistant.ask.answer_stage_sums import slowest_by_stages
from assistant.ask.context import Context
from assistant.ask.parts import number, timed
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

#: A stage is named as the reason for a slow step from this share of the excess on.
LEAST_SHARE, MOST_STAGES = 0.1, 3
_LENGTHS = ("response_length/mean", "completions/mean_length", "completion_length")


#: Asks how much is done, rather than whether all is.
_HOW_FAR = re.compile(r"(?i)percent|how (?:far|much)|百分之|多少了|进度")


def finished(context: Context) -> Verdict | None:
    """Whether the log's last row is the last step planned; refused where the log names no total."""
    if context.query.threshold is not None or context.query.op is not None:
        return None
    say, steps = context.say, context.run.distinct_steps
    total, last = total_steps(context.run), steps[-1]
    if total is None:
        text = say("run.no_total", last=last)
        context.doc.paragraph(f"**{text}**")
        context.doc.paragraph(say("run.tell_total"))
        return Verdict("no_data", unmark(text), "medium")
    planned = context.ledger.constant("total_steps", total, "the log")
    every = round(median([b - a for a, b in itertools.pairwise(steps)] or [1]))
    share = context.ledger.derived(
        "share_done", min(1.0, last / total), unit="fraction", inputs=[planned], formula=f"{last} / total_steps"
    )
    if complete(steps, total):
        text = say("run.finished", last=last, total=planned)
        context.doc.paragraph(f"**{text}**")
        return Verdict("answered", unmark(text))
    if every > 1 and last + every > total:
        spacing = context.ledger.derived(
            "steps between rows", every, inputs=[], formula="median distance of logged steps"
        )
        text = say("run.nearly", last=last, total=planned, share=share, every=spacing)
    else:
        phrase = "run.so_far" if _HOW_FAR.search(context.query.said) else "run.unfinished"
        text = say(phrase, last=last, total=planned, share=share)
    context.doc.paragraph(f"**{text}**")
    cause = said_cause(context)
    context.doc.paragraph(say("ended.after", cause=cause) if cause else say("run.unfinished_why"))
    return Verdict("answered", unmark(text), "medium")


def slowest(context: Context) -> Verdict | None:
    """The step that took longest, and which stages took more than usual in it."""
    run, say, doc = context.run, context.say, context.doc
    layout = layout_of(run)
    whole = None if layout is None else total_key(run, layout)
    whole = whole or next((name for name in STEP_TIMES if name in run.columns), None)
    held = [] if whole is None else _finite(context, whole)
    if whole is None or len(held) < 3:
        return slowest_by_stages(context)
    context.metrics.append(whole)
    top = max(held, key=number)
    usual = _median(context, whole, held)
    times = context.ledger.derived(
        "slowest step over median",
        number(top) / number(usual),
        inputs=[top, usual],
        formula="slowest / median",
        step=top.step,
    )
    text = say("run.slowest", v=top, median=doc.show(usual, None, context.kind_of(whole)), times=times)
    doc.paragraph(f"**{text}**")
    lines = _stages(context, whole, top, usual)
    length = next((m for m in _LENGTHS if run.value(m, top.step or 0) is not None), None)
    if length is not None:
        cell = context.value(length, top.step or 0)
        lines.append(
            say(
                "run.slowest_tokens",
                v=cell,
                usual=doc.show(_median(context, length, _finite(context, length)), None, context.kind_of(length)),
            )
        )
    doc.bullets(lines)
    context.chart(context.title(whole), [whole])
    context.query = replace(context.query, op="argmax", asked_op="argmax")
    return Verdict("answered", unmark(text))


def _stages(context: Context, whole: str, top: Fact, usual: Fact) -> list[str]:
    layout = layout_of(context.run)
    stages = () if layout is None else stage_keys(context.run, layout)
    if not stages:
        return [context.say("run.slowest_no_stages")]
    excess = context.ledger.derived(
        f"excess over median of {whole}",
        number(top) - number(usual),
        unit="s",
        inputs=[top, usual],
        formula=f"{whole} − its median",
        step=top.step,
    )
    found: list[tuple[float, str, Fact, Fact]] = []
    for stage in stages:
        cell, held = context.value(stage, top.step or 0), _finite(context, stage)
        if cell is None or len(held) < 3:
            continue
        middle = _median(context, stage, held)
        found.append((number(cell) - number(middle), stage, cell, middle))
    found.sort(key=lambda one: -one[0])
    lines = []
    for more, stage, cell, middle in found[:MOST_STAGES]:
        share = more / number(excess) if number(excess) > 0 else 0.0
        if share < LEAST_SHARE:
            continue
        fact = context.ledger.derived(
            f"share of the excess: {stage}",
            share,
            unit="fraction",
            inputs=[cell, middle, excess],
            formula=f"({stage} − its median) / ({whole} − its median)",
            step=top.step,
        )
        lines.append(
            context.say(
                "run.slowest_stage",
                stage=stage,
                excess=context.doc.show(excess, None, "seconds"),
                share=fact,
                cell=cell,
                usual=context.doc.show(middle, None, "seconds"),
            )
        )
    return lines or [context.say("run.slowest_none", excess=context.doc.show(excess, None, "seconds"))]


def _finite(context: Context, metric: str) -> list[Fact]:
    facts = [context.value(metric, step) for step in context.run.series(metric)[0]]
    return [f for f in facts if f is not None and isinstance(f.value, (int, float)) and math.isfinite(f.value)]


def _median(context: Context, metric: str, held: list[Fact]) -> Fact:
    return context.ledger.derived(
        f"median({metric})", median(number(f) for f in held), inputs=held, formula=f"median of {metric}"
    )


def stage_and_first(context: Context) -> Verdict | None:
    """The slowest stage of the latest step, and what it took at the first step."""
    run, say, doc = context.run, context.say, context.doc
    from assistant.ask import answer_other

    context.query = replace(context.query, steps=replace(context.query.steps, kind="none", values=()))
    found = timed(context, run.distinct_steps[-1])
    if found is None:
        return None
    verdict = answer_other.bottleneck(context)
    stage, whole = str(found.shares[0].name), str(found.total.metric)
    steps = [s for s in run.series(stage)[0] if run.value(whole, s) is not None]
    if len(steps) < 2:
        return verdict
    first, last = context.value(stage, steps[0]), context.value(stage, steps[-1])
    ends = {"whole_first": context.value(whole, steps[0]), "whole_last": context.value(whole, steps[-1])}
    if first is None or last is None or not number(first) or not all(math.isfinite(number(f)) for f in (first, last)):
        return verdict
    times = context.ledger.derived(
        f"{stage} last over first", number(last) / number(first), inputs=[last, first], formula="last / first"
    )
    line = say("run.stage_first", stage=stage, first=first, last=last, times=times, **ends)
    doc.blocks.insert(1, line)
    return verdict


def batch_changed(context: Context) -> Verdict | None:
    """Whether the number of trajectories a step, as it can be derived, is the same throughout."""
    if any(m.key is not None for m in context.query.mentions):
        return None
    found = [
        fact
        for step in context.train_steps
        if (fact := derive(context.ledger, "trajectories_per_step", step)) is not None
    ]
    if not found:
        text = context.say("run.batch_unknown")
        context.doc.paragraph(f"**{text}**")
        return Verdict("no_data", unmark(text))
    low, high = min(found, key=number), max(found, key=number)
    count = context.ledger.count("steps with a derived batch", len(found))
    if low.value == high.value:
        text = context.say("run.batch_same", n=count, v=found[-1])
    else:
        text = context.say("run.batch_varies", n=count, low=low, high=high)
    context.doc.paragraph(f"**{text}**")
    context.doc.paragraph(context.say("run.batch_how"))
    return Verdict("answered", unmark(text))
