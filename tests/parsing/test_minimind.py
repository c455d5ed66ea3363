import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing import parse_text
from tests.parsing.generators import harm
from tests.parsing.generators.line_logs import minimind, minimind_first


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 8), epochs=st.integers(1, 3), old=st.booleans())
@settings(max_examples=80, deadline=None)
def test_parse_text_generated_log_gives_the_same_cells(seed: int, steps: int, epochs: int, old: bool) -> None:
    log = minimind(seed, steps, epochs=epochs, old=old)
    run = harm.read_one(harm.interleave(random.Random(seed), log.lines, 0.3))
    assert harm.cells(run) == harm.truth(log.rows)
    assert (run.format, run.framework, run.step_axis, run.missing) == ("minimind", "minimind", "step", ())
    codes = [note.code for note in run.warnings]
    assert "restart" not in codes
    assert ("epochs" in codes) == (epochs > 1)


@given(seed=st.integers(0, 10**6), cut=st.integers(0, 160), which=st.integers(0, 5), old=st.booleans())
@settings(max_examples=300, deadline=None)
def test_parse_text_line_cut_anywhere_takes_no_value_that_is_not_there(
    seed: int, cut: int, which: int, old: bool
) -> None:
    log = minimind(seed, 6, old=old)
    lines = [*log.lines]
    lines[which] = lines[which][:cut]
    run = harm.read_one(lines)
    assert harm.cells(run) <= harm.truth(log.rows)
    rest = [row for at, row in enumerate(log.rows) if at != which]
    assert harm.truth(rest) <= harm.cells(run)
    if 0 < len(run.at(log.rows[which][0])) < len(log.rows[which][1]):
        assert run.missing


def test_parse_text_unit_behind_a_value_is_noted() -> None:
    run = harm.read_one(["Epoch:[1/1](5/9751), loss: 0.66, learning_rate: 0.00000004, epoch_time: 9.000min"])
    assert harm.cells(run) == {(5, "loss", "0.66"), (5, "learning_rate", "4e-08"), (5, "epoch_time", "9.0")}
    assert [note.en for note in run.warnings] == ["Units as the log prints them: epoch_time: min."]


def test_parse_text_step_goes_back_in_the_same_epoch_is_a_restart() -> None:
    lines = [f"Epoch:[1/2]({step}/100), loss: 0.{n}1" for n, step in enumerate((20, 40, 60, 40, 60))]
    run = harm.read_one(lines)
    assert run.steps == (20, 40, 60, 40, 60)
    assert [(note.code, note.line) for note in run.warnings] == [("restart", 4)]


def test_parse_text_epochs_that_count_from_zero_start_at_their_own_step() -> None:
    run = harm.read_one([f"Epoch:[{epoch}/2]({step}/40) loss:1.500 lr:0.0001" for epoch in (0, 1) for step in (0, 20)])
    assert run.steps == (0, 20, 40, 60)


@pytest.mark.parametrize(
    "head", ["\x1b[32m", "(TaskRunner pid=3) ", "[2025-01-02 03:04:05,678] [INFO] ", "SFT ", "train.log:7:"]
)
def test_parse_text_prefixed_line_is_read(head: str) -> None:
    log = minimind(3, 2)
    assert harm.cells(harm.read_one([head + line for line in log.lines])) == harm.truth(log.rows)


@pytest.mark.parametrize(
    "text",
    [
        "[DEBUG] gen[3] reward=-1.9500",
        "Epoch:[1/1](5/9751), done",
        "The line Epoch:[1/1](5/9751), loss: 0.5 was printed.",
        "Epoch [1/1], loss",
    ],
)
def test_parse_text_foreign_line_is_not_read(text: str) -> None:
    assert [run for run in parse_text(text).runs if run.format == "minimind"] == []


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 8), epochs=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_parse_text_first_ppo_lines_give_the_same_cells(seed: int, steps: int, epochs: int) -> None:
    log = minimind_first(seed, steps, epochs=epochs)
    run = harm.read_one(harm.interleave(random.Random(seed), log.lines, 0.3))
    assert harm.cells(run) == harm.truth(log.rows)
    assert (run.steps, run.missing) == (tuple(range(1, steps * epochs + 1)), ())


@given(seed=st.integers(0, 10**6), column=st.integers(50, 200), strip=st.booleans(), style=st.integers(0, 2))
@settings(max_examples=200, deadline=None)
def test_parse_text_wrapped_lines_give_the_same_cells(seed: int, column: int, strip: bool, style: int) -> None:
    log = minimind_first(seed, 5) if style == 2 else minimind(seed, 5, old=style == 1)
    run = harm.read_one(harm.wrap(log.lines, column, strip=strip))
    assert harm.cells(run) <= harm.truth(log.rows)
    lost = {(step, key) for step, key, _ in harm.truth(log.rows) - harm.cells(run)}
    assert len(lost) <= 1
    assert lost <= {(gap.step, gap.metric) for gap in run.missing}


def test_parse_text_wrapped_value_has_the_line_on_which_it_begins() -> None:
    run = harm.read_one(
        ["Epoch:[1/1](1/9), loss: 0.5, aux_loss: 0.2", "5, lr: 0.001", "", "Epoch:[1/1](2/9), loss: 0.5"]
    )
    assert [(cell.step, cell.value, cell.line) for cell in run.cells("aux_loss")] == [(1, 0.25, 1)]
    assert [(cell.step, cell.value, cell.line) for cell in run.cells("lr")] == [(1, 0.001, 2)]


def test_parse_text_number_alone_behind_one_line_is_not_put_to_it() -> None:
    run = harm.read_one(["Epoch:[1/1](5/9751), loss: 0.66, lr: 0.25", "17", "Epoch:[1/1](6/9751), loss: 0.6, lr: 0.25"])
    assert harm.cells(run) == {(5, "loss", "0.66"), (5, "lr", "0.25"), (6, "loss", "0.6"), (6, "lr", "0.25")}


def test_parse_text_line_broken_inside_an_exponent_keeps_the_number_whole() -> None:
    lines = [
        f"Epoch: 1, Step: {step}/3, Actor Loss: -0.083227, Critic Loss: 0.946215, Critic LR: 1.68e-{step:02}"
        for step in range(1, 4)
    ]
    broken = [lines[0][:-1], lines[0][-1], *(line.replace(", Critic Loss: 0.946215", "") for line in lines[1:])]
    (run,) = parse_text("\n".join(broken)).runs
    assert list(run.columns["Critic LR"].values) == [1.68e-01, 1.68e-02, 1.68e-03]
