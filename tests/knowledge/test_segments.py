"""Words written as one are parted, and words written as two are joined; what is neither is left alone."""

from __future__ import annotations

import pytest

from assistant.knowledge import library
from assistant.knowledge.resolver import Resolver
from assistant.knowledge.segments import broken, parted
from assistant.knowledge.typos import Speller

COUNTS = {
    "reward": 50,
    "after": 20,
    "length": 40,
    "gradient": 30,
    "norm": 30,
    "signal": 9,
    "long": 12,
    "the": 90,
    "hit": 4,
}


@pytest.fixture(scope="module")
def speller() -> Speller:
    cards = library()
    return Speller(cards, Resolver(cards), lambda term: 1.0)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("gradientnormsignal", "gradient norm signal"),
        ("rewardafterkl", "reward after kl"),
        ("lengthofthesignal", "length of the signal"),
        ("gradientnrom", None),
        ("coffeebreak", None),
        ("oftheis", None),
        ("norm", None),
        ("", None),
        ("norm" * 20, None),
    ],
)
def test_parted_run_of_letters_is_its_words_or_nothing(run: str, words: str | None) -> None:
    assert parted(run, COUNTS, ()) == words


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("the gradie nt norm", [("gradie nt", "gradient")]),
        ("sig-nal", [("sig-nal", "signal")]),
        ("le_ngth hit", [("le_ngth", "length")]),
        ("long norm", []),  # two words
        ("a/le_ngth", []),  # a part of a key
        ("cof fee", []),
    ],
)
def test_broken_word_is_joined_if_a_half_is_none(text: str, pairs: list[tuple[str, str]]) -> None:
    assert list(broken(text, COUNTS)) == pairs


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("clampedprobabilityratio", "clamped probability ratio"),
        ("onloadtime", "onload time"),
        ("non score re ward", "non score reward"),
        ("gradie nt noise", "gradient noise"),
        ("langchain", "langchain"),
        ("kubernetes", "kubernetes"),
    ],
)
def test_mend_words_joined_or_broken(speller: Speller, typed: str, right: str) -> None:
    assert speller.mend(typed)[0] == right
