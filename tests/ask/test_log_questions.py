"""Questions about the log itself: cut rows, restarts, total time, the validations' interval, where trouble began."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.model import Answer, Column, Missing, Number, Run
from tests.analysis.support import long_run, run_of, training_step

from .support import answerer

LONG = long_run()


def ask(question: str, *runs: Run) -> Answer:
    return answerer().ask(question, runs or (LONG,))[0]


def cut_run() -> Run:
    gaps = tuple(Missing("timing_s/step", step, step, "line_cut", "", 4096) for step in (2, 4))
    table = {step: dict(training_step(step)) for step in range(1, 6)}
    for step in (2, 4):
        table[step].pop("timing_s/step")
    return run_of(table, missing=gaps)


def restarted() -> Run:
    """Steps 1 to 6, then 4 to 8 again; the entropy tells the two passes apart."""
    steps = (1, 2, 3, 4, 5, 6, 4, 5, 6, 7, 8)
    columns: dict[str, Column] = {}
    tables: list[dict[str, Number]] = []
    for row, step in enumerate(steps):
        values = dict(training_step(step))
        values["actor/entropy"] = 0.5 + 0.01 * row
        tables.append(values)
    for metric in tables[0]:
        rows = tuple(range(len(steps)))
        columns[metric] = Column(rows, tuple(table[metric] for table in tables), tuple(row + 1 for row in rows))
    given: dict[str, Any] = {"id": "r0", "name": "made", "format": "verl", "framework": "verl", "step_axis": "step"}
    return Run(**given, steps=steps, row_lines=tuple(range(1, len(steps) + 1)), columns=columns)


@pytest.mark.parametrize(
    "question",
    [
        "哪些步的数据不全？",
        "is anything missing from this log?",
        "was the log cut off?",
        "why do some steps have no timings, did it crash?",
        "timings are missing at two steps, a bug?",
        "有几步的耗时没打印，怎么回事",
    ],
)
def test_gaps_cut_rows_are_named_with_the_limit(question: str) -> None:
    made = ask(question, cut_run())
    assert made.intent == "lookup"
    assert made.verdict.code == "answered"
    assert "4096" in made.answer
    assert "2、4" in made.answer or "2, 4" in made.answer


def test_gaps_whole_log_is_said_to_be_whole() -> None:
    made = ask("is the log complete?")
    assert "Nothing is missing" in made.answer
    assert not any(fact.kind == "missing" for fact in made.facts)


def test_restarts_restart_names_both_steps_and_the_values_printed_twice() -> None:
    made = ask("was the job restarted?", restarted())
    assert made.answer.startswith("**Yes, the run was restarted once: on line 7 the step goes back from 6 to 4")
    printed = [fact.value for fact in made.facts if fact.metric == "actor/entropy" and fact.step == 4]
    assert printed == [0.53, 0.56]


def test_restarts_question_whether_it_is_broken_is_one_of_health() -> None:
    made = ask("the steps are repeated, is it broken?", restarted())
    assert (made.intent, made.verdict.code) == ("health", "warning")


def test_restarts_steady_log_has_none() -> None:
    assert ask("有没有断点续训").answer.startswith("**没有看到重启或重复")


def test_total_time_is_the_sum_of_the_step_times() -> None:
    made = ask("how long did the whole run take?")
    total = next(fact for fact in made.facts if fact.name == "total_step_time")
    assert isinstance(total.value, float)
    _, times = LONG.series("timing_s/step")
    assert total.value == pytest.approx(sum(times))
    assert made.slots.metrics == ("timing_s/step",)


def test_total_time_without_times_is_no_data() -> None:
    run = run_of({step: {"actor/entropy": 0.5, "critic/score/mean": 0.1 * step} for step in range(1, 7)})
    assert ask("一共跑了多久", run).verdict.code == "no_data"


def test_interval_steps_between_validations_are_counted() -> None:
    table = {step: dict(training_step(step)) for step in range(1, 13)}
    for step in (4, 8, 12):
        table[step]["val-core/math/acc/mean@4"] = 0.4 + 0.01 * step
    made = ask("every how many steps is it validated", run_of(table))
    every = next(fact for fact in made.facts if fact.name == "steps from one validation to the next")
    assert every.value == 4


def test_onset_quiet_run_has_no_step_where_trouble_began() -> None:
    made = ask("when did it go wrong?")
    assert made.intent == "health"
    assert "no step at which trouble began" in made.answer


def test_onset_leap_is_dated() -> None:
    values = [1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 60.0, 70.0, 80.0, 75.0]
    table: dict[int, dict[str, Number]] = {}
    for step, value in enumerate(values, 1):
        table[step] = {**training_step(step), "actor/kl_loss": 0.001 * value}
    made = ask("从哪步开始出问题的", run_of(table))
    assert made.answer.startswith("**从 step 7 开始")
    assert made.verdict.code in {"warning", "critical"}
