"""A log that prints every fiftieth step: whatever is asked, no number of a sentence of ours goes without a fact.

Numbers that a phrase itself holds ("1 SE", "at most 5 values") are borne out by accident where a step of that number
exists; here none does.
"""

# ruff: noqa: E501 (questions stay on one line)

from __future__ import annotations

import math
from functools import lru_cache

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask

QUESTIONS = (
    "what happened at step 650?", "step 650 咋回事", "compare step 150 and step 850", "150 步和 850 步比怎么样",
    "why is grad_norm so high at step 650?", "为什么 step 650 的 grad_norm 这么高", "is the grad_norm too large?", "grad_norm 是不是太大了",
    "which changed more, reward or loss?", "reward 和 loss 哪个变化更大", "is it learning?", "在学习吗", "explain everything", "整体分析一下",
    "how noisy is the reward?", "reward 的噪声有多大", "is the reward still rising?", "reward 还在涨吗", "any spikes?", "有尖峰吗",
    "why is the loss negative?", "loss 为什么是负的", "how long is a step?", "一步多久", "what should I change?", "要改什么设置",
    "which step is best?", "哪一步最好", "do reward and kl move together?", "reward 和 kl 相关吗", "how many steps have kl above 0.05?",
    "kl 超过 0.05 的有几步", "is the entropy collapsing?", "熵坍缩了吗", "when does the reward reach 0.9?", "reward 什么时候到 0.9",
)  # fmt: skip


@lru_cache(maxsize=1)
def sparse() -> Run:
    return run_of(
        {
            step: {
                "reward": round(0.312 + step / 3000 + 0.013 * math.sin(step), 4),
                "reward_std": round(0.213 - step / 9000, 4), "loss": round(0.0213 - step / 37000, 5),
                "kl": round(0.013 + step / 17000, 5), "entropy": round(0.713 - step / 4100, 4),
                "grad_norm": 733.7 if step == 650 else round(0.413 + 0.037 * math.sin(2 * step), 4),
                "learning_rate": 3.7e-06, "completion_length": round(312.7 + step / 7, 1),
                "step_time": round(37.3 + 0.7 * math.cos(step), 2),
            }
            for step in range(50, 1050, 50)
        },
        framework="TRL",
    )  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_number_has_a_fact(question: str) -> None:
    answer = ask(question, sparse())
    assert answer.grounding.unsupported == ()
    assert answer.answer


@pytest.mark.parametrize("question", ["step_time 里生成占多少？", "what share of step_time is generation?"])
def test_share_of_a_stage_that_is_not_timed_is_not_told_by_the_whole(question: str) -> None:
    answer = ask(question, sparse())
    assert answer.verdict.code == "no_data"
