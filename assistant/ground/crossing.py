"""Bounds that values meet: at how many steps, and at which for the first time."""

from __future__ import annotations

import re
from typing import Final

from assistant.ground.binding import Frame, metric_of
from assistant.ground.cells import excepted
from assistant.ground.judging import Judge
from assistant.ground.quantities import Quantity

_COUNTS: Final = frozenset({"steps", "points", "validations", ""})
_FIRST: Final = re.compile(r"(?i)\bfirst\b|首次|第一次|最早|首度")
_EVERY: Final = re.compile(r"(?i)\b(?:every|each|all|always|throughout)\b|每一?步|所有|始终|一直|全部|都")
#: A bound that a course leads to: 一路窜到 2 以上.
_REACHED: Final = re.compile(r"(?i)[到至]\s*$|\bto (?:above|below|over|under)\s*$")


def met(frame: Frame, judge: Judge, start: int, end: int, more: bool) -> bool:
    """``above 0.4 at 33 steps``: the count told is that of the steps that meet the bound.

    Args:
        frame: the sentence.
        judge: knows the run, and the cells that numbers were tied to.
        start, end: the word that says the bound.
        more: whether it asks for more.
    """
    bounds = [at for at, q in enumerate(frame.numbers) if q.bound and q.unit not in {"steps", "points", "validations"}]
    if not bounds:
        return False
    at = min(bounds, key=lambda n: max(frame.numbers[n].start - end, start - frame.numbers[n].end))
    q = frame.numbers[at]
    name, _ = metric_of(frame, at)
    counted = [one.number for one in frame.numbers if one.unit in _COUNTS and not one.bound and not one.decimals]
    for key in name.keys[:3] if name is not None else ():
        rows = judge.table.finite(key)
        spans = [set(place.steps) for place in frame.places if place.kind == "range"]
        for span in spans[:1]:
            rows = [row for row in rows if row[0] in span]
        left_out = excepted(frame)
        rows = [row for row in rows if row[0] not in left_out]
        for level, _ in {reading for row in rows[:1] for reading in judge.table.readings(q, key, row[1])}:
            meeting = [step for step, value in rows if (value > level if q.bound == ">" else value < level)]
            own = [p for p in frame.places if len(p.steps) == 1 and frame.clause(p.start) == frame.clause(start)]
            if len(own) == 1 and end > q.end:  # "…从未超过 0.3，第 11 步超过了"
                there = judge.table.value(key, own[0].steps[0])
                return there is not None and (there > level if more else there < level)
            if _EVERY.search(frame.text):
                return len(meeting) == len(rows)
            if counted and float(len(meeting)) in counted:
                return True
            told = [step for other, (own, step) in sorted(judge.told.items()) if own == key and other > at]
            if _REACHED.search(frame.text[max(0, q.start - 12) : q.start]) and rows[-1][0] in meeting:
                return True
            if told and _REACHED.search(frame.text[max(0, q.start - 12) : q.start]) and told[-1] in meeting:
                return True
    return False


def first_met(frame: Frame, judge: Judge) -> bool:
    """``首次超过 3 是第 75 步，首次超过 4 是第 103 步``: each bound is met at the step told, and at none before."""
    singles = [place for place in frame.places if len(place.steps) == 1]
    bounds = [at for at, q in enumerate(frame.numbers) if q.bound]
    if not bounds or len(singles) != len(bounds) or len(_FIRST.findall(frame.text)) != len(bounds):
        return False
    for at, place in zip(bounds, singles, strict=True):
        q = frame.numbers[at]
        name, _ = metric_of(frame, at)
        if name is None or not any(_first(judge, key, q, place.steps[0]) for key in name.keys[:3]):
            return False
    return True


def _first(judge: Judge, key: str, q: Quantity, step: int) -> bool:
    rows = judge.table.finite(key)
    levels = {level for row in rows[:1] for level, _ in judge.table.readings(q, key, row[1])}
    return any(
        next((at for at, value in rows if (value > level if q.bound == ">" else value < level)), None) == step
        for level in levels
    )


def multiplied(frame: Frame, judge: Judge, end: int) -> bool:
    """``more than quadruples``: the factor right behind the word against that of the change told."""
    following = next((q for q in frame.numbers if q.end > end and q.start - end <= 6), None)
    if following is None or not following.bound or following.unit not in {"factor", "ratio"} or judge.pair is None:
        return False
    key, a, b = judge.pair
    x, y = judge.table.value(key, min(a, b)), judge.table.value(key, max(a, b))
    if not x or y is None or x * y < 0:
        return False
    return y / x > following.number if following.bound == ">" else y / x < following.number
