"""The compact list of rows behaves as a plain list of them does."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing.kept import (
    KeptRow,
    Rows,
    Shape,
    kinds_of,
    lines_of,
    loosen,
    own_rows,
    steps_of,
)
from assistant.parsing.keptcolumns import fill_columns
from assistant.parsing.table import Row

SHAPES = tuple(Shape((key,), (float,)) for key in "ab")
TAGS = (None, "pid=1", "pid=2")


def plain(row: Any) -> Any:
    """What tells a row: a loose one is itself."""
    return (row.step, row.line, row.tag, row.shape, row.place) if isinstance(row, KeptRow) else row


kept = st.builds(
    KeptRow, st.integers(0, 10**14), st.integers(1, 10**9), st.sampled_from(TAGS), st.sampled_from(SHAPES),
    st.integers(-1, 10**6),
)  # fmt: skip
loose = st.builds(lambda step: Row(step, 1, {"a": 0.5}), st.integers(0, 9))
rows = st.one_of(kept, loose)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(), rows),
        st.tuples(st.just("insert"), st.integers(0, 30), rows),
        st.tuples(st.just("set"), st.integers(0, 30), rows),
        st.tuples(st.just("delete"), st.integers(0, 30), st.none()),
    ),
    max_size=30,
)


@given(changes, st.integers(-3, 30), st.integers(-3, 30))
@settings(max_examples=150, deadline=None)
def test_rows_changed_as_a_list_hold_what_a_list_holds(made: list[Any], begin: int, end: int) -> None:
    expected: list[Any] = []
    found = Rows()
    for what, at, row in made:
        if what == "append":
            found.append(row)
            expected.append(row)
        elif what == "insert":
            found.insert(at, row)
            expected.insert(at, row)
        elif at < len(expected):
            if what == "set":
                found[at] = expected[at] = row
            else:
                del found[at], expected[at]
    wanted = [plain(row) for row in expected]
    assert len(found) == len(wanted)
    assert [plain(row) for row in found] == wanted
    assert [plain(found[at]) for at in range(len(wanted))] == wanted
    assert [plain(row) for row in found[begin:end]] == wanted[begin:end]
    if wanted:
        assert plain(found[-1]) == wanted[-1]


def test_rows_added_in_bulk_are_those_added_one_by_one() -> None:
    one, many = Rows(), Rows()
    for step in range(5):
        one.add(step, 10 + step, "pid=1", SHAPES[0], 7 + step)
    many.add_all(range(5), range(10, 15), "pid=1", SHAPES[0], 7)
    assert [plain(row) for row in one] == [plain(row) for row in many]


def test_loosen_a_row_keeps_the_change() -> None:
    shape = Shape(("a",), (float,))
    found = Rows()
    found.add(3, 4, None, shape, shape.add((0.25,), (float,)))
    row = loosen(found, 0)
    row.values["b"] = 1.0
    assert found[0] is row
    assert row.values == {"a": 0.25, "b": 1.0}
    assert shape.dropped == {0}


@given(st.lists(rows, max_size=30), st.integers(0, 30))
@settings(max_examples=150, deadline=None)
def test_rows_asked_for_all_tell_what_each_row_tells(made: list[Any], end: int) -> None:
    found = Rows()
    found.extend(made)
    end = min(end, len(made))
    assert list(steps_of(found)) == steps_of(made) == [row.step for row in made]
    assert list(lines_of(found)) == lines_of(made) == [row.line for row in made]
    assert kinds_of(found, end) == kinds_of(made, end) == list(dict.fromkeys(row.keys() for row in made[:end]))
    assert list(own_rows(found)) == list(own_rows(made)) == [it for it in enumerate(made) if isinstance(it[1], Row)]
    assert found.is_kept() == any(isinstance(row, KeptRow) for row in made)
    spans: dict[str | None, tuple[int, int]] = {}
    for at, row in enumerate(made):
        spans[row.tag] = (spans.get(row.tag, (at, at))[0], at)
    assert list(found.spans().items()) == list(spans.items())
    of_each = [None if isinstance(row, Row) else row.shape for row in made]
    assert [shape for shape, first, behind in found.stretches() for _ in range(first, behind)] == of_each


def test_rows_step_of_a_row_that_was_changed_is_the_new_one() -> None:
    found = Rows()
    row = Row(1, 2, {"a": 0.5})
    found.append(row)
    row.step, row.line = 7, 8
    assert (list(found.steps()), list(found.lines())) == ([7], [8])


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(allow_nan=False), st.floats(allow_nan=False)), max_size=30))
@settings(max_examples=150, deadline=None)
def test_fill_columns_rows_of_several_shapes_and_their_own_stay_in_order(cells: list[tuple[int, float, float]]) -> None:
    shapes = [Shape(keys, (float,) * len(keys)) for keys in (("a",), ("b", "a"), ("c", "b"))]
    found = Rows()
    expected: dict[str, list[tuple[int, float, int]]] = {}
    for at, (which, one, other) in enumerate(cells):
        keys = shapes[which].keys if which < len(shapes) else ("b", "d")
        values = dict(zip(keys, (one, other), strict=False))
        if which < len(shapes):
            place = shapes[which].add(tuple(values.values()), shapes[which].types)
            found.add(at, 10 + at, None, shapes[which], place)
        else:
            found.append(Row(at, 10 + at, values))
        for key, value in values.items():
            expected.setdefault(key, []).append((at, value, 10 + at))
    columns = fill_columns(found, found.lines())
    held = {key: list(zip(c.rows, c.values, c.lines, strict=True)) for key, c in columns.items()}
    assert list(held.items()) == list(expected.items())
