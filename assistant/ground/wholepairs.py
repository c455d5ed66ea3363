"""Sentences read as a whole: values of several metrics at two steps told first, values of the first and last validation.

``step 3 vs step 9: entropy 0.52 vs 0.44, length 310 vs 402``, ``第一次验证 50.0%，最后一次验证 72.4%``.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assistant.ground.counting import VALIDATION
from assistant.ground.wholereader import Whole, WholeReader

#: Between two steps told as the sides of what follows.
_SIDES: Final = re.compile(r"(?i)\s*(?:和|与|跟|对比?|比|、|vs\.?|versus|against|and|→|->|/)\s*")
#: Behind them, up to the first metric.
_LEAD: Final = re.compile(
    r"(?i)[）)]?\s*(?:相比|对比|比较|两步|compared|side by side|in comparison)?[^\d，,。；;]{0,12}[：:，,]\s*[`*]*"
)
_VALIDATION: Final = re.compile(
    r"(?i)(?:(?P<first>第一次|首次|最早一次|最初一次|起初的?)|(?P<last>最后一次|末次|最近一次|最终的?))(?:的)?(?:验证|评测|评估)(?:的)?(?:准确率|得分|分数|成绩|结果)?(?:是|为|只有|还只有|达到|已有|拿到|得了?|[:：])?\s*(?:约|大约)?\s*[`*]*$"
    r"|\b(?:(?P<efirst>first|initial|opening)|(?P<elast>last|final|latest|closing)) (?:validation|evaluation|eval|check)(?: (?:run|pass|score|accuracy|result))?(?: (?:gave|gives|is|was|scored|scores|came out at|stands at|stood at|yielded|yields|reached|read|reads|at|of))?[:,]? ?(?:about |around )?[`*(]*$"
)


class PairReader(WholeReader):
    """Claims that tell pairs of values."""

    def paired_sides(self) -> Iterator[Whole]:
        """``step 33 和 step 91 对比：策略熵 0.575 对 0.226，平均回复长度 1211 对 10.8``: each first number of the first step."""
        places, numbers = self.frame.places, self.frame.numbers
        if not numbers or any(p.start > numbers[0].start for p in places):
            return
        if len(places) == 2 and all(len(p.steps) == 1 for p in places):
            one, two = places[0].steps[0], places[1].steps[0]
            if not _SIDES.fullmatch(self.text, places[0].end, places[1].start):
                return
        elif len(places) == 1 and len(places[0].steps) == 2 and places[0].kind == "pair":
            told = [int(n) for n in re.findall(r"\d{1,9}", self.text[places[0].start : places[0].end])]
            one, two = (
                told if sorted(told) == sorted(places[0].steps) else places[0].steps
            )  # as they stand, whatever is "from"
        else:
            return
        groups = [g for g in self.frame.groups if g.form in {"versus", "chain"} and len(g.members) == 2]
        names = [n for n in self.frame.names if n.start >= places[-1].end]
        if len(groups) * 2 != len(numbers) or len(names) != len(groups) or any(not n.keys for n in names):
            return
        if not _LEAD.fullmatch(self.text, places[-1].end, names[0].start):
            return
        for name, group in zip(names, groups, strict=True):
            x, y = (numbers[at] for at in group.members)
            if name.end > x.start or x.bound or y.bound:
                return
            cells = [(self.judge.cell(x, key, one), self.judge.cell(y, key, two)) for key in name.keys[:3]]
            fine = next((pair for pair in cells if all(c.status == "supported" for c in pair)), None)
            shown = fine or cells[0]
            wrong = next((c for c in shown if c.status != "supported"), shown[1])
            yield self.say(x.start, y.end, fine is not None, wrong.reason, shown[0].fact)

    def ends_of_validation(self) -> Iterator[Whole]:
        """``第一次验证 50.0%，最后一次验证 72.4%``: against the first and the last step that hold one."""
        keys = [k for n in self.frame.names for k in n.keys if VALIDATION.match(k)]
        for q in self.frame.numbers:
            match = _VALIDATION.search(self.text, max(0, q.start - 60), q.start)
            if match is None or q.bound:
                continue
            at = 0 if match["first"] or match["efirst"] else -1
            told = keys or [k for k in self.table.run.columns if VALIDATION.match(k)]
            decided = [self.judge.cell(q, key, held[at]) for key in told[:4] if (held := self.table.held(key))]
            fine = next((d for d in decided if d.status == "supported"), None)
            if decided:
                shown = fine or decided[0]
                yield self.say(match.start(), q.end, fine is not None, shown.reason, shown.fact)
