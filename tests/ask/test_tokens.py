"""Counts of tokens that a log implies, and the time of a stage per token, in any wording."""

from __future__ import annotations

import pytest

from assistant.model import Run
from tests.analysis.support import run_of

from .support import conversation, first_line, holds

STEPS = range(1, 13)
BATCH, GPUS = 64, 8


def _verl(step: int) -> dict[str, float]:
    prompt, response, seconds = 100.0 + step, 300.0 + 2 * step, 20.0 + step
    tokens = BATCH * (prompt + response)
    return {
        "prompt_length/mean": prompt,
        "prompt_length/max": prompt + 50,
        "response_length/mean": response,
        "response_length/max": response + 500,
        "perf/total_num_tokens": tokens,
        "perf/time_per_step": seconds,
        "timing_s/step": seconds,
        "timing_s/gen": seconds * 0.7,
        "timing_s/update_actor": seconds * 0.2,
        "perf/throughput": tokens / seconds / GPUS,
        "timing_per_token_ms/gen": 0.3 + 0.01 * step,
        "timing_per_token_ms/update_actor": 0.05 + 0.001 * step,
        "timing_per_token_ms/ref": 0.02 + 0.001 * step,
    }


VERL: Run = run_of({step: _verl(step) for step in STEPS})
#: TRL counts all tokens so far.
TRL: Run = run_of(
    {step: {"num_tokens": 1000.0 * step * step, "completions/mean_length": 200.0, "loss": 0.1} for step in STEPS}
)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("step 5 一共 generate 了多少个 response token", BATCH * 310),
        ("step 5 一共生成了多少 token", BATCH * 310),
        ("how many response tokens were generated in step 5", BATCH * 310),
        ("step 5 的 prompt token 总共多少", BATCH * 105),
        ("total prompt tokens in step 5", BATCH * 105),
        ("step 5 平均一条轨迹多少 token（prompt 加回答）", 415.0),
        ("average total length of a trajectory at step 5", 415.0),
        ("step 5 每张卡分到多少 token", BATCH * 415 / GPUS),
        ("tokens per gpu at step 5", BATCH * 415 / GPUS),
        ("step 5 的 tokens 里 prompt 占 percent 多少", 105 / 415),
        ("what share of the tokens at step 5 are prompt tokens", 105 / 415),
        ("step 5 的 token 里回答占百分之多少", 310 / 415),
    ],
)
def test_tokens_that_the_log_implies_are_worked_out(question: str, value: float) -> None:
    made = conversation(VERL, question)
    assert made.verdict.code == "answered"
    assert "step 5" in first_line(made)
    assert holds(made, value)


@pytest.mark.parametrize(
    ("question", "metric"),
    [
        ("step 5 最长的回答多少 token", "response_length/max"),
        ("step 5 的回答平均多少 token", "response_length/mean"),
        ("how many tokens is the longest prompt at step 5", "prompt_length/max"),
        ("step 5 一张卡一秒能跑几个 token", "perf/throughput"),
        ("how many tokens per second at step 5", "perf/throughput"),
        ("step 5 total tokens", "perf/total_num_tokens"),
    ],
)
def test_a_length_or_a_rate_is_no_such_count(question: str, metric: str) -> None:
    assert metric in conversation(VERL, question).slots.metrics


@pytest.mark.parametrize("question", ["how many tokens were generated in step 5", "step 5 一共生成了多少 token"])
def test_a_counter_tells_what_a_step_added(question: str) -> None:
    made = conversation(TRL, question)
    assert holds(made, 9000)
    assert made.slots.metrics == ("num_tokens",)


@pytest.mark.parametrize("question", ["到 step 5 一共多少 token", "how many tokens so far at step 5"])
def test_a_counter_tells_what_there_was_so_far(question: str) -> None:
    assert "25,000" in first_line(conversation(TRL, question))


@pytest.mark.parametrize(
    ("question", "stage"),
    [
        ("平均一个 response 生成要多少 ms per token，step 5", "gen"),
        ("gen 每 token 几毫秒，step 5", "gen"),
        ("gen ms/token step 5", "gen"),
        ("generation time per token at step 5", "gen"),
        ("how many ms per token does generation take at step 5", "gen"),
        ("update_actor 的 ms per token at step 5", "update_actor"),
        ("step 5 每 token 的更新耗时", "update_actor"),
        ("step 5 ref 每 token 耗时多少", "ref"),
    ],
)
def test_the_time_of_a_stage_per_token_is_its_own_metric(question: str, stage: str) -> None:
    made = conversation(VERL, question)
    key = f"timing_per_token_ms/{stage}"
    assert made.slots.metrics == (key,)
    assert holds(made, _verl(5)[key])
