"""Leaps out of all values before, and a KL that runs away."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.analysis import Ledger
from assistant.ask.context import Context
from assistant.ask.departures import LASTING, LEAST_BEFORE, TIMES, all_checks, departure, runaway
from assistant.ask.query import Query
from assistant.model import Number, Run
from tests.analysis.support import run_of, series_run

from .support import answerer


def context(run: Run) -> Context:
    return Context(Query("", "en", "health"), (run,), answerer().resolver, Ledger((run,)))


def trl_kl(values: list[float]) -> Run:
    table: dict[int, dict[str, Number]] = {
        5 * i: {"kl": value, "reward": 0.5 + 0.01 * i, "grad_norm": 0.4, "entropy": 0.6, "loss": 0.01}
        for i, value in enumerate(values, 1)
    }
    return run_of(table, format="trl-dict", framework="TRL")


def test_departure_leap_that_lasts_is_found_with_both_values() -> None:
    found = departure(
        context(series_run("kl_penalty", [0.01, 0.012, 0.011, 0.013, 0.012, 3.0, 3.2, 3.1])), "kl_penalty"
    )
    assert found is not None
    assert (found.at.step, found.at.value) == (6, 3.0)
    assert (found.before.step, found.before.value) == (4, 0.013)


def test_departure_spike_that_comes_back_is_none() -> None:
    values = [0.01, 0.012, 0.011, 0.013, 0.012, 3.0, 0.011, 0.012, 0.013, 0.012]
    assert departure(context(series_run("kl_penalty", values)), "kl_penalty") is None


def test_departure_out_of_growth_from_nothing_is_none() -> None:
    """A KL to the reference at the start of a run: ten times all before it, time and again."""
    values = [0.0, 1e-5, 5e-5, 2e-4, 6e-4, 1e-3, 0.0025, 0.04, 0.006, 0.04, 0.06, 0.0025, 0.01, 0.02, 0.02]
    assert departure(context(series_run("kl_penalty", values)), "kl_penalty") is None


def test_departure_that_seldom_comes_back_says_how_seldom() -> None:
    values = [0.01, 0.012, 0.011, 0.013, 0.012, *[3.0 + 0.01 * i for i in range(10)], 0.011, *[3.1] * 9]
    found = departure(context(series_run("kl_penalty", values)), "kl_penalty")
    assert found is not None
    assert found.rule == "departure_mostly"
    assert dict(found.facts)["beyond"].value == pytest.approx(19 / 20)


def test_departure_whose_last_values_are_back_is_none() -> None:
    values = [0.01, 0.012, 0.011, 0.013, 0.012, *[3.0 + 0.01 * i for i in range(30)], 0.011]
    assert departure(context(series_run("kl_penalty", values)), "kl_penalty") is None


def test_departure_times_and_schedules_are_left_out() -> None:
    values = [1.0] * 6 + [50.0] * 6
    for metric in ("timing_s/gen", "actor/lr", "perf/throughput", "critic/advantages/max"):
        assert departure(context(series_run(metric, values)), metric) is None


@given(st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), min_size=1, max_size=30))
def test_departure_any_values_is_a_leap_by_its_definition_or_none(values: list[float]) -> None:
    found = departure(context(series_run("loss", values)), "loss")
    if found is None:
        return
    steps = [step for step, value in enumerate(values, 1) if math.isfinite(value)]
    sizes = {step: abs(values[step - 1]) for step in steps}
    assert found.at.step is not None
    before = [sizes[step] for step in steps if step < found.at.step]
    assert len(before) >= LEAST_BEFORE
    assert sizes[found.at.step] > TIMES * max(before)
    rest = sorted(sizes[step] for step in steps if step >= found.at.step)
    assert sum(size <= max(before) for size in rest) <= 0.1 * len(rest)
    assert (found.rule == "departure") == (rest[0] > max(before))
    assert rest[len(rest) // 2] >= LASTING * max(before) or len(rest) % 2 == 0


def test_runaway_geometric_growth_is_a_warning() -> None:
    run = trl_kl([0.0002 * 1.9**i for i in range(13)])
    found = runaway(context(run))
    assert found is not None
    assert found.severity == "warning"
    assert found.metrics == ("kl",)
    assert found in all_checks(context(run)) or any(check.rule == "runaway" for check in all_checks(context(run)))


def test_runaway_warm_up_and_straight_line_are_none() -> None:
    assert runaway(context(trl_kl([0.002 * i for i in range(1, 60)]))) is None
    assert runaway(context(trl_kl([0.0005 * i**2 for i in range(1, 60)]))) is None


def test_runaway_health_question_warns_and_says_where_it_left() -> None:
    answer, _ = answerer().ask("kl 正常吗", [trl_kl([0.0002 * 1.9**i for i in range(13)])])
    assert answer.verdict.code == "warning"
    assert "越涨越快" in answer.answer
