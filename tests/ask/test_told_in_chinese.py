"""Steps, shares and follow-ups as they are said in Chinese: "百分之五", "从后往前数第五步", "当时的得分", "其中…"."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.ask.wording import normalised
from assistant.model import Answer, Number, Run
from tests.analysis.support import run_of
from tests.ask.support import conversation, first_line

STEPS = range(1, 41)
ENTROPY, KL, PPO_KL, SCORE = "actor/entropy", "actor/kl_loss", "actor/ppo_kl", "critic/score/mean"
CUT, STEP, GEN, UPDATE = "response_length/clip_ratio", "timing_s/step", "timing_s/gen", "timing_s/update_actor"
VAL = "val-core/math500/acc/mean@1"
PEAK = 12


def table() -> dict[int, dict[str, Number]]:
    """A score with its peak at step 12, truncation that passes 5 % at step 31, a validation every tenth step."""
    rows: dict[int, dict[str, Number]] = {}
    for step in STEPS:
        rows[step] = {
            ENTROPY: round(0.6 - 0.005 * step, 4),
            KL: round(0.001 * step, 4), PPO_KL: round(0.0001 * step, 5),
            SCORE: round(0.2 + 0.02 * step if step <= PEAK else 0.44 - 0.01 * (step - PEAK), 4),
            CUT: 0.01 if step <= 30 else round(0.02 + 0.002 * (step - 10), 4),
            STEP: 100.0 + step, GEN: 60.0 + step, UPDATE: 20.0 + step / 2,
        }  # fmt: skip
        if step % 10 == 0:
            rows[step] |= {VAL: round(0.6 - step / 1000 if step != 20 else 0.7, 4)}
    return rows


@lru_cache(maxsize=1)
def made() -> Run:
    return run_of(table())


def ask(*turns: str) -> Answer:
    return conversation(made(), *turns)


def lead(*turns: str) -> str:
    """The first line of the last answer, with the marks of emphasis off."""
    return first_line(ask(*turns))


def told(key: str, step: int) -> tuple[str, str]:
    value = table()[step][key]
    shown = f"{100 * value:.3g}%" if key in {CUT, VAL} else f"{value:.3g}"
    return f"step {step} 的 `{key}`", shown


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("超过百分之五", "超过5%"),
        ("高过百分之五", "高过5%"),
        ("低于百分之五点五", "低于5.5%"),
        ("不到千分之三", "不到0.3%"),
        ("大于百分之三十五", "大于35%"),
        ("从后往前数第五步", "倒数第5步"),
        ("最后往回数第3步", "倒数第3步"),
        ("看下二步", "看下第2步"),
        ("前二步", "前2步"),
        ("第二十行", "第20行"),
    ],
)
def test_numbers_in_words(said: str, meant: str) -> None:
    assert normalised(said).replace(" ", "") == meant


@pytest.mark.parametrize("limit", ["百分之五", "5%", "百分之五点零"])
@pytest.mark.parametrize("over", ["高过", "超过", "大于", "突破"])
def test_a_share_in_words_is_a_limit(limit: str, over: str) -> None:
    line = lead(f"截断率最早什么时候{over}{limit}")
    assert "step 31" in line, line
    assert lead("截断率最高多少", f"最早什么时候{over}{limit}") == line


@pytest.mark.parametrize(
    "question",
    ["有几步的截断率高于 5%", "截断率高于 5% 的有几步", "截断率 > 0.05 的步一共多少个", "多少步截断率超过百分之五"],
)
def test_steps_of_much_truncation_are_counted(question: str) -> None:
    assert "有 10 个 step" in lead(question)


@pytest.mark.parametrize(
    "question",
    ["从后往前数第五步的熵", "从最后往回数第 5 步的熵", "倒数第五步熵多少", "末尾往前数第五步的 entropy 是几"],
)
def test_counted_from_the_end(question: str) -> None:
    step, value = told(ENTROPY, 36)
    line = lead(question)
    assert step in line
    assert value in line


@pytest.mark.parametrize(
    "back", ["当时的得分", "当时得分多少", "那会儿得分是几", "同一步的得分", "那一刻的 score", "对应的得分"]
)
@pytest.mark.parametrize("before", ["验证最高是哪步", "验证集最高到过多少"])
def test_then_is_the_step_told_before(before: str, back: str) -> None:
    step, value = told(SCORE, 20)
    line = lead(before, back)
    assert step in line
    assert value in line


@pytest.mark.parametrize("asked", ["最差那次呢", "最低那次呢", "最小的那一次呢"])
def test_the_worst_one_is_another(asked: str) -> None:
    line = lead("哪一步验证最高", asked)
    assert "step 40" in line
    assert "56" in line


@pytest.mark.parametrize("asked", ["最开始那步多少", "一开始那一步呢", "最早那步的", "第一步呢"])
def test_the_very_first_step(asked: str) -> None:
    step, value = told(ENTROPY, 1)
    line = lead("step 5 的熵", asked)
    assert step in line
    assert value in line


@pytest.mark.parametrize(
    "asked", ["其中更新 actor 花了多少", "其中 update_actor 几秒", "里面更新 actor 花了多久", "这里面策略更新呢"]
)
def test_a_part_of_that_step(asked: str) -> None:
    step, _ = told(UPDATE, 30)
    line = lead("第 30 步一步几秒", asked)
    assert step in line
    assert "35" in line


@pytest.mark.parametrize("asked", ["这步总共花了多久", "那一步一共用了多久", "此步一共跑了几秒", "那步整步呢"])
def test_the_whole_of_that_step(asked: str) -> None:
    step, _ = told(STEP, 30)
    line = lead("第 30 步 gen 花了多长时间", asked)
    assert step in line
    assert "130" in line


@pytest.mark.parametrize(
    "asked",
    [
        "我想要的是对参考模型的 kl", "我想看的是跟参考模型的 KL", "口误，是跟参考模型的 KL",
        "我其实是想问对参考模型的 kl", "搞错了，我要看的是 kl_loss",
    ],
)  # fmt: skip
def test_what_is_wanted_instead(asked: str) -> None:
    step, value = told(KL, 20)
    line = lead("ppo_kl 第 20 步", asked)
    assert step in line
    assert value in line


def test_what_was_asked_of_the_scores_goes_on_with_the_validation() -> None:
    assert ask("训练分数一直涨，是好事吧", "那验证分呢").intent != "define"
