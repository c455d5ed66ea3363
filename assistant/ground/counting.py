"""Numbers that count: steps, validations, metrics, lines, steps beyond a bound."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.cues import outside
from assistant.ground.lexicon import Named
from assistant.ground.places import Place
from assistant.ground.quantities import Quantity
from assistant.ground.table import Table, agrees
from assistant.ground.verdicts import Status

Outcome = tuple[Status, str, str | None]
_LINE_BEFORE: Final = re.compile(r"(?i)(?:\blines?|第)\s*[`*]*$")
_FIRST_TIME: Final = re.compile(
    r"(?i)\bnot (?:until|before)\b|\bonly (?:at|from|by|on) step \d+ (?:does|did)\b|直到.{0,24}才|到.{0,16}(?:步|step \d+)[，,]?[^，,。]{0,16}才(?=[^，。]{0,6}(?:超|突破|高于|低于|跌|升|达))|\bfirst (?:time|clear|hit|top|break|broke|surpass|climb|exceed|cross|pass|ris|rose|drop|fall|fell|go|went|reach|above|below|becom|becam|turn)\w*|\bfor the first time\b|\bfirst\b(?= at step)|\bthe first (?:being|is|was|of them|one)|\bstarting (?:at|from|with)\b|起[^，,。]{0,16}才|才(?:开始)?(?=超过|突破|高于|低于|跌破)|开始(?=超过|突破|高于|低于|跌破)|第一次|首次|最早|最先|首先|开始(?:变|出现)|起(?:变|出现)"
)
#: "Turns positive for the first time", 首次转正: zero is what is crossed.
_TURNS: Final = re.compile(
    r"(?i)(?P<up>\b(?:turn|go|become|get|is|was)\w*\s+(?:\w+ )?positive\b|\babove zero\b|转正|变正|为正(?!常|则))|\b(?:turn|go|become|get|is|was)\w*\s+(?:\w+ )?negative\b|\bbelow zero\b|转负|变负|为负"
)
_REACHED: Final = re.compile(r"(?i)\breach|\bhit|\bget(?:s|ting)? to|\barriv|达到|达|到达|到")
_EVERY: Final = re.compile(r"(?i)(?:\bevery|\beach|每隔?|\bonce (?:in|per))\s*(?:about |约)?[`*]*$")
_AMONG: Final = re.compile(r"(?i)(?:\bof (?:the |all (?:the )?|these |those )?|/\s?)$")
_AMONG_AFTER: Final = re.compile(r"\s*(?:个)?(?:值|点|步|step|记录)?(?:中|里|当中|内)")
_OF_THOSE: Final = re.compile(
    r"(?i)^\s*(?:of (?:them|those|these)|(?:is|are|was|were|lie|sit|stand|have|had|come|go)\b(?=.{0,20}(?:above|below|over|under|negative|positive|exceed)))|^\s*(?:个|条|次|步)?(?:是|为|出现)?(?:[高低大小多少]于|超过|不到|为负|为正|负值|负数|负的)"
)
_OF_STEPS: Final = re.compile(
    r"(?i)^\s*(?:(?:out )?of (?:the |all (?:the )?)?|/\s?)\d[\d,]*\s*(?:(?:training |logged |recorded )?(?:steps|points|values|records|rows|iterations)|(?=\)))"
)
#: "At those two steps", 这两步: no count of the log's steps.
_POINTING: Final = re.compile(r"(?i)(?:\b(?:those|these|the same|both|the said)|[这那此该]|上述|同样的?)\s*$")
_LINE_AFTER: Final = re.compile(r"^\s*行")


_TRAINING: Final = re.compile(r"(?i)training\s+(?:steps?|iterations?)|训练\s?(?:步|step)")
VALIDATION: Final = re.compile(r"(?i)^(?:val|eval|test)(?:[-_/]|$)(?!.*(?:runtime|per_second|/time))")


#: "Not until step 29", "从 step 31 开始变成": the step that such a stretch is named by.
_BY_ITS_END: Final = re.compile(r"(?i)\b(?:until|till|before)\b|直到|到|开始|起")


#: "202 of 5,100 steps", 总共要跑 5,100 步: as many as are planned, where a log says how many.
_PLANNED: Final = re.compile(r"(?i)(?:\bof|总共要?跑?|共要?跑?|计划(?:跑|训练)?|总步数\D{0,4}|/)\s*\x00|\x00 ?planned")
_PLAN: Final = re.compile(r"(?i)(?:.*/)?(?:total_?|max_?)(?:train(?:ing)?_?)?steps")


def _began(frame: Frame, place: Place) -> Place:
    """A stretch named by the one step at which something begins, as that step."""
    told = frame.text[place.start : place.end]
    named = re.findall(r"\d+", told)
    if place.kind != "range" or len(named) != 1 or not _BY_ITS_END.search(told):
        return place
    ends = re.search(r"(?i)\b(?:until|till|before)\b|到", told)
    return Place(place.start, place.end, (place.steps[-1 if ends else 0],))


EQUALS: Final = re.compile(
    r"(?i)(?:(?<!不)(?:为|是|等于|恰为|恰好|正好|达到了?|顶到了?|触及|碰到|打满|满分)|\b(?:is|are|was|equals?|exactly|of|at|hits?|reach(?:es|ed)?|touch(?:es|ed)?))\s*(?:了|the |its |full |a |an |exactly |of |cap |ceiling |limit |上限|满分|的)*[`*]*$"
)


def _gone(frame: Frame, q: Quantity) -> str:
    """The words before a number."""
    return frame.text[max(0, q.start - 32) : q.start]


def _span(frame: Frame) -> tuple[int, ...] | None:
    return next((tuple(p.steps) for p in frame.places if p.kind == "range"), None)


def _singles(frame: Frame) -> list[Place]:
    """The single steps of a sentence; "开始" beside another step says when something begins, and names none."""
    found = [p for p in (_began(frame, p) for p in frame.places) if len(p.steps) == 1]
    return ([p for p in found if p.kind != "ends"] or found) if len(found) > 1 else found


class Counting:
    """Decides counts against a table."""

    def __init__(self, table: Table, say: Callable[..., str]) -> None:
        self.table, self.say = table, say

    def is_condition(self, frame: Frame, index: int) -> bool:
        """Whether a bound is the condition of a count or of a first time, judged with those."""
        q = frame.numbers[index]
        if not q.bound:
            return False
        counts = [n for n in frame.numbers if n is not q and self.is_count(frame, n)]
        counts = [
            n for n in counts
            if frame.clause(n.start) == frame.clause(q.start)
            or not any(b is not q and b.bound and frame.clause(b.start) == frame.clause(n.start) for b in frame.numbers)
        ]  # fmt: skip
        singles = _singles(frame)
        match = _FIRST_TIME.search(frame.text)
        if match is not None and len(singles) > 1:
            return bool(counts) or frame.clause(match.start()) == frame.clause(q.start)
        return bool(counts) or bool(match and singles)

    @staticmethod
    def is_count(frame: Frame, q: Quantity) -> bool:
        """Whether a number counts the steps at which a condition beside it holds."""
        if q.bound or q.number != q.number or not float(q.number).is_integer():
            return False
        if (
            q.unit in {"steps", "points"}
            or (not q.unit and _OF_THOSE.match(frame.text[q.end : q.end + 40]))
            or _OF_STEPS.match(frame.text[q.end : q.end + 28])
        ):
            return True
        if not any(n is not q and n.bound for n in frame.numbers):
            return False
        if q.unit == "ratio":
            return bool(re.search(r"(?i)(?:times|once|twice|thrice)$", q.text))
        left, right = frame.text[max(0, q.start - 90) : q.start], frame.text[q.end : q.end + 14]
        counted = re.match(r"(?i)\s*(?:次|个|occasions?|times|条|步)", right)
        named = re.search(
            r"(?i)(?:步数|次数|个数|\bnumber of (?:steps|times)\b[^;，。]{0,60}|\bcount\b[^;，。]{0,40}|数|共)\s*(?:为|是|有|is|was|of|[:：=])?\s*$",
            left,
        )
        return not q.unit and bool(counted or named)

    def first_time(self, frame: Frame) -> tuple[int, int, Outcome] | None:
        """``kl first exceeds 0.1 at step 55``: the step where a condition begins to hold."""
        match = _FIRST_TIME.search(frame.text)
        if match is None:
            return None
        places = _singles(frame)
        bounds = [q for q in frame.numbers if q.bound]
        clause = frame.clause(match.start())
        here, there = ([p for p in places if frame.clause(p.start) == clause], [q for q in bounds if frame.clause(q.start) == clause])  # fmt: skip
        if len(places) > 1 and len(here) == len(there) == 1:  # "…, step 38 首次突破 10, …": of that clause alone
            places, bounds = here, there
        elif any(q.bound for q in frame.numbers) and len(places) > 1:
            return None
        if not bounds and (sign := _TURNS.search(frame.text)):
            side = ">" if sign["up"] else "<"
            bounds = [Quantity(sign.start(), sign.end(), sign.group(), 0.0, 0.0, bound=side)]
        plain_numbers = (
            [] if bounds else [q for q in frame.numbers if not q.bound and q.unit not in {"steps", "ratio", "factor"}]
        )
        if not bounds and len(plain_numbers) == 1 and len(places) == 1 and _REACHED.search(frame.text):
            bounds = [replace(plain_numbers[0], bound=">", number=plain_numbers[0].number - plain_numbers[0].half)]
        special = [q for q in frame.numbers if q.number != q.number]
        names = [n for n in frame.names if n.keys]
        if len(places) == 1 and not names and len(bounds) == 1:
            return places[0].start, places[0].end, ("unsupported", self.say("unknown_subject"), None)
        if len(places) != 1 or not names or len(bounds) + len(special) != 1:
            return None
        place = places[0]
        first: Outcome | None = None
        for key in names[0].keys[:3]:
            rows = self.table.within(key, None)
            if special:
                holds = [s for s, v in rows if math.isnan(v)]
            else:
                held = self.table.readings(bounds[0], key)
                holds = [
                    s for s, v in rows if any(agrees(n, 0.0, v, bound=bounds[0].bound) and v != n for n, _ in held)
                ]
            if holds and holds[0] == place.steps[0]:
                return place.start, place.end, ("supported", "", None)
            note = self.say("first_step", step=holds[0]) if holds else self.say("never")
            first = first or ("contradicted", note, None)
        return None if first is None else (place.start, place.end, first)

    def decide(self, frame: Frame, index: int, name: Named | None) -> Outcome | None:
        """A number that counts, or names a line; ``None`` where it is none of these."""
        q = frame.numbers[index]
        if self._of_equals(frame, q) is not None:
            return ("supported", "", None)
        left = frame.text[max(0, q.start - 12) : q.start]
        if q.unit == "steps" and _POINTING.search(left) and q.number == len(self._pointed_at(frame)):
            return ("supported", "", None)
        if _LINE_BEFORE.search(left) and (
            not re.search("第\\s*$", left) or _LINE_AFTER.match(frame.text[q.end :]) or q.text.endswith("行")
        ):
            return self._line(frame, q, name)
        if (
            q.unit == "ratio"
            and re.search(r"(?i)validat|evaluat|验证|评测", frame.text)
            and re.search(r"(?i)times", q.text)
        ):
            return self._validations(frame, q)
        if (
            not q.unit
            and re.match(r"\s*次(?!迭代|更新)", frame.text[q.end :])
            and re.search(
                r"(?:验证|评测|评估)|测了?\s*\x00",
                frame.text[max(0, q.start - 30) : q.start] + "\x00" + frame.text[q.end : q.end + 8],
            )
            and not any(n.bound for n in frame.numbers)
        ):
            return self._validations(frame, q)
        if q.unit in {"steps", "points", "validations"} and _EVERY.search(frame.text[max(0, q.start - 16) : q.start]):
            return self._apart(frame, q, name)
        if not q.unit and (self._of_training(frame, q) or _OF_STEPS.match(frame.text[q.end : q.end + 28])):
            return self._steps(frame, q, name)
        if q.unit in {"steps", "points"} and not (name is not None and name.keys and self._counts(name)):
            return self._steps(frame, q, name)
        if not q.bound and q.unit not in {"steps", "points"} and self.is_count(frame, q):
            return self._steps(frame, q, name)
        if q.unit == "points" and self._of_training(frame, q):
            return self._steps(frame, q, name)
        if q.unit == "points" and not any(n.bound or n.number != n.number for n in frame.numbers):
            return self._points(frame, q, name)
        if re.search(r"(?i)\bp(?:[- ]value)?\s*(?:of|is|was|为)?\s*[=<>≈≤]\s*[`*]*$", left):
            return self._p_value(frame, q, name)
        if q.unit == "validations":
            return self._validations(frame, q)
        if q.unit == "metrics":
            return self._equal(q, len(self.table.run.columns), "metrics")
        if q.unit == "characters":
            limits = {gap.limit for gap in self.table.run.missing if gap.limit}
            return (
                ("supported", "", None)
                if q.number in limits
                else ("unsupported", self.say("unbound", shown=q.text), None)
            )
        if q.unit == "lines":
            total = self.table.run.lines.taken + self.table.run.lines.ignored + self.table.run.lines.not_understood
            return self._equal(q, total, "lines")
        return None

    def _of_equals(self, frame: Frame, q: Quantity) -> Quantity | None:
        """``准确率为 1 的有 28 步``, ``hits 512 in 398 steps``: the other of a value and the number of steps that hold just it.

        A pair is read as such only where that many steps do hold it; which value a count goes with, its clause says.
        """
        keys = list(dict.fromkeys(key for n in frame.names for key in n.keys[:3]))
        for n in frame.numbers if keys and not q.bound and q.number == q.number else ():
            value, count = (n, q) if self._tells_steps(frame, q) else (q, n)
            if (
                n is q or n.bound or not self._tells_steps(frame, count) or self._tells_steps(frame, value)
                or frame.clause(n.start) != frame.clause(q.start) or value.unit in {"%", "ratio", "factor", "pp", "steps"}
                or not EQUALS.search(_gone(frame, value))
            ):  # fmt: skip
                continue
            for key in keys:
                rows = [v for _, v in self.table.within(key, _span(frame))]
                if any(count.number == sum(v == number for v in rows) for number, _ in self.table.readings(value, key)):
                    return n
        return None

    @staticmethod
    def _tells_steps(frame: Frame, q: Quantity) -> bool:
        """Whether a number counts steps or records: ``28 步``, ``in 28``, ``共 7 次``."""
        if q.decimals or q.unit not in {"steps", "points", ""}:
            return False
        left, right = frame.text[max(0, q.start - 12) : q.start], frame.text[q.end : q.end + 12]
        return q.unit != "" or bool(
            re.match(r"(?i)\s*(?:次|条|个|of the|of those)", right) or re.search(r"(?i)\bin\s*(?:only |just )?$", left)
        )

    @staticmethod
    def _pointed_at(frame: Frame) -> set[int]:
        """The steps that "those two steps" means: those named, else those of the sentence before."""
        named = {step for place in frame.places if place.kind != "range" for step in place.steps}
        return named or set(frame.carried.steps) or set(frame.carried.pair or ())

    @staticmethod
    def _is_p(frame: Frame, q: Quantity) -> bool:
        """Whether a bound is that of a p-value, not of a metric."""
        return bool(re.search(r"(?i)\bp(?:[- ]value)?\s*[<=>≈≤]\s*[`*]*$", frame.text[max(0, q.start - 14) : q.start]))

    def _counts(self, name: Named) -> bool:
        return any(re.search(r"num_steps|_steps$", key) for key in name.keys)

    def _line(self, frame: Frame, q: Quantity, name: Named | None) -> Outcome:
        run = self.table.run
        if name is not None and name.keys:
            steps = [step for place in frame.places for step in place.steps] or list(frame.carried.steps)
            cells = [cell for step in steps for key in name.keys[:3] if (cell := run.cell(key, step)) is not None]
            if any(cell.line == q.number for cell in cells):
                return ("supported", "", None)
            if cells:
                return ("contradicted", self.say("line", true=cells[0].line, shown=int(q.number)), None)
            held = [c for key in name.keys[:3] for c in run.columns[key].lines]
            return ("supported" if q.number in held else "contradicted", "", None)
        lines = {*run.row_lines, *(gap.line for gap in run.missing)}
        for column in run.columns.values():
            lines.update(column.lines)
        return (
            ("supported", "", None) if q.number in lines else ("contradicted", self.say("unbound", shown=q.text), None)
        )

    def _steps(self, frame: Frame, q: Quantity, name: Named | None) -> Outcome:
        table = self.table
        steps = table.steps
        if self._of_training(frame, q):
            return self._equal(q, len([s for s in steps if s > 0]) if 0 in steps else len(steps), "training_steps")
        if any(n is not q and self._of_training(frame, n) for n in frame.numbers):
            return self._equal(q, len(steps), "steps")
        ends = [step for place in frame.places for step in place.steps]
        counts = {len(steps), len([s for s in steps if s > 0])}
        if _PLANNED.search(frame.text[max(0, q.start - 16) : q.start] + "\0" + frame.text[q.end : q.end + 8]):
            counts |= {int(v) for key in table.run.columns if _PLAN.fullmatch(key) for _, v in table.finite(key)[-1:]}
        if steps:
            counts |= {steps[-1] - steps[0], steps[-1] - steps[0] + 1, steps[-1]}
            trained = [s for s in steps if s > 0]
            counts |= {trained[-1] - trained[0]} if trained else set()
            counts |= {abs(b - a) for a, b in ((frame.carried.pair,) if frame.carried.pair else ())}
        if len(ends) >= 2:
            span = [s for s in steps if min(ends) <= s <= max(ends)]
            counts |= {len(span), max(ends) - min(ends), max(ends) - min(ends) + 1}
        if len(set(ends)) == 1 and steps:
            counts |= {
                ends[0] - steps[0],
                steps[-1] - ends[0],
                len([s for s in steps if s <= ends[0]]),
                len([s for s in steps if s >= ends[0]]),
            }
        nan = [n for n in frame.numbers if n.number != n.number]
        if nan:
            keys = [key for n in frame.names for key in n.keys[:2]]
            true = [sum(math.isnan(v) for _, v in table.within(key, None)) for key in keys]
            if not true:
                return ("unsupported", self.say("unbound", shown=q.text), None)
            return (
                ("supported", "", None)
                if q.number in true
                else ("contradicted", self.say("count", true=true[0], shown=q.text), None)
            )
        among = bool(
            _AMONG.search(frame.text[max(0, q.start - 12) : q.start])
            or _AMONG_AFTER.match(frame.text[q.end : q.end + 6])
        )
        counted = [n for n in frame.numbers if n.unit in {"steps", "points"} or self.is_count(frame, n)]
        if (
            (among or q is counted[0])
            and len(counted) > 1
            and q.number
            in {
                len(steps),
                len([s for s in steps if s > 0]),
                *(len(table.held(k)) for n in frame.names for k in n.keys[:3]),
            }
        ):  # "of 500 steps, 48 are negative": first the whole
            return ("supported", "", None)
        if (
            re.match(r"(?i)\s*of (?:them|those|these)\b", frame.text[q.end : q.end + 14])
            and name is not None
            and name.keys
            and not any(n.bound for n in frame.numbers)
        ):
            return self._equal(q, len(table.held(name.keys[0])), "points")
        beyond = [b for b in frame.numbers if b is not q and b.bound and b.unit != "steps" and not self._is_p(frame, b)]
        keys = list(name.keys) if name is not None and name.keys else [key for n in frame.names for key in n.keys[:1]]
        if not keys and beyond and beyond[0].unit == "s" and (total := table.total_time()):
            keys = [total]
        others = [n for n in frame.numbers if n is not q]
        for key in keys[:3]:
            rows = table.within(key, (min(ends), max(ends)) if len(ends) >= 2 else None)
            held = {len(rows), len([v for _, v in rows if math.isfinite(v)])}
            told = list[int]()
            for bound in beyond:
                told.append(
                    sum(
                        any(agrees(n, 0.0, v, bound=bound.bound) and v != n for n, _ in table.readings(bound, key, v))
                        for _, v in rows
                    )
                )
            for bound in others:
                told.append(sum(any(agrees(n, h, v) for n, h in table.readings(bound, key, v)) for _, v in rows))
            if beyond:
                beyond_only = set(told[: len(beyond)])
                if q.number in (held if among else beyond_only):
                    return ("supported", "", None)
                if among:
                    return ("contradicted", self.say("count", true=len(rows), shown=q.text), None)
                if not re.search(r"(?i)\bof\b", frame.text[max(0, q.start - 8) : q.start]):
                    return ("contradicted", self.say("count", true=told[0], shown=q.text), None)
            counts |= held | set(told)
            signs = [v for _, v in rows if math.isfinite(v)]
            below = re.search(r"(?i)negative|below zero|为负|负", outside(frame, 0, len(frame.text)))
            if below and key == keys[0]:
                negative = sum(v < 0 for v in signs)
                if agrees(q.number, q.half if q.approx else 0.0, float(negative)):
                    return ("supported", "", None)
                return ("contradicted", self.say("count", true=negative, shown=q.text), None)
            if re.search(r"(?i)miss|缺", frame.text):
                counts |= {len(steps) - len(rows), len([s for s in steps if s > 0]) - len(rows)}
        missing = {gap.step for gap in table.run.missing}
        if re.search(r"(?i)cut|truncat|miss|incomplete|截断|缺", frame.text):
            counts.add(len(missing))
        if any(
            agrees(q.number, 0.0 if not q.approx else q.half, float(count), bound=q.bound if q.bound == "<" else "")
            for count in counts
        ):
            return ("supported", "", None)
        return ("contradicted", self.say("count", true=len(steps), shown=q.text), None)

    def _apart(self, frame: Frame, q: Quantity, name: Named | None) -> Outcome | None:
        """``logged every 20 steps``: the usual distance between the steps of the log, of a metric, or of its validations."""
        table = self.table
        series = [table.held(key) for n in frame.names for key in n.keys[:3]] or [
            table.held(k) for n in frame.carried.names for k in n.keys[:1]
        ]
        if re.search(r"(?i)validat|evaluat|\beval\b|\btest|验证|评测|评估|测试", frame.text):
            series += [table.held(key) for key in table.run.columns if VALIDATION.match(key)]
        series.append(list(table.steps))
        usual = []
        for steps in series:
            apart = [b - a for a, b in pairwise(steps)]
            if apart:
                usual.append(max(set(apart), key=apart.count))
        if not usual:
            return ("unsupported", self.say("unbound", shown=q.text), None)
        if q.number in usual:
            return ("supported", "", None)
        return ("contradicted", self.say("count", true=usual[0], shown=q.text), None)

    def _points(self, frame: Frame, q: Quantity, name: Named | None) -> Outcome | None:
        """So many points of a metric, of the whole log or of a stretch of it."""
        keys = list(name.keys[:4]) if name is not None else []
        counts = {len(self.table.steps)}
        if not keys or not any(n is name for n in frame.names):
            counts |= {len(self.table.held(key)) for key in self.table.run.columns}
        for key in keys:
            counts |= {len(self.table.held(key)), len(self.table.finite(key))}
            for place in frame.places:
                if len(place.steps) > 1 or len(frame.places) > 1:
                    span = [s for p in frame.places for s in p.steps]
                    counts |= {len(self.table.finite(key, span))}
        if q.number in counts:
            return ("supported", "", None)
        steps = [p.steps[0] for p in frame.places if len(p.steps) == 1] or list(frame.carried.steps[-1:])
        if q.text.endswith("个") and any(
            agrees(n, h, value)
            for key in keys for step in steps[:1]
            if (value := self.table.value(key, step)) is not None
            for n, h in self.table.readings(replace(q, unit="", factor=1.0), key, value)
        ):  # fmt: skip
            return ("supported", "", None)  # "第 11 步最少，只有 8 个": so many of what the metric counts
        return (
            "contradicted",
            self.say("count", true=len(self.table.held(keys[0])) if keys else len(self.table.steps), shown=q.text),
            None,
        )

    def _p_value(self, frame: Frame, q: Quantity, name: Named | None) -> Outcome | None:
        """A p-value: of the trend of its metric."""
        for key in name.keys[:4] if name is not None else ():
            span = [s for p in frame.places for s in p.steps]
            rows = self.table.finite(key, span) if len(set(span)) > 1 else []
            for steps in (None, [s for s, _ in rows]) if rows else (None,):
                fact = self.table.ledger.trend(key, steps, self.table.run)
                p = None if fact is None else fact.p_value
                if (
                    fact is not None
                    and p is not None
                    and agrees(
                        q.number, q.half, p, bound="<" if "<" in frame.text[max(0, q.start - 4) : q.start] else ""
                    )
                ):
                    return ("supported", "", fact.id)
        return ("unsupported", self.say("unbound", shown=q.text), None)

    @staticmethod
    def _of_training(frame: Frame, q: Quantity) -> bool:
        """Whether a count is said to be of training steps: ``训练步 3 个``, ``3 are training steps``."""
        left, right = frame.text[max(0, q.start - 14) : q.start], frame.text[q.end : q.end + 18]
        if q.unit not in {"steps", "points", ""}:
            return False
        return bool(
            _TRAINING.search(q.text) or re.search(r"(?i)(?:训练\s?(?:步|step)|training steps?)\s*(?:数|有|共|是|为|:|：|are|is)?\s*$", left)
            or re.match(r"(?i)\s*(?:of them |of which )?(?:are|were|is)?\s*(?:the )?(?:for )?training|\s*(?:个|步)?(?:是|为)训练", right)
        )  # fmt: skip

    def _validations(self, frame: Frame, q: Quantity) -> Outcome:
        run = self.table.run
        keys = [key for key in run.columns if VALIDATION.match(key)]
        counted = len({step for key in keys for step in self.table.held(key)})
        timed = next((key for key in ("timing_s/testing", "timing/testing") if key in run.columns), None)
        if timed is not None and re.search(r"(?i)计了?时|\btimed\b", frame.text):
            counted = len(self.table.held(timed))
        if not counted:
            return ("unsupported", self.say("unbound", shown=q.text), None)
        return self._equal(q, counted, "validations")

    def _equal(self, q: Quantity, true: int, what: str) -> Outcome:
        fact = self.table.ledger.count(what, true)
        if agrees(q.number, q.half if q.approx else 0.0, float(true), bound=q.bound):
            return ("supported", "", fact.id)
        return ("contradicted", self.say("count", true=true, shown=q.text), fact.id)
