"""Which cards of other frameworks are about the same quantity, as the cards themselves say (``also``)."""

from __future__ import annotations

from collections.abc import Sequence
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
                for other in self._held(entry["keys"], entry["framework"]):
                    pair = (card, other) if card.framework == "verl" else (other, card)
                    if pair[0].framework == "verl" != pair[1].framework:
                        table.setdefault(pair[1].id, []).append(pair[0].id)
        return {twin: list(dict.fromkeys(homes)) for twin, homes in table.items()}

    def twins(self, card: Card, asked: str | None) -> list[Card]:
        """Cards of the framework asked for that say to be another framework's card, or that it names; first those
        where both say so."""
        if asked is None or card.framework == asked:
            return []
        others = [
            other
            for key in card.keys
            for other in self._cross.get((card.framework, key.lower()), ())
            if other.framework == asked
        ]
        own = [
            other
            for entry in card.meta.get("also", ())
            if entry["framework"] == asked
            for other in self._held(entry["keys"], asked)
        ]
        both = [other for other in own if other in others]
        return list({other.id: other for other in (*both, *own, *others)}.values())

    def of(self, card: str) -> frozenset[str]:
        """Ids of the cards of other frameworks that say to be the same quantity as a card, or that it names."""
        return self._families.get(card, frozenset())

    @cached_property
    def _families(self) -> dict[str, frozenset[str]]:
        table: dict[str, set[str]] = {}
        for card in self._library:
            for entry in card.meta.get("also", ()):
                for other in self._held(entry["keys"], entry["framework"]):
                    table.setdefault(card.id, set()).add(other.id)
                    table.setdefault(other.id, set()).add(card.id)
        return {card: frozenset(others) for card, others in table.items()}

    def _held(self, keys: Sequence[str], framework: str) -> list[Card]:
        """A framework's cards for some keys, which may be templates; each once."""
        found: dict[str, Card] = {}
        for key in keys:
            one = self._resolver.key(key, framework)
            cards = [one.card] if one is not None and not one.foreign else self._resolver.definitions(key)
            found |= {card.id: card for card in cards if card.framework == framework}
        return list(found.values())

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
