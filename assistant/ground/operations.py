"""What a number may say of one metric at one place: a value, a bound, a mean, an extreme, a sum, a change; each computed.

The words around the number say which of these are allowed (:mod:`assistant.ground.allowed` draws up metrics and places).
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.cells import excepted
from assistant.ground.changes import TO_BEFORE, adjacent_sense
from assistant.ground.cues import RATIO_OF, bare, change_cue, cue, end_said, outside, told_as_change
from assistant.ground.extremes import beside_extreme, nearest_extreme
from assistant.ground.judging import Judge
from assistant.ground.lexicon import Named
from assistant.ground.quantities import Quantity
from assistant.ground.table import agrees, median

_BY: Final = re.compile(
    r"(?i)(?:\bby|\bplus|\bminus|上升了|下降了|增加了|减少了|提高了|降低了|上涨了|下跌了|涨了|跌了|升了|降了|多(?:花|用|处理|跑|写|占|耗|出)?了|少(?:花|用|处理|跑|写|占|耗)?了|高了|低了|长了|短了|慢了|快了|\b(?:loses?|lost|sheds?|gains?|gained|adds?|added)|跌掉了?|掉了|[涨降增跌升减]幅|(?:上升|下降|变化)幅度|\b(?:rise|fall|drop|increase|decrease|decline|change|reduction|gain|loss|jump|growth|improvement|dip)s? of|\bfactor of)\s*(?:为|是|达到?|有)?\s*(?:约|大约|近|接近|about|around|roughly|just|only|some|almost|nearly|~|≈)?\s*[`*]*$"
)
_REACHES: Final = re.compile(
    r"(?i)(?:\b(?:drop|f[ae]ll|dip|sink|sank|go|goes|went|gone|get|climb|ris|rose|jump|shoot|shot|pass|cross|exceed|break|broke|cut|come|came)\w*\b|降|跌|掉|升|涨|窜|冲|突破|超过|回落|缩|破)[^，。；;,.]{0,14}$"
)
_NEVER: Final = re.compile(r"(?i)\bnever\b|\bnot once\b|从未|从没|从不|没有一次|始终(?:没|未)|一直(?:没|未)|未曾|不曾")
_MOSTLY: Final = re.compile(r"(?i)\bmost(?:ly)?\b|\blargely\b|\bgenerally\b|基本|大多|大部分|多数|大体|主要")
_TYPICAL: Final = re.compile(
    r"(?i)\b(?:per|each|every|an? average|a typical) (?:step|iteration|update)\b|\bsteps? (?:take|cost|last)s?\b|\btypical(?:ly)?\b|每(?:一)?(?:步|次|个 ?step)|单步|平时|常态|维持在|稳定在|保持在|徘徊"
)
_NTH: Final = re.compile(
    r"(?i)\b(?P<n>second|third|fourth)[- ](?:highest|largest|biggest|longest|best)\b|\b(?P<low>second|third|fourth)[- ](?:lowest|smallest|shortest|worst)\b|第(?P<zn>[二三四])[高大长多]|第(?P<zlow>[二三四])[低小短少]"
)
_RANK: Final = {"second": 1, "third": 2, "fourth": 3, "二": 1, "三": 2, "四": 3}
_ONCE: Final = re.compile(
    r"(?i)\bfirst\b|首次|第一次|最早|最先|\bonce\b|\btwice\b|\btimes\b|\bseveral\b|[一两二三四五几多\d]\s*次|好几|[几多]步"
)
#: "The biggest chunk is …": an extreme among the parts of a step, not over the steps.
_OF_PARTS: Final = re.compile(
    r"(?i)(?:biggest|largest|smallest) (?:chunk|part|share|slice|component|contributor|item|piece)|最[大小](?:的)?(?:一)?(?:块|项|头|部分|开销)"
)
_GAP: Final = re.compile(r"(?i)\b(?:gap|difference|spread|distance|apart)\b|相差|差距|差(?=\s*[\d约])")
_THROUGHOUT: Final = re.compile(
    r"(?i)\b(?:never|always|no|not|none|throughout|stay\w*|remain\w*|kept?|every|each|all|any|at most|at least|within)\b|n't\b|始终|一直|从未|从没|从不|没|未|不(?!足|到)|都|均|每|全|保持|维持"
)
#: Beside a stretch that is named: the whole run is spoken of too.
_OVERALL: Final = re.compile(
    r"(?i)\b(?:overall|whole|entire|all|full|throughout|ever|usual|typical|normal|run(?:'s|’s)?|peak|max\w*|min\w*|high\w*|low\w*|best|worst)\b|全程|整体|总体|整个|全部|所有|平时|历史|全局|峰值|谷|最(?![后近初先终新])"
)
_AT_EVERY: Final = re.compile(
    r"(?i)\b(?:never|always|throughout|every|each|stay(?:s|ed)?|remain(?:s|ed)?|keeps?|kept|no longer|not once|at no point|ever again|no (?:single )?step)\b|始终|一直|从未|从没|从不|[没未不][有]?再|再也?没|没有(?:一次|任何一步|哪一?步|一步)|均|都|全程|每"
)
_SUMMED: Final = re.compile(r"(?i)\bsummed\b|\bin total\b|\badds? up\b|\baltogether\b|合计|总共|加起来|累计")
_VALUE_UNITS: Final = frozenset(["", "%", "s", "ms", "gib", "rate", "tokens", "turns", "nats", "samples", "points"])


@dataclass(frozen=True, slots=True)
class Subject:
    """A metric that a number may be of: its key, and where it is named (-1: not in the sentence)."""

    key: str
    at: int
    statistic: str = ""
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Where:
    """Steps that a number may be at: ``one``, ``span`` or ``whole``; where they are named (-1: not in the sentence).

    ``turn`` counts the steps of one naming: of "step 1 → 14" the second is 1.
    """

    steps: tuple[int, ...]
    form: str
    at: int
    fixed: bool = False
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading that holds: which number, of what, where, and how it was computed."""

    index: int
    subject: Subject
    where: Where
    operation: str
    fact: str | None = None

    @property
    def cell(self) -> tuple[str, tuple[int, ...], str]:
        """What it is the value of."""
        return self.subject.key, self.where.steps, self.operation


