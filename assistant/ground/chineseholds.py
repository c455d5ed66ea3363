"""Whether the log bears out what a Chinese sentence in plain form claims (:mod:`assistant.ground.chineseclaims`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from assistant.ground.changes import SPEED
from assistant.ground.chinesereading import FIRST, Claimed
from assistant.ground.deciding import Decision
from assistant.ground.judging import Judge
from assistant.ground.places import Place
from assistant.ground.quantities import Quantity
from assistant.ground.table import agrees
from assistant.ground.verdicts import plain
from assistant.ground.wholephases import phases_of


def holds(one: Claimed, keys: Sequence[str], judge: Judge) -> Decision:
    """Whether the log bears a claim out."""
    table = judge.table
    steps = [_step(place, keys[0], judge) for place in one.at]
    q = one.number
    if one.what == "value" and q is not None:
        return judge.cell(q, keys[0], steps[0])
    total = table.total_time()
    if one.what == "whole" and q is not None:
        return judge.cell(q, total, steps[0]) if total else Decision("unsupported")
    known: list[float] = []
    for step in steps:
        value = table.value(keys[0], step)
        if value is None or not math.isfinite(value):
            return judge.missing(keys[0], step)
        known.append(value)
    sense = -one.sense if one.pace and SPEED.search(keys[0]) else one.sense
    if one.what in {"way", "moved", "signed", "over"}:
        return _between(one, keys[0], known, steps, sense, judge)
    if one.what == "total" and q is not None:
        true = sum(v for s, v in table.finite(keys[0]) if steps[0] <= s <= steps[-1])
        fine = any(agrees(abs(n), h, true) for n, h in table.readings(q, keys[0], true))
        return _decided(fine, judge.say("sum", true=plain(true), shown=q.text), None, keys[0])
    if one.what == "extreme":
        rows = table.finite(keys[0])
        best = (max if sense > 0 else min)(rows, key=lambda row: row[1])
        return _decided(known[0] == best[1], _as_value(judge, keys[0], best[0]), None, keys[0])
    if one.what == "most":
        phases = phases_of(table, keys[0], steps[0])
        if keys[0] not in phases:
            return Decision("unsupported")
        longest = max(phases, key=lambda key: phases[key])
        return _decided(phases[keys[0]] == phases[longest], _as_value(judge, longest, steps[0]), None, keys[0])
    if one.what in {"mean", "over mean", "off mean", "sum", "share", "share way"}:
        return _computed(one, keys, known, steps, sense, judge)
    second = table.value(keys[1], steps[0])
    if second is None or not math.isfinite(second):
        return judge.missing(keys[1], steps[0])
    if table.kind(keys[1]) != table.kind(keys[0]):
        return Decision("unsupported")
    fine = False
    if one.what == "more":
        fine = (known[0] - second) * sense > 0
    elif one.what == "times" and q is not None:
        factor = 0.01 if q.unit == "%" else 1.0
        fine = bool(second) and agrees(q.number * factor, q.half * factor, known[0] / second)
    elif one.what == "apart" and q is not None:
        if q.unit == "%":
            fine = bool(second) and agrees(q.number, q.half, abs(known[0] / second - 1) * 100)
        elif q.unit not in {"ratio", "factor"}:
            apart = abs(known[0] - second)
            fine = any(agrees(abs(n), h, apart) for n, h in table.readings(q, keys[0], apart))
    told = [_as_value(judge, key, steps[0]) for key in keys[:2]]
    return _decided(fine, "; ".join(told), None, keys[0])


def _as_value(judge: Judge, key: str, step: int) -> str:
    """What a metric is at a step, as a reason."""
    cell = judge.table.run.cell(key, step)
    return judge.say("held", metric=key, step=step, true=cell.value if cell else "", line=cell.line if cell else 0)


def _computed(  # noqa: PLR0917
    one: Claimed, keys: Sequence[str], values: Sequence[float], steps: Sequence[int], sense: int, judge: Judge
) -> Decision:
    """A value against the mean of its metric, a sum of several at a step, their share of the step's time."""
    table, q = judge.table, one.number
    key, value, step = keys[0], values[0], steps[0]
    total = table.total_time()
    if one.what == "share way":
        wholes = [table.value(total, at) if total else None for at in steps]
        if table.kind(key) != "seconds" or not all(wholes):
            return Decision("unsupported")
        one_share, two_share = (a / (b or 1.0) for a, b in zip(values, wholes, strict=True))
        note = judge.say(
            "share",
            metric=key,
            step=steps[-1],
            true=f"{plain(100 * two_share, 3)}%",
            shown=f"{plain(100 * one_share, 3)}%",
        )
        return _decided((two_share - one_share) * one.sense > 0, note, None, key)
    if one.what in {"mean", "over mean", "off mean"}:
        rows = table.finite(key)
        mean = sum(v for _, v in rows) / len(rows)
        note = judge.say(
            "mean", metric=key, first=rows[0][0], last=rows[-1][0], true=plain(mean), shown=q.text if q else ""
        )
        if one.what == "mean" and q is not None:
            return _decided(any(agrees(n, h, mean) for n, h in table.readings(q, key, mean)), note, None, key)
        if q is None:
            return _decided((value - mean) * sense > 0, note, None, key)
        return _decided(judge.changes.is_change(replace(q, sign=""), table.kind(key), mean, value), note, None, key)
    cells = [table.value(k, step) for k in keys]
    whole = table.value(total, step) if total else None
    if any(c is None or table.kind(k) != table.kind(key) for c, k in zip(cells, keys, strict=True)) or q is None:
        return Decision("unsupported")
    summed = sum(c for c in cells if c is not None)
    if one.what == "sum":
        fine = any(agrees(abs(n), h, summed) for n, h in table.readings(q, key, summed))
        return _decided(fine, judge.say("sum", true=plain(summed), shown=q.text), None, key)
    if not whole or table.kind(key) != "seconds":
        return Decision("unsupported")
    true = 100 * summed / whole
    note = judge.say("share", metric=" + ".join(keys), step=step, true=f"{plain(true, 3)}%", shown=q.text)
    return _decided(agrees(q.number, q.half, true), note, None, key)


