"""Sentences read as a whole: where a metric stands against its first, last or best value.

``below its starting value (0.516)``, ``12.2 points below its best (0.578 at step 15)``, ``71% of its initial value``,
``after peaking at 0.578 at step 15, it declined to 0.456``.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assistant.ground.cues import cue, negated, outside
from assistant.ground.places import Place
from assistant.ground.quantities import Quantity
from assistant.ground.table import agrees
from assistant.ground.verdicts import plain
from assistant.ground.wholereader import Whole
from assistant.ground.wholesums import SumReader

_LEVEL: Final = r"(?:(?P<first>initial|starting|original|first|opening)|(?P<last>final|last|latest|closing)|(?P<max>peak|highest|maximum|top)|(?P<min>lowest|minimum|bottom)|(?P<best>best)|(?P<worst>worst))(?:[ -](?:value|level|score|point|mark|reading|figure|one))?"
_AGAINST: Final = re.compile(
    rf"(?i)\b(?:(?P<less>below|under|lower than|less than|smaller than|shorter than|short of|down from)|(?P<more>above|over|higher than|more than|larger than|longer than|up from)) (?:its|the|their) (?:own )?{_LEVEL}(?: of)?\s*[（(]?\s*(?:of )?[`*]*$"
)
_PORTION: Final = re.compile(rf"(?i)[`*\s]*of (?:its|the|their) {_LEVEL}\b")
_PORTION_BEFORE: Final = re.compile(
    r"(?:只有|仅有|仅为|只剩|还剩|剩下|降到|跌到|升到|涨到|达到|相当于|是|为)了?\s*(?:(?P<first>初始值?|起始值?|起点|最初|首步)|(?P<max>峰值|最高点|最大值)|(?P<min>谷值|最低点|最小值))的\s*(?:约|大约)?\s*[`*]*$"
)
_AFTER: Final = re.compile(
    r"(?i)^\W*(?:after|following|having)\s+(?:it\s+|its\s+|an?\s+|the\s+)?(?:[a-z]+ )?(?:\w+ing|\w+ed|peak|high|low|maximum|minimum|start|value)\b"
)
#: "Well above step 1 (0.047)": what the step before is set against.
_BESIDE_STEP: Final = re.compile(
    r"(?i)\b(?:(?P<less>below|under|lower than|less than|short of)|(?P<more>above|over|higher than|more than|ahead of)) (?:the (?:value|level) (?:of|at|in) |that of |at )?[`*]*$"
)
_LOGGED: Final = re.compile(
    r"(?i)\b(?:is|was|were|are|been|got|gets)\s+(?:only |just )?(?:logged|recorded|reported|measured|printed|run|validated|evaluated)\s+(?:only |just |exactly )?(?P<count>once|twice|thrice)\b(?! (?:every|per|an?|each)\b)"
)
_COUNT: Final = {"once": 1, "twice": 2, "thrice": 3}


class LevelReader(SumReader):
    """Claims about where a metric stands."""

    def against_level(self) -> Iterator[Whole]:
        """``0.456 is below its starting value (0.516)``."""
        key = self.key()
        for at, q in enumerate(self.frame.numbers):
            match = _AGAINST.search(self.text, max(0, q.start - 70), q.start)
            if match is None or key is None or negated(self.frame, match.start()):
                continue
            closed = re.match(r"[^()（）]{0,24}[)）]", self.text[q.end :])
            end = q.end + (closed.end() if closed else 0)
            found = self._level(match, key)
            now = self._now(key, [p for p in self.frame.places if q.end <= p.start < end])
            if found is None or now is None:
                continue
            (step, base), (here, value) = found, now
            inside = [s for p in self.frame.places if q.end <= p.start < end for s in p.steps]
            fine = self.judge.cell(q, key, step).status == "supported" and (
                not inside or self.table.value(key, inside[0]) == base
            )
            fine = fine and (value < base if match["less"] else value > base)
            start = match.start()
            before = self.frame.numbers[at - 1] if at else None
            if before is not None and not self.text[before.end : match.start()].strip(" `*"):
                fine, start = fine and self._by(before, value - base, base), before.start
            elif (
                before is not None
                and not self.frame.places
                and self.judge.cell(before, key, here).status != "supported"
            ):
                continue
            fact = self.table.ledger.value(key, step, self.table.run)
            note = self.judge.say("held", metric=key, step=step, true=plain(base), line=self._line(key, step))
            covers = [
                (n.start, n.end)
                for n in self.frame.numbers[: max(0, at - (start != match.start()))]
                if self._stands_alone(n, key, here)
            ]
            yield self.say(start, end, fine, note, fact.id if fact else None, covers)

    def against_step(self) -> Iterator[Whole]:
        """``reward at step 3 (0.127) remains above step 1 (0.047), albeit below step 2 (0.150)``."""
        key = self.key()
        told = [p for p in self.frame.places if p.kind == "steps" and len(p.steps) == 1]
        if key is None or len(told) < 2 or len(told) != len(self.frame.places):
            return
        against = {p.start: m for p in told if (m := _BESIDE_STEP.search(self.text, max(0, p.start - 40), p.start))}
        now = next((p for p in told if p.start not in against), None)
        value = self.table.value(key, now.steps[0]) if now is not None else None
        if now is None or value is None or sum(p.start not in against for p in told) != 1:
            return
        for place in told:
            match = against.get(place.start)
            other = self.table.value(key, place.steps[0])
            if match is None or other is None or place.start < now.start or negated(self.frame, match.start()):
                continue
            fine, end = (value < other if match["less"] else value > other), place.end
            opened = re.match(r"[`*\s]*[（(]\s*", self.text[place.end :])
            q = next((n for n in self.frame.numbers if opened and n.start == place.end + opened.end()), None)
            if q is not None:
                fine, end = fine and self.judge.cell(q, key, place.steps[0]).status == "supported", q.end
            fact = self.table.ledger.change(key, place.steps[0], now.steps[0], self.table.run)
            word = "rose" if value > other else "fell" if value < other else "same"
            note = self.judge.say(
                word, metric=key, first=place.steps[0], second=now.steps[0], from_=plain(other), to=plain(value)
            )
            yield self.say(match.start(), end, fine, note, fact.id if fact else None)

    def logged_so_often(self) -> Iterator[Whole]:
        """``validation was logged only once``."""
        match = _LOGGED.search(self.text)
        names = [n for n in self.frame.names if n.keys and match is not None and n.end <= match.start()]
        if match is None or not names or self.frame.places:
            return
        count = len(self.table.held(names[-1].keys[0]))
        note = self.judge.say("count", true=count, shown=match["count"])
        yield self.say(*match.span(), count == _COUNT[match["count"].lower()], note)

    def portion_of_level(self) -> Iterator[Whole]:
        """``at 71% of its initial value``, ``只有初始值的 71%``."""
        key = self.key()
        for q in self.frame.numbers:
            if q.unit != "%" or q.sign or key is None:
                continue
            behind, ahead = (
                _PORTION.match(self.text, q.end),
                _PORTION_BEFORE.search(self.text, max(0, q.start - 24), q.start),
            )
            match = behind or ahead
            if match is None or (found := self._level(match, key)) is None or (now := self._now(key, [])) is None:
                continue
            if re.search(
                r"(?i)\b(?:lost|shed|by|gained|down|up)\s*(?:about|roughly|around|some)?\s*[`*]*$",
                self.text[max(0, q.start - 16) : q.start],
            ):
                continue  # "lost 29% of its initial value"
            base, value = found[1], now[1]
            fine = base != 0 and agrees(q.number, q.half, 100 * value / base, bound=q.bound)
            note = self.judge.changes.told_change(key, found[0], now[0], base, value, q)
            yield self.say(min(q.start, match.start()), max(q.end, match.end()), fine, note)

    def after_that(self) -> Iterator[Whole]:
        """``After peaking at 0.578 at step 15, eval_reward declined to 0.456``: where it ended."""
        key, breaks = self.key(), self.frame.breaks
        if key is None or len(breaks) != 1 or not _AFTER.match(self.text):
            return
        cut = breaks[0]
        behind = [q for q in self.frame.numbers if q.start > cut]
        places = self.frame.places
        if len(behind) != 1 or len(places) != 1 or places[0].start > cut or len(places[0].steps) != 1:
            return
        q, rows, since = behind[0], self.table.finite(key), self.table.value(key, places[0].steps[0])
        words = outside(self.frame, cut + 1, q.start)
        up, down = (bool(cue(sense).search(words)) for sense in ("up", "down"))
        led = re.search(
            r"(?i)(?:\bto|\bat|\breached|\breaching|\bending at)\s*(?:just|only|about|around)?\s*[`*]*$", words
        )
        if not rows or since is None or up == down or led is None or rows[-1][0] <= places[0].steps[0]:
            return
        step, value = rows[-1]
        fine = self.judge.cell(q, key, step).status == "supported" and (value < since if down else value > since)
        fact = self.table.ledger.value(key, step, self.table.run)
        note = self.judge.say("held", metric=key, step=step, true=plain(value), line=self._line(key, step))
        yield self.say(cut + 1, q.end, fine, note, fact.id if fact else None)

    def _level(self, match: re.Match[str], key: str) -> tuple[int, float] | None:
        """The step and the value that words mean: the first, the greatest, the best."""
        rows = self.table.finite(key)
        word = next((name for name, text in match.groupdict().items() if text and name not in {"less", "more"}), "")
        if not rows or not word:
            return None
        if word in {"first", "last"}:
            return rows[0] if word == "first" else rows[-1]
        if word in {"best", "worst"}:
            better = self.table.better(key)
            if not better:
                return None
            word = "max" if (better == "higher") == (word == "best") else "min"
        return (max if word == "max" else min)(rows, key=lambda row: row[1])

    def _now(self, key: str, but: list[Place]) -> tuple[int, float] | None:
        """The step that is spoken of, and its value: the one named, else the last."""
        told = [p for p in self.frame.places if p not in but and re.search(r"\d", self.text[p.start : p.end])]
        steps = [s for p in told for s in p.steps] or list(self.frame.carried.steps if not self.frame.places else ())
        rows = self.table.finite(key)
        if len(set(steps)) > 1 or not rows:
            return None
        step = steps[0] if steps else rows[-1][0]
        value = self.table.value(key, step)
        return None if value is None else (step, value)

    def _line(self, key: str, step: int) -> int:
        cell = self.table.run.cell(key, step)
        return cell.line if cell else 0

    def _stands_alone(self, q: Quantity, key: str, step: int) -> bool:
        return (
            not any(p.end <= q.start for p in self.frame.places) and self.judge.cell(q, key, step).status == "supported"
        )

    @staticmethod
    def _by(q: Quantity, apart: float, base: float) -> bool:
        """Whether a number is how far two values lie apart."""
        if q.unit in {"pp", "points"}:
            return any(agrees(q.number * scale, q.half * scale, abs(apart)) for scale in (0.01, 1.0))
        if q.unit == "%":
            return base != 0 and agrees(q.number, q.half, 100 * abs(apart / base), bound=q.bound)
        return agrees(q.number * q.factor, max(q.half, 1e-12) * q.factor, abs(apart), bound=q.bound)
