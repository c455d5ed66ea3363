"""Quantities of several metrics that a sentence's words allow: shares, sums, factors and differences between metrics."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.changes import adjacent_sense
from assistant.ground.cues import change_cue, cue, outside
from assistant.ground.quantities import Quantity
from assistant.ground.table import Table, agrees

_LESS: Final = re.compile(
    r"(?i)\b(?:less|lower|smaller|shorter|faster|below|fewer|cheaper|quicker)\b|[低小少短快]于?|不及|只有|仅"
)
_APART: Final = re.compile(
    r"(?i)\b(?:gap|difference|apart|ahead|behind|more|less|higher|lower|longer|shorter|above|below|exceed\w*|over|between)\b|差|高出?|低|多|少|长|短|比|超出"
)  # fmt: skip
_SHARE: Final = re.compile(
    r"(?i)\bshare\b|\bof (?:the |that |each |every |a |its |total |all )?\S*\s?(?:step|time|total|iteration|wall)|\b(?:went|goes|go) (?:in)?to\b|\bspent\b|\bswallow|\beat(?:s|en)?\b|吃掉|花在|用在|用于|占|份额|比例|成"
)


#: "…, which leaves 24 s for everything else": what the parts named leave of the step.
_LEFT_OVER: Final = re.compile(
    r"(?i)(?:\bleav(?:es|ing)|\bleft|剩下?|余下)[^\d]{0,8}\x00|\x00[^\d]{0,6}\b(?:is |are |was )?left\b|\x00 for (?:everything|anything|all) else"
)


def several(  # noqa: PLR0917
    q: Quantity, frame: Frame, table: Table, order: Sequence[str], steps: Sequence[int], own: Sequence[str]
) -> Iterator[str]:  # fmt: skip
    """The operations between metrics that give a number over some steps (their sums where these are several).

    Args:
        q: the number.
        frame: its sentence.
        table: the run.
        order: the keys that it may be about, in the order in which the sentence names them.
        steps: the steps.
        own: the keys that the number itself may be of, rather than its sentence.
    """
    text = outside(frame, 0, len(frame.text))
    total = table.total_time()
    level = {key: value for key in [*order, *([total] if total else [])] if (value := _level(table, key, steps)) is not None}  # fmt: skip
    named = [key for key in dict.fromkeys(order) if key in level]
    alike = [key for key in named if named and table.kind(key) == table.kind(named[0])]
    together = bool(cue("total").search(text)) or bool(
        re.search(r"(?i)\bboth\b|\bthe two\b|\bcombined\b|两者|二者|合", text)
    )
    if q.unit == "%" and _SHARE.search(frame.text):
        parts = [key for key in named if key != total and table.kind(key) == "seconds"]
        before = [key for key in parts if key in own] or parts[-1:]
        sums = [level[key] for key in before] + (
            [sum(level[key] for key in parts)] if together and len(parts) > 1 else []
        )
        wholes = [level[total]] if total in level else []
        wholes += [sum(level[key] for key in parts)] if len(parts) > 1 and together else []
        if any(_fits(q, 100 * part / whole) for part in sums for whole in wholes if whole):
            yield "share"
    if together and len(alike) > 1 and q.unit not in {"%", "ratio", "factor", "pp"}:
        for size in range(2, len(alike) + 1):
            true = sum(level[key] for key in alike[:size])
            if any(agrees(n, h, true, bound=q.bound) for n, h in table.readings(q, alike[0], true)):
                yield "sum"
    if total in level and q.unit == "s" and _LEFT_OVER.search(frame.text[max(0, q.start - 20) : q.start] + "\0" + frame.text[q.end : q.end + 28]):  # fmt: skip
        parts = [key for key in named if key != total and table.kind(key) == "seconds"]
        true = level[total] - sum(level[key] for key in parts)
        if parts and any(agrees(n, h, true, bound=q.bound) for n, h in table.readings(q, total, true)):
            yield "rest"
    for one, first in enumerate(named):
        for second in named[one + 1 :]:
            x, y = level[first], level[second]
            if table.kind(first) != table.kind(second) or not x or not y or ("@" in first + second and first.split("/")[:2] != second.split("/")[:2]):  # fmt: skip
                continue
            if q.unit in {"ratio", "factor"} and (x > 0) == (y > 0):
                options = [x / y, y / x] if _LESS.search(text) else [x / y]
                if any(_fits(q, option) for option in options):
                    yield "factor"
            elif q.unit == "%" and (change_cue(frame, q) or _APART.search(text)):
                down = bool(_LESS.search(text))
                if _fits(q, 100 * abs(x / y - 1)) and ((x < y) == down):
                    yield "relative"
            elif q.unit not in {"%", "ratio", "factor"} and change_cue(frame, q) and _APART.search(text):
                held = [(q.number * 0.01, q.half * 0.01)] if q.unit == "pp" and table.kind(first) != "percent" else [(q.number, q.half)] if q.unit == "pp" else table.readings(q, first, x - y)  # fmt: skip
                if any(agrees(abs(n), h, abs(x - y), bound=q.bound) for n, h in held):
                    yield "difference"


_COUNTING: Final = frozenset(["steps", "points", "gpus", "samples", "prompts", "lines", "metrics", "validations", "ratio", "factor", "pp", "characters"])  # fmt: skip
_OF: Final = re.compile(r"(?i)^\s*of\b")
#: Numbers of a sentence that are paired, those nearest: texts that are no prose hold thousands.
_MOST_TOLD: Final = 12


def from_told(q: Quantity, index: int, frame: Frame) -> bool:
    """Whether a number is the difference, the ratio or the relative change of two other numbers that its sentence tells.

    Those two are judged for themselves; which way the change goes must be what the words beside the number say.
    """
    others = [n for at, n in enumerate(frame.numbers) if at != index and n.unit not in _COUNTING and not n.bound and math.isfinite(n.number)]  # fmt: skip
    chained = [g for g in frame.groups if g.form == "chain" and frame.clause(frame.numbers[g.members[0]].start) == frame.clause(q.start)]  # fmt: skip
    if chained and index not in chained[0].members:  # "by three times (-4.43 → -7.38), then …": of those two
        others = [n for n in others if any(frame.numbers[at] is n for at in chained[0].members)]
    others = sorted(sorted(others, key=lambda n: abs(n.start - q.start))[:_MOST_TOLD], key=lambda n: n.start)
    text, change = outside(frame, 0, len(frame.text)), change_cue(frame, q)
    apart = change == "sure" or bool(_GAP.search(frame.text[max(0, q.start - 12) : q.start]))
    down = adjacent_sense(frame, q)
    against = down if q.unit == "pp" and not any(g.form in {"chain", "versus"} for g in frame.groups) else None
    if down is None:
        less, more = (
            bool(cue(a).search(text) or cue(b).search(text)) for a, b in (("down", "lower"), ("up", "higher"))
        )
        down = None if less == more else less
    if q.bound and q.unit not in {"%", "ratio", "pp"}:
        return False
    if q.sign in {"+", "-"} and q.unit == "%" and down is not None and (q.sign == "-") != down:
        return False  # "decreased (+46.9 %)"
    for at, one in enumerate(others):
        for two in others[at + 1 :]:
            if one.unit != two.unit and one.unit and two.unit:
                continue
            if _apart(frame, one, two):
                continue
            unit = one.unit or two.unit
            if (
                against is not None
                and (two.number < one.number) != against
                and not _FROM.search(frame.text[one.end : two.start])
            ):
                continue
            scale = (one if one.unit else two).factor if unit else 1.0
            x, y = one.number * scale, two.number * scale
            if _against_the_sign(frame, q, one, two):
                continue
            dx, dy = one.half * scale, two.half * scale
            (low, of_low), (high, of_high) = sorted(((abs(x), dx), (abs(y), dy)))
            if q.unit == "%" and unit != "%" and y and (_OF.match(frame.text[q.end :]) or re.search(r"的\s*$", frame.text[: q.start])):  # fmt: skip
                if _near(q, 100 * x / y, 100 * (dx / abs(y) + dy * abs(x) / y**2)):
                    return True
            elif q.unit == "%" and unit != "%" and down is not None and low > 0 and x * y > 0 and change:
                base = high if down else low
                if _near(q, 100 * (high - low) / base, 100 * (dx + dy) / base):
                    return True
            elif q.unit == "ratio" and low > 0 and x * y > 0 and q.number > 1:
                if _near(q, high / low, (of_high + of_low * high / low) / low):
                    return True
            elif (
                q.unit not in {"%", "ratio", "factor", *_COUNTING}
                and (not q.unit or q.unit == unit or not unit)
                and apart
            ):
                own = q.factor if q.unit and unit else scale
                if x != y and _told(abs(q.number) * own, q.half * own, abs(x - y), dx + dy, q.bound):
                    return True
            elif q.unit == "pp" and unit == "%" and agrees(abs(q.number) * 0.01, (q.half + one.half + two.half) * 0.01, abs(x - y), bound=q.bound):  # fmt: skip
                return True
    return False


def _against_the_sign(frame: Frame, q: Quantity, one: Quantity, two: Quantity) -> bool:
    """Whether a change told with its sign goes the other way than from the first of two values to the second."""
    if q.sign not in {"+", "-"} or q.unit in {"%", "ratio", "factor"} or max(one.end, two.end) > q.start:
        return False
    chained = any(
        g.form == "chain" and {id(frame.numbers[at]) for at in g.members} >= {id(one), id(two)} for g in frame.groups
    )
    singles = [p.steps[0] for p in frame.places if len(p.steps) == 1]
    forward = len(singles) == 2 and singles[0] < singles[1] and not _FROM.search(frame.text[one.end : two.start])
    return (chained or forward) and one.number != two.number and (two.number > one.number) != (q.sign == "+")


def _apart(frame: Frame, one: Quantity, two: Quantity) -> bool:
    """Whether one of two numbers is told together with a third: ``half the entropy (0.12 vs 0.24) and 0.30 points more``."""
    groups = [
        next((g for g in frame.groups if any(frame.numbers[at] is n for at in g.members)), None) for n in (one, two)
    ]
    return groups[0] is not groups[1] and any(g is not None and g.form in {"chain", "versus"} for g in groups)


#: Before the value that a change starts from, told second.
_FROM: Final = re.compile(r"(?i)\b(?:from|against|versus|vs|than|compared|was|were)\b|[比对从由]|原来|此前")
_ADDED: Final = re.compile(
    r"(?i)(?:合计|总计|共计|加起来|相加|之和|\bsum(?:s|ming)? (?:up )?to|\badds? up to|\bin total|\btogether\b|\btotal(?:s|l?ing)?\b|\bmak(?:es|ing)|[=＝])[^\d，,。；;]{0,16}$"
)
_SHARES: Final = re.compile(
    r"(?i)(?:占|\bi\.e\.,?|\bthat is,?|\bor|即|\bmakes? up|\baccounts? for)[^\d，,。；;]{0,14}$"
)


def of_parts(q: Quantity, index: int, frame: Frame) -> bool:
    """Whether a number is the sum of the numbers told before it, or the share of the one right before it in another.

    ``生成 5.3 秒 + 训练 2.5 秒 = 7.8 秒``, ``共 8.0 秒，其中生成 5.3 秒，约占 66%``; the parts are judged for themselves.
    """
    told = [n for n in frame.numbers[:index] if not n.bound and math.isfinite(n.number) and n.unit not in {"%", "pp", "factor", "ratio"}]  # fmt: skip
    left = frame.text[max(0, q.start - 28) : q.start]
    if q.unit == "%" and _SHARES.search(left) and len(told) > 1:
        part = told[-1]
        wholes = [
            n for n in told[:-1] if n.unit == part.unit and n.factor == part.factor and n.number > part.number > 0
        ]
        return len(wholes) == 1 and _near(
            q,
            100 * part.number / wholes[0].number,
            100 * (part.half + wholes[0].half * part.number / wholes[0].number) / wholes[0].number,
        )
    if q.unit in {"%", "ratio", "factor", "pp", *_COUNTING} or not _ADDED.search(left):
        return False
    parts = [n for n in told if n.unit == q.unit or not n.unit][-_MOST_TOLD:]
    if len(parts) < 2 or any(n.unit and n.factor != q.factor for n in parts):
        return False
    return _near(q, sum(n.number for n in parts), sum(n.half for n in parts))


_GAP: Final = re.compile(
    r"(?i)\b(?:gap|difference|apart)\b|相差|差距?|(?<![最较偏])[高低多少长短快慢]了?出?\s*(?:约|大约)?\s*$"
)


def _near(q: Quantity, value: float, slack: float) -> bool:
    return _told(q.number, q.half, value, 0.0 if q.bound else slack, q.bound)


def _told(number: float, half: float, value: float, slack: float, bound: str) -> bool:
    """Whether a number is what two others give; where these leave more open than it does, exactly what they give."""
    return agrees(number, half + (slack if half >= slack / _FINER else 0.0), value, bound=bound)


#: How many times as exact as what it is worked out from a number may be told.
_FINER: Final = 50.0


def _fits(q: Quantity, value: float) -> bool:
    return agrees(q.number, q.half, value, bound=q.bound)


def _level(table: Table, key: str, steps: Sequence[int]) -> float | None:
    """A metric at one step, or its sum over a stretch."""
    if len(steps) == 1:
        return table.value(key, steps[0])
    rows = table.finite(key, steps)
    return sum(value for _, value in rows) if rows else None
