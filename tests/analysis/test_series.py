"""A metric as arrays: the same points as ``Run.series``, finite ones only."""

from __future__ import annotations

import gc
import math
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.analysis.series import series
from assistant.model import Column, Run

from .support import run_of, series_run

numbers_ = st.one_of(st.integers(-(10**6), 10**6), st.floats(allow_nan=True, allow_infinity=True))


def run_with(steps: list[int], values: list[float]) -> Run:
    n = len(steps)
    return Run(
        "r0", "x", "verl", None, "step", tuple(steps), tuple(range(n)), {"m": Column(range(n), values, range(n))}
    )


@given(st.lists(st.tuples(st.integers(-20, 20), numbers_), max_size=30))
def test_series_holds_the_finite_points_of_the_run(points: list[tuple[int, float]]) -> None:
    run = run_with([s for s, _ in points], [v for _, v in points])
    wanted = [(s, v) for s, v in zip(*run.series("m"), strict=True) if math.isfinite(v)]
    found = series(run, "m")
    assert list(zip(found.steps.tolist(), found.values.tolist(), strict=True)) == wanted
    assert [found.number(run, i) for i in range(len(found))] == [v for _, v in wanted]
    assert found.dropped == len(run.series("m")[0]) - len(wanted)


def test_series_metric_not_there_is_empty() -> None:
    assert len(series(run_of({1: {"a": 1.0}}), "b")) == 0


def test_series_number_is_an_integer_where_the_log_printed_one() -> None:
    run = run_of({3: {"m": 1}, 1: {"m": 2.5}, 2: {"m": 7}})
    assert [repr(series(run, "m").number(run, i)) for i in (0, 1, -1)] == ["2.5", "7", "1"]


def test_series_integers_beyond_floats_and_steps_beyond_64_bits_do_no_harm() -> None:
    run = run_with([1, 2, 10**30], [10**400, -(10**400), 1.0])
    found = series(run, "m")
    assert (found.values.tolist(), found.dropped) == ([1.0], 2)


def test_series_parts_are_by_step_by_count_and_by_name() -> None:
    run = series_run("m", [float(i) for i in range(10)], first=5)
    whole = series(run, "m")
    assert whole.between(7, 9).steps.tolist() == [7, 8, 9]
    assert whole.last(3).last(2).steps.tolist() == [13, 14]
    assert whole.at([99, 6, 8]).values.tolist() == [1.0, 3.0]
    assert whole.between(7, 9).number(run, 1) == 3.0
    assert len(whole.last(99)) == 10


def test_series_asked_twice_is_the_same_object_and_cannot_be_written() -> None:
    run = series_run("m", [1.0, 2.0])
    assert series(run, "m") is series(run, "m")
    with pytest.raises(ValueError, match="read-only"):
        series(run, "m").values[0] = 9.0


def test_series_is_forgotten_with_its_run() -> None:
    run = series_run("m", [1.0, 2.0])
    kept = weakref.ref(run)
    assert isinstance(series(run, "m").values, np.ndarray)
    del run
    gc.collect()
    assert kept() is None
