"""Settings of the batch asked for by their names: what the log implies of them, and that it implies no more."""

from __future__ import annotations

import pytest

from assistant.model import Run
from tests.analysis.support import run_of, training_step

from .support import conversation, first_line, holds

STEPS = range(1, 31)


def made(**beside: float) -> Run:
    return run_of({step: {**training_step(step), **beside} for step in STEPS})


RUN = made()
#: One update a step: the KL to the old policy is zero by arithmetic.
ONE = made(**{"actor/ppo_kl": 0.0, "actor/pg_clipfrac": 0.0})
GROUP = 8


def _prompts(run: Run) -> int:
    length = run.value("prompt_length/mean", 1) + run.value("response_length/mean", 1)  # type: ignore[operator]
    return round(run.value("perf/total_num_tokens", 1) / length / GROUP)  # type: ignore[operator]


@pytest.mark.parametrize(
    "question",
    [
        "rollout_batch_size 是多少", "data.train_batch_size 设的几", "what is rollout_batch_size set to?",
        "num_prompts_per_step 多少", "train_batch_size?",
    ],
)  # fmt: skip
def test_prompts_of_a_step_are_what_the_log_implies(question: str) -> None:
    answer = conversation(RUN, question)
    assert answer.verdict.code == "answered"
    assert answer.intent == "derive"
    assert holds(answer, _prompts(RUN))


@pytest.mark.parametrize(
    "question", ["num_generations 是几", "num_return_sequences_in_group 设的多少", "n_samples_per_prompt?"]
)
def test_the_group_is_what_the_log_implies(question: str) -> None:
    answer = conversation(RUN, question)
    assert answer.verdict.code == "answered"
    assert holds(answer, GROUP)


def test_two_settings_asked_for_are_both_told() -> None:
    answer = conversation(RUN, "rollout_batch_size 和 num_return_sequences 分别设的啥")
    assert holds(answer, GROUP)
    assert holds(answer, _prompts(RUN))


@pytest.mark.parametrize(
    "question",
    ["ppo_mini_batch_size 能推出来吗", "mini-batch 设成多少，log 能 back out 吗", "what's the mini batch size"],
)
def test_a_mini_batch_is_told_as_far_as_the_updates_tell_it(question: str) -> None:
    several, one = conversation(RUN, question), conversation(ONE, question)
    assert several.verdict.code == one.verdict.code == "no_data"
    assert "actor/ppo_kl" in several.answer
    assert "整批" in one.answer or "whole batch" in one.answer
    assert "整批" not in several.answer
    assert "whole batch" not in several.answer


def test_a_run_without_advantages_implies_no_group() -> None:
    bare = run_of({step: {"loss": 0.1 + step, "reward": 0.2} for step in STEPS})
    for question in ("num_generations 是几", "rollout_batch_size 是多少", "per_device_train_batch_size 多少"):
        assert conversation(bare, question).verdict.code == "no_data"


@pytest.mark.parametrize("question", ["num_generations 要不要调大", "what does rollout_batch_size mean?"])
def test_advice_and_meaning_are_no_question_for_the_value(question: str) -> None:
    assert "日志没有打印" not in conversation(RUN, question).answer
    assert "does not print" not in conversation(RUN, question).answer


def test_a_setting_is_named_as_it_is_spelt() -> None:
    answer = conversation(RUN, "vLLM 的 gpu_memory_utilization 是几")
    assert "`gpu_memory_utilization`" in first_line(answer)


@pytest.mark.parametrize(("question"), ["训练集大概多大", "dataset 大概多大能推吗", "how big is the training set?"])
def test_the_size_of_the_training_set_is_bounded_by_the_passes_over_it(question: str) -> None:
    first = made(**{"training/epoch": 0.0})
    second = run_of({step: {**training_step(step), "training/epoch": float(step > 20)} for step in STEPS})
    assert holds(conversation(first, question), 30 * _prompts(first))
    assert holds(conversation(second, question), 20 * _prompts(second))
