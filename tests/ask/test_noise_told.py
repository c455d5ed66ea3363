"""What is said of the noise of a change: settings have none, a full score has little, held-out data is the same."""

from __future__ import annotations

import random

import pytest

from assistant.model import Number, Run
from tests.analysis.support import advantages, geometry, run_of

from .support import conversation


def run(*, full_from: int = 40, steps: int = 60, every: int = 1) -> Run:
    """A verl run with a warm-up, whose scores climb until all of a batch are right."""
    dice = random.Random(3)
    table: dict[int, dict[str, Number]] = {}
    for place in range(1, steps + 1):
        full = place >= full_from
        score = 1.0 if full else 0.5 + 0.4 * place / full_from + 0.02 * dice.gauss(0, 1)
        table[place * every] = {
            **geometry(prompts=64, group=8), **advantages(8),
            "critic/score/mean": score, "critic/score/max": 1.0, "critic/score/min": 1.0 if full else 0.0,
            "actor/lr": 2e-7 * min(place, 5), "actor/kl_coef": 0.001 * (1 + place // 20),
            "actor/entropy": 0.6 - 0.002 * place + 0.01 * dice.gauss(0, 1), "actor/grad_norm": 0.3,
        }  # fmt: skip
    return run_of(table)


def row(answer: str, metric: str) -> str:
    return next(line for line in answer.splitlines() if line.startswith(f"| `{metric}`"))


@pytest.mark.parametrize(
    ("question", "changed", "unknown"),
    [
        ("compare step 1 with step 50", "changed (a setting", "cannot tell"),
        ("对比 step 1 和 step 50", "已改变（设定值", "不能判断"),
    ],
)
def test_learning_rate_has_changed_and_has_no_noise(question: str, changed: str, unknown: str) -> None:
    found = row(conversation(run(), question).answer, "actor/lr")
    assert changed in found
    assert unknown not in found


@pytest.mark.parametrize("question", ["compare step 1 with step 50", "对比 step 1 和 step 50"])
def test_score_that_became_full_is_beyond_the_noise_of_other_prompts(question: str) -> None:
    """Where all are right, minimum and maximum are one and drawing other prompts tells no more."""
    answer = conversation(run(), question)
    found = row(answer.answer, "critic/score/mean")
    assert found.rstrip(" |").endswith(("yes", "是"))
    assert "tell nothing" not in found


@pytest.mark.parametrize("question", ["compare eval_loss at step 20 and step 30", "eval_loss step 20 和 step 30 对比"])
def test_held_out_loss_is_of_no_other_batches(question: str) -> None:
    table: dict[int, dict[str, Number]] = {
        step: {"loss": 2.0 - 0.02 * step, "grad_norm": 1.0, "learning_rate": 1e-5} for step in range(5, 31, 5)
    }
    for step, value in ((10, 1.2), (20, 1.01), (30, 1.02)):
        table[step]["eval_loss"] = value
    answer = conversation(run_of(table, format="trl-dict", framework="TRL"), question).answer
    assert "different batches" not in answer
    assert "两批不同的数据" not in answer
    assert "same held-out data" in answer or "同一份留出数据" in answer


@pytest.mark.parametrize(
    ("question", "rows", "steps"),
    [("health check", "12 logged rows", "steps 5 to 60"), ("体检一下", "12 条训练记录", "step 5 到 60")],
)
def test_rows_of_a_log_that_skips_steps_are_no_steps(question: str, rows: str, steps: str) -> None:
    answer = conversation(run(steps=12, every=5, full_from=99), question).answer
    assert rows in answer
    assert steps in answer
    assert "12 training steps" not in answer
    assert "12 个训练步" not in answer


@pytest.mark.parametrize(("question", "steps"), [("health check", "60 training steps"), ("体检一下", "60 个训练步")])
def test_rows_of_a_log_that_prints_every_step_are_steps(question: str, steps: str) -> None:
    assert steps in conversation(run(full_from=99), question).answer
