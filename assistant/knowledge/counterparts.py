"""Which cards of other frameworks are about the same quantity, as the cards themselves say (``also``)."""

from __future__ import annotations

from functools import cached_property

from assistant.knowledge.cards import Card, Library
from assistant.knowledge.questions import narrow
from assistant.knowledge.resolver import Resolver
from assistant.knowledge.typos import NAME


class Counterparts:
    """Look-ups from a card to those of other frameworks.

    Args:
        library: the cards.
        resolver: from keys to cards.
    """

    def __init__(self, library: Library, resolver: Resolver) -> None:
        self._library = library
        self._resolver = resolver

    @cached_property
    def homes(self) -> dict[str, list[str]]:
        """Card of another framework → cards of verl for the same quantity."""
        table: dict[str, list[str]] = {}
        for card in self._library:
            for entry in card.meta.get("also", ()):
                for key in entry["keys"]:
                    found = self._resolver.key(key, entry["framework"])
                    if found is None or found.foreign:
                        continue
                    pair = (card, found.card) if card.framework == "verl" else (found.card, card)
                    if pair[0].framework == "verl" != pair[1].framework:
                        table.setdefault(pair[1].id, []).append(pair[0].id)
        return {twin: list(dict.fromkeys(homes)) for twin, homes in table.items()}

    def twins(self, card: Card, asked: str | None) -> list[Card]:
        """Cards of the framework asked for that say to be another framework's card."""
        if asked is None or card.framework == asked:
            return []
        return [
            other
            for key in card.keys
            for other in self._cross.get((card.framework, key.lower()), ())
            if other.framework == asked
        ] + [
            other
            for entry in card.meta.get("also", ())
            if entry["framework"] == asked
            for key in entry["keys"]
            if (found := self._resolver.key(key, asked)) is not None and (other := found.card).framework == asked
        ]

    def told(self, question: str, source: str, asked: str) -> list[Card]:
        """Cards of the framework asked for that name as theirs a key of the source that a question spells."""
        keys = (match.group().rstrip("./-:").lower() for match in NAME.finditer(narrow(question)))
        return [card for key in keys for card in self._cross.get((source, key), ()) if card.framework == asked]

    @cached_property
    def _cross(self) -> dict[tuple[str, str], list[Card]]:
        """Key of a framework → cards of others that name it as theirs."""
        table: dict[tuple[str, str], list[Card]] = {}
        for card in self._library:
            for entry in card.meta.get("also", ()):
                for key in entry["keys"]:
                    table.setdefault((entry["framework"], key.lower()), []).append(card)
        return table
