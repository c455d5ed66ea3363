"""Carries a plan out and tells it: the values asked for first, then how they stand to each other."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import median, stdev
from typing import Any, Final

import numpy as np

from assistant.analysis.compare_averaged import difference
from assistant.ask.context import Context
from assistant.ask.part import Part, limit_text, part_of, remarks, shown, statistic
from assistant.ask.parts import number
from assistant.ask.plan.build import Limit, Output, Plan
from assistant.ask.query import Told
from assistant.ask.scope import Scope
from assistant.model import Fact, StepSlot, Verdict
from assistant.write.document import mark, unmark
from assistant.write.numbers import signed

Told_ = tuple[Output, Fact, Part | None]
#: Fewest values of a part from which noise is told.
LEAST: Final = 4
#: So many steps at most are named one by one.
MOST_LISTED: Final = 40
_OP: Final = {"max": "max", "min": "min", "mean": "mean"}


def told(context: Context, plan: Plan) -> Verdict | None:
    """The verdict; ``None`` (nothing written) where a value asked for is not there."""
    if plan.limits:
        return _steps_told(context, plan)
    found: list[Told_] = []
    for output in plan.outputs:
        made = _value(context, output)
        if made is None:
            return None
        found.append((output, *made))
    metrics = list(dict.fromkeys(one.metric for one, _, _ in found))
    alone = len(metrics) == 1
    items = ("，" if context.language == "zh" else "; ").join(_item(context, *one, named=not alone) for one in found)
    where = any(one.limits for one, _, _ in found)
    plain = alone and not where
    lead = context.say("plan.all_of", metric=metrics[0], items=items) if plain else context.say("plan.all", items=items)
    noise, beyond = _noise(context, found) if len(found) == 2 and _against(plan) else ("", True)
    pieces = [
        _moved(context, plan, found) if beyond else noise if plan.moved else "",
        noise if plan.noise and (beyond or not plan.moved) else "",
        _largest(context, plan, found),
        lead,
        _compared(context, plan, found),
    ]
    pieces = [one for one in pieces if one]
    said = ("" if context.language == "zh" else " ").join(pieces)
    context.doc.paragraph(f"**{said}**")
    lines = []
    if plan.event is not None:
        at, limit = plan.event
        value = context.value(limit.metric, at)
        if value is not None:
            text = limit_text(context, limit.condition, limit.metric)
            lines.append(
                context.say(
                    "plan.event_at" if plan.first_met else "plan.event", metric=limit.metric, limit=text, v=value
                )
            )
    whole = [part for one, _, part in found if one.whole and part is not None]
    if whole and alone:
        count = context.ledger.count("values in that part", len(whole[0]), metric=whole[0].metric)
        lines.append(context.say("plan.over", first=whole[0].steps[0], last=whole[0].steps[-1], n=count))
    lines.append("" if plan.noise or (plan.moved and not beyond) else noise)
    context.doc.paragraph(*[line for line in lines if line])
    rest = [line for _, _, part in found if part is not None for line in remarks(context, part)]
    context.doc.paragraph(*dict.fromkeys(rest))
    _settle(context, metrics, plan.outputs, met=plan.first_met)
    return Verdict("answered", unmark(said))


def _against(plan: Plan) -> bool:
    """Whether the values are set against each other."""
    return plan.difference or plan.ratio or plan.factor or bool(plan.which or plan.moved) or plan.event is not None


def _value(context: Context, output: Output) -> tuple[Fact, Part | None] | None:
    if output.point:
        fact = context.value(output.metric, output.first)
        return None if fact is None or not math.isfinite(number(fact)) else (fact, None)
    part = part_of(context, output.metric, Scope(output.first, output.last))
    if output.among:
        kept = [(s, v) for s, v in zip(part.steps, part.values, strict=True) if s in output.among]
        part = replace(part, steps=tuple(s for s, _ in kept), values=tuple(v for _, v in kept), lost=(), odd=0)
    least = 2 if output.stat == "std" else 1
    if len(part) < least:
        return None
    values = part.values
    if output.stat in {"max", "min"}:
        best = max(values) if output.stat == "max" else min(values)
        fact = context.value(output.metric, part.steps[values.index(best)])
        return None if fact is None else (fact, part)
    if output.stat.startswith("p"):
        share = int(output.stat[1:])
        value = _percentile(values, share)
        return statistic(context, part, output.stat, value, f"{share}th percentile (linear)"), part
    value, formula = _computed(values, output.stat)
    return statistic(context, part, output.stat, value, formula), part


def _computed(values: Sequence[float], stat: str) -> tuple[float, str]:
    """A statistic and how it is told in a fact's formula."""
    if stat == "mean":
        return math.fsum(values) / len(values), "mean"
    if stat == "median":
        return median(values), "median"
    if stat == "std":
        return stdev(values), "sample standard deviation (n − 1)"
    return math.fsum(values), "sum"


