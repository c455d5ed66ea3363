"""What one part takes of the memory; the longest of a family in words of its own; tool calls in a part of the run."""

from __future__ import annotations

import pytest

from assistant.model import Run
from tests.analysis.support import run_of, training_step

from .support import answerer

TOOLS, TURNS = "timing_s/agent_loop/tool_calls", "num_turns"
FROM = 21


def run(**beside: float) -> Run:
    """Tool calls take 2 s up to step 20 and 50 s from step 21 on; the longest dialogue has 16 turns."""
    table = {}
    for step in range(1, 41):
        wobble = 0.01 * (step % 3)
        slow = 2.0 if step < FROM else 50.0
        table[step] = {
            **training_step(step), f"{TOOLS}/mean": slow + wobble, f"{TOOLS}/max": 3 * slow, f"{TOOLS}/min": 0.0,
            f"{TURNS}/mean": 7.0 + wobble, f"{TURNS}/max": 16, f"{TURNS}/min": 2, "tool_call_counts/mean": 2.5 + wobble,
            "perf/max_memory_allocated_gb": 60.0, **beside,
        }  # fmt: skip
    return run_of(table)


@pytest.mark.parametrize(
    "question",
    [
        "VRAM used by the critic?", "gpu memory taken up by the optimizer", "what is the critic's share of vram in GB",
        "how much vram does the kv cache eat", "critic 占多少显存", "优化器吃了多少显存",
        "GPU memory for the optimizer states",
        "the reference model's gpu memory",
    ],
)  # fmt: skip
def test_memory_of_one_part_is_said_not_to_be_logged(question: str) -> None:
    answer = answerer().ask(question, (run(),))[0]
    assert (answer.intent, answer.verdict.code) == ("lookup", "no_data")
    assert "60" not in answer.answer


@pytest.mark.parametrize("question", ["gpu memory at step 5", "how much vram did it use", "显存占用多少"])
def test_memory_of_the_gpu_is_told(question: str) -> None:
    assert "60" in answerer().ask(question, (run(),))[0].answer


def test_memory_of_a_part_that_the_log_holds_is_no_absent_thing() -> None:
    answer = answerer().ask("gpu memory used by the critic?", (run(**{"memory/critic/peak_gb": 17.0}),))[0]
    assert answer.verdict.code != "no_data"


@pytest.mark.parametrize(
    "question",
    [
        "33步轮数最多的那条有几轮",
        "第三十三步里对话轮次最长的轨迹，聊了几轮",
        "step 33: longest dialogue, how many turns",
    ],
)
def test_extreme_that_is_named_goes_before_the_mean_of_its_family(question: str) -> None:
    answer = answerer().ask(question, (run(),))[0]
    assert answer.slots.metrics[0] == f"{TURNS}/max"
    assert "16" in answer.answer.split("\n")[0]


def test_mean_that_is_asked_for_alone_is_told() -> None:
    answer = answerer().ask("step 33 平均轮数", (run(),))[0]
    assert answer.slots.metrics == (f"{TURNS}/mean",)


@pytest.mark.parametrize(
    ("question", "value"),
    [("tool call time over steps 21 to 40, on average", "50.0"), ("step 1 到 20 工具调用平均多少秒", "2.01")],
)
def test_tool_calls_in_a_part_of_the_run_are_told_of_that_part(question: str, value: str) -> None:
    answer = answerer().ask(question, (run(),))[0]
    assert answer.slots.metrics[0] == f"{TOOLS}/mean"
    assert value in answer.answer.split("\n")[0], answer.answer
