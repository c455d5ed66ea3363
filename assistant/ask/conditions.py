"""Conditions on a value that a question names: above, at least, between, negative, zero, equal to."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["above", "at_least", "below", "at_most", "between", "equal", "negative", "positive", "zero"]

_NUMBER = r"(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)\s*(%|％|k\b|percent\b)?"
_LEAD = r"(?:过|了|到)?\s*(?:about |around |大约|约)?"
_STEP_AFTER = r"(?![\d.]*\s*(?:步|steps?\b|iterations?\b|个?\s*epochs?\b|轮))"
#: "Slower than 20 seconds": what is slow takes more of them, and makes less of anything else.
_IN_TIME = r"(?=\s*\d+(?:\.\d+)?\s*(?:s\b|sec|min|h\b|hours?\b))"
_BETWEEN = re.compile(
    rf"(?i)\b(?:between|within|in the range(?: of)?|from|in)\s*\[?{_NUMBER}\s*(?:and|to|-|–|~|,|到|和|至)\s*"
    rf"{_NUMBER}\]?{_STEP_AFTER}"
    rf"|(?:在|介于|落在|处于)?\s*{_NUMBER}\s*(?:到|至|和|与|~|-|–)\s*{_NUMBER}\s*(?:之间|以内|范围|区间|这个区间)"
)
#: Sides, the closed ones first: "不超过" holds "超过", "not above" holds "above".
_SIDES: tuple[tuple[Kind, str], ...] = (
    (
        "at_most",
        r"(?:went|go(?:es)?|going|came|comes?) (?:down )?to(?=\s*0(?![.\d]))|(?:hits?|reach(?:es|ed)?)(?=\s*0(?![.\d]))"
        r"|不(?:超过|高于|大于|多于)|(?<!有)没(?:有)?再?(?:超过|高于|大于)|最多|至多|小于等于|≤|<=|\bat most\b"
        r"|no (?:more|greater|higher|larger) than|\bnot (?:above|over|more than|exceed\w*)|降到|跌到|掉到|降至"
        r"|跌至|低到"
        r"|drops? to|dropp?ed to|f[ae]lls? to|fell to|(?:go|gets?|got|goes|went) down to",
    ),
    (
        "at_least",
        r"(?:first|earliest) (?:step|time|eval\w*|point|one) (?:with|at|having) (?:an? |the )?(?:perfect "
        r"|full )?[a-z ]*?\bof"
        r"|不(?:低于|小于|少于|下于)|(?<!有)没(?:有)?再?(?:低于|小于|少于)"
        r"|至少|最少|大于等于|≥|>=|\bat least\b|no (?:less|lower|smaller|fewer) than"
        r"|\bnot (?:below|under|less than)|达到|升到|涨到|升至|涨至|增到|增至|达|摸到|reach(?:es|ed|ing)?"
        r"|\bhits?\b|hitting"
        r"|rises? to|rose to|(?:goes|go|went|gets?|got) (?:up )?to|climb(?:s|ed)? to"
        r"|满分|到(?=\s*-?\d[\d.]*\s*[%％]?\s*的?\s*(?:有|共|占)\s*(?:多少|几))|[拿得做跑考打冲爬]到|到(?=\s*-?\d[\d.]*\s*(?:分|%)?\s*(?:是|在)?(?:第几|哪))|(?<=啥时候)到|(?<=哪步)到|(?<=一步)到|(?<=第一次)到|(?<=首次)到|(?<=什么时候)到|(?<=何时)到|(?<=有没有)到"
        r"|(?<=最早)到|(?<=没)到",
    ),
    (
        "above",
        r"超过|(?<![不经通跑训跳来去走看用到测试超低小少短])过(?=\s*-?\d)|(?<![赶反])超[了过]?(?=\s*\d)|高于|大于|多于|长于"
        r"|突破|超出|升破|(?<![跌掉降击滑下])破|\babove\b|\bover\b|exceed(?:s|ed"
        r"|ing)?|\b(?:greater|more|higher|larger|longer|bigger) than|\bslower than"
        + _IN_TIME
        + r"|\b(?:north|upwards?|in excess) of|beyond|pass(?:es|ed)?|cross(?:es|ed)?|surpass(?:es|ed)?"
        r"|(?<![-=<])>(?!=)",
    ),
    (
        "below",
        r"低于|小于|少于|短于|不到|不足|不满|(?:跌|掉|降|击|滑|下)[破穿]|[低小少短]过|\bbelow\b|\bunder\b"
        r"|\b(?:less|lower|smaller|shorter|fewer) than|\b(?:faster|quicker) than"
        + _IN_TIME
        + r"|\b(?:south|short|shy) of(?=\s*-?\d)"
        r"|(?<![-=>])<(?!=)",
    ),
    ("equal", r"等于|恰好(?:是|为)|正好(?:是|为)|刚好(?:是|为)|\bequals?(?: to)?\b|\bexactly\b|==?"),
)
_COMPILED = tuple((kind, re.compile(rf"(?i)(?:{words}){_LEAD}{_NUMBER}{_STEP_AFTER}")) for kind, words in _SIDES)
_REACH = re.compile(r"(?i)达?到|达|摸到|reach|hit")
_AFTER_NUMBER = re.compile(
    rf"(?i)(?<![\d.]){_NUMBER}\s*"
    r"(?:(以上|之上|及以上|or (?:more|above|higher|greater)|and (?:above|up))|(以下|之下|以内|or (?:less|below|lower)))"
)
_BY_SIGN: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "negative",
        re.compile(
            r"(?i)\bnegative\b(?! (?:log|sample|example|correl))|(?:是|为|变|出现|成)负(?:的|数|值|了)?|负(?:的"
            r"|值|数)(?!样本)"
            r"|小于零|低于零|(?:below|less than|under) zero"
        ),
    ),
    (
        "positive",
        re.compile(
            r"(?i)\bpositive\b(?! (?:sample|example|correl))"
            r"|转正|正(?:分|奖励|回报|收益)|(?<!改|修|更|纠)正过|(?:是|为|变)正(?:的|数"
            r"|值|了|(?=\s*(?:[?,，。]|$)|是))(?!常|确)|正(?:值"
            r"|数)(?!确)|大于零"
            r"|(?:above|greater than) zero"
            r"|不(?:再)?(?:等于|为|是)\s*(?:零|0)(?![.\d])|非\s*(?:零|0)(?![.\d])|\bnon-?zero\b"
        ),
    ),
    (
        "zero",
        re.compile(
            r"(?i)(?:exactly |equal(?:s)? (?:to )?|\b(?:is|are|was|were)\s{1,60}"
            r"(?:(?:ratio|rate|fraction|share|norm|loss|value|it|exactly"
            r"|just|ever|never|always|only)\s{1,9}){0,2}|\bof )(?:zero|0)\b"
            r"(?!\s{0,3}(?:[.\d]|(?:-|–|~|to\b|through\b)\s{0,3}\d))"
            r"|(?<!不)(?:等于|为|是|变成|成了)\s*(?:零|0)(?![.\d])|归零|\bzero values?\b"
        ),
    ),
)
_UNIT = re.compile(r"(?i)\s*(?:(minutes?|mins?|分钟)|(hours?|hrs?|小时))")
_RELATIVE = re.compile(r"(?i)\bby (?:at least |more than |over )?$|(?:幅度?|率)\s*$")
#: Shares that are counted wrong may pass one (a utilisation of 131 %); beyond this the log writes per cent.
_LARGEST_FRACTION = 2.0
_OTHER_SIDE: dict[Kind, Kind] = {
    "above": "at_most", "at_most": "above", "below": "at_least", "at_least": "below", "positive": "at_most",
    "negative": "at_least",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a value.

    Attributes:
        kind: what the value must be.
        low: the number named; the lower one of two.
        high: the higher one of two numbers; else ``low``.
        percent: whether the numbers were named in per cent.
        span: where in the question the condition stands.
        reach: whether it is said to be reached, from whichever side the values come ("到 0.5").
    """

    kind: Kind
    low: float = 0.0
    high: float = 0.0
    percent: bool = False
    span: tuple[int, int] = (0, 0)
    reach: bool = False

    @property
    def strict(self) -> bool:
        """Whether it is a side of one number that does not belong to it."""
        return self.kind in {"above", "below"}

    @property
    def denied(self) -> Condition | None:
        """What holds where this does not; ``None`` for a condition that is no side of a number."""
        kind = _OTHER_SIDE.get(self.kind)
        return None if kind is None else replace(self, kind=kind)

    def scaled(self, largest: float) -> Condition:
        """In the metric's own unit: per cent are fractions unless the log's values are per cent themselves.

        Args:
            largest: the largest finite magnitude that the metric has.
        """
        if not self.percent or largest > _LARGEST_FRACTION:
            return self
        return replace(self, low=self.low / 100, high=self.high / 100, percent=False)

    def holds(self, value: float) -> bool:
        """Whether a value meets it; NaN meets none."""
        if math.isnan(value):
            return False
        same = math.isclose(value, self.low, rel_tol=1e-9, abs_tol=1e-15)
        return {
            "above": value > self.low and not same, "at_least": value > self.low or same,
            "below": value < self.low and not same, "at_most": value < self.low or same,
            "between": self.low <= value <= self.high, "equal": same,
            "negative": value < 0, "positive": value > 0, "zero": value == 0,
        }[self.kind]  # fmt: skip


