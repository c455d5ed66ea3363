"""What the search index holds of a card, and of a passage of a team's own document."""

from __future__ import annotations

from typing import Final

from assistant.knowledge.cards import Card
from assistant.knowledge.index import Entry
from assistant.knowledge.namewords import names_of
from assistant.knowledge.passages import Passage

_SOME_KEYS: Final = 4
"""Keys of a card that count as wordings: those of a family say the same."""


def entry_of(card: Card) -> Entry:
    """What the index holds of a card: both languages."""
    keys = " ".join([*card.keys, *card.names])
    sections = {language: [text for _, text in card.sections(language)] for language in ("zh", "en")}
    heads = {
        language: " ".join([keys, card.framework, card.title(language), card.short(language), *card.words(language)])
        for language in ("zh", "en")
    }
    return Entry(
        id=card.id,
        names=keys,
        words=" ".join([*card.words("zh"), *card.words("en")]),
        asks=" ".join([*card.asks("zh"), *card.asks("en")]),
        head=" ".join(f"{card.title(language)} {card.short(language)}" for language in ("zh", "en")),
        body=" ".join(text for texts in sections.values() for text in texts),
        parts=tuple(
            part
            for language in ("zh", "en")
            for part in (
                heads[language],
                "\n".join(card.asks(language)),
                *sections[language][:1],
                " ".join(sections[language][1:2]),
            )
            if part
        ),
        phrases=_phrases(card),
        called=names_of(card),
    )


def _phrases(card: Card) -> tuple[str, ...]:
    """What people say who mean a card, each wording once."""
    said = [*card.names, *card.keys[:_SOME_KEYS]]
    for language in ("zh", "en"):
        said += [card.title(language), card.short(language), *card.words(language), *card.asks(language)]
    return tuple(dict.fromkeys(said))


def entry_of_passage(passage: Passage) -> Entry:
    """What the index holds of a passage of a team's own document."""
    head = " ".join([*passage.heading, passage.document])
    return Entry(passage.id, "", "", "", head, passage.text, (f"{head} {passage.text}",))
