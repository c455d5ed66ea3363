"""Keys said in words are found where they mean one card or two, and only between word boundaries."""

from __future__ import annotations

import pytest

from assistant.knowledge import library
from assistant.knowledge.counterparts import Counterparts
from assistant.knowledge.resolver import Resolver
from assistant.knowledge.spoken import SpokenKeys


@pytest.fixture(scope="module")
def spoken() -> SpokenKeys:
    return SpokenKeys(library())


@pytest.mark.parametrize(
    ("text", "framework", "card", "words"),
    [
        ("what is policy kl error", "NeMo-RL", "nemo-rl/train/policy_kl_error", "policy kl error"),
        ("meaning of frac reward zero std", "TRL", "trl/frac_reward_zero_std", "frac reward zero std"),
        ("actor/kl loss", "verl", "verl/actor/kl_loss", "actor/kl loss"),
    ],
)
def test_ends_words_of_a_key_give_its_card(
    spoken: SpokenKeys, text: str, framework: str, card: str, words: str
) -> None:
    assert [([c.id for c in cards], run) for cards, run in spoken.ends(text, framework)] == [([card], words)]


@pytest.mark.parametrize("text", ["actor/kl_loss", "what is the mean of it", "", "policykl error"])
def test_ends_spelt_key_or_other_words_give_nothing(spoken: SpokenKeys, text: str) -> None:
    assert list(spoken.ends(text, "verl")) == []


def test_whole_key_with_spaces_is_found_in_a_sentence(spoken: SpokenKeys) -> None:
    found = spoken.whole("where is performance/mean total tokens per sample", "NeMo-RL")
    assert [card.id for card in found] == ["nemo-rl/train/mean_total_tokens_per_sample"]
    assert spoken.whole("where is performance/mean total tokens per sample", "verl") == []


def test_twins_of_a_template_are_found_and_mutual_ones_come_first() -> None:
    cards = library()
    counterparts = Counterparts(cards, Resolver(cards))
    memory = cards.cards["verl/perf/max_memory_allocated_gb"]
    assert [card.id for card in counterparts.twins(memory, "ROLL")] == ["roll/memory/max_allocated"]
    assert counterparts.twins(memory, "verl") == []
