"""Mixed text in one form, and slips of the pen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.ask.mixed import unmixed
from assistant.ask.slips import mended
from assistant.ask.steps import chinese_number
from assistant.ask.wording import normalised, seamed


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("单步最 slow 的是 which step", "单步最慢的是哪一步"),
        ("score 是 how much", "score 是多少"),
        ("再 train 30 个 step", "再训练30步"),
        ("每个 step 多少 token", "每步多少 token"),
        ("根本没 update 吧", "根本没更新吧"),
        ("被 truncated 的比例", "被截断的比例"),
        ("每步 time 都 spend 在哪", "每步时间都花在哪"),
        ("延迟太 high 了", "延迟太高了"),
        ("太 slow，how to 优化", "太慢，怎么优化"),
        ("分数掉了，why", "分数掉了，为什么"),
        ("how many steps 的熵", "有多少步的熵"),
        ("哪些变差最 badly", "哪些变差最多"),
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


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("最后lr多少", "最后 lr 多少"),
        ("math500最高那步", "math500 最高那步"),
        ("第3步的entropy", "第3步的 entropy"),
        ("actor/kl_loss在20步", "actor/kl_loss 在20步"),
        ("只有中文", "只有中文"),
        ("only English at step 3", "only English at step 3"),
    ],
)
def test_seamed_words_beside_chinese_stand_apart(typed: str, read: str) -> None:
    assert seamed(typed) == read


_TYPED = st.lists(
    st.sampled_from(
        ["最后", "entropy", "多少", "第3步", "的", "actor/lr", "math500", "最高", "drop", "到", "0.1", "了吗", "12"]
    ),
    max_size=8,
)


@given(_TYPED)
def test_seamed_twice_is_once(words: list[str]) -> None:
    once = seamed("".join(words))
    assert seamed(once) == once


@given(_TYPED)
def test_normalised_with_and_without_blanks_at_the_seams_is_one(words: list[str]) -> None:
    tight = "".join(words)
    assert normalised(tight) == normalised(seamed(tight))


@pytest.mark.parametrize("key", ["critic/gap/peak", "val/best@4/mean", "timing_s/slow/drop", "actor/better_rate"])
def test_unmixed_words_within_a_key_stay(key: str) -> None:
    assert key in unmixed(f"{key} 到多少了，drop 了吗")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("entropy drop 到 0.1", "entropy 掉到 0.1"),
        ("哪些 worst", "哪些指标变差最多"),
        ("score better 了吗", "score 变好了吗"),
        ("该 tune 哪个", "该改哪个"),
        ("grad norm 就 spike 过一次", "grad norm 就飙升过一次"),
    ],
)
def test_unmixed_verbs_before_chinese_become_chinese(typed: str, meant: str) -> None:
    assert unmixed(typed) == meant


@pytest.mark.parametrize(
    ("numeral", "number"),
    [
        *(("三", 3), ("十二", 12), ("一百零五", 105), ("一百五", 150), ("两千", 2000), ("一千五", 1500)),
        *(("两千零三", 2003), ("一千二百", 1200), ("三万", 30_000), ("一万二", 12_000), ("两万三千", 23_000)),
        *(("二十", 20), ("零", 0)),
    ],
)
def test_chinese_number_as_it_is_said(numeral: str, number: int) -> None:
    assert chinese_number(numeral) == number
