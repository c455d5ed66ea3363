"""Questions that name a step by what happened there, put to runs of which every number is known."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has

KL, SCORE, GRAD, LENGTH = "actor/kl_loss", "critic/score/mean", "actor/grad_norm", "response_length/mean"
VGRAD, ENTROPY, CLIPPED = "critic/grad_norm", "actor/entropy", "response_length/clip_ratio"
PENALTY = "actor/reward_kl_penalty"
STEPS = range(1, 41)
PEAK, BACK = 12, 19


def _kl(step: int) -> float:
    """Below 0.04 at first, highest at step 12, below 0.04 again from step 19 on but for step 30."""
    if step == 30:
        return 0.05
    return round(0.02 + 0.006 * step if step <= PEAK else max(0.03, 0.092 - 0.008 * (step - PEAK)), 4)


def _score(step: int) -> float:
    """Lowest at step 5, highest at step 33."""
    return round(0.1 if step == 5 else 0.9 if step == 33 else 0.3 + 0.01 * step, 4)


@lru_cache(maxsize=1)
def made() -> Run:
    return run_of(
        {
            step: {
                KL: _kl(step), SCORE: _score(step), GRAD: 1.0 + 0.1 * (step % 7), VGRAD: 3.0 + 0.2 * (step % 5),
                LENGTH: 800.0 - 5 * step, ENTROPY: round(0.9 - 0.02 * step, 4), CLIPPED: 0.001 * step,
            }
            for step in STEPS
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    "question",
    [
        "did the KL ever go back under 0.04 after its peak, and how many steps later?",
        "after its peak, did the kl drop back below 0.04, and how many steps later?",
        "KL 峰值之后有没有回到 0.04 以下，隔了多少步？",
    ],
)
def test_back_under_a_limit_after_the_peak_gives_first_step_and_distance(question: str) -> None:
    answer = ask(question, made())
    first = next(step for step in STEPS if step > PEAK and _kl(step) < 0.04)
    assert first == BACK
    has(answer, KL, f"step {PEAK}", f"step {BACK}")
    lead = answer.answer.split("\n", 1)[0]
    assert str(BACK) in lead
    assert lead.startswith(("**Yes", "**有"))
    assert any(fact.name == "steps up to there" and fact.value == BACK - PEAK for fact in answer.facts)


def test_back_under_a_limit_that_never_holds_again_says_no() -> None:
    answer = ask("did the KL go back under 0.02 after its peak?", made())
    assert answer.answer.startswith("**No:")
    has(answer, f"step {PEAK}")


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("mean score after the KL peak", PEAK + 1, 40),
        ("average score before the kl peaked", 1, PEAK - 1),
        ("KL 最高点之后 score 的平均值", PEAK + 1, 40),
    ],
)
def test_part_told_by_another_metrics_peak_is_that_part(question: str, first: int, last: int) -> None:
    answer = ask(question, made())
    steps = [step for step in STEPS if first <= step <= last]
    mean = sum(_score(step) for step in steps) / len(steps)
    assert any(fact.kind == "derived" and fact.value == pytest.approx(mean) for fact in answer.facts)
    assert (answer.slots.steps.kind, answer.slots.steps.values) == ("range", (first, last))


@pytest.mark.parametrize(
    ("question", "gap"),
    [
        ("how many steps between the lowest score and the kl peak?", PEAK - 5),
        ("how long between the best score and the end of the run", 40 - 33),
        ("score 最低点到 KL 峰值隔了多少步", PEAK - 5),
    ],
)
def test_distance_of_two_happenings_is_counted_in_steps(question: str, gap: int) -> None:
    answer = ask(question, made())
    assert next(fact.value for fact in answer.facts if fact.name == "steps between") == gap
    assert str(gap) in answer.answer.split("\n", 1)[0]


@pytest.mark.parametrize(
    ("question", "name", "value"),
    [
        ("when did the score first go over 0.5 and how many steps did that take", "steps up to there", 20),
        ("when was the score first above 0.4, and how many steps later did it reach 0.6?", "steps up to there", 19),
    ],
)
def test_how_much_later_is_told_of_the_crossing(question: str, name: str, value: int) -> None:
    answer = ask(question, made())
    assert next(fact.value for fact in answer.facts if fact.name == name) == value
    assert answer.slots.op == "first_crossing"


def test_share_of_what_is_a_share_itself_is_never_told() -> None:
    answer = ask("what share of responses was truncated in the first 5 steps on average", made())
    assert f"share of `{LENGTH}` in `{CLIPPED}`" not in answer.answer
    assert any(fact.value == pytest.approx(0.003) for fact in answer.facts)


def test_first_steps_on_average_are_the_first_steps() -> None:
    answer = ask("what % of responses were truncated in the first 5 steps on average", made())
    assert (answer.slots.steps.kind, answer.slots.steps.values) == ("range", (1, 5))
    assert any(fact.value == pytest.approx(0.003) for fact in answer.facts if fact.kind == "derived")