def _percentile(values: Sequence[float], share: int) -> float:
    """Linear between the two nearest ranks."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share / 100
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _stat_name(context: Context, stat: str) -> str:
    if re.fullmatch(r"p\d+", stat):
        return context.say("plan.stat_percentile", p=context.ledger.constant(stat, int(stat[1:]), "the question"))
    return context.say(f"plan.stat_{stat}")


#: The sentence of one value: of a step, a part, some steps or the run, with the step of an extreme; each with the
#: metric named or not.
_SENTENCES: Final = {
    "point": ("plan.point", "plan.point_of"), "part": ("plan.part", "plan.part_of"),
    "part_at": ("plan.part_at", "plan.part_at_of"), "among": ("plan.among", "plan.among_of"),
    "whole": ("plan.whole", "plan.whole_of"), "whole_at": ("plan.whole_at", "plan.whole_at_of"),
}  # fmt: skip


def _item(context: Context, output: Output, fact: Fact, part: Part | None, *, named: bool) -> str:
    values: dict[str, Any] = {"metric": output.metric} if named else {}

    def said(name: str, **more: Any) -> str:
        return context.say(_SENTENCES[name][named], **values, **more)

    if part is None:
        return said("point", v=fact)
    values |= {"v": shown(context, fact, output.metric), "stat": _stat_name(context, output.stat)}
    ends = {"first": part.steps[0], "last": part.steps[-1]}
    if output.limits:
        limits = [
            context.say("plan.limit", metric=one.metric, limit=limit_text(context, one.condition, one.metric))
            for one in output.limits
        ]
        number_of = context.ledger.count("steps that meet it", len(part))
        joined = context.join(limits)
        return context.say("plan.where", **values | {"metric": output.metric}, n=number_of, limits=joined)
    if output.among:
        return said("among", steps=context.doc.show(list(part.steps)))
    extreme = output.stat in {"max", "min"}
    if extreme and sum(value == fact.value for value in part.values) == 1 and fact.step is not None:
        return said("whole_at", step=fact.step) if output.whole else said("part_at", step=fact.step, **ends)
    if output.whole:
        return said("whole")
    count = context.ledger.count(
        "values in that part", len(part), metric=output.metric, first_step=part.steps[0], last_step=part.steps[-1]
    )
    return said("part", n=count, **ends)


def _largest(context: Context, plan: Plan, found: Sequence[Told_]) -> str:
    """Which of the values is the largest or smallest; empty where that is not asked, or they have unlike units."""
    if not plan.which or len({context.kind_of(one.metric) for one, _, _ in found}) > 1:
        return ""
    best = (max if plan.which == "max" else min)(number(fact) for _, fact, _ in found)
    where = [one for one in found if number(one[1]) == best]
    if len(where) == 1 and len(found) > 2:
        what = _what(context, *where[0], several=len({one.metric for one, _, _ in found}) > 1)
        return context.say("plan.highest" if plan.which == "max" else "plan.lowest", what=what)
    if len(where) > 1:
        return context.say(f"plan.none_{plan.which}")
    several = len({one.metric for one, _, _ in found}) > 1
    return context.say(f"plan.most_{plan.which}", what=_what(context, *where[0], several=several))


def _compared(context: Context, plan: Plan, found: Sequence[Told_]) -> str:
    """The difference and the ratio of two values, as sentences; empty where none is asked for."""
    said = []
    one, other = found[0][0], found[-1][0]
    if len(found) != 2 or context.kind_of(one.metric) != context.kind_of(other.metric):
        return ""
    if plan.difference or (plan.which and len(found) == 2):
        said.append(_difference(context, found))
    if plan.percent:
        said.append(_percent(context, found))
    if plan.ratio or plan.factor:
        said.append(_ratio(context, found, back=plan.factor))
    return ("" if context.language == "zh" else " ").join(said)


def _moved(context: Context, plan: Plan, found: Sequence[Told_]) -> str:
    """Whether the second is higher, or lower, than the first, as asked."""
    if not plan.moved or len(found) != 2:
        return ""
    a, b = number(found[0][1]), number(found[1][1])
    return context.say("plan.yes" if (b > a if plan.moved == "up" else b < a) else "plan.no")


def _percent(context: Context, found: Sequence[Told_]) -> str:
    (_, a, _), (_, b, _) = found
    if number(a) == 0:
        return ""
    fact = context.ledger.derived(
        "relative difference of the two", (number(b) - number(a)) / abs(number(a)), inputs=[a, b], unit="fraction",
        formula="(second − first) ÷ |first|",
    )  # fmt: skip
    return context.say("plan.percent", p=mark(fact.id, f"{100 * float(fact.value or 0):+.3g}%"))


def _noise(context: Context, found: Sequence[Told_]) -> tuple[str, bool]:
    """Whether the difference of two means of one metric is beyond the scatter of its values, told and as a fact; empty
    (and true) where unknown."""
    (one, a, first), (other, b, second) = found[0], found[-1]
    if first is None or second is None or {one.stat, other.stat} != {"mean"} or one.metric != other.metric:
        return "", True
    whole = part_of(context, one.metric, Scope())
    places = {step: place for place, step in enumerate(whole.steps)}
    spans = [(places[part.steps[0]], places[part.steps[-1]] + 1) for part in (first, second)]
    if min(len(first), len(second)) < LEAST or not (spans[0][1] <= spans[1][0] or spans[1][1] <= spans[0][0]):
        return "", True
    values = np.array(whole.values)
    made = difference((values, values), (spans[0], spans[1]), same=True)
    if made is None:
        return "", True
    half = made.half_width()
    fact = context.ledger.derived(
        f"half-width of {a.name} − {b.name}", half, inputs=[a, b],
        formula="95 % interval of the difference of two means, from the scatter of both parts",
    )  # fmt: skip
    kind = context.kind_of(one.metric)
    text = mark(fact.id, signed(half, kind, language=context.language).lstrip("+"))
    level = context.ledger.constant("confidence of an interval", 0.95, "the method", "fraction")
    beyond = abs(number(a) - number(b)) > half
    return context.say("portion.beyond" if beyond else "portion.within", d=text, level=mark(level.id, "95%")), beyond


def _what(context: Context, output: Output, fact: Fact, part: Part | None, *, several: bool) -> str:
    text = shown(context, fact, output.metric)
    if several:
        return context.say("plan.what_metric", metric=output.metric, v=text)
    if part is None:
        return context.say("plan.what_point", v=fact)
    return context.say("plan.what_part", first=part.steps[0], last=part.steps[-1], v=text)


def _difference(context: Context, found: Sequence[Told_]) -> str:
    (one, a, _), (_, b, _) = found
    delta = number(b) - number(a)
    if delta == 0:
        return context.say("plan.same")
    fact = context.ledger.derived("difference of the two", abs(delta), inputs=[a, b], formula="|second − first|")
    text = mark(fact.id, signed(abs(delta), context.kind_of(one.metric), language=context.language).lstrip("+"))
    return context.say("plan.higher" if delta > 0 else "plan.lower", d=text)


def _ratio(context: Context, found: Sequence[Told_], *, back: bool) -> str:
    (_, a, _), (_, b, _) = found
    if number(a) <= 0 or number(b) <= 0:
        return context.say("plan.no_ratio")
    top, below = (b, a) if back else (a, b)
    formula = "second ÷ first" if back else "first ÷ second"
    fact = context.ledger.derived("ratio of the two", number(top) / number(below), inputs=[a, b], formula=formula)
    return context.say("plan.times_back" if back else "plan.times", r=fact)


# -- steps that meet limits --------------------------------------------------------------------------------------------
def _steps_told(context: Context, plan: Plan) -> Verdict | None:
    assert plan.steps is not None
    groups = [[limit] for limit in plan.limits] if plan.apart else [list(plan.limits)]
    gap = "" if context.language == "zh" else " "
    said, counts, lines = [], [], []
    for group in groups:
        made = _met(context, group, plan.steps)
        if made is None:
            return None
        sentence, met, count = made
        said.append(sentence)
        counts.append(count)
        if 0 < len(met) <= MOST_LISTED and (plan.listed or len(met) <= 8):
            lines.append(context.say("plan.met_steps", steps=context.doc.show(met)))
        elif met:
            lines.append(context.say("plan.met_first", first=met[0], last=met[-1]))
    if len(counts) == 2:
        apart = int(number(counts[0])) - int(number(counts[1]))
        fact = context.ledger.count("more steps", abs(apart))
        name = "plan.more_often" if apart > 0 else "plan.less_often" if apart < 0 else "plan.as_often"
        said.append(context.say(name, d=fact) if apart else context.say(name))
    for output in plan.outputs:
        value = _value(context, output)
        if value is not None:
            item = _item(context, output, *value, named=True)
            said.append(context.say("plan.all", items=item))
    lead = gap.join(said)
    context.doc.paragraph(f"**{lead}**")
    context.doc.paragraph(*lines, context.say("plan.met_over", first=plan.steps[0], last=plan.steps[1]))
    metrics = list(dict.fromkeys(limit.metric for limit in plan.limits))
    _settle(context, metrics, plan.outputs)
    context.query = replace(context.query, op="count", asked_op="count")
    return Verdict("answered", unmark(lead))


def _met(context: Context, limits: Sequence[Limit], ends: tuple[int, int]) -> tuple[str, list[int], Fact] | None:
    """How many steps meet all of some limits, of those at which every metric has a finite value."""
    held: dict[int, list[float]] | None = None
    for limit in limits:
        part = part_of(context, limit.metric, Scope(*ends))
        here = dict(zip(part.steps, part.values, strict=True))
        held = (
            {s: [v] for s, v in here.items()} if held is None else {s: [*held[s], here[s]] for s in held if s in here}
        )
    if not held:
        return None
    met = sorted(
        s for s, values in held.items()
        if all(limit.condition.holds(v) for limit, v in zip(limits, values, strict=True))
    )  # fmt: skip
    texts = [
        context.say("plan.limit", metric=one.metric, limit=limit_text(context, one.condition, one.metric))
        for one in limits
    ]
    joined = context.join(texts)
    whole = context.ledger.count("steps with a value", len(held), metric=limits[0].metric)
    name = "steps that meet it: " + ", ".join(
        f"{one.metric} {one.condition.kind} {one.condition.low:g}" for one in limits
    )
    count = context.ledger.count(name, len(met))
    if not met:
        return context.say("plan.met_none", n=whole, limits=joined), met, count
    share = context.ledger.derived(
        f"share of {name}", len(met) / len(held), inputs=[count, whole], unit="fraction",
        formula="steps that meet it ÷ steps with a value",
    )  # fmt: skip
    said = context.say("plan.met", limits=joined, k=count, n=whole, share=share)
    return said, met, count


def _settle(context: Context, metrics: Sequence[str], outputs: Sequence[Output], *, met: bool = False) -> None:
    """What the answer was about, for its slots and for follow-ups; ``met``: of the step where a limit is first met."""
    context.metrics.extend(metrics)
    context.settled = True
    context.chart(context.title(metrics[0]), list(metrics[:2]))
    ops = {_OP.get(one.stat) for one in outputs if not one.point}
    op = next(iter(ops)) if len(ops) == 1 else None
    if op in {"max", "min"} and any(one.point for one in outputs):
        op = f"arg{op}"
    points = sorted({one.first for one in outputs if one.point})
    slot = context.query.steps
    if met:
        op = "first_crossing"
    elif len(points) == 1:
        slot = StepSlot("single", (points[0],))
    elif len(points) == 2:
        slot = StepSlot("pair", tuple(points))
    context.query = replace(context.query, intent="lookup", op=op, asked_op=op, steps=slot, topics=())  # type: ignore[arg-type]
    context.cells = tuple(
        Told(one.metric, None, None) if one.whole else Told(one.metric, one.first, one.last, one.stat)
        for one in outputs
        if not one.limits
    )
