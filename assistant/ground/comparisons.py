"""What is higher than what: two metrics, two steps, the end and the start of a run."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from assistant.ground.binding import Frame
from assistant.ground.changes import _is_reference
from assistant.ground.cues import cue
from assistant.ground.deciding import Decision
from assistant.ground.judging import Judge
from assistant.ground.quantities import Quantity
from assistant.ground.verdicts import as_shown

BARE: Final = Quantity(0, 0, "", 0.0, 0.0, digits=4)
_ENDS: Final = re.compile(
    r"(?i)\b(?:ends?|ended|finish(?:es|ed)?|final(?:ly)?|last|late)\b[^.;]{0,40}\bthan\b[^.;]{0,24}\b(?:start(?:s|ed)?|beg[ia]ns?|beginning|first|initial(?:ly)?|early)\b|(?:最后|最终|结束时?|末步?|后期|末尾)[^，。；]{0,12}(?:比|高于|低于)[^，。；]{0,6}(?:开始|最初|初始|前期|起始|首步?)"
)


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
