"""What is higher than what: two metrics, two steps, the end and the start of a run."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from assistant.ground.binding import Frame
from assistant.ground.changes import SPEED, _is_reference
from assistant.ground.cues import change_cue, cue
from assistant.ground.deciding import Decision
from assistant.ground.judging import Judge
from assistant.ground.places import Place
from assistant.ground.quantities import Quantity
from assistant.ground.verdicts import as_shown

BARE: Final = Quantity(0, 0, "", 0.0, 0.0, digits=4)
#: What comes first is what is compared with: "compared with 0.4, …", 与 0.4 相比.
_AGAINST: Final = re.compile(
    r"(?i)\b(?:compared (?:to|with)|relative to|against|versus|vs|from|than)\b|相比|相较|比起|较(?!为)|对比|对照|与|跟|和|从|由|比(?!例|值|率)"
)
#: Between two numbers told for both sides: "2.44 against 1.44", 0.762 对 0.772.
_SIDES: Final = re.compile(
    r"(?i)\s*(?:,\s*)?(?:against|versus|vs\.?|compared (?:to|with)|to|对比?|比|和|而[^，。\d]{0,6})\s*"
)
_THAN: Final = re.compile(r"(?i)\s*[)）]\s*than\b[^.;,，。；\d]{0,40}[（(]\s*")
_ENDS: Final = re.compile(
    r"(?i)\b(?:ends?|ended|finish(?:es|ed)?|final(?:ly)?|last|late|closes?|closed)\b[^.;]{0,40}\b(?:above|below|over|under|beneath|higher|lower)\b[^.;]{0,12}?\b(?:where|what|its|the)\b[^.;]{0,16}?\b(?:start(?:s|ed|ing)?|beg[ia]ns?|beginning|first|initial|opening|opened)\b|\b(?:ends?|ended|finish(?:es|ed)?|final(?:ly)?|last|late)\b[^.;]{0,40}\bthan\b[^.;]{0,24}\b(?:start(?:s|ed)?|beg[ia]ns?|beginning|first|initial(?:ly)?|early)\b|(?:最后|最终|结束时?|末步?|后期|末尾|收尾|尾声|结尾)[^，。；]{0,16}(?:比|高于|低于|大于|小于|长于|短于|多于|少于|超过|不及|不如)[^，。；]{0,6}(?:开始|最初|初始|前期|起始|首步?|开头|起步|起点|初期)"
    r"|(?:和|与|跟|较|比|相对|相较)(?:于)?(?:开始|最初|初始|前期|起始|开头|起步|起点|初期)[^，。；]{0,6}(?:相比|比)?[，,]?[^，。；]{0,6}(?:最后|最终|结束|末|后期|收尾|尾声|结尾)"
)


#: Of a time, less; of a rate, more; of anything else no course.
SPED_UP: Final = re.compile(r"(?i)\b(?:sped|speeds?|speeding) up\b|提速了?|加快了?")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of direction at ``start:end``; ``sense`` is ``up``, ``down``, ``flat``, ``stable``, ``improve``, ``worsen``,
    ``higher`` or ``lower``."""

    start: int
    end: int
    sense: str


