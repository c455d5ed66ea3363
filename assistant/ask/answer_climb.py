"""How many steps a metric took from one level to another, and at how many steps its gradient was clipped."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from assistant.ask.context import Context
from assistant.ask.part import Part, cell, part_of, remarks, share_shown
from assistant.ask.scope import scope_in
from assistant.ask.subject import subject_of, words_of
from assistant.model import Fact, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import format_number

_LEVELS: Final = re.compile(
    r"(?i)(?:从|由|\bfrom)\s*(?P<a>-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)\s*(?P<pa>%|percent)?"
    r"[^\d,。?]{0,14}?(?:到|至|成|为|\bto\b|->|→)\s*(?P<b>-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)\s*(?P<pb>%|percent)?"
)
_LIMIT: Final = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?![\w.%])")
_SHARE: Final = 1.5
"""A metric whose values are all below this may be given in per cent."""
#: What trainers clip to where nothing else is set (verl ``actor.grad_clip``, TRL and HF ``max_grad_norm``).
USUAL: Final = 1.0


@dataclass(frozen=True, slots=True)
class _Level:
    """A value that a question names, and the first place at which a metric is on its far side."""

    fact: Fact
    text: str
    place: int | None


def _level(context: Context, part: Part, value: float, style: str, *, up: bool, since: int = 0) -> _Level:
    fact = context.ledger.constant(f"level {value:g}", value, "the question")
    text = mark(fact.id, format_number(value, style, language=context.language))
    far = (p for p in range(since, len(part)) if (part.values[p] >= value if up else part.values[p] <= value))
    return _Level(fact, text, next(far, None))


def climbed(context: Context) -> Verdict | None:
    """How many steps lie between the first time at one level and the first time at another.

    Returns:
        The verdict; ``None`` where no two levels are named, or no one metric.
    """
    found = subject_of(context, least=3, several=True)
    match = None if found is None else _LEVELS.search(words_of(context))
    if found is None or match is None:
        return None
    part = found.part
    a, b = (float(match[name].replace(",", "")) for name in ("a", "b"))
    if (match["pa"] or match["pb"]) and max(map(abs, part.values)) <= _SHARE:
        a, b = a / 100, b / 100
    if a == b:
        return None
    up = b > a
    kind = context.kind_of(part.metric)
    style = kind if kind in {"fraction", "seconds"} else "number"
    begin = _level(context, part, a, style, up=up)
    end = _level(context, part, b, style, up=up, since=begin.place or 0)
    values = {"metric": part.metric, "a": begin.text, "b": end.text, "over": part.over}
    way = "up" if up else "down"
    if begin.place is None or end.place is None:
        missed = begin if begin.place is None else end
        far = part.values.index((max if up else min)(part.values))
        said = context.say(f"climb.never_{way}", level=missed.text, v=cell(context, part, far), **values)
        if begin.place is not None:
            said += ("" if context.language == "zh" else " ") + context.say(
                f"climb.at_{way}", level=begin.text, v=cell(context, part, begin.place)
            )
    else:
        v, w = cell(context, part, begin.place), cell(context, part, end.place)
        count = context.ledger.derived(
            f"steps from {a:g} to {b:g} of {part.metric}", (w.step or 0) - (v.step or 0), inputs=[v, w],
            formula="step of the second − step of the first", unit="count",
        )  # fmt: skip
        name = "climb.from_start" if begin.place == 0 else f"climb.took_{way}"
        said = context.say(name, n=count, v=v, w=w, **values)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(_back(context, part, end.place, b, up=up), *remarks(context, part))
    context.metrics.append(part.metric)
    context.chart(context.title(part.metric), [part.metric])
    context.query = replace(context.query, op="first_crossing", asked_op="first_crossing", topics=())
    return Verdict("answered", unmark(said))


def _back(context: Context, part: Part, place: int | None, level: float, *, up: bool) -> str:
    """That the metric has gone back behind the second level since; empty where it has not."""
    if place is None or place == len(part) - 1:
        return ""
    last = part.values[-1]
    return context.say("climb.back", v=cell(context, part, len(part) - 1)) if (last < level) == up else ""


def clipped(context: Context) -> Verdict | None:
    """At how many steps the gradient norm lay above the limit to which it is clipped.

    Returns:
        The verdict; ``None`` where the log holds no gradient norm.
    """
    keys = [m for m in context.run.metrics if re.search(r"(?i)(?:^|[/_])grad(?:ient)?[_ ]?norm", m)]
    named = {m.key for m in context.query.mentions}
    if not keys:
        return None
    critic = re.search(r"(?i)critic|价值|\bvalue (?:net|model|function)", context.query.said) is not None
    keys.sort(key=lambda m: (("critic" in m.lower()) != critic, m not in named))
    metric = keys[0]
    text = words_of(context)
    part = part_of(context, metric, scope_in(text, context.train_steps))
    if not len(part):
        return None
    number = _LIMIT.search(text)
    limit = float(number[1]) if number else USUAL
    fact = context.ledger.constant(f"limit {limit:g}", limit, "the question" if number else "the usual setting")
    over = [p for p, value in enumerate(part.values) if value > limit]
    values = {
        "metric": metric, "over": part.over, "limit": mark(fact.id, format_number(limit, "number")),
        "k": context.ledger.count("steps above the limit", len(over), metric=metric),
    }  # fmt: skip
    if over:
        inputs = [cell(context, part, p) for p in over[:1]]
        share = share_shown(context, f"share of steps above {limit:g}/{metric}", len(over), len(part), inputs)
        high = cell(context, part, part.values.index(max(part.values)))
        said = context.say("clipped.some", share=share, v=high, **values)
    else:
        said = context.say("clipped.none", v=cell(context, part, part.values.index(max(part.values))), **values)
    context.doc.paragraph(f"**{said}**")
    lines = [context.say("clipped.before"), *remarks(context, part)]
    context.doc.paragraph(*([] if number else [context.say("clipped.usual", limit=values["limit"])]), *lines)
    context.metrics.append(metric)
    context.cite(context.card(metric))
    context.chart(context.title(metric), [metric])
    context.query = replace(context.query, op="count", asked_op="count", topics=(), threshold=("above", limit))
    return Verdict("answered", unmark(said))
