"""Ties each number, and each word of direction, in a finished text to the ledger.

The text is read anew from its characters; where the writer marked which fact it meant, the number must agree
with *that* fact. A number that no mark covers must agree with some fact of the answer, or be a step of the run.
Names (metric keys in code spans, ``mean@30``) are not numbers; a passage quoted from a card must stand in
the card, letter by letter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from assistant.ground.reading import Read, numbers
from assistant.model import Fact, Grounding, Mention

_SENTENCE_END = re.compile(r"(?<=[。！？；!?])|(?<=\.)(?=\s)|\n")
_CODE = re.compile(r"`[^`\n]+`")
_REFERENCE = re.compile(r"\[K\d+\]")
_UP = re.compile(r"上升|增加|增长|升高|变大|上涨|提高|\b(?:rose|rises|increased|increases|grew|went up|higher)\b", re.I)
_DOWN = re.compile(
    r"下降|减少|降低|变小|下跌|缩短|\b(?:fell|falls|decreased|decreases|dropped|shrank|went down|lower)\b",
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
) -> Checked:
    """Checks a text against facts.

    Args:
        text: finished Markdown.
        mentions: which characters state which fact (``E3``), citation (``K1``) or step (``step:2``).
        facts: the answer's facts.
        steps: steps of the runs; a marked or bare step must be one of them, or be named by a fact.
        quotes: citation id → full text of its card.
        names: metric keys and formulas; a code span that equals one is a name.
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
        covering = next(((a, b, o) for a, b, o in covered if a <= read.start and read.end <= b), None)
        if covering is None:
            ok = any(agrees(read, fact) for fact in ledger.values()) or _is_step(read, known_steps)
        else:
            start, end, owner = covering
            if owner.startswith("step:"):
                ok = _is_step(read, known_steps) and read.value == int(owner[5:])
            elif owner.startswith("K"):
                ok = (start, end) not in bad_quotes
            else:
                ok = owner in ledger and agrees(read, ledger[owner])
        if ok:
            supported += 1
        else:
            failures.append((*_sentence(text, read.start), f"no fact holds {read.text}"))
    failures.extend(_directions(text, covered, ledger))
    unsupported = tuple(dict.fromkeys(text[a:b].strip() for a, b, _ in failures))
    return Checked(Grounding(total, supported, unsupported), tuple(failures))


def agrees(read: Read, fact: Fact) -> bool:
    """Whether a number, at the precision shown, is one that the fact states."""
    for value, absolute in _stated(fact):
        if math.isnan(value):
            if math.isnan(read.value):
                return True
            continue
        slack = read.half * 1.000001 + abs(value) * 1e-9
        if abs(read.value - value) <= slack:
            return True
        if absolute and not read.signed and abs(read.value - abs(value)) <= slack:
            return True
    return False


def _stated(fact: Fact) -> list[tuple[float, bool]]:
    """Values that a text may state of a fact; the flag says that a bare magnitude will do (a fall *of* 0.1)."""
    values: list[tuple[float | None, bool]] = []
    if isinstance(fact.value, (int, float)) and not isinstance(fact.value, bool):
        values.append((float(fact.value), False))
    values += [(fact.from_value, False), (fact.to_value, False), (fact.delta, True), (fact.ratio, False)]
    values += [(fact.noise, True), (fact.slope_per_step, True), (fact.p_value, False)]
    values += [(None if count is None else float(count), False) for count in (fact.n, fact.limit, fact.line)]
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
            math.copysign(1, fact.delta)
            for a, b, owner in covered
            if start <= a and b <= end
            and (fact := ledger.get(owner)) is not None and fact.kind == "change" and fact.delta
        }  # fmt: skip
        if len(deltas) == 1 and deltas != {1.0 if up else -1.0}:
            failures.append((start, end, "a direction word against the change it describes"))
    return failures


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
