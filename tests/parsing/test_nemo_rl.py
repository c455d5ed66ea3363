import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing import parse_text
from tests.parsing.generators import harm
from tests.parsing.generators import nemo_rl_log as gen

UNPROVABLE = {"Validation/Accuracy", "Validation/Average response length", "Validation/Samples processed"}
"""What stands first or alone in its list: where a paste stops in it, nothing tells that digits are missing."""


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 4), epochs=st.integers(1, 3), validate=st.booleans())
@settings(max_examples=80, deadline=None)
def test_parse_text_generated_log_gives_one_row_a_step(seed: int, steps: int, epochs: int, validate: bool) -> None:
    log = gen.random_log(seed, steps, epochs=epochs, validate=validate)
    run = harm.read_one(harm.interleave(random.Random(seed), log.lines, 0.2))
    assert harm.cells(run) == harm.truth(log.rows)
    assert run.steps == tuple(step for step, _ in log.rows)
    assert (run.format, run.framework, run.step_axis, run.missing) == ("nemo-rl", "NeMo-RL", "step", ())
    assert ("epochs" in [note.code for note in run.warnings]) == (epochs > 1)


@given(seed=st.integers(0, 10**6), how=st.sampled_from(["ray", "ansi", "wrap", "crlf"]))
@settings(max_examples=40, deadline=None)
def test_parse_text_damaged_log_gives_the_same_cells(seed: int, how: str) -> None:
    log = gen.random_log(seed, 3)
    lines, end = log.lines, "\n"
    if how == "ray":
        lines = [harm.ray(line, colour=True) for line in lines]
    elif how == "ansi":
        lines = [f"\x1b[1m{line}\x1b[0m" if line else line for line in lines]
    elif how == "wrap":
        lines = harm.wrap(lines, 80, strip=True)
    else:
        end = "\r\n"
    assert harm.cells(harm.read_one(lines, end)) == harm.truth(log.rows)


@given(seed=st.integers(0, 10**6), stop=st.integers(200, 6000))
@settings(max_examples=200, deadline=None)
def test_parse_text_paste_that_stops_anywhere_takes_no_value_that_is_not_there(seed: int, stop: int) -> None:
    log = gen.random_log(seed, 4)
    text = "\n".join(log.lines)
    for run in harm.read(text[: min(stop, len(text))].split("\n")).runs:
        wrong = harm.cells(run) - harm.truth(log.rows)
        assert {key for _, key, _ in wrong} <= UNPROVABLE


def test_parse_text_block_before_the_first_banner_goes_to_the_step_before_it() -> None:
    log = gen.random_log(3, 4, validate=False)
    start = log.lines.index("📊 Training Results:", log.lines.index(f"{gen.EQUALS} Step 2/4 {gen.EQUALS}"))
    run = harm.read_one(log.lines[start:])
    assert harm.cells(run) == harm.truth(log.rows[1:])
    assert "steps_inferred" in [note.code for note in run.warnings]


def test_parse_text_results_without_any_banner_are_counted() -> None:
    lines = ["📊 Training Results:", "  • Loss: 0.5000", "", "📊 Training Results:", "  • Loss: 0.2500"]
    run = harm.read_one(lines)
    assert (run.step_axis, run.series("Loss")) == ("index", ([0, 1], [0.5, 0.25]))


def test_parse_text_value_that_is_none_is_missing() -> None:
    banner = f"{gen.EQUALS} Step 7/9 {gen.EQUALS}"
    run = harm.read_one([banner, "Training Results:", "  • Loss: 0.5000", "  • Avg Reward: None"])
    assert [(gap.metric, gap.step, gap.reason) for gap in run.missing] == [("Avg Reward", 7, "not_a_number")]


@pytest.mark.parametrize(
    "text",
    [
        "  • Loss: 0.5000\n  • Avg Reward: 0.1",
        "⏱️  Timing:\n  • Total step time: 12.30s",
        "My Training Results: good\n  • Loss: 0.5000",
        "📊 Training Results:\n\n  • Loss: 0.5000",
        "📊 Training Results:\nLoss: 0.5000",
    ],
)
def test_parse_text_foreign_lists_are_not_read(text: str) -> None:
    assert [run for run in parse_text(text).runs if run.format == "nemo-rl"] == []


@given(seed=st.integers(0, 10**6), column=st.integers(64, 90))
@settings(max_examples=100, deadline=None)
def test_parse_text_wrapped_items_give_the_same_cells(seed: int, column: int) -> None:
    long = "prepare_for_generation/transfer_and_update_weights_between_workers"
    log = gen.random_log(seed, 3)
    lines = harm.wrap([line.replace("prepare_for_generation/total", long) for line in log.lines], column)
    rows = [
        (step, {key.replace("prepare_for_generation/total", long): v for key, v in row.items()})
        for step, row in log.rows
    ]
    assert harm.cells(harm.read_one(lines)) == harm.truth(rows)


def test_parse_text_results_of_a_named_set_and_two_blanks_are_read() -> None:
    lines = [
        "========================= Step 3/9 =========================",
        "📊 Validation Results for `math` set:",
        "    • Validation accuracy: 0.5000",
        "",
        "📊 Training Results:",
        "  • Loss: nan",
        "  • Avg Reward:  12.5000",
    ]
    assert harm.cells(harm.read_one(lines)) == {
        (3, "Validation/math/Validation accuracy", "0.5"),
        (3, "Loss", "nan"),
        (3, "Avg Reward", "12.5"),
    }
