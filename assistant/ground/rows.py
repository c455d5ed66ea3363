"""Cells of a Markdown table as claims: the metric from the row or the column, the step from the column or the row."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.ground.binding import Carried, Frame
from assistant.ground.deciding import Decision
from assistant.ground.extra import stated
from assistant.ground.headers import ENDS, of_steps
from assistant.ground.judging import Judge
from assistant.ground.lexicon import Lexicon, Named
from assistant.ground.masks import masked_spans
from assistant.ground.places import Place, places
from assistant.ground.quantities import Quantity, quantities
from assistant.ground.sentences import Unit
from assistant.ground.statcells import in_unit
from assistant.ground.table import agrees
from assistant.ground.totals import ADVISED, OCCURS, STEP_LABEL, Totals
from assistant.ground.verdicts import Claim
from assistant.model import Fact

_CHANGE: Final = re.compile(
    r"(?i)\bchange|\bchg\b|delta|Δ|diff|变化|(?<![方准偏误])差|增减|增量|涨跌|升降|变动|净变|幅|相对|较\s?(?:上|前|首|起|初|step|第)|[比与]上一|相比|环比|→|->|\bvs\b|growth|relative|\b(?:up|down) by\b|\b(?:drop|fall|rise|gain|decline|increase|decrease|reduction)s?\b|降低|提升|增加|减少"
)
_FACTOR: Final = re.compile(r"(?i)^\W*(?:ratio|factor|×|x|倍数?|比值|times)\W*$")
_CHANGE_ROW: Final = re.compile(
    r"(?i)^\W*(?:relative )?(?:change|delta|Δ|diff(?:erence)?|变化|差值?|增幅|涨跌幅?|变动)(?:率|量|幅度)?\W*$"
)
#: What says that the numbers of a column of changes may stand without a sign.
_ONE_WAY: Final = re.compile(
    r"(?i)drop|fall|decreas|reduc|declin|loss|lost|shrink|down|\babs|magnitude|size of|distance|[降跌减缩少低]|绝对|差值|差距|相差|[|↓↘⬇]|diff"
)
_OF_EVAL: Final = re.compile(r"(?i)\b(?:eval|evaluation|validation|val|test)\b|验证|评测|评估|测试")
_RESULT: Final = re.compile(r"(?i)[\s`*_]*(?:mean )?(?:scores?|rewards?|acc(?:uracy)?|得分|分数|奖励|准确率)[\s`*_]*")
_ONLY_STEP: Final = re.compile(r"(?i)[\s`*_@]*(?:at\s+)?(?:step|第)\s*\d{1,7}\s*步?[\s`*_]*")
_LAST_OF: Final = re.compile(r"(?i)[\s`*_]*(?:last|final|latest|最后|最终|末步?)")
_NOISE: Final = re.compile(
    r"(?i)noise|噪声|std\.? ?err|标准误|interval|区间|p[- ]?value|slope|斜率|significan|显著|每步|per step|growth"
)
_OF_STEP: Final = re.compile(r"(?i)share|of (?:the )?step|占比|占|%")
_SUM: Final = re.compile(r"(?i)\W*(?:sum|total|together|combined|合计|总和|小计|总计|加起来)\W*(?:[（(].*[)）])?\W*")
#: ``0.125 (38)`` under ``lowest (step)``.
_STEP_IN_BRACKETS: Final = re.compile(
    r"(?i)[（(]\s*(?:at |on |@ ?)?(?:the |its |所在|对应|第几)?\s*(?:steps?|iter(?:ation)?|步数?|哪步)\s*(?:no\.?|号)?[)）]"
)
_BRACKETED: Final = re.compile(r"\d\S*\s*[（(]\s*(?P<step>\d{1,7})\s*[)）]\s*$")
_LINE_COLUMN: Final = re.compile(r"(?i)^\W*(?:lines?|行号?|rows?)\W*$")
_GONE: Final = re.compile(
    r"(?i)^\W*(?:n/?a|—|–|-{1,3}|missing|none|null|not (?:logged|printed|recorded|reported|available)|absent|缺失|缺|无|没有|未(?:打印|记录|输出|提供))?\W*(?:\(.*\)|（.*）)?$"
)
_THIRDS: Final = re.compile(r"(?i)\bthirds?\b|三分之一|中位数|median|\blevels?\b|水平|首.{0,3}末|→|->")
_OF_THIRDS: Final = re.compile(r"(?i)\bthirds?\b|三分之一")
_ARROWED: Final = re.compile(r"\d[^|]{0,12}?(?:→|->|⟶|=>|➜|➡)\s*[`*]*[-−]?\d")
_CHANGE_SINCE: Final = re.compile(
    r"(?i)\bchange|变化|Δ|delta|diff|(?<![方准偏误])差|幅|\b(?:vs\.?|versus|relative to|compared (?:to|with)|against|since)\s|相对|相较|相比|较|[比对]\s?(?:step|第)"
)
#: Beside the number of a change: which way it went.
_WAY: Final = re.compile(
    r"(?i)[`*\s]*(?:(?P<less>lower|less|smaller|shorter|fewer|down|decrease|drop|reduction)|higher|more|larger|longer|greater|up|increase|rise|growth)\b"
)
_GAP_OF: Final = re.compile(r"(?i)\W*(?:the )?(?:gap|difference|distance|差距|差值?|相差)\W*")


class RowReader(Totals):
    """Reads the rows of one table after another.

    Args:
        lexicon: the run's names.
        judge: decides.
        extra: further facts that a cell may state.
    """

    def __init__(self, lexicon: Lexicon, judge: Judge, extra: Sequence[Fact] = ()) -> None:
        super().__init__(lexicon, judge)
        self.extra = extra
        self.last_step = self.first_step = None
        self.told_step: tuple[int, ...] = ()
        self.row_key: str | None = None
        self.rows: list[int] = []
        self.begin()

    def begin(self) -> None:
        """A new table."""
        self.last_step = self.first_step = None
        self.told_step = ()
        self.told_columns = []
        self.named_above = None
        self.rows = []
        self.column: dict[int, list[Quantity]] = {}

    def claims(self, text: str, unit: Unit, context: Carried) -> list[Claim]:
        """The claims of one row."""
        cells = [text[a:b] for a, b in unit.cells]
        if not cells:
            return []
        if (tidy := self._tidy(cells, unit)) is not None:
            at_step = self._bare_step(cells[0]) if of_steps(unit.header[0]) else ()
            kept, self.told_step = self.told_step, at_step or self.told_step
            found = self.claims(text, tidy, context)
            self.told_step = kept
            return found
        head = list(unit.header) + [""] * (len(cells) - len(unit.header))
        if (
            len(cells) == 2 and STEP_LABEL.fullmatch(cells[0]) and not of_steps(unit.header[0] if unit.header else "")
            and self._step_time(cells, head) is None
        ):  # fmt: skip
            self.told_step = self._bare_step(cells[1])  # "| step | 7 |": of the rows below
            return []
        if self._of_columns(cells, unit):
            return []
        row_name = self._name(cells[0]) or self._step_time(cells, head)
        if row_name is not None and row_name.statistic == "mean" and (which := self._extreme(cells[0])):
            row_name = replace(row_name, statistic=which)  # "Highest mean reward"
        row_steps = self._steps(cells[0]) or (self._row_step(cells[0]) if of_steps(head[0]) else ())
        row_steps = row_steps or self._stretch(cells[0], head[0]) or self._labelled(cells[0])
        counted = self._counted_column(head, cells) if not row_steps else -1
        if not row_steps and row_name is None and counted < 0:
            counted = self._phase_column(head, cells)
        if row_name is None and (nameless := self._nameless(text, unit)) is not None:
            return nameless
        row_steps = row_steps or (self._bare_step(cells[counted]) if counted > 0 else ())
        column_steps = [
            self._side_of(title, context.pair or context.span)
            or self._end(title, row_name, told=bool(context.steps or context.pair or context.span))
            or self._steps(title)
            or self._heading_step(title, head)
            for title in head
        ]
        if row_name is not None:
            column_steps, row_steps = self._placed_columns(head, column_steps, row_steps)
        of_row = -1 if row_steps or row_name is None or any(column_steps) else self._step_column(head, cells)
        if of_row > 0:  # "| metric | value | step |"
            row_steps = self._bare_step(cells[of_row]) or self._steps(cells[of_row])
        of_best = self._best_column(head, cells) if row_name is None and not row_steps else -1
        told_at = self._bare_step(cells[of_best]) if of_best > 0 else ()
        end = ENDS.fullmatch(re.sub(r"(?i)\s*(?:step|步)\W*$", "", cells[0])) if row_name is None else None
        found = []
        self.row_key = None
        previous: Named | None = None
        cells_read: list[str] = []
        start_at = 1 if len(cells) > 1 and (row_name or row_steps or not re.search(r"\d", cells[0])) else 0
        if self._sums(cells[0], row_name) and self.column:
            return self._totalled(text, unit, self._only(column_steps, row_steps, context))
        if row_name is not None and not row_steps and not any(column_steps[1:]):
            row_steps = self._end_named(cells[0], row_name)
        if (
            row_name is None
            and self.column
            and (rest := self._rest(text, unit, self._only(column_steps, row_steps, context)))
        ):
            return rest
        row = None if row_name is None else self._row(row_name, cells, column_steps, row_steps, context, head)
        change_row = bool(_CHANGE_ROW.match(cells[0])) and len(self.rows) >= 2
        for at in range(start_at, len(cells)):
            if at >= len(unit.cells) or _LINE_COLUMN.match(head[at] if at < len(head) else ""):
                continue
            title = head[at]
            if ADVISED.search(title):
                continue
            if at in {of_row, of_best, counted}:
                continue
            name_of_column = self._name(title) if told_at else None
            if told_at and name_of_column is not None and name_of_column.keys:
                found += self._best(text, unit, at, name_of_column, cells[0], told_at[0])
                continue
            if row_name is None and len(row_steps) == 1:
                remark = self._remark(text, unit, at, head, row_steps[0])
                if remark is not None:
                    found += remark
                    continue
            if row is not None and not row_steps and (own := self.stated(text, unit.cells[at], at, row)) is not None:
                single = column_steps[at] or self.told_step or (() if context.pair else context.steps)
                if not single or all(claim.status == "supported" for claim in own):
                    found += own
                    continue
            if row_name is not None and row_name.keys and of_steps(title):
                found += self._extreme_step(text, unit, at, row_name, head)
                continue
            if row_name is not None and row_name.statistic in {"max", "min"} and _ONLY_STEP.fullmatch(cells[at]):
                found += self._extreme_step(text, unit, at, row_name, head, row_name.statistic)
                continue
            if row_name is not None and row_name.statistic in {"max", "min"} and OCCURS.fullmatch(cells[at]):
                found += self._extreme_step(text, unit, at, row_name, head, row_name.statistic)
                continue
            name = row_name or self._name(title)
            if row_name is None and _OF_EVAL.search(head[0]) and _RESULT.fullmatch(title):
                name = self._name(f"validation {title}") or name  # "| eval step | score |"
            if row_name:
                name = self._sibling(row_name, title)
            elif name is None and at and row_steps:
                name = self._name(head[0])
            steps = (
                row_steps
                or column_steps[at]
                or (column_steps[0] if not any(column_steps[1:]) else ())
                or (
                    next(iter(told))
                    if len(told := {s for s in column_steps if s}) == 1 and _OF_STEP.search(title)
                    else ()
                )
                or self.told_step
                or context.steps
                or (context.pair or ())
                or (context.span or ())
            )
            if name is None and at and self._step_time([title, cells[at]], ()) is not None:
                name = self._step_time([title, cells[at]], ())  # a column "step" beside that of the steps
            if name is None and context.names:
                name = self._sibling(context.names[-1], title)
            if name is None and previous is not None and _CHANGE.search(title):
                name = previous  # "| 57 | 0.914 | +0.093 |" under "vs previous row"
            if name is None and previous is not None and self._is_share(title, cells[at], previous):
                name = previous  # "| 20 | 73 s | 60 s | 82% |" under "time, generation, share"
            previous = name or previous
            if end is not None and name is not None and name.keys and (held := self.judge.table.held(name.keys[0])):
                steps = (held[0],) if end["first"] else (held[-1],)
            if name is not None and row_name is None and (statistic := self._label(cells[0])):
                name = replace(self._with(name, statistic), statistic=statistic)
                steps = context.steps
            change = bool(_CHANGE.search(title) or _FACTOR.match(title)) and (
                not column_steps[at] or bool(_CHANGE_SINCE.search(title))
            )
            change = change and not _ARROWED.search(cells[at])  # "0.52 → 0.73" under "change": the two values
            if change_row:
                name, steps, change = self._name(title) or name, (self.rows[0], self.rows[-1]), True
            if _NOISE.search(self._unnamed(title)) and not change:
                continue
            if len(row_steps) == 1 and len(cells_read) > 1 and _GAP_OF.fullmatch(title):
                found += self._apart_from(text, unit, at, row_steps[0], cells_read)
                continue
            if len(row_steps) == 1 and len(cells_read) > 1 and _SUM.fullmatch(title):
                found += self._sum(text, unit, at, row_steps[0], cells_read)
                continue
            found += self._cell(
                text,
                unit,
                at,
                name,
                steps,
                title,
                change=change,
                all_steps=column_steps,
                row_steps=row_steps,
                head=head,
            )
            if self.row_key is not None and (not cells_read or cells_read[-1] != self.row_key):
                cells_read.append(self.row_key)
        if row_name is None and not row_steps and not found and not context.names:
            found += self._of_nothing(text, unit, column_steps)
        if row_steps and found and all(claim.status == "supported" for claim in found):
            others = [at for at in range(start_at, len(unit.cells)) if at not in {of_row, of_best, counted}]
            found += self._unread(text, unit, others, row_steps, found)
        if row_name is not None and row_name.keys and not of_row > 0:
            found += self._uncovered(text, unit, range(start_at, len(unit.cells)), found)
        self._keep(text, unit, row_name, found)
        if row_steps and len(row_steps) == 1:
            self.last_step = row_steps[0]
            self.first_step = row_steps[0] if self.first_step is None else self.first_step
            self.rows.append(row_steps[0])
        return found

    def _cell(  # noqa: PLR0917
        self, text: str, unit: Unit, at: int, name: Named | None, steps: tuple[int, ...], title: str, *, change: bool,
        all_steps: list[tuple[int, ...]], row_steps: tuple[int, ...], head: list[str],
    ) -> list[Claim]:  # fmt: skip
        start, end = unit.cells[at]
        part = text[start:end]
        own = [n for n in self.lexicon.named(part) if n.keys or n.absent]
        if own:
            name = own[0]
        if name is None or (change and not name.keys):
            return []
        inside = places(part, self.judge.table.steps)
        if not inside and _STEP_IN_BRACKETS.search(title) and (bare := _BRACKETED.search(part)):
            inside = [Place(bare.start("step"), bare.end("step"), (int(bare["step"]),))]
        spare = masked_spans(part, self.judge.table.run, own, inside)
        if not change and re.search(r"\d", part):  # "↑ 0.180": the value, with a mark of where it came from
            part = re.sub(r"[↑↓⬆⬇↗↘🔺🔻📈📉]", " ", part)
        numbers = quantities(part, spare)
        label = text[slice(*unit.cells[0])] if at else ""
        told = f"{title} {' '.join(re.findall(r'[（(][^()（）]+[)）]', label))}"
        unit_of = self.unit_in(told, name) or self.unit_in(self._unit_column(text, unit), name)
        unit_of = unit_of or self._unit_above(unit, name)
        if unit_of is not None:
            numbers = [q if q.unit else in_unit(q, unit_of) for q in numbers]
        claims = []
        if change and _FACTOR.match(title):
            numbers = [q if q.unit else replace(q, unit="ratio") for q in numbers]
        if not numbers and name.keys and (said := self._said_of_step(text, (start, end), name, inside)) is not None:
            return [said]
        if (
            not numbers
            and name.keys
            and (word := self._direction(part, name, self._change_pair(all_steps, row_steps, steps)))
        ):
            claims.append(Claim(part, start, end, word.status, word.reason, word.fact))
        if change:
            pair = self._against(at, title, all_steps, row_steps) or self._change_pair(all_steps, row_steps, steps)
            carried = Carried((name,), pair or (), pair, None)
        else:
            carried = Carried(
                (name,), steps if len(steps) == 1 else (), None, (min(steps), max(steps)) if len(steps) > 1 else None
            )
            arrowed = f"{title} {label if steps == row_steps else ''}"
            if len(steps) == 2 and re.search(r"(?i)→|->|➡|\bvs\b|versus|对比|/", arrowed):
                carried = Carried((name,), steps, (steps[0], steps[1]))
        if len(inside) > 1 and not change:
            carried = Carried((name,))
        elif inside:
            carried = Carried((name,), inside[0].steps, None, None)
        thirds = _THIRDS.search(title) and name.keys and len(numbers) == 2
        if thirds:
            scaled = [q if q.unit else q.in_unit_of(numbers[1]) for q in numbers]
            ids = next((found for key in name.keys[:3] if (found := self.judge.changes.levels(scaled, key))), None)
            if ids is not None:
                return [
                    Claim(q.text, start + q.start, start + q.end, "supported", "", own_id)
                    for q, own_id in zip(numbers, ids, strict=True)
                ]
            if _OF_THIRDS.search(title) and (note := self._levels_told(name.keys[0], scaled, part)):
                return [Claim(part, start, end, "contradicted", note)]
        for index, q in enumerate(numbers):
            frame = Frame(part, [], [], numbers, carried)
            self.judge.begin()
            if change:
                decision = self._change(frame, index, name, carried.pair, title)
            else:
                ended = (
                    not steps and name.statistic == "mean" and _LAST_OF.match(title)
                )  # "last mean reward": one value
                shown = replace(name, statistic="" if ended else self._aggregate(title, steps) or name.statistic)
                frame = Frame(part, [], inside if len(inside) > 1 else [], numbers, replace(carried, names=(shown,)))
                decision = self.judge.number(frame, index)
                if (
                    decision is not None and decision.status != "supported" and not shown.statistic
                    and len(steps) > 1 and carried.pair is None and not inside
                ):  # fmt: skip
                    mean = replace(carried, names=(replace(shown, statistic="mean"),))
                    averaged = self.judge.number(Frame(part, [], [], numbers, mean), index)
                    decision = averaged if averaged is not None and averaged.status == "supported" else decision
                if shown.statistic in {"max", "min"} and len(inside) == 1 and decision is not None and decision.status == "supported":  # fmt: skip
                    decision = self._at_its_step(q, name, inside[0].steps[0], shown.statistic) or decision
                if (
                    decision is not None
                    and decision.status == "supported"
                    and name.keys
                    and not own
                    and not name.derived
                ):
                    decision = self._of_its_own(decision, name, q)
                if decision is not None and decision.status == "supported" and decision.key is not None:
                    self.row_key = decision.key
            if decision is not None and decision.status != "supported" and stated(q, self.extra, name.keys, (), part):
                decision = Decision("supported")
            if decision is not None:
                claims.append(
                    Claim(
                        part[q.start : q.end],
                        start + q.start,
                        start + q.end,
                        decision.status,
                        decision.reason,
                        decision.fact,
                    )
                )
        if numbers and name.keys and claims and all(claim.status == "supported" for claim in claims):
            said = self._said_of_step(text, (start, end), name, inside)  # "3.12 peak at step 7"
            claims += [said] if said is not None and said.status == "contradicted" else []
        if (
            not numbers
            and steps
            and len(steps) == 1
            and name.keys
            and _GONE.match(part)
            and part.strip()
            and not change
        ):
            value = self.judge.table.value(name.keys[0], steps[0])
            gone = re.search(r"(?i)n/?a|missing|缺|无|没有|未|not |absent|none|null", part)
            if (
                value is None
                and gone
                and not any(self.judge.table.value(key, steps[0]) is not None for key in name.keys)
            ):
                claims.append(Claim(part, start, end, "supported"))
            if value is not None and gone:
                cell = self.judge.table.run.cell(name.keys[0], steps[0])
                note = self.judge.say(
                    "held",
                    metric=name.keys[0],
                    step=steps[0],
                    true=cell.value if cell else "",
                    line=cell.line if cell else 0,
                )
                claims.append(Claim(part, start, end, "contradicted", note))
        return claims

    def _of_its_own(self, decision: Decision, name: Named, q: Quantity) -> Decision:
        """A number in a metric's row is that metric's, or one of its family's, whatever else has it."""
        families = {key.rsplit("/", 1)[0] for key in name.keys}
        if decision.key in {None, *name.keys} or str(decision.key).rsplit("/", 1)[0] in families:
            return decision
        if self.judge.table.kind(str(decision.key)) == self.judge.table.kind(name.keys[0]):
            return decision
        return Decision("unsupported", self.judge.say("unbound", shown=q.text))

    def _extreme_step(  # noqa: PLR0917
        self, text: str, unit: Unit, at: int, name: Named, head: list[str], which: str = ""
    ) -> list[Claim]:
        """``| reward | 0.150 | 2 |`` under ``| metric | peak | step |``: the step of the extreme."""
        start, end = unit.cells[at]
        match = re.fullmatch(r"\D*(\d{1,7})\D*", text[start:end])
        which = which or next((w for w in map(self._label, reversed(head[:at])) if w in {"max", "min"}), "")
        if match is None or not which:
            return []
        first: Claim | None = None
        for key in [key for key in name.keys if key == self.row_key] or name.keys[:4]:
            rows = self.judge.table.finite(key)
            if not rows:
                continue
            best = (max if which == "max" else min)(v for _, v in rows)
            where = [s for s, v in rows if v == best]
            fact = self.judge.table.ledger.value(key, where[0], self.judge.table.run)
            identity = fact.id if fact else None
            if int(match[1]) in where:
                return [Claim(text[start:end], start, end, "supported", "", identity)]
            note = self.judge.say("extreme_step", metric=key, step=where[0], true=f"{best:.4g}")
            first = first or Claim(text[start:end], start, end, "contradicted", note, identity)
        return [] if first is None else [first]

    def _sum(self, text: str, unit: Unit, at: int, step: int, keys: Sequence[str]) -> list[Claim]:
        """A row's last cell as the sum of those before it."""
        start, end = unit.cells[at]
        numbers, table = quantities(text[start:end], []), self.judge.table
        values = [value for key in keys if (value := table.value(key, step)) is not None]
        if len(numbers) != 1 or len({table.kind(key) for key in keys}) != 1:
            return []
        true = sum(values)
        fine = any(agrees(n, h, true) for n, h in table.readings(numbers[0], keys[0], true))
        note = "" if fine else self.judge.say("sum", true=f"{true:.4g}", shown=text[start:end])
        return [Claim(text[start:end], start, end, "supported" if fine else "contradicted", note)]

    def _change(
        self, frame: Frame, index: int, name: Named, pair: tuple[int, int] | None, title: str
    ) -> Decision | None:
        """A cell of a column of changes; without a sign it is a rise, unless the title or the cell says which way."""
        q, table = frame.numbers[index], self.judge.table
        if pair is None:
            return None
        down = (
            None
            if _ONE_WAY.search(re.sub("涨跌|升降|增减", "", title) + frame.text) or q.unit in {"ratio", "factor"}
            else False
        )
        if re.search(r"[↓↘⬇🔻📉▼]", frame.text) and not q.sign:
            down = True
        if not q.sign and (way := _WAY.match(frame.text, q.end)):
            down = bool(way["less"])  # "12% lower"
        first: Decision | None = None
        keys = [key for key in name.keys if key == self.row_key] or list(name.keys[:4])
        for key in keys:
            x, y = table.value(key, pair[0]), table.value(key, pair[1])
            if x is None or y is None:
                continue
            fact = table.ledger.change(key, *pair, table.run)
            if self.judge.changes.is_change(q, table.kind(key), x, y, down=down):
                return Decision("supported", "", fact.id if fact else None, key)
            told = self.judge.changes.told_change(key, *pair, x, y, q)
            first = first or Decision("contradicted", told, fact.id if fact else None, key)
        return first

    def _change_pair(
        self, all_steps: list[tuple[int, ...]], row_steps: tuple[int, ...], steps: tuple[int, ...]
    ) -> tuple[int, int] | None:
        if len(steps) == 2 and not any(len(s) == 1 for s in all_steps):
            return steps[0], steps[1]
        columns = [s[0] for s in all_steps if len(s) == 1]
        if len(columns) >= 2:
            return columns[0], columns[-1]
        if row_steps and len(row_steps) == 2:
            return row_steps[0], row_steps[1]
        pairs = {s for s in all_steps if len(s) == 2}
        if len(pairs) == 1 and not row_steps and len(steps) != 2:
            first, second = next(iter(pairs))
            return first, second
        if row_steps and self.last_step is not None:
            return self.last_step, row_steps[0]
        return (steps[0], steps[1]) if len(steps) == 2 else None
