"""Sentences that are read as a whole: courses, halves of the steps, shares of another step, signs.

What such a sentence says does not lie in one number or one word of it, so that it is decided before those are; the
characters that it covers are then left alone.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.cues import negated
from assistant.ground.judging import Judge
from assistant.ground.table import agrees, median
from assistant.ground.verdicts import plain
from assistant.ground.wholechinese import ChineseReader
from assistant.ground.wholecosts import CostReader
from assistant.ground.wholecourses import DOWN, UP
from assistant.ground.wholelevels import LevelReader
from assistant.ground.wholepairs import PairReader
from assistant.ground.wholereader import Whole
from assistant.ground.wholestarts import StartReader
from assistant.model import Fact

_HALF: Final = re.compile(
    r"(?i)(?P<more>\b(?:more than|over) (?:a )?half|\bmost|\bthe majority|超过一半|(?:大|多)半|大部分|多数)(?: of)?(?:的)?(?: the| all)?(?: logged| training)? ?(?:steps?|步|points)"
    r"|(?P<less>\b(?:fewer|less) than half|\ba minority|不到一半|不足一半|少于一半|小半|少数)(?: of)?(?:的)?(?: the| all)?(?: logged| training)? ?(?:steps?|步|points)"
)
_HALF_SHARE: Final = re.compile(
    r"(?i)(?P<more>\b(?:more than|over) half|超过.{0,16}的?一半|一半以上|过半)|(?P<less>\b(?:less than|under) half|不到.{0,16}的?一半|不足.{0,16}一半|一半都不到)"
)
_SIGN: Final = re.compile(
    r"(?i)(?P<up>\b(?:above|over) zero\b|高于零|零以上|大于 ?0(?![.\d])|\b(?:is|was|i\.e\.,?|being|stays|remains|an?|turns?|turned|goes|went|becomes?|became|starts?|opens|ends?) (?:\w+ )?positive\b|转正|变正|为正(?!常|则)|是正的|正数|大于零)|(?P<down>\b(?:below|under|beneath) zero\b|低于零|零以下|小于 ?0(?![.\d])|\b(?:is|was|i\.e\.,?|being|stays|remains|an?|turns?|turned|goes|went|becomes?|became|starts?|opens|ends?) (?:\w+ )?negative\b|转负|变负|为负(?!责)|是负的|负数|小于零)"
)
_ALWAYS: Final = re.compile(
    r"(?i)(?:一直|始终|都|均|全程|总|每步)(?:保持)?(?:是|为)(?:(?P<up>正)|负)(?:数|的|值)?(?![常则确责面向])|\b(?:always|stays?|stayed|remains?|remained|is always|keeps?) (?:(?P<eup>positive|above zero)|negative|below zero)\b"
)
_TALLIED: Final = re.compile(r"(?i)\s*(?:of\b|out of\b|steps?\b|times\b|rows\b|records?\b|个|次|步|条)")
_ORDER: Final = re.compile(r"(?i)\ban order of magnitude\b|(?<!两)(?:一|1 ?)个数量级")
_ONLY: Final = re.compile(
    r"(?P<step>step\s*\d+|第\s*\d+\s*步)\D{0,8}只有(?P<has>训练|验证)(?:集)?(?:的)?指标(?:[，,]\s*(?:而)?没有(?P<not>训练|验证)(?:集)?(?:的)?指标)?|(?i:\bstep (?P<estep>\d+) (?:only (?:has|holds|logs)|(?:has|holds|logs) only) (?P<ehas>training|validation) metrics)"
)
_NEARER: Final = re.compile(
    r"(?i)(?P<near>离参考(?:模型|策略)(?:越来越近|更近了?)|(?:向|朝)参考(?:模型|策略)靠拢|\bcloser to the reference|\bback (?:to|towards?) the reference)|(?P<far>离参考(?:模型|策略)(?:越来越远|更远了?)|(?:与|偏离)参考(?:模型|策略)越(?:来越|走越)远|\b(?:further|farther) (?:away )?from the reference|\b(?:drift(?:s|ed|ing)?|moving|moved|moves) away from the reference)"
)
_SHARE_OF_STEP: Final = re.compile(
    r"(?i)(?:只剩|相当于|是|为|降到|跌到|升到|涨到|达到)(?:了)?\s*(?:第\s*|step\s*)(?P<zbase>\d+)\s*步?(?:时)?的\s*(?:约|大约)?\s*\x00|\x00\s*of (?:what it was|its (?:value|level)|the (?:value|level))(?: (?:at|in|on))? step (?P<base>\d+)|\x00\s*of (?:its|the) step[- ](?P<sbase>\d+) (?:value|level|figure)"
    r"|\x00\s*of (?:that|those|the one|the figure)(?: (?:at|in|on|of|from))? step (?P<that>\d+)|占(?:了)?\s*(?:第\s*|step\s*)(?P<part>\d+)\s*步?(?:时)?的?\s*(?:约|大约)?\s*\x00"
)
_ACCURATE: Final = re.compile(
    r"(?i)\b(?:critic|value (?:function|model|head|estimates?|predictions?))\b[^.;]{0,50}\b(?:accurate|reliable|precise|well[- ]calibrated|trustworthy)\b|(?:critic|价值(?:函数|模型|估计|网络)?)[^。；]{0,24}(?:很|十分|非常|相当|比较)?(?:准确|可靠|精确|准)(?!率|备)"
)
_EXPLAINED: Final = ("critic/vf_explained_var", "vf_explained_var", "val/explained_variance", "critic/explained_var")


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


class _Wholes(ChineseReader, PairReader, StartReader, CostReader, LevelReader):
    """Reads one sentence."""

    def readers(self) -> tuple[Callable[[], Iterator[Whole]], ...]:
        """All readings, those that cover most first."""
        return (self.shaped, self.chinese, self.spelt_behind, self.computed, self.gpu_hours, self.steps_an_hour, self.paired_sides, self.ends_of_validation, self.begins, self.not_each, self.nan_since, self.last_finite, self.nan_after, self.so_many_of, self.ranked, self.against_level, self.against_step, self.logged_so_often, self.portion_of_level, self.after_that, self.thing_at, self.covers, self.side, self.longest_phase, self.whole_of, self.never_past, self.first_and_last, self.chain_sense, self.equal_parts, self.always, self.of_these, self.portion, self.any_step, self.range_factor, self.statistics_ratio, self.for_a_second, self.all_but, self.pace,
                self.log_bounds, self.halves, self.index, self.which, self.latest, self.not_within, self.turned_at, self.extreme_at, self.since_turn, self.no_other, self.only_at, self.ends_of, self.together, self.successive, self.there_and_back, self.until, self.after, self.trend, self.moved, self.half, self.half_share, self.of_step,
                self.order, self.nearer, self.only, self.sign, self.accurate)  # fmt: skip

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
        here = [p for p in self.frame.places if self.frame.clause(p.start) == self.frame.clause(match.start())]
        near = sorted(here, key=lambda p: abs(p.start - match.end()))[:1] or self.frame.places
        steps = [s for p in near for s in p.steps] or list(self.frame.carried.steps) or self.table.held(key)
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
            base = int(next(found for found in match.groups() if found))
            others = [s for p in self.frame.places for s in p.steps if s != base]
            if not others and (match["that"] or match["part"]):
                continue  # "生成占第 9 步的 46%": of its time
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
                down = DOWN.search(self.text) or "只剩" in self.text
                fine = fine and not (down and y > x) and not (UP.search(self.text) and y < x)
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
        way = way or self.ends(keys[0])
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

    def always(self) -> Iterator[Whole]:
        """``从第 44 步起一直是正数``, ``stays negative throughout``: at each step of the stretch, or of the run."""
        match, key = _ALWAYS.search(self.text), self.key()
        if (
            match is None
            or key is None
            or negated(self.frame, match.start())
            or any(len(p.steps) == 1 for p in self.frame.places)
        ):
            return
        rows = self.table.finite(key, self.span() or self.frame.carried.span)
        wanted = 1 if match["up"] or match["eup"] else -1
        if rows:
            odd = next(((s, v) for s, v in rows if v * wanted <= 0), None)
            note = "" if odd is None else self.judge.say("held", metric=key, step=odd[0], true=plain(odd[1]), line=0)
            fact = self.table.ledger.value(key, (odd or rows[-1])[0], self.table.run)
            yield self.say(*match.span(), odd is None, note, fact.id if fact else None)

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
                if abs(self.frame.clause(q.start) - self.frame.clause(match.start())) <= 1
                and not q.bound
                and (q.start >= match.start() or not self._placed_apart(q.start, match.start()))
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

    def _placed_apart(self, one: int, two: int) -> bool:
        """Whether each of two clauses names steps of its own: what one says is not said of the other."""
        here, there = self.frame.clause(one), self.frame.clause(two)
        held = {self.frame.clause(p.start) for p in self.frame.places}
        return here != there and {here, there} <= held

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
