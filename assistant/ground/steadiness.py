"""Whether a metric kept rising, stood still or swung: stretches of values against words of steadiness."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.comparisons import BARE, Word
from assistant.ground.deciding import Decision
from assistant.ground.judgements import Judgements
from assistant.ground.lexicon import Named
from assistant.ground.verdicts import as_shown

#: Relative change below which "unchanged" is fair, and spread below which "stable" is.
SAME, STABLE = 0.01, 0.15
#: With the values told, it says no more than that they moved so.
TRENDED: Final = re.compile(r"(?i)\btrend(?:s|ed|ing)? (?=up|down|higher|lower)")
#: Of a metric with steps or values beside it, which way it went.
CRASHED: Final = re.compile(r"(?i)collaps|崩[塌溃]|坍")
BLEW_UP: Final = re.compile(r"(?i)explod|blew|爆炸")
#: "中间有回落", "with dips along the way": somewhere on the way it went so.
_ON_THE_WAY_BEFORE: Final = re.compile(
    r"(?i)(?:中间|期间|途中|中途|过程中|其间)(?:也|还|偶尔|偶|曾|虽|略|小幅|几次|多次|一度|一些|有过|有所|有|经历|过|了|出现|短暂的?)*$|\bwith (?:some |several |a few |occasional |minor |small )?$"
)
_ON_THE_WAY_AFTER: Final = re.compile(r"(?i)^s?\s*(?:along the way|on the way|in between|here and there)")
_HEDGED: Final = re.compile(
    r"(?i)\b(?:almost|nearly|roughly|practically|virtually|more or less)\b|几乎|大致|大体|基本|差不多"
)


class Steadiness(Judgements):
    """Decides whether a metric went one way, stood still or kept within bounds.

    Args:
        judge: holds the run, and which numbers of the sentence were tied to which cells.
    """

    def _on_the_way(self, frame: Frame, word: Word, name: Named) -> Decision | None:
        """``总体上升，中间有回落``: a step at which it went the other way is all that is said."""
        left, right = frame.text[max(0, word.start - 24) : word.start], frame.text[word.end :]
        if not (
            _ON_THE_WAY_AFTER.match(right) or (_ON_THE_WAY_BEFORE.search(left) and re.search(r"[\u3400-\u9fff]$", left))
        ):
            return None
        rows = self.table.finite(name.keys[0], next((p.steps for p in frame.places if p.kind == "range"), None))
        wanted = 1 if word.sense == "up" else -1
        if any((y - x) * wanted > 0 for (_, x), (_, y) in pairwise(rows)):
            return Decision("supported", "", None, name.keys[0])
        return Decision("contradicted", self.say("never"), None, name.keys[0])

    def _trend(
        self,
        key: str,
        wanted: int,
        rows: Sequence[tuple[int, float]],
        ends: tuple[int, int, float, float],
        *,
        said: bool,
    ) -> Decision:
        table = self.table
        steps = [s for s, _ in rows]
        whole = len(rows) == len(table.finite(key))
        fact = table.ledger.trend(key, None if whole else steps, table.run)
        direction = {"rising": 1, "falling": -1}.get(str(fact.direction) if fact else "", 0)
        a, b, x, y = ends
        sign = (y > x) - (y < x)
        if fact is not None and direction == wanted:
            return Decision("supported", "", fact.id, key)
        values = [v for _, v in rows]
        if all((q - p) * wanted > 0 for p, q in pairwise(values)):
            return Decision("supported", "", fact.id if fact else None, key)
        if direction == -wanted or (sign == -wanted and direction == 0):
            return Decision("contradicted", self._told(key, a, b, x, y, sign), fact.id if fact else None, key)
        return Decision(
            "unsupported",
            self.say("no_trend", metric=key, first=steps[0], last=steps[-1]),
            fact.id if fact else None,
            key,
        )

    def _alike(self, frame: Frame, word: Word, key: str) -> Decision | None:
        """Two metrics said to be identical."""
        others = [
            n
            for n in frame.names
            if n.keys and key not in n.keys and abs(frame.clause(n.start) - frame.clause(word.start)) <= 1
        ]
        if not others or not re.search(r"(?i)identical|equal|same|相同|一致|相等", frame.text[word.start : word.end]):
            return None
        for other in others[-1].keys[:3]:
            mine, theirs = self.table.within(key, None), self.table.within(other, None)
            if mine == theirs:
                return Decision("supported", "", None, key)
        step = self.table.held(key)[-1]
        kind = self.table.kind(key)
        x, y = self.table.value(key, step) or 0.0, self.table.value(others[-1].keys[0], step)
        if y is None:
            return None
        return Decision(
            "contradicted",
            self.say(
                "compare",
                step=step,
                metric=key,
                true=as_shown(x, BARE, kind),
                other=others[-1].keys[0],
                value=as_shown(y, BARE, kind),
            ),
        )

    def _flat(  # noqa: PLR0917
        self, key: str, a: int, b: int, x: float, y: float, identity: str | None, frame: Frame
    ) -> Decision:
        rows = [v for _, v in self.table.finite(key, (min(a, b), max(a, b)))]
        size = max(map(abs, rows), default=0.0)
        spread = max(rows) - min(rows) if rows else 0.0
        shown = any(g.form in {"range", "chain"} for g in frame.groups)  # "flat at 38–39%": the numbers say how flat
        if (
            spread <= (STABLE if shown or _HEDGED.search(frame.text) else SAME) * size
            or (abs(y - x) <= SAME * size and len(rows) <= 2)
            or any(
                spread <= 2 * q.half
                for q in frame.numbers
                if not q.unit and not q.bound and any(abs(q.number - v) <= q.half for v in rows)
            )
        ):
            return Decision("supported", "", identity, key)
        kind = self.table.kind(key)
        return Decision(
            "contradicted",
            self.say(
                "changed", metric=key, first=a, second=b, from_=as_shown(x, BARE, kind), to=as_shown(y, BARE, kind)
            ),
            identity,
            key,
        )

    def _stable(self, key: str, a: int, b: int, *, said: bool) -> Decision:
        rows = [v for _, v in self.table.finite(key, (min(a, b), max(a, b)))]
        size = max(map(abs, rows), default=0.0)
        spread = max(rows) - min(rows) if rows else 0.0
        if spread <= STABLE * size:
            return Decision("supported", "", None, key)
        fact = self.table.ledger.trend(key, None, self.table.run) if len(rows) > 3 else None
        if fact is not None and fact.direction not in {"rising", "falling"}:
            return Decision("supported", "", fact.id, key)
        kind = self.table.kind(key)
        x, y = self.table.value(key, a) or 0.0, self.table.value(key, b) or 0.0
        note = self.say(
            "changed", metric=key, first=a, second=b, from_=as_shown(x, BARE, kind), to=as_shown(y, BARE, kind)
        )
        return Decision("unsupported", note, None, key)


def leg(
    frame: Frame, told: Mapping[int, tuple[str, int]], at: int, moves: Sequence[int], key: str
) -> tuple[int, int] | None:
    """``dipped from 0.57 to 0.53 before recovering to 0.58``: of three values told in turn, the steps of each word's two.

    Args:
        frame: the sentence.
        told: by the place of a number, the metric and the step that it was tied to.
        at: where the word stands.
        moves: where the words of direction stand.
        key: the metric.
    """
    group = next((g for g in frame.groups if g.form == "chain" and len(g.members) > 2), None)
    held = [told.get(member) for member in group.members] if group is not None else []
    steps = [one[1] for one in held if one is not None and one[0] == key]
    if group is None or len(steps) != len(group.members):
        return None
    spots = [frame.numbers[member].start for member in group.members]
    inside = [move for move in moves if spots[0] < move < spots[-1]]
    if not inside:
        return None
    if at < spots[0]:
        return (steps[0], steps[1]) if inside[0] > spots[1] else None
    turn = next((turn for turn, spot in enumerate(spots[1:]) if at < spot), None)
    return None if turn is None else (steps[turn], steps[turn + 1])
