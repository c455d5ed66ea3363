"""Health and explanation of a part of a run: judged by its own rows, with what the whole run shows told apart."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.model import Run
from assistant.parsing import parse_text
from evals.diagnosis.cases import make
from tests.ask.support import answerer, first_line


@lru_cache(maxsize=8)
def sick(label: str, framework: str = "verl") -> tuple[Run, int]:
    """A run with a cause, and the step from which it acts."""
    case = make(label, 1, framework, "strong")
    assert case.onset is not None
    return parse_text(case.text).runs[0], case.onset


@pytest.mark.parametrize("framework", ["verl", "ROLL"])
@pytest.mark.parametrize("label", ["FM-01", "FM-15"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("step {a} 到 {b} 正常吗", "第 {m} 步以后正常吗"),
        ("{b} 步之前健康吗", "后三分之一稳吗"),
        ("were steps {a} to {b} fine?", "is the run healthy after step {m}?"),
        ("explain steps {a} to {b}", "explain the part after step {m}"),
        ("第 {b} 步之前能放心吗", "最后 10 步有没有问题"),
    ],
)
def test_part_before_a_cause_is_clean_and_after_it_is_not(label: str, framework: str, before: str, after: str) -> None:
    run, onset = sick(label, framework)
    steps = run.distinct_steps
    numbers = {"a": steps[0] + 1, "b": onset - 3, "m": onset + (steps[-1] - onset) // 2}
    early = answerer().ask(before.format(**numbers), (run,))[0]
    assert early.verdict.code == "healthy", early.answer
    assert f"{onset - 3}" in first_line(early) or f"{onset - 4}" in first_line(early)
    assert "放到整个训练里看" in early.answer or "Over the run as a whole" in early.answer or "放心" in before
    late = answerer().ask(after.format(**numbers), (run,))[0]
    assert late.verdict.code in {"warning", "critical"}, late.answer
    assert f"{steps[-1]}" in first_line(late)


@pytest.mark.parametrize("question", ["step {a} 到 {b} 的 {metric} 正常吗", "is {metric} ok in steps {a} to {b}?"])
def test_metric_of_a_part_is_judged_by_the_part(question: str) -> None:
    run, onset = sick("FM-01")
    asked = question.format(a=2, b=onset - 3, metric="actor/entropy")
    answer = answerer().ask(asked, (run,))[0]
    assert answer.verdict.code == "healthy", answer.answer
    whole = answerer().ask("actor/entropy 正常吗", (run,))[0]
    assert whole.verdict.code in {"warning", "critical"}


@pytest.mark.parametrize("question", ["step {a} 到 {b} 正常吗", "summarise steps {a} to {b}"])
def test_part_tells_its_own_rows_and_names_its_facts_by_the_run(question: str) -> None:
    run, onset = sick("FM-15")
    answer = answerer().ask(question.format(a=5, b=onset - 3), (run,))[0]
    assert {fact.run for fact in answer.facts} == {run.id}
    assert answer.runs[0]["steps"] == [run.distinct_steps[0], run.distinct_steps[-1]]
    trends = [fact for fact in answer.facts if fact.kind == "trend"]
    assert trends
    assert all((fact.first_step or 0) >= 5 and (fact.last_step or 0) <= onset - 3 for fact in trends)
    assert not answer.grounding.unsupported


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [("前期健康吗", 0, 1), ("中段正常吗", 1, 2), ("后期有没有问题", 2, 3), ("is it ok towards the end?", 2, 3)],
)
def test_part_without_a_number_is_a_third(question: str, first: int, last: int) -> None:
    run, _ = sick("FM-01")
    answer = answerer().ask(question, (run,))[0]
    held = answer.slots.steps.values
    size = (run.distinct_steps[-1] - run.distinct_steps[0]) / 3
    assert abs(held[0] - first * size) < 3
    assert abs(held[1] - last * size) < 3


@pytest.mark.parametrize("question", ["正常吗", "is it healthy?", "step {onset} 正常吗", "最后一步怎么样"])
def test_whole_run_and_single_step_are_no_part(question: str) -> None:
    run, onset = sick("FM-01")
    answer = answerer().ask(question.format(onset=onset), (run,))[0]
    assert "只看" not in answer.answer
    assert "alone:" not in answer.answer
