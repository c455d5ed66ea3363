"""Numbers that are changes: differences, percentages, factors, slopes; between the steps that the sentence means."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from assistant.ground.binding import Frame, Group
from assistant.ground.cues import RATIO_OF, REVERSED, change_cue, cue, outside
from assistant.ground.places import Place
from assistant.ground.quantities import Quantity
from assistant.ground.table import Table, agrees, median, rounded
from assistant.ground.verdicts import Status, as_shown, plain
from assistant.model import Fact

Outcome = tuple[Status, str, str | None]
_VERSUS_END: Final = re.compile(
    r"(?i)(?:\bthan(?: it (?:was|had been)| was)?(?: at| in| on)?(?: the)?|\b(?:as )?(?:compared|in comparison) (?:to|with)(?: at)?(?: the| its)?|\brelative to(?: the| its)?|\bversus|\bvs\.?|\bover|\babove|\bbelow|\bfrom|\bagainst|\bsince|\bfrom (?:its|the) (?:level|value|figure|reading)s?(?: (?:at|in|on))?|"
    r"比起?|相比于?|较|相对于?|对比|与|和|跟|同|高于|低于|大于|小于|从|自)\s*(?:在|the)?\s*(?:第)?\s*$"
    r"|\b(?:above|below|over|under|beyond|than|against|vs\.?|versus|(?:compared|relative) (?:to|with)) (?:its|the|their) (?:own )?(?:value|level|figure|reading|mark|number|size|state)s? (?:at|in|on|of|from)(?: the)?\s*$"
)


_OF_ITS_VALUE: Final = re.compile(
    r"(?i)\bof (?:its|the|their) (?:initial )?(?:value|level|size|figure)s? (?:at|in|on)?\s*$|\b(?:of|as) (?:what|that of|it was|much as|large as|high as|long as)(?: it (?:was|had been))?(?: (?:at|in|on))?(?: the)?\s*$"
    r"|\b(?:where|what) (?:it|they) (?:was|were|is|are|stood|sat|lay|had been|used to be|had stood)(?: (?:at|in|on))?(?: the)?\s*$|\b(?:that|those|the one|the value|the level|the figure) (?:of|at|in|from|on)(?: the)?\s*$|\bas (?:at|in|on)(?: the)?\s*$|(?:\btimes|[×x]|\bfold)(?: (?:the|its|that))?\s*$"
)
_PART_OF_IT: Final = re.compile(
    r"\s*(?:步|step)?(?:时)?的?[^，。；\d是为]{0,10}?(?:[\d.,]+\s*(?:s|秒|%)?\s*)?的\s*(?:约|大约|差不多|近|将近|不到|超过)?\s*(?:一半|[二三四五六七八九十]分之|[\d.]+\s*(?:倍|[×x](?!\s*\d))|[一二两三四五六七八九十](?:成|倍|折))"
)
#: Of these, "slower" is lower.
SPEED: Final = re.compile(
    r"(?i)(?:^|[/_ ])(?:fps|tps|throughput|samples_per_second|steps_per_second|it_s|speed)(?:$|[/_ ])"
)


#: "Fell to 0.8 times its value": of the two, the later over the earlier.
TO_BEFORE: Final = re.compile(r"(?i)\bto\s*(?:about |around |roughly |just |only |some )?[`*]*$")


class Changes:
    """Decides changes against a table."""

    def __init__(self, table: Table, say: Callable[..., str]) -> None:
        self.table, self.say = table, say
        self.last: tuple[str, int, int] | None = None
        self.placed: Callable[[Frame, Place, str], Place] | None = None

    def pairs(self, frame: Frame, at: int, key: str, told: tuple[str, int, int] | None) -> list[tuple[int, int]]:
        """Pairs of steps (from, to) that a change told at a place may be about, the likeliest first.

        Where the sentence compares ("than at step 1", "比 step 1"), the step behind that word is where it starts.
        """
        table, found = self.table, list[tuple[int, int]]()
        clause = frame.clause(at)
        if self.placed is not None:
            frame = replace(frame, places=[self.placed(frame, p, key) if p.kind == "ends" else p for p in frame.places])
        places = [p for p in frame.places if p.steps]
        near = [p for p in places if frame.clause(p.start) == clause]
        lead = frame.text[frame.clause_span(at)[0] : at]
        if told is not None and told[0] == key and _THEN.search(lead[-40:] if len(near) != 1 else lead):
            if (
                len(near) == 1
                and near[0].start >= frame.clause_span(at)[0]
                and len(near[0].steps) == 1
                and near[0].steps[0] != told[2]
            ):
                return [(told[2], near[0].steps[0])]
            after = next((s for s in table.held(key) if s > told[2]), None)
            if after is not None and not near:
                return [(told[2], after)]
            if after is not None and len(near) == 1 and len(near[0].steps) != 1 and near[0].start < at:
                return [(told[2], after), *self._ordered(frame, near, key)]
        # the steps of the clause itself; of the whole sentence where the clause names none or but one
        for group in ([near] if len(near) > 1 or (near and len(near[0].steps) > 1) else []) + [places]:
            found += self._ordered(
                frame, group, key, next((q for q in frame.numbers if q.start == at and q.unit == "ratio"), None)
            )
        single = near or places
        if told is not None and told[0] == key and told[1] != told[2]:
            found.insert(0 if not near else len(found), (told[1], told[2]))
        explicit = bool(found)
        against = any(p not in near and len(p.steps) == 1 and _is_reference(frame, p) for p in places)
        against = against or (len(near) == 1 != len(places) and _is_reference(frame, near[0]))
        if len({p.steps for p in single}) == 1 and len(single[0].steps) == 1 and not (explicit and against):
            step = single[0].steps[0]
            reference = _is_reference(frame, single[0])
            carried = frame.carried
            if reference:
                if carried.steps:
                    found += [(step, s) for s in carried.steps if s != step]
                held = table.held(key)
                found += [(step, held[-1])] if held and held[-1] != step else []
                if (after := next((s for s in held if s > step), None)) is not None:
                    found.append((step, after))
            else:
                back = table.before(key, step)
                if carried.steps and carried.steps[-1] != step:
                    found.append((carried.steps[-1], step))
                if back is not None:
                    found.append((back, step))
                held = table.held(key)
                if held and held[0] != step:
                    found.append((held[0], step))
            explicit = True
        if not explicit:
            if pair := frame.carried.pair_of(key):
                found.append(pair)
            elif frame.carried.span:
                held = [s for s, _ in table.within(key, frame.carried.span)]
                found += [(held[0], held[-1])] if len(held) > 1 else []
            elif frame.carried.steps:
                step = frame.carried.steps[-1]
                back = table.before(key, step)
                found += [(back, step)] if back is not None else []
            held = table.held(key)
            if len(held) > 1:
                found.append((held[0], held[-1]))
        return list(dict.fromkeys(pair for pair in found if pair[0] != pair[1]))

    def _ordered(
        self, frame: Frame, places: Sequence[Place], key: str, ratio: Quantity | None = None
    ) -> list[tuple[int, int]]:
        if not places:
            return []
        if len(places) == 1:
            place = places[0]
            if place.kind == "range":
                held = [s for s, _ in self.table.within(key, place.steps)]
                return [(held[0], held[-1])] if len(held) > 1 else []
            if len(place.steps) == 2:
                return [(place.steps[0], place.steps[1])]
            return [(a, b) for a, b in pairwise(place.steps)]
        steps = [(p, s) for p in places for s in p.steps]
        result = []
        for (left, a), (right, b) in pairwise(steps):
            if a == b:
                continue
            behind, ahead = _is_reference(frame, left), _is_reference(frame, right)
            if (
                ratio is not None
                and len(steps) == 2
                and not behind
                and (
                    left.end <= ratio.start < right.start
                    or (
                        re.search(r"(?:[是为]|只有|仅有|只剩|相当于)\s*(?:第\s*)?$", frame.text[: right.start])
                        and right.end <= ratio.start
                    )
                )
            ):
                ahead = True
            result.append((b, a) if ahead and not behind else (a, b))
        if len(steps) > 2 and steps[0][1] != steps[-1][1]:
            result.append((steps[0][1], steps[-1][1]))
        return result

    def number(self, frame: Frame, q: Quantity, key: str, told: tuple[str, int, int] | None) -> Outcome | None:
        """A number as a change of a metric; ``None`` where no two steps can be meant."""
        table = self.table
        if not q.unit and RATIO_OF.search(frame.text[max(0, q.start - 60) : q.start]) and not q.sign:
            q = replace(q, unit="ratio")
        turned = self.taken_from(frame, q.start)
        pairs = [turned] if turned else self.pairs(frame, q.start, key, told)
        down = None if q.unit == "ratio" and TO_BEFORE.search(frame.text[: q.start]) else self._says_down(frame, q)
        if not q.sign and q.unit in {"%", "", "pp"}:
            down = adjacent_sense(frame, q)
        first: Outcome | None = None
        for a, b in pairs:
            x, y = table.value(key, a), table.value(key, b)
            if x is None or y is None or not (math.isfinite(x) and math.isfinite(y)):
                if first is None:
                    gone = a if x is None else b
                    if gone not in table.steps and table.steps:
                        note = self.say("no_step", step=gone, first=table.steps[0], last=table.steps[-1])
                    else:
                        note = self.say("missing", metric=key, step=gone)
                    first = ("contradicted", note, table.ledger.missing(key, gone, table.run).id)
                continue
            fact = table.ledger.change(key, a, b, table.run)
            identity = fact.id if fact else None
            if self.is_change(q, table.kind(key), x, y, down=down):
                self.last = (key, a, b)
                return ("supported", "", identity)
            if first is None:
                first = ("contradicted", self.told_change(key, a, b, x, y, q), identity)
        if first is not None and first[0] == "contradicted" and q.unit in {"", "pp", "%", "ratio", "factor"}:
            third = self._of_levels(q, key, down=down, frame=frame)
            if third is not None:
                return third
        return first

    @staticmethod
    def taken_from(frame: Frame, at: int) -> tuple[int, int] | None:
        """``step 9 minus step 2``, ``第 9 步与第 2 步之比``: the pair whose second step is the one told first."""
        if not REVERSED.search(frame.text[max(0, at - 80) : at]):
            return None
        singles = [p for p in frame.places if len(p.steps) == 1]
        steps = (
            [p.steps[0] for p in singles]
            if len(singles) == 2
            else next((list(p.steps) for p in frame.places if len(p.steps) == 2 and p.kind != "range"), [])
        )
        return (steps[1], steps[0]) if len(steps) == 2 and steps[0] != steps[1] else None

    def is_change(self, q: Quantity, kind: str, x: float, y: float, *, down: bool | None = None) -> bool:
        """Whether a number is the change from ``x`` to ``y``: a difference, a percentage, points or a factor.

        Percentages and factors of the shown values (two to four digits of each) count too: 0.047 → 0.150 is +219 %.
        """
        delta = y - x
        if down is not None and not q.sign and q.unit in {"%", "", "pp"} and delta and (delta < 0) != down:
            return False
        if (q.sign == "+" and delta < 0) or (q.sign == "-" and delta > 0):
            return False
        signed = -abs(q.number) if q.sign == "-" else abs(q.number)
        if q.unit == "pp":
            held = [(q.number * 0.01, q.half * 0.01)] if kind != "percent" else [(q.number, q.half)]
            return any(self._near(n, h, delta, q) for n, h in held) or any(
                self._near(n, h, round(y, d) - round(x, d), q) for n, h in held for d in (3, 4)
            )
        if q.unit == "%":
            exact = []
            large = bool(x) and abs(y - x) >= 0.5 * abs(x)
            for a, b in [(x, y), *((rounded(x, d), rounded(y, d)) for d in ((2, 3, 4) if large else (3, 4)))]:
                if a:
                    exact.append((b - a) / abs(a) * 100)
            return any(self._near(q.number, q.half, value, q) for value in exact)
        if q.unit in {"ratio", "factor"}:
            ratios = []
            for a, b in [(x, y), *((rounded(x, d), rounded(y, d)) for d in (2, 3, 4))]:
                if a and b and (a > 0) == (b > 0):
                    ratios += [b / a] if down is None else [a / b, b / a] if down else [b / a]
            number = abs(q.number)
            if q.unit == "factor" and down and number > 1:
                return any(agrees(1 / number, q.half / number**2, r) for r in ratios)
            fits = any(agrees(number, q.half, r, bound=q.bound) for r in ratios)
            more = down is False and any(agrees(number, q.half, r - 1, bound=q.bound) for r in ratios)
            return fits or more
        held = [(signed if q.sign else abs(q.number), q.half)] if not q.unit else _scaled(q, kind)
        if any(self._near(n, h, delta, q) for n, h in held):
            return True
        if not q.unit or q.unit in {"s", "ms", "gib", "tokens", "rate"}:
            factor = held[0][0] / q.number if held and q.number else 1.0
            places = q.decimals
            shown = (round(y / factor, places) - round(x / factor, places)) if factor else 0.0
            return bool(held) and self._near(abs(q.number) if not q.sign else q.number, q.half * 0.1, shown, q)
        return False

    @staticmethod
    def _near(number: float, half: float, value: float, q: Quantity) -> bool:
        if q.sign in {"+", "-"}:
            return agrees(number, half, value)
        return agrees(abs(number), half, abs(value), bound=q.bound)

    def _says_down(self, frame: Frame, q: Quantity) -> bool | None:
        clause = outside(frame, *frame.clause_span(q.start))
        down, up = (
            bool(cue("down").search(clause) or cue("lower").search(clause)),
            bool(cue("up").search(clause) or cue("higher").search(clause)),
        )
        down = down or bool(re.search(r"(?i)\bcollaps", clause))
        return None if down == up else down

    def told_change(self, key: str, a: int, b: int, x: float, y: float, q: Quantity) -> str:  # noqa: PLR0917
        """What the change is, as a reason."""
        kind = self.table.kind(key)
        bare = Quantity(0, 0, "", 0.0, 0.0, digits=4)
        relative = f"{(y - x) / abs(x) * 100:+.3g}%" if x else "—"
        return self.say("change", metric=key, first=a, second=b, from_=as_shown(x, bare, kind), to=as_shown(y, bare, kind),
                        delta=f"{'+' if y > x else ''}{plain(y - x)}", relative=relative, shown=q.text)  # fmt: skip

    # -- levels and slopes -------------------------------------------------------------------------
    def levels(
        self, numbers: Sequence[Quantity], key: str,
        parts: tuple[Sequence[tuple[int, float]], Sequence[tuple[int, float]]] | None = None, averaged: bool = False,
    ) -> list[str] | None:  # fmt: skip
        """``0.12 avg → 0.26 avg``: two numbers as the medians or means of two stretches, else of the first and last third."""
        rows = self.table.finite(key)
        if len(rows) < 6 or len(numbers) != 2 or (parts is not None and not all(parts)):
            return None
        ids = []
        for q, part in zip(numbers, parts or self._ends(rows), strict=True):
            values = [v for _, v in part]
            fits = [
                t
                for t in (*(() if averaged else (median(values),)), sum(values) / len(values))
                if any(agrees(n, h, t) for n, h in self.table.readings(q, key, t))
            ]
            if not fits:
                return None
            ids.append(self.table.aggregate("level", key, fits[0], part))
        return ids

    @staticmethod
    def _ends(rows: Sequence[tuple[int, float]]) -> tuple[Sequence[tuple[int, float]], Sequence[tuple[int, float]]]:
        third = max(1, len(rows) // 3)
        return rows[:third], rows[-third:]

    def _of_levels(self, q: Quantity, key: str, *, down: bool | None, frame: Frame) -> Outcome | None:
        """A change between means over stretches of steps that the sentence names."""
        ranges = [p for p in frame.places if p.kind == "range"]
        spans = sorted({(self.placed(frame, p, key) if self.placed else p).steps for p in ranges})
        parts = [self.table.finite(key, span) for span in spans]
        if len(spans) == 1:  # "over the second half it is higher by 5.5": against the rest
            rest = [row for row in self.table.finite(key) if row[0] < spans[0][0]]
            late = [row for row in self.table.finite(key) if row[0] > spans[0][-1]]
            parts = [rest, parts[0]] if rest and not late else [parts[0], late] if late and not rest else []
        if len(parts) != 2 or not all(parts):
            return None
        x, y = (sum(v for _, v in part) / len(part) for part in parts)
        if self.is_change(q, self.table.kind(key), x, y, down=down):
            return ("supported", "", self.table.aggregate("level", key, y, parts[1]))
        return None

    def slope(self, q: Quantity, key: str) -> str | None:
        """The id of the trend whose slope per step a number is."""
        fact = self.table.ledger.trend(key, run=self.table.run)
        if fact is None:
            return None
        slopes = [fact.slope_per_step, fact.growth_per_step]
        rows = self.table.finite(key)
        if len(rows) > 1 and rows[-1][0] != rows[0][0]:
            slopes.append((rows[-1][1] - rows[0][1]) / (rows[-1][0] - rows[0][0]))
        for slope in slopes:
            if slope is None:
                continue
            factor = 0.01 if q.unit in {"%", "pp"} else 1.0
            if self._near(q.number * factor, q.half * factor, slope, q):
                return fact.id
        return None

    def derived(self, frame: Frame, q: Quantity, facts: Sequence[Fact], group: Group | None) -> Outcome | None:
        """A change of a derived quantity between two steps, where the sentence tells one."""
        if group is not None or len(facts) < 2 or change_cue(frame, q) != "sure":
            return None
        by_step = {fact.step: fact for fact in facts}
        for a in by_step.values():
            for b in by_step.values():
                if (a.step or 0) < (b.step or 0) and self.is_change(
                    q, a.unit or "number", float(a.value or 0), float(b.value or 0)
                ):
                    return ("supported", "", b.id)
        return None


_THEN: Final = re.compile(r"(?i)\bthen\b|\bbefore (?:rising|falling|dropping|climbing)|再|又|随后|接着|然后|之后")
_DOWN_BEFORE: Final = re.compile(
    r"(?i)(?:\bminus|缩水|下降|降低|减少|下跌|回落|缩短|降|跌|减|少(?:花|用|跑|处理|写)?|低|短|快|fell|fall|falls|dropped|drops?|declined|decreased|decreases|down|lost|shrank|slid|slipped|lower|smaller|shorter|faster|(?<!no )\bloss of|\bdrop of|\bfall of|\bdecrease of|\bdecline of|shed|sheds|shedding)(?:了|约|近|大约|出|超过|逾|不到|\s|by|more than|over|at least|less than|about|around|roughly|nearly|approximately|~|≈|[（(`*])*$"
)
_UP_BEFORE: Final = re.compile(
    r"(?i)(?:\bplus|上升|增加|增长|提高|提升|上涨|回升|升|涨|增|多(?:花|用|跑|处理|写|占|耗)?|高|长|慢|rose|rises?|grew|grows?|increased|increases|climbed|gained|up|jumped|higher|greater|larger|longer|bigger|slower|\bgain of|\brise of|\bincrease of|\bjump of|\badded|\badds|\bput on)(?:了|约|近|大约|出|超过|逾|不到|\s|by|more than|over|at least|less than|about|around|roughly|nearly|approximately|~|≈|[（(`*])*$"
)
_DOWN_AFTER: Final = re.compile(
    r"(?i)^[`*\s]*(?:points? )?(?:lower|less|fewer|shorter|smaller|faster|decrease|drop|decline|reduction|fall|below|down\b|的?(?:下降|降幅|跌幅))"
)
_UP_AFTER: Final = re.compile(
    r"(?i)^[`*\s]*(?:points? )?(?:higher|more|longer|larger|greater|bigger|slower|increase|rise|gain|growth|jump|above|up\b|的?(?:上升|增长|涨幅|增幅|提升))"
)


#: "cut the grad norm by": what is moved stands between.
_MOVED_IT: Final = re.compile(
    r"(?i)\b(?:(?P<down>cuts?|reduc(?:es|ed)|lower(?:s|ed)|trim(?:s|med)|slash(?:es|ed)|shrank|shr[iu]nk)|raise[sd]|lift(?:s|ed)|boost(?:s|ed)|push(?:es|ed) up|increase[sd])\b[^,.;\d]{0,8}\x00+[^,.;\d]{0,8}\bby\b[^,.;\d]{0,16}$"
)
#: "Changed by 0.02", "Δ = 0.02": without a sign it went up.
_SIGNED: Final = re.compile(
    r"(?i)\b(?:chang(?:ed|es|ing)|mov(?:ed|es|ing)|shift(?:ed|s|ing)?) by\s*(?:about |around |roughly |~|≈)?[`*]*$|变化了?\s*(?:约|大约)?[`*]*$|(?:Δ|\bdelta\b)[^，,。；;0-9]{0,24}[=:：]\s*[`*]*$"
)
#: 掉一半多: a number that begins with the word of its direction.
_CUT: Final = re.compile(r"(?:下降|减少|降低|缩短|缩小|减|少|降|跌|掉)")


def adjacent_sense(frame: Frame, q: Quantity) -> bool | None:
    """``True`` where a word right beside a change says that it goes down, ``False`` up, ``None`` neither."""
    left, right = frame.text[max(0, q.start - 30) : q.start], frame.text[q.end : q.end + 22]
    if not q.sign and q.unit in {"%", "", "pp"} and _SIGNED.search(left):
        return False
    down = bool(_DOWN_BEFORE.search(left) or _DOWN_AFTER.search(right) or _CUT.match(q.text))
    up = bool(_UP_BEFORE.search(left) or _UP_AFTER.search(right))
    if not down and not up and (moved := _MOVED_IT.search(outside(frame, max(0, q.start - 70), q.start))):
        return bool(moved["down"])
    return None if down == up else down


def _scaled(q: Quantity, kind: str) -> list[tuple[float, float]]:
    from assistant.ground.table import readings

    return [(abs(n) if not q.sign else n, h) for n, h in readings(q, kind, None)]


_LEFT_OF_IT: Final = re.compile(r"(?:只剩|只有|仅有|仅剩|仅为|只是|相当于|[降跌缩落]到了?)\s*(?:第\s*)?$")


#: "Down 12% on step 32": what it is down from.
_UP_ON: Final = re.compile(r"(?i)\b(?:is|was) (?:up|down)(?: by)? (?:about |roughly )?[\d.]+\s?% on $")


def _is_reference(frame: Frame, place: Place) -> bool:
    """Whether a step is what another is compared with: "than at step 1", "相比 step 1"."""
    left = frame.text[max(0, place.start - 30) : place.start]
    if _UP_ON.search(left):
        return True
    for name in frame.names:  # "比 step 1 的", "than the entropy of step 1"
        if name.end <= place.start and place.start - name.end < 12:
            left = left.replace(frame.text[name.start : name.end], "")
    left = re.sub(
        r"(?i)[`*]*[-+−]?\d[\d.,]*(?:e[-+]?\d+)?\s*(?:%|s|tokens?(?:/s)?|min|GiB|GB|秒|分钟|个百分点)?[`*]*\s*[（(]?(?:at|in|on|of)?\s*(?:the\s+)?$",
        "",
        left,
    )
    if _VERSUS_END.search(left) or _OF_ITS_VALUE.search(left):
        return True
    if _PART_OF_IT.match(frame.text[place.end : place.end + 24]):
        return True
    if _LEFT_OF_IT.search(left) and re.match(
        r"\s*步?(?:时)?的\s*(?:约|大约|不到|近)?\s*[\d.]+\s*[%％]", frame.text[place.end : place.end + 16]
    ):
        return True  # "只剩 step 30 的 73%"
    if re.search(r"(?i)\b(?:its|the|their)\s*$", left) and re.match(
        r"(?i)\s*(?:level|value|figure|mark|reading|number|one)\b", frame.text[place.end : place.end + 10]
    ):
        return bool(re.search(r"(?i)\b(?:under|over|above|below|than|of|from|to|past|beyond|outgrow\w*|outgrew|exceed\w*|with)\s+(?:its|the|their)\s*$", left))  # fmt: skip
    if re.search(r"(?i)\bof\s*$", left) and re.match(r"['’]s\b", frame.text[place.end : place.end + 3]):
        return True  # "a third of step 280's"
    return bool(re.match(r"(?i)\s*(?:相比|比起来|为基准)", frame.text[place.end : place.end + 6])) and not re.match(
        r"\s*相比\s*(?:step|第)", frame.text[place.end : place.end + 10])  # fmt: skip
