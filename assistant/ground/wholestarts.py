"""Sentences read as a whole: from which step a metric is logged, since when it is NaN, at how many of all steps it stands.

``entropy only starts at step 1; step 0 has none``, ``from step 26 on grad_norm is NaN``, ``logged at 91 of the 103 steps``.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from assistant.ground.cues import negated
from assistant.ground.wholereader import Whole, WholeReader

#: A metric's first step, told with no value: "only starts at step 1", "从 step 1 才开始记录".
_BEGINS: Final = re.compile(
    r"(?i)(?:\b(?:only |just |first )?(?:starts?|started|begins?|began|appears?|appeared|shows up|showed up)(?: (?:only|being (?:logged|recorded)|to be (?:logged|recorded)))?|\b(?:is|are|was|were) (?:only |first |only first )(?:logged|recorded|reported|printed|available|there))(?: first)? (?:at|from|with|on|in)\s*\0(?: (?:on|onwards?))?"
    r"|\b(?:is|are|was|were) (?:only )?(?:logged|recorded|reported|printed|available|there) (?:only )?(?:from \0(?: (?:on|onwards?))?|since \0|starting (?:at|from|with) \0)"
    r"|(?:从|自)\s*\0\s*(?:才)?(?:起|开始)?(?:才)?(?:有(?:了)?(?:记录|数值|数据|值)?|开始(?:有)?(?:记录|打印|出现|记|有)|记录|打印|出现)|(?:最早|首次|第一次)(?:出现|记录|打印)(?:在|于|是)\s*\0"
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
#: "91 of the 103 steps", "103 步里只有 91 步".
_SO_MANY_OF: Final = re.compile(
    r"(?i)(?P<some>\d{1,6}) (?:out )?of (?:the |all |all the |its )?(?P<all>\d{1,6}) (?:logged |training |printed |recorded )?(?:steps|rows|records|iterations)\b(?P<lacks>\s+(?:have no|has no|had no|lack|are without|do not (?:have|hold|log)|don't (?:have|hold|log)|are missing|miss)\b)?"
    r"|缺(?:了|少了?|失)?\s*(?P<lsome>\d{1,6})\s*(?:个\s?)?步[（(，,\s]*(?:一共|总共|共|全部)\s*(?P<lall>\d{1,6})\s*(?:个\s?)?步"
    r"|(?P<zall>\d{1,6})\s*(?:个\s?)?(?:步|step|条记录)(?:里|中|当中|之中|里面)(?:面)?(?:只|仅|共|总共)?(?:有|在)?\s*(?P<zsome>\d{1,6})\s*(?:个\s?)?(?:步|条|次)"
)


class StartReader(WholeReader):
    """Claims on where a metric's values begin, and where they stop being numbers."""

    def begins(self) -> Iterator[Whole]:
        """``entropy only starts at step 1``: its first step, and that none stands at the one before."""
        key, places = self.key(), [p for p in self.frame.places if len(p.steps) == 1]
        if key is None or not places or len(places) != len(self.frame.places):
            return
        if any(q.unit not in {"steps", "points"} for q in self.frame.numbers):
            return  # "a minimum of 8 tokens shows up at step 2": a value, not its first
        held = self.table.held(key)
        for place in places if held else ():
            shown = f"{self.text[: place.start]}\0{self.text[place.end :]}"
            match = next((m for m in _BEGINS.finditer(shown) if m.start() <= place.start < m.end()), None)
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
