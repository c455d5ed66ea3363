"""Mixed text in one form, and slips of the pen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.ask.mixed import unmixed
from assistant.ask.slips import mended


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("单步最 slow 的是 which step", "单步最慢 的是 哪一步"),
        ("score 是 how much", "score 是多少"),
        ("再 train 30 个 step", "再训练30步"),
        ("每个 step 多少 token", "每步 多少 token"),
        ("根本没 update 吧", "根本没更新 吧"),
        ("被 truncated 的比例", "被截断 的比例"),
    ],
)
def test_unmixed_english_words_in_chinese_become_chinese(typed: str, meant: str) -> None:
    assert unmixed(typed) == meant


@pytest.mark.parametrize(
    "text",
    [
        "timing_s/step 是多少",
        "step 12 的 response_length/max",
        "update_actor 的耗时",
        "learning rate 变了吗",
        "entropy at step 3",
    ],
)
def test_unmixed_keys_and_plain_text_stay_as_they_are(text: str) -> None:
    assert unmixed(text) == text


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_unmixed_text_without_chinese_stays_as_it_is(text: str) -> None:
    assert unmixed(text) == text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("teh last stpe", "the last step"),
        ("reponse lenght", "response length"),
        ("rewrad treand", "reward trend"),
        ("vaildation acuracy", "validation accuracy"),
        ("is it healty", "is it healthy"),
    ],
)
def test_mended_slip_becomes_the_word(typed: str, meant: str) -> None:
    assert mended(typed) == meant


@pytest.mark.parametrize(
    "text",
    [
        "actor/entrpy",
        "LossQ and AverageKL",
        "stop the run",
        "a list of functions",
        "the stock price",
        "kl_los",
        "SCORE",
    ],
)
def test_mended_names_and_other_words_stay_as_they_are(text: str) -> None:
    assert mended(text) == text
