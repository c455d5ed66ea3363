"""What a course without one direction did all the same: its latest values in order, or one turn and no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from assistant.analysis.in_order import InOrder, latest_in_order, one_turn, parted
from assistant.analysis.series import Series, series
from assistant.ask.context import Context
from assistant.model import Fact

#: Forms of a trend without a direction, in which the order of the values is still to be told.
_OPEN: Final = {None, "walk", "drift"}
#: Odds beyond which no more is said than that they are at least that.
_MOST_ODDS: Final = 1_000_000


def in_order(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None = None) -> InOrder | None:
    """The latest values in order of a course in which no direction was found; ``None`` for every other."""
    if trend.direction != "fluctuating" or trend.form not in _OPEN:
        return None
    return latest_in_order(_points(context, metric, steps).values)


def order_sentence(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None = None) -> str | None:
    """That the latest values only fell (or rose), or that the course turned once; ``None`` where it did neither."""
    if trend.direction != "fluctuating" or trend.form not in _OPEN:
        return None
    points = _points(context, metric, steps)
    row = in_order(context, metric, trend, steps)
    ends: dict[str, Any] = {
        name: context.value(metric, step or 0)
        for name, step in (("first", trend.first_step), ("last", trend.last_step))
    }
    if row is None:
        place = one_turn(points.values)
        if place is None:
            return _parted_sentence(context, metric, points, ends["last"])
        turn = context.value(metric, int(points.steps[place]))
        low = points.values[place] < points.values[0]
        return context.say(f"trend.one_turn_{'low' if low else 'high'}", metric=metric, t=trend, turn=turn, **ends)
    since = context.value(metric, int(points.steps[row.start]))
    last_step = int(points.steps[-1])
    count = context.ledger.count("values in a row", row.count, metric=metric, last_step=last_step)
    odds = context.ledger.derived(
        f"odds_in_order/{metric}", min(round(row.odds), _MOST_ODDS), step=last_step, inputs=[since, ends["last"]],
        formula="k! ÷ (2 · orders of equal values), k values in a row", run=context.run,
    )  # fmt: skip
    way = "up" if row.sign > 0 else "down"
    return context.say(
        f"trend.row_{way}{'_most' if row.outermost else ''}",
        metric=metric, t=trend, since=since, count=count, odds=odds, **ends,
    )  # fmt: skip


def left_its_level(context: Context, metric: str, trend: Fact, steps: Sequence[int] | None = None) -> int:
    """+1 or −1 where a course without a direction ends at a level above or below that of its beginning, else 0."""
    if trend.direction != "fluctuating" or trend.form not in _OPEN:
        return 0
    found = parted(_points(context, metric, steps).values)
    return 0 if found is None else found.sign


def _parted_sentence(context: Context, metric: str, points: Series, last: Fact | None) -> str | None:
    """That the last values lie beyond all earlier ones; ``None`` where they do not."""
    found = parted(points.values)
    if found is None:
        return None
    head, tail = points.values[: found.until + 1], points.values[found.start :]
    edges = {"up": (head.argmax(), tail.argmin()), "down": (head.argmin(), tail.argmax())}
    way = "up" if found.sign > 0 else "down"
    before, after = (int(place) for place in edges[way])
    steps = points.steps
    count = context.ledger.count("values at the end", len(tail), metric=metric, last_step=int(steps[-1]))
    extreme = int(points.values.argmin() if found.sign > 0 else points.values.argmax())
    return context.say(
        f"trend.parted_{way}", metric=metric, count=count, last=last,
        since=int(steps[found.start]), until=int(steps[found.until]),
        edge=context.value(metric, int(steps[before])), bound=context.value(metric, int(steps[found.start + after])),
        outer=context.value(metric, int(steps[extreme])),
    )  # fmt: skip


def _points(context: Context, metric: str, steps: Sequence[int] | None) -> Series:
    whole = series(context.run, metric)
    return whole if steps is None else whole.at(steps)
