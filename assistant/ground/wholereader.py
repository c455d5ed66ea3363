"""What the readers of whole sentences have in common: the metric a sentence is about, and how a claim is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assistant.ground.binding import Frame
from assistant.ground.deciding import Decision
from assistant.ground.judging import Judge
from assistant.ground.lexicon import Named
from assistant.ground.verdicts import Status, plain


@dataclass(frozen=True, slots=True)
class Whole:
    """A claim that a sentence makes as a whole, and the stretches of it that need no more deciding.

    ``aside``: it is told in passing, so that whether the rest of the sentence was read is still asked.
    """

    start: int
    end: int
    decision: Decision
    covers: tuple[tuple[int, int], ...]
    aside: bool = False


class WholeReader:
    """Reads one sentence.

    Args:
        frame: the sentence.
        judge: holds the run.
    """

    def __init__(self, frame: Frame, judge: Judge) -> None:
        self.frame, self.judge, self.table = frame, judge, judge.table
        self.text = frame.text

    def names(self) -> list[Named]:
        """The metrics named, else the one carried over."""
        own = [n for n in self.frame.names if n.keys or n.absent]
        return own or [n for n in self.frame.carried.names if n.keys][-1:]

    def key(self) -> str | None:
        """The metric, where exactly one is named (an aggregate of it beside it is the same)."""
        held = [n for n in self.names() if n.keys]
        return held[0].keys[0] if held and len({n.keys[0] for n in held}) == 1 else None

    def trend_of(self, key: str, rows: Sequence[tuple[int, float]] | None = None) -> tuple[int, str | None]:
        """Which way a metric goes: 1, −1 or 0, and the fact."""
        whole = rows is None or len(rows) == len(self.table.finite(key))
        fact = self.table.ledger.trend(key, None if whole else [s for s, _ in rows or ()], self.table.run)
        if fact is None:
            return 0, None
        return {"rising": 1, "falling": -1}.get(str(fact.direction), 0), fact.id

    def say(  # noqa: PLR0917
        self, start: int, end: int, fine: bool | None, note: str = "", fact: str | None = None,
        covers: Sequence[tuple[int, int]] = (),
    ) -> Whole:  # fmt: skip
        """A claim decided; ``None``: neither borne out nor against the log."""
        status: Status = "supported" if fine else "unsupported" if fine is None else "contradicted"
        decision = Decision(
            status, "" if fine else note or self.judge.say("judgement", shown=self.text[start:end]), fact
        )
        return Whole(start, end, decision, ((start, end), *covers))

    def told(self, key: str) -> str:
        """How a metric went, as a reason."""
        rows = self.table.finite(key)
        (a, x), (b, y) = rows[0], rows[-1]
        word = "rose" if y > x else "fell" if y < x else "same"
        return self.judge.say(word, metric=key, first=a, second=b, from_=plain(x), to=plain(y))

    def span(self) -> tuple[int, int] | None:
        """The stretch of steps named."""
        return next((tuple(p.steps) for p in self.frame.places if p.kind == "range"), None)  # type: ignore[return-value]

    def ends(self, key: str) -> int:
        """Which way a metric's last value lies from its first: 1, −1 or 0."""
        rows = self.table.finite(key)
        return (rows[-1][1] > rows[0][1]) - (rows[-1][1] < rows[0][1]) if rows else 0
