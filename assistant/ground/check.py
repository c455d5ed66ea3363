"""Ties each number, and each word of direction, in a finished text to the ledger.

The text is read anew from its characters; where the writer marked which fact it meant, the number must agree
with *that* fact. A number that no mark covers must agree with some fact of the answer, or be a step of the run.
Names (metric keys in code spans, ``mean@30``) are not numbers; a passage quoted from a card must stand in
the card, letter by letter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assistant.ground.reading import Read, numbers
from assistant.model import Fact, Grounding, Mention

_SENTENCE_END = re.compile(r"(?<=[。！？；!?])|(?<=\.)(?=\s)|\n")
_CODE = re.compile(r"`[^`\n]+`")
_REFERENCE = re.compile(r"\[K\d+\]")
_UP = re.compile(
    r"上升|增加|增长|升高|变大|上涨|提高|涨|\b(?:rose|rises|rising|increased|increases|increasing|grew|growing|climb(?:s|ed|ing)"
    r"|went up|going up|higher)\b",
    re.I,
)
_DOWN = re.compile(
    r"下降|减少|降低|变小|下跌|缩短|跌|\b(?:fell|falls|falling|decreased|decreases|decreasing|dropped|drops|dropping|shrank"
    r"|shrinking|declin(?:es|ed|ing)|went down|going down|lower)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Checked:
    """Result of the check: counts, and the failing sentences as ``(start, end)`` of the text with a reason."""

    grounding: Grounding
    failures: tuple[tuple[int, int, str], ...]


def check(
    text: str,
    mentions: Sequence[Mention],
    facts: Iterable[Fact],
    *,
    steps: Collection[int] = (),
    quotes: Mapping[str, str] | None = None,
    names: Collection[str] = (),
    kind_of: Callable[[str], str] | None = None,
) -> Checked:
    """Checks a text against facts.

    Args:
        text: finished Markdown.
        mentions: which characters state which fact (``E3``), citation (``K1``) or step (``step:2``).
        facts: the answer's facts.
        steps: steps of the runs; a marked or bare step must be one of them, or be named by a fact.
        quotes: citation id → full text of its card.
        names: metric keys and formulas; a code span that equals one is a name.
        kind_of: metric key → what it measures (``seconds``, ``gib`` …); a unit of another kind is then refused.
    """
    ledger = {fact.id: fact for fact in facts}
    known_steps = set(steps) | {s for fact in ledger.values() for s in _fact_steps(fact)}
    covered = [(m.start, m.end, m.fact) for m in mentions]
    formulas = {fact.formula for fact in ledger.values() if fact.formula}
    exempt = [m.span() for m in _CODE.finditer(text) if _is_name(m.group()[1:-1], names, formulas)]
    exempt += [m.span() for m in _REFERENCE.finditer(text)]
    total = supported = 0
    failures: list[tuple[int, int, str]] = []
    bad_quotes = set()
    for start, end, owner in covered:
        if owner.startswith("K") and text[start:end] not in (quotes or {}).get(owner, ""):
            bad_quotes.add((start, end))
            failures.append((*_sentence(text, start), f"not in {owner}: {text[start:end][:60]}"))
    for read in numbers(text):
        if any(a <= read.start and read.end <= b for a, b in exempt):
            continue
        total += 1
        around = text[max(0, read.start - 16) : read.end + 20]
        covering = next(((a, b, o) for a, b, o in covered if a <= read.start and read.end <= b), None)
        if covering is None:
            ok = any(agrees(read, fact, context=around) for fact in ledger.values()) or _is_step(read, known_steps)
        else:
            start, end, owner = covering
            if owner.startswith("step:"):
                ok = _is_step(read, known_steps) and read.value == int(owner[5:])
            elif owner.startswith("K"):
                ok = (start, end) not in bad_quotes
            else:
                fact = ledger.get(owner)
                kind = None if kind_of is None or fact is None else _kind(fact, kind_of)
                ok = fact is not None and agrees(read, fact, context=around, kind=kind)
        if ok:
            supported += 1
        else:
            failures.append((*_sentence(text, read.start), f"no fact holds {read.text}"))
    failures.extend(_directions(text, covered, ledger))
    unsupported = tuple(dict.fromkeys(text[a:b].strip() for a, b, _ in failures))
    return Checked(Grounding(total, supported, unsupported), tuple(failures))


def agrees(read: Read, fact: Fact, *, context: str = "", kind: str | None = None) -> bool:
    """Whether a number, at the precision shown, is one that the fact states.

    Args:
        read: the number.
        fact: the fact.
        context: text around the number; a line number, a count of points or a cut's length count only where
            the words beside them say so.
        kind: what the fact's metric measures, where known; a unit of another kind then disagrees.
    """
    if kind is not None and read.unit and _UNIT_KINDS.get(read.unit, {kind}).isdisjoint({kind}):
        return False
    for value, absolute in _stated(fact, context):
        if not (math.isfinite(value) and math.isfinite(read.value)):
            if value == read.value or (math.isnan(value) and math.isnan(read.value)):
                return True
            continue
        slack = read.half * 1.000001 + abs(value) * 1e-9
        if abs(read.value - value) <= slack:
            return True
        if absolute and not read.signed and abs(read.value - abs(value)) <= slack:
            return True
    return False


_UNIT_KINDS = {
    **{unit: {"seconds"} for unit in ("s", "秒", "min", "分钟", "h", "小时", "days", "天")},
    "ms": {"milliseconds"},
    "GiB": {"gib"},
    "tokens/s": {"rate"},
    "token/s": {"rate"},
}
_LINE_WORDS = re.compile(r"行|line", re.IGNORECASE)
_COUNT_WORDS = re.compile(r"个点|个值|步|次|points?|values?|steps?|validations?", re.IGNORECASE)
_LIMIT_WORDS = re.compile(r"字符|characters?", re.IGNORECASE)


def _stated(fact: Fact, context: str) -> list[tuple[float, bool]]:
    """Values that a text may state of a fact; the flag says that a bare magnitude will do (a fall *of* 0.1)."""
    values: list[tuple[float | None, bool]] = []
    if isinstance(fact.value, (int, float)) and not isinstance(fact.value, bool):
        values.append((float(fact.value), False))
    values += [(fact.from_value, False), (fact.to_value, False), (fact.delta, True), (fact.ratio, False)]
    values += [(fact.noise, True), (fact.slope_per_step, True), (fact.p_value, False)]
    values += [(bound, False) for bound in (fact.low, fact.high, fact.growth_low, fact.growth_high)]
    values.append((fact.growth_per_step, True))
    for words, number in ((_LINE_WORDS, fact.line), (_COUNT_WORDS, fact.n), (_LIMIT_WORDS, fact.limit)):
        if number is not None and words.search(context):
            values.append((float(number), False))
    if fact.ratio is not None:
        values.append((fact.ratio - 1, True))
    if fact.noise is not None:
        values.append((1.96 * fact.noise, True))
    if fact.p_value is not None and fact.p_value < 0.001:
        values.append((0.001, False))
    return [(float(value), flag) for value, flag in values if value is not None]


def _fact_steps(fact: Fact) -> list[int]:
    found = (fact.step, fact.from_step, fact.to_step, fact.first_step, fact.last_step)
    return [step for step in found if step is not None]


def _kind(fact: Fact, kind_of: Callable[[str], str]) -> str | None:
    """What a fact's value measures, where that is certain (cells, their changes and trends)."""
    if fact.metric is None or fact.kind not in {"value", "change", "trend"}:
        return None
    kind = kind_of(fact.metric)
    return None if kind == "number" else kind


