"""Keys of which people write a piece only, with a slip in it: without their beginning, their statistic, or both."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from assistant.knowledge import library
from assistant.knowledge.finder import Finder
from assistant.knowledge.index import open_index
from assistant.knowledge.loosekeys import LooseKeys, _Sieve, pieces_of

_PLACES = 3
_LONG_ENOUGH = 9


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Finder:
    folder: Path = tmp_path_factory.mktemp("index")
    return Finder(library(), lambda entries: open_index(entries, folder))


@pytest.fixture(scope="module")
def pieces() -> LooseKeys:
    return LooseKeys(library(), pieces=True)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (
            "timing_s/agent_loop/tool_calls/max",
            {"agent_loop/tool_calls", "tool_calls/max", "agent_loop/tool_calls/max"},
        ),
        ("rollout/moe/avg_vio/layer_{i}", {"moe/avg_vio/layer_{i}", "avg_vio/layer_{i}"}),
        ("actor/lr", set()),
        ("reward_std", set()),
    ],
)
def test_pieces_of_are_ends_and_ends_without_the_statistic(key: str, expected: set[str]) -> None:
    assert expected <= set(pieces_of(key))
    assert key not in pieces_of(key)
    assert expected or not pieces_of(key)


@pytest.mark.parametrize(
    ("typed", "card"),
    [
        ("sampling_logp_diference/mean", "trl/sampling/sampling_logp_difference"),
        ("off_policy/evcited_samples", "verl/training/off_policy/evicted_samples"),
        ("moe/avg_vio", "verl/rollout/moe/avg_vio"),
        ("update/behaev_approx_kl", "areal/ppo_actor/update/behave_approx_kl"),
        ("agent_olop/tool_calls/min 怎么 drop 了", "verl/timing_s/agent_loop/tool_calls"),
        ("healthy range for update/importance_weigth/max", "areal/ppo_actor/update/importance_weight"),
        ("partial/total_patial_num 多少算正常", "verl/fully_async/partial/total_partial_num"),
        ("advantags/max", "verl/critic/advantages"),  # a piece of keys of five cards
        ("scor/mean", "roll/critic/score"),
    ],
)
def test_find_misspelt_piece_of_a_key_gives_its_card(finder: Finder, typed: str, card: str) -> None:
    assert card in [found.card.id for found in finder.find(typed, None, _PLACES)]


@pytest.mark.parametrize(
    "name", ["update/vocab_dream_logits", "agent_loop/coffee/max", "sampling_karma/mean", "off_policy/pizza_samples"]
)
def test_find_piece_with_another_word_is_unknown(finder: Finder, pieces: LooseKeys, name: str) -> None:
    assert not pieces.find(name)
    assert not finder.find(name)


def test_pieces_of_every_key_with_two_letters_swapped_lead_to_its_card(pieces: LooseKeys) -> None:
    chosen = random.Random(7)
    missed = []
    for card in library():
        for piece in pieces_of(card.keys[0].lower()) if card.framework in {"verl", "trl", "roll", "areal"} else ():
            places = [at for at in range(1, len(piece) - 1) if piece[at : at + 2].isalpha() and "{" not in piece]
            if not places:
                continue
            at = chosen.choice(places)
            found = pieces.find(piece[:at] + piece[at + 1] + piece[at] + piece[at + 2 :], card.framework)
            if found and card not in found:
                missed.append((piece, card.id, [one.id for one in found]))
    assert not missed


def test_sieve_keeps_whatever_few_slips_part_from_a_name(monkeypatch: pytest.MonkeyPatch, pieces: LooseKeys) -> None:
    chance = random.Random(11)
    keys = [key.lower() for card in library() for key in card.keys if "{" not in key and len(key) > _LONG_ENOUGH]
    typed = []
    for key in chance.sample(keys, 80):
        letters = list(key)
        for _ in range(chance.choice((1, 2))):
            at = chance.randrange(1, len(letters) - 1)
            letters[at : at + 2] = chance.choice((letters[at + 1 : at - 1 : -1], letters[at + 1 : at + 2], ["_", "x"]))
        typed.append("".join(letters))
    whole = LooseKeys(library())
    sieved = [[card.id for card in loose.find(name)] for name in typed for loose in (whole, pieces)]
    monkeypatch.setattr(_Sieve, "passed", lambda self, words: range(len(self._most)))
    everything = [[card.id for card in loose.find(name)] for name in typed for loose in (whole, pieces)]
    assert sieved == everything
    assert sum(map(bool, sieved)) > len(sieved) // 4
