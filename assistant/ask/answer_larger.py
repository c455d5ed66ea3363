"""Which of two metrics is the larger: at a step, on average over a part of the run, at any step or at every one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from assistant.ask.blanking import blanked
from assistant.ask.context import Context
from assistant.ask.lexicon import words
from assistant.ask.naming import central, named_keys
from assistant.ask.part import Part, cell, part_of, remarks, shown, statistic
from assistant.ask.parts import number
from assistant.ask.scope import scope_in
from assistant.ask.subject import words_of
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

#: Kinds of numbers without a unit, which can be set against each other.
_PLAIN: Final = {"number", "fraction", "integer", "reward", "nats"}
#: Values nearer to each other than this share of the larger are the same.
_SAME: Final = 1e-9


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two metrics in the order of the question, at the steps that hold both.

    Attributes:
        a: the values of the first, over those steps.
        b: those of the second.
        low: whether it is asked which is the smaller.
        claim: whether it is asked if the first is so, rather than which one.
    """

    a: Part
    b: Part
    low: bool
    claim: bool

    def first_is(self, place: int) -> bool:
        """Whether, at a place, the first is as it is asked of."""
        x, y = self.a.values[place], self.b.values[place]
        return not math.isclose(x, y, rel_tol=_SAME) and (x < y) == self.low


def larger(context: Context) -> Verdict | None:
    """Which of two metrics is larger, or whether the first is; ``None`` where no two comparable ones are named."""
    found = _pair(context)
    if found is None:
        return None
    text = words_of(context)
    slot = context.query.steps
    held = words("larger")
    if slot.kind in {"single", "last", "first"}:
        said = _at(context, found)
    elif found.claim and held["every"].search(text):
        said = _every(context, found)
    elif found.claim and held["any"].search(text):
        said = _any(context, found)
    else:
        said = _mean(context, found)
    context.doc.paragraph(f"**{said}**")
    context.doc.paragraph(*dict.fromkeys([*remarks(context, found.a), *remarks(context, found.b)]))
    context.metrics.extend([found.a.metric, found.b.metric])
    for metric in (found.a.metric, found.b.metric):
        context.doc.paragraph(context.gloss(metric))
    context.chart(context.title(found.a.metric), [found.a.metric, found.b.metric])
    context.query = replace(context.query, op=None, asked_op=None, threshold=None)
    return Verdict("answered", unmark(said))


def _pair(context: Context) -> _Pair | None:
    """The two metrics, cut to the steps meant that hold both."""
    query, run = context.query, context.run
    keys = central(named_keys(context))
    first_said = {m.key: m.start for m in reversed(query.mentions) if m.key is not None}
    named = [key for key in keys if key in run.columns]
    if len(named) != 2 or len(keys) != 2 or len({first_said.get(key, -1) for key in named}) != 2:
        return None
    kinds = {context.kind_of(key) for key in named}
    if len(kinds) > 1 and not kinds <= _PLAIN:
        return None
    named.sort(key=lambda key: first_said.get(key, -1))
    text = words_of(context)
    scope = scope_in(text, context.train_steps)
    parts = [part_of(context, key, scope) for key in named]
    steps = sorted(set(parts[0].steps) & set(parts[1].steps))
    slot = query.steps
    if slot.kind == "single":
        steps = [step for step in steps if step in slot.values]
    elif slot.kind in {"first", "last"} and steps:
        steps = [steps[0 if slot.kind == "first" else -1]]
    if not steps or (slot.kind == "pair" and scope.whole):
        return None
    a, b = (
        replace(part, steps=tuple(steps), values=tuple(float(run.value(part.metric, step) or 0) for step in steps))
        for part in parts
    )
    held, rest = words("larger"), blanked(text, scope.spans)
    return _Pair(a, b, held["low"].search(rest) is not None, held["which"].search(rest) is None)


