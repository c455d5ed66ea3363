"""Validations that sink while the training reward rises, and how many samples an evaluation is of."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assistant.analysis import Ledger
from assistant.analysis.compare_validation import evaluated
from assistant.analysis.departures import with_departures
from assistant.analysis.held_out import NOISE, SINKS, differ, held_out, sinking
from assistant.model import Number, Run
from tests.analysis.support import run_of

SINKING = [0.516, 0.512, 0.578, 0.540, 0.552, 0.566, 0.538, 0.508, 0.506, 0.496, 0.476, 0.456]
KEY = "eval_rewards/accuracy_reward/mean"


def trl(scores: Sequence[float], *, rising: bool = True, samples: int | None = 500, key: str = KEY) -> Run:
    """A TRL run that logs and evaluates every five steps."""
    table: dict[int, dict[str, Number]] = {}
    for place, score in enumerate(scores):
        row: dict[str, Number] = {"reward": 0.5 + (0.02 * place if rising else 0.01 * (-1) ** place), "grad_norm": 0.4}
        row |= {"kl": 0.01, "entropy": 0.6, "loss": 0.01, key: score}
        if samples:
            seconds = 50.0 + place
            row |= {"eval_runtime": seconds, "eval_samples_per_second": round(samples / seconds, 3)}
        table[5 * (place + 1)] = row
    return run_of(table, format="trl-dict", framework="TRL")


def rules(run: Run) -> list[str]:
    steps = list(run.distinct_steps)
    return [check.rule for check in with_departures(Ledger([run]), run, steps, ["reward"], {})]


def test_sinking_validation_beside_a_rising_reward_is_told_with_best_and_last() -> None:
    run = trl(SINKING)
    check = sinking(Ledger([run]), run, {})
    assert check is not None
    facts = dict(check.facts)
    assert (facts["best"].step, facts["best"].value) == (15, 0.578)
    assert (facts["since"].step, facts["last"].step, facts["count"].value) == (30, 60, 7)
    assert check.severity == "warning"
    assert SINKS in rules(run)


@pytest.mark.parametrize(
    "run",
    [
        trl(SINKING, rising=False),
        trl([*SINKING[:-1], 0.490]),  # the last one rises
        trl([0.44, *SINKING[1:]]),  # it began lower still
        trl(SINKING, samples=60),  # 0.12 is 1.3 standard errors of a difference
        trl(SINKING[:5]),
    ],
)
def test_sinking_without_all_of_it_is_silent(run: Run) -> None:
    assert SINKS not in rules(run)


@pytest.mark.parametrize("samples", [500, 1319, 30])
def test_evaluated_duration_times_rate_is_the_number_of_samples(samples: int) -> None:
    assert evaluated(trl(SINKING, samples=samples)) == samples


def test_evaluated_where_evaluations_do_not_agree_is_none() -> None:
    table: dict[int, dict[str, Number]] = {
        step: {"eval_runtime": 50.0, "eval_samples_per_second": 10.0 + step} for step in (1, 2, 3)
    }
    assert evaluated(run_of(table)) is None
    assert evaluated(trl(SINKING, samples=None)) is None


@pytest.mark.parametrize(
    ("scores", "noise"),
    [
        ([0.39, 0.52, 0.43, 0.35, 0.49, 0.40, 0.51, 0.36], False),  # eight standard errors apart
        ([0.40, 0.41, 0.39, 0.42, 0.40, 0.41, 0.39, 0.40], True),
    ],
)
def test_validations_that_certainly_differ_are_not_called_noise(scores: list[float], noise: bool) -> None:
    key = "val-core/math500/acc/mean@1"
    table: dict[int, dict[str, Number]] = {
        5 * place: {key: score, "critic/score/mean": 0.4} for place, score in enumerate(scores)
    }
    run = run_of(table)
    sizes = {"math500": 500}
    told = [c.rule for c in with_departures(Ledger([run]), run, list(run.distinct_steps), [], sizes)]
    assert (NOISE in told) is noise
    assert differ(Ledger([run]), run, key, sizes) is not noise


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("val-core/math500/acc/mean@1", True),
        ("val_loss", True),
        ("eval_reward", True),
        ("eval/gsm8k", True),
        ("validation/accuracy", True),
        ("test_accuracy", True),
        ("critic/values/mean", False),
        ("value_loss", False),
        ("evaluator_time", False),
        ("reward", False),
    ],
)
def test_held_out_by_the_beginning_of_the_key(metric: str, expected: bool) -> None:
    assert held_out(metric) is expected
