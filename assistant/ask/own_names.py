"""Plain words for a quantity that another framework's card explains, where the log has a key of its own for it.

"The truncation rate" is `response_length/clip_ratio` in verl's words; slime logs `rollout/truncated_ratio`. The cards
say themselves which keys of other frameworks are about the same quantity (``also``).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask.concepts import by_concept
from assistant.knowledge import Resolver
from assistant.knowledge.resolver import Mentioned
from assistant.model import Run

#: A name that is spelt as a key is: that framework's key is meant.
_SPELT: Final = re.compile(r"[/_@]")
_OF_NO_ONE: Final = frozenset({"concept", "failure"})


def of_the_log(mentions: tuple[Mentioned, ...], resolver: Resolver, run: Run | None) -> tuple[Mentioned, ...]:
    """The metrics named, those in plain words as the log's own keys where another framework's card was taken."""
    if run is None or run.framework is None:
        return mentions
    return tuple(_own(mention, resolver, run) for mention in mentions)


def _own(mention: Mentioned, resolver: Resolver, run: Run) -> Mentioned:
    card = mention.card
    if mention.key is not None or card is None or card.own or _SPELT.search(mention.text):
        return mention
    if card.framework in {run.framework, *_OF_NO_ONE} or card.category in _OF_NO_ONE:
        return mention
    also = [entry for entry in card.meta.get("also") or () if entry["framework"] == run.framework]
    held = next((key for entry in also for key in entry["keys"] if key in run.columns), None)
    if held is None:
        plain = by_concept(mention.text, (), run, resolver)
        held = plain[0].key if len(plain) == 1 else None
    if held is None:
        return mention
    found = resolver.key(held, run.framework)
    return replace(mention, key=held, card=found.card if found is not None else card, specific=False)
