"""Sentences read as a whole: which step is the extreme of all, at which steps alone something holds, what came after a peak."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from assistant.ground.cues import bare, cue, negated
from assistant.ground.places import Place
from assistant.ground.table import agrees
from assistant.ground.verdicts import plain
from assistant.ground.wholecourses import CourseReader
from assistant.ground.wholereader import Whole

_HIGH: Final = r"(?:high|large|big|great|long|slow|much|many)"
_LOW: Final = r"(?:low|small|short|little|few|fast|quick)"
_NO_OTHER: Final = re.compile(
    rf"(?i)\b(?:no|not one|none of the|not a single) (?:other )?(?:\w+ )?(?:steps?|iterations?|updates?|points?)\b[^.;]*?(?:\bas (?:(?P<high>{_HIGH})|(?P<low>{_LOW})) as|\b(?P<more>(?:higher|larger|bigger|greater|longer|slower|more)\b[^.;]*?\bthan)|\b(?P<less>(?:lower|smaller|shorter|less|fewer|faster|quicker)\b[^.;]*?\bthan))"
    rf"|\b(?:(?P<amore>higher|larger|bigger|greater|longer|slower|more)|(?P<aless>lower|smaller|shorter|less|faster|quicker)) than (?:at |on |in )?(?:any|every|all|each)(?: of the)? (?:other|else)"
    r"|(?:没有|无)(?:哪|任何|其他|别的|一)?(?:一?个|一)?(?:步|step)[^，。；]*?比[^，。；]*?更?(?:(?P<zmore>[高大长多慢])|(?P<zless>[低小短少快]))"
)
_ONLY_AT: Final = re.compile(
    r"(?i)\bonly (?:at|on|in|for|during)\b|\b(?:exactly|precisely|just) (?:once|twice|\w+ times)\b|\bat no other\b|\bnowhere else\b|\bon no other\b|(?:只|仅)(?:有)?在|其(?:他|余)(?:步|各步|时候|步数)?(?:都|均)?(?:没|不|未)"
)
_SINCE: Final = re.compile(
    r"(?i)\bever since\b|\bfrom there(?: on)?\b|\bsince then\b|\band (?:has|have) been\b|\bafter (?:that|which)\b|之后|此后|以来|随后|往后"
)
_TURNED: Final = re.compile(
    r"(?i)(?P<max>\b(?:peak(?:s|ed|ing)?|top(?:s|ped|ping)? out|max(?:es|ed)? out|crest(?:s|ed)?)|见顶|到顶|登顶|达到?(?:峰值|最高点|顶点))|(?P<min>\bbottom(?:s|ed|ing)? out|\btrough(?:s|ed)?|见底|触底|探底|达到?(?:谷底|最低点))"
)
_BOUNDS: Final = re.compile(
    r"(?i)\b(?:log|file|recording|run)\b[^.;]{0,12}?\b(?:starts|begins|opens) (?:at|with|on|from) step (?P<first>\d+)|(?:\b(?:log|file|recording|run)\b[^.;]{0,40}?)?\b(?:breaks off|cuts off|stops|ends) (?:at|with|on|after) step (?P<last>\d+)(?=\s*(?:[.;,]|$))"
    r"|(?:日志|记录)从第?\s*(?P<zfirst>\d+)\s*步(?:开始|起|记)|(?:日志|记录)[^，。；]{0,12}(?:止于|断在|停在|截止到|结束于)第?\s*(?P<zlast>\d+)\s*步"
)


class ExtremeReader(CourseReader):
    """Claims about steps that stand out."""

    def no_other(self) -> Iterator[Whole]:
        """``no other step has entropy as high as step 5``, ``没有哪一步的熵比第 5 步更高``."""
        match, name = _NO_OTHER.search(self.text), next(iter(self.names()), None)
        singles = self._singles()
        if match is None or name is None or len(singles) != 1 or len(self.frame.numbers) > 1:
            return
        if any(q.bound or match.start() <= q.start < match.end() for q in self.frame.numbers):
            return  # one value beside it is judged by itself
        high = any(match[group] for group in ("high", "more", "amore", "zmore"))
        yield from self._stands_out(match.span(), name.keys, name.text, singles[0].steps[0], high=high)

    def ends_of(self) -> Iterator[Whole]:
        """``the maximum falls on step 5, the minimum on step 9``: each clause with its own end and its own step."""
        singles = self._singles()
        if len(singles) < 2 or self.frame.numbers or len(singles) != len(self.frame.places):
            return
        told = []
        for place in singles:
            start = max([0, *(p.end for p in singles if p.end <= place.start)])
            words = bare(self.frame, start, place.start)
            high, low = bool(cue("maximum").search(words)), bool(cue("minimum").search(words))
            names = [n for n in self.frame.names if n.start >= start and n.end <= place.start] or self.names()[:1]
            if high == low or not names:
                return
            told.append((start, place, names[-1], high))
        for start, place, name, high in told:
            yield from self._stands_out((start, place.end), name.keys, name.text, place.steps[0], high=high)

    def _stands_out(
        self, span: tuple[int, int], keys: Sequence[str], shown: str, step: int, *, high: bool
    ) -> Iterator[Whole]:
        if not keys:
            yield self.say(*span, False, self.judge.say("no_metric", metric=shown.strip("`")))
            return
        first, fine, fact = "", False, None
        for key in keys[:3]:
            rows = self.table.finite(key)
            if not rows:
                continue
            best = (max if high else min)(v for _, v in rows)
            at = next(s for s, v in rows if v == best)
            held = self.table.ledger.value(key, at, self.table.run)
            first = first or self.judge.say("extreme_step", metric=key, step=at, true=plain(best))
            if self.table.value(key, step) == best:
                fine, fact = True, held.id if held else None
                break
        yield self.say(*span, fine, first, fact)

    def only_at(self) -> Iterator[Whole]:
        """``above 10 only at steps 10, 20 and 50``: the steps listed are all at which the bound holds."""
        match, key = _ONLY_AT.search(self.text), self.key()
        bounds = [q for q in self.frame.numbers if q.bound]
        listed = {s for p in self.frame.places if p.kind == "steps" for s in p.steps}
        if (
            match is None
            or key is None
            or len(bounds) != 1
            or not listed
            or any(p.kind == "range" for p in self.frame.places)
        ):
            return
        bound = bounds[0]
        held = self.table.readings(bound, key)
        there = {
            s
            for s, v in self.table.finite(key)
            if any(agrees(n, 0.0, v, bound=bound.bound) and v != n for n, _ in held)
        }
        if not held or negated(self.frame, match.start()):
            return
        note = self.judge.say(
            "count", true=", ".join(map(str, sorted(there)[:12])), shown=", ".join(map(str, sorted(listed)))
        )
        yield self.say(bound.start, bound.end, there == listed, note, covers=[(0, len(self.text))])

    def since_turn(self) -> Iterator[Whole]:
        """``topped out on step 41 and has been falling ever since``: the extreme, and how it went on from there."""
        match, name = _TURNED.search(self.text), next(iter(self.names()), None)
        after, singles = _SINCE.search(self.text), self._singles()
        if match is None or after is None or name is None or len(singles) != 1 or self.frame.numbers:
            return
        way = self._sense(self.text[: match.start()] + " " + self.text[match.end() :])
        step, high = singles[0].steps[0], bool(match["max"])
        span, whole = match.span(), [(0, len(self.text))]
        if not name.keys:
            yield self.say(*span, False, self.judge.say("no_metric", metric=name.text.strip("`")), covers=whole)
            return
        for key in name.keys[:1]:
            rows = self.table.finite(key)
            late = [row for row in rows if row[0] >= step]
            if not rows or way is None:
                return
            best = (max if high else min)(v for _, v in rows)
            at = next(s for s, v in rows if v == best)
            if self.table.value(key, step) != best:
                yield self.say(
                    *span, False, self.judge.say("extreme_step", metric=key, step=at, true=plain(best)), covers=whole
                )
                return
            trend, fact = self.trend_of(key, late) if len(late) > 3 else (0, None)
            moved = (late[-1][1] > late[0][1]) - (late[-1][1] < late[0][1]) if len(late) > 1 else 0
            fine = way != 0 and moved == way and trend in {way, 0}
            yield self.say(*span, fine, self.told(key), fact, covers=whole)

    def log_bounds(self) -> Iterator[Whole]:
        """``the log starts at step 1 and breaks off at step 63``: against the log's first and last step."""
        for match in _BOUNDS.finditer(self.text):
            step = int(match["first"] or match["last"] or match["zfirst"] or match["zlast"])
            steps = self.table.steps
            at_start = bool(match["first"] or match["zfirst"])
            if not steps or self.frame.names:
                return
            fine = step in (steps[:2] if at_start else steps[-1:])  # step 0 before training is no step of it
            note = self.judge.say("count", true=steps[0 if at_start else -1], shown=match.group())
            yield self.say(*match.span(), fine, note)

    def _singles(self) -> list[Place]:
        return [p for p in self.frame.places if len(p.steps) == 1 and p.kind == "steps"]
