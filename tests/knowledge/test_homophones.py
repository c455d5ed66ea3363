"""Chinese typos are mended by sound."""

from __future__ import annotations

from collections import Counter

import pytest

from assistant.knowledge import library
from assistant.knowledge.homophones import Homophones
from assistant.knowledge.terms import terms


@pytest.fixture(scope="module")
def homophones() -> Homophones:
    """Of the shipped cards, with the shares of their Chinese titles and wordings."""
    cards = library()
    held = Counter(
        term
        for card in cards
        for term in {t for text in (card.title("zh"), *card.words("zh"), *card.asks("zh")) for t in terms(text)}
    )
    return Homophones(cards, lambda term: held[term] / len(cards))


@pytest.mark.parametrize(
    ("text", "typed", "right"),
    [
        ("verl 的 policy 商是", "商", "熵"),
        ("actor 的商 drop 了", "商", "熵"),
        ("奖利黑客", "奖利", "奖励"),
        ("专家腹载不均", "腹载", "负载"),
        ("奖励漓散度", "漓散", "离散"),
        ("通过驴", "过驴", "过率"),
        ("训练推里不一致", "推里", "推理"),
        ("响应常度", "常度", "长度"),
        ("虫复率", "虫复", "重复"),
    ],
)
def test_homophones_mend_what_no_card_holds_is_taken_by_sound(
    homophones: Homophones, text: str, typed: str, right: str
) -> None:
    """A pair that no card holds, and a rare character that stands alone, are what they sound like."""
    assert homophones.mend(text)[typed] == right


@pytest.mark.parametrize(
    "text",
    ["策略熵", "entropy 不 drop", "reward 涨", "梯度范数", "kl loss", "训练利用率", "真实奖励", "同题得分的标准差"],
)
def test_homophones_mend_what_cards_hold_is_left(homophones: Homophones, text: str) -> None:
    """What cards hold is right, and so is a common character that stands alone."""
    assert homophones.mend(text) == {}


@pytest.mark.parametrize(
    "text", ["显存预留峰值", "旧策略对数概率重算时间", "训练器空闲占比", "每步词元总数", "最短长度", "奖励反而", "上海"]
)
def test_homophones_mend_where_two_words_meet_is_no_typo(homophones: Homophones, text: str) -> None:
    """A pair that no card holds is right if its characters are the end and the beginning of known words."""
    assert homophones.mend(text) == {}
