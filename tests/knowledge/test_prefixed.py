"""Keys as dashboards show them: what Hugging Face's Trainer puts before a trainer's own keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.knowledge import library
from assistant.knowledge.finder import Finder
from assistant.knowledge.index import open_index
from assistant.knowledge.prefixed import behind_prefix
from assistant.knowledge.resolver import Resolver

CARDS = library()
PREFIXED = [
    (f"train/{key}", card)
    for card in CARDS
    for key in card.keys
    if card.framework == "TRL" and "{" not in key and not key.startswith("eval")
]


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Finder:
    folder: Path = tmp_path_factory.mktemp("index")
    return Finder(CARDS, lambda entries: open_index(entries, folder))


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return Resolver(CARDS)


def test_behind_prefix_every_key_of_such_a_trainer_leads_to_its_card(resolver: Resolver) -> None:
    assert [key for key, card in PREFIXED if card not in behind_prefix(key, "TRL", resolver)] == []


@pytest.mark.parametrize(
    ("key", "framework", "card"),
    [
        ("eval/loss", "TRL", "trl/eval_loss"),
        ("train/rewards/format_reward/mean", None, "trl/rewards/reward_func-mean"),
        ("train/memory(GiB)", "ms-swift", "ms-swift/memory"),
    ],
)
def test_behind_prefix_gives_the_card_of_the_key(
    resolver: Resolver, key: str, framework: str | None, card: str
) -> None:
    assert [one.id for one in behind_prefix(key.lower(), framework, resolver)][:1] == [card]


@pytest.mark.parametrize(
    ("key", "framework"),
    [
        ("train/kl", "verl"),
        ("train/pg_loss", "slime"),
        ("train/happiness", None),
        ("rollout/kl", None),
        ("train/", None),
    ],
)
def test_behind_prefix_other_keys_lead_nowhere(resolver: Resolver, key: str, framework: str | None) -> None:
    assert behind_prefix(key, framework, resolver) == []


@pytest.mark.parametrize(
    "question", ["train/reward_std", "what is train/kl", "train/entropy 一直涨", "train/kl unsloth"]
)
def test_find_key_as_the_dashboard_shows_it_gives_the_trainers_card(finder: Finder, question: str) -> None:
    assert finder.find(question, None, 3)[0].card.framework == "TRL"


def test_find_key_that_a_framework_logs_itself_is_its_own(finder: Finder) -> None:
    assert finder.find("train/reward", None, 3)[0].card.id == "nemo-rl/train/reward"
    assert finder.find("train/reward", "TRL", 3)[0].card.id == "trl/reward"
