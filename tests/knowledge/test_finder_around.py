"""What stands around a name neither hides it nor stands for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.knowledge import library
from assistant.knowledge.finder import Finder
from assistant.knowledge.index import open_index
from assistant.knowledge.questions import search_table, without_place
from assistant.knowledge.stated import without_ends


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Finder:
    folder: Path = tmp_path_factory.mktemp("index")
    return Finder(library(), lambda entries: open_index(entries, folder))


def first(finder: Finder, question: str, framework: str | None = None) -> str:
    return finder.find(question, framework, 3)[0].card.id


@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("reward-to-go", "verl/critic/returns"),
        ("mean logprob", "slime/rollout/log_probs"),
        ("rollout staleness", "verl/training/off_policy/trajectory_staleness"),
        ("unwhitened advantages", "roll/critic/raw_advantages"),
        ("kd loss", "verl/distillation/loss"),
    ],
)
@pytest.mark.parametrize(
    "carrier", ["{}", "where do I see {}", "{} in my GRPO logs", "my {} looks weird", "what does {} tell me"]
)
def test_find_name_in_a_carrier_is_found_as_alone(finder: Finder, name: str, card: str, carrier: str) -> None:
    assert card in [found.card.id for found in finder.find(carrier.format(name), None, 3)]


@pytest.mark.parametrize(
    "name", ["sharpe ratio", "exchange rate", "heart rate", "build duration", "lap time", "optimality gap"]
)
@pytest.mark.parametrize("carrier", ["{}", "is my {} too high", "{} keeps going up", "why does the {} keep dropping"])
def test_find_height_of_what_is_not_known_finds_nothing(finder: Finder, name: str, carrier: str) -> None:
    assert finder.find(carrier.format(name)) == []


@pytest.mark.parametrize(
    ("name", "framework", "card"),
    [
        ("average response length", "verl", "verl/response_length"),
        ("total step time", "verl", "verl/timing_s/step"),
        ("batch size", "ROLL", "roll/system/batch_size"),
        ("kl to the reference", "OpenRLHF", "openrlhf/kl"),
    ],
)
def test_find_name_of_others_too_gives_the_card_of_the_framework(
    finder: Finder, name: str, framework: str, card: str
) -> None:
    assert first(finder, name, framework) == card


@pytest.mark.parametrize("question", ["entropy collapse", "what is entropy collapse?", "training inference mismatch"])
def test_find_name_of_a_failure_shows_the_failure(finder: Finder, question: str) -> None:
    assert any(found.card.framework == "failure" for found in finder.find(question, None, 2))


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("entropy in my GRPO logs", "entropy  "),
        ("entropy in the RL run?", "entropy  ?"),
        ("我的 GRPO 日志里的熵", " 熵"),
        ("in my GRPO logs", "in my GRPO logs"),
        ("margins in my dpo logs", "margins in my dpo logs"),  # another method: it tells which margins
        ("n in GRPO", "n in GRPO"),
    ],
)
def test_without_place_what_was_trained_is_left_out(question: str, rest: str) -> None:
    assert without_place(question).split() == rest.split()


@pytest.mark.parametrize(
    ("text", "name", "how_high"),
    [
        ("is my kl loss too high", "kl loss", True),
        ("where do i see mean logprob", "mean logprob", False),
        ("kl loss", "", False),
        ("is it too high", "", False),
        ("kl loss 太高", "kl loss", False),
        ("x " * 100, "", False),
    ],
)
def test_without_ends_gives_the_name_and_whether_its_height_is_said(text: str, name: str, how_high: bool) -> None:
    assert without_ends(text) == (name, how_high)


def test_height_is_said_of_names() -> None:
    table = search_table()
    assert table["height"] <= table["stated"] | table["framed"] | table["fillers"]


@pytest.mark.parametrize(
    ("question", "card"), [("pass at 8", "concept/pass-at-k"), ("maj at 16", "verl/val/maj@n/mean")]
)
def test_find_score_whose_sign_is_said(finder: Finder, question: str, card: str) -> None:
    assert first(finder, question) == card


@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("validation accuracy", "verl/val/mean@n"),  # Keras has the name, too
        ("what is the test accuracy", "verl/val/mean@n"),
        ("critic", "concept/value-function"),
        ("expert load imbalance", "verl/rollout/moe/max_vio"),
        ("entropy collapse", "failure/entropy-collapse"),
        ("nan gradients", "failure/non-finite-gradient"),
        ("max high clip ratio", "trl/clip_ratio/extremes"),
        ("best of 16", "verl/val/best@n/mean"),
        ("raw_reward", "slime/rollout/raw_reward"),  # somebody's key, whatever its words are called elsewhere
        ("kl_loss", "verl/actor/kl_loss"),
    ],
)
def test_find_name_means_what_most_people_mean_by_it(finder: Finder, name: str, card: str) -> None:
    assert first(finder, name) == card


@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("age of the trajectories", "verl/training/off_policy/trajectory_staleness"),
        ("advantages before normalisation", "roll/critic/raw_advantages"),
        ("fraction of tool calls that failed", "trl/tools/failure_frequency"),
        ("seconds for validation", "verl/timing_s/testing"),
    ],
)
def test_find_words_of_a_name_in_another_order_or_form(finder: Finder, name: str, card: str) -> None:
    assert card in [found.card.id for found in finder.find(name, None, 3)]


@pytest.mark.parametrize("name", ["bit error rate", "MOS score", "reward kurtosis", "helpfulness score"])
def test_find_what_is_measured_elsewhere_finds_nothing(finder: Finder, name: str) -> None:
    assert finder.find(name) == []
