"""What a table's row has beside its cells: what they have in common, sums of the rows above, numbers that nothing reads."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from assistant.ground.binding import Carried
from assistant.ground.cues import cue
from assistant.ground.deciding import Decision
from assistant.ground.headers import AT_STEP, ENDS, SIDES, STEP_COLUMN, of_steps
from assistant.ground.lexicon import Named
from assistant.ground.places import places
from assistant.ground.quantities import Quantity, quantities
from assistant.ground.sentences import Unit
from assistant.ground.statcells import Row, StatCells, in_unit
from assistant.ground.table import agrees
from assistant.ground.titles import title_of
from assistant.ground.verdicts import Claim

_SUM_ROW: Final = re.compile(
    r"(?i)[\W_]*(?:(?P<above>sub-?total|sums?(?: of (?:the |these )?(?:above|these|stages|phases|parts|rows|three|two|four))?|total of (?:the )?above|(?:以上|上述|各项|[两三四五]项|前[两三四五]项|各阶段)(?:之和|合计|总和|小计|总计|加总)|小计|之和|加总)|totals?|together|combined|合计|总计|总和|总共|共计)[\W_]*(?:[（(][^()（）]{0,30}[)）])?[\W_]*"
)
#: A row that tells the step of each column, or the one of the rows below.
STEP_LABEL: Final = re.compile(
    r"(?i)[\s`*_]*(?:global[_ ])?(?:training )?(?:step|iteration|步数?|步骤)[\s`*_]*[:：]?[\s`*_]*"
)
#: The unit that a line above a table ends with.
_UNIT_ABOVE: Final = re.compile(
    r"(?i)[（(](?:in |单位[:：]?\s*)?(?P<unit>[A-Za-z秒分钟小时]{1,10})[)）]\s*[*_]*[:：]?\s*[*_]*$|(?:\b(?:all )?in |单位(?:是|为|[:：])\s*)(?P<other>seconds|minutes|hours|秒|分钟|小时)\s*[*_]*[:：.。]?\s*[*_]*$"
)
#: Titles of columns that say what should be, not what is.
ADVISED: Final = re.compile(
    r"(?i)\b(?:suggest|recommend|propos|advis|target|goal|ideal|typical|desired)\w*|建议|推荐|目标|理想|期望|应设"
)
#: What is left of a step.
_REST_ROW: Final = re.compile(
    r"(?i)[\W_]*(?:others?|(?:the )?rest|remaining|remainder|misc\.?|everything else|其[他余它]|剩余|其他阶段|其余阶段|杂项)[\W_]*(?:[（(][^()（）]{0,40}[)）])?[\W_]*"
)
_STEP_TITLE: Final = re.compile(r"(?i)[\s`*_]*step[\s`*_]*")
_STRETCH: Final = re.compile(r"[\s`*_]*(\d{1,7})\s*(?:[-–—~～∼]{1,2}|to|至|到)\s*(\d{1,7})[\s`*_]*(?:步)?[\s`*_]*")
#: "Final reward": the last value.
_END_BEFORE: Final = re.compile(
    r"(?i)[\s`*_]*(?:(?:final|last|ending|latest)\b|(?P<first>(?:initial|first|starting)\b|初始|首步|起始)|最终|末步|最后)的?\s*(?!\d)"
)
#: The label of a row that tells changes since a step.
_VERSUS_ROW: Final = re.compile(
    r"(?i)[\W_]*(?:(?:change|delta|δ|difference|diff\.?)\s*)?(?:vs\.?|versus|relative to|compared (?:to|with)|against|from|since|较|相比|对比|比|相对于?)\s"
)
_STEPS_COUNTED: Final = re.compile(
    r"(?i)[\s`*_]*(?:(?:number of |total |logged |recorded )?steps(?: logged| recorded| in (?:the )?log| total| covered)?|总步数|(?:记录|日志)?步数(?:总计)?|记录的步数)[\s`*_]*"
)
#: "Reached at step 9" in the row of an extreme.
OCCURS: Final = re.compile(
    r"(?i)[\s`*_]*(?:(?:reached|occurs?|occurred|seen|recorded|happens?|hit)?\s*(?:at|on|in)\s*step|(?:出现|发生|达到|取得)?(?:在|于)?第?\s*(?:step)?)\s*\d{1,7}\s*步?[\s`*_]*"
)
_STEP_LABELLED: Final = re.compile(
    r"[\s`*_]*(?P<word>[A-Za-z_ ]{4,20}|[\u3400-\u9fff]{1,4})[\s`*_]*[:：=#]?[\s`*_]*(?P<step>\d{1,7})[\s`*_]*"
)
#: What is no part of a title.
_TOLD: Final = re.compile(
    r"(?i)\d|[↑↓⬆⬇↗↘🔺🔻]|\b(?:is|was|are|were|rose|fell|went|from|between|by|to|stay\w*|remain\w*)\b|[是为从]"
)
#: What makes a sentence of a label.
_VERB: Final = re.compile(
    r"(?i)\b(?:is|was|are|were|has|had|rose|fell|went|goes|rises|falls|drops|dropped|climb\w*|grew|stay\w*|remain\w*|peak(?:s|ed)|reach\w*|by|to|and|but)\b|[是为了在从到]|上升|下降"
)
_STRETCHES: Final = re.compile(
    r"(?i)range|phase|stage|period|interval|window|span|segment|阶段|区间|范围|时段|步段|窗口|分段"
)
_ONE_NUMBER: Final = re.compile(
    r"[\s`*~≈<>约]*[-+−±]?\d[^\W_]?[\d.,eE+\-−]*\s?(?:%|[^\W\d_]{0,12}(?:/[^\W\d_]{1,8}){0,2})[\s`*]*"
)
#: Titles of columns whose numbers are none of the log's: settings, other runs, what is usual.
_ELSEWHERE: Final = re.compile(
    r"(?i)epoch|date|time ?stamp|\brank|累计|cumul|日期|时刻|排名|序号|\bno\.?\b|#|target|goal|目标|limit|threshold|阈值|expected|预期|typical|normal|healthy|usual|reference range|recommended|baseline|正常|典型|参考(?:范围|值|区间)|健康|合理|经验|建议|推荐|\bline|行|p-?value|slope|斜率|显著|noise|噪声|\bz\b|corr|score of|weight|权重|confidence|置信|per step|每步|growth|interval|误差|\berr|ci\b"
)


class Totals(StatCells):
    """Reads rows of sums, and refuses the numbers of a metric's row that no column explains."""

    column: dict[int, list[Quantity]]
    named_above: Named | None = None
    told_columns: Sequence[tuple[int, ...]] = ()

    def _step_time(self, cells: Sequence[str], head: Sequence[str]) -> Named | None:
        """A row called ``step`` below metrics: the time of a step."""
        total = self.judge.table.total_time()
        if total is None or not _STEP_TITLE.fullmatch(cells[0]) or (head and of_steps(head[0])):
            return None
        if not any(re.search(r"\d\.\d|\d\s?(?:s|min|秒)\b", cell) for cell in cells[1:]):
            return None
        return Named(0, len(cells[0]), cells[0], (total,))

    def _end_named(self, label: str, name: Named) -> tuple[int, ...]:
        """``Final reward``, ``最终熵``: the last step that holds the metric, or the first."""
        match = _END_BEFORE.match(label)
        held = self.judge.table.held(name.keys[0]) if match and name.keys and not name.statistic else []
        return () if match is None or not held else (held[0] if match["first"] else held[-1],)

    def _count_of_steps(self, text: str, unit: Unit) -> list[Claim] | None:
        """``| Steps logged | 12 |``: how many steps there are, or the last one's number."""
        if len(unit.cells) != 2 or _STEPS_COUNTED.fullmatch(text[slice(*unit.cells[0])]) is None:
            return None
        start, end = unit.cells[1]
        numbers, steps = quantities(text[start:end], []), self.judge.table.steps
        if len(numbers) != 1 or not _ONE_NUMBER.fullmatch(text[start:end]) or not steps:
            return None
        fine = numbers[0].number in {len(steps), steps[-1]}
        note = "" if fine else self.judge.say("count", true=len(steps), shown=text[start:end])
        return [Claim(text[start:end], start, end, "supported" if fine else "contradicted", note)]

    def _nameless(self, text: str, unit: Unit) -> list[Claim] | None:
        """A row without a metric's name: how many steps there are, or how the row above differs from one of its steps."""
        return self._count_of_steps(text, unit) or self._against_step(text, unit)

    def _against_step(self, text: str, unit: Unit) -> list[Claim] | None:
        """``| vs. step 12 | | -20.8% | +14.8% |`` below a metric's row: its change from that step to each column's."""
        label, name = text[slice(*unit.cells[0])], self.named_above
        since = places(label, self.judge.table.steps) if _VERSUS_ROW.match(label) else []
        if name is None or len(since) != 1 or len(since[0].steps) != 1:
            return None
        found: list[Claim] = []
        base = since[0].steps[0]
        for (start, end), title in list(zip(unit.cells, unit.header, strict=False))[1:]:
            steps = [s for place in places(title, self.judge.table.steps) for s in place.steps]
            numbers = self._numbers(text, unit, unit.cells.index((start, end)), None)
            if len(steps) != 1 or len(numbers) != 1:
                continue
            known: list[tuple[str, float, float]] = []
            for key in name.keys[:3]:
                x, y = self.judge.table.value(key, base), self.judge.table.value(key, steps[0])
                if x is not None and y is not None:
                    known.append((key, x, y))
            q, changes, kind = numbers[0], self.judge.changes, self.judge.table.kind
            if any(changes.is_change(q, kind(key), x, y, down=False) for key, x, y in known):
                found.append(Claim(text[start:end], start, end, "supported", ""))
            elif known:
                key, x, y = known[0]
                note = changes.told_change(key, base, steps[0], x, y, q)
                found.append(Claim(text[start:end], start, end, "contradicted", note))
            else:
                found.append(Claim(text[start:end], start, end, "unsupported", self.judge.say("unbound", shown=q.text)))
        return found or None

    def _labelled(self, label: str) -> tuple[int, ...]:
        """``Training step 23``, ``步数 **23**``: the step of a row."""
        match = _STEP_LABELLED.fullmatch(label)
        return () if match is None or not of_steps(match["word"]) else (int(match["step"]),)

    def _stretch(self, label: str, head: str) -> tuple[int, ...]:
        """``4–7`` in a column of stretches of the run."""
        match = _STRETCH.fullmatch(label)
        if match is None or not (
            of_steps(head) or _STRETCHES.search(head) or STEP_COLUMN.match(head) or not head.strip()
        ):
            return ()
        first, last = int(match[1]), int(match[2])
        return (first, last) if first < last else ()

    @staticmethod
    def _unit_column(text: str, unit: Unit) -> str:
        """What a row's own column of units says, in brackets."""
        found = [at for at, title in enumerate(unit.header) if at and title_of(title).role == "unit"]
        if not found or found[0] >= len(unit.cells):
            return ""
        told = text[slice(*unit.cells[found[0]])].strip("`* ")
        return f"({told})" if told and len(told) < 20 else ""

    def _unit_above(self, unit: Unit, name: Named) -> Quantity | None:
        """The unit of time that the line above a table tells: ``Time per step (minutes):``, ``单位：分钟``."""
        if not name.keys or self.judge.table.kind(name.keys[0]) != "seconds":
            return None
        for above in unit.above[-2:][::-1]:
            match = _UNIT_ABOVE.search(above)
            found = None if match is None else self.unit_in(f"({match['unit'] or match['other']})", name)
            if found is not None and found.unit == "s":
                return found
        return None

    def _of_columns(self, cells: Sequence[str], unit: Unit) -> bool:
        """Whether a row tells the step of each column: ``| step | 26 | 63 |`` under ``before, after``."""
        if len(cells) < 3 or not STEP_LABEL.fullmatch(cells[0]) or of_steps(unit.header[0] if unit.header else ""):
            return False
        steps = [self._bare_step(cell) for cell in cells[1:]]
        if not all(len(s) == 1 and s[0] in self.judge.table.steps for s in steps):
            return False
        self.told_columns = [(), *steps]
        return True

    def _placed_columns(
        self, head: Sequence[str], steps: list[tuple[int, ...]], of_row: tuple[int, ...]
    ) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
        """The steps of a row's columns, and of the row: as a row above tells them, or the row's own name, ``(step 3 → 9)``."""
        if len(self.told_columns) == len(steps):
            return [own or other for own, other in zip(self.told_columns, steps, strict=True)], of_row
        sides = [self._side_of(title, (of_row[0], of_row[1])) for title in head] if len(of_row) == 2 else []
        return (sides, ()) if sum(map(bool, sides)) > 1 else (steps, of_row)

    def _row(  # noqa: PLR0917
        self, name: Named, cells: Sequence[str], column_steps: list[tuple[int, ...]], row_steps: tuple[int, ...],
        context: Carried, head: Sequence[str] = (),
    ) -> Row:  # fmt: skip
        """What a row's cells have in common."""
        units = next(
            (
                cells[at].strip("`* ")
                for at, title in enumerate(head)
                if at and at < len(cells) and title_of(title).role == "unit"
            ),
            "",
        )
        return Row(
            name, head, units, self._change_pair(column_steps, (), context.pair or ()),
            context.span or (row_steps if len(row_steps) > 1 else ()), self._only(column_steps, row_steps, context),
        )  # fmt: skip

    @abstractmethod
    def _change_pair(
        self, all_steps: list[tuple[int, ...]], row_steps: tuple[int, ...], steps: tuple[int, ...]
    ) -> tuple[int, int] | None:
        """The two steps that a row's change is between, where its columns or its own words tell them."""

    def _only(
        self, column_steps: Sequence[tuple[int, ...]], row_steps: tuple[int, ...], context: Carried
    ) -> int | None:  # fmt: skip
        """The one step that a row is of."""
        told = {s for s in column_steps if len(s) == 1}
        for steps in (
            row_steps,
            next(iter(told)) if len(told) == 1 else (),
            getattr(self, "told_step", ()),
            context.steps,
        ):
            if len(steps) == 1:
                return steps[0]
        return None

    # -- lists that are tables ---------------------------------------------------------------------
    def is_title(self, words: str) -> bool:
        """Whether words may stand over a column: a statistic, an end of the run, a step, a metric."""
        if title_of(words).role or ENDS.fullmatch(words) or SIDES.fullmatch(words) or AT_STEP.fullmatch(words):
            return True
        for place in places(words, self.judge.table.steps):
            rest = words[: place.start] + words[place.end :]
            rest = rest.strip(" @*`_的")
            return not re.search(r"\d", rest) and (len(rest) <= 12 or bool(title_of(rest).role))
        name = self._name(words)
        return name is not None and len(words) <= len(name.text) + 14 and not _TOLD.search(self._unnamed(words))

    def is_label(self, words: str) -> bool:
        """Whether words may stand before a row: a metric, a step, a stretch, a sum."""
        name = self._name(words)
        if name is not None and name.keys:
            return len(words.strip(" *_`")) <= len(name.text) + 40 and not _VERB.search(self._unnamed(words))
        told = self._steps(words) or self._stretch(words, "") or self._labelled(words) or self._bare_step(words)
        return bool(told) or _SUM_ROW.fullmatch(words) is not None or _STEP_TITLE.fullmatch(words) is not None

    @staticmethod
    def settled(
        text: str, unit: Unit, claims: list[Claim], row: list[Claim], cells: Sequence[tuple[int, int]]
    ) -> list[Claim]:
        """The claims of an item: as a sentence, or where that bears nothing out, as a part of a row."""
        if not row:
            return claims
        if claims and all(claim.status == "supported" for claim in claims):
            return row if any(claim.status == "contradicted" for claim in row) else claims
        own = [(a, b) for a, b in cells[1:] if unit.start <= a < unit.end and re.search(r"\d", text[a:b])]
        read = all(any(claim.start < b and a < claim.end for claim in row) for a, b in own)
        if read and all(claim.status == "supported" for claim in row):
            return row
        return claims or row

    # -- sums --------------------------------------------------------------------------------------
    @staticmethod
    def _sums(label: str, name: Named | None) -> bool:
        """Whether a row is the sum of those above."""
        return _SUM_ROW.fullmatch(label) is not None and not (name is not None and name.exact)

    def _numbers(self, text: str, unit: Unit, at: int, name: Named | None) -> list[Quantity]:
        """A cell's numbers in the unit of its column."""
        title = unit.header[at] if at < len(unit.header) else ""
        told = self.unit_in(title, name)
        numbers = quantities(text[slice(*unit.cells[at])], [])
        if told is None and title_of(title).role == "share":
            return numbers
        return [q if q.unit or told is None else in_unit(q, told) for q in numbers]

    def _keep(self, text: str, unit: Unit, name: Named | None, found: Sequence[Claim]) -> None:
        """Remembers a row's cells for the sum below them."""
        self.named_above = name
        if name is None:
            return
        for at in range(1, len(unit.cells)):
            start, end = unit.cells[at]
            own = [c for c in found if start <= c.start < end]
            numbers = self._numbers(text, unit, at, name)
            if len(numbers) == 1 and own and all(c.status == "supported" for c in own):
                self.column.setdefault(at, []).append(numbers[0])

    def _rest(self, text: str, unit: Unit, step: int | None) -> list[Claim]:
        """The cells of a row of what is left of a step: its time less that of the stages above."""
        table, total = self.judge.table, self.judge.table.total_time()
        whole = None if total is None or step is None else table.value(total, step)
        if _REST_ROW.fullmatch(text[slice(*unit.cells[0])]) is None or not whole:
            return []
        claims = []
        for at in range(1, len(unit.cells)):
            start, end = unit.cells[at]
            numbers, above = self._numbers(text, unit, at, None), self.column.get(at, [])
            if len(numbers) != 1 or not above or not _ONE_NUMBER.fullmatch(text[start:end]):
                continue
            q = numbers[0]
            factor = q.factor if q.unit else above[0].factor
            left = (1.0 if q.unit == "%" or above[0].unit == "%" else whole) - sum(n.number * n.factor for n in above)
            slack = sum(n.half * n.factor for n in above)
            fine = agrees(q.number * factor, q.half * factor + slack, left)
            note = "" if fine else self.judge.say("factor", true=f"{left / factor:.4g}", shown=text[start:end])
            claims.append(Claim(text[start:end], start, end, "supported" if fine else "contradicted", note))
            if fine:
                self.column[at].append(q)
        return claims

    def _totalled(self, text: str, unit: Unit, step: int | None) -> list[Claim]:
        """The cells of a row of sums: each the sum of those above, or what the whole step took."""
        table, total = self.judge.table, self.judge.table.total_time()
        label = _SUM_ROW.fullmatch(text[slice(*unit.cells[0])])
        whole = None if total is None or step is None else table.value(total, step)
        claims = []
        for at in range(1, len(unit.cells)):
            start, end = unit.cells[at]
            numbers, above = self._numbers(text, unit, at, None), self.column.get(at, [])
            if len(numbers) != 1 or not _ONE_NUMBER.fullmatch(text[start:end]):
                continue
            q = numbers[0]
            factor = q.factor if q.unit else above[0].factor if above else 1.0
            true = sum(n.number * n.factor for n in above)
            slack = sum(n.half * n.factor for n in above)
            fine = len(above) > 1 and agrees(q.number * factor, q.half * factor + slack, true)
            if not fine and label is not None and not label["above"] and whole:
                fine = agrees(q.number * factor, q.half * factor, 1.0 if q.unit == "%" else whole)
            note = "" if fine else self.judge.say("sum", true=f"{true / factor:.4g}", shown=text[start:end])
            claims.append(Claim(text[start:end], start, end, "supported" if fine else "contradicted", note))
        return claims

    def _apart_from(self, text: str, unit: Unit, at: int, step: int, keys: Sequence[str]) -> list[Claim]:
        """A row's cell under "gap": how far the two metrics before it lie apart."""
        start, end = unit.cells[at]
        numbers, table = quantities(text[start:end], []), self.judge.table
        values = [table.value(key, step) for key in keys[-2:]]
        if len(numbers) != 1 or len(values) != 2 or values[0] is None or values[1] is None:
            return []
        true, q = values[0] - values[1], numbers[0]
        shown = true if q.sign else abs(true)
        if q.sign and not any(agrees(n, h, true) for n, h in table.readings(q, keys[-1], true)):
            shown = -true  # the second less the first
        fine = any(agrees(n, h, shown) for n, h in table.readings(q, keys[-1], shown))
        note = "" if fine else self.judge.say("count", true=f"{abs(true):.4g}", shown=text[start:end])
        return [Claim(text[start:end], start, end, "supported" if fine else "contradicted", note)]

    def _at_its_step(self, q: Quantity, name: Named, step: int, which: str) -> Decision | None:
        """``0.331 (21)`` as an extreme: refused where it lies at another step than the one told."""
        first: Decision | None = None
        for key in name.keys[:4]:
            rows = self.judge.table.finite(key)
            best = (max if which == "max" else min)((v for _, v in rows), default=None)
            if best is None or self.judge.cell(q, key, next(s for s, v in rows if v == best)).status != "supported":
                continue
            if self.judge.table.value(key, step) == best:
                return None
            where = next(s for s, v in rows if v == best)
            note = self.judge.say("extreme_step", metric=key, step=where, true=f"{best:.4g}")
            first = first or Decision("contradicted", note, None, key, where)
        return first

    # -- what nothing reads ------------------------------------------------------------------------
    def _uncovered(
        self, text: str, unit: Unit, cells: Iterable[int], found: Sequence[Claim]
    ) -> Iterator[Claim]:  # fmt: skip
        """The numbers of a metric's row that were read as nothing, under titles that may speak of the log."""
        for at in cells:
            start, end = unit.cells[at]
            title = unit.header[at] if at < len(unit.header) else ""
            if (
                any(claim.start < end and start < claim.end for claim in found)
                or not _ONE_NUMBER.fullmatch(text[start:end])
                or ADVISED.search(title) or _ELSEWHERE.search(title) or cue("normal").search(title) or of_steps(title)
            ):  # fmt: skip
                continue
            yield Claim(text[start:end], start, end, "unsupported", self.judge.say("unbound", shown=text[start:end]))
