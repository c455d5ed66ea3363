"""What else quantities go by: ``called`` in ``knowledge/search.yaml``."""

from __future__ import annotations

from collections import Counter

import pytest

from assistant.knowledge import library
from assistant.knowledge.naming import GENERAL, Naming
from assistant.knowledge.questions import search_table
from assistant.knowledge.resolver import Resolver
from assistant.knowledge.spoken import SpokenKeys
from assistant.knowledge.terms import fold
from assistant.knowledge.typos import Speller

CARDS = library()
ENTRIES = search_table()["called"]


@pytest.fixture(scope="module")
def naming() -> Naming:
    resolver = Resolver(CARDS)
    return Naming(CARDS, resolver, Speller(CARDS, resolver, lambda term: 0.0), SpokenKeys(CARDS))


def test_called_names_stand_once_and_lead_to_cards_that_exist(naming: Naming) -> None:
    assert [card for entry in ENTRIES for card in entry["cards"] if card not in CARDS.cards] == []
    for entry in ENTRIES:
        for name in entry["names"]:  # another entry of the same name would have taken its place
            assert [card.id for card in naming.also_called(fold(name), None)] == entry["cards"], name


def test_called_entries_have_one_card_of_each_framework() -> None:
    """But where two of one framework are as likely meant."""
    two = {"verifier time", "pass rate"}
    for entry in ENTRIES:
        frameworks = Counter(CARDS.cards[card].framework for card in entry["cards"])
        often = {framework for framework, count in frameworks.items() if count > 1} - GENERAL
        assert not often or two & set(entry["names"]), entry["names"]


@pytest.mark.parametrize(
    ("question", "framework", "expected"),
    [
        ("dup rate", None, "slime/rollout/repetition_frac"),
        ("what is the Rep-Rate in wandb?", None, "slime/rollout/repetition_frac"),
        ("approx_kl", "ROLL", "roll/actor/approxkl"),
        ("TGS 是什么", "NeMo-RL", "nemo-rl/performance/tokens_per_sec_per_gpu"),
        ("L_CLIP", None, "verl/actor/pg_loss"),
        ("r_t(theta)", None, "concept/importance-sampling"),
        ("value 的 clipfrac", None, "verl/critic/vf_clipfrac"),
        ("weights 的 broadcast time", None, "verl/timing_s/update_weights"),
    ],
)
def test_also_called_name_in_a_plain_question_leads_to_the_card(
    naming: Naming, question: str, framework: str | None, expected: str
) -> None:
    assert [card.id for card in naming.also_called(fold(question), framework)][:1] == [expected]


def test_also_called_other_words_around_the_name_find_nothing(naming: Naming) -> None:
    assert naming.also_called("dup rate of my hotel bookings", None) == []
    assert naming.also_called("dup rate", "TRL") == []  # no card of TRL tells how much is repeated
