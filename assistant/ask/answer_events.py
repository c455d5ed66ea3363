"""When a metric broke, what happened in a stretch of steps, and metrics with one value that cannot be compared."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from assistant.analysis.checks import NOT_FINITE, Check
from assistant.ask.blanking import spans_of
from assistant.ask.context import Context, is_validation, key
from assistant.ask.departures import all_checks, began
from assistant.ask.findings import told
from assistant.ask.leaps_told import leap
from assistant.ask.naming import central, named_keys
from assistant.ask.part import MOST_NAMED, Part, cell, part_of, shown, statistic
from assistant.ask.parts import headlines, number
from assistant.ask.scope import Scope
from assistant.ask.wording import normalised
from assistant.model import Fact, StepSlot, Verdict
from assistant.write.document import unmark

_UP = re.compile(r"(?i)炸|爆|飙|暴涨|骤升|explod|explos|diverg|blow|blew|spik|shoot up|shot up|jump")
_EITHER = re.compile(r"不正常|异常|问题|不对|坏")
_SINCE = re.compile(r"(?i)开始|起|\bsince\b|\bstart|\bbeg[iau]n|\bfirst\b|set in|onset")
#: The steepest move is looked for among values at most so many places apart; the shortest stretch that makes up this
#: share of the largest is the one named.
REACH, MOST_OF = 4, 0.9
#: A move is sudden from so many usual (median absolute) moves between neighbours on.
SUDDEN = 5.0
LEAST_VALUES = 6
#: A positive metric whose largest value is so many times its smallest moves by factors.
FACTORS = 10.0
#: A metric moved in a stretch from so many usual moves on; so many are shown.
MOVED, MOST_ROWS = 3.0, 10
_MORE = ("response_length/mean", "timing_s/step", "actor/grad_norm", "num_turns/mean")


def onset(context: Context) -> Verdict | None:
    """The steepest fall (or rise) of the metric named, and whether it came back.

    Returns:
        The verdict; ``None`` (nothing written) where not exactly one metric with enough values is named.
    """
    keys = central(named_keys(context))
    if len(keys) != 1 or context.query.threshold is not None:
        return None
    part = part_of(context, keys[0], Scope())
    metric, values = keys[0], part.values
    if len(part) < LEAST_VALUES:
        context.metrics.append(metric)
        said = context.say("run.onset_few", metric=metric, n=context.ledger.count("values", len(part), metric=metric))
        context.doc.paragraph(f"**{said}**")
        return Verdict("no_data", unmark(said))
    text = normalised(context.query.wording or context.query.text)
    for mention in context.query.mentions:
        for start, end in spans_of(text, mention):
            text = text[:start] + " " * (end - start) + text[end:]
    up = _UP.search(text) is not None
    if not up and _EITHER.search(text) is not None:  # "since when is it off": the way it moved more
        low, high = steepest(values, up=False), steepest(values, up=True)
        up = values[high[1]] - values[high[0]] > values[low[0]] - values[low[1]]
    if (told_leap := leap(context, part, text, up=up)) is not None:
        return told_leap
    # A fall by factors (a length from 300 to 30) counts by its ratio, so that the last stretch of it is not lost.
    by_factors = not up and min(values) > 0 and max(values) > FACTORS * min(values)
    first, last = steepest(tuple(math.log(v) for v in values) if by_factors else values, up=up)
    usual = median(abs(b - a) for a, b in itertools.pairwise(values))
    way = "up" if up else "down"
    a, b = cell(context, part, first), cell(context, part, last)
    context.metrics.append(metric)
    moved = values[last] > values[first] if up else values[last] < values[first]
    sudden = moved and abs(values[last] - values[first]) > SUDDEN * usual
    if moved:
        said = context.say(f"run.onset_{way}" if sudden else f"run.onset_none_{way}", metric=metric, a=a, b=b)
    else:
        count = context.ledger.count("values", len(part), metric=metric)
        said = context.say(f"run.onset_never_{way}", metric=metric, n=count)
    checks = [c for c in all_checks(context) if metric in c.metrics and c.severity in {"critical", "warning"}]
    since = [at for c in checks if c.metrics[0] == metric and (at := began(context, c)) is not None]
    if _SINCE.search(text) and since and min(since) < part.steps[first]:  # it set in before it moved most
        gap = "" if context.language == "zh" else " "
        said = context.say("run.onset_since", metric=metric, step=min(since)) + gap + said
    context.doc.paragraph(f"**{said}**")
    if sudden and last < len(part) - 2:
        context.doc.paragraph(_afterwards(context, part, first, last))
    if checks:
        context.doc.paragraph(context.say("run.onset_other"))
        context.doc.bullets([one.whole(context.language) for one in told(context, checks[:2])])
    context.doc.paragraph(context.gloss(metric))
    context.chart(context.title(metric), [metric])
    op = "argmax" if up else "argmin"
    context.query = replace(context.query, op=op, asked_op=op)  # type: ignore[arg-type]
    return Verdict("answered", unmark(said), "medium")


def steepest(values: tuple[float, ...], *, up: bool) -> tuple[int, int]:
    """First and last place of the shortest stretch with (nearly) the largest move one way; at least two values."""
    sign = 1.0 if up else -1.0
    moves = [
        (sign * (values[end] - values[start]), start, end)
        for start in range(len(values) - 1)
        for end in range(start + 1, min(start + REACH, len(values) - 1) + 1)
    ]
    most = max(move for move, _, _ in moves)
    near = [one for one in moves if one[0] >= (MOST_OF * most if most > 0 else most)]
    _, start, end = min(near, key=lambda one: (one[2] - one[1], -one[0], one[1]))
    return start, end


def _afterwards(context: Context, part: Part, first: int, last: int) -> str:
    ends = {}
    pieces = {"before": slice(max(0, first - 20), first + 1), "after": slice(last, len(part))}
    for name, piece in pieces.items():
        inner = Part(part.metric, part.steps[piece], part.values[piece], 0, (), "")
        ends[name] = statistic(context, inner, f"median {name}", median(inner.values), "median")
    levels = {name: float(fact.value) for name, fact in ends.items() if isinstance(fact.value, (int, float))}
    # back: nearer to the level before than half of the move away from it
    back = abs(levels["after"] - levels["before"]) < abs(part.values[last] - part.values[first]) / 2
    texts = {name: shown(context, fact, part.metric) for name, fact in ends.items()}
    return context.say(
        "run.onset_back" if back else "run.onset_stays", last=cell(context, part, len(part) - 1), **texts
    )


# -- a stretch of steps ------------------------------------------------------------------------------------------------
def happened(context: Context) -> Verdict | None:
    """Which main metrics moved in a stretch of steps, and what the rules report of it.

    Returns:
        The verdict; ``None`` (nothing written) where no stretch, or a metric, is named.
    """
    slot, run = _around(context), context.run
    if slot.kind != "range" or context.query.mentions or len(slot.values) != 2:
        return None
    first, last = slot.values
    steps = [s for s in run.distinct_steps if first <= s <= last]
    if len(steps) < 2:
        return None
    names = list(dict.fromkeys([*headlines(context, steps[-1]), *headlines(context, steps[0]), *_MORE]))
    moved = sorted(
        (row for name in names if not is_validation(name) and (row := _move(context, name, steps)) is not None),
        key=lambda row: -row[0],
    )
    if not moved:
        return None
    context.metrics.extend(row[1].metric for row in moved[:MOST_ROWS])
    count = context.ledger.count("steps of the stretch", len(steps), first_step=steps[0], last_step=steps[-1])
    size, top = moved[0]
    spike = _spike(context, [row[1].metric for row in moved], steps)
    ends = {"first": steps[0], "last": steps[-1], "n": count}
    checks = _concerned(context, steps)
    broke = next((one for one in checks if one.rule == NOT_FINITE and steps[0] <= one.steps[0]), None)
    if broke is not None:  # whatever moved after it moved because of it
        text = context.say("run.happened_broke", at=next(fact for name, fact in broke.facts if name == "value"), **ends)
    elif spike is not None:
        text = spike
    elif size < MOVED:
        text = context.say("run.happened_quiet", **ends)
    else:
        text = context.say(
            "run.happened", metric=top.metric, a=cell(context, top, 0), b=cell(context, top, len(top) - 1), **ends
        )
    context.doc.paragraph(f"**{text}**")
    if checks:
        context.doc.paragraph(context.say("run.happened_lasting"))
        context.doc.bullets([one.whole(context.language) for one in told(context, checks[:3])])
    _table(context, moved[:MOST_ROWS], steps)
    _within(context, steps)
    grave = {c.severity for c in checks}
    code = "critical" if "critical" in grave else "warning" if "warning" in grave else "healthy"
    return Verdict(code, unmark(text), "medium")


#: Times the median of a stretch's other values from which one value of it is a spike.
SPIKE = 5.0


def _spike(context: Context, names: Sequence[str], steps: list[int]) -> str | None:
    """The one value that stands highest above the others of a stretch, as a sentence; ``None``: none stands out."""
    best: tuple[float, Fact, str] | None = None
    for metric in names:
        cells = [f for s in steps if (f := context.value(metric, s)) is not None and math.isfinite(number(f))]
        if len(cells) < NEAR:
            continue
        top = max(cells, key=lambda f: abs(number(f)))
        rest = [abs(number(f)) for f in cells if f is not top]
        usual = median(rest)
        if top in (cells[0], cells[-1]):  # a level that the stretch left or came to
            continue
        if usual <= 0 or abs(number(top)) < SPIKE * max(usual, sorted(rest)[-2] if len(rest) > 2 else usual):
            continue
        if best is None or abs(number(top)) / usual > best[0]:
            fact = context.ledger.derived(
                f"median of {metric} beside its spike", usual, inputs=[f for f in cells if f is not top],
                formula="median of the other values of the stretch",
            )  # fmt: skip
            shown = context.doc.show(fact, None, context.kind_of(metric))
            best = abs(number(top)) / usual, top, context.say("run.happened_spike", metric=metric, v=top, usual=shown)
    return None if best is None else best[2]


_AROUND = re.compile(r"(?i)\b(?:around|about|near|close to)\b|左右|前后|附近")
#: So many values to either side of a step are around it.
NEAR = 5


def _around(context: Context) -> StepSlot:
    """The stretch around a step, where a question asks for that; else the steps as named."""
    slot, steps = context.query.steps, context.run.distinct_steps
    if slot.kind != "single" or slot.values[0] not in steps or not _AROUND.search(context.query.said):
        return slot
    at = steps.index(slot.values[0])
    return StepSlot("range", (steps[max(0, at - NEAR)], steps[min(len(steps) - 1, at + NEAR)]))


def _move(context: Context, metric: str, steps: list[int]) -> tuple[float, Part] | None:
    """How many usual moves a metric went from the first to the farthest value of a stretch, and its values there."""
    whole = part_of(context, metric, Scope())
    part = part_of(context, metric, Scope(steps[0], steps[-1]))
    if len(part) < 2 or len(whole) < 3:
        return None
    usual = median(abs(b - a) for a, b in zip(whole.values, whole.values[1:], strict=False))
    size = abs(part.values[-1] - part.values[0])
    return (size / usual if usual > 0 else (math.inf if size > 0 else 0.0)), part


def _concerned(context: Context, steps: list[int]) -> list[Check]:
    found = []
    for check in all_checks(context):
        start = began(context, check)
        if check.severity in {"critical", "warning"} and start is not None and start <= steps[-1]:
            found.append(check)
    return found


def _end(context: Context, part: Part, steps: list[int], place: int) -> Fact:
    """The metric's value at the first of some steps that has one, be it finite or not; else that of a place."""
    fact = next((fact for step in steps if (fact := context.value(part.metric, step)) is not None), None)
    return cell(context, part, place) if fact is None else fact


