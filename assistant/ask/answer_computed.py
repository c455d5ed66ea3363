"""Answers to computations over a part of a run: statistics, conditions, ranks, missing values, whether it changed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

from assistant.ask import outcomes
from assistant.ask.answer_overall import everywhere
from assistant.ask.computed import Request, asked, words
from assistant.ask.conditions import Condition
from assistant.ask.context import Context, is_validation
from assistant.ask.held_since import since_then
from assistant.ask.naming import central, named_keys, steps_text, variant
from assistant.ask.part import Part, cell, limit_text, part_of, remarks, share_shown, shown, slot_of, statistic
from assistant.ask.ranges import listed
from assistant.model import Verdict
from assistant.write.document import unmark

#: Metrics told of at most.
MOST = 8
#: Steps that meet a condition named one by one at most.
MOST_STEPS = 40
#: A running total has at least so many values.
LEAST_RUNNING = 5

Telling = Callable[[Context, Request, Part], list[str]]


def attempt(context: Context) -> Verdict | None:
    """Answers a question that asks for a computation; ``None`` (nothing written) where it asks for none.

    What is understood of it (operation, steps) replaces what the older patterns understood.
    """
    if len(context.runs) != 1 or any(m.key is None and m.card is None for m in context.query.mentions):
        return None
    if context.query.intent == "define" and _OF_WHAT.search(context.query.said):
        return None
    named = named_keys(context)
    keys = central(named)
    request = asked(context.query, keys, context.train_steps)
    if request is None:
        _values_first(context, keys)
        return None
    if request.op in {"max", "min", "argmax", "argmin"} and request.kind not in {"at_extreme", "window"}:
        keys = variant(context, named, request.op)
    from assistant.ask import answer_course, answer_two

    context.settled = True
    of_step = request.kind == "difference" and context.query.steps.kind in {"single", "last", "first"}
    context.query = replace(
        context.query, intent="trend" if request.kind == "changed" else "lookup", op=request.op, asked_op=request.op,
        steps=context.query.steps if of_step else slot_of(context, request.scope), topics=(),
        threshold=_side(context, request.limit, keys) if request.kind in {"first", "count"} else None,
    )  # fmt: skip
    if request.kind in {"correlation", "difference", "at_extreme"}:
        return answer_two.two(context, request, list(request.keys or keys))
    tell = {**_TELLING, "streak": answer_course.streak, "window": answer_course.window}[request.kind]
    return _told(context, request, keys, tell)


def _side(context: Context, limit: Condition | None, keys: list[str]) -> tuple[str, float] | None:
    """A condition as a side of a number, as a follow-up knows it ("and 0.6?"); ``None`` for another."""
    if limit is None or limit.percent or not keys:
        return None
    values = context.run.series(keys[0])[1]
    kind = as_reached(context, limit, keys[0], float(values[0])).kind if values else limit.kind
    side = {"above": "above", "at_least": "above", "below": "below", "at_most": "below"}.get(kind)
    return None if side is None else (side, limit.low)


def as_reached(context: Context, limit: Condition, metric: str, first: float) -> Condition:
    """A level that is said to be reached, from the side of the first value: a loss reaches 0.5 from above."""
    if limit.reach and first > limit.low and outcomes.direction(context, metric) != "higher_better":
        return replace(limit, kind="at_most")
    return limit


def _values_first(context: Context, keys: list[str]) -> None:
    """ "What is the response length and clip ratio?" of a log of one step asks for values rather than for meanings."""
    query = context.query
    wording = query.wording or query.text
    plain = _WHAT_IS.search(wording) is not None and _MEANING.search(wording) is None
    if query.intent == "define" and len(keys) > 1 and len(context.run.distinct_steps) == 1 and plain:
        context.query = replace(query, intent="lookup")


#: "The std of what": what a statistic is taken over, rather than one more statistic of it.
_OF_WHAT = re.compile(r"(?i)是(?:哪|什么|谁|啥)\S{0,3}的|\bof\s+(?:what|which)\b")
_WHAT_IS = re.compile(r"(?i)^\s*what(?:'s| is| are| was| were) (?:the|my|our)\b|(?:是|为)?多少")
_MEANING = re.compile(r"(?i)\bmean(?:s|ing)?\b|\bdefin|意思|含义|怎么理解|difference|区别")


def _told(context: Context, request: Request, keys: list[str], tell: Telling) -> Verdict:
    """One sentence (with its remarks) a metric; the first is the verdict."""
    texts: list[str] = []
    found = False
    gap = "" if context.language == "zh" else " "
    for metric in keys[:MOST]:
        context.metrics.append(metric)
        part = part_of(context, metric, request.scope)
        if not len(part) and request.kind != "missing":
            texts.append(_without_values(context, metric))
            continue
        found = True
        lines = tell(context, request, part)
        said = [] if request.kind == "missing" else remarks(context, part)
        if len(keys) == 1:
            context.doc.paragraph(f"**{lines[0]}**")
            context.doc.paragraph(*lines[1:], *said)
            texts.append(lines[0])
        else:
            texts.append(gap.join([*lines, *said]))
    if len(keys) > 1 or not found:
        context.doc.bullets(texts) if len(texts) > 1 else context.doc.paragraph(f"**{texts[0]}**")
    context.chart(context.title(keys[0]), keys[:1])
    code = "answered" if found else "no_data"
    if request.kind == "changed" and found:
        trend = context.ledger.trend(keys[0])
        flat = all(len(set(context.run.series(k)[1])) == 1 for k in keys[:1])
        code = "flat" if flat else (trend.direction if trend is not None else None) or "inconclusive"
    return Verdict(code, unmark(texts[0]))


def _without_values(context: Context, metric: str) -> str:
    """That a part of the run holds no value, and where there are some; or that none is a finite number."""
    steps, values = context.run.series(metric)
    finite = [step for step, value in zip(steps, values, strict=True) if math.isfinite(float(value))]
    if steps and not finite:
        count = context.ledger.count("values not finite", len(steps), metric=metric)
        return context.say("calc.none_finite", metric=metric, n=count)
    return context.say("calc.none", metric=metric, steps=steps_text(context, finite))


# -- statistics --------------------------------------------------------------------------------------------------------
def statistics(context: Context, request: Request, part: Part) -> list[str]:
    """One sentence for each statistic asked for; first their ratio, where that is what is asked."""
    lines = [_statistic(context, request, part, name) for name in request.statistics]
    between = _ratio(context, request, part)
    return [between, *lines] if between else lines


def _ratio(context: Context, request: Request, part: Part) -> str:
    """How many times one of two statistics is the other; empty where that is not asked."""
    names = [name for name in request.statistics if name in {"max", "min", *_VALUES}]
    if len(names) != 2 or words()["ratio"].search(request.text) is None:
        return ""
    a, b = (
        max(part.values) if n == "max" else min(part.values) if n == "min" else _VALUES[n](part.values) for n in names
    )
    if not b:
        return ""
    value = statistic(context, part, f"{names[0]} over {names[1]}", a / b, f"{names[0]} / {names[1]}")
    one, other = (context.say(f"portion_name.{name}") for name in names)
    return context.say("calc.ratio", metric=part.metric, a=one, b=other, v=context.doc.show(value, None, "number"))


def _statistic(context: Context, request: Request, part: Part, name: str) -> str:
    say, values, metric = context.say, part.values, part.metric
    if name in {"max", "min"}:
        best = (max if name == "max" else min)(values)
        text = say(f"calc.{name}", metric=metric, v=cell(context, part, values.index(best)), over=part.over)
        shared = values.count(best)
        if shared > 1:
            gap = "" if context.language == "zh" else " "
            text += gap + say("calc.tied", k=context.ledger.count(f"steps at the {name}imum", shared, metric=metric))
        return text
    if name == "range":
        low, high = (cell(context, part, values.index(f(values))) for f in (min, max))
        fact = statistic(context, part, "range", max(values) - min(values), "largest minus smallest value")
        return say("calc.range", metric=metric, low=low, high=high, v=shown(context, fact, metric), over=part.over)
    if name == "sum" and running_total(context, part):
        return say("calc.sum_running", metric=metric, v=cell(context, part, len(part) - 1))
    if name in {"std", "variance"} and len(part) < 2:
        count = context.ledger.count("values", len(part), metric=metric)
        return say("calc.few_for_std", metric=metric, n=count)
    if name[1:].isdigit():
        level = context.ledger.constant("percentile", int(name[1:]) / 100, "the question", "fraction")
        fact = statistic(context, part, name, quantile(values, int(name[1:]) / 100), f"{name[1:]}% quantile")
        return say("calc.percentile", metric=metric, p=level, v=shown(context, fact, metric), over=part.over)
    value, formula = _VALUES[name](values), _FORMULAS[name]
    fact = statistic(context, part, name, value, formula)
    text = shown(context, fact, metric) if name != "variance" else context.doc.show(fact, None, "number")
    return say(f"calc.{name}", metric=metric, v=text, over=part.over)


def quantile(values: tuple[float, ...], share: float) -> float:
    """The quantile of some values by linear interpolation between order statistics (Hyndman & Fan's type 7)."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def deviation(values: tuple[float, ...]) -> float:
    """The sample standard deviation (n − 1); at least two values."""
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))


