"""A run as bytes and back: bit for bit, whatever it holds, in a form that is small."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.model import Note, Run
from assistant.model.run import Column, LineCounts, Missing, Version
from assistant.service import Source, service
from assistant.service.sessions.packing import DamagedRun, pack_run, same_run, size_of, unpack_run

ROOT = Path(__file__).resolve().parents[2]
LOG = (ROOT / "examples" / "verl-retool-steps-0-3.log").read_bytes()

numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True), st.integers(), st.booleans(),
    st.sampled_from([0, -0.0, 0.0, 2**63 - 1, -(2**63), 2**63, 10**400, math.inf, -math.inf, 1, 1.0]),
)  # fmt: skip
any_text = st.text(st.characters(), max_size=12)
small = st.integers(min_value=-(10**12), max_value=10**12)


def run_of(columns: dict[str, Column], **more: Any) -> Run:
    held = {
        "id": "r0", "name": "n", "format": "verl", "framework": None, "step_axis": "step", "steps": (1, 2, 3),
        "row_lines": (1, 2, 3), "columns": columns,
    }  # fmt: skip
    return Run(**{**held, **more})


@st.composite
def runs(draw: st.DrawFn) -> Run:
    size = draw(st.integers(0, 6))
    steps = tuple(draw(st.lists(small, min_size=size, max_size=size)))
    columns = {}
    for key in draw(st.lists(any_text, max_size=4, unique=True)):
        rows = sorted(draw(st.sets(st.integers(0, max(0, size - 1)), max_size=size))) if size else []
        values: Sequence[Any] = draw(st.lists(numbers, min_size=len(rows), max_size=len(rows)))
        lines = draw(st.lists(small, min_size=len(rows), max_size=len(rows)))
        if values and {type(value) for value in values} == {float} and draw(st.booleans()):
            values = array("d", values)
        columns[key] = Column(rows, values, lines)
    missing = st.builds(
        Missing, st.none() | any_text, small, small, st.sampled_from(["line_cut", "half_key"]), any_text,
        st.none() | small,
    )  # fmt: skip
    notes = st.builds(Note, any_text, any_text, any_text, st.none() | small, st.lists(small, max_size=3).map(tuple))
    version = st.builds(Version, st.none() | any_text, st.none() | any_text, st.lists(any_text, max_size=2).map(tuple))
    return Run(
        id=draw(any_text), name=draw(any_text), format=draw(any_text), framework=draw(st.none() | any_text),
        step_axis=draw(any_text), steps=steps, row_lines=tuple(draw(st.lists(small, min_size=size, max_size=size))),
        columns=columns, missing=tuple(draw(st.lists(missing, max_size=3))),
        warnings=tuple(draw(st.lists(notes, max_size=3))),
        lines=LineCounts(draw(small), draw(small), draw(small), tuple(draw(st.lists(any_text, max_size=2)))),
        extras=draw(st.dictionaries(any_text, st.tuples(numbers, small), max_size=3)),
        version=draw(st.none() | version),
    )  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(runs())
def test_pack_any_run_comes_back_to_the_bit(run: Run) -> None:
    back = unpack_run(pack_run(run))
    assert same_run(run, back)
    for key, column in run.columns.items():
        assert type(back.columns[key].values) is type(column.values)


@pytest.mark.parametrize("bits", [0x7FF8000000000000, 0x7FF8000000000001, 0xFFF8DEADBEEF0001])
def test_pack_nan_keeps_its_payload(bits: int) -> None:
    value = struct.unpack(">d", struct.pack(">Q", bits))[0]
    run = run_of({"loss": Column([0, 1], [value, 0.5], [1, 2])})
    back = unpack_run(pack_run(run)).columns["loss"].values[0]
    assert struct.unpack(">Q", struct.pack(">d", back))[0] == bits


def test_pack_shared_rows_are_stored_and_read_once() -> None:
    rows, lines = [0, 2, 1, 4], [5, 9, 7, 100]
    run = run_of({f"m{n}": Column(rows, [0.1 * n] * 4, list(lines)) for n in range(50)})
    back = unpack_run(pack_run(run))
    assert len({id(column.rows) for column in back.columns.values()}) == 1
    assert len({id(column.lines) for column in back.columns.values()}) == 1


def test_pack_real_log_answers_as_before() -> None:
    engine = service()
    material = engine.read([Source("a.log", LOG)])
    packed = pack_run(material.runs[0])
    back = unpack_run(packed)
    assert same_run(material.runs[0], back)
    assert len(packed) < len(LOG) / 2
    assert size_of(back) > 8 * sum(len(column.values) for column in back.columns.values())
    assert back.summary_json("zh") == material.runs[0].summary_json("zh")


def test_same_run_tells_an_integer_from_a_float() -> None:
    one, other = (run_of({"x": Column([0], [value], [1])}) for value in (1, 1.0))
    assert not same_run(one, other)


@pytest.mark.parametrize("cut", [0, 3, 4, 10, -1])
def test_unpack_damaged_bytes_raises(cut: int) -> None:
    packed = pack_run(run_of({"x": Column([0, 1, 2], [0.1, 0.2, 0.4], [1, 2, 3])}))
    with pytest.raises(DamagedRun):
        unpack_run(packed[:cut])
