"""Sentences read as a whole: how metrics went — together, up and down, until a step, with or without a trend."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from assistant.ground.cues import negated, outside
from assistant.ground.quantities import Quantity
from assistant.ground.table import agrees, median
from assistant.ground.thesaurus import directions
from assistant.ground.verdicts import plain
from assistant.ground.wholereader import Whole, WholeReader

#: A spread below this share of the level is hardly any.
LITTLE: Final = 0.10
_TOGETHER: Final = re.compile(
    r"(?i)(?P<same>\b(?:move|moved|moving|go|went|run|ran|trend|trended|head|headed)s? (?:together\b|in (?:the )?(?:same direction|step|tandem|lockstep))|走势(?:是)?(?:一致|相同|同向)|同向(?:变化|移动|运动)|同步(?:上升|下降|变化))"
    r"|(?P<other>\b(?:move|moved|moving|go|went|run|ran|trend|trended|head|headed)s? (?:in )?(?:the )?(?:opposite (?:directions?|ways)|opposite)|走势(?:是)?(?:相反|相背|不同|背离)|反向(?:变化|移动|运动)|此消彼长|背道而驰)"
)
_NO_TREND: Final = re.compile(
    r"(?i)\b(?:no|without (?:a|any)|not (?:a|any)|lacks? (?:a|any)) (?:clear |real |discernible |visible |obvious |underlying |significant |overall )?(?:trend|direction|drift)\b|\btrendless\b|没有?(?:什么|任何)?(?:明显的?|明确的?|显著的?|清晰的?)?(?:趋势|走势|方向)|(?:无|看不出)(?:明显|明确|显著)?(?:的)?(?:趋势|走势)|趋势(?:并)?不(?:明显|清楚|显著)|\bfluctuat(?:es|ed|ing) (?:without|with no)"
)
_A_TREND: Final = re.compile(
    r"(?i)(?<!no )\b(?:clear|strong|definite|unmistakable|real|significant) (?:underlying )?trend\b(?! (?:is|was) (?:absent|missing))|趋势(?:却|倒|还是|也|是)?(?:很|十分|非常|相当)?(?:明显|清楚|清晰|显著)|有(?:明显|明确|清晰|显著)的?(?:趋势|走势)"
)
_UNMOVED: Final = re.compile(
    r"(?i)\b(?:hardly|barely|scarcely) (?:moved?|moves|changed?|changes|budged?)\b|\b(?:did|does) (?:not|n't) (?:really )?(?:move|budge|change much)\b|基本(?:上)?没(?:怎么)?(?:动|变)|几乎没(?:有)?(?:动|变化|变)|没怎么(?:动|变)|纹丝(?:不|未)动|原地踏步|(?:丝毫|毫)(?:没有|未)(?:变|动)|变化(?:很|非常|极)小|波动(?:很|非常|极)小"
)
_MOVED: Final = re.compile(
    r"(?i)\b(?:swung|varied|fluctuated|moved|changed) (?:a lot|widely|wildly|considerably|substantially|a great deal)\b|\bmoved a lot\b|变化(?:很|非常|相当)大|波动(?:很|非常|相当)(?:大|剧烈)|(?:全程|一直|始终)(?:都)?在变(?!大|小|高|低|长|短|快|慢)|大起大落"
)
_SUCCESSIVE: Final = re.compile(
    r"(?i)[一逐](?:次|步|轮)比[一前](?:次|步|轮)(?:更)?(?:(?P<zup>[高大长多慢好])|(?P<zdown>[低小短少快差]))|\b(?:each|every) (?:\w+ )?(?:is |being )?(?:(?P<up>higher|larger|longer|better)|(?P<down>lower|smaller|shorter|worse)) than the (?:last|previous|one before)|\bmonoton(?:ic|ous)(?:ally)? (?:(?P<mup>ris|increas|up|climb|grow)|(?P<mdown>fall|decreas|down|declin|drop))\w*|单调(?:地)?(?:(?P<zmup>[上递]?[升增])|(?P<zmdown>[下递]?[降减]))"
)
_THERE_AND_BACK: Final = re.compile(
    r"(?i)先(?:(?P<zup>[升涨增高])|(?P<zdown>[降跌减低]))\S{0,2}后[升涨增高降跌减低]|\b(?:first )?(?:(?P<up>rises|rose|climbs|climbed|increases|increased)|(?P<down>falls|fell|drops|dropped|declines|declined))(?: first)?,? (?:and )?then (?:falls?|fell|drops|dropped|declines|rises|rose|climbs|recovers|recovered)\b"
)
_AFTER: Final = re.compile(
    r"(?i)\bfrom step \d+ on(?:wards?)?\b.{0,30}\bthan\b.{0,24}\bbefore\b|\bafter step \d+\b.{0,30}\bthan\b.{0,24}\bbefore\b|以.{0,14}为界.{0,60}后半段?.{0,60}前半段?"
)
_UNTIL: Final = re.compile(
    r"(?i)\b(?:until|till|up to)(?: around| about| roughly)? step (?P<at>\d+),?(?: and| but)?(?: has| have)?(?: then| after that| afterwards)?,?(?: it)?(?: has| have)?\s*(?P<then>[^.,;]*)|(?:到|前)\s*(?:第\s*)?(?P<zat>\d+)\s*步(?P<mid>[^，。；]{0,24})[，,；]\s*(?:之后|此后|后来|然后|随后)(?P<zthen>[^，。；]*)"
)
UP: Final = re.compile(
    rf"(?i){directions('up')}|\b(?:climb|ris|rose|grew|grow|increas|up\b|recover|rebound)|涨|升|增|变[高大长]|走高|回升"
)
DOWN: Final = re.compile(
    rf"(?i){directions('down')}|\b(?:fall|fell|drop|declin|decreas|sink|sank|slid|down\b|shr[aiu]nk)|跌|降|减|变[低小短]|回落|走低|下滑"
)
_LEVEL: Final = re.compile(
    r"(?i)\b(?:flat|plateau|level|stay|unchanged|constant)|平|持平|不变|稳定|没(?:怎么|再)?(?:变|动)"
)
_MORE: Final = r"(?i)higher|longer|larger|more|above|slower|高|大|长|多|慢"


class CourseReader(WholeReader):
    """Claims about the course of metrics."""

    def together(self) -> Iterator[Whole]:
        """``reward and KL move in opposite directions: one rises, the other falls``."""
        match = _TOGETHER.search(self.text)
        named = [n for n in self.frame.names if n.keys or n.absent]
        if match is None or len(named) < 2:
            return
        start, end = match.span()
        if gone := next((n for n in named[:2] if not n.keys), None):
            yield self.say(start, end, False, self.judge.say("no_metric", metric=gone.text.strip("`")))
            return
        one, two = (n.keys[0] for n in named[:2])
        (x, fact), (y, _) = self.trend_of(one), self.trend_of(two)
        x, y = x or self.ends(one), y or self.ends(two)
        words = [(m.start(), 1 if m.re is UP else -1) for p in (UP, DOWN) for m in p.finditer(self.text, end)]
        told = [sense for _, sense in sorted(words)]
        wanted = 1 if match["same"] else -1
        fine = x * y == wanted and (len(told) < 2 or told[:2] == [x, y])
        yield self.say(
            start,
            end,
            fine,
            f"{self.told(one)}; {self.told(two)}",
            fact,
            self._between_numbers(end) if len(told) >= 2 else [],
        )

    def _between_numbers(self, start: int) -> list[tuple[int, int]]:
        """The rest of the sentence without its numbers, which are still decided."""
        edges = [
            start,
            *(edge for q in self.frame.numbers if q.start >= start for edge in (q.start, q.end)),
            len(self.text),
        ]
        return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]

    def until(self) -> Iterator[Whole]:
        """``climbed until step 40 and then fell``, ``前 65 步还在涨，之后就走平了``."""
        match, key = _UNTIL.search(self.text), self.key()
        if match is None or key is None:
            return
        at = int(match["at"] or match["zat"])
        first = self.text[: match.start()] if match["at"] else match["mid"] or ""
        then = match["then"] or match["zthen"] or ""
        span = self.span()
        rows = self.table.finite(key, None if span and at in span else span)
        early, late = [r for r in rows if r[0] <= at], [r for r in rows if r[0] >= at]
        before, after = self._sense(first), self._sense(then)
        if before is None or after is None or len(early) < 3 or len(late) < 3:
            return
        fine, fact = True, None
        whole = max(v for _, v in rows) - min(v for _, v in rows)
        for sense, part in ((before, early), (after, late)):
            way, fact = self.trend_of(key, part)
            moved = (part[-1][1] > part[0][1]) - (part[-1][1] < part[0][1])
            third = max(1, len(part) // 3)
            level = median([v for _, v in part[-third:]]) - median([v for _, v in part[:third]])
            fine = fine and (
                way == sense
                or (sense == 0 and abs(level) <= 0.25 * whole)
                or (sense != 0 and way == 0 and level * sense > 0 and moved * sense > 0)
            )
        start = min((n.start for n in self.frame.names), default=match.start())
        yield self.say(
            start,
            match.end(),
            fine,
            self.told(key),
            fact,
            [(0, len(self.text))] if len(self.frame.numbers) == 0 else [],
        )

    def successive(self) -> Iterator[Whole]:
        """``一次比一次低``, ``each lower than the last``: every value against the one before."""
        match, names = _SUCCESSIVE.search(self.text), [n for n in self.names() if n.keys]
        if match is None or not names or negated(self.frame, match.start()):
            return
        up = any(match[name] for name in ("zup", "up", "mup", "zmup"))
        listed = next((p.steps for p in self.frame.places if len(p.steps) > 2 and p.kind == "steps"), ())
        fine = False
        for key in names[0].keys[:3]:
            rows = [(s, v) for s, v in self.table.finite(key, self.span()) if not listed or s in listed]
            steady = len(rows) > 1 and all((y - x) * (1 if up else -1) > 0 for (_, x), (_, y) in pairwise(rows))
            fine = fine or steady
        yield self.say(*match.span(), fine, self.told(names[0].keys[0]))

    def there_and_back(self) -> Iterator[Whole]:
        """``先升后降``, ``rises first, then falls``: the turn lies inside, well beyond both ends."""
        match, key = _THERE_AND_BACK.search(self.text), self.key()
        if match is None or key is None:
            return
        wanted = 1 if match["zup"] or match["up"] else -1
        spans = [self.span()]
        if any(p.kind == "range" and match.start() <= p.start < match.end() for p in self.frame.places):
            spans.append(None)  # "rose over the first 30 steps, then fell": what it did after lies beyond those
        stretches = [rows for span in spans if len(rows := self.table.finite(key, span)) > 2]
        if not stretches:
            return
        fine = any(self._turns(rows, wanted) for rows in stretches)
        yield self.say(*match.span(), fine, self.told(key))

    @staticmethod
    def _sense(text: str) -> int | None:
        found = [(m.start(), way) for way, p in ((1, UP), (-1, DOWN), (0, _LEVEL)) for m in p.finditer(text)]
        return min(found)[1] if found else None

    @staticmethod
    def _turns(rows: Sequence[tuple[int, float]], wanted: int) -> bool:
        """Whether a course has its top (1) or bottom (-1) inside, well beyond both ends."""
        turn = max(v * wanted for _, v in rows[1:-1])
        whole = max(v for _, v in rows) - min(v for _, v in rows)
        return turn - max(rows[0][1] * wanted, rows[-1][1] * wanted) > 0.1 * whole

    def after(self) -> Iterator[Whole]:
        """``on average higher from step 30 on than before``; means given in brackets are the two stretches'."""
        match = _AFTER.search(self.text)
        if match is None:
            return
        start, end = match.span()
        names = self.names()
        if names and not names[0].keys:
            yield self.say(start, end, False, self.judge.say("no_metric", metric=names[0].text.strip("`")))
            return
        key, places = self.key(), [p for p in self.frame.places if p.steps]
        sense = 1 if re.search(_MORE, outside(self.frame, 0, len(self.text))) else -1
        if key is None or not places:
            return
        at = places[0].steps[0]
        options = []
        for shift in (0, 1):
            early = [v for s, v in self.table.finite(key) if s < at + shift]
            late = [v for s, v in self.table.finite(key) if s >= at + shift]
            if early and late:
                options.append((sum(early) / len(early), sum(late) / len(late)))
        if not options:
            return
        numbers = [q for q in self.frame.numbers if not any(p.start <= q.start < p.end for p in places)]
        fine = any((y - x) * sense > 0 and self._both(key, numbers, x, y) for x, y in options)
        x, y = options[0]
        note = self.judge.say("rose" if y > x else "fell", metric=key, first=self.table.steps[0], second=self.table.steps[-1],
                              from_=plain(x), to=plain(y))  # fmt: skip
        yield self.say(0, len(self.text), fine, note)

    def _both(self, key: str, numbers: Sequence[object], x: float, y: float) -> bool:
        given = [q for q in numbers if isinstance(q, Quantity)]
        if len(given) != 2:
            return not given
        fits = [
            any(agrees(n, h, v) for n, h in self.table.readings(q, key, v)) for q, v in zip(given, (y, x), strict=True)
        ]
        return all(fits)

    def trend(self) -> Iterator[Whole]:
        """``no trend underneath``, ``虽有波动，趋势却很明显``."""
        none = _NO_TREND.search(self.text)
        some = None if none else _A_TREND.search(self.text)
        match = none or some
        names = self.names()
        if match is None or not names:
            return
        start, end = match.span()
        if not names[0].keys:
            yield self.say(start, end, False, self.judge.say("no_metric", metric=names[0].text.strip("`")))
            return
        key = names[0].keys[0]
        rows = self.table.finite(key, self.span())
        if len(rows) < 4:
            yield self.say(start, end, None)
            return
        way, fact = self.trend_of(key, rows)
        spread = max(v for _, v in rows) - min(v for _, v in rows)
        noisy = re.search(r"(?i)\bnois[ey]|fluctuat|波动|起伏|抖动|噪声", self.text)
        fine = (way == 0 and not (noisy and spread == 0)) if none else way != 0
        if none and way != 0 and len(rows) > 20 and abs(rows[-1][1] - rows[0][1]) < 0.25 * spread:
            fine = True  # a slight drift in much noise
        covers = [(m.start(), m.end()) for m in re.finditer(r"(?i)fluctuat\w*|波动", self.text)]
        yield self.say(start, end, fine, self.told(key), fact, covers)

    def moved(self) -> Iterator[Whole]:
        """``hardly moved``, ``变化很大``: the spread over the run against the level."""
        still = _UNMOVED.search(self.text)
        match = still or _MOVED.search(self.text)
        key = self.key()
        if match is None or key is None or (still is None and negated(self.frame, match.start())):
            return
        singles = [p.steps[0] for p in self.frame.places if len(p.steps) == 1]
        span = (min(singles), max(singles)) if len(singles) == 2 == len(self.frame.places) else self.span()
        values = [v for _, v in self.table.finite(key, span)]
        if len(values) < 2:
            return
        size = max(map(abs, values))
        spread = (max(values) - min(values)) / size if size else 0.0
        rows = self.table.finite(key, span)
        if still and len(self.frame.numbers) >= 2 and abs(rows[-1][1] - rows[0][1]) <= LITTLE * size:
            fine: bool | None = True  # the two ends are told
        elif still:
            fine = True if spread <= LITTLE else False if spread > 3 * LITTLE else None
        elif re.search(r"在变", match.group()):
            fine = spread > 0
        else:
            fine = True if spread >= 0.25 else False if spread <= LITTLE else None
        note = self.judge.say("range", metric=key, low=plain(min(values)), high=plain(max(values)), shown=match.group())
        yield self.say(*match.span(), fine, note)
