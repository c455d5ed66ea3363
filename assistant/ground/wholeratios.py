"""One statistic of a metric told as so many times another: the largest against the mean, the slowest step against the fastest."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from assistant.ground.table import agrees, median
from assistant.ground.verdicts import plain
from assistant.ground.wholeconditions import ConditionReader
from assistant.ground.wholereader import Whole

#: The statistics, by the words that mean them.
_STATISTICS: Final = {
    "max": r"\b(?:max(?:imum)?|peak|largest|highest|biggest|greatest|longest|slowest)\b|最[大高长慢多]的?(?:一步|值|点)?|峰值",
    "min": r"\b(?:min(?:imum)?|smallest|lowest|shortest|fastest|quickest)\b|最[小低短快少]的?(?:一步|值|点)?|谷值",
    "mean": r"\b(?:mean|average|avg)\b(?! (?:number|reward|score|response|length|training|prompt))|平均(?:值|水平)?(?!奖励|得分|回复|回答|响应|长度)|均值",
    "median": r"\bmedian\b|中位数",
    "first": r"\b(?:first|initial|starting)\b(?: (?:value|one|step))?|首步|初始值?|第一步",
    "last": r"\b(?:last|final)\b(?: (?:value|one|step))?|末步|最后一步|最终值?",
}
_STATISTIC: Final = re.compile("(?i)" + "|".join(f"(?P<{name}>{words})" for name, words in _STATISTICS.items()))
#: Between the first statistic and the number, and behind the number, in English and in Chinese.
_IS: Final = re.compile(
    r"(?i)\b(?:is|was|are|were|takes?|took|lasts?|lasted|ran|runs|amounts? to|stands? at|comes? to|reach(?:es|ed))\b"
)
_TIMES_OF: Final = re.compile(
    r"(?i)^[`*\s]*(?:times?|[×x]|-?fold)?[`*\s]*(?:as (?:long|large|high|big|great|much|slow) as |(?:that )?of )?(?:that (?:of|for) )?(?:the|its|their|that)?\s*(?:overall |run's )?$"
)
_IS_OF: Final = re.compile(
    r"^(?:的?(?:值|步|一步)?)?\s*(?:大约|约|差不多)?\s*(?:是|为|相当于|达到?)了?\s*(?:其|它的?|全程|整个)?\s*$"
)
_TIMES: Final = re.compile(r"^(?:的?(?:值|步|一步)?)?\s*的?\s*(?:大约|约|近|将近|差不多)?\s*[（(`*]*$")
#: Behind the factor, the two values in brackets: "(0.643 vs 0.253)".
_BOTH: Final = re.compile(r"(?i)[`*\s]*(?:one|value|step|of the run)?\s*[（(:：,，]\s*[`*]*")
_AND: Final = re.compile(r"(?i)[`*\s]*(?:s|秒|tokens?)?\s*(?:vs\.?|versus|against|to|and|/|÷|对|比|和|与)\s*[`*]*")
_STEPS: Final = re.compile(r"(?i)\b(?:steps?|iterations?|updates?)\b|步")


class RatioReader(ConditionReader):
    """Claims that set two statistics of one metric against each other."""

    def statistics_ratio(self) -> Iterator[Whole]:
        """``the largest grad norm is 4.3 times the average``, ``最慢的一步是最快一步的 1.6 倍``."""
        named = [(name.start, name.end) for name in self.frame.names if name.exact]
        found = [m for m in _STATISTIC.finditer(self.text) if not any(a <= m.start() < b for a, b in named)]
        numbers = self.frame.numbers
        if len(found) != 2 or len(numbers) not in {1, 3} or numbers[0].unit != "ratio" or numbers[0].sign:
            return
        q, (one, two) = numbers[0], found
        key = self._of_what()
        ends = {"first", "last"} >= {str(one.lastgroup), str(two.lastgroup)}  # "第一步" is the first that is logged
        if key is None or any(
            place.kind in {"steps", "pair"} and not (ends and not re.search(r"\d", self.text[place.start : place.end]))
            for place in self.frame.places
        ):
            return
        gap = self.text[one.end() : two.start()]
        if one.end() <= q.start < two.start():
            told = bool(_IS.search(self.text[one.end() : q.start])) and bool(
                _TIMES_OF.match(self.text[q.end : two.start()])
            )
        else:
            told = two.end() <= q.start and bool(
                _IS_OF.match(self._unnamed(one.end(), two.start())) and _TIMES.match(self._unnamed(two.end(), q.start))
            )
        if not told or len(gap) > 80 or one.lastgroup == two.lastgroup:
            return
        values = [v for _, v in self.table.finite(key, self.span())]
        if len(values) < 2 or min(values) < 0:
            return
        x, y = self._statistic(str(one.lastgroup), values), self._statistic(str(two.lastgroup), values)
        if not y:
            return
        start, end = one.start(), max(two.end(), q.end)
        fine = agrees(q.number, q.half, x / y, bound=q.bound)
        if len(numbers) == 3:
            if not _BOTH.fullmatch(self.text, end, numbers[1].start) or not _AND.fullmatch(
                self.text, numbers[1].end, numbers[2].start
            ):
                return
            both = zip(numbers[1:], (x, y), strict=True)
            fine = fine and all(any(agrees(a, b, v) for a, b in self.table.readings(n, key, v)) for n, v in both)
            end = numbers[2].end
        note = self.judge.say("range", metric=key, low=plain(min(x, y)), high=plain(max(x, y)), shown=q.text)
        yield self.say(q.start, q.end, fine, note, covers=[(start, end)])

    def _of_what(self) -> str | None:
        """The metric that is named, or the time of a step where steps are compared and nothing is named."""
        return self.key() or (self.table.total_time() if not self.frame.names and _STEPS.search(self.text) else None)

    def _unnamed(self, start: int, end: int) -> str:
        text = self.text[start:end]
        for name in self.frame.names:
            if start <= name.start and name.end <= end:
                text = text.replace(self.text[name.start : name.end], "")
        return text

    @staticmethod
    def _statistic(which: str, values: Sequence[float]) -> float:
        match which:
            case "max":
                return max(values)
            case "min":
                return min(values)
            case "mean":
                return sum(values) / len(values)
            case "median":
                return median(values)
        return values[0] if which == "first" else values[-1]
