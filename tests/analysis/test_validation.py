"""verl's validation keys as tables, and the one error that they allow."""

from __future__ import annotations

import math
import random
from statistics import fmean, stdev
from typing import Any

import pytest

from assistant.analysis import Ledger, ValidationSet, validation_sets, validation_steps
from assistant.analysis.validation import problem_count, sampling_error
from assistant.model import Number, Run

from .support import run_of, training_step, validation_step

STEM = "val-aux/aime_2025/acc/"
PUBLISHED: dict[str, Number] = {
    "val-core/aime_2025/acc/mean@30": 0.23,
    STEM + "std@30": 0.2113,
    STEM + "best@2/mean": 0.3077333333333333,
    STEM + "worst@2/mean": 0.15216666666666664,
}


def one_set(values: dict[str, Number], **fields: Any) -> tuple[Run, ValidationSet]:
    run = run_of({0: values}, **fields)
    (table,) = validation_sets(run, 0)
    return run, table


# --- keys ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "source", "variable", "statistic"),
    [
        ("val-core/aime_2025/acc/mean@30", "aime_2025", "acc", ("mean", 30, "mean")),
        ("val-aux/aime_2025/acc/std@30", "aime_2025", "acc", ("std", 30, "std")),
        ("val-aux/openai/gsm8k/reward/best@4/std", "openai/gsm8k", "reward", ("best", 4, "std")),
        ("val-aux/math-ai/aime24/score/worst@16/mean", "math-ai/aime24", "score", ("worst", 16, "mean")),
        ("val-core/DigitalLearningGmbH/MATH-lighteval/acc/maj@8/mean", "DigitalLearningGmbH/MATH-lighteval", "acc",
         ("maj", 8, "mean")),
    ],
)  # fmt: skip
def test_validation_sets_key_is_taken_apart(key: str, source: str, variable: str, statistic: tuple[Any, ...]) -> None:
    _, table = one_set({key: 0.5})
    assert (table.source, table.variable) == (source, variable)
    assert dict(table.keys) == {statistic: key}
    assert table.samples == statistic[1]


@pytest.mark.parametrize("key", ["val-aux/num_turns/mean", "val/test_score/gsm8k", "critic/score/mean", "val/loss"])
def test_validation_sets_other_keys_are_not_statistics(key: str) -> None:
    assert validation_sets(run_of({0: {key: 0.5}}), 0) == []


def test_validation_sets_accuracy_comes_first_and_samples_are_the_largest() -> None:
    run = run_of({0: validation_step(), 1: training_step(1)})
    tables = validation_sets(run, 0)
    assert [table.variable for table in tables] == ["acc", "reward"]
    assert tables[0].samples == 30
    assert tables[0].sizes("best") == [2, 30]
    assert tables[0].key("best") == "val-core/aime_2025/acc/best@30/mean"
    assert tables[0].key("best", 2, "std") == STEM + "best@2/std"
    assert tables[0].key("std", stat="std") == STEM + "std@30"
    assert tables[0].key("best", 16) is None
    assert validation_sets(run, 1) == []


def test_validation_sets_two_sources_stay_apart() -> None:
    run = run_of({0: {**validation_step(), **validation_step(source="gsm8k")}})
    assert [(t.source, t.variable) for t in validation_sets(run, 0)] == [
        ("aime_2025", "acc"), ("aime_2025", "reward"), ("gsm8k", "acc"), ("gsm8k", "reward"),
    ]  # fmt: skip


def test_validation_steps_are_those_with_validation_metrics() -> None:
    run = run_of(
        {
            0: validation_step(),
            1: training_step(1),
            2: training_step(2),
            3: {"val/test_score/gsm8k": 0.4},
            4: {"val-aux/num_turns/mean": 3.0},
        }
    )
    assert validation_steps(run) == [0, 3, 4]


# --- standard error --------------------------------------------------------------------------------------


def test_sampling_error_published_figures_gives_the_worked_value() -> None:
    run, table = one_set(PUBLISHED)
    fact = sampling_error(Ledger([run]), table, 0, 30)
    assert fact is not None
    # w = (0.30773 − 0.15217)/2 = 0.0778; sqrt(0.0778 · 30/29 / 900) = 0.0095
    assert fact.value == pytest.approx(0.0095, abs=5e-5)
    assert fact.value == pytest.approx(math.sqrt((0.3077333333 - 0.1521666667) / 2 * 30 / 29 / 900), rel=1e-6)
    assert len(fact.inputs or ()) == 2


