"""The values around a step, and how often a metric is above and below zero."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.context import Context, key
from assistant.ask.lexicon import words
from assistant.ask.part import cell, part_of, remarks
from assistant.ask.scope import Scope
from assistant.ask.steps import NUMBER_WORDS
from assistant.ask.subject import subject_of, words_of
from assistant.model import StepSlot, Verdict
from assistant.write.document import unmark

_AROUND: Final = re.compile(
    r"(?i)前后各?\s*(?P<a>\d{1,2})|(?:前|后)面?各\s*(?P<b>\d{1,2})"
    r"|(?P<c>\d{1,2}|two|three|four|five|six|ten) steps? (?:before|either|around)|surrounding (?P<d>\d{1,2})"
)
_SPIKE: Final = re.compile(
    r"(?i)尖峰|毛刺|突刺|飙升|暴涨|爆(?:炸|了|掉)?|\bspik\w*|\bblow\w* ?up|\bblew up|\bexplo\w+|\bjump\w*"
)
_CRASH: Final = re.compile(r"(?i)崩|暴跌|塌|骤降|\bcrash\w*|\bcollaps\w*|\bplung\w*")
MOST: Final = 20


def around(context: Context) -> Verdict | None:
    """The values of one metric at so many logged steps before and after the step or the extreme that is named."""
    found = subject_of(context, least=3)
    text = words_of(context)  # "第 30 步前后" is no part of the run
    match = None if found is None else _AROUND.search(text)
    if found is None or match is None:
        return None
    whole = part_of(context, found.metric, Scope())
    held = words("sides")
    slot = context.query.steps
    said = next(group for group in match.groups() if group).lower()
    width = min(NUMBER_WORDS.get(said) or int(said), MOST)
    rest = text[: match.start()] + "，" + text[match.end() :]
    step = held["step"].search(rest)
    if held["max"].search(rest) or held["min"].search(rest):
        pick = max if held["max"].search(rest) else min
        place = whole.values.index(pick(whole.values))
    elif step is not None and int(step["a"] or step["b"]) in whole.steps:
        place = whole.steps.index(int(step["a"] or step["b"]))
    elif slot.kind == "single" and slot.values[0] in whole.steps:
        place = whole.steps.index(slot.values[0])
    elif _SPIKE.search(rest):
        place = whole.values.index(max(whole.values))
    elif _CRASH.search(rest):
        place = min(range(1, len(whole)), key=lambda at: whole.values[at] - whole.values[at - 1])
    else:
        return None
    first, last = max(0, place - width), min(len(whole) - 1, place + width)
    count = context.ledger.count("values around the step", last - first + 1, metric=found.metric)
    said = context.say(
        "around.values", metric=found.metric, v=cell(context, whole, place), n=count,
        first=whole.steps[first], last=whole.steps[last],
    )  # fmt: skip
    context.doc.paragraph(f"**{said}**")
    rows = [
        [context.doc.step(whole.steps[at]), context.doc.show(cell(context, whole, at))] for at in range(first, last + 1)
    ]
    context.doc.table(["step", key(found.metric)], rows)
    context.doc.paragraph(*remarks(context, whole))
    context.metrics.append(found.metric)
    context.query = replace(
        context.query, op=None, asked_op=None, steps=StepSlot("range", (whole.steps[first], whole.steps[last]))
    )
    return Verdict("answered", unmark(said))


def signs(context: Context) -> Verdict | None:
    """At how many steps a metric is above, below and at zero."""
    found = subject_of(context, least=2)
    if found is None:
        return None
    values, metric = found.part.values, found.metric
    counts = {
        name: context.ledger.count(f"values {name} zero", sum(map(test, values)), metric=metric)
        for name, test in (
            ("above", lambda v: v > 0), ("below", lambda v: v < 0), ("at", lambda v: v == 0),
        )
    }  # fmt: skip
    above, below = (int(counts[name].value or 0) for name in ("above", "below"))
    phrase = "signs.equal" if above == below else "signs.more" if above > below else "signs.fewer"
    said = context.say(
        phrase, metric=metric, up=counts["above"], down=counts["below"], zero=counts["at"], over=found.part.over
    )
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*remarks(context, found.part))
    context.metrics.append(metric)
    context.chart(context.title(metric), [metric])
    context.query = replace(context.query, op="count", asked_op="count")
    return Verdict("answered", unmark(said))


def rank_of(context: Context) -> Verdict | None:
    """Where a step's value stands among all values of its metric, the largest first."""
    found, slot = subject_of(context, least=3), context.query.steps
    if found is None or slot.kind not in {"single", "last", "first"}:
        return None
    whole = part_of(context, found.metric, Scope())
    step = slot.values[0] if slot.kind == "single" else whole.steps[-1 if slot.kind == "last" else 0]
    if step not in whole.steps:
        return None  # the look-up says why there is none
    value = whole.values[whole.steps.index(step)]
    place = context.ledger.count("values above it, and itself", sum(v > value for v in whole.values) + 1, step=step)
    same = sum(v == value for v in whole.values)
    said = context.say(
        "rank.of", metric=found.metric, v=cell(context, whole, whole.steps.index(step)), place=place, over=whole.over
    )
    context.doc.paragraph(f"**{said}**")
    lines = [context.say("rank.tied", n=context.ledger.count("equal values", same, step=step))] if same > 1 else []
    context.doc.paragraph(*lines, *remarks(context, whole))
    context.metrics.append(found.metric)
    context.query = replace(context.query, op=None, asked_op=None)
    return Verdict("answered", unmark(said))
