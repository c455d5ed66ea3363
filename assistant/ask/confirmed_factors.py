"""Factors and means that a question puts for confirmation: "it doubled, right?", "18 s on average, right?"."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from assistant.ask.confirmed import Claim
from assistant.ask.context import Context
from assistant.ask.departures import all_checks
from assistant.ask.part import Part, cell, part_of, shown
from assistant.ask.scope import Scope
from assistant.model import Fact
from assistant.write.document import mark
from assistant.write.numbers import format_number

#: How far a factor may be from the one stated.
_TIMES: Final = (0.8, 1.25)
#: Up to so many values a mean lists them as its inputs; of more, its formula names the range.
MOST_INPUTS: Final = 512


#: Says that something goes on and on, and not that it happened once.
STEADILY: Final = re.compile(
    r"(?i)一路|一直|持续|不断|逐渐|越来越"
    r"|\b(?:keeps?|kept|steadily|gradually|continuously|all the way|ever since|more and more)\b"
)
#: Another level is so many times the one before, with so large a share of the values beyond it.
_APART: Final = 1.1
_MOST: Final = 0.8


@dataclass(frozen=True, slots=True)
class Told:
    """A clause held against the log: whether it is so, the values in words, the metric."""

    holds: bool
    said: str
    metric: str
    kind: str = ""


def times(context: Context, metric: str, part: Part, claim: Claim, scope: Scope) -> Told | None:
    """First and last value, or the medians before and after the step named, against the factor."""
    if _EACH.search(context.query.said) and (each := _from_each_to_the_next(context, metric, part, claim.factor)):
        return each
    found = sides(context, metric, part, scope) or _first_and_last(context, metric, part)
    if found is None:
        return None
    told, ratio = found
    high = math.inf if claim.about and claim.factor > 1 else _TIMES[1] * claim.factor
    return replace(told, holds=_TIMES[0] * claim.factor <= ratio <= high)


#: Says that a factor is one from each value to the next.
_EACH: Final = re.compile(
    r"(?i)\b(?:every|each) (?:time|step|row|line|iteration|epoch|update)\b|每次|每一?步|每一?轮|每个? ?epoch|逐"
)
#: How far from a factor the one from a value to the next may be.
_NEAR: Final = 1.25


def _from_each_to_the_next(context: Context, metric: str, part: Part, factor: float) -> Told | None:
    """Whether each value is so many times the one before; ``None`` where there are too few values."""
    values = part.values
    if len(values) < 3 or factor <= 0 or any(value <= 0 for value in values):
        return None
    ratios = [after / before for before, after in pairwise(values)]
    alike = sum(factor / _NEAR <= ratio <= factor * _NEAR for ratio in ratios)
    count = context.ledger.count(f"changes by the factor {factor:g}", alike, metric=metric)
    total = context.ledger.count("changes", len(ratios), metric=metric)
    a, b = cell(context, part, 0), cell(context, part, len(part) - 1)
    told = _ratio(context, metric, "put.each", (a, b), {"first": a, "last": b, "k": count, "n": total})
    return None if told is None else replace(told[0], holds=alike == len(ratios))


def sides(context: Context, metric: str, part: Part, scope: Scope) -> tuple[Told, float] | None:
    """The medians before and after the step from which a part goes on, and how many times the second is the first."""
    if scope.first is None or scope.last is not None:
        return None
    earlier = part_of(context, metric, Scope(last=scope.first - 1))
    if not len(earlier):
        return None
    a, b = (_median(context, one) for one in (earlier, part))
    values = {
        "a": shown(context, a, metric), "b": shown(context, b, metric), "a_first": earlier.steps[0],
        "a_last": earlier.steps[-1], "b_first": part.steps[0], "b_last": part.steps[-1],
    }  # fmt: skip
    return _ratio(context, metric, "put.sides", (a, b), values)


def of_levels(context: Context, metric: str, part: Part, scope: Scope, *, up: bool) -> Told | None:
    """That a metric lies on another level from a step on, where it does not go on moving there; else ``None``.

    "It fell after step 42" is said of a drop at that step as well as of a decline that begins there.
    """
    found = sides(context, metric, part, scope)
    if found is None or scope.first is None:
        return None
    told, ratio = found
    before = statistics.median(part_of(context, metric, Scope(last=scope.first - 1)).values)
    beyond = sum((value > before) == up and value != before for value in part.values)
    apart = ratio > _APART if up else ratio < 1 / _APART
    return replace(told, holds=True) if apart and beyond >= _MOST * len(part) else None


def _first_and_last(context: Context, metric: str, part: Part) -> tuple[Told, float] | None:
    a, b = cell(context, part, 0), cell(context, part, len(part) - 1)
    return _ratio(context, metric, "put.times", (a, b), {"first": a, "last": b})


def _ratio(
    context: Context, metric: str, phrase: str, ends: tuple[Fact, Fact], values: Mapping[str, object]
) -> tuple[Told, float] | None:
    a, b = ends
    if not isinstance(a.value, (int, float)) or not isinstance(b.value, (int, float)) or a.value <= 0 or b.value < 0:
        return None
    ratio = float(b.value) / float(a.value)
    fact = context.ledger.derived(f"factor of {metric}/{phrase}", ratio, inputs=[a, b], formula="after / before")
    said = context.say(phrase, metric=metric, times=_number(context, fact), **values)
    return Told(False, said, metric), ratio


def _number(context: Context, fact: Fact) -> str:
    return mark(fact.id, format_number(float(fact.value or 0), "number", language=context.language))


def _median(context: Context, part: Part) -> Fact:
    inputs = [context.value(part.metric, s) for s in part.steps]
    span = f"{part.steps[0]}-{part.steps[-1]}"
    return context.ledger.derived(
        f"median({part.metric})/{span}", statistics.median(part.values), inputs=inputs,
        formula=f"median of {part.metric}, steps {span}",
    )  # fmt: skip


def mean_of(context: Context, part: Part) -> Fact:
    """The mean of a part, as a fact."""
    inputs = [context.value(part.metric, s) for s in part.steps] if len(part) <= MOST_INPUTS else []
    span = f"{part.steps[0]}-{part.steps[-1]}"
    return context.ledger.derived(
        f"mean({part.metric})/{span}", math.fsum(part.values) / len(part), inputs=inputs,
        formula=f"mean of {part.metric}, {len(part)} values, steps {span}",
    )  # fmt: skip


#: What collapses is left with less than this part of what it was; what explodes comes to more than so many times that.
_RUINED: Final = 2.0
_START: Final = 0.2


def short_of(context: Context, part: Part, told: Told, *, up: bool) -> Told:
    """A collapse or an explosion that a metric's values fall far short of does not hold; else it is as told.

    What a rule has found of the metric stands.
    """
    begin = statistics.median(part.values[: max(3, round(_START * len(part)))])
    found = any(part.metric in check.metrics and check.severity != "info" for check in all_checks(context))
    if begin <= 0 or min(part.values) < 0 or found:
        return told
    far = max(part.values) / begin < _RUINED if up else min(part.values) / begin > 1 / _RUINED
    return replace(told, holds=False) if far else told


def averaged(context: Context, part: Part, mean: Fact) -> str:
    """The mean of a part and its extremes, in words."""
    low, high = (cell(context, part, part.values.index(pick(part.values))) for pick in (min, max))
    count = context.ledger.count("values", len(part), metric=part.metric)
    return context.say(
        "put.mean", metric=part.metric, v=shown(context, mean, part.metric), n=count, first=part.steps[0],
        last=part.steps[-1], low=low, high=high,
    )  # fmt: skip
