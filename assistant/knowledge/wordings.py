"""What people say who mean a card: looked up as it is, where few cards are meant by it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assistant.knowledge.cards import Card
from assistant.knowledge.resolver import _ordered
from assistant.knowledge.terms import pieces

_FEW: Final = 2


def plainly(text: str) -> str:
    """A wording in lower case without its signs."""
    return " ".join(pieces(text))


def wordings_of(cards: Iterable[Card]) -> dict[str, list[Card]]:
    """Titles, words and ways to ask, without their signs → the cards that are meant, if they are few."""
    table: dict[str, list[Card]] = {}
    for card in cards:
        for language in ("zh", "en"):
            for said in (card.title(language), *card.words(language), *card.asks(language)):
                bucket = table.setdefault(plainly(said.lower()), [])
                if card not in bucket:
                    bucket.append(card)
    return {said: _ordered(meant, None) for said, meant in table.items() if said and len(meant) <= _FEW}
