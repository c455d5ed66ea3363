"""A metric over the steps at which another (or itself) meets a limit: "截断率超过 40% 时 score 平均多少"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from assistant.ask.plan.build import WINDOWS, Limit, Output, Plan, ends_of, limits_of, window_of
from assistant.ask.plan.tags import Tag
from assistant.model import Run

_READ = frozenset({"metric", "limit", "stat", "and", "first_time", "except", "there", "its"}) | WINDOWS
_CROSSED = "crossed"


def plan_of_limited(tags: Sequence[Tag], run: Run) -> Plan | None:
    """Statistics over the steps that meet all limits, or the value where the one limit is first met."""
    kinds = {tag.kind for tag in tags}
    metrics = list(dict.fromkeys(str(tag.value[0]) for tag in tags if tag.kind == "metric"))
    counted = kinds == {"metric", "limit", "share"} or (kinds == {"metric", "limit", "list"} and _between(tags))
    read = metrics and "limit" in kinds and (kinds <= _READ or counted)
    limits = limits_of(tags, metrics, run) if read else None
    windows = [tag for tag in tags if tag.kind in WINDOWS]
    if not limits or any(metric not in run.columns for metric in metrics) or len(windows) > 1:
        return None
    if "except" in kinds:
        kept = limits[0].condition.denied
        if len(limits) > 1 or kept is None:
            return None
        limits = [replace(limits[0], condition=kept)]
    stats = list(dict.fromkeys(str(tag.value[0]) for tag in tags if tag.kind == "stat"))
    limited = {one.metric for one in limits}
    others = [metric for metric in metrics if metric not in limited]
    if counted and len(limits) == 1 and not others:
        return Plan(limits=tuple(limits), steps=ends_of(run, metrics), listed="list" in kinds)
    if (
        counted
        or (not others and not stats)
        or len(others) > 3
        or len(stats) > 2
        or any(t.kind == "point" for t in windows)
    ):
        return None
    ends = window_of(windows[0], limits[0].metric, run) if windows else ends_of(run, sorted(limited))
    if ends is None:
        return None
    met = _met(limits, run, ends)
    first = "first_time" in kinds or any(tag.kind == "limit" and _CROSSED in tag.value for tag in tags)
    if not met:
        return None  # said by the readers of one limit
    if first and not stats:
        at = met[0]
        if len(limits) > 1 or not others or any(at not in run.series(metric)[0] for metric in others):
            return None
        return Plan(
            tuple(Output(metric, "value", at, at) for metric in (limits[0].metric, *others)),
            event=(at, limits[0]), first_met=True,
        )  # fmt: skip
    if first or kinds & {"there"}:
        return None
    outputs = []
    for metric in others or [limits[0].metric]:
        held = [int(step) for step in run.series(metric)[0] if step in met]
        if not held:
            return None
        among = tuple(held)
        outputs += [
            Output(metric, stat, held[0], held[-1], among=among, limits=tuple(limits)) for stat in stats or ["mean"]
        ]
    return Plan(tuple(outputs))


def _between(tags: Sequence[Tag]) -> bool:
    return any(tag.kind == "limit" and tag.value[0] == "between" for tag in tags)


def _met(limits: Sequence[Limit], run: Run, ends: tuple[int, int]) -> list[int]:
    """Steps from the one to the other at which every limit is met."""
    met: set[int] | None = None
    for one in limits:
        steps, values = run.series(one.metric)
        here = {
            int(s) for s, v in zip(steps, values, strict=True)
            if math.isfinite(v) and ends[0] <= s <= ends[1] and one.condition.holds(v)
        }  # fmt: skip
        met = here if met is None else met & here
    return sorted(met or ())
