"""Several runs by one metric over a part of them, or by the extreme that each run reached."""

from __future__ import annotations

import pytest

from assistant.model import Answer, Run
from tests.analysis.support import run_of, training_step

from .support import answerer


def run(name: str, steps: int, entropy: float, peak: int) -> Run:
    """A run whose entropy rises by 0.01 a step, and jumps by one at a step."""
    table = {
        step: {**training_step(step), "actor/entropy": entropy + 0.01 * step + (step == peak)}
        for step in range(1, steps + 1)
    }
    return run_of(table, id=f"r{name}", name=f"{name}.log")


RUNS = (run("0", 30, 0.2, 7), run("1", 40, 0.6, 33))


def values(made: Answer) -> str:
    return made.answer.splitlines()[0]


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("mean entropy of the last ten steps, both runs", "0.455", "1.05"),
        ("average entropy after step 20 in A and B", "0.455", "0.955"),
        ("mean entropy of both between steps 11 and 20", "0.355", "0.755"),
        ("A 和 B 最后 10 步的平均熵", "0.455", "1.05"),
        ("两次 run 第 11 到 20 步的 entropy 均值", "0.355", "0.755"),
    ],
)
def test_by_run_part_named_is_the_part_of_each_run(question: str, first: str, second: str) -> None:
    said = values(answerer().ask(question, RUNS)[0])
    assert f"`0.log` ({first})" in said or f"`0.log`（{first}）" in said
    assert f"`1.log` ({second})" in said or f"`1.log`（{second}）" in said


@pytest.mark.parametrize(
    "question", ["highest entropy in each of the two", "max entropy of both", "A 和 B 各自的最高 entropy 是多少"]
)
def test_by_run_extreme_of_each_run_is_its_own(question: str) -> None:
    said = values(answerer().ask(question, RUNS)[0])
    assert "1.27" in said
    assert "1.93" in said


def test_by_run_which_run_is_highest_keeps_the_last_value() -> None:
    assert "By the last value" in values(answerer().ask("which run has the highest entropy?", RUNS)[0])
