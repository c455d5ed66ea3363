"""Spoken Chinese and mixed questions, put to runs of which every number is known."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has

SCORE, LOSS, LR = "critic/score/mean", "eval_loss", "actor/lr"


@lru_cache(maxsize=1)
def made() -> Run:
    """Scores that rise to 0.9 at step 30 and fall to 0.6; evaluation losses that fall to 1.03 and rise to 1.23."""
    return run_of(
        {
            step: {
                SCORE: round(0.3 + 0.02 * step if step <= 30 else 0.9 - 0.03 * (step - 30), 5),
                LOSS: round(1.63 - 0.02 * step if step <= 30 else 1.03 + 0.02 * (step - 30), 5),
                LR: 1e-6,
            }
            for step in range(1, 41)
        }
    )


@pytest.mark.parametrize(
    ("question", "metric", "best", "last", "gap"),
    [
        ("best eval_loss 跟 final eval_loss gap 多大", LOSS, "1.03", "1.23", "0.2"),
        ("eval loss 最低和最后差多少", LOSS, "1.03", "1.23", "0.2"),
        ("score 最高跟现在差多少", SCORE, "0.9", "0.6", "0.3"),
        ("best score 和最后的 score 差几个点", SCORE, "0.9", "0.6", "0.3"),
    ],
)
def test_extreme_and_last_gives_both_and_their_distance(
    question: str, metric: str, best: str, last: str, gap: str
) -> None:
    answer = ask(question, made())
    has(answer, metric, best, last, gap)
    assert "30" in answer.answer
    assert "40" in answer.answer


@pytest.mark.parametrize(
    "question", ["score 啥时候到 0.7 的", "哪个 step first 拿到 score 0.7", "score 第一次到0.7是哪步"]
)
def test_first_reached_names_the_step(question: str) -> None:
    answer = ask(question, made())
    has(answer, SCORE, "step 20")
    assert answer.slots.op == "first_crossing"


@pytest.mark.parametrize("question", ["最后lr多少", "lr最后是几", "末步lr多少来着"])
def test_words_without_blanks_name_their_metric(question: str) -> None:
    answer = ask(question, made())
    assert list(answer.slots.metrics) == [LR]
