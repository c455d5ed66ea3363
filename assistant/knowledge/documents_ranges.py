"""What a definition says of normal values, of the better direction and of the unit, as data.

Only what is stated is taken: an interval, or a comparison that stands where the normal range is told. Numbers anywhere
else in a text mean something else, and stay text.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.knowledge.documents_model import Kind, Range
from assistant.knowledge.documents_text import narrow

_NUMBER: Final = r"([+\-−]?(?:\d{1,30}(?:,\d{3}){0,9}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+\-−]?\d{1,3})?)\s{0,2}(%?)"
_INTERVAL: Final = re.compile(rf"[\[(【]\s{{0,3}}{_NUMBER}\s{{0,3}}[,;、]\s{{0,3}}{_NUMBER}\s{{0,3}}[\])】]")
_TO: Final = r"\s{0,2}(?:-|–|—|~|～|〜|到|至|\bto\b|\.\.\.?|…)\s{0,2}"
_BETWEEN: Final = re.compile(
    rf"(?<![A-Za-z0-9_.,+\-−/*^=@])(?:between\s{{1,3}}{_NUMBER}\s{{1,3}}and\s{{1,3}}{_NUMBER}"
    rf"|介于\s{{0,3}}{_NUMBER}\s{{0,3}}[和与]\s{{0,3}}{_NUMBER}|{_NUMBER}{_TO}{_NUMBER})(?![A-Za-z0-9_*/^]|[.,]\d|-\d)",
    re.IGNORECASE,
)
_PLUS_MINUS: Final = re.compile(rf"(?:±|\+/-)\s{{0,2}}{_NUMBER}")
_SANDWICH: Final = re.compile(
    rf"{_NUMBER}\s{{0,3}}[<≤]=?\s{{0,3}}`?[\w./@|]{{1,80}}`?\s{{0,3}}[<≤]=?\s{{0,3}}{_NUMBER}"
)
_LEAD: Final = (
    r"(?:(?:通常|一般|应该|应当|应|最好|建议|需要?|需|保持|维持|稳定|都|为|是|在|会|值|健康值?|正常值?|理想值?|范围|"
    r"usually|typically|normally|generally|should|ideally|stays?|remains?|kept|keep|be|is|are|values?|it|of|"
    r"must|the|healthy|normal|range|somewhere|around|at|about|in|within)[\s:,]{0,3}){0,8}"
)
_LESS: Final = re.compile(
    rf"{_LEAD}(?:[<≤]=?|小于等于|小于|低于|不超过|不高于|不大于|少于|below|under|less than|lower than|at most|"
    rf"no more than|up to|smaller than)\s{{0,3}}{_NUMBER}(?![A-Za-z0-9_*/^])",
    re.IGNORECASE,
)
_MORE: Final = re.compile(
    rf"{_LEAD}(?:[>≥]=?|大于等于|大于|高于|不低于|不小于|不少于|超过|多于|above|over|more than|greater than|"
    rf"higher than|at least|no less than|exceeds)\s{{0,3}}{_NUMBER}(?![A-Za-z0-9_*/^])",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    rf"{_LEAD}{_NUMBER}\s{{0,3}}(?:(以下|以内|及以下|or less|or below)|(以上|及以上|or more|or above))", re.IGNORECASE
)
_TOLD: Final = re.compile(
    r"(?:正常|参考|健康|合理|理想|建议|期望|典型)(?:的)?(?:取值)?(?:范围|值|区间)|(?:应该?当?|通常|一般|最好|保持|维持)(?:保持|稳定)?在"
    r"|(?:healthy|normal|typical|expected|target|reference|recommended|usual)\s(?:range|values?)"
    r"|(?:should|usually|typically|normally)\s(?:be|stay|lie|is|stays|lies|remain)",
    re.IGNORECASE,
)
_SPAN: Final = 80

_HIGHER: Final = re.compile(
    r"(?:越高越好|越大越好|higher\s(?:is|=|means)\sbetter|the higher,? the better)", re.IGNORECASE
)
_LOWER: Final = re.compile(
    r"(?:越低越好|越小越好|越短越好|(?:lower|smaller)\s(?:is|=|means)\sbetter|the (?:lower|smaller),? the better)",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"(?:不是|并非|不一定|未必|不见得|而非|not|n't|isn.t|never|doesn.t)[^。.;；]{0,12}$", re.IGNORECASE
)
_UNIT: Final = re.compile(
    r"[(（]\s{0,3}(?:单位|unit)?[\s:：]{0,3}(秒|毫秒|微秒|分钟|小时|seconds?|s|sec|milliseconds?|ms|minutes?|hours?|"
    r"tokens?(?:\s?/\s?(?:s|sec|second|秒))?|tok/s|GB|GiB|MB|MiB|KB|nats?|bits?|%|次|步|steps?|条|个|字节|bytes)\s{0,3}[)）]",
    re.IGNORECASE,
)
_KINDS: Final = {
    "秒": "seconds", "second": "seconds", "seconds": "seconds", "s": "seconds", "sec": "seconds",
    "毫秒": "milliseconds", "ms": "milliseconds", "millisecond": "milliseconds", "milliseconds": "milliseconds",
    "token": "tokens", "tokens": "tokens", "nat": "nats", "nats": "nats",
}  # fmt: skip


def ranges_of(text: str, line: int, kind: Kind = "normal") -> list[Range]:
    """The range in a text that tells the normal values, in a list of at most one.

    Args:
        text: such as ``通常在 [-1, 1] 之间`` or ``< 0.05``; nothing but a range.
        line: where it stands.
        kind: what values within it are.
    """
    words = " ".join(text.split())[:300]
    plain = narrow(words).replace("`", " ").replace("*", " ").strip()
    bounds = _bounds(plain)
    return [] if bounds is None else [Range(bounds[0], bounds[1], words, kind, line)]


def told_ranges(text: str, line: int) -> list[Range]:
    """Ranges that a definition tells in passing, after words such as "healthy range" or "通常在"."""
    result: list[Range] = []
    until = 0
    for match in _TOLD.finditer(text):
        if match.start() < until or len(result) >= 4:
            continue
        end = min(len(text), match.end() + _SPAN)
        stop = re.compile(r"[。；;\n]|\.\s|\.$").search(text, match.end(), end)
        rest = text[match.end() : stop.start() if stop else end].strip(" :：，,")
        found = ranges_of(rest, line)
        if found:
            words = " ".join(text[match.start() : stop.start() if stop else end].split())
            result.append(Range(found[0].low, found[0].high, words, "normal", line))
            until = end
    return result


def _bounds(text: str) -> tuple[float | None, float | None] | None:
    for pattern in (_INTERVAL, _SANDWICH, _BETWEEN):
        found = pattern.search(text)
        if found is not None:
            numbers = [group for group in found.groups() if group is not None]
            percent = numbers[1] == "%" or numbers[3] == "%"
            low, high = _value(numbers[0], percent), _value(numbers[2], percent)
            if low <= high:
                return low, high
            return None
    found = _PLUS_MINUS.search(text)
    if found is not None:
        limit = abs(_value(found[1], found[2] == "%"))
        return -limit, limit
    less, more = _LESS.match(text), _MORE.match(text)
    if less is not None:
        return None, _value(less[1], less[2] == "%")
    if more is not None:
        return _value(more[1], more[2] == "%"), None
    after = _AFTER.match(text)
    if after is not None:
        limit = _value(after[1], after[2] == "%")
        return (None, limit) if after[3] else (limit, None)
    return None


def _value(text: str, percent: bool) -> float:
    number = float(text.replace("−", "-").replace(",", ""))
    return float(f"{number / 100:.12g}") if percent else number


def direction_of(text: str) -> str:
    """``higher_better`` or ``lower_better`` where a text says so, else ``""``."""
    for pattern, direction in ((_HIGHER, "higher_better"), (_LOWER, "lower_better")):
        match = pattern.search(text)
        if match is not None and _DENIED.search(text[max(0, match.start() - 24) : match.start()]) is None:
            return direction
    return ""


def unit_of(text: str) -> str:
    """A unit in brackets, such as ``（秒）`` or ``(tokens)``, else ``""``."""
    match = _UNIT.search(text)
    return match[1] if match is not None else ""


def kind_of(unit: str) -> str:
    """How numbers of a unit are shown, ``""`` if the unit does not say."""
    return _KINDS.get(unit.lower(), "")
