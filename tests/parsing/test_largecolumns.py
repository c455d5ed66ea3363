"""Columns that grow over the segments of a large text, and what joining them takes."""

import random
import tracemalloc
from array import array
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.model.run import Column, Note, Run
from assistant.parsing.largecolumns import JoinedColumn, JoinedColumns, Places, taken_out
from assistant.parsing.largejoin import JoinedRun
from assistant.parsing.runstarts import training_epochs
from assistant.parsing.splitting import split_runs
from assistant.parsing.turns import SEVERAL, turn_notes

ROWS = 5


def flat(columns: dict[str, Column]) -> list[Any]:
    return [
        (key, list(c.rows), list(c.values), [type(v) for v in c.values], list(c.lines)) for key, c in columns.items()
    ]


def piece(cells: Sequence[tuple[int, str, float, int]], begin: int) -> dict[str, Column]:
    """The columns of a part of a run whose first row is ``begin``."""
    found: dict[str, tuple[list[int], list[float], list[int]]] = {}
    for row, key, value, line in cells:
        for held, item in zip(found.setdefault(key, ([], [], [])), (row - begin, value, line), strict=True):
            held.append(item)
    return {key: Column(*parts) for key, parts in found.items()}


@given(data=st.data())
def test_append_parts_in_any_places_give_the_columns_of_the_whole(data: st.DataObject) -> None:
    rows = ROWS * data.draw(st.integers(1, 5))
    rng = random.Random(data.draw(st.integers(0, 10**6)))
    row_lines = [10 * row + 1 for row in range(rows)]
    kinds = {key: rng.choice(["all", "all", "some", "late"]) for key in "abcdef"}
    cells = [
        (row, key, rng.choice([row, row / 4, 0.5]), row_lines[row] + (rng.random() < 0.1))
        for row in range(rows)
        for key, kind in kinds.items()
        if kind == "all" or (kind == "some" and rng.random() < 0.7) or (kind == "late" and row > 7)
    ]
    joined = JoinedColumns()
    for begin in range(0, rows, ROWS):
        own = [cell for cell in cells if begin <= cell[0] < begin + ROWS]
        joined.append(piece(own, begin), 0, ROWS, begin, row_lines)
    assert flat(joined.finish(tuple(row_lines))) == flat(piece(cells, 0))


def test_append_columns_of_the_same_rows_hold_them_once_while_they_grow() -> None:
    joined = JoinedColumns()
    lines = list(range(1, 21))
    for begin in (0, 10):
        cells = [(row, key, 0.5, lines[row]) for row in range(begin, begin + 10) for key in "abc" if row != 3]
        cells += [(row, "d", 0.5, lines[row]) for row in range(begin, begin + 10) if row not in (3, 14)]
        joined.append(piece(cells, begin), 0, 10, begin, lines)
    one, other = joined["a"].places, joined["d"].places
    assert joined["b"].places is one is joined["c"].places
    assert (one.size, other.size, other.columns) == (19, 18, 1)
    columns = joined.finish(tuple(lines))
    assert columns["a"].rows is columns["b"].rows
    assert list(columns["d"].rows) == [row for row in range(20) if row not in (3, 14)]


def test_append_row_that_goes_on_keeps_what_it_has() -> None:
    joined = JoinedColumns()
    joined.append({"a": Column([0, 1], [1, 2], [1, 2])}, 0, 2, 0, [1, 2])
    joined.append({"a": Column([0, 1], [2, 3], [2, 3]), "b": Column([0], [7], [3])}, 0, 2, 1, [1, 2, 3])
    assert flat(joined.finish((1, 2, 3))) == [
        ("a", [0, 1, 2], [1, 2, 3], [int] * 3, [1, 2, 3]),
        ("b", [1], [7], [int], [3]),
    ]


def test_taken_out_array_becomes_a_tuple_and_is_empty() -> None:
    numbers = array("q", range(1_000_000))
    assert taken_out(numbers) == tuple(range(1_000_000))
    assert not numbers


def joined_run(rows: int, columns: int) -> JoinedRun:
    run = JoinedRun("x", "jsonl", None, "step", array("q", range(rows)), array("q", range(1, rows + 1)))
    places = Places(rows, columns=columns)
    for at in range(columns):
        run.columns[f"train/{at}"] = JoinedColumn(array("d", [0.5]) * rows, places)
    return run


@pytest.mark.parametrize("restarts", [False, True])
def test_finish_and_split_take_little_beyond_the_table(restarts: bool) -> None:
    rows = 200_000
    tracemalloc.start()
    try:
        run = joined_run(rows, 12)
        if restarts:
            run.steps = array("q", [row % (rows // 2) for row in range(rows)])
            for column in run.columns.values():
                column.values = array("d", random.Random(1).choices([0.1, 0.2, 0.3, 0.4], k=rows))
        tracemalloc.reset_peak()
        runs = split_runs([run.finish("r0")], used_up=True)
        table, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(runs) == 1 + restarts
    assert sum(len(column.values) for run in runs for column in run.columns.values()) == 12 * rows
    assert peak - table < 0.12 * table


def test_split_runs_used_up_gives_the_same_runs() -> None:
    def made() -> Run:
        steps = [*range(1, 41), *range(1, 41)]
        run = joined_run(len(steps), 3)
        run.steps = array("q", steps)
        for at, column in enumerate(run.columns.values()):
            column.values = array("d", [random.Random(at * 100 + row).random() for row in range(len(steps))])
        return run.finish("r0")

    kept, used = split_runs([made()]), split_runs([made()], used_up=True)
    assert len(kept) == 2
    assert [flat(dict(run.columns)) for run in kept] == [flat(dict(run.columns)) for run in used]


@given(steps=st.lists(st.integers(0, 30), min_size=2, max_size=150), values=st.lists(st.integers(0, 1), min_size=150))
def test_turn_notes_tell_rows_whose_step_stands_near(steps: list[int], values: list[int]) -> None:
    last: dict[int, int] = {}
    near = 0
    for row, step in enumerate(steps):
        near += step in last and row - last[step] <= min(64, max(1, len(set(steps)) // 2))
        last[step] = row
    unused = sum(values[row] != values[last[step]] for row, step in enumerate(steps))
    told = len(steps) >= 2 * len(last) and len(last) > 1 and 2 * near >= len(steps) - len(last) and unused
    rows = range(len(steps))
    run = Run(
        "r0", "x", "jsonl", None, "step", tuple(steps), tuple(rows), {"a": Column(rows, values[: len(rows)], rows)}
    )
    notes: list[Note] = turn_notes(run)
    assert [note.code for note in notes] == ([SEVERAL] if told else [])
    assert all(f" {unused} other values" in note.en for note in notes)


def test_training_epochs_rows_of_evaluations_do_not_count() -> None:
    columns = {
        "loss": Column([0, 2], [0.5, 0.4], [1, 3]),
        "eval_loss": Column([1], [0.6], [2]),
        "epoch": Column([0, 1, 2], [0.1, 0.1, 0.2], [1, 2, 3]),
    }
    run = Run("r0", "x", "jsonl", None, "index", (0, 1, 2), (1, 2, 3), columns)
    rows, epochs = training_epochs(run)
    assert (list(rows), list(epochs)) == ([0, 2], [0.1, 0.2])
