"""Whether the model got better is for validation to say, not for the training reward, in a premise or asked."""

from __future__ import annotations

import math

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask

VAL = "val-core/gsm8k/acc/mean@1"


def trained(start: float, end: float, *, validated: bool = True, score_key: str = "critic/score/mean") -> Run:
    """The training score rises to its full mark; validation goes from one value to another."""
    rows: dict[int, dict[str, float]] = {}
    for step in range(1, 61):
        wave = 0.01 * math.sin(7.3 * step)
        rows[step] = {
            score_key: min(1.0, 0.5 + 0.008 * step + wave), "critic/rewards/mean": min(1.0, 0.5 + 0.008 * step + wave),
            "actor/entropy": 0.4 + wave, "actor/grad_norm": 0.5 + wave, "response_length/mean": 500.0 + 100 * wave,
        }  # fmt: skip
        if validated and step % 5 == 0:
            rows[step][VAL] = start + (end - start) * step / 60 + wave / 4
    return run_of(rows, framework="verl")


ASKED = (
    "训练分快满了，说明模型变强了对吧", "奖励涨了所以模型更强了？", "模型一直在变强，对吧", "score 到 1 说明学会了吧",
    "The model keeps getting better, right?", "reward keeps rising so the model is better, right?",
    "policy is stronger now, right?", "score is full, so the model has learned the task, right?",
)  # fmt: skip


@pytest.mark.parametrize("question", ASKED)
def test_a_full_training_score_is_no_better_model_where_validation_falls(question: str) -> None:
    answer = ask(question, trained(0.6, 0.2))
    first = answer.answer.split("\n", 1)[0]
    assert first.startswith(("**不", "**No"))
    assert answer.verdict is not None
    assert answer.verdict.code in {"critical", "warning"}


@pytest.mark.parametrize("question", ASKED)
def test_it_is_where_validation_rises(question: str) -> None:
    answer = ask(question, trained(0.3, 0.7))
    first = answer.answer.split("\n", 1)[0]
    assert first.startswith(("**按验证看", "**Yes, by validation"))
    assert VAL in first
    assert answer.verdict is not None
    assert answer.verdict.code in {"healthy", "warning"}


@pytest.mark.parametrize("question", ASKED)
def test_without_validation_nothing_proves_it(question: str) -> None:
    answer = ask(question, trained(0, 0, validated=False))
    first = answer.answer.split("\n", 1)[0]
    assert first.startswith(("**日志证明不了", "**The log cannot prove it"))
    assert answer.verdict is not None
    assert answer.verdict.code in {"insufficient_data", "warning"}


@pytest.mark.parametrize(("end", "opening"), [(1.2, "**Yes, by validation"), (3.4, "**No")])
def test_a_held_out_loss_is_better_where_it_falls(end: float, opening: str) -> None:
    rows = {
        step: {"loss": 2.0 - 0.01 * step, **({"eval_loss": 2.0 + (end - 2.0) * step / 60} if step % 5 == 0 else {})}
        for step in range(1, 61)
    }
    assert ask("the model is getting better, right?", run_of(rows, framework="TRL")).answer.startswith(opening)
