"""Values that a question takes for granted: "KL is above 10 at the end, is that a problem?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from assistant.ask.lexicon import words

Kind = Literal["above", "below", "up_to", "down_to", "to", "is", "near", "negative"]

_NUMBER: Final = re.compile(
    r"(?i)(?<![\d.A-Za-z_/@#-])(?P<digits>-?\d{1,12}(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?)(?!\d|\.\d)\s*(?P<unit>%|％|percent\b|pct\b"
    r"|k\b|千|万|minutes?\b|mins?\b|分钟|hours?\b|hrs?\b|小时|ms\b|毫秒|秒|s\b|secs?\b|seconds?\b)?"
    r"(?!\s*(?:步|steps?\b|iter|epochs?\b|轮|倍|times\b|x\b|次|个|条|张|卡|块|题|gpus?\b|runs?\b|evals?\b|rows?\b"
    r"|[-–~～]\s*\d|(?:到|至|to|and|vs)\s*\d))"
)
_SCALES: Final = {
    "%": 0.01, "％": 0.01, "percent": 0.01, "pct": 0.01, "k": 1e3, "千": 1e3, "万": 1e4, "ms": 1e-3, "毫秒": 1e-3,
    "分钟": 60.0, "小时": 3600.0, "min": 60.0, "mins": 60.0, "minute": 60.0, "minutes": 60.0, "hour": 3600.0,
    "hours": 3600.0, "hr": 3600.0, "hrs": 3600.0,
}  # fmt: skip
_PER_CENT: Final = {"%", "％", "percent", "pct"}
_CLOCK: Final = {
    "ms", "毫秒", "秒", "s", "sec", "secs", "second", "seconds", "分钟", "小时", "min", "mins", "minute", "minutes",
    "hour", "hours", "hr", "hrs",
}  # fmt: skip
#: Words between what says how a number is meant and the number.
_BETWEEN: Final = re.compile(
    r"(?i)(?:\s|了|过|到|的|about|around|roughly|almost|nearly|the|a|an|大约|大概|差不多|约|快)*$"
)
_KINDS: Final[tuple[Kind, ...]] = ("above", "below", "up_to", "down_to", "to", "is")
_STEP_BEFORE: Final = re.compile(
    r"(?i)(?:steps?|第|步|iteration|row|top|pass@|mean@|best@|maj@|epochs?(?: (?:counter|number|count))?"
    r"(?: (?:was|is|were|reached|reads?|equals?|hit)| ?[=:]|等于|为|是|到|走到)?)\s*$"
)
#: So much of a text is searched.
_LONGEST: Final = 400
#: Kinds that a value can be said never to be.
_SIDES: Final = frozenset({"above", "below", "up_to", "down_to", "to"})
#: How far before a number the words stand that say how it is meant.
_BACK: Final = 28
#: A value within this factor of a number is near it; below this share of the largest value it is as good as zero.
_FACTOR: Final = 2.0
_NOUGHT: Final = 0.03
_HUNDRED: Final = 100.0


@dataclass(frozen=True, slots=True)
class Supposed:
    """A value taken for granted.

    Attributes:
        kind: how the number is meant; ``to``: either way, ``near``: at every step.
        value: the number, per cent as a fraction.
        half: half a unit of its last digit.
        percent: whether it was given in per cent.
        last: whether it is said of the last step.
        text: the number as typed.
        every: whether it is said of every step.
        never: whether it is said of none.
        clock: whether it was given in a unit of time; the number is in seconds then.
    """

    kind: Kind
    value: float
    half: float
    percent: bool
    last: bool
    text: str
    every: bool = False
    never: bool = False
    clock: bool = False

    def scaled(self, largest: float, kind: str = "") -> Supposed:
        """In the metric's own unit: per cent are no fractions where the log's values are per cent themselves, points
        of a share are per cent, and seconds are a thousand where it logs milliseconds.

        Args:
            largest: the metric's largest magnitude.
            kind: how its numbers are shown.
        """
        if self.clock and kind == "milliseconds":
            return replace(self, value=self.value * 1e3, half=self.half * 1e3, clock=False)
        if kind == "fraction" and not self.percent and largest <= 1 and _FACTOR < abs(self.value) <= _HUNDRED:
            return replace(self, value=self.value / 100, half=self.half / 100, percent=True)  # "from 42.65 to 40.8"
        if not self.percent or largest <= _FACTOR:
            return self
        return replace(self, value=self.value * 100, half=self.half * 100, percent=False)

    def holds(self, value: float, first: float, largest: float) -> bool:
        """Whether a value is as supposed.

        Args:
            value: of the metric.
            first: its first value, from which a move to the number goes up or down.
            largest: its largest magnitude.
        """
        kind, half = self.kind, self.half
        if self.value == 0 and kind in {"down_to", "to", "is", "near"}:
            return abs(value) <= _NOUGHT * largest
        if kind == "to":
            kind = "up_to" if self.value > first else "down_to"
        if kind == "near":
            return value * self.value > 0 and 1 / _FACTOR <= value / self.value <= _FACTOR
        return {
            "above": value > self.value, "below": value < self.value, "up_to": value >= self.value - half,
            "down_to": value <= self.value + half, "is": self.names(value), "negative": value < 0,
        }[kind]  # fmt: skip

    def names(self, value: float) -> bool:
        """Whether the number is a value as it is typed: rounded, or with its last digits left away."""
        half = self.half * (1 + 1e-6)
        cut = value * self.value >= 0 and 0 <= abs(value) - abs(self.value) <= 2 * half
        return cut or abs(value - self.value) <= half


def values_in(text: str) -> list[tuple[int, int]]:
    """Where numbers stand that are values and no steps: "the normal range is 1 to 10", "一直在 1 附近"."""
    return [match.span() for match in words("supposed")["values"].finditer(text[:_LONGEST])]


def typed_values(text: str) -> list[Supposed]:
    """Each number of a question that is a value, as typed."""
    text = text[:_LONGEST]
    found = _NUMBER.finditer(text)
    held = [m for m in found if not _STEP_BEFORE.search(text[max(0, m.start() - _BACK) : m.start()])]
    return [_of(match, "is", last=False) for match in held]


def supposed_in(text: str) -> Supposed | None:
    """The value that a question takes for granted, beside which it asks for a judgement, a cause or what to do.

    Args:
        text: the question, normalised; names of metrics blanked.
    """
    text = text[:_LONGEST]
    held = words("supposed")
    if not held["judged"].search(text) or held["asked"].search(text):
        return None
    last = held["last"].search(text) is not None
    for match in _numbers(text):
        before = text[max(0, match.start() - _BACK) : match.start()]
        if _STEP_BEFORE.search(before):
            continue
        kind = _kind(before)
        if kind is None:
            continue
        if held["never"].search(text[: match.start()]):
            return _of(match, kind, last=False, never=True) if kind in _SIDES else None
        every = held["every"].search(before) is not None or held["near"].search(text[match.end() :]) is not None
        if every and kind in {"is", "to"}:
            kind = "near"
        whole = kind in {"above", "below"} and held["throughout"].search(text) is not None
        return _of(match, kind, last=last and not whole, every=whole)
    below = held["negative"].search(text)
    if below is None or held["never"].search(text):
        return None
    every = held["every"].search(text) is not None or "全" in below.group() or "都" in below.group()
    return Supposed("negative", 0.0, 0.0, percent=False, last=last and not every, text="0", every=every)


def values_stated(text: str) -> list[Supposed]:
    """Each number of a statement that is no step, with how the words before it say that it is meant.

    Args:
        text: the statement, names of metrics blanked.
    """
    text = text[:_LONGEST]
    held = words("supposed")
    last = held["last"].search(text) is not None
    found = []
    for match in _numbers(text):
        before = text[max(0, match.start() - _BACK) : match.start()]
        if _STEP_BEFORE.search(before):
            continue
        every = held["every"].search(before) is not None or held["throughout"].search(text) is not None
        found.append(_of(match, _kind(before) or "is", last=last and not every, every=every))
    return found


def _numbers(text: str) -> Sequence[re.Match[str]]:
    """Numbers of a text; words for zero count where they say what a value came to."""
    found = list(_NUMBER.finditer(text))
    if not found:
        found = [match for match in _ZERO.finditer(text) if match.group()]
    return found


_ZERO: Final = re.compile(r"(?i)(?P<digits>零|\bzeros?\b)(?P<unit>)")


def _kind(before: str) -> Kind | None:
    """What the words right before a number say of it: those that reach nearest to it, the longest of these."""
    held = words("supposed")
    best: tuple[int, int, Kind] | None = None
    for kind in _KINDS:
        for match in held[kind].finditer(before):
            if _BETWEEN.fullmatch(before[match.end() :]) is None:
                continue
            rank = (match.end(), match.end() - match.start(), kind)
            if best is None or rank[:2] > best[:2]:
                best = rank
    return None if best is None else best[2]


def _of(match: re.Match[str], kind: Kind, *, last: bool, never: bool = False, every: bool = False) -> Supposed:
    digits, unit = match["digits"], (match["unit"] or "").lower()
    word = not digits[-1].isdigit()
    scale = _SCALES.get(unit, 1.0)
    value = 0.0 if word else float(digits) * scale
    mantissa, _, exponent = ("0" if word else digits.lower()).partition("e")
    unit_of_last = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])) * scale
    return Supposed(
        kind, value, 0.5 * unit_of_last, unit in _PER_CENT, last, match.group().strip(), every, never, unit in _CLOCK
    )
