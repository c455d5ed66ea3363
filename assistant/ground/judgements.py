"""Words of judgement against the log: improved, worsened, collapsed; and the course of a derived quantity."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.comparisons import BARE, Comparisons, Word
from assistant.ground.deciding import Decision
from assistant.ground.lexicon import Named
from assistant.ground.verdicts import as_shown

_PRIMARY: Final = ("val-core/", "val/test_score", "eval_accuracy", "val_accuracy")
_REWARD: Final = re.compile(
    r"(?i)^(?:critic/(?:rewards|score)/mean|reward|rewards/mean|mean_reward|train/reward|objective/rlhf_reward)$"
)


class Judgements(Comparisons):
    """Decides words of judgement.

    Args:
        judge: holds the run, and which numbers of the sentence were tied to which cells.
    """

    def _better(self, key: str, sense: str, a: int, b: int, *, drastically: bool) -> Decision | None:
        table = self.table
        better = table.better(key)
        drastic = self._drastic(key, a, b) if sense == "worsen" and drastically else None
        if drastic is not None:
            return drastic
        if not better:
            return Decision("unsupported", self.say("not_better", metric=key), None, key)
        wanted = (1 if better == "higher" else -1) * (1 if sense == "improve" else -1)
        x, y = table.value(key, a), table.value(key, b)
        if x is None or y is None:
            return self.judge.missing(key, a if x is None else b)
        sign = (y > x) - (y < x)
        fact = table.ledger.change(key, a, b, table.run)
        kind = table.kind(key)
        if sign != wanted:
            return Decision("contradicted", self._told(key, a, b, x, y, sign), fact.id if fact else None, key)
        rows = table.finite(key, (min(a, b), max(a, b)))
        if len(rows) > 3:
            trend = table.ledger.trend(key, [s for s, _ in rows], table.run)
            if trend is not None and {"rising": 1, "falling": -1}.get(str(trend.direction)) == wanted:
                return Decision("supported", "", trend.id, key)
        if fact is not None and fact.significant:
            return Decision("supported", "", fact.id, key)
        note = self.say(
            "noise", metric=key, first=a, second=b, from_=as_shown(x, BARE, kind), to=as_shown(y, BARE, kind)
        )
        return Decision("unsupported", note, fact.id if fact else None, key)

    def _drastic(self, key: str, a: int, b: int) -> Decision | None:
        """ "Collapsed", "exploded": the level changed at least threefold."""
        rows = [abs(v) for _, v in self.table.finite(key, (min(a, b), max(a, b)))]
        if len(rows) < 2:
            return None
        x, y, better = rows[0], rows[-1], self.table.better(key)
        if min(x, y) and max(x, y) / min(x, y) >= 2.5 and (not better or (y > x) == (better == "lower")):
            fact = self.table.ledger.change(key, a, b, self.table.run)
            return Decision("supported", "", fact.id if fact else None, key)
        third = max(1, len(rows) // 3)
        x, y = sorted(rows[:third])[third // 2], sorted(rows[-third:])[third // 2]
        if min(x, y) == 0 < max(x, y) or (min(x, y) > 0 and max(x, y) / min(x, y) >= 3):
            fact = self.table.ledger.change(key, a, b, self.table.run)
            return Decision("supported", "", fact.id if fact else None, key)
        return None

    def _judgement(self, frame: Frame, word: Word) -> Decision | None:
        """ "The model improved", "training collapsed": only a significant course of what is trained for bears it out."""
        table = self.table
        keys = [
            key for key in table.run.columns if (key.startswith(_PRIMARY) and "/mean@" in key) or _REWARD.match(key)
        ]
        wanted = 1 if word.sense == "improve" else -1
        for key in keys:
            rows = table.finite(key)
            if len(rows) < 4:
                continue
            fact = table.ledger.trend(key, None, table.run)
            if fact is not None and {"rising": 1, "falling": -1}.get(str(fact.direction)) == wanted:
                return Decision("supported", "", fact.id, key)
        return Decision("unsupported", self.say("judgement", shown=frame.text[word.start : word.end]))

    def _derived(self, frame: Frame, word: Word, name: Named, sense: str) -> Decision | None:
        if sense not in {"up", "down", "improve", "worsen"}:
            return None
        steps = [s for p in frame.places for s in p.steps] or list(frame.carried.pair or self.table.steps)
        for derived in name.derived:
            facts = [
                f for f in self.table.derivable(derived, [steps[0], steps[-1]]) if isinstance(f.value, (int, float))
            ]
            if len(facts) == 2 and facts[0].step != facts[1].step:
                up = float(facts[1].value) > float(facts[0].value)  # type: ignore[arg-type]
                lower_better = derived.startswith("imbalance")
                wanted = {"up": True, "down": False, "improve": not lower_better, "worsen": lower_better}[sense]
                return Decision("supported" if up == wanted else "contradicted", "", facts[1].id)
        return None
