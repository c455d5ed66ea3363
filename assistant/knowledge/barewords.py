"""What bare words mean where there is no log: "kl 是什么", "clip_ratio 正常范围"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from assistant.knowledge.cards import Card

_HOME: Final = "verl"
_GENERAL: Final = "general"
#: "the prompt's clip ratio": not the one that the bare word means.
_OTHER: Final = re.compile(r"(?i)prompts?(?:[ _]?len\w*)?\s*(?:的|'s)?\s*$")


def meanings(
    table: Iterable[Mapping[str, Sequence[str]]], card_of: Callable[[str], Card | None]
) -> list[tuple[str, Card]]:
    """Words (lower case) and the cards that they mean, longest first.

    Args:
        table: of bare words (``plain_words.yaml``); the words of ``bare`` name a metric by themselves.
        card_of: the card of a key.

    Returns:
        For each word verl's card; the first where that is no trainer's own or a team's.
    """
    found: list[tuple[str, Card]] = []
    for entry in table:
        cards = [card for key in entry["keys"] if "*" not in key and (card := card_of(key)) is not None]
        if not cards or "bare" not in entry:
            continue
        home = next((card for card in cards if card.framework == _HOME), cards[0])
        meant = cards[0] if cards[0].own or cards[0].framework == _GENERAL else home
        found += [(word.lower(), meant) for word in entry["bare"]]
    return sorted(found, key=lambda item: -len(item[0]))


def places(text: str, known: Iterable[tuple[str, Card]]) -> Iterator[tuple[int, int, Card]]:
    """Where the words stand in a text in lower case: start, end and card."""
    for word, card in known:
        start = text.find(word)
        while start >= 0:
            if not _OTHER.search(text[max(0, start - 24) : start]):
                yield start, start + len(word), card
            start = text.find(word, start + len(word))
