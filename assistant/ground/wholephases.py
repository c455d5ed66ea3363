"""Sentences on a step's parts and on the log's ends, read as a whole: the longest phase, what of the step's time it is.

``the slowest phase of step 3 is generation``, ``of the 366 s of step 73, 120 s is generation``, ``the log runs from step
1 to step 100``.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assistant.ground.cues import negated
from assistant.ground.verdicts import plain
from assistant.ground.wholeratios import RatioReader
from assistant.ground.wholereader import Whole

#: The log's first and last step, told together.
_COVERS: Final = re.compile(
    r"(?i)\b(?:log|run|file|training|data|table|record(?:ing)?)s?\s+(?:here\s+)?(?:runs?|ran|goes|went|spans?|spanned|covers?|covered|extends?|stretch(?:es)?|holds?|contains?|has|lasts?)(?: (?:all|only|the))*(?: from)? steps? (?P<first>\d{1,7})\s*(?:to|through|until|[-–—]|and)\s*(?:step )?(?P<last>\d{1,7})\b"
    r"|(?:日志|训练|记录|数据|run)\s*(?:一共|总共|共|只)?(?:从|覆盖了?|包含了?|包括|记录了?|涵盖了?|跨越|含|有)?\s*(?:(?:的是|的范围(?:是|为)?)\s*)?(?:从\s*)?(?:step|第)\s*(?P<zfirst>\d{1,7})\s*步?\s*(?:到|至|[-–—~～])\s*(?:step|第)?\s*(?P<zlast>\d{1,7})\s*步?(?=\s*(?:[，。；,.;]|为止|结束|$))"
)
_PHASE: Final = r"(?:phase|stage|part|component|section|piece|portion|bit|item)"
#: Which part of a step takes the most, or the least, of its time.
_LONGEST: Final = re.compile(
    rf"(?i)\b(?:the |its )?(?:(?P<most>slowest|longest|most (?:expensive|costly|time-consuming)|dominant|biggest|largest|heaviest|costliest)|(?P<least>fastest|shortest|cheapest|smallest|quickest|least expensive))\s+(?:single )?{_PHASE}\b[^.;:,\d]{{0,24}}?(?:\bstep \d{{1,7}}\s*)?(?:is|was|remains?|:)\s*(?:the )?"
    r"|最(?:(?P<zmost>耗时|慢|长|费时|花时间|贵|久)|(?P<zleast>快|短|省时))的?(?:那一?个?)?(?:阶段|环节|部分|一环|一步骤|步骤|一项)(?:就)?(?:是|为|[:：])\s*"
)
#: "Of the 366 s of step 73", "step 73 的 366 秒里": a step's whole time.
_WHOLE_OF: Final = re.compile(
    r"(?i)(?:^|[.;,]\s*)(?:out )?of (?:the |its )?(?:total )?[`*]*$|(?:^|[。；，])\s*(?:在)?(?:step\s*\d{1,7}|第\s*\d{1,7}\s*步)\s*(?:总共|一共|总计|总耗时|全部)?的?\s*(?:总共|一共|总计)?[`*]*$"
)
_OF_STEP: Final = re.compile(
    r"(?i)[`*\s]*(?:of|in|for|that|spent on|on) (?:the |all of )?(?:whole )?step\b|[`*\s]*(?:total\s*)?(?:里|中|之中|当中|内)"
)


class PhaseReader(RatioReader):
    """Reads one sentence."""

    def covers(self) -> Iterator[Whole]:
        """``the log runs from step 0 to step 103``: against the log's first and last step."""
        match, steps = _COVERS.search(self.text), self.table.steps
        if (
            match is None
            or not steps
            or any(n.keys or n.absent for n in self.frame.names)
            or negated(self.frame, match.start())
        ):
            return
        first, last = (int(match[a] or match[b]) for a, b in (("first", "zfirst"), ("last", "zlast")))
        fine = first in steps[:2] and last == steps[-1]  # step 0 before training is no step of it
        note = self.judge.say("count", true=f"{steps[0]}–{steps[-1]}", shown=match.group())
        yield self.say(*match.span(), fine, note)

    def longest_phase(self) -> Iterator[Whole]:
        """``the slowest phase of step 3 is generation (119 s)``: against the other phases of that step."""
        match, total = _LONGEST.search(self.text), self.table.total_time()
        if match is None or total is None:
            return
        told = [n for n in self.frame.names if n.keys and 0 <= n.start - match.end() <= 4]
        if not told or self.table.kind(told[0].keys[0]) != "seconds" or told[0].keys[0] == total:
            return
        key = told[0].keys[0]
        steps = [p.steps[0] for p in self.frame.places if len(p.steps) == 1] or list(self.frame.carried.steps)
        group = key.split("/")[0]
        phases = [k for k in self.table.run.columns if k.count("/") == 1 and k.split("/")[0] == group and k != total]
        if len(steps) != 1 or "/" not in key or key not in phases:
            return
        values = {k: float(v) for k in phases if (v := self.table.value(k, steps[0])) is not None and v > 0}
        values = {k: v for k, v in values.items() if not re.search(r"(?i)step|total|wall|iter", k.split("/")[1])}
        if key not in values or len(values) < 2:
            return
        more = bool(match["most"] or match["zmost"])
        best = (max if more else min)(values, key=lambda k: values[k])
        note = self.judge.say("held", metric=best, step=steps[0], true=plain(values[best]), line=0)
        fact = self.table.ledger.value(best, steps[0], self.table.run)
        covered = [(p.start, p.end) for p in self.frame.places]
        for q in self.frame.numbers:  # the phase's own time beside it
            if q.unit == "s" and q.start > match.end() and self.judge.cell(q, key, steps[0]).status == "supported":
                covered.append((q.start, q.end))
                break
        fine = values[key] == values[best]
        yield self.say(match.start(), told[0].end, fine, note, fact.id if fact else None, covers=covered)

    def whole_of(self) -> Iterator[Whole]:
        """``Of the 366 s of step 73, 120 s (33%) is generation``: the first number is the step's own time."""
        total = self.table.total_time()
        for q in self.frame.numbers[:1] if total is not None else ():
            if q.unit != "s" or not _WHOLE_OF.search(self.text[: q.start]) or not _OF_STEP.match(self.text, q.end):
                continue
            steps = [p.steps[0] for p in self.frame.places if len(p.steps) == 1]
            if len(self.frame.numbers) < 2 or len(set(steps)) != 1:
                continue
            decided = self.judge.cell(q, str(total), steps[0])
            yield self.say(q.start, q.end, decided.status == "supported", decided.reason, decided.fact)
