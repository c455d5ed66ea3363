"""Cells that tell a statistic, a change or a share of the metric in their row, by what their column's title says."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from assistant.ground.binding import Carried
from assistant.ground.deciding import Decision
from assistant.ground.lexicon import Named
from assistant.ground.quantities import Quantity, quantities
from assistant.ground.rowwords import RowWords
from assistant.ground.table import agrees, median
from assistant.ground.titles import Title, title_of
from assistant.ground.verdicts import Claim, as_shown

#: The step beside an extreme: ``(step 3)``, ``@ 3``, ``（第 3 步）``, ``, step 3``.
_ITS_STEP: Final = re.compile(
    r"(?i)\s*(?:[（(\[]\s*(?:@|at|on|in)?\s*(?:steps?|第|s|iter(?:ation)?)?\s*[:：#]?\s*(?P<one>\d{1,7})\s*步?\s*[)）\]]|(?:[@/]|[,，]\s*(?=step|第|at))\s*(?:at )?(?:steps?|第|s)?\s*(?P<two>\d{1,7})\s*步?|(?:at )?(?:steps?|第)\s*(?P<three>\d{1,7})\s*步?)[`*\s]*$"
)
_STEP_ALONE: Final = re.compile(
    r"(?i)[`*\s]*(?:@|at|on|in|第|global_?)?\s*(?:steps?|s|iter(?:ation)?)?[\s_#]*(?P<step>\d{1,7})\s*步?[`*\s]*"
)
_ARROW: Final = r"\s*(?:->|→|⟶|➜|➡\ufe0f?|=>|⇒|➔|—>)\s*"
_JOINT: Final = re.compile(r"(?i)[`*\s]*(?:[-–—~～∼…]{1,2}|\.{2,3}|to|到|至|,|，|/)[`*\s]*~?[`*\s]*")
_NO_CHANGE: Final = re.compile(r"(?i)[`*\s(（]*(?:—|–|-{1,3}|n/?a|无|none|null|/|baseline|基准|起点|start)[`*\s)）]*")
_DOWN_MARK: Final = re.compile(
    r"[↓↘⬇🔻📉▼⤵]|(?i:\bdown\b|\blower\b|\bdecrease|\bfell\b|\bdropp?|\breduc|\bless\b|\bdeclin)|[降跌减少低]"
)
_UP_MARK: Final = re.compile(
    r"[↑↗⬆🔺📈▲⤴]|(?i:\bup\b|\bhigher\b|\bincrease|\brose\b|\bgrew\b|\bmore\b|\bgain)|[升涨增高]"
)
_BARE_MARKS: Final = re.compile(r"[↑↓⬆⬇↗↘🔺🔻📈📉▲▼⤴⤵\ufe0f]")
_WORDY: Final = re.compile(r"[A-Za-z\u3400-\u9fff]")
UNITS: Final = frozenset({"s", "ms", "gib", "%", "tokens", "rate", "pp"})
_ROLES: Final = frozenset(
    {
        "max",
        "min",
        "mean",
        "median",
        "std",
        "range",
        "argmax",
        "argmin",
        "argstep",
        "both",
        "factor",
        "change",
        "share",
        "count",
        "trend",
        "verdict",
        "note",
        "unit",
    }
)
_EXTREMES: Final = {"max": max, "min": min}


@dataclass(frozen=True, slots=True)
class Row:
    """What a row's cells have in common.

    Attributes:
        name: the metric.
        head: the titles.
        units: the unit that a column of its own tells.
        pair: the two steps that changes are between; the first and the last that hold the metric without one.
        span: the stretch that statistics are over; the whole run without one.
        step: the one step that shares are of.
    """

    name: Named
    head: Sequence[str]
    units: str = ""
    pair: tuple[int, int] | None = None
    span: tuple[int, ...] = ()
    step: int | None = None


class StatCells(RowWords):
    """Decides cells under the titles of statistics, changes and shares."""

    prose: Callable[[str, int, Carried], list[Claim]] | None = None
    """Reads a remark as a sentence about the metric."""
    heading = ""

    def stated(self, text: str, cell: tuple[int, int], at: int, row: Row) -> list[Claim] | None:
        """The claims of a cell; ``None`` where its title is none of these, or where what it holds is not read here."""
        self.heading = row.head[at] if at < len(row.head) else ""
        title = title_of(self.heading)
        part = text[slice(*cell)]
        if title.role not in _ROLES or not row.name.keys:
            return None
        if _NO_CHANGE.fullmatch(part) or not part.strip():
            return []
        if title.role in {"note", "trend", "verdict"}:
            return self._remarked(text, cell, row)
        if title.role == "unit":
            return self._unit_told(part, cell, row)
        if title.role in {"argmax", "argmin", "argstep"}:
            which = title.role[3:] if title.role != "argstep" else self._extreme_before(row.head[:at])
            return self._at_step(part, cell, row, which) if which else None
        decided: list[tuple[Quantity, Decision]] | None = None
        first: list[tuple[Quantity, Decision]] | None = None
        for key in [key for key in row.name.keys if key == self.row_key] or [
            *self._with_siblings(row.name, title.role)
        ]:
            decided = self._of_key(part, title, row, key)
            if decided and all(d.status == "supported" for _, d in decided):
                if title.role not in {"max", "min"} or key in row.name.keys:
                    self.row_key = key
                break
            first = first or decided
        else:
            decided = first
        if decided is None:
            return None
        return [
            Claim(part[q.start : q.end], cell[0] + q.start, cell[0] + q.end, d.status, d.reason, d.fact)
            for q, d in decided
        ]

    def _with_siblings(self, name: Named, role: str) -> Iterable[str]:
        """The keys meant; of a mean also its own maximum or minimum at each step."""
        yield from name.keys[:4]
        if role in {"max", "min"}:
            held = (f"{key.rsplit('/', 1)[0]}/{role}" for key in name.keys[:4] if "/" in key)
            yield from (key for key in held if key in self.judge.table.run.columns and key not in name.keys[:4])

    def _extreme_before(self, titles: Sequence[str]) -> str:
        return next((t.role for t in map(title_of, reversed(titles)) if t.role in _EXTREMES), "")

    # -- numbers -----------------------------------------------------------------------------------
    def _read(self, part: str, title: Title, row: Row, heading: str) -> list[Quantity]:
        """The numbers of a cell, in the unit that the title, a column of units or the row's label tells."""
        numbers = quantities(part, [])
        unit = self.unit_in(heading, row.name) or self.unit_in(f"({row.units})" if row.units else "", row.name)
        if title.role in {"change", "share"} and title.percent and not any(q.unit == "%" for q in numbers):
            unit = replace(_PERCENT, number=1.0)
        elif title.role == "change" and unit is not None and unit.unit == "%":
            unit = None
        if title.role == "factor":
            return [q if q.unit else replace(q, unit="ratio") for q in numbers]
        if unit is None or (unit.unit == "%" and title.role == "both"):
            return numbers
        return [q if q.unit else in_unit(q, unit) for q in numbers]

    def unit_in(self, heading: str, name: Named | None) -> Quantity | None:
        """The unit in a heading's brackets or behind its slash, as one of it."""
        heading = re.sub(r"\bs\s?=?\s?\d+\b", " ", heading)  # "s=15" is no second
        parts = [
            *re.findall(r"[（(\[]([^()（）\[\]]{1,24})[)）\]]", heading),
            re.sub(r"[（(\[].*?[)）\]]", "", heading),
        ]
        timed = name is not None and bool(name.keys) and self.judge.table.kind(name.keys[0]) == "seconds"
        for part in parts:
            for word in re.split(r"[,，;；]|(?<=\S)\s?/\s?(?=\S{1,8}$)", part):
                short = word.strip().lower()
                if re.match(r"min\W|minmax|min ?to", short):
                    continue
                if short in {"min", "m", "max"} and not (timed and short == "min" and part != parts[-1]):
                    continue
                found = next((q for q in quantities("1 " + word.strip(), []) if q.unit in UNITS), None)
                if found is not None:
                    return found
        return None

    # -- one key -----------------------------------------------------------------------------------
    def _of_key(self, part: str, title: Title, row: Row, key: str) -> list[tuple[Quantity, Decision]] | None:
        """A cell's numbers held against one metric; ``None`` where its form is none that is read here."""
        table = self.judge.table
        heading = self.heading
        if title.role in {"both", "factor", "change"}:
            return self._changed(part, title, row, key, heading)
        if title.role == "share":
            return self._shared(part, title, row, key, heading)
        rows = table.finite(key, row.span or None)
        if not rows:
            return None
        values = [v for _, v in rows]
        if title.role == "count":
            numbers = quantities(part, [])
            return [
                (q, self._told(q.number == len(values), q, "count", true=len(values), shown=q.text))
                for q in numbers[:1]
            ]
        its_step = _ITS_STEP.search(part) if title.role in _EXTREMES else None
        body = part[: its_step.start()] if its_step else part
        body = _BARE_MARKS.sub(" ", body)
        numbers = self._read(body, title, row, heading)
        if title.role == "range":
            if len(numbers) == 2 and _JOINT.fullmatch(body[numbers[0].end : numbers[1].start]):
                low, high = numbers
                high = replace(high, approx=low.approx, half=min(high.half, 0.5 * 10.0**-high.decimals * _scale(high)))
                if not low.unit and high.unit:
                    low = in_unit(low, replace(high, number=1.0))
                return [
                    (q, self._is(q, key, value, "range", low, values))
                    for q, value in ((low, min(values)), (high, max(values)))
                ]
            return None
        if len(numbers) != 1 or _WORDY.search(body[: numbers[0].start] + body[numbers[0].end :]):
            return (
                None
                if len(numbers) != 1 or len(body) > 40
                else self._worded(numbers, body, title, key, values, its_step, rows)
            )
        return self._statistic(numbers, title, key, values, its_step, rows)

    def _worded(self, numbers: list[Quantity], body: str, title: Title, key: str, values: list[float],  # noqa: PLR0917
                its_step: re.Match[str] | None, rows: list[tuple[int, float]]) -> list[tuple[Quantity, Decision]] | None:  # fmt: skip
        around = body[: numbers[0].start] + body[numbers[0].end :]
        if re.fullmatch(r"(?i)[\s`*~≈()（）]*(?:约|about|around|approx\.?|ca\.?|nats?|个)?[\s`*~≈()（）]*", around):
            return self._statistic(numbers, title, key, values, its_step, rows)
        return None

    def _statistic(self, numbers: list[Quantity], title: Title, key: str, values: list[float],  # noqa: PLR0917
                   its_step: re.Match[str] | None, rows: list[tuple[int, float]]) -> list[tuple[Quantity, Decision]]:  # fmt: skip
        q = numbers[0]
        trues = {
            "max": [max(values)], "min": [min(values)], "mean": [statistics.fmean(values)], "median": [median(values)],
            "std": [statistics.pstdev(values), statistics.stdev(values)] if len(values) > 1 else [0.0],
        }[title.role]  # fmt: skip
        decided = [self._is(q, key, true, title.role, q, values) for true in trues]
        found = next((d for d in decided if d.status == "supported"), decided[0])
        if its_step is not None and found.status == "supported":
            told = int(next(g for g in its_step.groups() if g))
            where = [s for s, v in rows if v == trues[0]]
            if told not in where:
                note = self.judge.say("extreme_step", metric=key, step=where[0], true=f"{trues[0]:.4g}")
                found = Decision("contradicted", note, None, key)
        return [(q, found)]

    def _is(self, q: Quantity, key: str, true: float, what: str, low: Quantity, values: Sequence[float]) -> Decision:  # noqa: PLR0917
        table = self.judge.table
        if any(agrees(n, h, true) for n, h in table.readings(q, key, true)):
            return Decision("supported", "", None, key)
        kind, steps = table.kind(key), table.steps
        shown = as_shown(true, q, kind)
        if what == "range":
            return Decision(
                "contradicted",
                self.judge.say(
                    "range",
                    metric=key,
                    low=as_shown(min(values), low, kind),
                    high=as_shown(max(values), low, kind),
                    shown=q.text,
                ),
            )
        if what == "mean":
            return Decision(
                "contradicted",
                self.judge.say("mean", metric=key, first=steps[0], last=steps[-1], true=shown, shown=q.text),
            )
        return Decision("contradicted", self.judge.say("factor", true=shown, shown=q.text))

    def _told(self, fine: bool, q: Quantity, note: str, **values: object) -> Decision:
        return Decision("supported") if fine else Decision("contradicted", self.judge.say(note, **values))

    # -- changes -----------------------------------------------------------------------------------
    def _changed(
        self, part: str, title: Title, row: Row, key: str, heading: str
    ) -> list[tuple[Quantity, Decision]] | None:
        """A change between two steps: values with an arrow, differences, percentages, factors, in any mixture."""
        table, held = self.judge.table, self.judge.table.held(key)
        pair = row.pair or ((held[0], held[-1]) if len(held) > 1 else None)
        x, y = (table.value(key, pair[0]), table.value(key, pair[1])) if pair else (None, None)
        numbers = self._read(part, title, row, heading)
        if x is None or y is None or pair is None or not numbers or not math.isfinite(x) or not math.isfinite(y):
            return None
        plain = quantities(part, [])
        chained = (
            len(numbers) > 1
            and re.fullmatch(rf"[`*]*{_ARROW}[`*~≈约\s]*", part[numbers[0].end : numbers[1].start]) is not None
        )
        result: list[tuple[Quantity, Decision]] = []
        if chained:
            ends = [
                plain[0] if plain[0].unit or not plain[1].unit else in_unit(plain[0], replace(plain[1], number=1.0)),
                plain[1],
            ]
            unit = self.unit_in(heading if not title.percent else "", row.name) or self.unit_in(
                f"({row.units})" if row.units else "", row.name
            )
            ends = [q if q.unit or unit is None else in_unit(q, unit) for q in ends]
            for q, step in zip(ends, pair, strict=True):
                result.append((q, self.judge.cell(q, key, step)))
            numbers = numbers[2:]
        if title.role == "both" and not chained:
            return None
        around = part
        for q in [*numbers, *[q for q, _ in result]]:
            around = around[: q.start] + " " * (q.end - q.start) + around[q.end :]
        down = title.down
        if _DOWN_MARK.search(around) or _UP_MARK.search(around):
            down = None if _DOWN_MARK.search(around) and _UP_MARK.search(around) else bool(_DOWN_MARK.search(around))
            if down is not None and (y - x) * (-1 if down else 1) < 0:
                note = self.judge.changes.told_change(key, *pair, x, y, numbers[0] if numbers else plain[0])
                return [(numbers[0] if numbers else plain[0], Decision("contradicted", note, None, key))]
        elif numbers and (numbers[0].unit in {"ratio", "factor"}):
            down = False
        for q in numbers:
            way = None if q.sign else down
            if q.unit in {"ratio", "factor"}:
                way = None if title.role == "factor" else down
            if self.judge.changes.is_change(q, table.kind(key), x, y, down=way) and not (
                q.unit in {"ratio", "factor"}
                and title.role == "factor"
                and not agrees(abs(q.number), q.half + 0.004 * abs(q.number), y / x if x else math.nan)
            ):
                fact = table.ledger.change(key, *pair, table.run)
                result.append((q, Decision("supported", "", fact.id if fact else None, key)))
            else:
                result.append(
                    (q, Decision("contradicted", self.judge.changes.told_change(key, *pair, x, y, q), None, key))
                )
        return result

    def _shared(
        self, part: str, title: Title, row: Row, key: str, heading: str
    ) -> list[tuple[Quantity, Decision]] | None:
        """The part of a step's time that a phase takes."""
        table, total = self.judge.table, self.judge.table.total_time()
        numbers = self._read(part, title, row, heading)
        if total is None or row.step is None or len(numbers) != 1 or table.kind(key) != "seconds" or len(part) > 30:
            return None
        own, whole = table.value(key, row.step), table.value(total, row.step)
        if own is None or not whole:
            return None
        q, true = numbers[0], own / whole
        shown = (q.number * q.factor, q.half * q.factor) if q.unit == "%" else (q.number, q.half)
        if q.unit not in {"%", ""}:
            return None
        fine = agrees(*shown, true) or (title.percent and not q.unit and agrees(q.number / 100, q.half / 100, true))
        return [(q, self._told(fine, q, "share", metric=key, step=row.step, true=f"{100 * true:.1f}%", shown=q.text))]

    # -- words -------------------------------------------------------------------------------------
    def _at_step(self, part: str, cell: tuple[int, int], row: Row, which: str) -> list[Claim] | None:
        """The step of an extreme, by itself."""
        match = _STEP_ALONE.fullmatch(part)
        if match is None:
            return None
        first: Claim | None = None
        for key in [key for key in row.name.keys if key == self.row_key] or [*self._with_siblings(row.name, which)]:
            rows = self.judge.table.finite(key, row.span or None)
            if not rows:
                continue
            best = _EXTREMES[which](v for _, v in rows)
            where = [s for s, v in rows if v == best]
            fact = self.judge.table.ledger.value(key, where[0], self.judge.table.run)
            identity = fact.id if fact else None
            if int(match["step"]) in where:
                return [Claim(part, *cell, "supported", "", identity)]
            note = self.judge.say("extreme_step", metric=key, step=where[0], true=f"{best:.4g}")
            first = first or Claim(part, *cell, "contradicted", note, identity)
        return None if first is None else [first]

    def _unit_told(self, part: str, cell: tuple[int, int], row: Row) -> list[Claim]:
        """A unit of its own column: refused where the metric is measured in none such."""
        told = self.unit_in(f"({part})", None)
        if told is None or any(self.judge.table.readings(told, key) for key in row.name.keys[:4]):
            return []
        return [Claim(part, *cell, "contradicted", self.judge.say("unread", shown=part))]

    def _remarked(self, text: str, cell: tuple[int, int], row: Row) -> list[Claim] | None:
        """A remark with a number or a step in it, read as a sentence about the metric."""
        part = text[slice(*cell)]
        if self.prose is None or not re.search(r"\d", part):
            return None
        pair = row.pair
        return self.prose(part, cell[0], Carried((row.name,), pair or (), pair, None)) or None


_PERCENT: Final = Quantity(0, 1, "%", 1.0, 0.0, "%", 0.01)


def in_unit(q: Quantity, unit: Quantity) -> Quantity:
    """A bare number in a unit told elsewhere, with its scale (``k tokens``)."""
    scale = unit.number
    return replace(q, unit=unit.unit, factor=unit.factor, number=q.number * scale, half=q.half * scale)


def _scale(q: Quantity) -> float:
    shown = re.search(r"[\d.]+", q.text)
    return abs(q.number) / float(shown.group()) if shown and q.number and float(shown.group().rstrip(".") or 0) else 1.0
