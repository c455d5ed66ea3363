"""Runs: cells know their step and line, absent cells stay absent, JSON is strict."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.model import Column, Missing, Note, Run, json_number
from tests.analysis.support import run_of


@pytest.fixture
def restarted() -> Run:
    """Steps 1, 2, then 2 again after a restart, and 3; ``b`` is not always there."""
    columns = {"a": Column((0, 1, 2, 3), (1.0, 2.0, 2.5, math.nan), (10, 11, 15, 16)), "b": Column((1,), (7,), (11,))}
    gap = Missing("b", 3, 16, "line_cut", limit=4096)
    note = Note("cut", "有一行被截断", "a line was cut", 16)
    return Run("r0", "x", "verl", None, "step", (1, 2, 2, 3), (10, 11, 15, 16), columns, (gap,), (note,))


def test_series_step_printed_twice_counts_once_with_its_last_value(restarted: Run) -> None:
    steps, values = restarted.series("a")
    assert steps == [1, 2, 3]
    assert values[:2] == [1.0, 2.5]
    assert restarted.distinct_steps == (1, 2, 3)


@given(st.lists(st.integers(-5, 20)))
def test_distinct_steps_are_ascending_and_each_there_once(steps: list[int]) -> None:
    run = Run("r0", "x", "verl", None, "step", tuple(steps), tuple(range(len(steps))), {})
    assert run.distinct_steps == tuple(sorted(set(steps)))


def test_cell_knows_its_row_and_line(restarted: Run) -> None:
    cell = restarted.cell("a", 2)
    assert cell is not None
    assert (cell.value, cell.line, cell.row) == (2.5, 15, 2)
    assert len(restarted.cells("a")) == 4


@pytest.mark.parametrize(("metric", "step"), [("a", 9), ("b", 1), ("c", 1)])
def test_cell_not_in_the_log_gives_nothing(restarted: Run, metric: str, step: int) -> None:
    assert restarted.cell(metric, step) is None
    assert restarted.value(metric, step) is None


def test_series_unknown_metric_is_empty(restarted: Run) -> None:
    assert restarted.series("c") == ([], [])
    assert restarted.cells("c") == []


def test_at_step_gives_its_cells_in_the_logs_order(restarted: Run) -> None:
    assert list(restarted.at(2)) == ["a", "b"]
    assert list(restarted.at(1)) == ["a"]


def test_missing_at_gives_the_parsers_reason_or_nothing(restarted: Run) -> None:
    gap = restarted.missing_at("b", 3)
    assert gap is not None
    assert gap.limit == 4096
    assert restarted.missing_at("b", 1) is None


def test_to_json_is_strict_and_keeps_absence(restarted: Run) -> None:
    document = json.loads(json.dumps(restarted.to_json("zh"), allow_nan=False))
    assert [row["values"] for row in document["rows"]] == [{"a": 1.0}, {"a": 2.0, "b": 7}, {"a": 2.5}, {"a": "NaN"}]
    assert [(row["step"], row["line"]) for row in document["rows"]] == [(1, 10), (2, 11), (2, 15), (3, 16)]
    assert document["warnings"] == ["有一行被截断"]
    assert restarted.to_json("en")["warnings"] == ["a line was cut"]


def test_summary_json_counts_steps_and_metrics(restarted: Run) -> None:
    summary = restarted.summary_json()
    assert (summary["steps"], summary["n_steps"], summary["n_metrics"]) == ([1, 3], 3, 2)


def test_renamed_changes_only_what_is_named(restarted: Run) -> None:
    other = restarted.renamed(id="r7")
    assert (other.id, other.name, other.columns) == ("r7", "x", restarted.columns)
    assert restarted.renamed(name="y").id == "r0"


def test_to_pandas_is_one_row_an_event_with_gaps(restarted: Run) -> None:
    frame = restarted.to_pandas()
    assert list(frame.index) == [1, 2, 2, 3]
    assert frame.index.name == "step"
    assert frame["b"].isna().tolist() == [True, False, True, True]


@pytest.mark.parametrize(
    ("value", "json_value"),
    [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"), (0.5, 0.5), (3, 3), (-0.0, -0.0)],
)
def test_json_number_is_what_strict_json_can_hold(value: float, json_value: object) -> None:
    assert json_number(value) == json_value


@given(
    st.dictionaries(
        st.integers(0, 50),
        st.dictionaries(st.sampled_from("abcd"), st.floats(allow_nan=False) | st.integers(-9, 9), min_size=1),
        min_size=1,
    )
)
def test_rows_any_table_comes_back(table: dict[int, dict[str, float]]) -> None:
    run = run_of(table)
    assert {step: values for step, _, values in run.rows()} == table
    for step, values in table.items():
        assert {metric: cell.value for metric, cell in run.at(step).items()} == values
