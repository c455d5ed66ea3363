"""Sentences read as a whole: from which step a metric is logged, since when it is NaN, at how many of all steps it stands.

``entropy only starts at step 1; step 0 has none``, ``from step 26 on grad_norm is NaN``, ``logged at 91 of the 103 steps``.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final

from assistant.ground.cues import negated
from assistant.ground.places import Place
from assistant.ground.wholereader import Whole, WholeReader

#: A metric's first step, told with no value: "only starts at step 1", "从 step 1 才开始记录".
_BEGINS: Final = re.compile(
    r"(?i)(?:\b(?:only |just |first )?(?:starts?|started|begins?|began|appears?|appeared|shows up|showed up)(?: (?:only|being (?:logged|recorded)|to be (?:logged|recorded)))?|\b(?:is|are|was|were) (?:only |first |only first )(?:logged|recorded|reported|printed|available|there))(?: first)? (?:at|from|with|on|in)\s*\0(?: (?:on|onwards?))?"
    r"|\b(?:is|are|was|were) (?:only )?(?:logged|recorded|reported|printed|available|there) (?:only )?(?:from \0(?: (?:on|onwards?))?|since \0|starting (?:at|from|with) \0)"
    r"|(?:从|自)\s*\0\s*(?:才)?(?:起|开始)?(?:才)?(?:有(?:了)?(?:记录|数值|数据|值)?|开始(?:有)?(?:记录|打印|出现|记|有)|记录|打印|出现)|(?:最早|首次|第一次)(?:出现|记录|打印)(?:在|于|是)\s*\0"
)
#: "不是每步都有": some steps hold none.
_NOT_EACH: Final = re.compile(
    r"(?i)(?:并?不是|并非)每(?:一)?(?:个\s?)?(?:步|step)都(?:有|记录?|打印?|做)了?|\b(?:is|are|was|were) not (?:logged|recorded|there|available|present|reported) (?:at|on|in|for) (?:every|each) step\b"
)
#: What is told beside it of a step before: "step 0 has none", "step 0 没有".
_NONE_THERE: Final = re.compile(
    r"(?i)\0 (?:has|had|holds?|shows?) (?:none|nothing|no (?:such )?(?:value|entry|reading))\b|\b(?:none|nothing|not|no value) (?:at|for|on|in) \0|\0\s*(?:还|都|则|里|中|时)?(?:没有|没|无)(?:它|值|数值|记录|数据|这一项)?(?=\s*(?:[，,。；;）)]|$))"
)
#: A metric's first NaN: "from step 26 on it is NaN", "goes from 0.4 at step 25 to NaN at step 26".
_NAN_SINCE: Final = re.compile(
    r"(?i)\bfrom\s*\0(?: (?:on|onwards?))?,?(?: all(?: of)?| every)?[^.;\d]{0,40}\bNaNs?\b|\bsince\s*\0,?[^.;\d]{0,40}\bNaNs?\b"
    r"|\b(?:turns?|turned|becomes?|became|goes|went|gone|going|to|flips? to|hits?)(?: (?:all|only|just))? (?:into )?NaNs? (?:at|from|on|in|starting (?:at|from|with)|since)\s*\0(?: (?:on|onwards?))?|\b(?:is|are)(?: (?:all|only|just))? NaNs? (?:from|starting (?:at|from|with)|since)\s*\0(?: (?:on|onwards?))?"
    r"|(?:从|自)\s*\0\s*(?:起|开始|之后|以后|往后)?[^。；\d]{0,16}NaN|\0\s*(?:起|开始)[^。；\d]{0,16}NaN"
)
#: NaN behind the last finite value: "everything after is NaN", "之后都是 NaN".
_NAN_AFTER: Final = re.compile(
    r"(?i)\b(?:everything|all(?: (?:values|steps|of them|later values|later steps|that follows?))?|the rest|every(?: later)? (?:step|value)) ?(?:(?:after|from) (?:that|it|there|then|this)|after(?:wards)?|behind it|thereafter|later|from there on)? (?:is|are|was|were|reads?) (?:all |only )?NaNs?\b|\b(?:NaNs?) (?:ever since|afterwards|after (?:that|it)|thereafter|from (?:there|then) on)\b"
    r"|(?:之后|此后|以后|往后|后面|其后|随后)(?:的)?(?:值|步|数值)?(?:就|则|也)?(?:都|全|全部|均|一直|便)*(?:变成|成了|为|是)?了?\s*NaN"
)
#: Before a number: the last value that is one, "最后一个正常值是", "the last finite value is".
_LAST_FINITE: Final = re.compile(
    r"(?i)(?:\blast (?:finite|valid|normal|usable|proper|non-nan) (?:value|number|reading|one|entry)|最后(?:一个|一次|的)?(?:正常|有限|有效|可用|非\s?nan)的?(?:数?值|记录|读数|数)?)(?: (?:is|was|of|before that is|before it was)|是|为|停在|[:：=])?\s*(?:约|about |around )?[`*]*$"
)
#: "91 of the 103 steps", "103 步里只有 91 步".
_SO_MANY_OF: Final = re.compile(
    r"(?i)(?P<some>\d{1,6}) (?:out )?of (?:the |all |all the |its )?(?P<all>\d{1,6}) (?:logged |training |printed |recorded )?(?:steps|rows|records|iterations)\b(?P<lacks>\s+(?:have no|has no|had no|lack|are without|do not (?:have|hold|log)|don't (?:have|hold|log)|are missing|miss)\b)?"
    r"|缺(?:了|少了?|失)?\s*(?P<lsome>\d{1,6})\s*(?:个\s?)?步[（(，,\s]*(?:一共|总共|共|全部)\s*(?P<lall>\d{1,6})\s*(?:个\s?)?步"
    r"|(?P<zall>\d{1,6})\s*(?:个\s?)?(?:步|step|条记录)(?:里|中|当中|之中|里面)(?:面)?(?:只|仅|共|总共)?(?:有|在)?\s*(?P<zsome>\d{1,6})\s*(?:个\s?)?(?:步|条|次)"
)


_FROM: Final = re.compile(r"(?i)(?:from|since|starting (?:at|from|with)) step")


class StartReader(WholeReader):
    """Claims on where a metric's values begin, and where they stop being numbers."""

    def begins(self) -> Iterator[Whole]:
        """``entropy only starts at step 1``: its first step, and that none stands at the one before."""
        key, places = self.key(), [p for p in self.frame.places if len(p.steps) == 1 or self._onwards(p)]
        if key is None and len(self.frame.names) == 1 and self.frame.names[0].absent:
            yield from self._begins_not(places)
        if key is None or not places or len(places) != len(self.frame.places):
            return
        if any(q.unit not in {"steps", "points"} for q in self.frame.numbers):
            return  # "a minimum of 8 tokens shows up at step 2": a value, not its first
        held = self.table.held(key)
        for place in places if held else ():
            since = "from " if self._onwards(place) else ""
            shown = f"{self.text[: place.start]}{since}\0{self.text[place.end :]}"
            at = place.start + len(since)
            match = next((m for m in _BEGINS.finditer(shown) if m.start() <= at < m.end()), None)
            if match is None or negated(self.frame, match.start()):
                continue
            step = held[0]
            note = self.judge.say("held", metric=key, step=step, true=self.table.value(key, step), line=0)
            covers = [(n.start, n.end) for n in self.frame.names]
            fine = place.steps[0] == step
            for other in places:
                if other is place or not _NONE_THERE.search(f"{self.text[: other.start]}\0{self.text[other.end :]}"):
                    continue
                fine = fine and other.steps[0] in self.table.steps and other.steps[0] not in held
                covers.append((match.start(), len(self.text)))
            fact = self.table.ledger.value(key, step, self.table.run)
            yield self.say(match.start(), place.end, fine, note, fact.id if fact else None, covers)
            return

    def _begins_not(self, places: Sequence[Place]) -> Iterator[Whole]:
        """A metric that the log does not hold begins at no step."""
        name = self.frame.names[0]
        for place in places:
            shown = f"{self.text[: place.start]}\0{self.text[place.end :]}"
            if any(m.start() <= place.start < m.end() for m in _BEGINS.finditer(shown)):
                note = self.judge.say("no_metric", metric=name.text.strip("`"))
                yield self.say(name.start, place.end, False, note, covers=[(0, len(self.text))])
                return

    def not_each(self) -> Iterator[Whole]:
        """``验证得分不是每步都有``: at least one step holds none."""
        match, key = _NOT_EACH.search(self.text), self.key()
        if match is None or key is None:
            return
        held = set(self.table.held(key))
        gone = [step for step in self.table.steps if step not in held]
        yield self.say(*match.span(), bool(gone), self.judge.say("count", true=len(held), shown=match.group()))

    def _onwards(self, place: Place) -> bool:
        """Whether steps are those from one on: "from step 1 on"."""
        return (
            place.kind == "range"
            and place.steps[-1] == self.table.steps[-1]
            and _FROM.match(self.text, place.start) is not None
        )

    def nan_since(self) -> Iterator[Whole]:
        """``from step 26 on grad_norm is NaN``: no step before is, and each one after."""
        key = self.key()
        if key is None or "nan" not in self.text.lower():
            return
        nans = self._nans(key)
        if not nans:
            return
        for place in self.frame.places:
            onwards = place.kind == "range" and place.steps[-1] == self.table.steps[-1]  # "from step 28 on"
            if not onwards and len(place.steps) != 1:
                continue
            mark = f"from \0 {self.text[place.end :]}" if onwards else f"\0{self.text[place.end :]}"
            shown = self.text[: place.start] + mark
            match = next(
                (m for m in _NAN_SINCE.finditer(shown) if m.start() <= place.start + 5 * onwards < m.end()), None
            )
            if match is None or negated(self.frame, min(match.start(), place.start)):
                continue
            note = self.judge.say("nan", metric=key, step=nans[0], line=self._line_of(key, nans[0]))
            yield self.say(min(match.start(), place.start), place.end, place.steps[0] == nans[0], note)
            return

    def nan_after(self) -> Iterator[Whole]:
        """``the last finite grad norm is 0.42, at step 25; everything after is NaN``."""
        key, match = self.key(), _NAN_AFTER.search(self.text)
        if key is None or match is None or negated(self.frame, match.start()):
            return
        nans, held = self._nans(key), self.table.held(key)
        told = [p.steps[0] for p in self.frame.places if len(p.steps) == 1 and p.end <= match.start()]
        told = told or list(self.frame.carried.steps)
        if not held:
            return
        since = told[-1] if told else None
        finite = [s for s in held if s not in set(nans)]
        fine = bool(nans) and bool(finite) and finite[-1] < nans[0] and since == finite[-1]
        note = self.judge.say("nan", metric=key, step=nans[0], line=self._line_of(key, nans[0])) if nans else ""
        yield self.say(*match.span(), fine, note)

    def last_finite(self) -> Iterator[Whole]:
        """``此前最后一个正常值是 0.42（step 25）``: the value, and its step, right before the first NaN."""
        key = self.key()
        if key is None or not (nans := self._nans(key)):
            return
        for q in self.frame.numbers:
            match = _LAST_FINITE.search(self.text, max(0, q.start - 60), q.start)
            rows = [(s, v) for s, v in self.table.finite(key) if s < nans[0]]
            if match is None or q.bound or not rows:
                continue
            decided = self.judge.cell(q, key, rows[-1][0])
            place = next((p for p in self.frame.places if 0 <= p.start - q.end < 12 and len(p.steps) == 1), None)
            fine = decided.status == "supported" and (place is None or place.steps[0] == rows[-1][0])
            note = decided.reason if decided.status != "supported" else self.judge.say(
                "held", metric=key, step=rows[-1][0], true=rows[-1][1], line=self._line_of(key, rows[-1][0])
            )  # fmt: skip
            yield self.say(match.start(), place.end if place else q.end, fine, note, decided.fact)

    def so_many_of(self) -> Iterator[Whole]:
        """``logged at 103 of the 91 steps``: all of the steps are those of the log, and no fewer than some of them."""
        match = _SO_MANY_OF.search(self.text)
        if match is None or any(q.bound for q in self.frame.numbers):
            return
        if (lacked := self._lacking(match)) is not None:
            yield lacked
        if match["lacks"] or match["lsome"]:
            return
        some, every = (int(match[a] or match[b]) for a, b in (("some", "zsome"), ("all", "zall")))
        if some > every:
            note = self.judge.say("count", true=len(self.table.steps), shown=str(every))
            yield self.say(*match.span(), False, note)

    def _lacking(self, match: re.Match[str]) -> Whole | None:
        """``12 of 103 steps have no timing``, ``缺了 12 步（共 103 步）``: all of them, and those that hold no value."""
        key = self.key()
        if key is None or not (match["lacks"] or match["lsome"]):
            return None
        some, every = (int(match[a] or match[b]) for a, b in (("some", "lsome"), ("all", "lall")))
        total, gone = len(self.table.steps), len(self.table.steps) - len(self.table.held(key))
        note = self.judge.say("count", true=f"{gone}/{total}", shown=match.group())
        return self.say(*match.span(), (some, every) == (gone, total), note, covers=[(0, len(self.text))])

    def _nans(self, key: str) -> list[int]:
        return [
            step
            for step in self.table.held(key)
            if (value := self.table.value(key, step)) is not None and math.isnan(value)
        ]

    def _line_of(self, key: str, step: int) -> int:
        cell = self.table.run.cell(key, step)
        return cell.line if cell else 0
