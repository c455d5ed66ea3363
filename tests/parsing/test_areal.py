import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing import parse_text
from tests.parsing.generators import areal_log as gen
from tests.parsing.generators import harm


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 4), count=st.integers(1, 30), parts=st.integers(1, 2))
@settings(max_examples=80, deadline=None)
def test_parse_text_generated_log_gives_one_row_a_step(seed: int, steps: int, count: int, parts: int) -> None:
    log = gen.random_log(seed, steps, count=count, parts=parts)
    run = harm.read_one(harm.interleave(random.Random(seed), log.lines, 0.2))
    assert harm.cells(run) == harm.truth(log.rows)
    assert (run.steps, run.step_axis) == (tuple(range(1, steps + 1)), "step")
    assert (run.format, run.framework, run.missing) == ("areal", "AReaL", ())


@given(seed=st.integers(0, 10**6), column=st.integers(40, 260), strip=st.booleans())
@settings(max_examples=150, deadline=None)
def test_parse_text_wrapped_tables_give_the_same_cells(seed: int, column: int, strip: bool) -> None:
    log = gen.random_log(seed, 2)
    head = [line for line in log.lines if line.startswith(gen.HEAD)]
    lines = [
        part for line in log.lines for part in ([line] if line in head else harm.wrap([line], column, strip=strip))
    ]
    assert harm.cells(harm.read_one(lines)) == harm.truth(log.rows)


@given(seed=st.integers(0, 10**6), stop=st.integers(0, 3000))
@settings(max_examples=200, deadline=None)
def test_parse_text_paste_that_stops_anywhere_takes_no_value_that_is_not_there(seed: int, stop: int) -> None:
    log = gen.random_log(seed, 2)
    text = "\n".join(log.lines)
    for run in harm.read(text[: min(stop, len(text))].split("\n")).runs:
        assert harm.cells(run) <= harm.truth(log.rows)


def test_parse_text_prefixed_and_coloured_tables_are_read() -> None:
    log = gen.random_log(5, 2)
    for lines in (
        [harm.ray(line, colour=True) for line in log.lines],
        [f"\x1b[37m{line}\x1b[0m" for line in log.lines],
    ):
        assert harm.cells(harm.read_one(lines)) == harm.truth(log.rows)


def test_parse_text_half_row_at_the_end_is_missing() -> None:
    log = gen.random_log(5, 2)
    rows = [at for at, line in enumerate(log.lines) if line.startswith("│")]
    lines = log.lines[: rows[4] + 1]
    key = "ppo_actor/update/metric_0_4/avg"
    lines[-1] = lines[-1][: lines[-1].index(key) + len(key) + 6]
    run = harm.read_one(lines)
    assert run.value("ppo_actor/update/metric_0_1/avg", 2) is not None
    gaps = {gap.metric: gap.reason for gap in run.missing if gap.step == 2}
    assert gaps[key] == "half_value"
    assert gaps["ppo_actor/update/metric_0_7/avg"] == "line_cut"


def test_parse_text_tables_without_step_lines_are_counted() -> None:
    lines = [*gen.table({"ppo_actor/loss": "1.0000e-01"}), *gen.table({"ppo_actor/loss": "2.0000e-01"})]
    run = harm.read_one(lines)
    assert (run.step_axis, run.series("ppo_actor/loss")) == ("index", ([0, 1], [0.1, 0.2]))


def test_parse_text_rows_picked_out_of_a_log_are_read_behind_a_step_line() -> None:
    log = gen.random_log(5, 3)
    lines = [line for line in log.lines if line.startswith("│") or "Train step" in line]
    assert harm.cells(harm.read_one(lines)) == harm.truth(log.rows)
    short = ["Train step 2/9 done.", "│ ppo_actor/loss │ 1.0000e-01 │", "│ a/b │ nan │ c/d │ 2.0000e+00 │"]
    assert harm.cells(harm.read_one(short)) == {
        (2, "ppo_actor/loss", "0.1"),
        (2, "a/b", "nan"),
        (2, "c/d", "2.0"),
    }


@pytest.mark.parametrize(
    "lines",
    [
        gen.table({"name": "value", "x": "12"}),
        gen.table({"learning rate": "1e-6", "batch size": "64"}),
        ["│ ppo_actor/loss │ 1.0000e-01 │"],
        ["╒════╕", "│ x │"],
    ],
)
def test_parse_text_other_tables_are_not_read(lines: list[str]) -> None:
    assert [run for run in parse_text("\n".join(lines)).runs if run.format == "areal"] == []


FINISHED = (
    "(master_worker/0 pid=96, ip=10.0.0.1) 20250222-11:11:56.997 master worker INFO: Epoch 1/1 step {0}/19 "
    "(global step {0}) finishes. Average #tokens per batch is 111847. #End to end# execution time: *2124.429*s. "
    "Total time consumption: 2283.862s. "
)
RETURNS = (
    "(master_worker/0 pid=96, ip=10.0.0.1) 20250222-11:11:56.991 master worker INFO: RPC name actor_train returns {}"
)
SPENT = {
    "Average #tokens per batch": 111847,
    "#End to end# execution time": 2124.429,
    "Total time consumption": 2283.862,
}


@pytest.mark.parametrize("apart", [False, True])
def test_parse_text_first_versions_give_one_row_a_step(apart: bool) -> None:
    rows = [{"actor_loss": 1.1e-06, "task_reward": -0.25}, {"actor_loss": float("nan"), "task_reward": 0.5}]
    calls = [RETURNS.format(row) for row in rows]
    ends = [FINISHED.format(step) for step in (1, 2)]
    run = harm.read_one([*ends, *calls] if apart else [calls[0], ends[0], calls[1], ends[1]])
    assert harm.cells(run) == harm.truth([(step, row | SPENT) for step, row in enumerate(rows, 1)])
    assert (run.steps, run.step_axis, run.format) == ((1, 2), "step", "areal")
    assert ("steps_inferred" in [note.code for note in run.warnings]) == apart
