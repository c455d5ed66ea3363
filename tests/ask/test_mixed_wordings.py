"""English words for operations inside Chinese questions, as the Chinese ones that the readers know."""

from __future__ import annotations

import pytest

from assistant.ask.mixed import unmixed
from assistant.ask.scope import bounds_named


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gen 的 top 3 step", "gen 的最高的 3 步"),
        ("entropy 的 top-1 steps 是哪个", "entropy 的最高的一步是哪个"),
        ("哪步开始 stay above 0.1", "哪步开始一直高于 0.1"),
        ("从哪步 remained below 20%", "从哪步一直低于 20%"),
        ("按目前的 pace，还要几步", "按现在的速度，还要几步"),
        ("内存几步后 hit 500GB", "内存几步后到 500GB"),
        ("多少步后 exceed 90%", "多少步后超过 90%"),
        ("这个值该 close to 几", "这个值该接近几"),
        ("验证的 std error 多大", "验证的标准误多大"),
        ("涨了 0.1 是 real 的还是 noise", "涨了 0.1 是真的还是噪声"),
        ("多少 step save 一次", "多少步存一次"),
        ("先 check 什么", "先查什么"),
        ("每个 prompt 的 num of samples", "每个 prompt 的样本数"),
        ("gpu util 高吗", "GPU 利用率高吗"),
        ("so far so good，有没有问题", "整体正常吗，有没有问题"),
    ],
)
def test_unmixed_operation_words(typed: str, meant: str) -> None:
    assert unmixed(typed) == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("为什么 42 之后掉了", "为什么 第42步之后掉了"),
        ("12 以前平均多少", "第12步以前平均多少"),
        ("掉到 42 之后", "掉到 42 之后"),
        ("0.42 之后", "0.42 之后"),
        ("最后 12 之前", "最后 12 之前"),
        ("420 之后呢", "420 之后呢"),
        ("step 42 之后", "step 42 之后"),
    ],
)
def test_bare_number_before_or_after_is_a_step_of_the_run(typed: str, meant: str) -> None:
    assert bounds_named(typed, range(1, 101)) == meant