class Operations:
    """Computes what a number may say of a metric at a place.

    Args:
        frame: the sentence.
        judge: holds the run, and the cells that numbers were tied to.
    """

    def __init__(self, frame: Frame, judge: Judge) -> None:
        self.frame, self.judge, self.table = frame, judge, judge.table

    def holds(self, index: int, q: Quantity, subject: Subject, where: Where) -> Iterator[tuple[str, str | None]]:
        """The operations that the words allow and under which the number holds."""
        key, table = subject.key, self.table
        role = change_cue(self.frame, q)
        by = bool(_BY.search(self.frame.text[max(0, q.start - 24) : q.start])) or q.unit in {"pp", "ratio", "factor"}
        by = by or (role == "sure" and told_as_change(self.frame, q))
        text = outside(self.frame, 0, len(self.frame.text))
        left, right = self.frame.text[max(0, q.start - 14) : q.start], self.frame.text[q.end : q.end + 14]
        if not q.unit and re.match(r"\s*[A-Za-z]+/[A-Za-z]", right):
            return  # "644 tokens/min": a unit that is not read
        if q.unit == "rate" and cue("across").search(text) and not cue("per_gpu").search(text):
            return
        if not by and q.unit in _VALUE_UNITS and q.sign != "+" and table.readings(q, key):
            if where.form == "one" and q.bound and self._over_time(q, where):
                return  # "never exceeds 0.12 after step 160": no single step will do
            if where.form == "one":
                yield from self._cell(index, q, subject, where)
            elif where.form == "each":
                if all(self.judge.cell(q, key, s).status == "supported" for s in where.steps):
                    yield "value", None
            else:
                yield from self._over(index, q, subject, where)
        if re.match(r"(?i)\s*(?:in|within|over) (?:just |only )?(?:an?|\d+|\w+)(?: \w+)? (?:steps|iterations|updates)\b", self.frame.text[q.end : q.end + 40]):  # fmt: skip
            role = role or "maybe"
        of = re.match(r"(?i)\s*of\b", right) or re.search(r"的\s*[`*]*$", left)
        if by or (q.unit in {"", "%", "s", "gib", "tokens", "rate"} and (role or adjacent_sense(self.frame, q) is not None) and not (of and q.unit == "%" and not by)):  # fmt: skip
            yield from self._change(index, q, key)

    def _over_time(self, q: Quantity, where: Where) -> bool:
        """Whether a bound is said to hold at every step, and the place read is no single step that is named."""
        place = next((p for p in self.frame.places if p.start == where.at), None)
        named = place is not None and place.kind not in {"range", "pair"}
        return not named and _AT_EVERY.search(self.frame.clause_text(q.start)) is not None

    def _cell(self, index: int, q: Quantity, subject: Subject, where: Where) -> Iterator[tuple[str, str | None]]:
        decision = self.judge.cell(q, subject.key, where.steps[0])
        if decision.status != "supported":
            return
        at_end = where.at == q.start or any(p.start == where.at and p.kind == "ends" for p in self.frame.places)
        end = "" if at_end else self._end(index, subject) or self._end_of_place(where, subject.key)
        own = subject.key.rsplit("/", 1)[-1] in {"max", "min"} or re.search(
            r"(?i)(?<![a-z])(?:max|min|slowest|fastest)(?![a-z])", subject.key
        )
        if end and not own:
            rows = self.table.finite(subject.key)
            best = (max if end == "max" else min)((v for _, v in rows), default=None)
            if best is None or self.table.value(subject.key, where.steps[0]) != best:
                return
        since = max([self.frame.clause_span(q.start)[0], *(n.end for n in self.frame.numbers if n.end <= q.start)])
        if re.search(r"(?i)\b(?:averag|mean over|mean of)|平均(?!值?\s*\S{0,4}为负)", bare(self.frame, since, q.start)) and not re.search(
            r"(?i)mean|avg|average", subject.key + subject.statistic
        ) and not any("mean" in k for n in self.frame.names for k in n.keys):  # fmt: skip
            return
        yield "value", decision.fact

    def _rows(self, key: str, where: Where) -> list[tuple[int, float]]:
        rows = self.table.finite(key, None if where.form == "whole" else where.steps)
        left_out = excepted(self.frame)
        return [row for row in rows if row[0] not in left_out]

    def _over(self, index: int, q: Quantity, subject: Subject, where: Where) -> Iterator[tuple[str, str | None]]:
        key, frame = subject.key, self.frame
        rows = self._rows(key, where)
        if len(rows) < 2:
            return
        if (
            where.form == "whole"
            and any(p.kind in {"range", "pair"} for p in frame.places)
            and not _OVERALL.search(frame.text)
        ):
            return
        values = [v for _, v in rows]
        clause = bare(frame, *frame.clause_span(q.start))
        left = frame.text[max(0, q.start - 40) : q.start]
        if q.bound:
            if _ONCE.search(frame.clause_text(q.start)):
                return
            fits = [self._agrees(q, key, v) for v in values]
            if (all(fits) and (not _NEVER.search(left) or self.judge._close(q, key, rows))) or (
                _MOSTLY.search(clause) and sum(fits) >= 0.8 * len(fits)
            ):
                yield "bound", None
            elif (
                any(fits)
                and not fits[0]
                and _REACHES.search(left)
                and not _THROUGHOUT.search(frame.clause_text(q.start))
            ):
                yield "reached", None
            return
        group = frame.group_of(index)
        if group is not None and group.form == "range":
            low = group.members[0] == index
            shown = q if q.unit else q.in_unit_of(frame.numbers[group.members[1]])
            if self._agrees(shown, key, min(values) if low else max(values)):
                yield ("low" if low else "high"), None
            return
        nth = _NTH.search(clause)
        if nth is not None:
            word = (nth["n"] or nth["low"] or nth["zn"] or nth["zlow"]).lower()
            ordered = sorted(values, reverse=bool(nth["n"] or nth["zn"]))
            if _RANK[word] < len(ordered) and self._agrees(q, key, ordered[_RANK[word]]):
                yield "nth", None
            return
        since = max([0, *(n.end for n in frame.numbers if n.end <= q.start)])
        if _GAP.search(frame.text[since : q.start]) and all(
            cue(word).search(frame.text) for word in ("maximum", "minimum")
        ):
            if self._agrees(q, key, max(values) - min(values)):
                yield "gap", None
            return
        end = self._end(index, subject)
        if end and not key.endswith(f"/{end}"):
            best = (max if end == "max" else min)(values)
            at = self._step_beside(q)
            if self._agrees(q, key, best) and (at is None or self.table.value(key, at) == best):
                yield end, None
            return
        averaged = cue("mean").search(frame.text if where.form == "span" else bare(frame, 0, len(frame.text))) or subject.statistic == "mean"  # fmt: skip
        throughout = all(
            p.kind == "range" and p.steps[0] <= rows[0][0] and p.steps[-1] >= rows[-1][0] for p in frame.places
        )
        typical = (q.approx and throughout) or bool(_TYPICAL.search(frame.text))
        if cue("median").search(clause):
            if self._agrees(q, key, median(values)):
                yield "median", self.table.aggregate("median", key, median(values), rows)
            return
        if _SUMMED.search(frame.text) and self._agrees(q, key, sum(values)):
            yield "sum", self.table.aggregate("sum", key, sum(values), rows)
            return
        single = any(len(p.steps) == 1 and p.kind != "ends" for p in self.frame.places)  # "step 25 … time per step"
        if averaged or (typical and ((where.form == "whole" and not single) or throughout)):
            mean = sum(values) / len(values)
            if self._agrees(q, key, mean) or (typical and not averaged and self._agrees(q, key, median(values))):
                yield "mean", self.table.aggregate("mean", key, mean, rows)
            return
        if (
            where.form == "whole"
            and group is None
            and not frame.places
            and not frame.carried.steps
            and end_said(frame, q) != "start"
            and self._agrees(q, key, values[-1])
        ):
            yield "last", None
            return
        if (cue("total").search(clause) or _SUMMED.search(frame.text)) and self._agrees(q, key, sum(values)):
            yield "sum", self.table.aggregate("sum", key, sum(values), rows)

    def _end(self, index: int, subject: Subject) -> str:
        """``max`` or ``min`` where the words say that a number is an extreme."""
        frame, q = self.frame, self.frame.numbers[index]
        if _OF_PARTS.search(frame.clause_text(q.start)):
            return ""
        if found := beside_extreme(frame, q) or nearest_extreme(frame, q):
            return found
        if subject.statistic in {"max", "min"}:
            return subject.statistic
        name = Named(0, 0, "", (subject.key,))
        start, end = frame.clause_span(q.start)
        since = max([start, *(n.end for n in frame.numbers if n.end <= q.start)])
        clause = outside(frame, since, min([end, *(n.start for n in frame.numbers if n.start >= q.end)]))
        return self.judge._superlative(frame, q, clause, name, subject.key) or (
            self.judge._best_of(frame, q, subject.key) if len(frame.numbers) == 1 else ""
        )

    def _end_of_place(self, where: Where, key: str) -> str:
        """``KL 最大的一步是 step 1，达到 0``: which extreme the clause that names a step says it is of."""
        place = next((p for p in self.frame.places if p.start == where.at), None)
        if place is None or len(self.frame.numbers) > 2:
            return ""
        lead = self.frame.text[self.frame.clause_span(place.start)[0] : place.start]
        if not re.search(r"(?i)步|step|iteration|迭代|记录|次|\bat\b|\bon\b|在|是|为", lead):
            return ""
        if match := re.search(r"(?i)\b(?P<best>best)\b|\bworst\b|(?P<zbest>最[好佳])|最差", lead):
            return "max" if bool(match["best"] or match["zbest"]) == (self.table.better(key) != "lower") else "min"
        ends = [end for end, word in (("max", "maximum"), ("min", "minimum")) if cue(word).search(lead)]
        return ends[0] if len(ends) == 1 else ""

    def _step_beside(self, q: Quantity) -> int | None:
        """The step that a number's extreme is said to be at: the one nearest to it with no other number between."""
        near = [
            p for p in self.frame.places
            if len(p.steps) == 1
            and not any(min(p.end, q.end) <= n.start < max(p.start, q.start) for n in self.frame.numbers if n is not q)
        ]  # fmt: skip
        return min(near, key=lambda p: abs(p.start - q.start)).steps[0] if near else None

    def _agrees(self, q: Quantity, key: str, value: float) -> bool:
        return any(agrees(n, h, value, bound=q.bound) for n, h in self.table.readings(q, key, value))

    def _change(self, index: int, q: Quantity, key: str) -> Iterator[tuple[str, str | None]]:
        """A number as a change of one metric between two steps that the sentence names or tells the values of."""
        judge, frame, table = self.judge, self.frame, self.table
        clause = frame.clause(q.start)
        if not q.unit and not q.sign and RATIO_OF.search(frame.text[max(0, q.start - 60) : q.start]):
            q = replace(q, unit="ratio")
        pairs = judge.changes.pairs(frame, q.start, key, judge.pair)
        told = [step for at, (other, step) in sorted(judge.told.items()) if other == key and at != index and abs(frame.clause(frame.numbers[at].start) - clause) <= 2]  # fmt: skip
        named = {s for p in frame.places if p.kind != "range" for s in p.steps}
        if len(named) > 1:
            pairs = [pair for pair in pairs if set(pair) <= named]
        if not named or set(told) <= named:
            pairs += [(a, b) for at, a in enumerate(told) for b in told[at + 1 :] if a != b]
        for place in frame.places:  # "within the first 100 steps": up to the hundredth, too
            if place.kind == "range" and (match := re.search(r"\d+", frame.text[place.start : place.end])):
                held = self.table.held(key)
                if int(match[0]) in held and held[0] == place.steps[0] and held[0] != int(match[0]):
                    pairs.append((held[0], int(match[0])))
        for group in frame.groups:  # "by 60% (0.526 → 0.066)": between the two values told
            both = [judge.told.get(at) for at in (group.members[0], group.members[-1])]
            if group.form == "chain" and index not in group.members and all(both) and frame.clause(frame.numbers[group.members[0]].start) == clause:  # fmt: skip
                steps = [step for other, step in filter(None, both) if other == key]
                if len(steps) == 2 and (not named or set(steps) <= named):
                    pairs = [(steps[0], steps[1])]
        if turned := judge.changes.taken_from(frame, q.start):
            pairs = [turned]
        down = adjacent_sense(frame, q)
        if down is None:
            down = judge.changes._says_down(frame, q)
        if down is None:
            text = outside(frame, 0, len(frame.text))
            less, more = bool(cue("down").search(text) or cue("lower").search(text)), bool(cue("up").search(text) or cue("higher").search(text))  # fmt: skip
            down = None if less == more else less
        if q.unit == "ratio" and TO_BEFORE.search(frame.text[: q.start]):
            down = None  # "slid to 0.8 times its value": the later over the earlier
        kind = table.kind(key)
        for a, b in dict.fromkeys(pairs):
            x, y = table.value(key, a), table.value(key, b)
            if x is None or y is None or not (math.isfinite(x) and math.isfinite(y)):
                continue
            if down is not None and not q.sign and x != y and q.unit not in {"ratio", "factor"} and (y < x) != down:
                continue
            if judge.changes.is_change(q, kind, x, y, down=down):
                fact = table.ledger.change(key, a, b, table.run)
                yield f"change {a} {b}", fact.id if fact else None
                return
