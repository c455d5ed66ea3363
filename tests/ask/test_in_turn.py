"""Texts of which each clause asks something: both are answered, the later one as a turn of a conversation."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has

STEP, REWARD, LOSS, KL = "timing_s/step", "critic/rewards/mean", "actor/pg_loss", "actor/ppo_kl"
STEPS = range(1, 41)


@lru_cache(maxsize=1)
def made() -> Run:
    """The reward peaks at step 30 (0.8) and falls to 0.6; the loss is highest at step 7, the KL at step 12."""
    return run_of(
        {
            step: {
                STEP: 100.0 + step,
                REWARD: round(0.2 + 0.02 * step if step <= 30 else 0.8 - 0.02 * (step - 30), 4),
                LOSS: 0.9 if step == 7 else round(0.5 - step / 100, 4),
                KL: 0.09 if step == 12 else round(0.01 + step / 10000, 5),
            }
            for step in STEPS
        }
    )


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("reward 平均多少，最后 10 步平均多少", ("0.555", "0.69")),
        ("what is the mean reward, and what is the largest kl?", ("0.555", "0.09")),
        ("reward 平均多少？最后 10 步平均多少？", ("0.555", "0.69")),
        ("step 时间平均多少，最长的是多少", ("120", "140")),
        ("when did the reward first exceed 0.5, and when 0.7?", ("step 16", "step 26")),
        ("reward 什么时候超过 0.5，0.7 呢", ("step 16", "step 26")),
        ("loss 最大多少，是在哪一步，那步的 kl 呢", ("0.9", "step 7", "0.0107")),
        ("which step has the highest loss, and what was the kl there?", ("step 7", "0.0107")),
        ("最高的 reward 在哪步，后来掉了没", ("0.8", "step 30", "0.6")),
        ("how high did the reward get, and has it dropped since?", ("0.8", "step 30", "0.6")),
        ("what is the latest reward, when was it highest, and what is the mean kl?", ("0.6", "step 30", "0.0140")),
    ],
)  # fmt: skip
def test_each_clause_is_answered(question: str, told: tuple[str, ...]) -> None:
    has(ask(question, made()), *told)


def test_first_clause_comes_first() -> None:
    answer = ask("step 时间平均多少，最长的是多少", made()).answer
    assert answer.index("120") < answer.index("140")


@pytest.mark.parametrize(
    ("question", "once"),
    [("reward 最高多少，在哪步", "0.8"), ("what is the highest reward, and at which step?", "0.8")],
)
def test_one_question_in_two_clauses_is_answered_once(question: str, once: str) -> None:
    assert ask(question, made()).answer.count(once) == 1


@pytest.mark.parametrize("question", ["step 40 之后 reward 掉了没", "did the reward drop after step 40?"])
def test_part_behind_the_last_step_is_said_to_be_empty(question: str) -> None:
    answer = ask(question, made()).answer
    assert "step 40 没有" not in answer
    assert "not logged at step 40" not in answer
    assert ("这一段里没有" in answer) or ("In the part asked about" in answer)


@pytest.mark.parametrize("question", ["哪一步 loss 最大，为什么", "which step has the highest loss, and why?"])
def test_why_after_an_extreme_looks_at_its_step(question: str) -> None:
    answer = ask(question, made())
    has(answer, "step 7", "step 6", "0.44")
    assert answer.intent == "lookup"


def test_mini_batches_alone_are_no_batch() -> None:
    answer = ask("how many mini-batches per step?", made()).answer
    assert "ppo_mini_batch_size" in answer