def _is_step(read: Read, steps: Collection[int]) -> bool:
    return not read.unit and read.value in steps


def _is_name(code: str, names: Collection[str], formulas: Collection[str]) -> bool:
    return code in names or code in formulas or not any(ch.isdigit() for ch in code)


def _directions(
    text: str, covered: Sequence[tuple[int, int, str]], ledger: Mapping[str, Fact]
) -> list[tuple[int, int, str]]:
    """Sentences whose only direction word has the sign against the only change they state."""
    failures = []
    for start, end in _sentences(text):
        up, down = bool(_UP.search(text, start, end)), bool(_DOWN.search(text, start, end))
        if up == down:
            continue
        deltas = {
            sign
            for a, b, owner in covered
            if start <= a and b <= end and (sign := _sign(ledger.get(owner))) is not None
        }
        if len(deltas) == 1 and deltas != {1.0 if up else -1.0}:
            failures.append((start, end, "a direction word against the change it describes"))
    return failures


def _sign(fact: Fact | None) -> float | None:
    """+1 or −1 for a change or a trend that goes somewhere."""
    if fact is not None and fact.kind == "change" and fact.delta:
        return math.copysign(1, fact.delta)
    if fact is not None and fact.kind == "trend" and fact.direction in {"rising", "falling"}:
        return 1.0 if fact.direction == "rising" else -1.0
    return None


def _sentences(text: str) -> list[tuple[int, int]]:
    result, start = [], 0
    for match in _SENTENCE_END.finditer(text):
        if match.end() > start:
            result.append((start, match.end()))
            start = match.end()
    if start < len(text):
        result.append((start, len(text)))
    return result


def _sentence(text: str, position: int) -> tuple[int, int]:
    return next(((a, b) for a, b in _sentences(text) if a <= position < b), (position, position))


def withhold(text: str, failures: Iterable[tuple[int, int, str]]) -> str:
    """The text without its failing sentences; a table row or list item goes as a whole."""
    spans = set()
    for start, end, _ in failures:
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", start)
        line_end = len(text) if line_end < 0 else line_end
        line = text[line_start:line_end]
        spans.add((line_start, line_end) if line.startswith(("|", "#")) else (start, end))
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return re.sub(r"\n{3,}", "\n\n", text).strip()