def test_sampling_error_matches_repeated_sampling() -> None:
    dice = random.Random(1)
    problems, samples = 30, 16
    ease = [dice.betavariate(0.5, 1.0) for _ in range(problems)]

    def validate() -> tuple[float, float, float]:
        rows = [[dice.random() < p for _ in range(samples)] for p in ease]
        mean = fmean(fmean(row) for row in rows)
        # draws with replacement: P(any of 2 right), P(both right)
        best = fmean(1 - (1 - fmean(row)) ** 2 for row in rows)
        return mean, best, fmean(fmean(row) ** 2 for row in rows)

    results = [validate() for _ in range(400)]
    errors = []
    for mean, best, worst in results:
        stem = "val-aux/x/acc/"
        values = {f"val-core/x/acc/mean@{samples}": mean, stem + "best@2/mean": best, stem + "worst@2/mean": worst}
        run, table = one_set(values)
        fact = sampling_error(Ledger([run]), table, 0, problems)
        assert fact is not None
        assert isinstance(fact.value, float)
        errors.append(fact.value)
    assert fmean(errors) == pytest.approx(stdev(mean for mean, _, _ in results), rel=0.1)


@pytest.mark.parametrize("missing", ["best@2/mean", "worst@2/mean"])
def test_sampling_error_input_missing_gives_nothing(missing: str) -> None:
    run, table = one_set({k: v for k, v in PUBLISHED.items() if not k.endswith(missing)})
    assert sampling_error(Ledger([run]), table, 0, 30) is None


@pytest.mark.parametrize("problems", [None, 0])
def test_sampling_error_number_of_problems_unknown_gives_nothing(problems: int | None) -> None:
    run, table = one_set(PUBLISHED)
    assert sampling_error(Ledger([run]), table, 0, problems) is None


def test_sampling_error_not_an_accuracy_gives_nothing() -> None:
    run, table = one_set({k.replace("/acc/", "/reward/"): v for k, v in PUBLISHED.items()})
    assert sampling_error(Ledger([run]), table, 0, 30) is None


def test_sampling_error_not_finite_gives_nothing() -> None:
    run, table = one_set({**PUBLISHED, STEM + "best@2/mean": math.inf})
    assert sampling_error(Ledger([run]), table, 0, 30) is None


def test_sampling_error_one_sample_a_problem_gives_nothing() -> None:
    run, table = one_set({"val-core/x/acc/mean@1": 0.5})
    assert sampling_error(Ledger([run]), table, 0, 30) is None


# --- number of problems ----------------------------------------------------------------------------------


def test_problem_count_known_benchmark_that_agrees_is_taken() -> None:
    run, table = one_set(PUBLISHED)
    assert problem_count(run, table, 0, {"aime_2025": 30}) == 30


@pytest.mark.parametrize("source", ["AIME-2025", "math-ai/aime_2025"])
def test_problem_count_spelling_of_the_source_does_not_matter(source: str) -> None:
    run, table = one_set({f"val-core/{source}/acc/mean@30": 0.23})
    assert problem_count(run, table, 0, {"aime_2025": 30}) == 30


@pytest.mark.parametrize("mean", [0.2305, 0.333])
def test_problem_count_benchmark_that_disagrees_with_the_log_gives_nothing(mean: float) -> None:
    run, table = one_set({"val-core/aime_2025/acc/mean@30": mean})
    assert problem_count(run, table, 0, {"aime_2025": 30}) is None


def test_problem_count_unknown_benchmark_gives_nothing() -> None:
    run, table = one_set({"val-core/own_set/acc/mean@30": 0.23})
    assert problem_count(run, table, 0, {"aime_2025": 30}) is None


def test_problem_count_printed_samples_come_before_the_benchmark() -> None:
    run, table = one_set(PUBLISHED, extras={"validation_samples": (600, 1)})
    assert problem_count(run, table, 0, {"aime_2025": 30}) == 20


def test_problem_count_printed_samples_that_disagree_fall_back_to_the_benchmark() -> None:
    run, table = one_set({"val-core/aime_2025/acc/mean@30": 7 / 900}, extras={"validation_samples": (330, 1)})
    assert problem_count(run, table, 0, {"aime_2025": 30}) == 30


def test_problem_count_printed_samples_not_a_multiple_are_not_used() -> None:
    run, table = one_set({"val-core/own_set/acc/mean@30": 0.23}, extras={"validation_samples": (901, 1)})
    assert problem_count(run, table, 0, {}) is None


def test_problem_count_everything_disagrees_gives_nothing() -> None:
    run, table = one_set({"val-core/aime_2025/acc/mean@30": 0.2304}, extras={"validation_samples": (330, 1)})
    assert problem_count(run, table, 0, {"aime_2025": 30}) is None
