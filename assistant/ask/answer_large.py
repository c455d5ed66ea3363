"""Whether a value is large where the log is too short for a trend: against the other values, against its own mean."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from statistics import median
from typing import Final

from assistant.analysis.diagnosis import role
from assistant.ask.context import Context
from assistant.ask.part import Part, cell, part_of, shown, statistic
from assistant.ask.scope import Scope
from assistant.ask.subject import words_of
from assistant.ask.supposed import typed_values
from assistant.model import Fact

#: A gradient norm of this size is far beyond what gradients are clipped at.
_HUGE: Final = 1e4
#: Asks whether something is large or small.
_ASKED: Final = re.compile(
    r"(?i)\b(?:large|high|big|huge|small|low|tiny|explod\w*)\b"
    r"|(?:太|偏|很|过|这么|那么|有点|算|异常|特别|非常)(?:大|高|小|低)|[大高小低](?:吗|么|不[大高小低]|[?？]|$)"
)
#: So many times the others' median a value stands out; what moves along with it moves by this much.
_OUT: Final = 3.0
_ALONG: Final = 1.5
#: So many times its mean an extreme is far from what is usual.
_FAR: Final = 20.0
MOST_ALONG: Final = 4
_MAX: Final = re.compile(r"(?i)(?<![a-z])max(?:imum)?(?![a-z])")


def _goes_one_way(values: Sequence[float]) -> bool:
    """Whether each of several values is above the one before, or each below it."""
    moves = [b - a for a, b in itertools.pairwise(values)]
    return len(moves) > 1 and (min(moves) > 0 or max(moves) < 0)


def large(context: Context, metric: str) -> list[str]:
    """Sentences on how large the value asked about is; none where nothing is to be said, or more steps tell more.

    Args:
        context: of the answer.
        metric: with few values, all finite.
    """
    part = part_of(context, metric, Scope())
    asked = _ASKED.search(words_of(context)) is not None
    if not len(part) or not all(math.isfinite(value) for value in part.values):
        return []
    if _is_huge_gradient(context, part):
        return _huge(context, part)
    if len(part) == 1:
        return _of_mean(context, part) if asked else []
    if not asked and _goes_one_way(part.values):
        return []  # its course tells more than that its first or last value stands out
    at = _place(context, part)
    others = [value for place, value in enumerate(part.values) if place != at]
    level = median(others)
    value = part.values[at]
    if level <= 0 or value <= 0:
        return []
    ratio = value / level
    if not asked and ratio < 1 and _lower_is_well(context, metric):
        return []
    if max(ratio, 1 / ratio) >= _OUT:
        return [_standing_out(context, part, at, level), *_along(context, part.steps[at], metric)]
    return [_among(context, part, at)] if asked else []


def _lower_is_well(context: Context, metric: str) -> bool:
    """Whether nothing is wrong with a low value of a metric: a gradient norm, a loss."""
    found = (role(context.run, name) for name in ("grad_norm", "training_loss", "policy_loss"))
    return any(one is not None and metric in one.metrics for one in found)


def meant_large(context: Context, keys: Sequence[str]) -> str:
    """Of the metrics named, the one that is called large or small: named last before that word, else the first."""
    match = _ASKED.search(words_of(context))
    before = [m for m in context.query.mentions if m.key in keys and match is not None and m.end <= match.start()]
    return str(max(before, key=lambda m: m.end).key) if before else keys[0]


def _is_huge_gradient(context: Context, part: Part) -> bool:
    found = role(context.run, "grad_norm")
    return found is not None and part.metric in found.metrics and min(part.values) >= _HUGE


def _huge(context: Context, part: Part) -> list[str]:
    """A gradient norm that is far too large at every value logged."""
    first, last = cell(context, part, 0), cell(context, part, len(part) - 1)
    if len(part) == 1:
        lines = [context.say("large.huge_one", metric=part.metric, v=first)]
    else:
        lines = [context.say("large.huge", metric=part.metric, v=first, last=last)]
    card = context.card(part.metric)
    return [*lines, context.quote(card, "read")] if card is not None else lines


def _place(context: Context, part: Part) -> int:
    """The place of the value asked about: at the step or by the number that is named, else the one farthest off."""
    slot = context.query.steps
    if slot.kind == "single" and slot.values[0] in part.steps:
        return part.steps.index(slot.values[0])
    typed = typed_values(words_of(context))
    for place, value in enumerate(part.values):
        if any(one.names(value) for one in typed):
            return place
    middle = median(part.values)
    return max(range(len(part)), key=lambda place: abs(part.values[place] - middle))


def _standing_out(context: Context, part: Part, at: int, level: float) -> str:
    top = cell(context, part, at)
    usual = statistic(context, part, "median of the other values", level, f"median without step {part.steps[at]}")
    count = context.ledger.count("other values", len(part) - 1, metric=part.metric)
    ratio = context.ledger.derived(
        f"{part.metric} at {part.steps[at]} / the others", part.values[at] / level, inputs=[top, usual],
        formula="value / median of the other values", step=part.steps[at],
    )  # fmt: skip
    phrase = "large.one_other" if len(part) == 2 else "large.out"
    return context.say(
        phrase, metric=part.metric, v=top, n=count, level=shown(context, usual, part.metric),
        ratio=context.doc.show(ratio, None, "number"),
    )  # fmt: skip


def _among(context: Context, part: Part, at: int) -> str:
    low, high = (cell(context, part, part.values.index(pick(part.values))) for pick in (min, max))
    count = context.ledger.count("values", len(part), metric=part.metric)
    return context.say("large.among", metric=part.metric, v=cell(context, part, at), n=count, low=low, high=high)


def _along(context: Context, step: int, metric: str) -> list[str]:
    """What else stands out at that step, the most first."""
    found: list[tuple[float, Fact, Fact]] = []
    for other in context.run.metrics:
        if other == metric:
            continue
        part = part_of(context, other, Scope())
        if len(part) < 2 or step not in part.steps or not all(0 < value < math.inf for value in part.values):
            continue
        at = part.steps.index(step)
        level = median([value for place, value in enumerate(part.values) if place != at])
        ratio = part.values[at] / level
        size = max(ratio, 1 / ratio)
        if size < _ALONG:
            continue
        value = cell(context, part, at)
        told = context.ledger.derived(
            f"{other} at {step} / the others", ratio, inputs=[value], formula="value / median of the other values",
            step=step,
        )  # fmt: skip
        found.append((size, value, told))
    found.sort(key=lambda one: -one[0])
    if not found:
        return []
    names = [
        context.say("large.along_one", metric=str(value.metric), v=value, ratio=context.doc.show(told, None, "number"))
        for _, value, told in found[:MOST_ALONG]
    ]
    return [context.say("large.along", names=context.join(names))]


def _of_mean(context: Context, part: Part) -> list[str]:
    """The single value of an extreme against the mean that is logged beside it."""
    held = next((name for word in ("mean", "avg") if (name := _MAX.sub(word, part.metric)) in context.run.columns), "")
    if not held or held == part.metric:
        return []
    value, mean = cell(context, part, 0), context.value(held, part.steps[0])
    if mean is None or not isinstance(mean.value, float | int) or mean.value <= 0:
        return []
    times = part.values[0] / mean.value
    if times < _FAR:
        return []
    ratio = context.ledger.derived(
        f"{part.metric} / {held}", times, inputs=[value, mean], formula="max / mean", step=part.steps[0]
    )
    return [
        context.say(
            "large.mean", metric=part.metric, v=value, mean=held, m=mean, ratio=context.doc.show(ratio, None, "number")
        )
    ]
