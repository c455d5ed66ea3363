"""What is said of a run's total of steps: at its end, before it, and of so many further steps."""

from __future__ import annotations

import json

import pytest

from assistant.model import Answer, Run
from assistant.parsing import parse_text

from .support import answerer


def trainer(total: int, *, times: bool = False, n: int = 40) -> Run:
    rows = [
        {"step": step, "total_steps": total, "loss": round(1 / (step + 1), 4)}
        | ({"step_time": 10.0 + step % 3} if times else {})
        for step in range(1, n + 1)
    ]
    (run,) = parse_text("".join(json.dumps(row) + "\n" for row in rows)).runs
    return run


def ask(question: str, run: Run) -> Answer:
    return answerer().ask(question, (run,))[0]


@pytest.mark.parametrize("question", ["ETA?", "还要多久跑完"])
def test_time_left_total_reached_is_the_end_even_without_step_times(question: str) -> None:
    assert "40" in ask(question, trainer(40)).answer
    assert ("log is at its end" in ask(question, trainer(40)).answer) or ("到头" in ask(question, trainer(40)).answer)


def test_time_left_without_step_times_tells_the_steps_left() -> None:
    made = ask("ETA?", trainer(100)).answer
    assert "no step times" in made
    assert "100 steps in all: after step 40, 60 steps are left" in made


def test_how_many_steps_tells_the_total_that_the_log_prints() -> None:
    assert "100 training steps in all" in ask("how many steps in total?", trainer(100)).answer


@pytest.mark.parametrize("question", ["how many hours for 100 more steps?", "再跑 100 步要多久？"])
def test_further_steps_are_counted_from_the_last_one(question: str) -> None:
    made = ask(question, trainer(1000, times=False))
    assert made.intent == "forecast"
    assert "100" in made.answer
    assert "no step times" in made.answer or "没有每步的耗时" in made.answer
