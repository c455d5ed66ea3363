"""One quantity of two parts of a training: both keys where the log has both, and what is lacking where it has not."""

from __future__ import annotations

import pytest

from assistant.model import Number, Run
from tests.analysis.support import run_of
from tests.ask.support import conversation, first_line

ENTROPY, ACTOR, CRITIC = "actor/entropy", "actor/grad_norm", "critic/grad_norm"


def made(*more: str) -> Run:
    rows: dict[int, dict[str, Number]] = {}
    for step in range(1, 13):
        row: dict[str, Number] = {
            ENTROPY: 0.5 - step / 100,
            ACTOR: 0.2 + step / 1000,
            "critic/rewards/mean": 0.1 * step,
        }
        rows[step] = row | dict.fromkeys(more, 0.7 + step / 100)
    return run_of(rows)


@pytest.mark.parametrize(
    ("question", "owner"),
    [
        ("student 的 entropy 比 teacher 高吗", "教师模型"),
        ("is the student's entropy higher than the teacher's?", "the teacher"),
        ("policy 的 entropy 比 ref 的低吗", "参考模型"),
        ("is the actor's grad norm larger than the critic's", "the critic"),
    ],
)
def test_what_one_of_two_lacks_is_said(question: str, owner: str) -> None:
    answer = conversation(made(), question)
    assert answer.verdict.code == "no_data"
    assert owner in first_line(answer)


@pytest.mark.parametrize(
    "question", ["is the actor's grad norm larger than the critic's", "actor 的 grad_norm 比 critic 的大吗"]
)
def test_both_keys_are_named_where_both_are_there(question: str) -> None:
    answer = conversation(made(CRITIC), question)
    assert answer.verdict.code != "no_data"
    assert {ACTOR, CRITIC} <= set(answer.slots.metrics)


@pytest.mark.parametrize(
    "question",
    [
        "is the policy's entropy higher at step 3 than at step 5",
        "actor 的 entropy 比 0.4 高吗",
        "policy entropy 的趋势",
    ],
)
def test_one_owner_compares_nothing_with_another(question: str) -> None:
    answer = conversation(made(), question)
    assert "cannot be compared" not in answer.answer
    assert "比不了" not in answer.answer


def test_metric_of_both_is_compared_with_nothing() -> None:
    key = "training/rollout_actor_probs_pearson_corr"
    answer = conversation(made(key), "pearson corr of rollout vs actor probs at 4, 6 and 8")
    assert "cannot be compared" not in answer.answer
    assert key in answer.slots.metrics
