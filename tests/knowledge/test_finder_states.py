"""Questions that say nothing of a quantity but its name and how it is; keys typed with other joints; keys spelt out."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.knowledge import library
from assistant.knowledge.finder import Finder
from assistant.knowledge.index import open_index
from assistant.knowledge.loosekeys import LooseKeys
from assistant.knowledge.stated import names_within
from assistant.knowledge.terms import fold

_PLACES = 3


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Finder:
    folder: Path = tmp_path_factory.mktemp("index")
    return Finder(library(), lambda entries: open_index(entries, folder))


@pytest.fixture(scope="module")
def loose() -> LooseKeys:
    return LooseKeys(library())


def shown(finder: Finder, question: str) -> list[str]:
    return [found.card.id for found in finder.find(question, None, _PLACES)]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("kl 一直涨怎么办", "kl"),
        ("is a negative kl ok", "kl"),
        ("策略熵太低了怎么办", "策略熵"),
        ("my mean reward looks too high", "mean reward"),
        ("actor_loss = 0 是 normal 吗", "actor_loss"),
        ("日志里只写了 tis，前面没有斜杠", "tis"),
    ],
)
def test_names_within_gives_what_is_left_of_a_question(question: str, name: str) -> None:
    assert name in names_within(fold(question))


def test_names_within_gives_longer_names_first_and_never_the_whole() -> None:
    names = list(names_within("is mean reward high"))
    assert names.index("mean reward") < names.index("reward")
    assert "is mean reward high" not in names


def test_names_within_leaves_long_texts_alone() -> None:
    assert not list(names_within("kl " + "high " * 100))


@pytest.mark.parametrize("name", ["kl", "mean reward", "clipfrac", "policy entropy", "梯度范数", "rss"])
@pytest.mark.parametrize(
    "frame",
    [
        "{} 是越大越好吗",
        "my {} looks too high",
        "{} negative ok?",
        "should I worry about {}",
        "{} 要 care 吗",
        "what's a good {}",
    ],
)
def test_find_name_and_how_it_is_gives_what_the_name_gives(finder: Finder, name: str, frame: str) -> None:
    assert shown(finder, name)[0] in shown(finder, frame.format(name))


@pytest.mark.parametrize("question", ["奖励崩了", "kl 突然爆炸了"])
def test_find_what_goes_wrong_with_a_quantity_gives_a_failure_and_the_quantity(finder: Finder, question: str) -> None:
    frameworks = {card.partition("/")[0] for card in shown(finder, question)}
    assert "failure" in frameworks
    assert len(frameworks) > 1


@pytest.mark.parametrize("name", ["MaxEpRet", "StdLogPi"])
def test_find_bare_key_of_a_rare_trainer_is_found_where_nothing_else_is(finder: Finder, name: str) -> None:
    assert shown(finder, name)[0].startswith("spinning-up/")


@pytest.mark.parametrize(
    ("typed", "card"),
    [
        ("critic/kl coef", "roll/critic/kl_coef"),
        ("val-core_gsm8k/accc/maj@8/mean", "verl/val/maj@n/mean"),
        ("memory.cpu/rollout/start/rss 多少算正常", "roll/memory/cpu/rss"),
        ("critic advntages/min 要 care 吗", "verl/critic/advantages"),
        ("timing_s/compute_socre 那几项 so slow，是 sandbox 吗", "verl/timing_s/agent_loop/compute_score"),
        ("why would rollout/moe/avg_vio-layer_1 go up", "verl/rollout/moe/avg_vio"),
    ],
)
def test_find_key_with_other_joints_gives_its_card(finder: Finder, typed: str, card: str) -> None:
    assert card in shown(finder, typed)


@pytest.mark.parametrize(
    "name",
    ["timing_s/coffee_break", "reward/lunch", "actor/quantum flux", "rollout_corr/rollout_is_kurtosis", "a/b", "x"],
)
def test_find_key_that_is_none_is_unknown_however_it_is_joined(finder: Finder, loose: LooseKeys, name: str) -> None:
    assert not loose.find(name)
    assert not shown(finder, name)


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("tsi", "tis"),
        ("lk", "kl"),
        ("mffu", "mfu"),
        ("rlo", "rloo"),
        ("plp", "ppl"),
        ("bset@8", "best@8"),
        ("wosrt@16/mean", "worst@16/mean"),
        ("pass@@k", "pass@k"),
    ],
)
def test_mend_short_name_with_a_slip_gives_the_short_name(finder: Finder, typed: str, right: str) -> None:
    assert finder.speller.mend(typed)[1] == {typed: right}


@pytest.mark.parametrize("name", ["in", "us", "kl", "lr", "best@8", "aime", "gpu", "luck@8"])
def test_mend_short_name_that_is_right_or_like_none_stays(finder: Finder, name: str) -> None:
    assert not finder.speller.mend(name)[1]


@pytest.mark.parametrize(
    "name",
    [
        "ppo_actor/update/energy/avg", "completions/dropout_ratio", "train/sleep", "prompt_length/dna/mean",
        "ppo_actor/update/stress_norm", "rollout/dna_time", "crime rate", "entropy of the universe",
    ],
)  # fmt: skip
def test_find_word_that_is_spelt_right_is_no_other_word(finder: Finder, name: str) -> None:
    assert not shown(finder, name)


@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("rihgt_reponse_length/mean", "roll/token/right_response_length"),
        ("critic/raw_advantags", "roll/critic/raw_advantages"),
        ("critic/advantages/average", "verl/critic/advantages"),
    ],
)
def test_find_key_with_a_part_left_out_or_in_another_word_is_found(finder: Finder, name: str, card: str) -> None:
    assert card in shown(finder, name)


def test_loose_keys_of_a_name_without_joints_are_none(loose: LooseKeys) -> None:
    assert not loose.find("entropy")


@pytest.mark.parametrize(
    ("question", "card"),
    [
        ("time/step_train 里算不算装载和卸载", "roll/time/step_generate"),
        ("actor/polciykl@sum 正负号跟 verl 一样吗", "roll/actor/policykl"),
    ],
)
def test_find_key_spelt_in_a_sentence_is_among_the_first(finder: Finder, question: str, card: str) -> None:
    assert card in shown(finder, question)
