"""Rows whose values lie in columns: whatever the order in which they come, each row gives its values back."""

from array import array
from struct import pack

from hypothesis import given
from hypothesis import strategies as st

from assistant.model.run import Number
from assistant.parsing.kept import Shape

KEYS = ("a", "b", "c")
NUMBER = st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False))
ROW = st.tuples(NUMBER, NUMBER, NUMBER)


def packed(values: tuple[Number, ...]) -> bytes:
    return pack("8x" + "".join("d" if isinstance(value, float) else "q" for value in values), *values)


@given(st.lists(st.tuples(ROW, st.integers(0, 3))))
def test_shape_rows_one_by_one_and_in_blocks_keep_values_and_types(rows: list[tuple[tuple[Number, ...], int]]) -> None:
    shape = Shape(KEYS, (float, float, int))
    expected: list[tuple[Number, ...]] = []
    for values, copies in rows:
        types = tuple(map(type, values))
        place = shape.extend(packed(values) * copies, types) if copies else shape.add(values, types)
        assert place == len(expected)
        expected += [values] * max(copies, 1)
    for place, values in enumerate(expected):
        assert repr(tuple(shape.values(place).values())) == repr(values)
    assert shape.size == len(expected)


def test_shape_columns_of_one_type_are_arrays_and_mixed_ones_lists() -> None:
    shape = Shape(KEYS, (float, int, float))
    shape.add((0.5, 1, 0.5), (float, int, float))
    shape.extend(packed((1.5, 2, 7)), (float, int, int))
    shape.flush()
    assert shape.columns == [array("d", [0.5, 1.5]), array("q", [1, 2]), [0.5, 7]]


def test_shape_many_rows_are_brought_into_the_columns_on_the_way() -> None:
    shape = Shape(("a",), (float,))
    block = packed((0.5,)) * 50_000
    for _ in range(4):
        shape.extend(block, (float,))
    assert len(shape.columns[0]) > 0
    shape.flush()
    assert shape.columns == [array("d", [0.5]) * 200_000]
