"""Two members of one family against each other, a share against itself, and a mean that is compared at two steps."""

from __future__ import annotations

import re
from functools import lru_cache

import pytest

from assistant.model import Run
from tests.analysis.support import run_of
from tests.ask.support import conversation, first_line, holds

LENGTH, REWARD, GEN, STEP = "response_length", "critic/rewards", "timing_s/gen", "timing_s/step"
LONGEST = {1: 4000.0, 2: 6000.0, 3: 9000.0}
MEAN = {1: 1000.0, 2: 1200.0, 3: 1500.0}
TOP, LOW, AVERAGE = {1: 1.0, 2: 0.9, 3: 1.0}, {1: -1.0, 2: -0.5, 3: -1.0}, {1: 0.1, 2: 0.25, 3: 0.37}
SPENT = {1: 40.0, 2: 55.0, 3: 62.0}


@lru_cache(maxsize=1)
def made() -> Run:
    return run_of(
        {
            step: {
                f"{LENGTH}/max": LONGEST[step], f"{LENGTH}/mean": MEAN[step], f"{REWARD}/max": TOP[step],
                f"{REWARD}/mean": AVERAGE[step], f"{REWARD}/min": LOW[step], GEN: SPENT[step], STEP: 100.0,
                "perf/throughput": 300.0 + 10 * step, f"{LENGTH}/clip_ratio": 0.01 * step,
            }
            for step in (1, 2, 3)
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    "question",
    [
        "ratio of response_length/max to response_length/mean at step 2",
        "how many times the mean is the longest response at step 2",
        "At step 2 the longest response is how many times the average one?",
        "step 2 最长的回答是平均的几倍",
        "第 2 步 response_length/max 是 response_length/mean 的多少倍",
        "max/mean of response length at step 2",
    ],
)
def test_ratio_of_two_members_at_a_step(question: str) -> None:
    answer = conversation(made(), question)
    assert holds(answer, LONGEST[2] / MEAN[2]), answer.answer
    assert answer.slots.steps.values == (2,)


@pytest.mark.parametrize("question", ["ratio of the longest response to the mean one", "最长的回答是平均的几倍"])
def test_ratio_of_two_members_over_the_run_is_its_mean(question: str) -> None:
    answer = conversation(made(), question)
    assert holds(answer, sum(LONGEST[s] / MEAN[s] for s in (1, 2, 3)) / 3), answer.answer


@pytest.mark.parametrize(
    ("question", "gap"),
    [
        ("第 2 步最大奖励和平均奖励差多少", TOP[2] - AVERAGE[2]),
        ("difference between the max and the min reward at step 2", TOP[2] - LOW[2]),
        ("how far is the mean reward above the lowest one at step 3", AVERAGE[3] - LOW[3]),
        ("第 3 步最长的回答比平均长多少", LONGEST[3] - MEAN[3]),
    ],
)
def test_difference_of_two_members_at_a_step(question: str, gap: float) -> None:
    answer = conversation(made(), question)
    assert holds(answer, gap), answer.answer


@pytest.mark.parametrize(
    ("question", "metric", "values"),
    [
        ("how much longer is the average response at step 3 than at step 1", f"{LENGTH}/mean", MEAN),
        ("第 3 步每条回答平均比第 1 步长了多少", f"{LENGTH}/mean", MEAN),
        ("What is the average reward at step 3 compared to step 1?", f"{REWARD}/mean", AVERAGE),
        ("第 3 步平均奖励比第 1 步高多少", f"{REWARD}/mean", AVERAGE),
    ],
)
def test_mean_that_is_compared_at_two_steps_is_no_mean_over_them(
    question: str, metric: str, values: dict[int, float]
) -> None:
    answer = conversation(made(), question)
    assert {metric} <= set(answer.slots.metrics)
    assert holds(answer, values[3] - values[1]), answer.answer
    assert not holds(answer, (values[1] + values[3]) / 2), answer.answer


def test_further_metric_after_a_described_one_is_answered_beside_it() -> None:
    answer = conversation(made(), "第 3 步每条回答平均比第 1 步长了多少，奖励呢")
    first = first_line(answer)
    assert f"{LENGTH}/mean" in first
    assert f"`{REWARD}/mean`" in answer.answer
    assert holds(answer, MEAN[3] - MEAN[1])
    assert holds(answer, AVERAGE[3])


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("生成阶段占比和第一步比变了几个百分点", 1, 3),
        ("how many points did the share of generation change since step 1", 1, 3),
        ("第 3 步生成占比比第 2 步高了几个百分点", 2, 3),
        ("how did the share of gen in the step move between step 1 and step 2", 1, 2),
        ("生成占一步的比例比第 1 步高了多少", 1, 3),
    ],
)
def test_share_moved_by_points(question: str, first: int, last: int) -> None:
    answer = conversation(made(), question)
    moved = (SPENT[last] - SPENT[first]) / 100.0
    assert holds(answer, moved), answer.answer
    assert re.search(r"升了|up by", answer.verdict.summary)
    assert answer.slots.steps.values == (first, last)


def test_clause_that_names_no_metric_is_of_the_one_that_the_text_names() -> None:
    answer = conversation(made(), "哪一步吐字最快，每卡每秒多少 token")
    assert "perf/throughput" in first_line(answer)
    assert holds(answer, 330.0)


def test_answers_that_were_cut_are_no_run_that_was() -> None:
    answer = conversation(made(), "第 2 步有多少回答话没说完就被掐了")
    assert "clip_ratio" in first_line(answer)
    assert holds(answer, 0.02)


def test_wait_for_a_stage_at_a_step_is_no_time_until_it() -> None:
    answer = conversation(made(), "how many minutes did we wait for the rollout in step 2")
    assert GEN in first_line(answer)
    assert holds(answer, SPENT[2])
