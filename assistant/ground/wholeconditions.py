"""Sentences about conditions and parts: whether any step fulfils one, for what share of the steps, one end of the range
as a multiple of the other, seconds of one phase for each of another, all phases but one, steps in an hour, the extreme
of some steps that are named.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from assistant.ground.counting import EQUALS
from assistant.ground.quantities import Quantity
from assistant.ground.table import agrees
from assistant.ground.verdicts import plain
from assistant.ground.wholereader import Whole
from assistant.ground.wholesplits import SplitReader

#: "There are steps with …", 有些步 …, "…的步一个都没有".
_SOME: Final = re.compile(
    r"(?i)\bthere (?:are|is|were|was) (?:some |a few |several |also )?(?:logged |training )?steps? (?:with|where|at which|on which|in which|that|whose)\b|\b(?:at least one|some|one or more|a few|several)(?: of the)? (?:logged |training )?steps?\b"
    r"|(?<![没未])(?:有|存在)(?:着|一?些|个别|若干|某些|少数)?的?(?:步|step)(?!数|骤|长|[\s，,]*\d)(?:里|中|上)?"
)
_NONE: Final = re.compile(
    r"(?:的(?:训练)?(?:步|step)|步)(?:一个|一次|半个)?(?:都|也)?(?:不存在|没有)(?=\s*[。；，,）)]|$)|的(?:训练)?(?:步|step)(?:是)?(?:零个|0 ?个)"
)
#: "… 的步占全部的 13.9%".
_STEPS_MAKE: Final = re.compile(r"步(?:数)?占(?:了)?(?:全部|总步数|所有步|全程)?的?\s*(?:约|大约)?\s*$")
#: What a share is of: "two thirds of the time", 三分之一的步里.
_OF_STEPS: Final = re.compile(
    r"(?i)\s*of (?:all )?(?:the )?(?:logged |training )?(?:steps|time|run|iterations|updates)\b|\s*(?:左右|上下)?的(?:训练)?(?:步|step|时间|步数|迭代)(?:里|中|上|都|内)?"
)
_OVER_LEAST: Final = re.compile(
    r"(?i)(?:最[大高长多快慢]值?|峰值|顶点)[^，。；\d]{0,6}(?:是|为|约|达|达到|相当于)[^，。；\d]{0,4}(?:最[小低短少]值?|谷值|谷底)[^，。；\d]{0,3}的"
    r"|\b(?:peak|max(?:imum)?|highest|largest)[- ]to[- ](?:trough|min(?:imum)?|lowest|smallest)\b|\bratio of (?:the )?(?:max(?:imum)?|largest|highest|peak) to (?:the )?(?:min(?:imum)?|smallest|lowest|trough)\b"
    r"|\b(?:peak|max(?:imum)?|highest|largest|high)\b(?: value)?[\s,]*(?:over|to|versus|vs\.?|divided by|/)\s*(?:the )?(?:trough|min(?:imum)?|lowest|smallest|low)\b"
    r"|\b(?:peak|max(?:imum)?|highest value|largest value)\b[^.;\d]{0,16}\b(?:is|was)\b[^.;]{0,24}\b(?:the |its )?(?:trough|min(?:imum)?|lowest value|smallest value|lowest|smallest)\b"
)
_FOR_A_SECOND: Final = re.compile(
    r"(?i)\b(?:for|per) (?:every|each|a|one)(?: one)? second (?:spent (?:in|on|for)|of|in)\b|(?<!\d)每(?:做|花|跑|用|在)?\s*(?:1|一)\s*秒(?:钟)?(?:的)?"
)
_ALL_BUT: Final = re.compile(
    r"(?i)\b(?:everything|all)(?: else)? (?:other than|but|except(?: for)?|besides|apart from|outside(?: of)?)\b|\b(?:apart|aside) from\b|除(?:了|去|开)?(?=[^，。；]{1,16}(?:之外|以外|外|[，,]\s*(?:其余|其他|剩下|剩余)))|(?:之外|以外)的(?:部分|时间|阶段|所有)"
)
_REST: Final = re.compile(
    r"(?i)\b(?:everything|all|the rest|the others?|adds? up|combined|together)\b|其余|其他|剩下|剩余|部分|加起来|合计|一共|共"
)
_PACE: Final = re.compile(
    r"(?i)\x00\s*(?:(?:per|an?|each|every|/)\s*(?P<hour>hour|h\b)|(?:per|an?|each|every|/)\s*(?P<day>day)|(?:per|an?|each|every|/)\s*(?P<minute>minute|min\b))"
    r"|(?:每|一|1)\s*个?\s*(?:(?P<zhour>小时)|(?P<zday>天)|(?P<zminute>分钟))[^，,。；;\d]{0,10}\x00"
)
_SECONDS: Final = {"hour": 3600.0, "day": 86400.0, "minute": 60.0}
_LISTED: Final = re.compile(r"(?i)\b(?:of|among|out of|between)\s+(?:the )?$|(?:^|[，,。；在])\s*$")
_LISTED_AFTER: Final = re.compile(
    r"(?i)\s*(?:这?[两三四五六七八九十]?\s*(?:个)?(?:步|step)?)?\s*(?:里面?|中|之中|当中|之间)|\s*[,，:]"
)
_MOST: Final = re.compile(
    r"(?i)\b(?:highest|largest|longest|greatest|biggest|slowest|most|peaks?|tops?)\b|最[高大长多慢]"
)
_LEAST: Final = re.compile(r"(?i)\b(?:lowest|smallest|shortest|least|fastest|fewest)\b|最[低小短少快]")


class ConditionReader(SplitReader):
    """Claims about conditions and parts."""

    def _beyond(self, bound: Quantity, key: str, span: Sequence[int] | None = None) -> tuple[int, int] | None:
        """At how many steps of how many a metric lies beyond a bound; ``None`` where the unit is another."""
        rows = self.table.finite(key, span)
        held = self.table.readings(bound, key)
        if not rows or not held:
            return None
        count = sum(any(agrees(n, 0.0, v, bound=bound.bound) and v != n for n, _ in held) for _, v in rows)
        return count, len(rows)

    def any_step(self) -> Iterator[Whole]:
        """``there are steps with a score under 0.77``, ``长度低于 210 的步一个都没有``."""
        none, some, key = _NONE.search(self.text), _SOME.search(self.text), self.key()
        match = none or some
        numbers = self.frame.numbers
        if match is None or key is None or len(numbers) != 1 or not numbers[0].bound:
            return
        found = self._beyond(numbers[0], key, self.span())
        if found is None:
            return
        fine = found[0] == 0 if none else found[0] > 0
        note = self.judge.say("count", true=found[0], shown=match.group())
        yield self.say(*match.span(), fine, note, covers=[(numbers[0].start, numbers[0].end)])

    def portion(self) -> Iterator[Whole]:
        """``above 0.73 about two thirds of the time``, ``三分之一的步里高过 5``."""
        numbers, key = self.frame.numbers, self.key()
        bounds = [
            q
            for q in numbers
            if q.bound and q.unit not in {"steps", "points"} and not _OF_STEPS.match(self.text[q.end :])
        ]
        shares = [
            q for q in numbers
            if q.unit in {"%", "factor"}
            and (_OF_STEPS.match(self.text[q.end :]) or _STEPS_MAKE.search(self.text[max(0, q.start - 16) : q.start]))
        ]  # fmt: skip
        if key is None or len(shares) != 1 or len(numbers) != 2:
            return
        share = shares[0]
        bound = bounds[0] if bounds else next(q for q in numbers if q is not share)
        if not bounds and not EQUALS.search(self.text[max(0, bound.start - 32) : bound.start]):
            return
        found = self._beyond(bound, key, self.span()) if bounds else self._equal(bound, key, self.span())
        if found is None:
            return
        scale = 1.0 if share.unit == "%" else 100.0
        true = 100.0 * found[0] / found[1]
        fine = agrees(share.number * scale, share.half * scale, true, bound=share.bound)
        note = self.judge.say("count", true=f"{found[0]}/{found[1]}", shown=share.text)
        yield self.say(share.start, share.end, fine, note, covers=[(bound.start, bound.end)])

    def _equal(self, q: Quantity, key: str, span: tuple[int, int] | None) -> tuple[int, int] | None:
        """At how many steps of how many a metric is just so much."""
        rows, held = self.table.finite(key, span), self.table.readings(q, key)
        return (sum(any(v == n for n, _ in held) for _, v in rows), len(rows)) if rows and held else None

    def range_factor(self) -> Iterator[Whole]:
        """``the maximum is 1.5 times the minimum``, ``peak over trough, a factor of 2.4``."""
        match, key = _OVER_LEAST.search(self.text), self.key()
        bare = {""} if match is not None and "to" in re.split(r"[\s-]", match.group().lower()) else set()
        ratios = [q for q in self.frame.numbers if q.unit in {"ratio", "factor", *bare}]
        if match is None or key is None or len(ratios) != 1 or len(self.frame.numbers) != 1:
            return
        if any(place.kind != "range" for place in self.frame.places):
            return
        values = [v for _, v in self.table.finite(key, self.span())]
        if len(values) < 2 or min(values) <= 0:
            return
        q, true = ratios[0], max(values) / min(values)
        fine = agrees(q.number, q.half, true, bound=q.bound)
        note = self.judge.say("range", metric=key, low=plain(min(values)), high=plain(max(values)), shown=q.text)
        yield self.say(q.start, q.end, fine, note, covers=[match.span()])

    def for_a_second(self) -> Iterator[Whole]:
        """``for every second in the update there are 58.4 seconds of generation``."""
        match = _FOR_A_SECOND.search(self.text)
        timed = [n for n in self.frame.names if n.keys and self.table.kind(n.keys[0]) == "seconds"]
        numbers = [q for q in self.frame.numbers if match is None or q.start >= match.end()]
        if match is None or len(numbers) != 1 or numbers[0].unit != "s" or len({n.keys[0] for n in timed}) != 2:
            return
        after = [n for n in timed if n.start >= match.end()]
        if not after:
            return
        base, q = after[0], numbers[0]
        part = next(n for n in timed if n.keys[0] != base.keys[0])
        values = self._two(part.keys[0], base.keys[0])
        if values is None or not values[1]:
            return
        true = values[0] / values[1]
        fine = agrees(q.number * q.factor, q.half * q.factor, true, bound=q.bound)
        note = self.judge.say("factor", true=plain(true, 3), shown=q.text)
        yield self.say(q.start, q.end, fine, note, covers=[match.span()])

    def _two(self, one: str, two: str) -> tuple[float, float] | None:
        """Two metrics at the step that is named, else summed over the steps that hold both."""
        singles = [p for p in self.frame.places if len(p.steps) == 1]
        if len(singles) > 1:
            return None
        step = singles[0].steps[0] if singles else self.frame.carried.steps[-1] if self.frame.carried.steps else None
        steps = [step] if step is not None else self.table.held(one)
        pairs = [
            (x, y)
            for s in steps
            if (x := self.table.value(one, s)) is not None and (y := self.table.value(two, s)) is not None
        ]
        return (sum(x for x, _ in pairs), sum(y for _, y in pairs)) if pairs else None

    def all_but(self) -> Iterator[Whole]:
        """``everything other than generation adds up to 25% of step 58, or 12.3 s``."""
        match, total = _ALL_BUT.search(self.text), self.table.total_time()
        held = [
            n for n in self.frame.names if n.keys and n.keys[0] != total and self.table.kind(n.keys[0]) == "seconds"
        ]
        numbers = self.frame.numbers
        if match is None or total is None or len(held) != 1 or not numbers or not _REST.search(self.text):
            return
        if any(q.unit not in {"%", "s"} for q in numbers):
            return
        values = self._two(held[0].keys[0], total)
        if values is None or not values[1]:
            return
        rest, singles = values[1] - values[0], [p for p in self.frame.places if len(p.steps) == 1]
        steps = 1 if singles or self.frame.carried.steps else max(1, len(self.table.held(held[0].keys[0])))
        for q in numbers:
            if q.unit == "%":
                fine = agrees(q.number, q.half, 100 * rest / values[1], bound=q.bound)
            else:
                fine = agrees(q.number * q.factor, q.half * q.factor, rest / steps, bound=q.bound)
            note = self.judge.say(
                "sum", true=f"{plain(rest / steps)} s, {plain(100 * rest / values[1], 3)}%", shown=q.text
            )
            yield self.say(q.start, q.end, fine, note)

    def pace(self) -> Iterator[Whole]:
        """``20.0 steps per hour``, ``一小时能跑 20.0 步``: from the mean time of a step."""
        total = self.table.total_time()
        for q in self.frame.numbers if total is not None else ():
            if q.unit != "steps":
                continue
            match = _PACE.search(self.text[: q.start] + "\x00" + self.text[q.end :])
            rows = self.table.finite(total or "", self.span())
            if match is None or not rows or any(len(p.steps) == 1 for p in self.frame.places):
                continue
            unit = next(name.removeprefix("z") for name, held in match.groupdict().items() if held)
            true = _SECONDS[unit] * len(rows) / sum(v for _, v in rows)
            note = self.judge.say("factor", true=f"{true:.4g}", shown=q.text)
            beside = [(n.start, n.end) for n in self.frame.numbers if n.unit == "s" and n.number == 1]
            yield self.say(q.start, q.end, agrees(q.number, q.half, true, bound=q.bound), note, covers=beside)

    def of_these(self) -> Iterator[Whole]:
        """``of steps 10, 25 and 46, step 46 has the highest throughput, 1028``."""
        lists = [p for p in self.frame.places if p.kind == "steps" and len(p.steps) > 1]
        singles = [p for p in self.frame.places if len(p.steps) == 1]
        names = {n.keys: n for n in self.names() if n.keys}
        if len(names) != 1 or len(lists) != 1 or len(singles) != 1 or singles[0].steps[0] not in lists[0].steps:
            return
        among, one = lists[0], singles[0]
        if not (_LISTED.search(self.text[: among.start]) and _LISTED_AFTER.match(self.text[among.end :])):
            return
        most, least = _MOST.search(self.text), _LEAST.search(self.text)
        if bool(most) == bool(least):
            return
        first: Whole | None = None
        for key in next(iter(names))[:4]:
            values = {s: v for s in among.steps if (v := self.table.value(key, s)) is not None}
            if len(values) != len(among.steps):
                continue
            best = (max if most else min)(values, key=lambda s: values[s])
            told = [self.judge.cell(q, key, best) for q in self.frame.numbers]
            wrong = next((d for d in told if d.status != "supported"), None)
            fine = values[one.steps[0]] == values[best] and wrong is None
            note = wrong.reason if wrong is not None and one.steps[0] == best else ""
            note = note or self.judge.say("extreme_step", metric=key, step=best, true=plain(values[best]))
            fact = self.table.ledger.value(key, best, self.table.run)
            whole = self.say(one.start, one.end, fine, note, fact.id if fact else None, [(among.start, len(self.text))])
            if fine:
                yield whole
                return
            first = first or whole
        if first is not None:
            yield first
