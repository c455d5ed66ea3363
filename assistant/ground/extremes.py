"""Numbers over several steps: extremes, means, sums, ranges."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final

from assistant.ground.binding import Frame, places_of
from assistant.ground.changes import Changes
from assistant.ground.counting import Counting
from assistant.ground.cues import bare, cue
from assistant.ground.deciding import Decision
from assistant.ground.lexicon import Named
from assistant.ground.quantities import Quantity
from assistant.ground.table import Table, agrees, median
from assistant.ground.verdicts import as_shown, reason

_SO_FAR: Final = re.compile(r"(?i)\bas of\b|截至|\byet\b|\bso far\b|\bto date\b|新高|新低|迄今|目前为止")


_BESIDE: Final = re.compile(
    r"(?i)(?:(?P<max>最大|最高|最长|\bmax(?:imum)?|\bhighest)|(?P<min>最小|最低|最短|\bmin(?:imum)?|\blowest))(?:值|为|是|约|of|is|was|\s)*$"
)


#: Words that say which end is meant only together with what is better.
_VALUED: Final = re.compile(r"(?i)best|worst|最好|最佳|最差")
_IS_EXTREME: Final = re.compile(
    r"(?i)^[`*\s]*(?:is|was|being|marks|是|为)\s*(?:the\s+)?(?:(?P<max>peak|max|high|峰值|最[高大长]|顶点|高点)|(?P<min>low|min|trough|bottom|谷底|谷值|最[低小短]|低点))"
)


_AT_EACH: Final = re.compile(r"(?i)\bnever\b|\balways\b|\bthroughout\b|始终|一直|从未|从不|全程|没有一次")
_THE_REST: Final = re.compile(
    r"(?i)up to (?:there|then)|before|until|afterwards|after that|versus|vs|against|之前|此前|之后|此后|对比|相比"
)


_ON_AVERAGE: Final = re.compile(r"(?i)[`*\s]*on average\b")


def beside_extreme(frame: Frame, q: Quantity) -> str:
    """``max`` or ``min`` where such a word stands right before a number."""
    match = _BESIDE.search(frame.text[max(0, q.start - 14) : q.start])
    return "" if match is None else "max" if match["max"] else "min"


def nearest_extreme(frame: Frame, q: Quantity) -> str:
    """Of "the highest … (a), the lowest … (b)" the one meant of a number: the word nearest before it."""
    clause, end = frame.clause_span(q.start)
    start = max([clause, *(n.end for n in frame.numbers if n.end <= q.start)])
    stop = min([end, *(n.start for n in frame.numbers if n.start >= q.end)])
    if match := _IS_EXTREME.match(frame.text[q.end : stop]):
        return "max" if match["max"] else "min"
    found = []
    for which, word in (("max", "maximum"), ("min", "minimum")):
        found += [
            (m.end(), which)
            for m in cue(word).finditer(bare(frame, start, q.start))
            if not _VALUED.fullmatch(m.group())
        ]
    return max(found)[1] if found else ""


class Extremes:
    """Decides what a number says of a metric over a stretch of steps.

    Attributes:
        table: the run.
        language: of the reasons.
        pair: metric and steps of the last change that the sentence told.
        told: the metric and step that each number of the sentence was tied to.
        spans: where the sentence tells which change.
    """

    def __init__(self, table: Table, language: str) -> None:
        self.table, self.language = table, language
        self.pair: tuple[str, int, int] | None = None
        self.told: dict[int, tuple[str, int]] = {}
        self.searched = 0
        """Numbers so far for which further readings were looked for: a long text has a limit."""
        self.spans: list[tuple[int, str, int, int]] = []
        self.changes = Changes(table, self.say)
        self.counting = Counting(table, self.say)

    def say(self, key: str, **values: Any) -> str:
        """A reason in the audit's language."""
        return reason(key, self.language, **values)

    def _fits(self, q: Quantity, key: str, value: float) -> bool:
        return any(agrees(a, b, value) for a, b in self.table.readings(q, key, value))

    def _span(self, frame: Frame) -> tuple[int, int] | None:
        ranges = [p for p in frame.places if p.kind == "range"]
        if ranges:
            return ranges[-1].steps[0], ranges[-1].steps[-1]
        return frame.carried.span

    def _superlative(self, frame: Frame, q: Quantity, clause: str, name: Named, key: str) -> str:
        if _ON_AVERAGE.match(frame.text[q.end :]):
            return ""
        beside = beside_extreme(frame, q) or nearest_extreme(frame, q)
        if beside and name.statistic in {"", "mean"} and not key.endswith(("/max", "/min")):
            return beside
        if name.statistic or key.endswith(("/max", "/min")):
            return ""
        if q.bound and not beside:
            return ""
        first, last = frame.clause_span(q.start)
        told = [n.end for n in frame.numbers if first <= n.start and n.end <= q.start]
        if told and places_of(frame, frame.numbers.index(q))[1] == "own":
            clause, first = bare(frame, told[-1], last), told[-1]  # "peaked at 0.1 (step 28) after 0.02 at step 22"
        after = [n.start for n in frame.numbers if n.start >= q.end]
        clause = clause.replace(q.text, " ") if not after or after[0] > last else bare(frame, first, after[0])
        for other in frame.numbers:
            clause = clause.replace(other.text, " ")
        if _VALUED.search(clause) and (better := self.table.better(key)):
            best = bool(re.search(r"(?i)best|最好|最佳", clause))
            return "max" if (better == "higher") == best else "min"
        if cue("maximum").search(clause):
            return "max"
        return "min" if cue("minimum").search(clause) else ""

    def _aggregate(  # noqa: PLR0917
        self, frame: Frame, q: Quantity, key: str, name: Named, steps: Sequence[int], how: str, clause: str
    ) -> Decision | None:
        """The number as mean, median, sum or extreme over steps, where a word says so."""
        table = self.table
        if how in {"one", "list"} and not (how == "list" and len(steps) > 1):
            return None
        span = (
            (min(steps), max(steps)) if how in {"span", "pair", "list", "carried_list"} and steps else self._span(frame)
        )
        if how == "list" and steps:
            rows = [(s, v) for s in steps if (v := table.value(key, s)) is not None and math.isfinite(v)]
        else:
            rows = table.finite(key, span)
        from assistant.ground.cells import excepted

        left_out = excepted(frame, q)
        rows = [row for row in rows if row[0] not in left_out]
        if not rows:
            return None
        sibling = key.endswith(f"/{name.statistic}") if name.statistic else False
        superlative = (
            name.statistic
            if name.statistic in {"max", "min"} and not sibling
            else self._superlative(frame, q, clause, name, key)
        )
        if superlative:
            own = [p for p in frame.places if frame.clause(p.start) == frame.clause(q.start) and p.kind == "steps"]
            if how == "span" and len(own) == 1 and len(own[0].steps) == 1 and not any(
                min(own[0].start, q.start) <= n.start < max(own[0].start, q.start) for n in frame.numbers if n is not q
            ):  # fmt: skip
                return self._extreme(q, key, superlative, span, clause, own[0].steps[0])
            return self._extreme(q, key, superlative, span, clause, None)
        if q.bound and _AT_EACH.search(frame.text):
            return None  # "never above": no mean will do
        values = [value for _, value in rows]
        if len(set(values)) == 1 and not cue("total").search(clause) and not q.bound and self._fits(q, key, values[0]):
            return Decision("supported", "", self.table.aggregate("mean", key, values[0], rows), key)
        wanted: list[tuple[str, float]] = []
        counted = any(n.unit == "steps" and n is not q for n in frame.numbers)
        if (
            counted
            or (how in {"span", "list"} and re.search(r"(?i)mean|average|平均|均值", name.text))
            or cue("mean").search(clause)
            or name.statistic == "mean"
            or re.search(r"(?i)\baveraged|平均下来|取平均|求平均|做(?:个)?平均|算(?:个)?平均|on average", frame.text)
        ):
            wanted.append(("mean", sum(values) / len(values)))
            if how != "span":  # of a stretch that is named, the mean is the mean
                wanted.append(("mean", median(values)))
        if cue("median").search(clause):
            wanted.append(("mean", median(values)))
        if cue("total").search(clause) or (len(rows) > 1 and re.search(r"(?i)total|总", name.text)):
            wanted.append(("mean", sum(values)))
        ranges = [p for p in frame.places if p.kind == "range"]
        if wanted and len(ranges) == 1 and len(frame.numbers) > 1 and how in {"span", "none"}:
            rest = [v for s, v in table.finite(key) if not ranges[0].steps[0] <= s <= ranges[0].steps[-1]]
            if rest and _THE_REST.search(frame.text):
                wanted.append(("mean", sum(rest) / len(rest)))
        for _, true in wanted:
            if any(agrees(a, b, true, bound=q.bound) for a, b in table.readings(q, key, true)):
                fact = self.table.aggregate("mean", key, true, rows)
                return Decision("supported", "", fact, key)
        if (
            wanted
            and how in {"span", "none"}
            and len(rows) > 1
            and not (how == "none" and key.endswith("/mean") and not self._span(frame))
        ):
            note = self.say(
                "mean",
                metric=key,
                first=rows[0][0],
                last=rows[-1][0],
                true=as_shown(wanted[0][1], q, table.kind(key)),
                shown=q.text,
            )
            return Decision("contradicted", note, self.table.aggregate("mean", key, wanted[0][1], rows), key)
        return None

    def _extreme(  # noqa: PLR0917
        self, q: Quantity, key: str, which: str, span: Sequence[int] | None, clause: str, at: int | None
    ) -> Decision:
        """The number as the largest or smallest value of a metric, and where it stands."""
        table = self.table
        rows = table.finite(key, span)
        if at is not None and _SO_FAR.search(clause):
            rows = [row for row in rows if row[0] <= at]
        if not rows:
            return Decision("unsupported", "")
        step, value = (max if which == "max" else min)(rows, key=lambda row: row[1])
        fact = table.ledger.value(key, step, table.run)
        true = as_shown(value, q, table.kind(key))
        if not any(agrees(a, b, value, bound=q.bound) for a, b in table.readings(q, key, value)):
            return Decision(
                "contradicted",
                self.say(which, metric=key, true=true, step=step, shown=q.text),
                fact.id if fact else None,
                key,
            )
        if at is not None:
            there = table.value(key, at)
            if there is not None and there != value:
                return Decision(
                    "contradicted",
                    self.say("extreme_step", metric=key, step=step, true=true),
                    fact.id if fact else None,
                    key,
                )
        return Decision("supported", "", fact.id if fact else None, key, step)

    def _close(self, q: Quantity, key: str, rows: Sequence[tuple[int, float]]) -> bool:
        """Whether "never exceeds" names about the largest value, "never falls below" about the smallest."""
        values = [v for _, v in rows if math.isfinite(v)]
        if not values:
            return True
        end = max(values) if q.bound == "<" else min(values)
        shown = self.table.readings(q, key, end)
        return any(abs(n - end) <= 0.3 * max(abs(n), abs(end)) + h for n, h in shown)

    def _wrong_unit(self, q: Quantity, key: str, steps: Sequence[int]) -> Decision | None:
        table = self.table
        held = table.held(key)
        if not held:
            return None
        step = next((s for s in steps if s in held), held[-1])
        fact = table.ledger.value(key, step, table.run)
        bare = Quantity(q.start, q.end, q.text, q.number, q.half, digits=q.digits)
        true = as_shown(table.value(key, step) or 0.0, bare, table.kind(key))
        return Decision(
            "unsupported", self.say("unit", metric=key, step=step, true=true, shown=q.text), fact.id if fact else None
        )
