"""Short forms that stand for known names, and things with numbers of their own that no card is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.knowledge import library
from assistant.knowledge.finder import Finder
from assistant.knowledge.index import open_index


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Finder:
    folder: Path = tmp_path_factory.mktemp("index")
    return Finder(library(), lambda entries: open_index(entries, folder))


@pytest.mark.parametrize(
    ("question", "cards"),
    [
        ("steplatency", {"verl/timing_s/step"}),
        ("tokencount per step", {"nemo-rl/train/total_num_tokens", "verl/perf/total_num_tokens"}),
        ("wallclock of a step", {"verl/timing_s/step", "verl/perf/time_per_step"}),
        ("tok/sec/device", {"verl/perf/throughput"}),
        ("sample/s/gpu", {"nemo-rl/performance/samples_per_sec_per_gpu"}),
        ("ms/token", {"verl/timing_per_token_ms/gen", "verl/timing_per_token_ms/update_actor"}),
        ("bo16 on the validation set", {"verl/val/best@n/mean"}),
        ("avg8", {"verl/val/mean@n"}),
        ("pref acc", {"trl/rewards/accuracies"}),
        ("wts sync", {"verl/timing_s/update_weights"}),
        ("clip_fracc", {"verl/actor/pg_clipfrac"}),
        ("completion token count avg", {"verl/response_length"}),
        ("响应常度", {"verl/response_length"}),
    ],
)
def test_find_short_form_gives_the_metric(finder: Finder, question: str, cards: set[str]) -> None:
    found = finder.find(question)
    assert {one.card.id for one in found[:1]} & cards


@pytest.mark.parametrize(
    "question",
    [
        "attention entropy per head",
        "entropy of the attention maps",
        "activation l2 norm",
        "layer-wise gradient norms of each mlp",
        "nvlink throughput per gpu",
        "grpc latency p99",
        "number of layers in the model",
        "how many billion parameters",
        "注意力的熵",
        "词嵌入的范数",
    ],
)
def test_find_thing_that_no_card_is_about_gives_nothing(finder: Finder, question: str) -> None:
    """The quantity is known, but not of this thing."""
    assert finder.find(question) == []


@pytest.mark.parametrize(
    ("question", "card"),
    [
        ("moe expert load of each layer", "verl/rollout/moe/avg_vio"),
        ("bits per byte whatever the tokenizer", "general/bpb"),
        ("lora run, nothing is learnt, weights stay the same", "failure/no-update"),
    ],
)
def test_find_thing_that_a_card_speaks_of_is_no_hindrance(finder: Finder, question: str, card: str) -> None:
    assert card in {found.card.id for found in finder.find(question)}


@pytest.mark.parametrize(
    ("typed", "right"), [("trunc raet", "trunc rate"), ("kl penalti", "kl penalty"), ("gen lenn", "gen len")]
)
def test_find_name_from_elsewhere_with_a_slip_gives_what_the_right_one_gives(
    finder: Finder, typed: str, right: str
) -> None:
    assert finder.find(typed)[0].card is finder.find(right)[0].card


def test_find_words_spelt_right_are_no_slip_of_a_name_from_elsewhere(finder: Finder) -> None:
    assert finder.find("cut of date") == []


@pytest.mark.parametrize(
    ("symptom", "card"),
    [
        ("engine queue full, requests preempted all the time", "failure/engine-saturation"),
        ("answers turned into random characters", "failure/entropy-explosion"),
    ],
)
def test_find_what_goes_wrong_is_the_failure_before_the_metric(finder: Finder, symptom: str, card: str) -> None:
    assert finder.find(symptom)[0].card.id == card