_VALUES: dict[str, Callable[[tuple[float, ...]], float]] = {
    "mean": lambda values: math.fsum(values) / len(values),
    "median": lambda values: quantile(values, 0.5),
    "std": deviation,
    "variance": lambda values: deviation(values) ** 2,
    "sum": math.fsum,
}
_FORMULAS = {
    "mean": "mean", "median": "median", "std": "sample standard deviation (n − 1)",
    "variance": "sample variance (n − 1)", "sum": "sum",
}  # fmt: skip
MOST_RESETS = 100
"""A running total falls at no more than one of so many steps."""
_RUNNING = (
    "total",
    "cumul",
    "tokens_seen",
    "num_tokens",
    "train_time",
    "elapsed",
    "samples_seen",
    "consumed",
    "system/samples",
)


def running_total(context: Context, part: Part) -> bool:
    """Whether a metric is a running total: named like one, and never falling."""
    name = part.metric.lower()
    moves = [b >= a for a, b in zip(part.values, part.values[1:], strict=False)]
    rises = sum(moves) >= len(moves) - len(moves) // MOST_RESETS  # a clock may be set back once, after the warm-up
    return (
        len(part) >= LEAST_RUNNING and rises and part.values[-1] > part.values[0] and any(w in name for w in _RUNNING)
    )


