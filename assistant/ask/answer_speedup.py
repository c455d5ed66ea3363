"""What part of a step several stages take, each, and what a step would take if a stage took less: an estimate."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.added_shares import lies_outside, of_all_time, overlapping
from assistant.ask.context import Context, key
from assistant.ask.lexicon import words
from assistant.ask.parts import number
from assistant.ask.scope import scope_in
from assistant.ask.stages import Timed, finite, mean_of, stages_in, totals
from assistant.ask.subject import words_of
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import plain

MOST_STAGES: Final = 8
#: Asks which of two it is, and not by how much.
_WHICH: Final = re.compile(r"(?i)哪(?:个|一个|边)|谁|\bwhich\b")
_NUMERALS: Final = {"三": 3.0, "四": 4.0, "五": 5.0, "六": 6.0, "八": 8.0, "十": 10.0}


def timed_steps(context: Context, stage: str, timed: Timed) -> list[int]:
    """The steps that a question is about at which a stage and the whole are timed."""
    slot = context.query.steps
    steps = [step for step in timed.totals if number(timed.totals[step]) > 0 and finite(context, stage, step)]
    if slot.kind in {"single", "pair"}:
        return [step for step in steps if step in slot.values]
    if slot.kind in {"last", "first"}:
        return steps[-1:] if slot.kind == "last" else steps[:1]
    return scope_in(words_of(context), context.train_steps).of(steps)


# -- shares, each ------------------------------------------------------------------------------------------------------
def each_share(context: Context) -> Verdict | None:
    """The share of each of several stages; ``None`` where fewer than two are named, or nothing is timed."""
    stages, timed = stages_in(context)[:MOST_STAGES], totals(context)
    if len(stages) < 2 or timed is None or len(context.runs) != 1 or timed.whole in stages:
        return None
    if any(lies_outside(context.run, stage) for stage in stages) and context.query.steps.kind in {"none", "all"}:
        return of_all_time(context, stages, timed)
    steps = timed_steps(context, stages[0], timed)
    common = [step for step in steps if all(finite(context, one, step) for one in stages)]
    if not common:
        return None
    items, means, rows = [], list[Fact](), list[list[str]]()
    for stage in stages:
        held = [cell for step in common if (cell := finite(context, stage, step)) is not None]
        shares = [
            context.ledger.derived(
                f"share of {stage}", number(cell) / number(timed.totals[step]), inputs=[cell, timed.totals[step]],
                step=step, unit="fraction", formula=f"{stage} / {timed.whole or 'sum of stages'}",
            )
            for step, cell in zip(common, held, strict=True)
        ]  # fmt: skip
        mean = shares[0] if len(shares) == 1 else mean_of(context, f"share of {stage}", shares, "fraction")
        seconds = held[0] if len(held) == 1 else mean_of(context, stage, held, "s")
        means.append(mean)
        items.append(context.say("stages.item", stage=key(stage), share=mean))
        rows.append([key(stage), context.doc.show(seconds, None, "seconds"), context.doc.show(mean)])
        context.metrics.append(stage)
        context.cite(context.card(stage))
    together = context.ledger.derived(
        "shares together", sum(map(number, means)), inputs=means, formula="sum of the shares", unit="fraction"
    )
    base = context.say("stages.of_step" if timed.whole else "stages.of_sum")
    where = (
        context.say("stages.at", step=common[0]) if len(common) == 1
        else context.say(
            "stages.mean", n=context.ledger.count("steps with a share", len(common)), first=common[0], last=common[-1]
        )
    )  # fmt: skip
    items_said = {"where": where, "base": base, "items": context.join(items)}
    apart = overlapping(context, stages, means)
    said = context.say("stages.apart", **items_said) if apart else context.say(
        "stages.each", together=together, **items_said
    )  # fmt: skip
    whole = [timed.totals[step] for step in common]
    average = whole[0] if len(whole) == 1 else mean_of(context, "whole steps", whole, "s")
    line = context.say(
        "stages.base" if timed.whole else "stages.base_sum", v=context.doc.show(average, None, "seconds")
    )
    context.doc.paragraph(f"**{said}**")
    context.doc.table([context.say(f"head.{name}") for name in ("stage", "time", "share")], rows)
    context.doc.paragraph(line)
    if apart:
        context.doc.paragraph(apart)
    context.settled = True
    context.query = replace(context.query, intent="bottleneck", op=None, asked_op=None)
    return Verdict("answered", unmark(said))


# -- if a stage took less ----------------------------------------------------------------------------------------------
def remaining(text: str) -> float | None:
    """What a stage's time is multiplied by: "twice as fast" 1/2, "30 % faster" 1/1.3, "30 % less" 0.7, "free" 0."""
    held = words("stages")
    if held["twice"].search(text) or held["by_half"].search(text):
        return 0.5
    if (match := held["times"].search(text)) is not None:
        word = match["zh"] or match["en"]
        speed = _NUMERALS.get(word) or float(word)
        return 1 / speed if speed > 1 else None
    if (match := held["faster_by"].search(text)) is not None:
        return 1 / (1 + float(match["zh"] or match["en"]) / 100)
    if (match := held["less_by"].search(text)) is not None:
        less = float(next(group for group in match.groups() if group)) / 100
        return 1 - less if less < 1 else None
    return 0.0 if held["free"].search(text) else None


