"""Back behind a limit, no new high since, whether a step is the extreme, and two metrics further apart than a limit."""

from __future__ import annotations

import pytest

from tests.analysis.support import run_of

from .support import answerer

#: Rises to 0.9 at step 30 and falls back to 0.4; a copy of it that is 0.2 below from step 41 on; a held-out loss.
SCORE = {step: round(0.03 * step if step <= 30 else 0.9 - 0.02 * (step - 30), 4) for step in range(1, 56)}
RUN = run_of(
    {
        step: {
            "critic/score/mean": value,
            "critic/rewards/mean": round(value - (0.2 if step > 40 else 0.01), 4),
            "actor/entropy": 0.5,
            "train loss": round(3.0 - 0.02 * step, 4),
            "val loss": round(3.0 + abs(step - 25) / 50, 4),
        }
        for step, value in SCORE.items()
    }
)


def ask(question: str):  # type: ignore[no-untyped-def]
    return answerer().ask(question, [RUN])[0]


def steps(made) -> set[int]:  # type: ignore[no-untyped-def]
    return {fact.step for fact in made.facts if fact.step is not None}


@pytest.mark.parametrize(
    "question",
    [
        "score 超过 0.8 之后有没有再掉到 0.6 以下",
        "score 过 0.8 以后又低于 0.6 了吗",
        "after the score passed 0.8, did it ever fall below 0.6 again",
    ],
)
def test_back_behind_another_limit_is_told_with_the_first_step(question: str) -> None:
    made = ask(question)
    assert made.verdict.summary.startswith(("有", "Yes"))
    assert {27, 46} <= steps(made)
    assert any(fact.name == "steps behind the second limit" and fact.value == 10 for fact in made.facts)


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("score 超过 0.8 之后有没有再掉到 0.1 以下", "没有"),
        ("after the score passed 0.8, did it ever fall below 0.1 again", "No"),
        ("score 超过 1.5 之后有没有再掉到 0.5 以下", "`critic/score/mean` 从未"),
    ],
)
def test_what_did_not_come_back_is_said_with_the_nearest_value(question: str, begins: str) -> None:
    made = ask(question)
    assert (
        made.verdict.summary.replace("critic/score/mean", "`critic/score/mean`", 1)
        .replace("``", "`")
        .startswith(begins)
    )
    assert {30, 55} & steps(made)


@pytest.mark.parametrize(
    "question",
    [
        "score 连续多少步没有创新高了",
        "score 最近一次创新高是哪步",
        "how many steps since the score last set a new high",
    ],
)
def test_the_last_record_is_told_with_what_came_since(question: str) -> None:
    made = ask(question)
    assert 30 in steps(made)
    assert any(fact.name == "values since the record" and fact.value == 25 for fact in made.facts)


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("第 30 步的 score 是不是最高", "是"),
        ("is the score at step 30 the highest", "Yes"),
        ("第 20 步的 score 是不是最高", "不是"),
        ("is the score at step 20 the highest", "No"),
        ("第 1 步的 score 是不是最低", "是"),
    ],
)
def test_whether_a_step_is_the_extreme_is_yes_or_no(question: str, begins: str) -> None:
    assert ask(question).verdict.summary.startswith(begins)


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("score 和 reward 差超过 0.1 的步有吗", 15),
        ("was there any step where score and reward differed by more than 0.1", 15),
        ("score 和 reward 的差距有没有超过 0.5", None),
    ],
)
def test_steps_at_which_two_metrics_are_further_apart_are_counted(question: str, count: int | None) -> None:
    made = ask(question)
    counts = [fact.value for fact in made.facts if fact.name == "steps further apart"]
    assert counts == ([] if count is None else [count])
    assert made.verdict.summary.startswith(("没有", "No") if count is None else ("有", "Yes"))


@pytest.mark.parametrize(
    "question",
    [
        "by how much does val loss exceed train loss at the best val step",
        "val loss 最低时 train loss 和 val loss 差多少",
    ],
)
def test_a_difference_at_the_best_validation_is_of_that_step(question: str) -> None:
    made = ask(question)
    assert any(fact.value == pytest.approx(0.5) and fact.step == 25 for fact in made.facts)


@pytest.mark.parametrize("question", ["were there any restarts or duplicated steps", "有没有重启过或者重复的步"])
def test_restarts_or_repeated_steps_are_one_question(question: str) -> None:
    assert ask(question).verdict.code == "answered"
    assert "55" in ask(question).answer
