"""The longest streak of a metric, and the window of so many steps with the highest or lowest mean."""

from __future__ import annotations

import itertools
import math

from assistant.ask.computed import Request
from assistant.ask.context import Context
from assistant.ask.in_a_row import rows
from assistant.ask.part import Part, cell, limit_text, shown, statistic

#: A window counts where it holds at least this share of the values that its length lets expect.
FULL = 0.75


def streak(context: Context, request: Request, part: Part) -> list[str]:
    """The longest row of rises, of falls, or of values that meet a condition."""
    say, metric, values = context.say, part.metric, part.values
    broken = _broken(context, part)
    if request.limit is not None:
        limit = request.limit.scaled(max(abs(v) for v in values))
        text = limit_text(context, limit, metric)
        held = [limit.holds(v) for v in values]
        first, last = longest(held, broken)
        if request.number:
            return _in_a_row(context, request, part, (held, broken, text))
        if last < first:
            return [say("calc.never", metric=metric, limit=text, over=part.over)]
        ends = {"a": cell(context, part, first), "b": cell(context, part, last)}
        count = context.ledger.count("values in a row", last - first + 1, metric=metric)
        return [
            say("calc.streak_limit", metric=metric, limit=text, k=count, over=part.over, **ends),
            say("calc.streak_counts"),
        ]
    way = "up" if request.high else "down"
    moved = [b > a if request.high else b < a for a, b in itertools.pairwise(values)]
    # A move stands between two values: it is broken off where a cut line stands between them, and each move is joined
    # to the one before by the value that they share.
    whole = [one and place + 1 not in broken for place, one in enumerate(moved)]
    first, last = longest(whole, set())
    if last < first:
        return [say(f"calc.streak_none_{way}", metric=metric, over=part.over)]
    count = context.ledger.count("moves in a row", last - first + 1, metric=metric)
    ends = {"a": cell(context, part, first), "b": cell(context, part, last + 1)}
    return [say(f"calc.streak_{way}", metric=metric, k=count, over=part.over, **ends), say("calc.streak_counts")]


def _in_a_row(context: Context, request: Request, part: Part, told: tuple[list[bool], set[int], str]) -> list[str]:
    """The first row of at least so many values that meet the condition, and how many such rows there are."""
    (held, broken, text), metric, say = told, part.metric, context.say
    least = context.ledger.constant("values in a row", request.number, "the question")
    found = rows(held, broken, request.number)
    if not found:
        first, last = longest(held, broken)
        if last < first:
            return [say("calc.never", metric=metric, limit=text, over=part.over)]
        ends = {"a": cell(context, part, first), "b": cell(context, part, last)}
        most = context.ledger.count("values in a row", last - first + 1, metric=metric)
        return [say("calc.row_none", metric=metric, limit=text, least=least, k=most, over=part.over, **ends)]
    first, last = found[0]
    ends = {"a": cell(context, part, first), "b": cell(context, part, last)}
    count = context.ledger.count("values in the first row", last - first + 1, metric=metric)
    number = context.ledger.count("rows of so many values", len(found), metric=metric)
    return [
        say("calc.row_first", metric=metric, limit=text, least=least, k=count, n=number, over=part.over, **ends),
        say("calc.streak_counts"),
    ]


def _broken(context: Context, part: Part) -> set[int]:
    """Places of values before which the run lost one in a cut line."""
    lost = sorted(part.lost)
    return {
        place for place in range(1, len(part)) if any(part.steps[place - 1] < step < part.steps[place] for step in lost)
    }  # fmt: skip


def longest(held: list[bool], broken: set[int]) -> tuple[int, int]:
    """First and last place of the longest row of ``True``, the earliest of equals; ``(0, -1)`` where there is none.

    Args:
        held: shape (n,).
        broken: places that cannot be joined to the one before.
    """
    best, start = (0, -1), None
    for place, one in enumerate(held):
        if not one:
            start = None
            continue
        if start is None or place in broken:
            start = place
        if place - start > best[1] - best[0]:
            best = (start, place)
    return best


def window(context: Context, request: Request, part: Part) -> list[str]:
    """Of all windows of so many steps, the one whose values have the highest (or lowest) mean."""
    say, metric = context.say, part.metric
    asked = context.ledger.constant("window", request.number, "the question")
    found = best_window(part.steps, part.values, request.number, high=request.high is not False)
    if found is None:
        return [say("calc.window_none", metric=metric, k=asked, over=part.over)]
    first, last = found
    steps, values = part.steps[first : last + 1], part.values[first : last + 1]
    inner = Part(metric, steps, values, 0, (), "")
    mean = statistic(context, inner, "window mean", math.fsum(values) / len(values), "mean")
    whole = statistic(context, part, "mean", math.fsum(part.values) / len(part), "mean")
    count = context.ledger.count("values in the window", len(values), metric=metric)
    side = "high" if request.high else "low"
    return [
        say(
            f"calc.window_{side}", metric=metric, k=asked, first=steps[0], last=steps[-1], n=count,
            v=shown(context, mean, metric),
        ),
        say("calc.window_against", v=shown(context, whole, metric), over=part.over),
    ]  # fmt: skip


def best_window(
    steps: tuple[int, ...], values: tuple[float, ...], length: int, *, high: bool
) -> tuple[int, int] | None:  # fmt: skip
    """First and last place of the window of ``length`` steps with the highest (or lowest) mean; the earliest of equals.

    A window begins at a step with a value and lies within the steps; it must hold three quarters of the values that
    the usual distance between values lets expect, and two at least.

    Args:
        steps: ascending, shape (n,).
        values: finite, shape (n,).
        length: in steps.
        high: the highest mean rather than the lowest.
    """
    if len(steps) < 2 or steps[-1] - steps[0] + 1 < length:
        return None
    apart = sorted(b - a for a, b in itertools.pairwise(steps))
    expected = length / apart[len(apart) // 2]
    sums = [0.0]
    for value in values:
        sums.append(sums[-1] + value)
    best: tuple[float, int, int] | None = None
    end = 0
    for start, step in enumerate(steps):
        if step + length - 1 > steps[-1]:
            break
        while end < len(steps) and steps[end] < step + length:
            end += 1
        count = end - start
        if count < max(2.0, FULL * expected):
            continue
        mean = (sums[end] - sums[start]) / count
        if best is None or (mean > best[0] if high else mean < best[0]):
            best = (mean, start, end - 1)
    return None if best is None else (best[1], best[2])
