"""Sentences that are read as a whole: what two metrics do together, whether there is a trend, halves of the steps.

What such a sentence says does not lie in one number or one word of it, so that it is decided before those are; the
characters that it covers are then left alone.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.cues import negated, outside
from assistant.ground.deciding import Decision
from assistant.ground.judging import Judge
from assistant.ground.lexicon import Named
from assistant.ground.table import agrees, median
from assistant.ground.verdicts import Status, plain
from assistant.model import Fact

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
    r"(?i)\b(?:hardly|barely|scarcely) (?:moved?|moves|changed?|changes|budged?)\b|\b(?:did|does) (?:not|n't) (?:really )?(?:move|budge|change much)\b|基本(?:上)?没(?:怎么)?(?:动|变)|几乎没(?:有)?(?:动|变化|变)|没怎么(?:动|变)|纹丝(?:不|未)动|变化(?:很|非常|极)小|波动(?:很|非常|极)小"
)
_MOVED: Final = re.compile(
    r"(?i)\b(?:swung|varied|fluctuated|moved|changed) (?:a lot|widely|wildly|considerably|substantially|a great deal)\b|\bmoved a lot\b|变化(?:很|非常|相当)大|波动(?:很|非常|相当)(?:大|剧烈)|(?:全程|一直|始终)(?:都)?在变(?!大|小|高|低|长|短|快|慢)|大起大落"
)
_HALF: Final = re.compile(
    r"(?i)(?P<more>\b(?:more than|over) (?:a )?half|\bmost|\bthe majority|超过一半|(?:大|多)半|大部分|多数)(?: of)?(?:的)?(?: the| all)?(?: logged| training)? ?(?:steps?|步|points)"
    r"|(?P<less>\b(?:fewer|less) than half|\ba minority|不到一半|不足一半|少于一半|小半|少数)(?: of)?(?:的)?(?: the| all)?(?: logged| training)? ?(?:steps?|步|points)"
)
_HALF_SHARE: Final = re.compile(
    r"(?i)(?P<more>\b(?:more than|over) half|超过.{0,16}的?一半|一半以上|过半)|(?P<less>\b(?:less than|under) half|不到.{0,16}的?一半|不足.{0,16}一半|一半都不到)"
)
_SIGN: Final = re.compile(
    r"(?i)(?P<up>\b(?:is|was|i\.e\.,?|being|stays|remains|an?|turns?|turned|goes|went|becomes?|became|starts?|opens|ends?) (?:\w+ )?positive\b|转正|变正|为正(?!常|则)|是正的|正数|大于零)|(?P<down>\b(?:is|was|i\.e\.,?|being|stays|remains|an?|turns?|turned|goes|went|becomes?|became|starts?|opens|ends?) (?:\w+ )?negative\b|转负|变负|为负(?!责)|是负的|负数|小于零)"
)
_TALLIED: Final = re.compile(r"(?i)\s*(?:of\b|out of\b|steps?\b|times\b|rows\b|records?\b|个|次|步|条)")
_SUCCESSIVE: Final = re.compile(
    r"(?i)[一逐](?:次|步|轮)比[一前](?:次|步|轮)(?:更)?(?:(?P<zup>[高大长多慢好])|(?P<zdown>[低小短少快差]))|\b(?:each|every) (?:\w+ )?(?:is |being )?(?:(?P<up>higher|larger|longer|better)|(?P<down>lower|smaller|shorter|worse)) than the (?:last|previous|one before)|\bmonoton(?:ic|ous)(?:ally)? (?:(?P<mup>ris|increas|up|climb|grow)|(?P<mdown>fall|decreas|down|declin|drop))\w*|单调(?:地)?(?:(?P<zmup>[上递]?[升增])|(?P<zmdown>[下递]?[降减]))"
)
_THERE_AND_BACK: Final = re.compile(
    r"(?i)先(?:(?P<zup>[升涨增高])|(?P<zdown>[降跌减低]))\S{0,2}后[升涨增高降跌减低]|\b(?:first )?(?:(?P<up>rises|rose|climbs|climbed|increases|increased)|(?P<down>falls|fell|drops|dropped|declines|declined))(?: first)?,? (?:and )?then (?:falls?|fell|drops|dropped|declines|rises|rose|climbs|recovers|recovered)\b"
)
_ORDER: Final = re.compile(r"(?i)\ban order of magnitude\b|(?<!两)(?:一|1 ?)个数量级")
_ONLY: Final = re.compile(
    r"(?P<step>step\s*\d+|第\s*\d+\s*步)\D{0,8}只有(?P<has>训练|验证)(?:集)?(?:的)?指标(?:[，,]\s*(?:而)?没有(?P<not>训练|验证)(?:集)?(?:的)?指标)?|(?i:\bstep (?P<estep>\d+) (?:only (?:has|holds|logs)|(?:has|holds|logs) only) (?P<ehas>training|validation) metrics)"
)
_NEARER: Final = re.compile(
    r"(?i)(?P<near>离参考(?:模型|策略)(?:越来越近|更近了?)|(?:向|朝)参考(?:模型|策略)靠拢|\bcloser to the reference|\bback (?:to|towards?) the reference)|(?P<far>离参考(?:模型|策略)(?:越来越远|更远了?)|(?:与|偏离)参考(?:模型|策略)越(?:来越|走越)远|\b(?:further|farther) (?:away )?from the reference|\b(?:drift(?:s|ed|ing)?|moving|moved|moves) away from the reference)"
)
_AFTER: Final = re.compile(
    r"(?i)\bfrom step \d+ on(?:wards?)?\b.{0,30}\bthan\b.{0,24}\bbefore\b|\bafter step \d+\b.{0,30}\bthan\b.{0,24}\bbefore\b|以.{0,14}为界.{0,60}后半段?.{0,60}前半段?"
)
_UNTIL: Final = re.compile(
    r"(?i)\b(?:until|till|up to)(?: around| about| roughly)? step (?P<at>\d+),?(?: and| but)?(?: has| have)?(?: then| after that| afterwards)?,?(?: it)?(?: has| have)?\s*(?P<then>[^.,;]*)|(?:到|前)\s*(?:第\s*)?(?P<zat>\d+)\s*步(?P<mid>[^，。；]{0,24})[，,；]\s*(?:之后|此后|后来|然后|随后)(?P<zthen>[^，。；]*)"
)
_UP: Final = re.compile(
    r"(?i)\b(?:climb|ris|rose|grew|grow|increas|up\b|recover|rebound)|涨|升|增|变[高大长]|走高|回升"
)
_DOWN: Final = re.compile(
    r"(?i)\b(?:fall|fell|drop|declin|decreas|sink|sank|slid|down\b|shr[aiu]nk)|跌|降|减|变[低小短]|回落|走低|下滑"
)
_LEVEL: Final = re.compile(
    r"(?i)\b(?:flat|plateau|level|stay|unchanged|constant)|平|持平|不变|稳定|没(?:怎么|再)?(?:变|动)"
)
_SHARE_OF_STEP: Final = re.compile(
    r"(?i)(?:只剩|相当于|是|为|降到|跌到|升到|涨到|达到)(?:了)?\s*(?:第\s*|step\s*)(?P<zbase>\d+)\s*步?(?:时)?的\s*(?:约|大约)?\s*\x00|\x00\s*of (?:what it was|its (?:value|level)|the (?:value|level))(?: (?:at|in|on))? step (?P<base>\d+)"
)
_ACCURATE: Final = re.compile(
    r"(?i)\b(?:critic|value (?:function|model|head|estimates?|predictions?))\b[^.;]{0,50}\b(?:accurate|reliable|precise|well[- ]calibrated|trustworthy)\b|(?:critic|价值(?:函数|模型|估计|网络)?)[^。；]{0,24}(?:很|十分|非常|相当|比较)?(?:准确|可靠|精确|准)(?!率|备)"
)
_MORE: Final = r"(?i)higher|longer|larger|more|above|slower|高|大|长|多|慢"
_EXPLAINED: Final = ("critic/vf_explained_var", "vf_explained_var", "val/explained_variance", "critic/explained_var")


@dataclass(frozen=True, slots=True)
class Whole:
    """A claim that a sentence makes as a whole, and the stretches of it that need no more deciding."""

    start: int
    end: int
    decision: Decision
    covers: tuple[tuple[int, int], ...]


def wholes(frame: Frame, judge: Judge, idle: Sequence[bool]) -> list[Whole]:
    """What a sentence says as a whole."""
    found: list[Whole] = []
    reader = _Wholes(frame, judge)
    for read in reader.readers():
        for whole in read():
            if not idle[frame.clause(whole.start)] and not any(
                a.start < whole.end and whole.start < a.end for a in found
            ):
                found.append(whole)
    return found


class _Wholes:
    """Reads one sentence."""

    def __init__(self, frame: Frame, judge: Judge) -> None:
        self.frame, self.judge, self.table = frame, judge, judge.table
        self.text = frame.text

    def readers(self) -> tuple[Callable[[], Iterator[Whole]], ...]:
        """All readings, those that cover most first."""
        return (self.together, self.successive, self.there_and_back, self.until, self.after, self.trend, self.moved, self.half, self.half_share, self.of_step,
                self.order, self.nearer, self.only, self.sign, self.accurate)  # fmt: skip

    # -- help ----------------------------------------------------------------------------------------
    def names(self) -> list[Named]:
        """The metrics named, else the one carried over."""
        own = [n for n in self.frame.names if n.keys or n.absent]
        return own or [n for n in self.frame.carried.names if n.keys][-1:]

    def key(self) -> str | None:
        """The metric, where exactly one is named (an aggregate of it beside it is the same)."""
        held = [n for n in self.names() if n.keys]
        return held[0].keys[0] if held and len({n.keys[0] for n in held}) == 1 else None

    def trend_of(self, key: str, rows: Sequence[tuple[int, float]] | None = None) -> tuple[int, str | None]:
        """Which way a metric goes: 1, −1 or 0, and the fact."""
        whole = rows is None or len(rows) == len(self.table.finite(key))
        fact = self.table.ledger.trend(key, None if whole else [s for s, _ in rows or ()], self.table.run)
        if fact is None:
            return 0, None
        return {"rising": 1, "falling": -1}.get(str(fact.direction), 0), fact.id

    def say(  # noqa: PLR0917
        self, start: int, end: int, fine: bool | None, note: str = "", fact: str | None = None,
        covers: Sequence[tuple[int, int]] = (),
    ) -> Whole:  # fmt: skip
        """A claim decided; ``None``: neither borne out nor against the log."""
        status: Status = "supported" if fine else "unsupported" if fine is None else "contradicted"
        decision = Decision(
            status, "" if fine else note or self.judge.say("judgement", shown=self.text[start:end]), fact
        )
        return Whole(start, end, decision, ((start, end), *covers))

    def told(self, key: str) -> str:
        """How a metric went, as a reason."""
        rows = self.table.finite(key)
        (a, x), (b, y) = rows[0], rows[-1]
        word = "rose" if y > x else "fell" if y < x else "same"
        return self.judge.say(word, metric=key, first=a, second=b, from_=plain(x), to=plain(y))

    def span(self) -> tuple[int, int] | None:
        """The stretch of steps named."""
        return next((tuple(p.steps) for p in self.frame.places if p.kind == "range"), None)  # type: ignore[return-value]

    # -- readings ------------------------------------------------------------------------------------
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
        x, y = x or self._ends(one), y or self._ends(two)
        words = [(m.start(), 1 if m.re is _UP else -1) for p in (_UP, _DOWN) for m in p.finditer(self.text, end)]
        told = [sense for _, sense in sorted(words)]
        wanted = 1 if match["same"] else -1
        fine = x * y == wanted and (len(told) < 2 or told[:2] == [x, y])
        yield self.say(
            start,
            end,
            fine,
            f"{self.told(one)}; {self.told(two)}",
            fact,
            [(end, len(self.text))] if len(told) >= 2 else [],
        )

    def _ends(self, key: str) -> int:
        rows = self.table.finite(key)
        return (rows[-1][1] > rows[0][1]) - (rows[-1][1] < rows[0][1]) if rows else 0

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
        rows = self.table.finite(key, self.span())
        if len(rows) < 3:
            return
        wanted = 1 if match["zup"] or match["up"] else -1
        turn = max(v * wanted for _, v in rows[1:-1])
        whole = max(v for _, v in rows) - min(v for _, v in rows)
        fine = turn - max(rows[0][1] * wanted, rows[-1][1] * wanted) > 0.1 * whole
        yield self.say(*match.span(), fine, self.told(key))

    @staticmethod
    def _sense(text: str) -> int | None:
        found = [(m.start(), way) for way, p in ((1, _UP), (-1, _DOWN), (0, _LEVEL)) for m in p.finditer(text)]
        return min(found)[1] if found else None

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
        from assistant.ground.quantities import Quantity

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
        values = [v for _, v in self.table.finite(key, self.span())]
        if len(values) < 2:
            return
        size = max(map(abs, values))
        spread = (max(values) - min(values)) / size if size else 0.0
        rows = self.table.finite(key, self.span())
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

    def half(self) -> Iterator[Whole]:
        """``in fewer than half of the steps grad norm was over 0.4``."""
        match, key = _HALF.search(self.text), self.key()
        bounds = [q for q in self.frame.numbers if q.bound]
        if match is None or key is None or len(bounds) != 1:
            return
        bound, rows = bounds[0], self.table.finite(key, self.span())
        held = self.table.readings(bound, key)
        if not rows or not held:
            return
        count = sum(any(agrees(n, 0.0, v, bound=bound.bound) and v != n for n, _ in held) for _, v in rows)
        fine = count * 2 > len(rows) if match["more"] else count * 2 < len(rows)
        yield self.say(
            *match.span(),
            fine,
            self.judge.say("count", true=count, shown=match.group()),
            covers=[(bound.start, bound.end)],
        )

    def half_share(self) -> Iterator[Whole]:
        """``generation is less than half of step 11``."""
        match, total = _HALF_SHARE.search(self.text), self.table.total_time()
        held = [n for n in self.frame.names if n.keys and n.keys[0] != total]
        if match is None or total is None or not held or self.table.kind(held[0].keys[0]) != "seconds":
            return
        key = held[0].keys[0]
        steps = (
            [s for p in self.frame.places for s in p.steps] or list(self.frame.carried.steps) or self.table.held(key)
        )
        shares = [
            a / b for s in steps if (a := self.table.value(key, s)) is not None and (b := self.table.value(total, s))
        ]
        if not shares:
            return
        mean = sum(shares) / len(shares)
        fine = mean > 0.5 if match["more"] else mean < 0.5
        note = self.judge.say("share", metric=key, step=steps[-1], true=f"{plain(mean * 100, 3)}%", shown=match.group())
        yield self.say(*match.span(), fine, note, covers=[(0, len(self.text))] if not self.frame.numbers else [])

    def of_step(self) -> Iterator[Whole]:
        """``down to 80% of what it was at step 1``, ``只剩第 1 步的 82%``."""
        for q in self.frame.numbers:
            if q.unit != "%" or re.search(r"(?i)占比|份额|\bshare\b", self.text):
                continue
            masked = self.text[: q.start] + "\x00" + self.text[q.end :]
            match, name = _SHARE_OF_STEP.search(masked), next((n for n in self.names() if n.keys), None)
            if match is None or name is None:
                continue
            base = int(match["base"] or match["zbase"])
            others = [s for p in self.frame.places for s in p.steps if s != base]
            for key in name.keys[:3]:
                at = others[0] if others else (self.table.held(key) or [base])[-1]
                x, y = self.table.value(key, base), self.table.value(key, at)
                if not x or y is None or not math.isfinite(x) or not math.isfinite(y):
                    continue
                if (
                    re.search(r"[是为]\s*$", self.text[: match.start() + 1])
                    and self.judge.cell(q, key, base).status == "supported"
                ):
                    continue  # "the peak is step 9's 4.68%": its value
                fact = self.table.ledger.change(key, base, at, self.table.run)
                fine = agrees(q.number, q.half, 100 * y / x, bound=q.bound)
                down = _DOWN.search(self.text) or "只剩" in self.text
                fine = fine and not (down and y > x) and not (_UP.search(self.text) and y < x)
                note = self.judge.changes.told_change(key, base, at, x, y, q)
                yield self.say(
                    q.start,
                    q.end,
                    fine,
                    note,
                    fact.id if fact else None,
                    [(0, len(self.text))] if len(self.frame.numbers) == 1 else [],
                )
                break

    def order(self) -> Iterator[Whole]:
        """``an order of magnitude larger at step 53 than at step 28``."""
        match, names = _ORDER.search(self.text), self.names()
        if match is None:
            return
        if not names:
            if len(self.frame.places) > 1:
                yield self.say(*match.span(), None, self.judge.say("unknown_subject"))
            return
        if not names[0].keys:
            yield self.say(*match.span(), False, self.judge.say("no_metric", metric=names[0].text.strip("`")))
            return
        key = names[0].keys[0]
        pairs = self.judge.changes.pairs(self.frame, match.start(), key, None)
        for a, b in pairs[:1]:
            x, y = self.table.value(key, a), self.table.value(key, b)
            if not x or not y:
                return
            down = re.search(r"(?i)smaller|lower|less|shorter|fell|drop|小|低|少|降", self.text)
            ratio = abs(x / y) if down else abs(y / x)
            note = self.judge.say(
                "rose" if y > x else "fell", metric=key, first=a, second=b, from_=plain(x), to=plain(y)
            )
            yield self.say(*match.span(), 5 <= ratio <= 20, note, covers=[(match.start(), len(self.text))])

    def nearer(self) -> Iterator[Whole]:
        """``closer and closer to the reference``: the divergence from it."""
        match = _NEARER.search(self.text)
        keys = [k for n in self.frame.names for k in n.keys if re.search(r"(?i)kl", k)]
        keys += [
            k
            for k in ("actor/kl_loss", "kl", "actor/ref_kl", "critic/kl", "actor/ppo_kl")
            if k in self.table.run.columns
        ]
        if match is None or not keys:
            return
        way, fact = self.trend_of(keys[0])
        way = way or self._ends(keys[0])
        yield self.say(*match.span(), way == (-1 if match["near"] else 1), self.told(keys[0]), fact)

    def only(self) -> Iterator[Whole]:
        """``step 0 holds only validation metrics``."""
        match = _ONLY.search(self.text)
        if match is None:
            return
        from assistant.ground.counting import VALIDATION

        step = int(re.sub(r"\D", "", match["step"] or match["estep"]))
        has = match["has"] or match["ehas"]
        keys = [
            k
            for k in self.table.run.columns
            if self.table.value(k, step) is not None and not re.search(r"(?i)step|epoch", k)
        ]
        own = {bool(VALIDATION.match(key)) for key in keys if not key.startswith(("timing", "perf/"))}
        fine = own == {has in {"验证", "validation"}}
        yield self.say(
            *match.span(), fine, self.judge.say("held", metric=keys[0] if keys else "", step=step, true="", line=0)
        )

    def sign(self) -> Iterator[Whole]:
        """``pg_loss is positive (-1.2e-2)``: against the number beside it, else against the cell."""
        counted = any(
            self.judge.counting.is_count(self.frame, q) or _TALLIED.match(self.text[q.end :])
            for q in self.frame.numbers
        )
        for match in () if counted else _SIGN.finditer(self.text):
            names = [n for n in self.names() if n.keys]
            clause = [
                q
                for q in self.frame.numbers
                if abs(self.frame.clause(q.start) - self.frame.clause(match.start())) <= 1 and not q.bound
            ]
            if (
                not names
                or negated(self.frame, match.start())
                or re.search(r"(?i)\bsteps?\b.{0,12}(?:positive|negative)|步", match.group())
            ):
                continue
            steps = [s for p in self.frame.places for s in p.steps if p.kind != "range"]
            values = [v for s in steps[:1] if (v := self.table.value(names[0].keys[0], s)) is not None]
            shown = [q.number for q in clause if not q.unit][:1]
            if re.search(r"(?i)\bturn|\bgo|\bwent|\bbec|转|变", match.group()):  # where it ends up
                ends = [q.number for q in self.frame.numbers if not q.unit and not q.bound and q.start >= match.end()]
                shown, steps = ends[-1:], [s for p in self.frame.places for s in p.steps if p.kind != "range"][-1:]
                values = [v for s in steps if (v := self.table.value(names[0].keys[0], s)) is not None]
            if not values and not shown:
                continue
            wanted = 1 if match["up"] else -1
            if any(v * wanted <= 0 for v in (*values, *shown)):
                yield self.say(
                    *match.span(),
                    False,
                    self.judge.say("shown_words", from_=plain((values or shown)[0]), to="", shown=match.group()),
                )

    def accurate(self) -> Iterator[Whole]:
        """``the critic's estimates are accurate``: only a high explained variance bears that out."""
        match = _ACCURATE.search(self.text)
        if match is None or negated(self.frame, match.end() - 4):
            return
        for key in _EXPLAINED:
            values = [v for _, v in self.table.finite(key)] if key in self.table.run.columns else []
            if values:
                level = median(values[-max(1, len(values) // 3) :])
                fact: Fact | None = self.table.ledger.value(key, self.table.held(key)[-1], self.table.run)
                yield self.say(*match.span(), level >= 0.8, self.told(key), fact.id if fact else None)
                return
        yield self.say(*match.span(), None)