def values(context: Context, request: Request, part: Part) -> list[str]:
    """The ends, extremes and mean of the part, where nothing particular is asked of it."""
    mean = statistic(context, part, "mean", math.fsum(part.values) / len(part), "mean")
    low, high = (cell(context, part, part.values.index(f(part.values))) for f in (min, max))
    return [
        context.say(
            "calc.values", metric=part.metric, first=cell(context, part, 0), last=cell(context, part, len(part) - 1),
            low=low, high=high, mean=shown(context, mean, part.metric), over=part.over,
        )
    ]  # fmt: skip


# -- conditions --------------------------------------------------------------------------------------------------------
def conditional(context: Context, request: Request, part: Part) -> list[str]:
    """At which values a condition holds: the first, the last, how many, whether any."""
    assert request.limit is not None
    if request.kind == "every":
        return everywhere(context, part, request.limit)
    say, metric = context.say, part.metric
    limit = request.limit.scaled(max(abs(v) for v in part.values))
    limit = as_reached(context, limit, metric, part.values[0])
    text = limit_text(context, limit, metric)
    places = [place for place, value in enumerate(part.values) if limit.holds(value)]
    lines = []
    beside = None if request.at_step is None else context.value(metric, request.at_step)
    if beside is not None:
        lines.append(say("calc.at_step", metric=metric, v=beside))
    if not places and request.kind in {"count", "share"}:
        none = context.ledger.count(f"steps {limit.kind} {limit.low:g} {limit.high:g}", 0, metric=metric)
        lines.append(say("calc.count_none", metric=metric, limit=text, k=none, over=part.over))
        return lines + [_nearest(context, part, side) for side in _NEAREST[limit.kind]]
    if not places:
        lines.append(say("calc.never", metric=metric, limit=text, over=part.over))
        lines += [_nearest(context, part, side) for side in _NEAREST[limit.kind]]
        return lines
    count = context.ledger.count(
        f"steps {limit.kind} {limit.low:g} {limit.high:g}", len(places), metric=metric, first_step=part.steps[0],
        last_step=part.steps[-1],
    )  # fmt: skip
    first, last = cell(context, part, places[0]), cell(context, part, places[-1])
    share = share_shown(context, f"share of steps {limit.kind} {limit.low:g}/{metric}", len(places), len(part), [count])
    values = {"metric": metric, "limit": text, "over": part.over}
    both = _BOTH_ENDS.search(request.text or context.query.said) is not None
    if both and request.kind in {"first", "last"}:
        lines += [say("calc.first", v=first, **values), say("calc.last", v=last, **values)]
    elif request.kind == "last":
        lines.append(say("calc.last", v=last, **values))
    elif request.kind == "first":
        lines.append(say("calc.first", v=first, **values))
        lines.append(since_then(context, metric, part.steps, [limit.holds(v) for v in part.values]))
    elif request.kind == "any":
        lines.append(say("calc.any", k=count, v=first, **values))
    else:
        phrase = "calc.share" if request.kind == "share" else "calc.count"
        lines.append(say(phrase, k=count, share=share, **values))
        if request.kind == "list" or len(places) <= MOST_NAMED:
            steps = [part.steps[place] for place in places]
            lines.append(say("calc.steps", steps=listed(context, metric, steps)))
        if both:
            lines += [say("calc.first", v=first, **values), say("calc.last", v=last, **values)]
    return lines


