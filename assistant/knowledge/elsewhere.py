"""Questions that name two frameworks or ask for a key's counterpart: whose metric is asked for, and which it is."""

from __future__ import annotations

import re
from typing import Final

from assistant.knowledge.cards import Card
from assistant.knowledge.counterparts import Counterparts
from assistant.knowledge.questions import FRAMEWORKS_OF_PAIR, asked_of_two, asks_counterpart, named_frameworks
from assistant.knowledge.resolver import EXPLAINED_AS, Resolver
from assistant.knowledge.spoken import SpokenKeys
from assistant.knowledge.terms import fold
from assistant.knowledge.typos import KEY, NAME, Speller

_JOINT: Final = re.compile(r"[/_@]")


class Elsewhere:
    """Reads what a question asks of which framework.

    Args:
        resolver: from names to cards.
        counterparts: cards for the same quantity elsewhere.
        spoken: keys said in words.
        speller: knows every spelling of a name.
    """

    def __init__(self, resolver: Resolver, counterparts: Counterparts, spoken: SpokenKeys, speller: Speller) -> None:
        self._resolver = resolver
        self._counterparts = counterparts
        self._spoken = spoken
        self._speller = speller

    def told(self, question: str, framework: str | None) -> list[Card]:
        """What the cards say to be the counterpart, in the framework asked for, of a key that a question spells."""
        text = fold(question)
        asked, source = self.asked_and_source(text, framework)
        both = source is not None and (framework is None or framework in named_frameworks(text))
        if asked is None or not (asks_counterpart(text) or both):
            return []
        if source is not None:
            spelt = self.spelt(text, source)
        else:
            home = EXPLAINED_AS.get(asked, asked)
            spelt = []
            for name in (match.group().rstrip("./-:").lower() for match in NAME.finditer(text)):
                found = self._resolver.key(name, asked) if KEY.search(name) else None
                cards = [found.card] if found is not None else self._speller.spellings.get(name, [])
                if _JOINT.search(name) and all(card.framework != home for card in cards):
                    spelt += cards
        twins = [twin for card in spelt for twin in self._counterparts.twins(card, asked)]
        units = {card.unit for card in spelt}
        twins.sort(key=lambda twin: twin.unit not in units)  # a rate per GPU before that of all GPUs
        told = [] if source is None else self._counterparts.told(question, source, asked)
        agreed = [card for card in twins if card in told]
        return list({card.id: card for card in (*agreed, *(told or twins))}.values())

    def asked_and_source(self, text: str, framework: str | None) -> tuple[str | None, str | None]:
        """Whose metric a folded question asks for, and whose it names: ``verl's name for TRL's kl`` are two.

        Where two are named and nothing else says so, the one that has no card by the name is asked for.
        """
        named = named_frameworks(text)
        if framework is not None:
            others = [other for other in named if other != framework]
            return framework, others[0] if len(others) == 1 else None
        if len(named) != len(FRAMEWORKS_OF_PAIR):
            return (named[0] if len(named) == 1 else None), None
        if (told := asked_of_two(text)) is not None:
            return told
        pairs = (tuple(named), tuple(reversed(named)))
        spelt = [self.spelt(text, source) for source, _ in pairs]
        for (source, asked), own in zip(pairs, spelt, strict=True):
            if any(self._counterparts.twins(card, asked) for card in own):
                return asked, source
        for (source, asked), own, rest in zip(pairs, spelt, reversed(spelt), strict=True):
            if own and not rest:
                return asked, source
        return None, None

    def spelt(self, text: str, framework: str) -> list[Card]:
        """Cards of a framework that a folded question calls by a key, or by a name with joints."""
        names = [match.group().rstrip("./-:") for match in NAME.finditer(text)]
        found = [r.card for name in names if KEY.search(name) for r in self._resolver.name(name, framework)]
        plain = [self._resolver.key(name, framework) for name in names if not KEY.search(name)]
        found += [resolution.card for resolution in plain if resolution is not None and resolution.how == "exact"]
        found += self._spoken.whole(text, framework)
        return [card for card in found if card.framework == EXPLAINED_AS.get(framework, framework)]
