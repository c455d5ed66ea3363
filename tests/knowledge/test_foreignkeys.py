"""Keys of code bases that no card knows: found by what their words say, if that is a card's name and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.knowledge import library
from assistant.knowledge.finder import Finder
from assistant.knowledge.foreignkeys import ForeignKeys, said_in
from assistant.knowledge.index import open_index

_PLACES = 3


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Finder:
    folder: Path = tmp_path_factory.mktemp("index")
    return Finder(library(), lambda entries: open_index(entries, folder))


@pytest.fixture(scope="module")
def keys(finder: Finder) -> ForeignKeys:
    return finder.foreign_keys


def shown(finder: Finder, question: str, framework: str | None = None) -> list[str]:
    return [found.card.id for found in finder.find(question, framework, _PLACES)]


@pytest.mark.parametrize(
    ("key", "card"),
    [
        ("sec_per_step", "general/step_time"),
        ("frac_truncated", "verl/response_length/clip_ratio"),
        ("gradient_norm/actor", "verl/actor/grad_norm"),
        ("adv_clip_frac", "roll/critic/advantage_clip_frac"),
        ("avg_prompt_len", "verl/prompt_length"),
        ("value_clip_frac", "verl/critic/vf_clipfrac"),
        ("ckpt_save_time", "verl/timing_s/save_checkpoint"),
    ],
)
@pytest.mark.parametrize("frame", ["{}", "{} 是什么", "what is {}"])
def test_find_key_of_another_code_base_gives_what_its_words_say(
    finder: Finder, key: str, card: str, frame: str
) -> None:
    assert card in shown(finder, frame.format(key))


@pytest.mark.parametrize(
    ("typed", "card"),
    [("critic_learning_rate", "verl/critic/lr"), ("what is critic_learning_rate", "verl/critic/lr")],
)
def test_find_key_spelt_right_is_no_misspelt_other_one(finder: Finder, typed: str, card: str) -> None:
    assert shown(finder, typed)[0] == card


@pytest.mark.parametrize(
    ("typed", "card"), [("rewards/margin", "trl/rewards/margins"), ("critic_lrs", "verl/critic/lr")]
)
def test_find_key_in_another_form_is_the_key(finder: Finder, typed: str, card: str) -> None:
    assert shown(finder, typed)[0] == card


def test_find_key_of_another_code_base_is_looked_for_in_the_framework_asked_for(finder: Finder) -> None:
    assert shown(finder, "frac_truncated", "TRL")[0] == "trl/completions/clipped_ratio"


@pytest.mark.parametrize(
    "key",
    [
        "actor/happiness", "frac_sarcasm", "sec_per_pizza", "tool_call_counts/luck/mean", "critic/quantum_flux",
        "gradient_norm/coffee", "ppo_actor/update/jealousy/avg", "rollout/temperature_score",
    ],
)  # fmt: skip
def test_find_key_with_a_word_of_no_name_is_unknown(finder: Finder, keys: ForeignKeys, key: str) -> None:
    assert not keys.find([key], None)
    assert not shown(finder, key)


def test_foreign_keys_are_like_metrics_only(keys: ForeignKeys) -> None:
    found = keys.find(["dual_clip_frac"], None)["dual_clip_frac"]
    assert all(card.framework not in {"concept", "failure"} for card in found)


def test_said_in_parts_a_key_at_its_joints() -> None:
    assert said_in("loss/policy_avg@sum") == "loss policy avg sum"
