"""What the search found: a card, how, and in which order cards are shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from assistant.knowledge.cards import Card
from assistant.knowledge.naming import GENERAL
from assistant.knowledge.resolver import Resolution

How = Literal["exact", "template", "alias", "search"]

_PLACES: Final = 3
_REACH: Final = 10
"""How many of what was found may come among the first three."""

SHOWN_NAMED: Final = 2
"""Cards of a name that come before what the search found."""

_NEXT: Final = 5
_NEARLY: Final = 0.02
"""How much less a card of another kind may score than the third."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A question as it is understood: as typed and mended, what it calls by name, the framework it names, whether it
    is about a key that nothing is called, or a quantity that nothing here measures, and the names that count only where
    nothing else is found: bare words of other trainers."""

    typed: str
    question: str
    direct: tuple[Resolution, ...]
    asked: str | None
    unknown: bool
    aside: tuple[Resolution, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A card that answers a question, and why.

    Attributes:
        card: the card.
        how: ``exact``, ``template``, ``alias`` (a name), or ``search``.
        score: 0 to 1; comparable within one search only.
        features: what the score was made of, for looking into it.
    """

    card: Card
    how: How
    score: float
    features: Mapping[str, float]

    @property
    def is_named(self) -> bool:
        """Whether the question spells a key or a name with joints of the card."""
        return self.features.get("exact", 0.0) >= 1.0


def varied(found: list[Found], named: int, counterparts: Callable[[str], Collection[str]]) -> list[Found]:
    """What was found, so ordered that the first three differ: no two are one quantity in two frameworks, if others fit.

    A card of a kind (metric, concept, failure mode) that is not among the first three takes the third place from
    one of a kind that is there twice, if it scores nearly as well.

    Args:
        found: best first.
        named: how many of them the question names; these stay.
        counterparts: from a card's id to those of the cards for the same quantity elsewhere.
    """
    first, rest = _of_different_quantities(found, named, counterparts)
    if len(first) == _PLACES and named < _PLACES:
        kinds = [kind_of(one.card) for one in first]
        near = (one for one in rest[:_NEXT] if one.score > first[-1].score - _NEARLY and kind_of(one.card) not in kinds)
        other = next(near, None)
        if other is not None and kinds.count(kinds[-1]) > 1:
            first, rest = [*first[:-1], other], [first[-1], *(one for one in rest if one is not other)]
    return [*first, *rest]


def _of_different_quantities(
    found: list[Found], named: int, counterparts: Callable[[str], Collection[str]]
) -> tuple[list[Found], list[Found]]:
    """The first three and the others; a counterpart of one of these waits if the question does not name it, and if
    enough others are in reach."""
    first = found[: min(named, _PLACES)]
    waiting: list[Found] = []
    for one in found[len(first) : _REACH]:
        new = one.how != "search" or not any(one.card.id in counterparts(other.card.id) for other in first)
        if new and len(first) < _PLACES:
            first.append(one)
        else:
            waiting.append(one)
    if len(first) < _PLACES:
        return found[:_PLACES], found[_PLACES:]
    return first, [*waiting, *found[max(_REACH, len(first)) :]]


def with_named(found: list[Found], named: Sequence[Card], *, leads: bool) -> list[Found]:
    """What was found, with the cards of a name among the first three: at their head, or after the best one."""
    if not named or (not leads and any(one.card in named for one in found[:_PLACES])):
        return found
    mine = [Found(card, "alias", 0.9, {"name": 1.0}) for card in named]
    others = [one for one in found if one.card not in named]
    if leads:
        return [*mine[:SHOWN_NAMED], *others, *mine[SHOWN_NAMED:]]
    return [*others[:1], *mine[:1], *others[1:], *mine[1:]]


def kind_of(card: Card) -> str:
    """Metric, concept or failure mode."""
    return card.framework if card.framework in GENERAL else "metric"
