import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing import parse_text
from tests.parsing.generators import harm
from tests.parsing.generators import roll_log as gen


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 6), sft=st.booleans(), start=st.booleans(), named=st.booleans())
@settings(max_examples=80, deadline=None)
def test_parse_text_generated_log_gives_the_same_cells(
    seed: int, steps: int, sft: bool, start: bool, named: bool
) -> None:
    log = gen.random_log(seed, steps, sft=sft, start=start, named=named)
    run = harm.read_one(harm.interleave(random.Random(seed), log.lines, 0.3))
    assert harm.cells(run) == harm.truth(log.rows)
    assert (run.steps, run.step_axis) == (tuple(range(steps)), "step")
    assert (run.format, run.framework, run.missing) == ("roll", "ROLL", ())


@given(seed=st.integers(0, 10**6), column=st.integers(80, 300), strip=st.booleans(), sft=st.booleans())
@settings(max_examples=150, deadline=None)
def test_parse_text_wrapped_log_gives_the_same_cells(seed: int, column: int, strip: bool, sft: bool) -> None:
    log = gen.random_log(seed, 3, sft=sft)
    run = harm.read_one(harm.wrap(log.lines, column, strip=strip))
    assert harm.cells(run) == harm.truth(log.rows)


@given(seed=st.integers(0, 10**6), cut=st.integers(0, 500), which=st.integers(0, 2))
@settings(max_examples=150, deadline=None)
def test_parse_text_line_cut_anywhere_takes_no_value_that_is_not_there(seed: int, cut: int, which: int) -> None:
    log = gen.random_log(seed, 3)
    lines = [*log.lines]
    lines[4 * which + 2] = lines[4 * which + 2][:cut]
    assert harm.cells(harm.read_one(lines)) <= harm.truth(log.rows)


def test_parse_text_validation_dict_joins_the_row_of_its_step() -> None:
    lines = [
        f"{gen.HEAD}pipeline step 7 start...",
        f"{gen.HEAD}val metrics: {{'val_correct/all/mean': 0.5, 'time/val': 3.25}}",
        gen.HEAD + json.dumps({"actor/pg_loss@sum": -0.25, "critic/score/mean": float("nan")}),
        f"{gen.HEAD}pipeline step 7 finished",
    ]
    run = harm.read_one(lines)
    assert harm.cells(run) == {
        (7, "val_correct/all/mean", "0.5"),
        (7, "time/val", "3.25"),
        (7, "actor/pg_loss@sum", "-0.25"),
        (7, "critic/score/mean", "nan"),
    }


def test_parse_text_metrics_behind_the_last_finished_line_are_the_next_step() -> None:
    lines = [
        'INFO {"actor/pg_loss@sum": 0.5, "time/step_total": 1.5}',
        "INFO pipeline step 3 finished",
        'INFO {"actor/pg_loss@sum": 0.25, "time/step_total": 1.25}',
    ]
    run = harm.read_one(lines)
    assert run.series("actor/pg_loss@sum") == ([3, 4], [0.5, 0.25])


@pytest.mark.parametrize(
    "text",
    [
        'INFO pipeline step 3 start...\nINFO {"actor_train": {"lr": 1e-06}, "a/x": "y"}\nINFO pipeline step 3 finished',
        'INFO pipeline step 3 start...\nINFO [{"a/b": 0.5}]\nINFO pipeline step 3 finished',
        'INFO pipeline step 3 start...\nINFO {"prompt": "x", "critic/score": 0.5}\nINFO pipeline step 3 finished',
    ],
)
def test_parse_text_configuration_and_rollouts_are_not_read(text: str) -> None:
    assert [run for run in parse_text(text).runs if run.format == "roll"] == []
