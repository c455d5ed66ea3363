"""Records read by the form of those before: never more, and never other values, than each line gives alone."""

import math
import random
from collections.abc import Iterable
from struct import iter_unpack
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing import verlforms
from assistant.parsing.verlblocks import Group, read_records
from assistant.parsing.verlforms import RecordReader
from tests.parsing.generators import verl_log as gen

ROWS = 6
EDITS = [*" -:()[]{},.+e019\"'\\\t\r\x0b\x1b", "é", "", " - ", "nan", "null", "true", "np.float64(", "step:2 - ", "1,2"]


def rows_of(groups: Iterable[Group]) -> list[list[tuple[str, str]]]:
    """The cells of all records, in their order; the text of a value shows its type and every bit."""
    rows = []
    for group in groups:
        codes = "q" + "".join("d" if kind is float else "q" for kind in group.types)
        for values, step in zip(iter_unpack(codes, group.packed), group.steps, strict=True):
            assert values[0] == step
            rows.append([(key, repr(value)) for key, value in zip(("step", *group.keys), values, strict=True)])
    return rows


def reader_of(lines: list[bytes]) -> RecordReader:
    """A reader that knows the forms of some lines."""
    reader = RecordReader()
    with patch.object(verlforms, "WORTH", 1):
        for line in lines:
            reader.read([line])
    return reader


@given(seed=st.integers(0, 10**6), edits=st.integers(0, 3), old=st.booleans())
@settings(max_examples=300, deadline=None)
def test_read_any_lines_of_a_known_form_are_as_each_line_alone(seed: int, edits: int, old: bool) -> None:
    rng = random.Random(seed)
    known = [line.encode() for line in gen.random_log(seed, ROWS, val_every=3, old=old).lines]
    lines = [line.decode() for line in known]
    for _ in range(edits):
        which = rng.randrange(len(lines))
        at = rng.randrange(len(lines[which]))
        lines[which] = lines[which][:at] + rng.choice(EDITS) + lines[which][at + rng.randrange(2) :]
    changed = [line.encode() for line in lines]
    groups = reader_of(known).read(changed)
    if groups is None:
        assert edits or not old  # new logs mix ints and floats in a column
        return
    alone = [read_records(line) for line in changed]
    assert all(alone)
    assert rows_of(groups) == [row for found in alone if found for row in rows_of(found)]


def test_read_other_keys_of_the_same_length_are_no_known_form() -> None:
    reader = reader_of([f"step:{step} - a/x:0.5 - b/x:np.float64(0.25)".encode() for step in range(8)])
    for line in (b"step:9 - a/y:0.5 - b/x:np.float64(0.25)", b"step:9 - a/x:0.5 - b/x:np.float32(0.25)"):
        with patch.object(verlforms, "read_records", return_value=None) as careful:
            assert reader.read([line]) is None
        careful.assert_called_once_with(line)


def test_read_known_forms_take_no_json_way() -> None:
    shapes = ["step:{0} - a:{0}.5 - b:np.float64(0.25)", "step:{0} - a:{0}.5 - b:np.float64(0.25) - val/c:{0}"]
    known = [shapes[step % 5 == 0].format(step).encode() for step in range(12)]
    reader = reader_of(known)
    with patch.object(verlforms, "read_records", side_effect=AssertionError):
        groups = reader.read(known)
    assert groups is not None
    assert sum(len(group.steps) for group in groups) == len(known)


@pytest.mark.parametrize(
    "cells",
    [
        "a:1\r", "a:\t1", "a: 1", "a:1,2", "a:[1]", 'a:"1"', "a:true", "a:null", "a:01", "a:1e400", "a:", "a:inf",
        "a:é", "a:18446744073709551616", "a:9" * 40, "b:1", "a:1 - a:2", "a:1 ", "a:np.float64(1)", "a:1)",
    ],
)  # fmt: skip
def test_read_values_that_are_no_plain_numbers_are_left(cells: str) -> None:
    lines = [f"step:{step} - x:0.5 - a:{step}" for step in range(8)]
    reader = reader_of([line.encode() for line in lines])
    lines[5] = f"step:5 - x:0.5 - {cells}"
    found = reader.read([line.encode() for line in lines])
    alone = read_records(lines[5].encode())
    if found is None:
        return
    assert alone is not None
    assert rows_of(found)[5] == rows_of(alone)[0]
    assert cells in {"b:1", "a:np.float64(1)"}


@pytest.mark.parametrize("inner", ["", " 1", "1 ", "1,2", "1\t", "1 - b:2", "(1", "nan"])
def test_read_wrapped_values_that_are_no_plain_numbers_are_left(inner: str) -> None:
    lines = [f"step:{step} - a:np.float64({step}.5) - b:2" for step in range(8)]
    reader = reader_of([line.encode() for line in lines])
    lines[5] = f"step:5 - a:np.float64({inner}) - b:2"
    found = reader.read([line.encode() for line in lines])
    if inner == "nan":
        assert found is not None
        assert [row[1] == ("a", "nan") for row in rows_of(found)] == [step == 5 for step in range(8)]
    else:
        assert found is None


def test_read_unused_forms_give_way_to_new_ones() -> None:
    reader = RecordReader()
    with patch.object(verlforms, "WORTH", 4):
        for run in range(20):
            lines = [f"step:{step} - run{run}/a:{step}.5 - b:1".encode() for step in range(12)]
            for part in (lines[:4], lines[4:]):
                groups = reader.read(part)
                assert groups is not None
                assert rows_of(groups) == rows_of(read_records(b"\n".join(part)) or ())


def test_read_infinities_and_nan_as_before() -> None:
    lines = [f"step:{step} - a:{'nan' if step % 2 else step + 0.5} - b:1".encode() for step in range(8)]
    groups = reader_of([b"step:1 - a:0.5 - b:1"]).read(lines)
    assert groups is not None
    values = [float(dict(row)["a"]) for row in rows_of(groups)]
    assert [math.isnan(value) for value in values] == [step % 2 == 1 for step in range(8)]
    assert reader_of([b"step:1 - a:0.5 - b:1"]).read([b"step:1 - a:inf - b:1"]) is None
