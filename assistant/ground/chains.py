"""Numbers that belong together: ``a → b → c``, ``between a and b``."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.ground.binding import Frame, Group, places_of
from assistant.ground.cells import Cells, excepted
from assistant.ground.changes import _is_reference
from assistant.ground.cues import cue, outside
from assistant.ground.deciding import Decision
from assistant.ground.places import Place
from assistant.ground.quantities import Quantity
from assistant.ground.verdicts import as_shown

_AT_ALL_TIMES: Final = re.compile(
    r"(?i)\b(?:always|throughout|at all times|anywhere|every\w*)\b|始终|全程|一直|一路|全部"
)
_SINCE_THEN: Final = re.compile(
    r"(?i)\b(?:after(?:wards| that)|thereafter|from (?:then|there) on|(?:ever )?since)\b|此后|之后|以后|随后|后来"
)


#: What is told of a range is that nothing left it.
_KEPT: Final = re.compile(
    r"(?i)\b(?:never|not once) le(?:aves?|ft)\b|\bstay(?:s|ed)?\b|\balways\b|\bthroughout\b|\bwithin\b|"
    r"一直|始终|全程|都在|均在|从未超出|没有超出"
)


class Chains(Cells):
    """Decides numbers that belong together."""

    def _chain(self, frame: Frame, group: Group, index: int, key: str) -> Decision | None:
        """One of ``a → b → c``: each at its own step, in order."""
        members = list(group.members)
        table = self.table
        steps = self._chain_steps(frame, members, key)
        numbers = [frame.numbers[at] for at in members]
        if any(not table.readings(q, key) for q in numbers):
            return self._wrong_unit(frame.numbers[index], key, steps or ())
        position = members.index(index)
        if steps is not None:
            decided = [self.cell(q, key, step) for q, step in zip(numbers, steps, strict=True)]
            if all(d.status == "supported" for d in decided):
                self.pair = (key, steps[0], steps[-1])
            return decided[position]
        own, how = places_of(frame, index)
        if how == "own" and len(own[0].steps) == 1 and own[0].start >= numbers[position].end and own[0].kind == "steps":
            return self.cell(numbers[position], key, own[0].steps[0])
        found = self._ascending(numbers, key)
        if found is not None and not frame.places and not self._telling(numbers, key):
            found = None
        if found is not None and (off := self._off_the_steps(frame, numbers, key, position)) is not None:
            return off
        if found is not None:
            self.pair = (key, found[0], found[-1])
            return self.cell(numbers[position], key, found[position])
        levels = self.changes.levels(numbers, key, self._stretches(frame, members, key))
        if levels is not None:
            return Decision("supported", "", levels[position], key)
        alone = [self._ascending([q], key) for q in numbers]
        if all(alone) and len(numbers) == 2:
            first, second = alone[0][0], alone[1][0]  # type: ignore[index]
            kind = table.kind(key)
            a, b = sorted((first, second))
            note = self.say("order", metric=key, shown=f"{numbers[0].text} → {numbers[1].text}", first=a, second=b,
                            from_=as_shown(table.value(key, a) or 0.0, numbers[0], kind),
                            to=as_shown(table.value(key, b) or 0.0, numbers[0], kind))  # fmt: skip
            return Decision("contradicted", note, None, key)
        if alone[position] and (frame.places or self._telling(numbers, key)):
            return Decision("supported", "", None, key)
        return self._somewhere(frame, numbers[position], key, frame.clause_text(numbers[position].start))

    def _off_the_steps(
        self, frame: Frame, numbers: Sequence[Quantity], key: str, position: int
    ) -> Decision | None:  # fmt: skip
        """``A rose from step 5 to step 60, while B went from 0.5 to 0.6``: between those, or the ends of the run."""
        clause = frame.clause(numbers[0].start)
        told = [s for p in frame.places for s in p.steps if re.search(r"\d", frame.text[p.start : p.end])]
        if len(told) != 2 or any(frame.clause(p.start) == clause for p in frame.places):
            return None
        rows = self.table.finite(key)
        ends = [(min(told), max(told)), (rows[0][0], rows[-1][0])]
        if len(numbers) != 2 or any(self.table.value(key, step) is None for step in told):
            return None
        if any(
            all(self.cell(q, key, step).status == "supported" for q, step in zip(numbers, pair, strict=True))
            for pair in ends
        ):
            return None
        if cue("maximum").search(frame.text) or cue("minimum").search(frame.text):
            return None  # of an extreme of the run
        return self.cell(numbers[position], key, (min(told), max(told))[position])

    def _stretches(
        self, frame: Frame, members: Sequence[int], key: str
    ) -> tuple[Sequence[tuple[int, float]], Sequence[tuple[int, float]]] | None:
        """The two stretches of steps whose levels two numbers are: those named, or one and the rest."""
        spans = sorted({self._placed(frame, p, key).steps for p in frame.places if p.kind == "range"})
        if len(members) != 2 or not spans or len(spans) > 2:
            return None
        rows = self.table.finite(key)
        first = [r for r in rows if spans[0][0] <= r[0] <= spans[0][-1]]
        if len(spans) == 2:
            return first, [r for r in rows if spans[1][0] <= r[0] <= spans[1][-1]]
        rest = [r for r in rows if r[0] < spans[0][0]]
        late = [r for r in rows if r[0] > spans[0][-1]]
        return (rest, first) if rest and not late else (first, late) if late and not rest else None

    def _chain_steps(self, frame: Frame, members: list[int], key: str) -> list[int] | None:
        count = len(members)
        first, last = frame.numbers[members[0]], frame.numbers[members[-1]]
        frame = replace(frame, places=[self._placed(frame, p, key) for p in frame.places])
        own: list[int | None] = []
        for at in members:
            places, how = places_of(frame, at)
            one = places[0].steps[0] if places and how == "own" and len(places[0].steps) == 1 else None
            own.append(one)
        if all(step is not None for step in own) and len(set(own)) == count:
            return [int(step) for step in own if step is not None]
        near: list[Place] = [p for p in frame.places if first.start - 90 <= p.start <= last.end + 60]
        others = [n for n in frame.names if n.keys and key not in n.keys]
        near = [
            p
            for p in near
            if not any(frame.clause(n.start) == frame.clause(p.start) for n in others)
            or frame.clause(p.start) == frame.clause(first.start)
        ]
        for place in sorted(near, key=lambda p: min(abs(p.end - first.start), abs(p.start - last.end))):
            if len(place.steps) == count and place.kind != "range":
                return list(place.steps)
            if place.kind == "range":
                held = [step for step, _ in self.table.within(key, place.steps)]
                if len(held) == count:
                    return held
                if count == 2 and held:
                    return [held[0], held[-1]]
        within = [p for p in near if frame.clause(p.start) == frame.clause(first.start)]
        if (
            count == 2
            and len(within) == 1
            and len(within[0].steps) == 1
            and len(near) == 2
            and within[0].end <= first.start
        ):
            found = self._ascending([first, last], key)
            if found and found[-1] == within[0].steps[0]:
                return found  # "step 7 又从 0.193 掉到 0.154": to that step
        singles = [p for p in near if len(p.steps) == 1]
        if count == 2 and len(singles) == 2:
            a, b = singles[0].steps[0], singles[1].steps[0]
            marker = re.search(rf"{cue('versus').pattern}", frame.text[: singles[0].start][-14:], re.IGNORECASE)
            marker = marker and re.search(
                rf"(?:{cue('versus').pattern})\s*$", frame.text[: singles[0].start], re.IGNORECASE
            )
            arrow = re.search(r"→|->|⟶|=>|⇒", frame.text[first.end : last.start])
            if (
                _is_reference(frame, singles[1])
                and not _is_reference(frame, singles[0])
                and singles[1].end <= first.start
            ):
                return [b, a]  # "up 11% at step 80 relative to step 45 (435 to 482)"
            return [min(a, b), max(a, b)] if marker or arrow else [a, b]
        if len(singles) == count:
            return [p.steps[0] for p in singles]
        if count == 2 and len(singles) == 1 and not any(own):
            return None
        if not frame.places:
            if count == 2 and (pair := frame.carried.pair_of(key)):
                return list(pair)
            if len(frame.carried.steps) == count:
                return list(frame.carried.steps)
            if frame.carried.span:
                held = [step for step, _ in self.table.within(key, frame.carried.span)]
                if len(held) == count:
                    return held
                if count == 2 and held:
                    return None
        return None

    def _telling(self, numbers: Sequence[Quantity], key: str) -> bool:
        """Whether two numbers without a step are a run's ends or extremes, rather than any two of many values."""
        rows = self.table.finite(key)
        if len(numbers) != 2 or len(rows) < 30:
            return True
        values = [v for _, v in rows]
        few = max(1, len(values) // 20)
        first, last = [*values[:few], min(values), max(values)], [*values[-few:], min(values), max(values)]
        return any(self._fits(numbers[0], key, v) for v in first) and any(self._fits(numbers[1], key, v) for v in last)

    def _ascending(self, numbers: Sequence[Quantity], key: str) -> list[int] | None:
        """Ascending steps at which a metric has these values, the widest apart first."""
        rows = self.table.within(key, None)
        found: list[int] = []
        floor = -math.inf
        for q in numbers:
            step = next((s for s, _ in rows if s > floor and self.cell(q, key, s).status == "supported"), None)
            if step is None:
                return None
            found.append(step)
            floor = step
        if len(numbers) == 2:
            last = next(
                (s for s, _ in reversed(rows) if s > found[0] and self.cell(numbers[1], key, s).status == "supported"),
                None,
            )
            found[1] = last if last is not None else found[1]
        return found

    def _ranged(self, frame: Frame, group: Group, span: Sequence[int]) -> Sequence[int] | None:
        """The steps of a range that one step is named beside: "0.72 in the last, and always between 0.6 and 0.8"."""
        if len(set(span)) != 1:
            return span or None
        first, last = (frame.numbers[at] for at in (group.members[0], group.members[-1]))
        text = frame.text[frame.clause_span(first.start)[0] : min(len(frame.text), last.end + 24)]
        if _SINCE_THEN.search(text):
            return (span[0], self.table.steps[-1])
        return None if _AT_ALL_TIMES.search(text) else span

    def _range(self, frame: Frame, group: Group, index: int, key: str) -> Decision | None:
        """``between a and b``, ``a–b``: the extremes over the steps, or bounds that every step keeps."""
        table = self.table
        steps, how = self.scope(frame, index, key)
        span = steps if how in {"span", "pair", "list", "carried_list"} else () if how == "none" else steps
        rows = table.finite(key, self._ranged(frame, group, span))
        left_out = excepted(frame)
        rows = [row for row in rows if row[0] not in left_out]  # "but for step 0, between 3.6 and 4.2 s"
        low_q, high_q = (frame.numbers[at] for at in group.members)
        if not low_q.unit and high_q.unit:
            low_q = low_q.in_unit_of(high_q)
        if not rows or not table.readings(low_q, key) or not table.readings(high_q, key):
            return self._wrong_unit(high_q, key, steps)
        siblings = [f"{key[: -len('mean')]}{end}" for end in ("min", "max")] if key.endswith("/mean") else []
        low, high = min(v for _, v in rows), max(v for _, v in rows)
        options = [(low, high)]
        if all(sibling in table.run.columns for sibling in siblings) and siblings:
            lows, highs = (table.finite(sibling, span or None) for sibling in siblings)
            if lows and highs:
                options.append((min(v for _, v in lows), max(v for _, v in highs)))
        exact = re.search(
            r"(?i)\brang|\bspan|范围|区间|from|从|变化", outside(frame, max(0, low_q.start - 40), low_q.start)
        )
        for a, b in options:
            if self._fits(low_q, key, a) and self._fits(high_q, key, b):
                return Decision("supported", "", self.table.aggregate("range", key, b - a, rows), key)
            wide = Quantity(0, 0, "", high_q.number, high_q.half, high_q.unit, high_q.factor)
            shown_low, shown_high = table.readings(low_q, key, a)[0], table.readings(wide, key, b)[0]
            inside = a >= shown_low[0] - shown_low[1] and b <= shown_high[0] + shown_high[1]
            telling = (shown_high[0] - shown_low[0]) <= 2.5 * max(b - a, shown_high[1] * 2, abs(b) * 0.05)
            fits = [self._fits(low_q, key, a), self._fits(high_q, key, b)]
            other = high_q if fits[0] else low_q
            one_end = any(fits) and other.digits >= 3 and not other.approx  # "from 0.004 to 0.831": both ends are told
            if inside and _KEPT.search(frame.text):  # "always between 111 and 125": bounds, if near ones
                ends = (abs(shown_low[0] - a), abs(shown_high[0] - b))
                units = (2.0 * shown_low[1], 2.0 * shown_high[1])  # one more of the last digit: rounded outwards
                off = [_significant(q) for q, fit, end, unit in zip((low_q, high_q), fits, ends, units, strict=True)
                       if not fit and end >= unit]  # fmt: skip
                told = (
                    any(fits) and (low_q if fits[0] else high_q).digits >= 3
                )  # one end to three digits, so is the other
                if max(ends) <= 0.1 * (b - a) and all(digits < (3 if told else 4) for digits in off):
                    return Decision("supported", "", self.table.aggregate("range", key, b - a, rows), key)
            if inside and telling and not exact and not one_end:
                return Decision("supported", "", self.table.aggregate("range", key, b - a, rows), key)
        kind = table.kind(key)
        note = self.say("range", metric=key, low=as_shown(low, low_q, kind), high=as_shown(high, high_q, kind),
                        shown=f"{low_q.text}–{high_q.text}")  # fmt: skip
        return Decision("contradicted", note, self.table.aggregate("range", key, high - low, rows), key)


def _significant(q: Quantity) -> int:
    """Digits of a number but for zeros at its ends: how round it is."""
    return len(re.sub(r"[eE].*|[^\d.]", "", q.text).replace(".", "").strip("0"))
