"""Sentences read as a whole: halves compared, a step taken as 100 %, values not all within bounds, the step of a turn."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from assistant.ground.counting import VALIDATION
from assistant.ground.cues import bare, negated
from assistant.ground.table import agrees
from assistant.ground.verdicts import plain
from assistant.ground.wholeextremes import _TURNED, ExtremeReader
from assistant.ground.wholereader import Whole

_MORE: Final = r"(?:higher|greater|larger|longer|bigger|more|slower|above)"
_LESS: Final = r"(?:lower|smaller|shorter|less|fewer|faster|below)"
_PART: Final = r"(?P<part{0}>half|third|quarter)"
_ZPART: Final = r"(?P<part{0}>半(?:程|段|期|部分)|一半|三分之一|四分之一)"
_HALVES: Final = re.compile(
    rf"(?i)\b(?P<side>first|second|latter|last|early|late|final)(?:er)? {_PART.format('a')}\b[^.;]*?\b(?:(?P<more>{_MORE})|(?P<less>{_LESS}))\b[^.;]*?\b(?:than|the)\b[^.;]*?\b(?:first|second|latter|last|early|late|final)(?:er)? (?:half|third|quarter)\b"
    rf"|\b(?:(?P<amore>{_MORE})|(?P<aless>{_LESS})) (?:in|over|during|for|on average in|on average over) the (?P<aside>first|second|latter|last|final) {_PART.format('b')} than (?:in|over|during|for) the (?:first|second|former|other|last)"
    rf"|(?P<zside>前|后|最初|最后)的?{_ZPART.format('c')}[^。；]*?(?:(?P<zmore>高于|大于|长于|多于|超过|胜过|慢于)|(?P<zless>低于|小于|短于|少于|不及|逊于|快于))[^。；]*?(?:[前后]|最初|最后)的?(?:半(?:程|段|期|部分)|一半|三分之一|四分之一)"
    rf"|(?P<bside>前|后|最初|最后)的?{_ZPART.format('d')}[^。；]*?比[^。；]*?(?:[前后]|最初|最后)的?(?:半(?:程|段|期|部分)|一半|三分之一|四分之一)[^。；]*?(?:(?P<bmore>[高大长多慢])|(?P<bless>[低小短少快]))"
)
_INDEX: Final = re.compile(
    r"(?i)以\s*(?:第\s*|step\s*)?(?P<zbase>\d+)\s*步?[^，。]{0,8}?(?:为|作|当作?|记作|算作?)\s*(?P<zone>100\s?%|1(?![\d.])|基准|基数|参照|起点)"
    r"|\b(?:tak(?:e|ing)|set(?:ting)?|call(?:ing)?|with|count(?:ing)?|index(?:ed|ing)? (?:to|on))\s+(?:the value (?:at|of) )?step (?P<base>\d+)\s*(?:(?:as|at|to|=|being|is)\s*)?(?P<one>100\s?%|1(?![\d.])|base(?:line)?\b)"
    r"|\b(?:relative to|against) step (?P<rbase>\d+),? [^.;]{0,60}\b(?:is|was|sits|stands) at\s*(?=[\d~])"
)
#: "Of steps 3 and 9 it is step 9 that has the higher …", 更高的是 step 9.
_WHICH: Final = re.compile(
    rf"(?i)\b(?:it is|it's|it was) step (?P<a>\d+) (?:that|which) (?:has|had|shows?|holds?|logs?) the (?:(?P<amore>{_MORE}|highest|largest)|(?P<aless>{_LESS}|lowest|smallest))\b"
    rf"|\bthe (?:(?P<bmore>{_MORE})|(?P<bless>{_LESS}))\b[^.;]{{0,50}}?\b(?:belongs to|is (?:at|on|that of|the one of)|comes (?:at|on|from)|occurs at|falls on) step (?P<b>\d+)"
    r"|更?(?:(?P<cmore>[高大长多慢])|(?P<cless>[低小短少快]))的(?:那?一?步)?(?:是|属于|在)\s*(?:第\s*|step\s*)(?P<c>\d+)"
    r"|第?\s*(?P<d>\d+)\s*步[^，。；]{0,3}(?:(?P<dmore>高)|(?P<dless>低))\s*[、，,]\s*(?:第\s*|step\s*)(?P<dother>\d+)\s*步?[^，。；]{0,3}[高低](?![于过])"
)
_AT_STEP: Final = (
    r"(?:\s*(?:is|was|being|lies?|lay|falls?|fell|comes?|came|occurs?|occurred|reached|seen|found))?\s*(?:at|on|in)\s*$"
)
_AT_ZH: Final = r"(?:值|点)?(?:则|也|均|都)?(?:出现|落|位于|处|达)?(?:在|于|是|为)\s*$"
_HIGH_AT: Final = re.compile(
    rf"(?i)\b(?:maximum|max|peak|highest (?:value|point|level)|all-time high|top)(?: value| point)?{_AT_STEP}|(?:峰值|最大值|最高点|最高值|顶点){_AT_ZH}"
)
_LOW_AT: Final = re.compile(
    rf"(?i)\b(?:minimum|min|trough|lowest (?:value|point|level)|all-time low|bottom)(?: value| point)?{_AT_STEP}|(?:谷值|谷底|最小值|最低点|最低值){_AT_ZH}"
)
_LATEST: Final = re.compile(
    r"(?i)^\W*(?:and |with )?(?:the )?(?:latest|last|most recent|newest)(?: one| of them| eval\w*| validation\w*)?\s*(?:[:：,—-]|is|was|came|ran|falls|fell|took place)*\s*(?:at |on |in )?step (?P<step>\d+)\W*$"
    r"|^\W*(?:其中)?(?:最近|最后|最新)(?:的)?(?:一次|一个)(?:验证|评测|评估)?\s*[：:，,是在为于]*\s*(?:第\s*|step\s*)(?P<zstep>\d+)\s*步?\W*$"
)
_NOT_ALL: Final = re.compile(
    r"(?i)\bnot (?:every|all|each)\b|\b(?:some|a few) (?:of the )?values? [^.;]{0,30}\b(?:outside|beyond)\b|并不(?:都|全)|不都|并非(?:都|全|所有|每)|不全|没有全部"
)


class PartReader(ExtremeReader):
    """Claims about parts of the run, and about one step against another."""

    def halves(self) -> Iterator[Whole]:
        """``averaged over the second half it is higher than over the first``, ``后半程的均值低于前半程``."""
        match, names = _HALVES.search(self.text), [n for n in self.names() if n.keys or n.absent]
        if match is None or not names or self.frame.numbers:
            return
        groups = match.groupdict()
        if not names[0].keys:
            yield self.say(*match.span(), False, self.judge.say("no_metric", metric=names[0].text.strip("`")))
            return
        side = next(groups[g] for g in ("side", "aside", "zside", "bside") if groups[g]).lower()
        more = any(groups[g] for g in ("more", "amore", "zmore", "bmore"))
        later = side in {"second", "latter", "last", "late", "final", "后", "最后"}
        told = next(groups[f"part{g}"] for g in "abcd" if groups[f"part{g}"])
        count = next(
            (n for word, n in (("third", 3), ("三分", 3), ("quarter", 4), ("四分", 4)) if word in told.lower()), 2
        )
        note, fact = "", None
        for key in names[0].keys[:3]:
            rows = self.table.finite(key)
            if len(rows) < 2 * count:
                continue
            first, second = self._means(rows, count)
            note = note or self.judge.say("rose" if second > first else "fell", metric=key, first=rows[0][0],
                                          second=rows[-1][0], from_=plain(first), to=plain(second))  # fmt: skip
            if (second - first) * (1 if more == later else -1) > 0:
                fact = self.table.aggregate("level", key, second, rows[-(len(rows) // count) :])
                yield self.say(*match.span(), True, "", fact, [(0, len(self.text))])
                return
        if note:
            yield self.say(*match.span(), False, note, None, [(0, len(self.text))])

    @staticmethod
    def _means(rows: list[tuple[int, float]], parts: int) -> tuple[float, float]:
        size = len(rows) // parts
        early, late = [v for _, v in rows[:size]], [v for _, v in rows[-size:]]
        return sum(early) / size, sum(late) / size

    def index(self) -> Iterator[Whole]:
        """``若以第 20 步为 100%，第 60 步就是 126%``, ``relative to step 360, step 1080 is at 81.6%``."""
        match = _INDEX.search(self.text)
        names = [n for n in self.names() if n.keys or n.absent]
        if match is None or not names:
            return
        base = int(match["zbase"] or match["base"] or match["rbase"])
        told = [q for q in self.frame.numbers if not match.start() <= q.start < match.end() and q.unit in {"%", "ratio", "factor", ""}]  # fmt: skip
        others = [s for p in self.frame.places if p.kind != "range" for s in p.steps if s != base]
        others += [int(n) for n in re.findall(r"(\d+)\s*步", self.text[match.end() :])[:1] if not others]
        if len(told) != 1 or len(set(others)) > 1:
            return
        q, whole = told[0], [(0, len(self.text))]
        if not names[0].keys:
            yield self.say(q.start, q.end, False, self.judge.say("no_metric", metric=names[0].text.strip("`")), None, whole)  # fmt: skip
            return
        note = ""
        for key in names[0].keys[:3]:
            held = self.table.held(key)
            at = others[0] if others else held[-1] if held else base
            x, y = self.table.value(key, base), self.table.value(key, at)
            if not x or y is None or not math.isfinite(x) or not math.isfinite(y):
                continue
            scale = 100.0 if q.unit == "%" else 1.0
            fact = self.table.ledger.change(key, base, at, self.table.run)
            note = note or self.judge.changes.told_change(key, base, at, x, y, q)
            if agrees(q.number, q.half, scale * y / x, bound=q.bound):
                yield self.say(q.start, q.end, True, "", fact.id if fact else None, whole)
                return
        yield self.say(q.start, q.end, False if note else None, note, None, whole)

    def which(self) -> Iterator[Whole]:
        """``of steps 3 and 9, it is step 9 that has the higher reward``: two steps, and which of them is ahead."""
        match, names = _WHICH.search(self.text), [n for n in self.names() if n.keys]
        if match is None or not names or self.frame.numbers:
            return
        groups = match.groupdict()
        form = next(name for name in ("a", "b", "c", "d") if groups[name])
        step, more = int(groups[form]), bool(groups[f"{form}more"])
        others = {s for p in self.frame.places if p.kind != "range" for s in p.steps} - {step}
        if len(others) != 1:
            return
        other, note = others.pop(), ""
        for key in names[0].keys[:3]:
            x, y = self.table.value(key, other), self.table.value(key, step)
            if x is None or y is None:
                continue
            fact = self.table.ledger.change(key, other, step, self.table.run)
            if (y - x) * (1 if more else -1) > 0:
                yield self.say(*match.span(), True, "", fact.id if fact else None, [(0, len(self.text))])
                return
            note = note or self.judge.say("rose" if y > x else "fell", metric=key, first=other, second=step, from_=plain(x), to=plain(y))  # fmt: skip
        yield self.say(*match.span(), False if note else None, note, None, [(0, len(self.text))])

    def latest(self) -> Iterator[Whole]:
        """``(evals so far: 22.) The latest one: step 94``: the last step that was validated, or that holds the metric."""
        match = _LATEST.search(self.text)
        if match is None or self.frame.names:
            return
        step = int(match["step"] or match["zstep"])
        keys = [key for name in self.frame.carried.names for key in name.keys[:3]]
        keys = keys or [key for key in self.table.run.columns if VALIDATION.match(key)]
        last = {held[-1] for key in keys if (held := self.table.held(key))} or set(self.table.steps[-1:])
        note = self.judge.say("count", true=max(last), shown=str(step)) if last else ""
        yield self.say(*match.span(), step in last, note)

    def not_within(self) -> Iterator[Whole]:
        """``not every value falls between 130 and 260``: one lies outside."""
        match, names = _NOT_ALL.search(self.text), [n for n in self.names() if n.keys]
        group = next((g for g in self.frame.groups if g.form == "range"), None)
        if match is None or not names or group is None or len(group.members) != 2:
            return
        low, high = (self.frame.numbers[at] for at in group.members)
        low = low if low.unit else low.in_unit_of(high)
        for key in names[0].keys[:1]:
            values = [v for _, v in self.table.finite(key, self.span())]
            bounds = [self.table.readings(q, key) for q in (low, high)]
            if not values or not all(bounds):
                return
            (a, da), (b, db) = bounds[0][0], bounds[1][0]
            fine = min(values) < a - da or max(values) > b + db
            note = self.judge.say("range", metric=key, low=plain(min(values)), high=plain(max(values)), shown=low.text)
            yield self.say(match.start(), high.end, fine, note, None, [(0, len(self.text))])

    def extreme_at(self) -> Iterator[Whole]:
        """``(step 3: 0.2, step 9: 0.4) rose, with the maximum at step 30``, ``峰值在第 30 步``: beside other numbers."""
        names = [n for n in self.names() if n.keys]
        if not self.frame.numbers or len({n.keys[0] for n in names}) != 1 or self.span() or names[0].statistic:
            return
        for place in self._singles():
            lead = bare(self.frame, max(0, place.start - 40), place.start)
            for high, pattern in ((True, _HIGH_AT), (False, _LOW_AT)):
                if (match := pattern.search(lead)) and not negated(self.frame, place.start - len(lead) + match.start()):
                    start = place.start - len(lead) + match.start()
                    yield from self._stands_out((start, place.end), names[0].keys, names[0].text, place.steps[0], high=high)  # fmt: skip

    def turned_at(self) -> Iterator[Whole]:
        """``it was step 22 where grad norm bottomed out, at 0.437``: the step is that of the extreme."""
        matches = list(_TURNED.finditer(self.text))
        names = [n for n in self.frame.names if n.keys]
        singles = self._singles()
        if len(matches) != 1 or len(singles) != 1 or len({n.keys[0] for n in names}) != 1 or self.span():
            return
        match, clause = matches[0], self.frame.clause(matches[0].start())
        if self.frame.clause(singles[0].start) != clause or negated(self.frame, match.start()):
            return
        if len(self.frame.numbers) != 1 or self.frame.numbers[0].bound:
            return
        yield from self._stands_out(match.span(), names[0].keys, names[0].text, singles[0].steps[0], high=bool(match["max"]))  # fmt: skip
