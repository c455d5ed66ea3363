"""Questions that name two frameworks, names as a screen shows them, slips in what the field writes short."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.knowledge import library
from assistant.knowledge.finder import Finder
from assistant.knowledge.index import open_index
from assistant.knowledge.slips import parts_alike, same_letters

_PLACES = 3
_PAIRS = (
    ("verl", "timing_s/gen", "OpenRLHF", "openrlhf/timing/generation"),
    ("TRL", "step_time", "verl", "verl/timing_s/step"),
    ("AReaL", "ppo_actor/update/entropy/avg", "verl", "verl/actor/entropy"),
    ("slime", "perf/rollout_time", "verl", "verl/timing_s/gen"),
)


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Finder:
    folder: Path = tmp_path_factory.mktemp("index")
    return Finder(library(), lambda entries: open_index(entries, folder))


def shown(finder: Finder, question: str, framework: str | None = None) -> list[str]:
    return [found.card.id for found in finder.find(question, framework, _PLACES)]


@pytest.mark.parametrize("pair", _PAIRS)
@pytest.mark.parametrize(
    "wording",
    [
        "{key} in {source}, what is it in {asked}?",
        "{key} exists in {source}, which key has it in {asked}",
        "{source}: {key}. {asked}: ?",
        "在 {source} 里是 {key}，在 {asked} 里呢",
        "{key} 在 {source} 里有，那 {asked} 里看哪个 key",
        "{key}（{source}）换成 {asked} 是哪个指标",
    ],
)
def test_find_key_of_one_framework_gives_the_card_of_the_other(
    finder: Finder, wording: str, pair: tuple[str, str, str, str]
) -> None:
    source, key, asked, card = pair
    assert shown(finder, wording.format(source=source, key=key, asked=asked))[0] == card


@pytest.mark.parametrize(
    ("name", "card"),
    [("entropy", "verl/actor/entropy"), ("advantages", "verl/critic/advantages"), ("epoch", "verl/training/epoch")],
)
@pytest.mark.parametrize(
    "wording", ["tensorboard tag {}", "the two {} lines in wandb", "my log line says {}: 0.31", "curves titled {}"]
)
def test_find_name_as_a_screen_shows_it_gives_its_card(finder: Finder, wording: str, name: str, card: str) -> None:
    assert card in shown(finder, wording.format(name))


@pytest.mark.parametrize(
    ("typed", "card"),
    [
        ("truncc ratio", "verl/response_length/clip_ratio"),
        ("ckppt time", "verl/timing_s/save_checkpoint"),
        ("what is numbe of turns", "verl/num_turns"),
        ("leearn rate", "verl/actor/lr"),
        ("kll_loss verl meaning", "verl/actor/kl_loss"),
        ("avg_entrpoy", "verl/actor/entropy"),  # of keys that no card is called
        ("actor_lerning_rate", "verl/actor/lr"),
        ("output_lenght", "verl/response_length"),
        ("clilpo", "roll/actor/ppo_ratio_low_clipfrac"),
    ],
)
def test_find_slip_in_a_short_word_gives_the_card(finder: Finder, typed: str, card: str) -> None:
    assert card in shown(finder, typed)


@pytest.mark.parametrize(
    "question",
    [
        "completions/grammar_errors in TRL",
        "train/mood_ratio meaning",
        "jailbreak success rate",
        "gross margin",
        "entropy_salinty",
    ],
)
def test_find_what_nothing_is_called_stays_unknown(finder: Finder, question: str) -> None:
    assert shown(finder, question) == []


@pytest.mark.parametrize(
    ("typed", "right", "alike"),
    [
        ("train/mood_ratio", "train/is_oob_ratio", False),
        ("train/is_oobb_ratio", "train/is_oob_ratio", True),
        ("train/isoob_ratio", "train/is_oob_ratio", True),
        ("perf/mfu_acto", "perf/mfu_actor_infer", True),
    ],
)
def test_parts_alike_with_a_joint_more_or_less(typed: str, right: str, alike: bool) -> None:
    assert parts_alike(typed, right, {"train", "mood", "ratio"}.__contains__) is alike


def test_same_letters_but_for_their_order_or_a_double_one() -> None:
    assert same_letters("kll_loss", "kl_loss")
    assert same_letters("lk_loss", "kl_loss")
    assert not same_letters("kll_loss", "nll_loss")
    assert not same_letters("kl_loss", "kll_loss")
