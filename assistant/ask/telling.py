"""How a metric moved, in one sentence: a trend is told by its form (steady, jump, bend, walk)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

from assistant.analysis.changepoints import ChangePoint
from assistant.analysis.held_out import held_out
from assistant.ask.context import Context
from assistant.ask.course_moves import course_shape, extremes_of, held_since, jump_of, jump_sentence, points
from assistant.ask.course_words import course_sentence
from assistant.ask.in_order_words import order_sentence
from assistant.ask.pace_words import paced_sentence
from assistant.ask.parts import number
from assistant.ask.schedules import schedule_sentence
from assistant.ask.two_validations import two_validations
from assistant.model import Fact
from assistant.write.document import mark
from assistant.write.numbers import signed

_WAY = {"rising": "up", "falling": "down"}
_WORD = {"rising": "rising", "falling": "falling", "flat": "flat", "inconclusive": "few"}
Change = tuple[ChangePoint, Fact, Fact]


def main_change(context: Context, trend: Fact, steps: Iterable[int] | None = None) -> Change | None:
    """The jump or bend that a trend of that form consists of; ``None`` where it has another form."""
    if trend.form not in {"shift", "bend"}:
        return None
    wanted = "level" if trend.form == "shift" else "slope"
    changes = context.ledger.changes(trend, None if steps is None else list(steps))
    fitting = [change for change in changes if change[0].kind == wanted] or changes
    return max(fitting, key=lambda change: change[0].strength, default=None)


def sides(context: Context, change: Change) -> dict[str, Any]:
    """Levels, or slopes per step, before and after a change: the facts, and how they are written."""
    point, before, after = change
    kind = context.kind_of(str(_metric_of(context, before)))

    def text(fact: Fact) -> str:
        if point.kind == "level":
            return context.doc.show(fact, None, kind)
        return mark(fact.id, signed(number(fact), kind, language=context.language))

    return {"before": before, "after": after, "before_text": text(before), "after_text": text(after)}


def _metric_of(context: Context, fact: Fact) -> str | None:
    parents = (context.ledger.get(name) for name in fact.inputs or ())
    return next((parent.metric for parent in parents if parent is not None and parent.metric), None)


def trend_sentence(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None = None) -> str:
    """Direction, ends and how sure: "about x a step" only where the metric moved step by step."""
    planned = schedule_sentence(context, metric, steps)
    if planned is not None:
        return planned
    course = order_sentence(context, metric, trend, steps) or course_sentence(context, metric, trend, steps)
    if course is not None:
        return course
    ends = {"first": context.value(metric, trend.first_step or 0), "last": context.value(metric, trend.last_step or 0)}
    change = main_change(context, trend, steps)
    if change is not None:
        way = _WAY.get(trend.direction or "", "none")
        jumped = jump_sentence(context, trend, change[0], steps) if change[0].kind == "level" else None
        if jumped is not None:
            return jumped
        if change[0].kind == "slope":
            return context.say(f"trend.{way}_bend", metric=metric, t=trend, **sides(context, change))
    if trend.n == 1:
        return context.say("trend.single", metric=metric, t=trend, **ends)
    if trend.n == 2 and held_out(metric) and (judged := _judged(context, metric, trend)):
        return judged
    if trend.direction == "inconclusive":
        return context.say(f"trend.{_few(context, metric, steps)}", metric=metric, t=trend, **ends)
    if trend.direction == "fluctuating" and (held := _held(context, metric, trend, steps)) is not None:
        return held
    if trend.form == "walk" and trend.direction not in _WAY:
        return context.say("trend.walk", metric=metric, t=trend, **ends, **extremes_of(context, metric, steps))
    paced = paced_sentence(context, metric, trend, steps)
    if paced is not None:
        return paced
    return context.say(f"trend.{trend.direction}", metric=metric, t=trend, **ends)


def _judged(context: Context, metric: str, trend: Fact) -> str:
    """The change between the only two validations, where the question is about them."""
    if context.query.steps.kind not in {"range", "pair"}:
        return ""
    held = [context.value(metric, step or 0) for step in (trend.first_step, trend.last_step)]
    return two_validations(context, metric, [fact for fact in held if fact is not None])


def _held(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None) -> str | None:
    """That a series without a direction has been one value for some time; ``None`` where it has not."""
    part = points(context, metric, steps)
    place = held_since(part)
    since = None if place is None else context.value(metric, int(part.steps[place]))
    last = context.value(metric, trend.last_step or 0)
    if place is None or since is None or last is None:
        return None
    count = context.ledger.count("last equal values", len(part) - place, metric=metric, last_step=trend.last_step)
    ends = extremes_of(context, metric, part.steps[:place].tolist())
    return context.say("trend.held", metric=metric, since=since, last=last, count=count, **ends)


def _few(context: Context, metric: str, steps: Sequence[int] | None) -> str:
    """How values that are too few for a trend follow one another."""
    wanted = None if steps is None else set(steps)
    held = {cell.step: cell.value for cell in context.run.cells(metric) if wanted is None or cell.step in wanted}
    values = [value for value in held.values() if math.isfinite(value)]
    moves = [b - a for a, b in itertools.pairwise(values)]
    if not moves or len(values) != len(held):
        return "few_two" if len(held) == 2 else "inconclusive"
    if not any(moves):
        return "few_same"
    if len(values) == 2:
        return "few_two"
    return "few_up" if min(moves) > 0 else "few_down" if max(moves) < 0 else "inconclusive"


def movement(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None = None) -> str:
    """A trend for a cell of a table: a word, and the step of a jump or turn."""
    held = held_since(points(context, metric, steps)) if trend.direction == "fluctuating" else None
    if held is not None:
        since = context.value(metric, int(points(context, metric, steps).steps[held]))
        return context.say("move.held", c=since)
    shape = course_shape(context, metric, trend, steps)
    if shape is not None:
        return context.say(f"move.{shape[0]}", c=shape[1])
    levels = [context.ledger.level(metric, trend, which, context.run) for which in ("first", "last")]
    moved = number(levels[1]) - number(levels[0]) if None not in levels else 0.0
    if moved * {"rising": 1, "falling": -1}.get(trend.direction or "", 0) < 0:
        return context.say("move.both")
    change = main_change(context, trend, steps)
    if change is not None:
        way = _WAY.get(trend.direction or "", "none")
        if change[0].kind == "slope":
            return context.say(f"move.{way}_turn", c=change[1])
        jump = jump_of(context, trend, change[0], steps)
        at = change[1] if jump is None or jump.first is None else jump.first
        return context.say(f"move.{way}_{'around' if jump is None or jump.first is None else 'jump'}", c=at)
    return context.say(f"move.{_WORD.get(trend.direction or '', 'none')}")


def from_to(context: Context, metric: str, trend: Fact) -> tuple[str, str]:
    """Where a metric came from and went to: medians of the first and last third, or the ends of a short series."""
    levels = context.levels(metric, trend)
    if levels:
        return levels["early"], levels["late"]
    ends = [context.value(metric, step or 0) for step in (trend.first_step, trend.last_step)]
    first, last = ("" if fact is None else context.doc.show(fact) for fact in ends)
    return first, last


def gone_since(context: Context, metric: str) -> Fact | None:
    """The first of the values that are no finite number up to the last of the log; ``None`` where the last is finite.

    What medians and trends tell of such a metric ends before it.
    """
    steps, values = context.run.series(metric)
    odd = list(
        itertools.takewhile(lambda pair: not math.isfinite(pair[1]), zip(steps[::-1], values[::-1], strict=True))
    )
    return context.value(metric, odd[-1][0]) if odd else None


def _most_of_the_last_third(context: Context, metric: str, gone: Fact) -> bool:
    steps = context.run.series(metric)[0]
    return 6 * sum(step >= (gone.step or 0) for step in steps) >= len(steps)


def course_table(
    context: Context, metrics: Sequence[str], *, step: int | None = None, peak: bool = False, least: int = 2
) -> None:
    """A line a metric: where it came from and went to, and how it moved.

    Args:
        context: of the answer.
        metrics: keys; those with fewer than ``least`` points are left out.
        step: adds a column with the value there.
        peak: adds a column with the largest value and its step.
        least: points.
    """
    doc, say, rows, moves, ends = context.doc, context.say, [], [], set[bool]()
    for metric in metrics:
        trend = context.ledger.trend(metric)
        if trend is None or (trend.n or 0) < least:
            continue
        early, late = from_to(context, metric, trend)
        gone = gone_since(context, metric)
        if gone is not None and _most_of_the_last_third(context, metric, gone):
            late = doc.show(gone)
        ends.add(not context.levels(metric, trend))
        row = [f"`{metric}`", f"{early} → {late}"]
        if step is not None:
            fact = context.value(metric, step)
            row.insert(1, "—" if fact is None else doc.show(fact))
        if peak:
            row.insert(1, _peak(context, metric))
        rows.append(row)
        if gone is not None:
            moves.append(say("move.not_finite", v=gone))
        else:
            moves.append(movement(context, metric, trend) if trend.direction != "inconclusive" else "")
    kind = "head.mixed" if len(ends) > 1 else "head.first_last" if True in ends else "head.from_to"
    head = [say("head.metric"), say(kind)]
    if step is not None:
        head.insert(1, say("head.at_step", step=step))
    if peak:
        head.insert(1, say("head.peak"))
    if any(moves):  # with too few points for any trend, the column would say nothing
        head.append(say("head.trend"))
        rows = [[*row, moved or say("move.few")] for row, moved in zip(rows, moves, strict=True)]
    doc.table(head, rows)


def _peak(context: Context, metric: str) -> str:
    steps, values = context.run.series(metric)
    numbers = [(value, at) for value, at in zip(values, steps, strict=True) if not math.isnan(value)]
    at = max(numbers)[1] if numbers else steps[0]
    fact = context.value(metric, at)
    assert fact is not None
    return context.say("move.peak", v=fact)
