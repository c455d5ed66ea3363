"""One metric over several runs."""

from __future__ import annotations

import pytest

from assistant.model import Answer, Number, Run
from tests.analysis.support import run_of, training_step

from .support import answerer


def run(name: str, entropy: float, *, accuracy: tuple[str, float] = ("val-core/math/acc/mean@4", 0.5)) -> Run:
    table: dict[int, dict[str, Number]] = {
        step: {**training_step(step), "actor/entropy": entropy + 0.001 * step} for step in range(1, 13)
    }
    for step in (4, 8, 12):
        table[step][accuracy[0]] = accuracy[1] + 0.001 * step
    return run_of(table, id=f"r{name}", name=f"{name}.log")


RUNS = (run("0", 0.2), run("1", 0.6), run("2", 0.4, accuracy=("val-core/math/acc/mean@1", 0.7)))


def ask(question: str, runs: tuple[Run, ...] = RUNS) -> Answer:
    return answerer().ask(question, runs)[0]


def test_by_run_ranking_puts_the_highest_first_and_gives_each_value() -> None:
    made = ask("which run has the highest final entropy?")
    assert made.intent == "compare"
    assert made.answer.startswith("**By the last value, `actor/entropy` is highest in `1.log` (0.612)")
    values = {fact.run: fact.value for fact in made.facts if fact.metric == "actor/entropy" and fact.step == 12}
    assert values == {"r0": pytest.approx(0.212), "r1": pytest.approx(0.612), "r2": pytest.approx(0.412)}


def test_by_run_step_named_gives_each_run_its_value_there() -> None:
    made = ask("actor/entropy at step 5")
    values = {fact.run: fact.value for fact in made.facts if fact.metric == "actor/entropy" and fact.step == 5}
    assert values == {"r0": pytest.approx(0.205), "r1": pytest.approx(0.605), "r2": pytest.approx(0.405)}


@pytest.mark.parametrize(
    "question", ["mean entropy of B at step 5?", "B 的 actor/entropy 在 step 5 是多少", "actor/entropy for B at step 5"]
)
def test_by_run_letter_of_a_run_is_that_run_alone(question: str) -> None:
    made = ask(question, RUNS[:2])
    values = {fact.run: fact.value for fact in made.facts if fact.metric == "actor/entropy" and fact.step == 5}
    assert values == {"r1": pytest.approx(0.605)}


def test_by_run_two_runs_differ_by_the_distance_of_their_values() -> None:
    made = ask("A 和 B 最后的熵差多少", RUNS[:2])
    apart = next(fact for fact in made.facts if fact.name == "difference of actor/entropy")
    assert apart.value == pytest.approx(0.4)
    assert "`1.log` 比 `0.log` 高 0.400" in made.answer or "`1.log` 比 `0.log` 高 0.4" in made.answer


def test_by_run_other_number_of_samples_is_the_same_role_under_its_own_key() -> None:
    made = ask("final validation accuracy of each run")
    assert "`2.log` `val-core/math/acc/mean@1`" in made.answer


def test_by_run_run_without_the_metric_says_so() -> None:
    bare = run_of({step: {"critic/score/mean": 0.1} for step in range(1, 5)}, id="r3", name="3.log")
    assert "| `3.log` | none | none |" in ask("actor/entropy at the last step", (RUNS[0], bare)).answer


def test_by_run_trend_of_each_run_is_told() -> None:
    made = ask("entropy trend")
    assert made.intent == "trend"
    assert all(f"- `{name}.log`: " in made.answer for name in "012")