def condition_in(text: str) -> Condition | None:
    """The condition that a question names, numbers as named; ``None`` where it names none.

    Args:
        text: the question, normalised; metrics and steps blanked, so that their digits are no limits.
    """
    if match := _BETWEEN.search(text):
        numbers = [group for group in match.groups() if group and group[0] in "-0123456789"]
        percent = any(group in {"%", "％"} for group in match.groups() if group)
        low, high = sorted(_figure(number) for number in numbers[:2])
        return Condition("between", low, high, percent, match.span())
    for kind, pattern in _COMPILED:
        match = pattern.search(text)
        if match is None or _RELATIVE.search(text[: match.start()]):
            continue
        rest = text[match.end() :].lstrip()
        value = _figure(match[1]) * (1000 if match[2] in {"k", "K"} else 1) * _seconds(text[match.end() :])
        found: Kind = kind
        if kind in {"at_most", "at_least"} and rest.startswith(("以下", "之下", "以上", "之上")):
            found = "below" if rest[1] == "下" else "at_least"  # "降到 1 以下" is below it
        reach = found == "at_least" and _REACH.match(match.group()) is not None
        return Condition(found, value, value, match[2] in {"%", "％", "percent"}, match.span(), reach)
    if match := _AFTER_NUMBER.search(text):
        value = _figure(match[1])
        closed: Kind = "at_least" if match[3] else "below"
        if match[4] and match[4].lower().startswith("or"):
            closed = "at_most"
        return Condition(closed, value, value, match[2] in {"%", "％", "percent"}, match.span())
    for kind, pattern in _BY_SIGN:
        if match := pattern.search(text):
            return Condition(kind, span=match.span())
    return None


def _figure(text: str) -> float:
    return float(text.replace(",", "").rstrip("."))


def _seconds(rest: str) -> float:
    """What a limit's unit is of a second: times are logged in seconds."""
    unit = _UNIT.match(rest)
    return 1.0 if unit is None else 60.0 if unit[1] else 3600.0