def _decided(fine: bool, note: str, fact: str | None, key: str) -> Decision:
    return Decision("supported" if fine else "contradicted", "" if fine else note, fact, key)


def _between(  # noqa: PLR0917
    one: Claimed, key: str, known: Sequence[float], steps: Sequence[int], sense: int, judge: Judge
) -> Decision:
    """A change between two steps: which way, by how much, to how much of what it was."""
    x, y = known[0], known[-1]
    q, kind = one.number, judge.table.kind(key)
    first, second = (steps[0], steps[-1]) if one.what != "over" else (steps[-1], steps[0])
    known_fact = judge.table.ledger.change(key, first, second, judge.table.run)
    fact = known_fact.id if known_fact else None
    if one.what == "way" or q is None:
        word = "rose" if y > x else "fell" if y < x else "same"
        note = judge.say(word, metric=key, first=first, second=second, from_=plain(x), to=plain(y))
        return _decided((y - x) * sense > 0, note, fact, key)
    if one.what == "over":
        factor = 0.01 if q.unit == "%" else 1.0
        fine = bool(y) and agrees(q.number * factor, q.half * factor, x / y)
        fine = fine or (q.unit == "%" and judge.cell(q, key, first).status == "supported")
        return _decided(fine, judge.changes.told_change(key, first, second, y, x, q), fact, key)
    note = judge.changes.told_change(key, first, second, x, y, q)
    if one.what == "signed":
        return _decided((q.sign == "-") == (y < x) and judge.changes.is_change(q, kind, x, y), note, fact, key)
    if q.unit in {"ratio", "factor"}:
        return _decided(bool(x) and _times_more(q, y / x, one.sense), note, fact, key)
    return _decided(judge.changes.is_change(replace(q, sign=""), kind, x, y), note, fact, key)


def _times_more(q: Quantity, ratio: float, sense: int) -> bool:
    """Whether something rose by so many times of itself; told from 1.5 on, it may have become so many times of it."""
    if sense < 0 or not ratio:
        return False
    return agrees(q.number, q.half, ratio - 1) or (q.number >= 1.5 and agrees(q.number, q.half, ratio))


def _step(place: Place | int, key: str, judge: Judge) -> int:
    rows, steps = judge.table.finite(key), judge.table.steps
    if isinstance(place, int):
        return place if place >= 0 or not rows else rows[0 if place == FIRST else -1][0]
    step = place.steps[0] if place.steps[0] >= 0 or not rows else rows[0][0]
    if place.kind == "ends" and rows and judge.table.value(key, step) is None:  # the first or the last that holds it
        return rows[0][0] if step <= steps[len(steps) // 2] else rows[-1][0]
    return step
