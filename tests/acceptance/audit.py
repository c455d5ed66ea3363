"""An audit of the numbers in an answer that shares nothing with the product's own check.

A number passes when it equals, at the precision shown, something the answer's facts hold (as it stands,
as a per cent, in another unit of time or size, as a fold change), or stands in a formula, a definition
or the question. It is lenient about which fact is meant, and must not let an invented number pass.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .support import Answer, normalise

_NUMBER = re.compile(
    r"(?:(?<![A-Za-z0-9_)\]}.@√])(?P<sign>[-+±]))?"
    r"(?<![A-Za-z0-9_.@^])"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,]\d)|\d+\.\d+|\d+)"
    r"(?:[eE](?P<exponent>[-+]?\d+)(?![A-Za-z0-9]))?"
)
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_@.-]*(?:/[A-Za-z_{][A-Za-z0-9_@.{},-]*)+|[A-Za-z]+(?:[_@][A-Za-z0-9_@]+)+")
_NOT_A_MEASUREMENT = re.compile(
    r"https?://\S+|arXiv:\S+|\bAIME[-_ ]?20\d\d|\b20\d\d-\d\d-\d\d\b|\b10\^-?\d+|@[0-9a-f]{7,40}\b"
    r"|\b[\w./-]+\.(?:py|md|log|txt|json|jsonl|yaml)\b(?:#\S+)?",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\s*(?:[张块卡个条步次题组台轮]|GPU|steps?\b|samples?\b|样本|prompts?\b|提示|traject|轨迹|tokens?\b"
    r"|problems?\b|turns?\b|[%倍秒]|times?\b|x\b|×\s*(?!\d)|-?fold|points?\b|s\b|ms\b|GB|GiB)",
    re.IGNORECASE,
)
_ENUMERATION = re.compile(r"^\s*(?:>\s*)*(?:[#|]+\s*)?\d{1,2}[.)、](?=\s|[\u3400-\u9fff])", re.MULTILINE)

# unit written after the number -> what a fact's value is multiplied by to be shown in it
_SCALES: tuple[tuple[str, tuple[float, ...]], ...] = (
    (r"%|个?百分点|per ?cent|percentage|points?\b|pp\b", (100.0, 1.0)),
    (r"分钟|分(?![之布])|min(?:utes?)?\b|m\b", (1 / 60,)),
    (r"小时|hours?\b|hrs?\b|h\b", (1 / 3600,)),
    (r"毫秒|ms\b|milliseconds?\b", (1e3, 1.0)),
    (r"微秒|[µμu]s\b|microseconds?\b", (1e6,)),
    (r"万", (1e-4,)),
    (r"亿", (1e-8,)),
    (r"k\b", (1e-3,)),
    (r"M\b|million", (1e-6,)),
    (r"B\b|billion", (1e-9,)),
    (r"GB|GiB|TB|TiB|MB|MiB", (1.0, 1 / 1024, 1024.0)),
)


@dataclass(frozen=True)
class Shown:
    """A number as written, with what stands around it."""

    text: str
    value: float
    half_unit: float
    signed: bool
    before: str
    after: str

    def is_value(self, value: float) -> bool:
        """Tell whether ``value``, rounded as this number is, would be this number."""
        if not math.isfinite(value):
            return False
        slack = self.half_unit * 1.0001 + 1e-12 * abs(value)
        return abs(value - self.value) <= slack

    def is_magnitude(self, value: float) -> bool:
        return self.is_value(value) or self.is_value(-value)

    @property
    def significant(self) -> int:
        return len(re.sub(r"[eE].*|\D", "", self.text).lstrip("0"))


def numbers(markdown: str, *, code: bool = False) -> Iterator[Shown]:
    """Yield the numbers in a text; ``code`` keeps those in code spans that hold letters."""
    text = normalise(markdown)
    if not code:
        text = re.sub(r"`[^`\n]*[A-Za-z_√][^`\n]*`", " ", text)
    text = _ENUMERATION.sub(" ", _NOT_A_MEASUREMENT.sub(" ", text.replace("`", "")))
    text = _KEY.sub(" ", text)
    for found in _NUMBER.finditer(text):
        digits, exponent = found["digits"].replace(",", ""), int(found["exponent"] or 0)
        decimals = len(digits.partition(".")[2])
        minus = -1.0 if found["sign"] == "-" else 1.0
        yield Shown(
            text=found[0],
            value=minus * float(f"{digits}e{exponent}"),
            half_unit=0.5 * 10.0 ** (exponent - decimals),
            signed=found["sign"] in ("-", "+"),
            before=text[max(0, found.start() - 40) : found.start()],
            after=text[found.end() : found.end() + 16],
        )


def shows(markdown: str, value: float, *, digits: int = 2) -> bool:
    """Tell whether a text shows ``value``, or it as a per cent, to ``digits`` significant digits at least."""
    for shown in numbers(markdown, code=True):
        whole = float(value).is_integer() and shown.value == value
        if not whole and shown.significant < digits:
            continue
        if shown.is_value(value) or (_unit(shown, "%") and shown.is_value(100 * value)):
            return True
    return False


def _unit(shown: Shown, pattern: str) -> bool:
    return re.match(rf"\s*(?:{pattern})", shown.after) is not None


def _floats(thing: Any) -> Iterator[float]:
    if isinstance(thing, bool) or thing is None:
        return
    if isinstance(thing, int | float):
        yield float(thing)
    elif isinstance(thing, dict):
        for value in thing.values():
            yield from _floats(value)
    elif isinstance(thing, list):
        for value in thing:
            yield from _floats(value)


def _texts(thing: Any) -> Iterator[str]:
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, dict):
        for value in thing.values():
            yield from _texts(value)
    elif isinstance(thing, list):
        for value in thing:
            yield from _texts(value)


def _supported(answer: Answer) -> tuple[set[float], set[float], set[float]]:
    """Return values that must agree in sign, those shown by magnitude, and those shown as a fold change."""
    exact: set[float] = set()
    magnitudes: set[float] = set()
    folds: set[float] = set()
    for fact in answer["facts"]:
        if fact["kind"] == "value":
            exact.update(_floats(fact))
            continue
        magnitudes.update(_floats(fact))
        if fact["kind"] == "change" and fact.get("from") not in (None, 0):
            relative = fact["to"] / fact["from"]
            folds.update({relative, *([1 / relative] if relative else [])})
            magnitudes.add(relative - 1)
    for run in answer["runs"]:
        exact.update(_floats(run))
    return exact, magnitudes, folds


def _is_structure(shown: Shown) -> bool:
    """Tell small counts of things in the text, confidence levels and the like from measurements."""
    whole = shown.value.is_integer() and "." not in shown.text and "e" not in shown.text.lower()
    if whole and 0 <= abs(shown.value) <= 10 and not _COUNTED.match(shown.after):
        return True
    if whole and shown.value in (95, 100) and _unit(shown, "%"):
        return True
    around = shown.before + shown.after
    if shown.value in (1.96, 0.05, 0.95) and re.search(r"CI|confidence|置信|区间|显著|signific|p\s*[<≤]", around):
        return True
    if shown.value in (4096, 1000):  # the terminal's line limit; verl's number of bootstrap draws
        return re.search(r"字符|char|截断|cut|bootstrap|自助|抽", around, re.IGNORECASE) is not None
    return False


def _explained(shown: Shown, exact: set[float], magnitudes: set[float], folds: set[float]) -> bool:
    scales: Iterable[float] = (1.0,)
    for pattern, factors in _SCALES:
        if _unit(shown, pattern):
            scales = factors
            break
    for scale in scales:
        if any(shown.is_magnitude(scale * value) for value in magnitudes):
            return True
        loose = "±" in shown.text or "±" in shown.before[-2:]
        same = shown.is_magnitude if loose else shown.is_value
        if any(same(scale * value) for value in exact):
            return True
    if _unit(shown, r"倍|times|×|x\b|-?fold") or re.search(r"(?:1/|×|之|÷)\s*$", shown.before):
        return any(shown.is_value(value) for value in folds)
    return False


def unexplained(answer: Answer, *known: str) -> list[Shown]:
    """Return the numbers of an answer that neither its facts nor the ``known`` texts account for."""
    exact, magnitudes, folds = _supported(answer)
    derived = [fact for fact in answer["facts"] if fact["kind"] != "value"]
    texts = [answer["question"] or "", *known, *_texts(answer["citations"]), *_texts(derived)]
    quoted = {abs(shown.value) for text in texts for shown in numbers(text, code=True)}
    return [
        shown
        for shown in numbers(answer["answer"])
        if not _is_structure(shown)
        and abs(shown.value) not in quoted
        and not _explained(shown, exact, magnitudes, folds)
    ]
