"""Follow-ups that ask something of the values and parts told before.

Which of them, how far apart, their mean, the part on the other side, and another metric at those steps.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from assistant.ask.plan.build import Output, Plan, window_of
from assistant.ask.plan.tags import Tag
from assistant.ask.query import State, Told
from assistant.model import Run

_OF_TOLD = frozenset(
    {"which", "difference", "ratio", "noise", "and", "these", "stat", "previous_n", "around", "last_n", "moved",
     "percent", "back", "before_it", "after_it"}
)  # fmt: skip
_AGAINST = frozenset({"which", "difference", "ratio", "noise", "moved", "percent"})
_BROKEN = re.compile(r"(?i)\bnan\b|\binf\b|崩|炸|挂|垮|broke|break|collaps|diverg|explod")
_EXTREMES = frozenset({"max", "min"})


def plan_of_told(tags: Sequence[Tag], run: Run, state: State) -> Plan | None:
    """What a follow-up that names no metric asks of the parts and the values that were told before."""
    kinds = {tag.kind for tag in tags} - {"and", "its"}
    cells = [one for one in state.cells if one.metric in run.columns]
    if not cells or not kinds or not kinds <= _OF_TOLD:
        return None
    stats = list(dict.fromkeys(str(tag.value[0]) for tag in tags if tag.kind == "stat"))
    if len(stats) > 1:
        return None
    last, stat = cells[-1], stats[0] if stats else ""
    if last.first is not None:
        if kinds <= {"previous_n", "stat"} and "previous_n" in kinds:
            return _previous(tags, last, stat, run, state)
        if kinds <= {"around", "stat"} and "around" in kinds:
            return _around(tags, last, stat, run, state)
        broken = state.query is not None and _BROKEN.search(state.query.wording or state.query.text) is not None
        if broken and kinds & {"before_it", "after_it"}:
            return None  # the step at which it broke belongs to neither side, which has a reader of its own
        if kinds <= {"before_it", "after_it", "back", "stat"} and kinds & {"before_it", "after_it", "back"}:
            return _beside(tags, kinds, cells, stat, run)
    if kinds & {"previous_n", "around", "before_it", "after_it", "back"}:
        return None
    named = next((int(tag.value[0]) for tag in tags if tag.kind in {"these", "last_n"} and tag.value), 0)
    if kinds & {"these", "last_n"} and (points := points_told(cells, last.metric)) and (named or len(points)) >= 2:
        if len(points) < (named or 2) or (
            "last_n" in kinds and not kinds & {"difference", "ratio", "which", "percent"}
        ):
            return None
        return _of_points(tags, last.metric, points[-(named or len(points)) :], stat)
    if stats or (kinds & {"these", "last_n"} and named > 2) or not kinds & _AGAINST:
        return None
    return _of_parts(tags, cells, run)


def points_told(cells: Sequence[Told], metric: str) -> list[int]:
    """Steps at which values of a metric were told one by one, in the order told; both ends of a pair."""
    steps: list[int] = []
    for one in cells:
        if one.metric == metric and one.first is not None and (one.alone or one.of_two):
            steps = [step for step in steps if step not in one.steps] + list(one.steps)
    return steps


def _asked(tags: Sequence[Tag], outputs: tuple[Output, ...]) -> Plan:
    """Two values set against each other in the way that is asked for."""
    kinds = {tag.kind for tag in tags}
    ways = {str(tag.value[0]) for tag in tags if tag.kind == "ratio"}
    which = next((str(tag.value[0]) for tag in tags if tag.kind == "which"), "")
    moved = next((str(tag.value[0]) for tag in tags if tag.kind == "moved"), "")
    return Plan(
        outputs, not ways or "difference" in kinds, ratio="less" in ways, factor=bool(ways - {"less"}), which=which,
        noise="noise" in kinds, moved=moved, percent="percent" in kinds,
    )  # fmt: skip


def _of_points(tags: Sequence[Tag], metric: str, points: Sequence[int], stat: str) -> Plan | None:
    kinds = {tag.kind for tag in tags}
    if stat and not kinds & _AGAINST:
        if stat in _EXTREMES:
            return Plan(tuple(Output(metric, "value", step, step) for step in points), which=stat)
        ordered = tuple(sorted(points))
        return Plan((Output(metric, stat, ordered[0], ordered[-1], among=ordered),))
    values = tuple(Output(metric, "value", step, step) for step in points)
    if stat or not kinds & _AGAINST or (len(values) != 2 and kinds & (_AGAINST - {"which"})):
        return None
    return _asked(tags, values)


def _of_parts(tags: Sequence[Tag], cells: Sequence[Told], run: Run) -> Plan | None:
    """The last two told of one metric, of which one at least is a statistic of a part; the earlier part first."""
    last = cells[-1]
    same = [one for one in cells if one.metric == last.metric and (one.alone or _part(one))]
    if len(same) < 2 or not (_part(same[-1]) or _part(same[-2])) or last not in same:
        return None
    pair = same[-2:]
    if all(one.first is not None and not one.alone for one in pair):
        pair = sorted(pair, key=lambda one: one.first or 0)
    elif last.alone or {tag.kind for tag in tags} - {"and"} != {"difference"}:
        return None
    return _asked(tags, tuple(_again(one, run) for one in pair))


def _part(one: Told) -> bool:
    return not one.alone and not one.of_two and (one.first is not None or one.statistic != "value")


def _again(one: Told, run: Run) -> Output:
    """What was told, once more; a part by its mean where no other statistic was told."""
    if one.alone:
        return Output(one.metric, "value", int(one.first or 0), int(one.first or 0))
    stat = "mean" if one.statistic == "value" else one.statistic
    if one.first is None:
        steps = run.series(one.metric)[0]
        return Output(one.metric, stat, int(steps[0]), int(steps[-1]), True)
    return Output(one.metric, stat, int(one.first), int(one.last or 0))


def _previous(tags: Sequence[Tag], last: Told, stat: str, run: Run, state: State) -> Plan | None:
    if last.alone or last.of_two:
        return None
    tag = next(tag for tag in tags if tag.kind == "previous_n")
    ends = window_of(tag, last.metric, run, state)
    again = _again(last, run)
    return None if ends is None else Plan((replace(again, stat=stat or again.stat, first=ends[0], last=ends[1]),))


def _around(tags: Sequence[Tag], last: Told, stat: str, run: Run, state: State) -> Plan | None:
    if state.step is None:
        return None
    held, number = run.series(last.metric)[0], next(int(t.value[0]) for t in tags if t.kind == "around")
    before = [s for s in held if s < state.step][-number:]
    after = [s for s in held if s > state.step][:number]
    if not before or not after or not number:
        return None
    stat = stat or "mean"
    return Plan((Output(last.metric, stat, before[0], before[-1]), Output(last.metric, stat, after[0], after[-1])))


def _beside(tags: Sequence[Tag], kinds: set[str], cells: Sequence[Told], stat: str, run: Run) -> Plan | None:
    """The part on the other side of what parts the run; the values right before and after a step."""
    last = cells[-1]
    steps = [int(step) for step in run.series(last.metric)[0]]
    back = {int(tag.value[0]) for tag in tags if tag.kind == "back"}
    later, sooner = "after_it" in kinds or 1 in back, "before_it" in kinds or -1 in back
    if back - {1, -1}:
        return None
    if last.alone and not stat and last.first in steps:
        place = steps.index(int(last.first or 0))
        if later and sooner:
            held = [steps[at] for at in (place - 1, place + 1) if 0 <= at < len(steps)]
            return Plan(tuple(Output(last.metric, "value", s, s) for s in held)) if len(held) == 2 else None
        anchor = next((one for one in cells[-2::-1] if one.metric == last.metric and one.alone), None)
        if not later or back or anchor is None or anchor.first not in steps:
            return None
        at = steps.index(int(anchor.first or 0))
        if at - 1 != place or at + 1 >= len(steps):
            return None  # "and after", of the step before which was told
        return Plan((Output(last.metric, "value", steps[at + 1], steps[at + 1]),))
    first, final = int(last.first or 0), int(last.last or 0)
    points = {one.first for one in cells if one.metric == last.metric and one.alone}
    since = last.of_two and bool(stat) and first in points and final == steps[-1]  # "and after that?", of the course
    if back or later == sooner or last.alone or (last.of_two and not since):
        return None
    apart = {one.first for one in cells if one.metric == last.metric and one.alone and one.statistic in _EXTREMES}
    if later and first == steps[0]:
        rest = [step for step in steps if step > final]
        rest = rest[1:] if rest and rest[0] in apart else rest
    elif sooner and final == steps[-1]:
        rest = [step for step in steps if step < first]
        rest = rest[:-1] if rest and rest[-1] in apart else rest
    else:
        return None
    return Plan((Output(last.metric, stat or last.statistic, rest[0], rest[-1]),)) if rest else None


# -- another metric at the steps told ------------------------------------------------------------------------------
def plan_at_told(tags: Sequence[Tag], run: Run, state: State) -> Plan | None:
    """A metric at the steps told before: at those three, at the one that came second, where the other was lowest."""
    kinds = {tag.kind for tag in tags} - {"and"}
    metrics = list(dict.fromkeys(str(tag.value[0]) for tag in tags if tag.kind == "metric"))
    cells = [one for one in state.cells if one.metric in run.columns]
    if len(metrics) != 1 or not cells or metrics[0] not in run.columns:
        return None
    metric = metrics[0]
    held = run.series(metric)[0]
    if kinds == {"metric", "these"}:
        named = next((int(tag.value[0]) for tag in tags if tag.kind == "these" and tag.value), 0)
        points = sorted(points_told(cells, cells[-1].metric)[-named:] if named else [])
        if len(points) != named or not named or any(step not in held for step in points):
            return None
        return Plan(tuple(Output(metric, "value", step, step) for step in points))
    if kinds == {"metric", "its"}:
        last = cells[-1]
        if not last.alone or last.statistic not in _EXTREMES or last.metric == metric or last.first not in held:
            return None
        return Plan((Output(metric, "value", int(last.first or 0), int(last.first or 0)),))
    place = next((place for place, tag in enumerate(tags) if tag.kind == "there"), len(tags))
    if kinds not in ({"metric", "rank", "there"}, {"metric", "stat", "there"}) or any(
        tag.kind == "metric" for tag in tags[:place]
    ):
        return None
    by = next((one for one in reversed(cells) if one.metric != metric), None)
    if by is None:
        return None
    told = next(tag for tag in tags if tag.kind in {"rank", "stat"})
    nth, side = (1, str(told.value[0])) if told.kind == "stat" else (int(told.value[0]), str(told.value[1]))
    if side == "told":
        side = next((one.statistic for one in reversed(cells) if one.metric == by.metric), "")
        side = (state.query.op or "").removeprefix("arg") if state.query and side not in _EXTREMES else side
    if side not in _EXTREMES:
        return None
    step = _ranked(by.metric, run, nth, high=side == "max")
    if step is None or step not in held:
        return None
    return Plan((Output(by.metric, "value", step, step), Output(metric, "value", step, step)))


def _ranked(metric: str, run: Run, nth: int, *, high: bool) -> int | None:
    """The step of the nth largest or smallest value; ``None`` where others share it."""
    values = [(v, int(s)) for s, v in zip(*run.series(metric), strict=True) if math.isfinite(v)]
    ordered = sorted(values, reverse=high)
    if len(ordered) < max(2, nth):
        return None
    value, step = ordered[nth - 1]
    return step if sum(one == value for one, _ in values) == 1 else None
