"""Clauses that ask the same with another limit, and "its …" after a question for a step: none is dropped."""

from __future__ import annotations

import pytest

from assistant.model import Run
from assistant.parsing import parse_text
from tests.ask.support import conversation


def run() -> Run:
    """The score climbs through 0.3 at step 4 and 0.5 at step 7, never to 0.9; the norm peaks at step 7."""
    return parse_text(
        "\n".join(
            f"step:{step} - critic/score/mean:{min(0.08 * step, 0.8):.3f} - actor/entropy:{0.9 - 0.05 * step:.3f}"
            f" - actor/grad_norm:{2.5 if step == 7 else 0.5} - critic/rewards/mean:{0.01 * step:.3f}"
            for step in range(1, 13)
        )
    ).runs[0]


@pytest.mark.parametrize(
    "question",
    [
        "score 什么时候到 0.3 的，什么时候到 0.5 的",
        "critic/score/mean 啥时候到 0.3，啥时候到 0.5？",
        "score 哪一步到 0.3，哪一步到 0.5",
    ],
)
def test_a_second_limit_is_answered(question: str) -> None:
    text = conversation(run(), question).answer
    assert "step 4" in text
    assert "step 7" in text


def test_what_holds_of_the_first_limit_stands_beside_it() -> None:
    text = conversation(run(), "score 什么时候到 0.3 的，什么时候到 0.9 的").answer
    assert text.index("一直如此") < text.index("从未达到 0.9")


@pytest.mark.parametrize(
    "question",
    [
        "which step had the largest gradient norm, and what was its reward?",
        "哪一步梯度范数最大？它的奖励是多少",
        "梯度范数最大的是第几步，其 reward 多少",
    ],
)
def test_its_value_is_that_of_the_step(question: str) -> None:
    text = conversation(run(), question).answer
    assert "step 7" in text.split("\n")[0]
    assert "0.0700" in text or "0.07" in text
    assert "0.120" not in text  # the course of the reward, to its last value
