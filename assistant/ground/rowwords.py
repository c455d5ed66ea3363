"""Words in a table's cells, and the numbers in its rows that stand under no metric's name."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from assistant.ground.cues import cue
from assistant.ground.deciding import Decision
from assistant.ground.headers import HeaderReader, of_steps
from assistant.ground.lexicon import Named
from assistant.ground.places import Place
from assistant.ground.quantities import Quantity, quantities
from assistant.ground.sentences import Unit
from assistant.ground.table import median
from assistant.ground.verdicts import Claim, as_shown

_ALONE: Final = re.compile(
    r"[\s`*~≈约]*[-+−]?\d[\d.,]*\s*(?:%|s|ms|min|GB|GiB|秒|分钟|[kKMB万]|tokens?(?:/s)?)?[\s`*]*"
)
#: Titles of columns that hold no value of a step's metrics.
_NO_METRIC: Final = re.compile(
    r"(?i)epoch|date|time ?stamp|rank|cumul|elapsed|累计|日期|时刻|排名|序号|\bno\.?\b|#|note|备注|target|goal|目标|limit|threshold|阈值|expected|预期|change|Δ|变化|差"
)
_TIMED: Final = re.compile(r"(?i)[（(/]\s*(?:s|secs?|seconds?|秒)\s*[)）]?\s*$")
#: Labels of rows that are worked out from those above.
_TOTAL: Final = re.compile(
    r"(?i)sum|total|together|difference|ratio|share|rest|other|change|合计|总|小计|比值|占比|其余|其他|倍|gpus?\b|batch|lr|config|setting|配置|超参"
)
#: Titles of columns of remarks.
_REMARKS: Final = re.compile(
    r"(?i)^\W*(?:comments?|notes?|remarks?|observations?|trend|direction|status|verdict|what happens|备注|说明|评论|点评|观察|趋势|方向|走势|状态|结论|情况)\W*$"
)


_COUNTS: Final = re.compile(r"(?i)\W*(?:#|no\.?|nr\.?|index|idx|序号|编号|排名|rank)\W*|#")
_IN_BRACKETS: Final = re.compile(r"[^\d(（]{1,24}[（(]\s*(?:step\s*|第\s*)?(\d{1,7})\s*(?:步)?\s*[)）]\W*")
_SINCE_FIRST: Final = re.compile(
    r"(?i)\b(?:from|vs\.?|since|over|against|relative to|compared (?:to|with)) (?:the )?(?:first|start|initial|baseline|beginning)\b|[较比](?:首|第一|起|初|开头)"
)
_SHARE: Final = re.compile(
    r"(?i)\W*(?:(?:its )?(?:share|fraction|portion|percentage|percent)(?: of (?:the )?(?:step|total|time|step time))?|% of (?:the )?(?:step|total)|占比|比例|占单步|占总(?:时间|耗时))\W*"
)
#: A spike is no direction of the ends.
_SPIKE: Final = re.compile(r"(?i)\bspik\w+|尖峰|尖刺|毛刺|突刺")
#: Marks of direction, as the arrow that they stand for.
_MARKS: Final = str.maketrans({**dict.fromkeys("↗⬆🔺📈▲⤴", "↑"), **dict.fromkeys("↘⬇🔻📉▼⤵", "↓")})
_SIGNS: Final = {"up": "[升涨增高↑]", "down": "[降跌减低↓]"}
_BEST: Final = re.compile(r"(?i)\W*(?:(?P<best>best|最好|最佳|最优)|worst|最差)(?:\s*(?:value|step)|值|的一步)?\W*")
#: Words of comparison that say of two steps which way it went.
_MORE: Final = {"up": "higher", "down": "lower"}

#: Characters of a verdict: "✅ improving"; longer ones reason.
_SHORT: Final = 16
#: Remarks on a step that deny, or that compare it with one other.
_DENIED: Final = re.compile(
    r"(?i)\b(?:no|not|never|than|before|after|until|since|from)\b|n['’]t\b|[不没未]|之[前后]|比"
)
_BEST_WORD: Final = re.compile(r"(?i)(?P<best>\bbest\b|最好|最佳)|\bworst\b|最差")


_OF_METRICS: Final = re.compile(
    r"(?i)[\s`*_]*(?:metric|quantity|measure|key|series|name|what|指标|度量|项目|名称)s?(?: name)?[\s`*_]*"
)


class RowWords(HeaderReader):
    """Reads what a row says in words, and what it says of nothing that the log holds."""

    last_step: int | None = None
    first_step: int | None = None
    row_key: str | None = None

    def _remark(self, text: str, unit: Unit, at: int, head: Sequence[str], step: int) -> list[Claim] | None:
        """``lower`` in a step's row under ``comment``: against the row before, or the first, of the table's one metric."""
        start, end = unit.cells[at]
        part = text[start:end]
        if not _REMARKS.match(head[at]) or re.search(r"\d", part):
            return None
        named = {n.keys[:1]: n for title in head if (n := self._name(title)) is not None and n.keys}
        pairs = {before: None for before in (self.last_step, self.first_step) if before is not None and before != step}
        if len(named) != 1 or not pairs:
            return []
        name = next(iter(named.values()))
        decisions = [self._direction(part, name, (before, step)) for before in pairs]
        told = next((d for d in decisions if d is not None and d.status == "supported"), decisions[0])
        return [] if told is None else [Claim(part, start, end, told.status, told.reason, told.fact)]

    def _row_step(self, text: str) -> tuple[int, ...]:
        """The step of a row under a title of steps: ``14``, ``Start (1)``."""
        bracketed = _IN_BRACKETS.fullmatch(text)
        return (int(bracketed[1]),) if bracketed else self._bare_step(text)

    @staticmethod
    def _extreme(label: str) -> str:
        """``max`` or ``min`` where a row's label says that its value is one."""
        found = [which for which, word in (("max", "maximum"), ("min", "minimum")) if cue(word).search(label)]
        return found[0] if len(found) == 1 else ""

    def _levels_told(self, key: str, numbers: Sequence[Quantity], part: str) -> str:
        """What the medians of the first and the last third are, as a reason; "" where there are too few values."""
        rows = self.judge.table.finite(key)
        if len(rows) < 6:
            return ""
        ends = [median([v for _, v in third]) for third in (rows[: len(rows) // 3], rows[-(len(rows) // 3) :])]
        kind = self.judge.table.kind(key)
        first, last = (as_shown(value, q, kind) for value, q in zip(ends, numbers, strict=True))
        return self.judge.say("thirds", metric=key, first=first, last=last, shown=part)

    def _tidy(self, cells: Sequence[str], unit: Unit) -> Unit | None:
        """``| 13 | entropy | 0.634 |`` under ``| step | metric | value |``: the metric's row, at that step."""
        if _COUNTS.fullmatch(unit.header[0] if unit.header else "") and len(cells) > 2 and not of_steps(unit.header[1]):
            # "| 1 | generation | 64.6 |": only counts the rows
            named = self._name(cells[1]) is not None
            return replace(unit, cells=unit.cells[1:], header=unit.header[1:]) if named else None
        at = next((n for n, title in enumerate(unit.header[: len(cells)]) if n and _OF_METRICS.fullmatch(title)), 0)
        if not at or len(cells) < 3 or not of_steps(unit.header[0]) or len(self._bare_step(cells[0])) != 1:
            return None
        if self._name(cells[at]) is None:
            return None
        order = [at, *(n for n in range(1, len(unit.header)) if n != at and n < len(unit.cells))]
        return replace(unit, cells=tuple(unit.cells[n] for n in order), header=tuple(unit.header[n] for n in order))

    def _counted_column(self, head: Sequence[str], cells: Sequence[str]) -> int:
        """The column of steps behind one that only counts the rows; -1 without one."""
        if not _COUNTS.fullmatch(head[0]) or len(cells) < 3:
            return -1
        return 1 if of_steps(head[1]) and len(self._bare_step(cells[1])) == 1 else -1

    def _phase_column(self, head: Sequence[str], cells: Sequence[str]) -> int:
        """The column of stretches behind their names: ``| early | 1–4 | 0.20 |``; -1 without one."""
        if len(cells) < 3 or not of_steps(head[1]) or len(told := self._bare_step(cells[1])) != 2:
            return -1
        return 1 if told[0] < told[1] else -1

    def _against(
        self, at: int, title: str, all_steps: Sequence[tuple[int, ...]], row_steps: tuple[int, ...]
    ) -> tuple[int, int] | None:
        """The steps of a change in a step's row under ``Δ from step 14`` or ``较首行``."""
        if len(row_steps) != 1 or at >= len(all_steps):
            return None
        told = all_steps[at][0] if len(all_steps[at]) == 1 else self.first_step if _SINCE_FIRST.search(title) else None
        return None if told is None or told == row_steps[0] else (told, row_steps[0])

    def _is_share(self, title: str, cell: str, previous: Named) -> bool:
        """Whether a percentage is the share that the phase in the column before takes of the step."""
        total = self.judge.table.total_time()
        return (
            _SHARE.fullmatch(title) is not None
            and re.fullmatch(r"[\s`*~≈约]*[\d.]+\s?[%％][\s`*]*", cell) is not None
            and bool(previous.keys)
            and total is not None
            and previous.keys[0] != total
            and self.judge.table.kind(previous.keys[0]) == "seconds"
        )

    def _said_of_step(
        self, text: str, cell: tuple[int, int], name: Named, inside: Sequence[Place]
    ) -> Claim | None:  # fmt: skip
        """A remark in a metric's row that names the step of an extreme: ``peaks at step 2``, ``step 2 最高``."""
        part, table = text[slice(*cell)], self.judge.table
        if len(inside) != 1 or len(inside[0].steps) != 1 or _DENIED.search(part):
            return None
        high, low = bool(cue("maximum").search(part) or _SPIKE.search(part)), bool(cue("minimum").search(part))
        best = _BEST_WORD.search(part)
        step, first = inside[0].steps[0], None
        for key in [key for key in name.keys if key == self.row_key] or name.keys[:3]:
            better, rows = table.better(key), table.finite(key)
            upwards = high if best is None else (better == "higher") == bool(best["best"])
            if not rows or (best is None and high == low) or (best is not None and not better):
                continue
            value = (max if upwards else min)(v for _, v in rows)
            at = next(s for s, v in rows if v == value)
            fact = table.ledger.value(key, at, table.run)
            identity = fact.id if fact else None
            if table.value(key, step) == value:
                return Claim(part, *cell, "supported", "", identity)
            note = self.judge.say("extreme_step", metric=key, step=at, true=f"{value:.4g}")
            first = first or Claim(part, *cell, "contradicted", note, identity)
        return first

    def _best_column(self, head: Sequence[str], cells: Sequence[str]) -> int:
        """The column of steps in a row that is an extreme's: ``| best | 39 | 1.027 |``; -1 without one."""
        if not (self._label(cells[0]) in {"max", "min"} or _BEST.fullmatch(cells[0])):
            return -1
        found = [at for at in range(1, len(cells)) if of_steps(head[at]) and len(self._bare_step(cells[at])) == 1]
        return found[0] if len(found) == 1 else -1

    def _best(  # noqa: PLR0917
        self, text: str, unit: Unit, at: int, name: Named, label: str, step: int
    ) -> list[Claim]:  # fmt: skip
        """A value in the row of an extreme: it must be the extreme, and lie at the step that the row tells."""
        start, end = unit.cells[at]
        numbers, table = quantities(text[start:end], []), self.judge.table
        if len(numbers) != 1:
            return []
        first: Claim | None = None
        for key in name.keys[:4]:
            which, rows = self._label(label), table.finite(key)
            if best := _BEST.fullmatch(label):
                better = table.better(key)
                which = "" if not better else "max" if (better == "higher") == bool(best["best"]) else "min"
            if not rows or not which:
                continue
            value = (max if which == "max" else min)(v for _, v in rows)
            where = next(s for s, v in rows if v == value)
            fits = self.judge.cell(numbers[0], key, where).status == "supported"
            if fits and table.value(key, step) == value:
                return [Claim(text[start:end], start, end, "supported", "", None)]
            note = self.judge.say("extreme_step", metric=key, step=where, true=f"{value:.4g}")
            first = first or Claim(text[start:end], start, end, "contradicted", note, None)
        return [] if first is None else [first]

    def _direction(self, part: str, name: Named, pair: tuple[int, int] | None) -> Decision | None:
        """A cell that says ``up`` or ``下降``."""
        part = _SPIKE.sub(" ", part.translate(_MARKS))
        senses = {
            sense
            for sense in ("up", "down")
            if cue(sense).search(f" {part} ")
            or cue(_MORE[sense]).search(f" {part} ")
            or re.fullmatch(rf"\W*(?:{sense}|{_SIGNS[sense]})\W*", part, re.IGNORECASE)
        }
        judged = {word for word in ("improve", "worsen") if cue(word).search(f" {part} ")}
        graded = not senses and len(judged) == 1 and len(part.strip()) <= _SHORT and not _DENIED.search(part)
        if len(senses) != 1 and not graded:
            return None
        table = self.judge.table
        first: Decision | None = None
        for key in [key for key in name.keys if key == self.row_key] or name.keys[:3]:
            held = table.held(key)
            a, b = pair or ((held[0], held[-1]) if len(held) > 1 else (0, 0))
            x, y = table.value(key, a), table.value(key, b)
            better = table.better(key) if graded else "higher"
            if x is None or y is None or a == b or not better:
                continue
            wanted = 1 if (judged == {"improve"}) == (better == "higher") else -1
            if not graded:
                wanted = 1 if senses == {"up"} else -1
            fact = table.ledger.change(key, a, b, table.run)
            identity = fact.id if fact else None
            if (y - x) * wanted > 0:
                return Decision("supported", "", identity, key)
            note = self.judge.say(
                "rose" if y > x else "fell" if y < x else "same",
                metric=key,
                first=a,
                second=b,
                from_=f"{x:.4g}",
                to=f"{y:.4g}",
            )
            first = first or Decision("contradicted", note, identity, key)
        return first

    def _of_nothing(
        self, text: str, unit: Unit, column_steps: Sequence[tuple[int, ...]]
    ) -> Iterator[Claim]:  # fmt: skip
        """The numbers under steps of a row whose label is no metric of the log, where no one metric has them there.

        Where a metric has some of them, the others are what no metric bears out; so a row is told of one metric.
        """
        table, label = self.judge.table, text[slice(*unit.cells[0])]
        if not re.search(r"[^\W\d_]", label) or _NO_METRIC.search(label) or _TOTAL.search(label):
            return
        told: list[tuple[int, int, Quantity, int]] = []
        for at, (start, end) in enumerate(unit.cells):
            numbers = quantities(text[start:end], []) if at and _ALONE.fullmatch(text[start:end]) else []
            steps = column_steps[at] if at < len(column_steps) else ()
            if len(numbers) == 1 and len(steps) == 1 and steps[0] in table.steps:
                told.append((start, end, numbers[0], steps[0]))
        if not told or (len(told) == 1 and not (told[0][2].unit or told[0][2].decimals)):
            return  # "| 64 |" may count what no metric does
        every = wrong = set(range(len(told)))
        for key in table.run.columns:
            held = {
                at
                for at, (_, _, q, step) in enumerate(told)
                if table.value(key, step) is not None and self.judge.cell(q, key, step).status == "supported"
            }
            wrong = min(wrong, every - held, key=len)
        for at in sorted(wrong):
            start, end, *_ = told[at]
            yield Claim(text[start:end], start, end, "unsupported", self.judge.say("unbound", shown=text[start:end]))

    def _unread(
        self, text: str, unit: Unit, cells: Iterable[int], steps: tuple[int, ...], found: Sequence[Claim]
    ) -> Iterator[Claim]:  # fmt: skip
        """The numbers of a step's row, or a stretch's, under titles that are no metric of the log, where that step holds no such value."""
        table = self.judge.table
        for at in cells:
            start, end = unit.cells[at]
            title = unit.header[at] if at < len(unit.header) else ""
            numbers = quantities(text[start:end], [])
            if (
                len(numbers) != 1 or not _ALONE.fullmatch(text[start:end]) or not title or _NO_METRIC.search(title)
                or any(claim.start < end and start < claim.end for claim in found)
            ):  # fmt: skip
                continue
            timed = bool(_TIMED.search(title))
            held = [
                self.judge.cell(numbers[0], key, steps[0])
                for key in table.run.columns
                if len(steps) == 1 and table.value(key, steps[0]) is not None
                and (not timed or table.kind(key) == "seconds")
            ]  # fmt: skip
            if not any(decision.status == "supported" for decision in held):
                yield Claim(
                    text[start:end], start, end, "unsupported", self.judge.say("unbound", shown=text[start:end])
                )
