"""The compact list of rows behaves as a plain list of them does."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing.kept import KeptRow, Rows, Shape, loosen
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
