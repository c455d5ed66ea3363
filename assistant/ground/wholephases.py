"""Sentences on a step's parts and on the log's ends, read as a whole: the longest phase, what of the step's time it is.

``the slowest phase of step 3 is generation``, ``of the 366 s of step 73, 120 s is generation``, ``the log runs from step
1 to step 100``.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from assistant.ground.counting import VALIDATION
from assistant.ground.cues import negated
from assistant.ground.table import Table, agrees
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
    r"|最(?:(?P<zmost>耗时|慢|长|费时|花时间|贵|久)|(?P<zleast>快|短|省时))的?(?:那一?个?)?(?:阶段|环节|部分|一环|一步骤|步骤|一项)?(?:就)?(?:是|为|[:：])\s*"
)
#: "Of the 366 s of step 73", "step 73 的 366 秒里": a step's whole time.
_WHOLE_OF: Final = re.compile(
    r"(?i)\bof (?:the |its )?(?:total )?[`*]*$|(?:^|[。；，])\s*(?:在)?(?:step\s*\d{1,7}|第\s*\d{1,7}\s*步)\s*(?:总共|一共|总计|总耗时|全部|共|用时|耗时)?的?\s*(?:总共|一共|总计)?[`*]*$"
)
_OF_STEP: Final = re.compile(
    r"(?i)[`*\s]*(?:of|in|for|that|spent on|on) (?:the |all of )?(?:whole )?step\b|[`*\s]*(?:total\s*)?(?:里|中|之中|当中|内|[，,][^，。；]{0,24}?(?:用|占|花|耗)了?)"
)

#: "Never goes above 0.83 (step 65)", "最高不超过 0.83（step 65）": the greatest, and where it is.
_NEVER_PAST: Final = re.compile(
    r"(?i)\b(?:never|not once|at no point)\b[^,.;\d]{0,30}$|\bat (?:most|least)\s*[`*]*$|(?:最[高大多]|从来?未?|从没|始终|一直|一次)?[也都]?(?:不|没有?|未)(?:曾|有)?(?:超过|高于|突破|低于|跌破)过?\s*[`*]*$"
)
_AT_STEP: Final = re.compile(
    r"(?i)[`*\s]*(?:tokens?|s|秒|%)?\s*[（(]\s*(?:at |on |in |在|出现在)?\s*(?:step|第)\s*(?P<step>\d{1,7})\s*步?\s*[)）]"
)
#: "First at step 0, last at step 69", of something that is done again and again.
_FIRST_AT: Final = re.compile(
    r"(?i)\b(?:first|initially)(?: (?:time|one|run))? (?:was )?(?:at|on|in) step (?P<step>\d{1,7})\b|(?:第一次|首次|最早)(?:评测|验证|评估)?(?:是)?(?:出现)?在?\s*(?:step|第)\s*(?P<zstep>\d{1,7})"
)
_LAST_AT: Final = re.compile(
    r"(?i)\b(?:last|finally|most recently)(?: (?:time|one|run))? (?:was )?(?:at|on|in) step (?P<step>\d{1,7})\b|(?:最后一次|末次|最近一次)(?:评测|验证|评估)?(?:是)?(?:出现)?在?\s*(?:step|第)\s*(?P<zstep>\d{1,7})"
)
_DONE: Final = re.compile(
    r"(?i)\b(?:evaluat(?:ed|ions?|es)|validat(?:ed|ions?|es)|eval runs?|was run|were run|ran|tested)\b|评测|验证|评估"
)


def phases_of(table: Table, key: str, step: int) -> dict[str, float]:
    """The times at a step of the phases beside one, by key; none where it is no phase."""
    group, total = key.split("/", maxsplit=1)[0], table.total_time()
    phases = [k for k in table.run.columns if k.count("/") == 1 and k.split("/")[0] == group and k != total]
    if key not in phases:
        return {}
    values = {k: float(v) for k in phases if (v := table.value(k, step)) is not None and v > 0}
    return {k: v for k, v in values.items() if not re.search(r"(?i)step|total|wall|iter", k.split("/")[1])}


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
        values = phases_of(self.table, key, steps[0]) if len(steps) == 1 else {}
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
        for q in self.frame.numbers if total is not None else ():
            if q.unit != "s" or not _WHOLE_OF.search(self.text[: q.start]) or not _OF_STEP.match(self.text, q.end):
                continue
            if any(n.start < q.start and n.unit == "ratio" for n in self.frame.numbers):
                continue
            if re.match(r"\s*\d+\s*(?:'s|’s|的)\s*\w", self.text[_OF_STEP.match(self.text, q.end).end() :]):  # type: ignore[union-attr]
                continue
            steps = [p.steps[0] for p in self.frame.places if len(p.steps) == 1]
            if len(self.frame.numbers) < 2 or len(set(steps)) != 1:
                continue
            decided = self.judge.cell(q, str(total), steps[0])
            yield self.say(q.start, q.end, decided.status == "supported", decided.reason, decided.fact)

    def never_past(self) -> Iterator[Whole]:
        """``never goes above 0.83 (step 65)``: the greatest of all, at that step."""
        named = [n for n in self.names() if n.keys]
        for q in self.frame.numbers if len({n.keys for n in named}) == 1 else ():
            match = _AT_STEP.match(self.text, q.end)
            if not q.bound or match is None or not _NEVER_PAST.search(self.text[: q.start]):
                continue
            step, plainly = int(match["step"]), replace(q, bound="", half=q.half or 0.5 * 10.0**-q.decimals)
            decided = [self.judge.cell(plainly, key, step) for key in named[0].keys[:3]]
            fine = [d for d in decided if d.status == "supported" and self._utmost(str(d.key), step, q.bound == "<")]
            shown = fine[0] if fine else decided[-1]
            note = shown.reason if shown.status != "supported" else self.judge.say("never")
            covers = [(p.start, p.end) for p in self.frame.places if q.end <= p.start < match.end()]
            yield self.say(q.start, q.end, bool(fine), note, shown.fact, covers=covers)

    def _utmost(self, key: str, step: int, most: bool) -> bool:
        """Whether a metric is nowhere greater (else: less) than at a step."""
        values = [value for _, value in self.table.finite(key)]
        return bool(values) and self.table.value(key, step) == (max(values) if most else min(values))

    def first_and_last(self) -> Iterator[Whole]:
        """``evaluated 15 times, first at step 0, last at step 69``: against the first and the last step that hold it."""
        matches = [(m, at) for pattern, at in ((_FIRST_AT, 0), (_LAST_AT, -1)) for m in pattern.finditer(self.text)]
        if not matches or not _DONE.search(self.text) or any(q.bound for q in self.frame.numbers):
            return
        names = [k for n in self.frame.names for k in n.keys if VALIDATION.match(k)]
        keys = names[:1] or [k for k in self.table.run.columns if VALIDATION.match(k) and self.table.held(k)][:1]
        if not keys or any(n.keys and not VALIDATION.match(n.keys[0]) for n in self.frame.names):
            return
        held = self.table.held(keys[0])
        for match, at in matches if held else ():
            step = int(match["step"] or match["zstep"])
            yield self.say(*match.span(), step == held[at], self.judge.say("count", true=held[at], shown=match.group()))

    def chain_sense(self) -> Iterator[Whole]:
        """``756 → 674 tokens, +12 %``: a change of just that size, the other way round."""
        for group in self.frame.groups:
            if group.form != "chain" or len(group.members) != 2:
                continue
            x, y = (self.frame.numbers[at] for at in group.members)
            if not x.number or not y.number or x.number * y.number < 0 or (x.unit and y.unit and x.unit != y.unit):
                continue
            for at, q in enumerate(self.frame.numbers):
                if (
                    at in group.members
                    or q.bound
                    or self.frame.clause(q.start) - self.frame.clause(y.start) not in {-1, 0, 1}
                ):
                    continue
                up = abs(y.number) > abs(x.number)
                if q.unit == "%" and x.unit != "%" and q.sign in {"+", "-"} and (q.sign == "+") != up:
                    size = abs(q.number) / 100
                    wrong = any(
                        abs(size - abs(a / b - 1)) <= 0.006 for a, b in ((x.number, y.number), (y.number, x.number))
                    )
                elif (
                    q.unit == "ratio"
                    and q.number > 1.05
                    and not up
                    and re.search("倍", q.text + self.text[q.end : q.end + 2])
                ):
                    wrong = agrees(q.number, q.half, abs(x.number / y.number)) and not re.search(
                        "[小少低短快降跌缩]", self.text
                    )
                else:
                    continue
                if wrong:
                    note = self.judge.say("shown_words", from_=x.text, to=y.text, shown=q.text)
                    yield self.say(q.start, q.end, False, note)