def _at(context: Context, found: _Pair) -> str:
    """At one step."""
    a, b = cell(context, found.a, 0), cell(context, found.b, 0)
    if math.isclose(number(a), number(b), rel_tol=_SAME):
        return context.say("larger.at_same", metric=found.a.metric, other=found.b.metric, v=a)
    top, rest = (a, b) if number(a) > number(b) else (b, a)
    gap = context.ledger.derived(
        f"{top.metric} minus {rest.metric}", number(top) - number(rest), inputs=[top, rest], step=top.step,
        formula=f"{top.metric} − {rest.metric}",
    )  # fmt: skip
    if found.claim:
        one, two, way = a, b, "high" if top is a else "low"
    else:
        one, two, way = (rest, top, "low") if found.low else (top, rest, "high")
    said = context.say(
        f"larger.at_{way}", metric=str(one.metric), other=str(two.metric), v=one, w=two,
        gap=shown(context, gap, found.a.metric),
    )  # fmt: skip
    return _yes_no(context, found, found.first_is(0)) + said


def _mean(context: Context, found: _Pair) -> str:
    """On average, and at how many steps."""
    parts = (found.a, found.b)
    means = [statistic(context, part, "mean", math.fsum(part.values) / len(part), "mean") for part in parts]
    a_tops = number(means[0]) > number(means[1])
    count = _count(context, "values of both", len(found.a), found)
    if math.isclose(number(means[0]), number(means[1]), rel_tol=_SAME):
        mean = shown(context, means[0], found.a.metric)
        return context.say("larger.mean_same", metric=found.a.metric, other=found.b.metric, v=mean, n=count)
    a_first = found.claim or a_tops != found.low
    order = (0, 1) if a_first else (1, 0)
    way = "high" if a_tops == a_first else "low"
    one, two = parts[order[0]], parts[order[1]]
    so = sum(x > y if way == "high" else x < y for x, y in zip(one.values, two.values, strict=True))
    said = context.say(
        f"larger.mean_{way}", metric=one.metric, other=two.metric, v=shown(context, means[order[0]], one.metric),
        w=shown(context, means[order[1]], two.metric), k=_count(context, f"steps {way}", so, found), n=count,
        first=found.a.steps[0], last=found.a.steps[-1],
    )  # fmt: skip
    return _yes_no(context, found, a_tops != found.low) + said


def _any(context: Context, found: _Pair) -> str:
    """Whether the first is so at any step."""
    places = [place for place in range(len(found.a)) if found.first_is(place)]
    way = "low" if found.low else "high"
    values = {
        "metric": found.a.metric, "other": found.b.metric, "n": _count(context, "values of both", len(found.a), found),
        "k": _count(context, f"steps {way}", len(places), found),
    }  # fmt: skip
    if not places:
        return context.say(f"larger.any_none_{way}", **values)
    v, w = cell(context, found.a, places[0]), cell(context, found.b, places[0])
    return context.say(f"larger.any_{way}", v=v, w=w, **values)


def _every(context: Context, found: _Pair) -> str:
    """Whether the first is so at every step."""
    others = [place for place in range(len(found.a)) if not found.first_is(place)]
    way = "low" if found.low else "high"
    values = {
        "metric": found.a.metric, "other": found.b.metric, "n": _count(context, "values of both", len(found.a), found),
    }  # fmt: skip
    if not others:
        return context.say(f"larger.every_{way}", **values)
    v, w = cell(context, found.a, others[0]), cell(context, found.b, others[0])
    count = _count(context, f"steps not {way}", len(others), found)
    return context.say(f"larger.every_not_{way}", v=v, w=w, k=count, **values)


def _yes_no(context: Context, found: _Pair, so: bool) -> str:
    blank = "" if context.language == "zh" else " "
    return context.say("larger.yes" if so else "larger.no") + blank if found.claim else ""


def _count(context: Context, what: str, size: int, found: _Pair) -> Fact:
    return context.ledger.count(f"{what} of {found.a.metric} and {found.b.metric}", size, metric=found.a.metric)
