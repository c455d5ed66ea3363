"""The audit that decides, made for one answer: :class:`assistant.ground.audit.Auditor` over its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from assistant.analysis import Ledger
from assistant.ask.engine import card_text
from assistant.knowledge import Resolver
from assistant.model import Answer, Fact, Run

if TYPE_CHECKING:
    from assistant.agent.judging import Auditor
    from assistant.ground.audit import Auditor as Audit
    from assistant.ground.audit import Sentence


def quotes_of(answer: Answer, resolver: Resolver) -> dict[str, str]:
    """Citation id → everything of its card that may be quoted."""
    cards = {citation.id: resolver.library.get(citation.card) for citation in answer.citations}
    return {cid: card_text(card, answer.language) for cid, card in cards.items() if card is not None}


def auditor_of(answer: Answer, runs: Sequence[Run], resolver: Resolver, quotes: Mapping[str, str]) -> Auditor:
    """The audit of texts about runs; facts of the answer that are no cells (thresholds, counts) count too."""
    from assistant.ground.audit import Auditor as Audit

    return _Known(Audit(runs, resolver, language=answer.language, quotes=quotes))


class _Known:
    """An audit whose claims' facts can be looked up: their ids are ``run's place:id in that run's ledger``."""

    def __init__(self, audit: Audit) -> None:
        self._audit = audit
        self.facts: Callable[[], Sequence[Fact]] = tuple

    def sentence(self, text: str, before: str = "") -> Sentence:
        self._audit.extra = tuple(self.facts())  # tools may have added some since
        return self._audit.sentence(text, before)

    def fact(self, fact_id: str) -> tuple[Fact, Mapping[str, Fact]] | None:
        place, _, own = fact_id.partition(":")
        if not place.isdigit() or int(place) >= len(self._audit.readers):
            return None
        ledger = self._audit.readers[int(place)].ledger
        fact = ledger.get(own)
        return None if fact is None else (fact, _ById(ledger))


class _ById(Mapping[str, Fact]):
    """A ledger's facts by id, without a copy of them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def __getitem__(self, fact_id: str) -> Fact:
        fact = self._ledger.get(fact_id)
        if fact is None:
            raise KeyError(fact_id)
        return fact

    def __iter__(self) -> Iterator[str]:
        return (fact.id for fact in self._ledger.facts)

    def __len__(self) -> int:
        return len(self._ledger.facts)