class Comparisons:
    """Decides comparisons.

    Args:
        judge: holds the run, and which numbers of the sentence were tied to which cells.
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.table = judge.table

    def say(self, key: str, **values: Any) -> str:
        """A reason in the audit's language."""
        return self.judge.say(key, **values)

    def _of_pace(self, key: str) -> bool:
        """Whether a metric is a time or a rate."""
        return bool(SPEED.search(key)) or self.table.kind(key) in {"seconds", "milliseconds"}

    def _compared(self, frame: Frame, word: Word) -> Decision | None:
        """``A is higher than B``, ``higher at step 3 than at step 1``; a bare number behind it is a bound."""
        wanted = 1 if word.sense == "higher" else -1
        if _ENDS.search(frame.text) and (
            name := next((n for n in frame.names if n.keys), None)
            or (frame.carried.names[-1] if frame.carried.names else None)
        ):
            return self._ends(name.keys, wanted)
        if (own := self._own_numbers(frame, word, wanted)) is not None:
            return own
        clause = frame.clause(word.start)
        names = [n for n in frame.names if n.keys]
        near = [n for n in names if abs(frame.clause(n.start) - clause) <= 1]
        places = [p for p in frame.places if len(p.steps) == 1]
        references = [p for p in places if _is_reference(frame, p)]
        if not references and (beaten := self._beaten(frame, word, places)):
            references = [beaten]
        table = self.table
        if references and near and len({n.keys[0] for n in near}) == 1:
            return self._of_steps(frame, near[0].keys, places, references[0].steps[0], wanted)
        if references and not near and frame.carried.names and frame.carried.names[-1].keys:
            return self._of_steps(frame, frame.carried.names[-1].keys, places, references[0].steps[0], wanted)
        if len(near) == 2 and near[0].keys[0] != near[1].keys[0]:
            one, two = near
            between = frame.text[one.end : two.start]
            after = frame.text[word.end : word.end + 12]
            versus = cue("versus").search(between) or (one.end <= word.start and word.end <= two.start)
            if not versus or re.match(r"\s*(?:than\s*)?(?:about\s*)?[\d`]*\d", after):
                return None
            if (
                frame.numbers
                and not any(q.unit in {"ratio", "%", "factor"} for q in frame.numbers)
                and any(word.end <= q.start < two.start for q in frame.numbers)
            ):
                return None
            steps = [s for p in places for s in p.steps] or list(frame.carried.steps) or table.held(one.keys[0])
            rows = [
                (s, x, y)
                for s in steps
                if (x := table.value(one.keys[0], s)) is not None and (y := table.value(two.keys[0], s)) is not None
            ]
            if not rows or table.kind(one.keys[0]) != table.kind(two.keys[0]):
                return None
            if cue("mean").search(frame.text) and not places:  # on average
                s = rows[-1][0]
                rows = [(s, sum(x for _, x, _ in rows) / len(rows), sum(y for _, _, y in rows) / len(rows))]
            bad = [(s, x, y) for s, x, y in rows if (x - y) * wanted <= 0]
            if not bad:
                return Decision("supported", "")
            s, x, y = bad[-1]
            kind = table.kind(one.keys[0])
            note = self.say(
                "compare",
                step=s,
                metric=one.keys[0],
                true=as_shown(x, BARE, kind),
                other=two.keys[0],
                value=as_shown(y, BARE, kind),
            )
            return Decision("contradicted", note)
        return None

    def _own_numbers(self, frame: Frame, word: Word, wanted: int) -> Decision | None:
        """``the score late (-0.007) is well below the early one (-0.269)``: the two numbers told against the word."""
        if (sides := self._sides(frame, word, wanted)) is not None:
            return sides
        numbers = [
            q for q in frame.numbers if not q.bound and q.unit not in {"ratio", "factor", "steps", "points", "pp"}
        ]
        before, after = [q for q in numbers if q.end <= word.start], [q for q in numbers if q.start >= word.end]
        if (
            len(numbers) != 2
            or len(frame.numbers) != 2
            or len(before) != 1
            or not after
            or before[0].unit != after[0].unit
        ):
            return None
        link = frame.text[before[0].end : word.start]
        if not re.fullmatch(r"(?i)[）)\s`*]*(?:is|was|are|were|sits?|lies|stands?)\s+(?:\w+\s+){0,2}", link):
            return None
        if not re.search(r"[（(]\s*[`*]*$", frame.text[: after[0].start]):
            return None
        x, y = (q.number * (q.factor if q.unit else 1.0) for q in (before[0], after[0]))
        if x == y or (x > y) == (wanted > 0):
            return None
        shown = frame.text[word.start : word.end]
        return Decision("contradicted", self.say("shown_words", from_=after[0].text, to=before[0].text, shown=shown))

    @staticmethod
    def _beaten(frame: Frame, word: Word, places: Sequence[Place]) -> Place | None:
        """``step 9 tops step 2 on reward``, ``第 9 步的奖励压过第 2 步``: the step right behind the word."""
        if len(places) != 2 or frame.numbers or places[0].end > word.start or places[1].start < word.end:
            return None
        between = frame.text[word.end : places[1].start]
        return places[1] if re.fullmatch(r"(?i)\s*(?:than|of|by|to|that of|了|过|于)?\s*", between) else None

    def _sides(self, frame: Frame, word: Word, wanted: int) -> Decision | None:
        """Two values told for the two sides of a comparison: which is greater must be what the word between them says."""
        text = frame.text
        values = [
            q for q in frame.numbers
            if q.unit not in {"ratio", "factor", "steps", "points", "pp", "gpus", "samples", "prompts", "validations"}
        ]  # fmt: skip
        if len(values) != 2 or any(q.number != q.number or (q.bound and q is not values[1]) for q in values):
            return None
        one, two = values
        rather = re.match(r"[较偏]", text[word.start :]) is not None
        if (change_cue(frame, one) == "sure" and not rather) or (change_cue(frame, two) == "sure" and not two.bound):
            return None
        if SPEED.search(" ".join(key for n in frame.names for key in n.keys[:1])):
            return None
        if two.unit and one.unit and one.unit != two.unit:
            return None
        start, told = frame.clause_span(word.start)[0], text[frame.clause_span(one.start)[0] : one.start]
        if one.end <= word.start and re.fullmatch(r"(?i)\s*to an? (?:\w+ )?", text[one.end : word.start]) and two.start - word.end <= 4:  # fmt: skip
            wanted = -wanted  # "from 2.1 to a lower 1.8"
        elif re.fullmatch(r"\s*(?:一些|一点|的)?\s*[（(，,]?\s*", text[word.end : one.start]) and rather:  # fmt: skip
            pass  # "第 3 步还较高（0.52），第 9 步已是 0.22"
        elif one.end <= word.start and word.end <= two.start:  # "A (0.2) is below B (0.4)", "0.2，低于 B 的 0.4"
            if any(one.end <= n.start < word.start for n in frame.names) or _AGAINST.search(told):
                return None
            if re.search(r"[;；。]|\b(?:and|but|while|whereas)\b|而|但", text[one.end : two.start]):
                return None
        elif word.end <= one.start and _THAN.fullmatch(text[one.end : two.start]):
            pass  # "more time generating (91.4 s) than updating (5.1 s)"
        elif two.end <= word.start:  # "A（110 s）比 B（23 s）慢"
            if not re.search(r"比(?!例|值|率)", text[one.end : two.start]) or _AGAINST.search(told):
                return None
            if re.search(r"[，,;；。]", text[two.end : word.start]):
                return None
        elif word.end <= one.start and _SIDES.fullmatch(text[one.end : two.start]):  # "is smaller (2.44 against 1.44)"
            if _AGAINST.search(text[:start]) or re.search(r"(?i)^\s*(?:compared|relative)|^[^，,]{0,20}相比", text):
                return None
        else:
            return None
        x, y = (q.number * (q.factor if q.unit else (two if q is one else one).factor) for q in values)
        if {one.unit, two.unit} == {"%", ""} and max(abs(q.number) for q in values if not q.unit) <= 1:
            x, y = (q.number * (0.01 if q.unit else 1.0) for q in values)  # "43.5% … 0.389"
        if x == y or (x > y) == (wanted > 0):
            return None
        shown = text[word.start : word.end]
        return Decision("contradicted", self.say("shown_words", from_=two.text, to=one.text, shown=shown))

    def _of_steps(
        self, frame: Frame, keys: Sequence[str], places: Sequence[Any], reference: int, wanted: int
    ) -> Decision | None:
        others = [p.steps[0] for p in places if p.steps[0] != reference] or [
            s for s in frame.carried.steps if s != reference
        ]
        subject = others[0] if others else None
        first: Decision | None = None
        for key in keys[:3]:
            there = subject if subject is not None else (self.table.held(key) or [reference])[-1]
            x, y = self.table.value(key, reference), self.table.value(key, there)
            if x is None or y is None or there == reference:
                continue
            fact = self.table.ledger.change(key, reference, there, self.table.run)
            if (y - x) * wanted > 0:
                return Decision("supported", "", fact.id if fact else None, key)
            first = first or Decision(
                "contradicted",
                self._told(key, reference, there, x, y, (y > x) - (y < x)),
                fact.id if fact else None,
                key,
            )
        return first

    def _ends(self, keys: Sequence[str], wanted: int) -> Decision | None:
        """``ends higher than it started``, ``后期高于前期``: the last value or third against the first."""
        first: Decision | None = None
        for key in keys[:3]:
            rows = self.table.finite(key)
            if len(rows) < 2:
                continue
            (a, x), (b, y) = rows[0], rows[-1]
            fact = self.table.ledger.change(key, a, b, self.table.run)
            if (y - x) * wanted > 0:
                return Decision("supported", "", fact.id if fact else None, key)
            first = first or Decision(
                "contradicted", self._told(key, a, b, x, y, (y > x) - (y < x)), fact.id if fact else None, key
            )
        return first

    def _told(self, key: str, a: int, b: int, x: float, y: float, sign: int) -> str:  # noqa: PLR0917
        kind = self.table.kind(key)
        word = "rose" if sign > 0 else "fell" if sign < 0 else "same"
        return self.say(word, metric=key, first=a, second=b, from_=as_shown(x, BARE, kind), to=as_shown(y, BARE, kind))