def speedup(context: Context) -> Verdict | None:
    """What a step would take if one stage took a part of its time, the others as they are; ``None``: no such stage."""
    stages, timed = stages_in(context), totals(context)
    text = words_of(context)
    factor = remaining(_without_stages(text))
    if len(stages) != 1 or timed is None or factor is None or timed.whole in stages:
        return None
    stage = stages[0]
    steps = timed_steps(context, stage, timed)
    if not steps:
        return None
    held = [cell for step in steps if (cell := finite(context, stage, step)) is not None]
    spent = held[0] if len(held) == 1 else mean_of(context, stage, held, "s")
    whole = [timed.totals[step] for step in steps]
    total = whole[0] if len(whole) == 1 else mean_of(context, "whole steps", whole, "s")
    if number(spent) > number(total):
        return None  # it runs beside other stages
    left = context.ledger.constant("part of the stage's time that is left", factor, "the question", "fraction")
    saved = _derived(context, "saved", number(spent) * (1 - factor), [spent, left], "stage × (1 − part left)")
    after = _derived(context, "step then", number(total) - number(saved), [total, saved], "step − saved")
    part = _derived(context, "part saved", number(saved) / number(total), [saved, total], "saved / step")
    share = _derived(context, "share", number(spent) / number(total), [spent, total], "stage / step")
    floor = _derived(context, "step without it", number(total) - number(spent), [total, spent], "step − stage")
    show = context.doc.show
    shown = {
        name: show(fact, None, "seconds")
        for name, fact in (("spent", spent), ("total", total), ("saved", saved), ("after", after), ("floor", floor))
    }
    said = context.say(
        "stages.speedup_free" if not factor else "stages.speedup", stage=key(stage), part=part,
        left=mark(left.id, f"{plain(round(100 * factor, 1))}%"), **shown,
    )  # fmt: skip
    count = context.ledger.count("steps timed", len(steps))
    phrase = "stages.speedup_basis" if len(steps) > 1 else "stages.speedup_basis_one"
    lines = [context.say(phrase, n=count, first=steps[0], last=steps[-1], share=share, **shown)]
    if factor:
        lines.append(context.say("stages.speedup_floor", **shown))
    if timed.whole is None:
        lines.append(context.say("stages.speedup_sum"))
    lines.append(context.say("stages.speedup_if"))
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*lines)
    context.metrics.append(stage)
    context.query = replace(context.query, op=None, asked_op=None)
    return Verdict("answered", unmark(said), "medium")


def _without_stages(text: str) -> str:
    """A text without "free memory" and the like, of which "free" is no time that is saved."""
    return re.sub(r"(?i)free (?:memory|space)", " ", text)


def _derived(context: Context, name: str, value: float, inputs: list[Fact], formula: str) -> Fact:
    """A time in seconds, or, of what is named a part or a share, a fraction."""
    unit = "fraction" if name.startswith(("part", "share")) else "s"
    return context.ledger.derived(f"{name} of {inputs[0].id}", value, inputs=inputs, formula=formula, unit=unit)


# -- one stage against another -----------------------------------------------------------------------------------------
def stage_gap(context: Context) -> Verdict | None:
    """By how much one stage takes longer than another, on average; ``None`` unless two stages are named."""
    stages, timed = stages_in(context), totals(context)
    if len(stages) != 2 or timed is None or timed.whole in stages:
        return None
    steps = [step for step in timed_steps(context, stages[0], timed) if finite(context, stages[1], step)]
    if not steps:
        return None
    means = []
    for stage in stages:
        held = [cell for step in steps if (cell := finite(context, stage, step)) is not None]
        means.append(held[0] if len(held) == 1 else mean_of(context, stage, held, "s"))
    gap = _derived(context, "gap", abs(number(means[0]) - number(means[1])), means, "|first − second|")
    shown = {
        name: context.doc.show(fact, None, "seconds") for name, fact in (("a", means[0]), ("b", means[1]), ("d", gap))
    }
    count = context.ledger.count("steps timed", len(steps))
    where = (
        context.say("stages.at", step=steps[0]) if len(steps) == 1
        else context.say("stages.mean", n=count, first=steps[0], last=steps[-1])
    )  # fmt: skip
    if _WHICH.search(words_of(context)) and number(means[0]) != number(means[1]):
        longer = number(means[0]) > number(means[1])
        ordered = stages if longer else stages[::-1]
        if not longer:
            shown["a"], shown["b"] = shown["b"], shown["a"]
        said = context.say("stages.which", where=where, one=key(ordered[0]), other=key(ordered[1]), **shown)
        context.doc.paragraph(f"**{said}**")
        context.metrics.extend(stages)
        context.query = replace(context.query, op=None, asked_op=None)
        return Verdict("answered", unmark(said))
    way = "stages.longer" if number(means[0]) >= number(means[1]) else "stages.shorter"
    said = context.say(way, where=where, one=key(stages[0]), other=key(stages[1]), **shown)
    context.doc.paragraph(f"**{said}**")
    context.metrics.extend(stages)
    context.query = replace(context.query, op=None, asked_op=None)
    return Verdict("answered", unmark(said))
