"""Shares are added where they are parts of one whole; a claimed number of restarts is held against the log."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.model import Column, Run
from tests.analysis.support import run_of
from tests.ask.computed_support import ask
from tests.ask.test_beside_steps import LAST, STEP, TESTING, timed

CALLS = "timing_s/agent_loop/tool_calls/mean"


@pytest.mark.parametrize(
    "question",
    [
        "timing_s/testing share",
        "testing 耗时占比",
        "validation share of the time",
        "验证耗时占比",
        "what % does timing_s/testing take?",
    ],
)
def test_what_lies_beside_the_steps_is_a_part_of_all_the_time(question: str) -> None:
    answer = ask(question, timed(within=False))
    held = [fact.value for fact in answer.facts if (fact.name or "") == "share of all of timing_s/testing"]
    whole = LAST * STEP + 8 * TESTING + 2 * 40.0
    assert held == [pytest.approx(8 * TESTING / whole, rel=1e-2)]
    assert "140%" not in answer.answer


@pytest.mark.parametrize("question", ["share of timing_s/testing at step 40", "step 40 的 timing_s/testing 占比"])
def test_at_one_step_it_is_set_beside_the_step(question: str) -> None:
    answer = ask(question, timed(within=False))
    held = [fact.value for fact in answer.facts if (fact.name or "") == "share of timing_s/testing and its step"]
    assert held == [pytest.approx(TESTING / (STEP + TESTING), rel=1e-2)]


def test_a_validation_within_the_step_stays_a_part_of_it() -> None:
    first = ask("share of timing_s/testing at step 10", timed(within=True)).answer.split("\n", 1)[0]
    assert "of the step" in first
    assert "58" in first


@pytest.mark.parametrize("question", ["gen 和 testing 合计占多少", "share of gen and testing together"])
def test_stages_within_and_beside_the_steps_share_all_the_time(question: str) -> None:
    answer = ask(question, timed(within=False))
    (both,) = [float(str(fact.value)) for fact in answer.facts if (fact.name or "") == "shares together"]
    whole = LAST * STEP + 8 * TESTING + 2 * 40.0
    assert both == pytest.approx((LAST * 40.0 + 8 * TESTING) / whole, rel=1e-2)


def agentic() -> Run:
    """Tool calls of one trajectory, within the generation."""
    row = {"timing_s/gen": 45.0, CALLS: 20.0, "timing_s/update_actor": 4.9, "timing_s/step": 50.0}
    return run_of(dict.fromkeys(range(1, 20), row), framework="verl")


@pytest.mark.parametrize("question", ["工具和生成合计占一步几成", "tool_calls/mean 和 gen 各占一步多少"])
def test_one_trajectorys_time_is_not_added_to_a_stage(question: str) -> None:
    answer = ask(question, agentic()).answer
    assert "130%" not in answer
    assert "合计" not in answer.split("\n", 1)[0]


@pytest.mark.parametrize(
    "question",
    [
        "gen + update_actor share of the step",
        "gen 加 update_actor 一共占一步多少",
        "gen plus update_actor together, share of the step on average",
    ],
)
def test_a_plus_joins_parts_of_a_third(question: str) -> None:
    first = ask(question, agentic()).answer.split("\n", 1)[0]
    assert "99.8%" in first
    assert "918%" not in first


def restarted(times: int) -> Run:
    """Steps 1 to 5, and so many times 3 to 5 again."""
    steps = (1, 2, 3, 4, 5, *(3, 4, 5) * times)
    rows = tuple(range(len(steps)))
    lines = tuple(row + 1 for row in rows)
    given: dict[str, Any] = {"id": "r0", "name": "made", "format": "verl", "framework": "verl", "step_axis": "step"}
    columns = {"critic/score/mean": Column(rows, tuple(0.5 for _ in rows), lines)}
    return Run(**given, steps=steps, row_lines=lines, columns=columns)


@pytest.mark.parametrize(
    ("question", "times", "opening"),
    [
        ("重启两次了对不", 1, "**不是 2 次，训练重启过一次"),
        ("restarted twice, right?", 1, "**Not 2 times: the run was restarted once"),
        ("it was restarted 3 times, wasn't it?", 2, "**Not 3 times: the run was restarted 2 times"),
        ("重启过一次对吧", 1, "**是，训练重启过一次"),
        ("重启过两次对吧", 2, "**是，训练重启过 2 次"),
        ("第一次重启在哪一步", 2, "**是，训练重启过 2 次"),
        ("was it restarted twice?", 2, "**Yes, the run was restarted 2 times"),
    ],
)
def test_the_number_of_restarts_that_a_question_names_is_held_against_the_log(
    question: str, times: int, opening: str
) -> None:
    assert ask(question, restarted(times)).answer.startswith(opening)


@pytest.mark.parametrize("question", ["eval got worse over time, didn't it?", "val over time", "eval the last time?"])
def test_over_time_asks_for_no_time(question: str) -> None:
    rows = {
        step: {"reward": 0.5, **({"eval_reward": 0.4 + 0.005 * step, "eval_runtime": 60.0} if step % 5 == 0 else {})}
        for step in range(1, 61)
    }
    first = ask(question, run_of(rows, framework="TRL")).answer.split("\n", 1)[0]
    assert "`eval_reward`" in first
    assert "`eval_runtime`" not in first
