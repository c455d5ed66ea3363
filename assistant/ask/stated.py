"""Values that the user states ("from 0.23 to 0.262"), which the log may or may not hold."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)\s*(%|％)?"
_PAIR = re.compile(
    rf"(?i)(?:从|由|from)\s*{_NUMBER}\s*(?:个点)?\s*(?:提升|提高|涨|升|降|跌|变|增加|下降|上升|掉)?\s*"
    rf"(?:到|至|成|为|(?:(?:all the way )?(?:up|down) )?to)\s*{_NUMBER}"
    rf"|{_NUMBER}\s*(?:->|→|=>|—>|涨到|升到|提升到|提高到|降到|跌到|变成|变为)\s*{_NUMBER}"
)
_VALIDATION = r"(?:验证集?|测试集?|评测|\b(?:val\w*|eval\w*|test)\b)"
_TRAINING = r"(?:训练集?|\btrain\w*\b)"
#: "验证 0.23 训练才 0.127", "train 15% but val 23%": one number of each side.
_SIDES = re.compile(
    rf"(?i){_VALIDATION}[^\d,，。;?]{{0,14}}{_NUMBER}[^\d。?]{{0,16}}?{_TRAINING}[^\d,，。;?]{{0,14}}{_NUMBER}"
    rf"|{_TRAINING}[^\d,，。;?]{{0,14}}{_NUMBER}[^\d。?]{{0,16}}?{_VALIDATION}[^\d,，。;?]{{0,14}}{_NUMBER}"
)
_STEP_BEFORE = re.compile(r"(?i)(?:steps?|第|步)\s*$")
_STEP_AFTER = re.compile(r"(?i)^\s*(?:步|steps?\b)")


@dataclass(frozen=True, slots=True)
class Claim:
    """A change that a question states.

    Attributes:
        first: value before, percentages as fractions.
        second: value after.
        texts: both as typed.
    """

    first: float
    second: float
    texts: tuple[str, str]

    def in_per_cent(self) -> Claim:
        """The same with both numbers read as per cent: an accuracy "from 42.65 to 40.8"."""
        if any(text.endswith("%") for text in self.texts):
            return self
        a, b = (f"{text}%" for text in self.texts)
        return Claim(self.first / 100, self.second / 100, (a, b))


def sides_in(text: str) -> Claim | None:
    """A number of the validation and one of training that a question sets beside each other, as they stand in it."""
    match = _SIDES.search(text[:400])
    if match is None:
        return None
    groups = match.groups()
    a, pa, b, pb = groups[:4] if groups[0] is not None else groups[4:]
    values = [float(number) / (100.0 if percent else 1.0) for number, percent in ((a, pa), (b, pb))]
    return Claim(values[0], values[1], (a + ("%" if pa else ""), b + ("%" if pb else "")))


def claim_in(text: str) -> Claim | None:
    """The change that a question states; ``None`` where its numbers are steps, or there is none."""
    for match in _PAIR.finditer(text):
        groups = match.groups()
        a, pa, b, pb = groups[:4] if groups[0] is not None else groups[4:]
        start = match.start(1) if match[1] is not None else match.start(5)
        if _STEP_BEFORE.search(text[:start]) or _STEP_AFTER.search(text[match.end() :]):
            continue
        whole = all("." not in part and not percent for part, percent in ((a, pa), (b, pb)))
        if whole:
            continue
        scale = 100.0 if pb or pa else 1.0
        texts = (a + ("%" if pa or pb else ""), b + ("%" if pa or pb else ""))
        return Claim(float(a) / scale, float(b) / scale, texts)
    return None
