"""English words for operations inside Chinese questions, as the Chinese ones that the readers know."""

from __future__ import annotations

import pytest

from assistant.ask.mixed import unmixed
from assistant.ask.scope import bounds_named
from assistant.ask.spoken import as_written
from tests.analysis.support import run_of

from .support import answerer


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


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("第二慢的是哪步", "step time 第二高的是哪一步"),
        ("第三快的步是哪个", "step time 第三低的是哪一步"),
        ("step 40 开始 score 一路下降", "从 step 40 开始 score 一路下降"),
        ("从 step 40 开始一路降", "从 step 40 开始一路下降"),
        ("得分恢复过吗", "得分恢复了吗"),
        ("AIME 的标准误是多少", "AIME 的误差是多少"),
        ("reward 的标准差是多少", "reward 的标准差是多少"),
        ("lr 能不能再翻一倍", "lr 能不能加倍"),
        ("这个值应该接近几", "这个值多少算正常"),
        ("score 等于 0 的步有多少", "score 等于 0 的有几步"),
        ("从 step 30 到 step 60，gen 变慢了多少", "gen step 60 比 step 30 慢多少"),
        ("从 step 30 到 step 60，每步变慢了多少", "从 step 30 到 step 60，每步变慢了多少"),
        ("reward 高 eval 低，解释一下", "训练 reward 高但 eval低,为什么"),
        ("训练奖励高但验证低，为什么", "训练奖励高但验证低，为什么"),
    ],
)
def test_spoken_orders_courses_and_comparisons(typed: str, meant: str) -> None:
    assert as_written(typed) == meant


GEN = run_of(
    {step: {"timing_s/gen": 20.0 + step, "critic/score/mean": 0.5 if step < 9 else 0.0} for step in range(1, 21)}
)


@pytest.mark.parametrize(
    ("question", "kind", "values"),
    [
        ("step 12 的 gen 比 step 4 高多少", "pair", [4, 12]),
        ("step 4 → step 12，gen 变慢了 how much", "pair", [4, 12]),
    ],
)
def test_gen_alone_is_the_time_of_the_stage(question: str, kind: str, values: list[int]) -> None:
    made = answerer().ask(question, (GEN,))[0].to_json()
    assert made["slots"]["metrics"] == ["timing_s/gen"]
    assert made["slots"]["steps"] == {"kind": kind, "values": values}


@pytest.mark.parametrize("question", ["score = 0 的 steps 有多少", "得分等于 0 的步有多少"])
def test_equal_to_a_number_is_counted(question: str) -> None:
    made = answerer().ask(question, (GEN,))[0]
    assert made.to_json()["slots"]["op"] == "count"
    assert "12" in made.answer
