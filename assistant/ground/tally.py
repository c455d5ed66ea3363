"""Counts that a sentence's words allow: of the steps that hold a metric, or at which a condition is met."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.counting import VALIDATION
from assistant.ground.cues import outside
from assistant.ground.quantities import Quantity
from assistant.ground.table import Table, agrees

Condition = Callable[[str, float], bool]
_UNITS: Final = frozenset(["", "steps", "points", "validations", "samples", "lines", "ratio"])
_COUNTS: Final = re.compile(
    r"(?i)^\s*(?:of\b|out of\b|/|(?:timed |logged |recorded |training )?steps?\b|times\b|occasions\b|rows\b|records?\b|points?\b|validations?\b|evaluations?\b|readings\b|entries\b|values\b|(?:carry|have|hold|are|were|lie|sit|stand|report|record|log)\b|[个次步条项回])"
)
_COUNTED: Final = re.compile(
    r"(?i)(?:共|有|仅|只有|总共|一共|只在|of (?:the |all )?|only|just|exactly|total of|合计|另外|其余|(?:次数|个数|数量|总数|so far|in total)\s*[:：]|\bnumber of [\w ]{2,24}[:：])\s*[`*]*$"
)
_AMONG: Final = re.compile(
    r"(?i)(?:\bof (?:the |all (?:the )?|these |those )?(?:logged |recorded )?|\b(?:over|across|in|on|for) all (?:the )?(?:logged |recorded )?|(?:全部|所有)的?\s?|/\s?)$"
)
_AMONG_AFTER: Final = re.compile(
    r"(?i)^\s*(?:个|条|次|步)?[^，。；,;\d]{0,18}(?:中|里|当中)|^\s*(?:steps|rows|records|points|values|validations)?\s*(?:in (?:the|this) (?:file|log|run)|(?:in )?total|that (?:record|report|have|hold|log)|which (?:record|report)|with a)"
)
_TIMED: Final = re.compile(r"(?i)计时|耗时|\btim(?:ing|ed)\b")
_EVALUATED: Final = re.compile(r"(?i)验证|评测|评估|validat|evaluat|\beval\b")
_NEGATIVE: Final = re.compile(r"(?i)\bnegative\b|below zero|为负|负值|负数|是负的|小于\s?(?:0|零)(?![.\d])")
_POSITIVE: Final = re.compile(r"(?i)\bpositive\b|above zero|为正(?!常)|正值|正数|是正的|大于\s?(?:0|零)(?![.\d])")
_ZERO: Final = re.compile(r"(?i)(?:exactly|at|is|of) (?:0|zero)(?![.\d])|(?:为|是|等于|恰好)\s?(?:0|零)(?![.\d])")
_MISSING: Final = re.compile(r"(?i)\bmiss|\babsent|\black|without|缺|没有|未记录")


def tally(q: Quantity, frame: Frame, table: Table, keys: Sequence[str], spans: Sequence[Sequence[int] | None]) -> bool:
    """Whether a whole number counts what its sentence may count.

    Args:
        q: the number.
        frame: its sentence.
        table: the run.
        keys: of the metrics that it may be about.
        spans: the stretches that it may count in; ``None`` is the whole run.
    """
    if q.unit not in _UNITS or q.sign or q.bound or not float(q.number).is_integer() or (q.unit == "ratio" and "times" not in q.text):  # fmt: skip
        return False
    left, right = frame.text[max(0, q.start - 16) : q.start], frame.text[q.end : q.end + 48]
    if q.unit in {"", "samples"} and not (_COUNTS.match(right) or _COUNTED.search(left)):
        return False
    slack = q.half if q.approx else 0.0
    return any(agrees(q.number, slack, float(count)) for count in _counts(q, frame, table, keys, spans, left, right))


def _counts(  # noqa: PLR0917
    q: Quantity, frame: Frame, table: Table, keys: Sequence[str], spans: Sequence[Sequence[int] | None], left: str, right: str
) -> Iterator[int]:  # fmt: skip
    text = outside(frame, 0, len(frame.text))
    held = list(keys)
    if _TIMED.search(text) and (total := table.total_time()):
        held.append(total)
    if _EVALUATED.search(text) or any(VALIDATION.match(key) for key in keys):
        held += [key for key in table.run.columns if VALIDATION.match(key)][:6]
    conditions = _conditions(q, frame, table, text)
    among = bool(_AMONG.search(left) or _AMONG_AFTER.match(right)) and not re.search(r"(?i)\bof\b", q.text)
    whole = bool(re.search(r"(?i)(?:总共|一共|\btotal of|\ball)\s*[`*]*$", left)) and any(n is not q and _COUNTS.match(frame.text[n.end :]) for n in frame.numbers)  # fmt: skip
    if among or whole or not conditions:
        yield from {len(table.steps), len([s for s in table.steps if s > 0])} if among else ()
        for key in held:
            for span in spans:
                rows = table.within(key, span)
                yield from {len(rows), len([s for s, _ in rows if s > 0])}
                if _MISSING.search(text) and span is None:
                    yield len(table.steps) - len(rows)
        return
    for key in held:
        for span in spans:
            rows = table.within(key, span)
            for condition in conditions:
                yield sum(condition(key, value) for _, value in rows)


def _conditions(q: Quantity, frame: Frame, table: Table, text: str) -> list[Condition]:
    found: list[Condition] = []

    def fits(n: Quantity) -> Condition:
        def holds(key: str, value: float) -> bool:
            return any(
                agrees(a, 0.0 if n.bound else h, value, bound=n.bound) and (not n.bound or value != a)
                for a, h in table.readings(n, key, value)
            )

        return holds

    for n in frame.numbers:
        if n is not q and n.unit not in {"steps", "validations", "samples", "lines", "points"} and (n.bound or (frame.clause(n.start) == frame.clause(q.start) and not _COUNTS.match(frame.text[n.end : n.end + 20]))):  # fmt: skip
            found.append(fits(n))
    if _NEGATIVE.search(text):
        found.append(lambda _, value: value < 0)
    if _POSITIVE.search(text):
        found.append(lambda _, value: value > 0)
    if _ZERO.search(text):
        found.append(lambda _, value: value == 0)
    if re.search(r"(?i)\bnan\b", text):
        found.append(lambda _, value: math.isnan(value))
    return found
