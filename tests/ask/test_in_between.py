"""A course that rose and fell again, as premises and questions about learning see it; conclusions drawn from a rise."""

from __future__ import annotations

import pytest

from assistant.analysis import Ledger
from assistant.ask.context import Context
from assistant.ask.in_between import largest_move
from assistant.ask.understand import Query
from assistant.knowledge import Resolver, library
from assistant.model import Answer, Run
from assistant.parsing import parse_text
from evals.diagnosis.cases import make
from tests.ask.support import answerer, first_line

UP_AND_DOWN = [0.40, 0.46, 0.52, 0.57, 0.61, 0.63, 0.35, 0.36, 0.40, 0.43, 0.46, 0.47]


def logged(**columns: list[float]) -> Run:
    keys = {"entropy": "actor/entropy", "score": "critic/score/mean", "length": "response_length/mean",
            "grad": "actor/grad_norm"}  # fmt: skip
    count = len(next(iter(columns.values())))
    lines = [
        f"step:{n + 1} - " + " - ".join(f"{keys[name]}:{values[n]}" for name, values in columns.items())
        for n in range(count)
    ]
    return parse_text("\n".join(lines)).runs[0]


def ask(run: Run, question: str) -> Answer:
    return answerer().ask(question, (run,))[0]


@pytest.mark.parametrize("key", ["critic/score/mean", "response_length/mean"])
@pytest.mark.parametrize("question", ["{} 掉了是因为熵塌了吧", "{} dropped because entropy collapsed, right?"])
def test_fall_between_the_ends_is_not_denied_by_the_ends(key: str, question: str) -> None:
    level = [0.5 - 0.001 * n for n in range(len(UP_AND_DOWN))]
    name = {"critic/score/mean": "score", "response_length/mean": "length"}[key]
    answer = ask(logged(**{name: UP_AND_DOWN, "entropy": level}), question.format(key))
    assert "0.63" in answer.answer
    assert "0.35" in answer.answer
    for denied in ("不对：`" + key, "No: `" + key):
        assert denied not in answer.answer


@pytest.mark.parametrize("up", [True, False])
def test_largest_move_is_none_for_scatter_and_found_for_a_fall(up: bool) -> None:
    sign = 1 if up else -1
    values = [-sign * v for v in UP_AND_DOWN]
    run = logged(score=values)
    context = Context(Query("", "zh", "health"), (run,), Resolver(library()), Ledger([run]))
    move = largest_move(context, "critic/score/mean", *map(list, run.series("critic/score/mean")), up=up)
    assert move is not None
    assert (move.start.step, move.end.step) == (6, 7)
    flat = [0.5, 0.52, 0.49, 0.51, 0.5, 0.52, 0.49, 0.5]
    assert largest_move(context, "critic/score/mean", list(range(1, 9)), flat, up=up) is None


@pytest.mark.parametrize(
    "question",
    ["得分一直在涨，所以应该没问题吧", "the model keeps getting better, right? score is high now",
     "critic/score/mean keeps rising so it's fine?", "score 涨了，那就没事吧", "good sign?"],
)  # fmt: skip
@pytest.mark.parametrize(("label", "sick"), [("FM-16", True), ("FM-01", True), ("steady_improvement", False)])
def test_conclusion_from_a_rise_is_held_against_the_rules(label: str, sick: bool, question: str) -> None:
    run = parse_text(make(label, 5, "verl", "strong" if sick else None).text).runs[0]
    answer = ask(run, question)
    assert answer.intent == "health"
    assert answer.verdict.code in ({"warning", "critical"} if sick else {"healthy"}), answer.answer


@pytest.mark.parametrize("framework", ["verl", "ROLL"])
@pytest.mark.parametrize("question", ["explain step {}", "step {} 正常吗"])
def test_step_after_an_onset_is_told_as_the_log_stood_then(framework: str, question: str) -> None:
    case = make("FM-01", 4, framework, "strong")
    run = parse_text(case.text).runs[0]
    assert case.onset is not None
    step = case.onset + (run.distinct_steps[-1] - case.onset) // 2
    answer = ask(run, question.format(step))
    assert f"step {run.distinct_steps[-1]}" not in first_line(answer)
    assert f"step {step}" in first_line(answer) or f"Step {step}" in first_line(answer)
    assert {fact.run for fact in answer.facts} == {run.id}


@pytest.mark.parametrize("question", ["entropy 一路升，要炸了吗", "reward 是单调涨的吗", "要崩了吗"])
def test_what_is_about_to_happen_is_no_question_of_what_to_do(question: str) -> None:
    assert ask(parse_text(make("exploring", 5, "verl").text).runs[0], question).intent != "advice"


@pytest.mark.parametrize("question", ["既然 response_length/mean 从第 40 步就崩了，为什么得分还在涨"])
def test_metric_that_broke_is_no_job_that_stopped(question: str) -> None:
    answer = ask(parse_text(make("steady_improvement", 5, "verl").text).runs[0], question)
    assert "任务停在" not in answer.answer


@pytest.mark.parametrize(
    "question", ["得分一直在涨吧", "the score climbs right until the end, correct?", "score 越来越高对吧"]
)
def test_course_to_the_end_is_not_confirmed_by_a_rise_in_between(question: str) -> None:
    answer = ask(logged(score=[*reversed(UP_AND_DOWN), *[0.2, 0.21, 0.2]]), question)
    assert not first_line(answer).startswith(("Yes", "对", "是"))
