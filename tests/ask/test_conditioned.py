"""Steps chosen by a condition on another metric, differences of two, counted ends, joined names."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask, has

REWARD, KL, LOSS, TOTAL, SKIPPED = "reward", "kl", "loss", "n_groups", "skipped_groups"
STEPS = range(1, 61)


def _kl(step: int) -> float:
    return round(0.02 * (step % 10) + (0.1 if step > 40 else 0.0), 4)


def _reward(step: int) -> float:
    return round(1 + 0.05 * step + 0.3 * (step % 4), 4)


@lru_cache(maxsize=1)
def made() -> Run:
    return run_of(
        {
            step: {
                REWARD: _reward(step), KL: _kl(step), LOSS: round(3 / step + 0.5, 5), TOTAL: 10, SKIPPED: step % 9,
                "logps/chosen": -20.0 - step % 7, "logps/rejected": -25.0 + 0.1 * step,
                "logits/chosen": -2.0, "logits/rejected": -2.5,
                "rewards / check_answer": round(0.01 * step, 4), "completion_length": 200.0 + step,
            }
            for step in STEPS
        },
        framework="TRL",
    )  # fmt: skip


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


@pytest.mark.parametrize(
    "question",
    [
        "kl 超过 0.15 的步里 reward 平均多少",
        "reward 在 kl 大于 0.15 的时候平均多少",
        "what is the mean reward on the steps where kl is above 0.15?",
    ],
)
def test_mean_over_the_steps_that_meet_a_condition_is_of_these_alone(question: str) -> None:
    met = [_reward(step) for step in STEPS if _kl(step) > 0.15]
    rest = [_reward(step) for step in STEPS if not _kl(step) > 0.15]
    has(ask(question, made()), f"{_mean(met):.2f}", f"{_mean(rest):.2f}", str(len(met)), str(len(rest)))


def test_condition_that_no_step_meets_is_said() -> None:
    answer = ask("kl 大于 5 的步里 reward 平均多少", made())
    assert answer.verdict.code == "no_data"


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("skipped_groups 超过 n_groups 一半的有几步", sum(step % 9 > 5 for step in STEPS)),
        ("skipped_groups 低于 n_groups 的 30% 的有多少步", sum(step % 9 < 3 for step in STEPS)),
        ("on how many steps is skipped_groups more than half of n_groups?", sum(step % 9 > 5 for step in STEPS)),
    ],
)
def test_steps_beyond_a_multiple_of_another_metric_are_counted(question: str, count: int) -> None:
    answer = ask(question, made())
    assert answer.slots.op == "count"
    has(answer, str(count), SKIPPED, TOTAL)


def test_first_step_beyond_a_multiple_is_named() -> None:
    has(ask("skipped_groups 第一次超过 n_groups 的一半是哪步", made()), "step 6")


def test_largest_difference_of_two_members_of_a_group_is_theirs() -> None:
    answer = ask("chosen 和 rejected 的 logps 差距最大的是哪步", made())
    gaps = {step: -20.0 - step % 7 - (-25.0 + 0.1 * step) for step in STEPS}
    best = max(gaps, key=lambda step: gaps[step])
    assert set(answer.slots.metrics) == {"logps/chosen", "logps/rejected"}
    has(answer, f"step {best}", f"{gaps[best]:.3g}")


def test_mean_difference_is_over_the_run() -> None:
    gaps = [-20.0 - step % 7 - (-25.0 + 0.1 * step) for step in STEPS]
    has(ask("logps/chosen 和 logps/rejected 平均差多少", made()), f"{_mean(gaps):.2f}"[:4])


@pytest.mark.parametrize(
    "question", ["reward 最后 20 条平均多少，比最开始 20 条高多少", "最后 20 个记录 reward 平均是多少，比前 20 个高吗"]
)
def test_counted_ends_are_both_told(question: str) -> None:
    late, early = (_mean([_reward(step) for step in part]) for part in (range(41, 61), range(1, 21)))
    has(ask(question, made()), f"{late:.2f}", f"{early:.2f}")


def test_component_reward_is_no_reward_besides() -> None:
    answer = ask("check_answer 的奖励最后 20 步平均多少，前 20 步呢", made())
    assert list(answer.slots.metrics) == ["rewards / check_answer"]
    has(answer, f"{_mean([0.01 * step for step in range(41, 61)]):.3f}")


@pytest.mark.parametrize("question", ["loss 降到 0.1 以下是第几步", "loss 第几步低于 0.6"])
def test_which_step_is_no_metric(question: str) -> None:
    assert list(ask(question, made()).slots.metrics) == [LOSS]


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("kl 第一次超过 0.2 之后 reward 平均多少", range(47, 61)),
        ("kl 第一次超过 0.2 之前 reward 平均多少", range(1, 46)),
    ],
)
def test_after_a_first_crossing_the_other_metric_is_told(question: str, part: range) -> None:
    has(ask(question, made()), "step 46", f"{_mean([_reward(step) for step in part]):.2f}")


def test_never_crossed_is_said() -> None:
    assert ask("kl 第一次超过 7 之后 reward 平均多少", made()).verdict.code == "no_data"


def test_steps_at_which_one_metric_is_larger_are_counted() -> None:
    count = sum(step % 9 > round(3 / step + 0.5, 5) for step in STEPS)
    has(ask("skipped_groups 比 loss 大的有几步", made()), f"{count} 个")


def test_stretch_right_before_is_not_the_first_one() -> None:
    answer = ask("从 step 30 到 step 40 reward 掉了多少，和之前 10 步比呢", made())
    has(answer, "step 20 到 29")
    assert "step 1 到 10" not in answer.answer


def test_before_a_breakdown_that_never_was_says_so() -> None:
    run = run_of(
        {step: {REWARD: _reward(step), "completion_length": 200.0 + step % 7} for step in STEPS}, framework="TRL"
    )
    answer = ask("崩之前 completion_length 平均多少", run)
    assert answer.verdict.code == "no_data"
    has(answer, "没有这样的一步")
