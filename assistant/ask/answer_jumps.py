"""Moves of more than a size from one logged value to the next: which, how many, the first, the last, whether any."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from assistant.ask.answer_turns import moves_counted
from assistant.ask.context import Context
from assistant.ask.part import Part, cell, remarks
from assistant.ask.subject import subject_of
from assistant.model import Verdict
from assistant.model.answer import Op
from assistant.write.document import mark, unmark
from assistant.write.numbers import plain, signed

#: Moves told one by one at most, and steps named at most.
MOST_ROWS: Final = 12
MOST_STEPS: Final = 60
_FALL: Final = re.compile(
    r"(?i)\bdrop|\bf[ae]ll|decreas|declin|\bdip|plung|shr[aiu]nk|\blost?\b|los[et]s?\b|went down|halv"
    r"|变(?:小|低|短|少|差)"
    r"|跌|掉|降|下滑|缩|腰斩|减"
)
_RISE: Final = re.compile(
    r"(?i)\bris[ei]|\brose|increas|\bgain|\bjump|climb|surg|went up|gr[eo]w|doubl|tripl"
    r"|变(?:大|高|长|多|好)|涨|升|增|跳(?!水)|翻"
)
_EITHER: Final = re.compile(r"(?i)chang|\bmov|swing|var(?:y|ied)|变化|波动|变动|差")
_NUMBER: Final = r"(\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+)"
_POINTS: Final = re.compile(rf"(?i){_NUMBER}\s*(?:pp\b|(?:percentage |%\s*)points?\b|percentage pts?\b|个?百分点)")
_PERCENT: Final = re.compile(rf"(?i){_NUMBER}\s*(?:%|％|per ?cent\b)")
_TIMES: Final = re.compile(rf"(?i)(?:\bfactor of )\s*{_NUMBER}|{_NUMBER}\s*(?:x\b|倍|times\b(?! (?:did|does|was|has)))")
_PLAIN: Final = re.compile(
    rf"(?i)(?:more than|over|at least|greater than|larger than|bigger than|above|exceed\w*|\bby|>=?|≥"
    rf"|超过|大于|多于|高于|不少于|至少|超|[跌掉降涨升增])(?:\s*(?:了|by|about|around|大约|约))*\s*{_NUMBER}(?!\s*(?:steps?|步))"
)
_CLOSED: Final = re.compile(r"(?i)at least|no less than|or more\b|>=|≥|不少于|至少|以上|及以上")
_HALF: Final = re.compile(r"(?i)\bhal(?:f|ve[sd]?)\b|一半|腰斩|对半|1/2")
_THIRD: Final = re.compile(r"(?i)\b(?:a|one) third\b|三分之一")
_QUARTER: Final = re.compile(r"(?i)\b(?:a|one) quarter\b|四分之一")
_DOUBLE: Final = re.compile(r"(?i)\bdoubl\w*|\btwice\b|翻(?:了)?一?[倍番]|两倍|(?<![\d.])[一1]\s*倍")
_TRIPLE: Final = re.compile(r"(?i)\btripl\w*|三倍")
_COUNT: Final = re.compile(
    r"(?i)how (?:many|often)|number of|\bcount\b|(?:几|多少)\s*(?:个)?\s*(?:次|步|回)|次数|频繁吗|多频繁"
)
_FIRST: Final = re.compile(r"(?i)\bfirst\b|\bearliest\b|第一次|首次|最早")
_LAST: Final = re.compile(r"(?i)\blast (?:time|step|one)\b|\blatest\b|most recent|最后一次|最近一次")


@dataclass(frozen=True, slots=True)
class Size:
    """How large a move must be.

    Attributes:
        amount: a share of the value before (``relative``), else in the metric's unit.
        relative: to the value before.
        closed: whether a move of just that size counts.
    """

    amount: float
    relative: bool
    closed: bool

    def met(self, before: float, after: float, way: int) -> bool:
        """Whether the move from one value to the next is of that size; ``way`` 1 rise, -1 fall, 0 either."""
        moved = after - before
        moved = abs(moved) if way == 0 else moved * way
        size = self.amount * abs(before) if self.relative else self.amount
        close = math.isclose(moved, size, rel_tol=1e-9, abs_tol=1e-12)
        return (moved > size and not close) or (close and self.closed and moved > 0)


def size_in(text: str, *, fall: bool, fraction: bool) -> Size | None:
    """The size that a question names: "more than half" 0.5 of the value before, "over 20 %" 0.2, "0.1" itself.

    Args:
        text: the question, names of metrics blanked.
        fall: whether moves down are meant ("by a factor of 2" is then half of the value).
        fraction: whether the metric is a share of one, so that points are hundredths.
    """
    closed = _CLOSED.search(text) is not None
    if match := _POINTS.search(text):
        return Size(_figure(match[1]) / (100 if fraction else 1), False, closed)
    if match := _PERCENT.search(text):
        return Size(_figure(match[1]) / 100, True, closed)
    for words, factor in ((_DOUBLE, 2.0), (_TRIPLE, 3.0)):
        if words.search(text):
            return _by_factor(factor, fall, closed)
    if match := _TIMES.search(text):
        return _by_factor(_figure(match[1] or match[2]), fall, closed)
    for words, share in ((_HALF, 1 / 2), (_THIRD, 1 / 3), (_QUARTER, 1 / 4)):
        if words.search(text):
            return Size(share, True, closed)
    match = _PLAIN.search(text)
    return None if match is None else Size(_figure(match[1]), False, closed)


def _by_factor(factor: float, fall: bool, closed: bool) -> Size | None:
    if factor <= 1:
        return None
    return Size(1 - 1 / factor if fall else factor - 1, True, closed)


def _figure(text: str) -> float:
    return float(text.replace(",", ""))


def jumps(context: Context) -> Verdict | None:
    """The moves of more than the size named, from one logged value to the next."""
    found = subject_of(context, least=2)
    if found is None:
        return None
    text, part = found.text, found.part
    fall, rise = _FALL.search(text) is not None, _RISE.search(text) is not None
    if fall == rise and not _EITHER.search(text):
        return None
    way = 0 if fall == rise else -1 if fall else 1
    size = size_in(text, fall=way < 0, fraction=context.kind_of(found.metric) == "fraction")
    if size is None:
        return moves_counted(context) if _COUNT.search(text) else None
    places = [place for place, (a, b) in enumerate(pairwise(part.values), start=1) if size.met(a, b, way)]
    name = {1: "up", -1: "down", 0: "any"}[way]
    values = {
        "metric": found.metric, "limit": _limit(context, size, found.metric), "over": part.over,
        "n": context.ledger.count("moves between neighbouring values", len(part) - 1, metric=found.metric),
    }  # fmt: skip
    op: Op = "argmax" if way > 0 else "argmin"
    lines: list[str] = []
    if not places:
        said = context.say(f"jumps.none_{name}", **values)
        lines.append(_largest(context, part, way, size))
        op = "count"
    elif (ordinal := "first" if _FIRST.search(text) else "last" if _LAST.search(text) else "") and len(places) > 1:
        at = places[0 if ordinal == "first" else -1]
        count = context.ledger.count(f"moves {name} by more than {size.amount:g}", len(places), metric=found.metric)
        said = context.say(f"jumps.{ordinal}_{name}", k=count, move=_move(context, part, at), **values)
        op = "first_crossing" if ordinal == "first" else op
    else:
        count = context.ledger.count(f"moves {name} by more than {size.amount:g}", len(places), metric=found.metric)
        few = len(places) <= 3
        told = places if few else [max(places, key=lambda at: _extent(part, at, size))]
        moves = context.join([_move(context, part, at) for at in told])
        said = context.say(f"jumps.{'all' if few else 'most'}_{name}", k=count, moves=moves, **values)
        if not few:
            steps = [part.steps[at] for at in places]
            if len(steps) <= MOST_ROWS:
                pass  # the table holds them
            elif len(steps) <= MOST_STEPS:
                lines.append(context.say("calc.steps", steps=context.doc.show(steps)))
            else:
                ends = {"first": steps[0], "last": steps[-1]}
                lines.append(context.say("jumps.many_steps", **ends))
        op = "count" if _COUNT.search(text) else op
    lines += _about_neighbours(context, part, size, places)
    context.doc.paragraph(f"**{said}**")
    if 3 < len(places) <= MOST_ROWS:
        _table(context, part, places)
    context.doc.paragraph(*[line for line in lines if line], *remarks(context, part))
    context.metrics.append(found.metric)
    context.chart(context.title(found.metric), [found.metric])
    context.query = replace(context.query, op=op, asked_op=op, threshold=None)
    return Verdict("answered", unmark(said))


def _limit(context: Context, size: Size, metric: str) -> str:
    """The size in words, its number tied to the question."""
    fact = context.ledger.constant("size of a move", size.amount, "the question", "fraction" if size.relative else None)
    if size.relative:
        text = mark(fact.id, f"{plain(100 * size.amount)}%")
    elif context.kind_of(metric) == "fraction":
        text = context.say("portion.points", v=mark(fact.id, f"{plain(100 * size.amount)}%"))
    else:
        text = context.doc.show(fact, None, context.kind_of(metric))
    return context.say("jumps.at_least" if size.closed else "jumps.more_than", v=text)


def _extent(part: Part, at: int, size: Size) -> float:
    before, after = part.values[at - 1], part.values[at]
    moved = abs(after - before)
    if not size.relative:
        return moved
    return moved / abs(before) if before else math.inf


def _move(context: Context, part: Part, at: int) -> str:
    """One move in words, with what it is of the value before."""
    change = context.ledger.change(part.metric, part.steps[at - 1], part.steps[at])
    if change is None or change.delta is None:
        return context.say("jumps.move", b=cell(context, part, at), a=cell(context, part, at - 1), d="")
    share = ""
    before = part.values[at - 1]
    if before > 0:
        fact = context.ledger.derived(
            f"relative move of {part.metric} to step {part.steps[at]}", change.delta / before, inputs=[change],
            formula="(value − value before) / value before", step=part.steps[at], unit="fraction",
        )  # fmt: skip
        text = mark(fact.id, signed(change.delta / before * 100, "number", language=context.language) + "%")
        share = ("，" if context.language == "zh" else ", ") + text
    return context.say("jumps.move", b=cell(context, part, at), a=cell(context, part, at - 1), d=share)


def _largest(context: Context, part: Part, way: int, size: Size) -> str:
    """The largest move that way, where none is as large as asked."""
    moved = [
        place for place, (a, b) in enumerate(pairwise(part.values), start=1) if (b - a) * (way or 1) > 0 or way == 0
    ]
    if not moved:
        return ""
    at = max(moved, key=lambda place: (_extent(part, place, size), -place))
    return context.say("jumps.largest", move=_move(context, part, at))


def _about_neighbours(context: Context, part: Part, size: Size, places: Sequence[int]) -> list[str]:
    """What neighbouring means here, and of what the share is, where either is not plain."""
    lines = []
    gaps = [b - a for a, b in pairwise(part.steps)]
    usual = sorted(gaps)[len(gaps) // 2]
    if usual > 1:
        lines.append(context.say("jumps.every", n=context.ledger.count("steps between values", usual)))
    elif any(gap > 1 for gap in gaps):
        lines.append(context.say("jumps.gaps"))
    if size.relative and any(part.values[at - 1] < 0 for at in places):
        lines.append(context.say("jumps.magnitude"))
    return lines


def _table(context: Context, part: Part, places: list[int]) -> None:
    names = [context.say(f"jumps.column_{name}") for name in ("step", "before", "after", "change")]
    rows = []
    for at in places:
        change = context.ledger.change(part.metric, part.steps[at - 1], part.steps[at])
        delta = "" if change is None else mark(
            change.id, signed(change.delta or 0.0, context.kind_of(part.metric), language=context.language)
        )  # fmt: skip
        show = context.doc.show
        rows.append([
            context.doc.step(part.steps[at]), show(cell(context, part, at - 1)), show(cell(context, part, at)), delta,
        ])  # fmt: skip
    context.doc.table(names, rows)
