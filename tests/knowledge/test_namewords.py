"""The words that the names of metrics are made of: however a name is put, its words are the same."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.knowledge import library
from assistant.knowledge.namewords import absent_names, name_words, names_of, quantities_of, read_table, table


@pytest.mark.parametrize(
    "names",
    [
        ("gen secs", "generation time", "timing_s/gen", "生成耗时", "生成用时", "gen 的时间"),
        ("avg resp len", "mean response length", "response_length/mean", "回复长度均值", "平均回复长度"),
        ("clip frac", "clip_ratio", "clipfrac", "clipping rate", "裁剪比例", "clip 占比"),
        ("gnorm", "gradient norm", "grad_norm", "梯度范数", "梯度模"),
        ("peak mem reserved", "max_memory_reserved_gb", "显存预留峰值", "预留显存最大值"),
        ("tok/s per gpu", "tokens_per_sec_per_gpu", "tokens_per_gpu_per_sec", "token tput per GPU"),
        ("expl var", "explained_variance", "解释方差"),
        ("num turns", "turn count", "轮数"),
        ("logp diff", "log_prob_difference", "对数概率差"),
    ],
)
def test_name_words_one_name_put_differently_has_the_same_words(names: tuple[str, ...]) -> None:
    for one, other in combinations(names, 2):
        assert set(name_words(one)) == set(name_words(other)), (one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("value loss", "policy loss"),
        ("s/it", "it/s"),
        ("reward", "score"),
        ("max length", "min length"),
        ("token count", "token ratio"),
        ("模型", "模"),
        ("参数量", "参数"),
    ],
)
def test_name_words_different_quantities_have_different_words(one: str, other: str) -> None:
    assert set(name_words(one)) != set(name_words(other))


@given(st.text(max_size=40))
def test_name_words_of_any_text_stand_once(text: str) -> None:
    words = name_words(text)
    assert len(words) == len(set(words))
    assert all(words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"mean": ["avg"], "ratio": ["avg"]}, "stands for"),
        ({"mean": ["of"]}, "left out"),
    ],
)
def test_read_table_contradiction_is_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_table({"left_out": ["of"], "words": words, "quantities": {}})


def test_quantities_are_words_of_the_table_and_kinds_that_cards_have() -> None:
    kinds = {card.kind for card in library()}
    assert {kind for asked in table().quantities.values() for kind in asked} <= kinds
    held = {word for card in library() for name in names_of(card) for word in name_words(name)}
    assert set(table().quantities) <= held


@pytest.mark.parametrize(
    ("card", "quantity"),
    [
        ("verl/timing_s/old_log_prob", "time"),
        ("verl/response_length/clip_ratio", "ratio"),
        ("trl/completions/length", "length"),
        ("verl/perf/throughput", "throughput"),
        ("verl/actor/grad_norm", "norm"),
    ],
)
def test_quantities_of_a_card_follow_its_kind_and_its_keys(card: str, quantity: str) -> None:
    assert quantity in quantities_of(library().cards[card])


def test_absent_names_are_no_cards() -> None:
    """What nobody here measures must not be what some shipped card goes by."""
    held = [frozenset(name_words(name)) for card in library() for name in names_of(card)]
    assert [sorted(absent) for absent in absent_names() if any(absent <= words for words in held)] == []
