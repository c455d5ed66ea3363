"""What a question takes for granted of a stage, of a critic, of a collapse, or of the job itself."""

from __future__ import annotations

import pytest

from assistant.model import Number, Run
from tests.analysis.support import run_of, training_step

from .support import answerer

STEPS = 40


def run() -> Run:
    """The update takes three times as long from step 21 on, generation as long as ever; entropy ebbs a little."""
    table: dict[int, dict[str, Number]] = {}
    for step in range(1, STEPS + 1):
        table[step] = {
            **training_step(step), "actor/entropy": 0.5 - 0.002 * step, "critic/vf_loss": 0.2 / step + 0.02,
            "timing_s/gen": 60.0 + step % 3, "timing_s/update_actor": 20.0 if step <= 20 else 60.0,
            "timing_s/step": 85.0 if step <= 20 else 125.0, "tool_call_counts/mean": 2.5 + 0.01 * (step % 4),
            "timing_s/agent_loop/tool_calls/mean": 1.0 if step <= 20 else 12.0,
        }  # fmt: skip
    return run_of(table)


def first(question: str, one: Run | None = None) -> str:
    return answerer().ask(question, [one or run()])[0].answer.splitlines()[0]


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("generation tripled after step 20, why?", "timing_s/gen"),
        ("generation got twice as slow after step 20, what should I do?", "timing_s/gen"),
        ("the critic diverged around 30, didn't it", "critic/vf_loss"),
        ("now that entropy has collapsed, which temperature do I need?", "actor/entropy"),
        ("entropy 崩塌了，怎么办", "actor/entropy"),
        ("the number of tool calls rose five times, right?", "tool_call_counts/mean"),
        ("since the model calls tools five times more than before, steps are slow, no?", "tool_call_counts/mean"),
        ("grad norm exploded to 50 at step 22, is clipping on?", "actor/grad_norm"),
    ],
)
def test_supposed_of_a_stage_not_so_is_denied_first(question: str, key: str) -> None:
    said = first(question)
    assert said.startswith(("**Not so:", "**No:", "**不是", "**不对", "**并非", "**与问题", "**没有")), said
    assert f"`{key}`" in said


@pytest.mark.parametrize(
    "question", ["the actor update tripled after step 20, why?", "the update got slower after step 20, right?"]
)
def test_supposed_of_a_stage_so_is_not_denied(question: str) -> None:
    assert not first(question).startswith(("**Not so", "**No"))


def test_supposed_collapse_that_is_one_is_not_denied() -> None:
    table = {s: {**training_step(s), "actor/entropy": 0.5 if s < 20 else 0.002} for s in range(1, STEPS + 1)}
    assert not first("now that entropy has collapsed, which temperature do I need?", run_of(table)).startswith(
        "**Not so"
    )


@pytest.mark.parametrize(
    "question", ["the job crashed at step 30, right?", "why did the run die at step 30?", "任务在第 30 步挂了吧？"]
)
def test_stopped_at_a_step_that_others_follow_is_denied(question: str) -> None:
    said = first(question)
    assert "step 30" in said
    assert f"step {STEPS}" in said
    assert "does not show" in said or "没有显示" in said


def test_stopped_at_the_last_step_is_not_denied() -> None:
    assert "does not show the job stopping" not in first(f"the job crashed at step {STEPS}, right?")