def _table(context: Context, moved: list[tuple[float, Part]], steps: list[int]) -> None:
    say, rows = context.say, []
    for _, part in moved:
        low, high = (cell(context, part, part.values.index(f(part.values))) for f in (min, max))
        ends: list[Fact] = [_end(context, part, steps[::way], place) for way, place in ((1, 0), (-1, len(part) - 1))]
        marked = [context.doc.show(fact) for fact in ends]
        places = [f"{context.doc.show(fact)} (step {context.doc.step(fact.step or 0)})" for fact in (low, high)]
        rows.append([key(part.metric), *marked, *places])
    heads = [say(f"run.happened_{name}") for name in ("from", "to", "low", "high")]
    context.doc.table([say("head.metric"), *heads], rows)


def _within(context: Context, steps: list[int]) -> None:
    cut = [s for s in sorted({gap.step for gap in context.run.missing}) if steps[0] <= s <= steps[-1]]
    if cut and len(cut) <= MOST_NAMED:
        context.doc.paragraph(context.say("run.happened_cut", steps=context.doc.show(cut)))


# -- first and last ----------------------------------------------------------------------------------------------------
def one_value(context: Context) -> Verdict | None:
    """That a metric has one value, where its first and last are asked for; ``None`` where it has more.

    Where it has more, they are its own first and last steps rather than the run's.
    """
    keys = central(named_keys(context))
    if not keys or context.query.all_steps[2:] or context.query.threshold is not None:
        return None
    metric = keys[0]
    steps, _ = context.run.series(metric)
    if len(steps) != 1:
        return None
    only = context.value(metric, steps[0])
    if only is None:
        return None
    context.metrics.append(metric)
    text = context.say("run.one_value", metric=metric, v=only)
    context.doc.paragraph(f"**{text}**")
    lost = sorted({gap.step for gap in context.run.missing if gap.step != steps[0]})
    if lost:
        count = context.ledger.count("steps cut", len(lost))
        listed = context.doc.show(lost[:MOST_NAMED])
        if len(lost) > MOST_NAMED:
            listed += f" … {context.doc.step(lost[-1])}"
        context.doc.paragraph(context.say("run.one_value_cut", k=count, steps=listed))
    context.doc.paragraph(context.gloss(metric))
    return Verdict("no_data", unmark(text))


__all__ = ["happened", "one_value", "onset", "steepest"]
