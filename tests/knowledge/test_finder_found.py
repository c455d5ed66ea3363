"""The first three of what was found differ: in their quantities, and in their kinds where the scores hardly do."""

from __future__ import annotations

import pytest

from assistant.knowledge import library
from assistant.knowledge.counterparts import Counterparts
from assistant.knowledge.finder_found import Found, How, varied
from assistant.knowledge.resolver import Resolver


@pytest.fixture(scope="module")
def counterparts() -> Counterparts:
    cards = library()
    return Counterparts(cards, Resolver(cards))


def found(card: str, score: float, how: How = "search") -> Found:
    return Found(library().cards[card], how, score, {})


def order(results: list[Found]) -> list[str]:
    return [one.card.id for one in results]


THREE_OF_ONE = [
    found("verl/response_length", 0.9),
    found("trl/completions/length", 0.8),
    found("openrlhf/response_length", 0.7),
    found("verl/prompt_length", 0.65),
    found("verl/num_turns", 0.6),
]


def test_varied_counterparts_of_the_first_wait_behind_other_quantities(counterparts: Counterparts) -> None:
    results = order(varied(THREE_OF_ONE, 0, counterparts.of))
    assert results[:3] == ["verl/response_length", "verl/prompt_length", "verl/num_turns"]
    assert sorted(results) == sorted(order(THREE_OF_ONE))


def test_varied_what_is_named_stays(counterparts: Counterparts) -> None:
    assert order(varied(THREE_OF_ONE, 2, counterparts.of))[:2] == order(THREE_OF_ONE)[:2]
    named = [*THREE_OF_ONE[:1], found("trl/completions/length", 0.8, "alias"), *THREE_OF_ONE[2:]]
    assert order(varied(named, 0, counterparts.of))[1] == "trl/completions/length"


def test_varied_too_few_other_quantities_leave_the_order(counterparts: Counterparts) -> None:
    assert order(varied(THREE_OF_ONE[:4], 0, counterparts.of)) == order(THREE_OF_ONE[:4])


def test_of_counterparts_are_mutual(counterparts: Counterparts) -> None:
    for card in library():
        assert all(card.id in counterparts.of(other) for other in counterparts.of(card.id))