MOST_NAMED = 24
_BOTH_ENDS = re.compile(
    r"(?i)(?:第一次|首次|最早一次).{0,8}(?:和|跟|与|、|及|以及).{0,8}最[后近]一次"
    r"|\bfirst (?:and|,) (?:the )?last (?:time|step)"
)
#: Which end of the values tells how near a condition was that no value meets.
_NEAREST: dict[str, tuple[str, ...]] = {
    "above": ("high",), "at_least": ("high",), "positive": ("high",), "below": ("low",), "at_most": ("low",),
    "negative": ("low",), "between": ("low", "high"), "equal": ("low", "high"), "zero": ("low", "high"),
}  # fmt: skip


def _nearest(context: Context, part: Part, side: str) -> str:
    place = part.values.index((max if side == "high" else min)(part.values))
    return context.say(f"calc.nearest_{side}", v=cell(context, part, place))


# -- ranks, missing, changed -------------------------------------------------------------------------------------------
def ranked(context: Context, request: Request, part: Part) -> list[str]:
    """The value of a rank, or so many of the largest or smallest."""
    order = sorted(
        range(len(part)), key=lambda place: (-part.values[place] if request.high else part.values[place], place)
    )
    side = "high" if request.high else "low"
    rank = context.ledger.constant("rank", request.number, "the question")
    if request.kind == "rank":
        # Equal values share a rank: the second highest of 3, 3, 2 is 2.
        places = [place for at, place in enumerate(order) if not at or part.values[place] != part.values[order[at - 1]]]
        if request.number > len(places):
            count = context.ledger.count("distinct values", len(places), metric=part.metric)
            return [context.say("calc.rank_short", metric=part.metric, n=count, k=rank)]
        top, one = cell(context, part, places[0]), cell(context, part, places[request.number - 1])
        return [context.say(f"calc.rank_{side}", metric=part.metric, k=rank, v=one, top=top, over=part.over)]
    picked = order[: min(request.number, MOST_STEPS)]
    items = context.join(context.say("calc.item", v=cell(context, part, place)) for place in picked)
    count = rank if len(picked) == request.number else context.ledger.count("steps listed", len(picked))
    return [context.say(f"calc.top_{side}", metric=part.metric, k=count, items=items, over=part.over)]


def missing(context: Context, request: Request, part: Part) -> list[str]:
    """At which steps a metric has no value, and which of them were cut."""
    say, metric = context.say, part.metric
    steps = request.scope.of(context.run.distinct_steps)
    there = set(context.run.series(metric)[0])
    lost = [s for s in steps if s not in there]
    total = context.ledger.count("steps of the part", len(steps))
    odd = sum(not math.isfinite(float(v)) for s, v in zip(*context.run.series(metric), strict=True) if s in set(steps))
    if not lost and odd:
        bad = context.ledger.count("values not finite", odd, metric=metric)
        return [say("calc.missing_odd", metric=metric, k=bad, n=total)]
    if not lost:
        return [say("calc.missing_none", metric=metric, n=total)]
    for step in lost[:MOST_STEPS]:
        context.ledger.missing(metric, step)
    count = context.ledger.count("steps without a value", len(lost), metric=metric)
    listed = context.doc.show(lost) if len(lost) <= MOST_STEPS else steps_text(context, lost)
    lines = [say("calc.missing", metric=metric, k=count, n=total, steps=listed)]
    cut = [s for s in lost if context.run.missing_at(metric, s) is not None]
    if cut:
        shown_cut = context.doc.show(cut) if len(cut) <= MOST_STEPS else steps_text(context, cut)
        lines.append(
            say("calc.missing_cut", k=context.ledger.count("of them cut", len(cut), metric=metric), steps=shown_cut)
        )
    elif is_validation(metric) or len(there) * 2 < len(steps):
        lines.append(say("calc.missing_regular", metric=metric))
    return lines


def changed(context: Context, request: Request, part: Part) -> list[str]:
    """Whether a metric ever differs from its first value, and between which values it lies."""
    first, last = cell(context, part, 0), cell(context, part, len(part) - 1)
    distinct = len(set(part.values))
    if distinct == 1:
        return [context.say("calc.unchanged", metric=part.metric, v=first, over=part.over)]
    low, high = (cell(context, part, part.values.index(f(part.values))) for f in (min, max))
    count = context.ledger.count("distinct values", distinct, metric=part.metric)
    return [
        context.say(
            "calc.changed", metric=part.metric, low=low, high=high, k=count, first=first, last=last, over=part.over
        )
    ]


_TELLING: dict[str, Telling] = {
    "statistics": statistics, "values": values, "missing": missing, "rank": ranked, "top": ranked, "changed": changed,
    **dict.fromkeys(("first", "last", "count", "list", "any", "every", "share"), conditional),
}  # fmt: skip
