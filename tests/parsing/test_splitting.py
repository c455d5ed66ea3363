"""Several runs in one text: each is read as it would be alone, whatever the format and the damage."""

from __future__ import annotations

import random
import tarfile
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.model.run import Run
from assistant.parsing import parse_bytes, parse_text
from evals.diagnosis.cases import make
from evals.training.score import PACKED
from tests.parsing.generators import harm, verl_log
from tests.parsing.generators.makers import MAKERS, MORE, UNBROKEN

ALL = MAKERS | MORE
NO_NOISE = UNBROKEN | {
    "keras",
    "markdown",
    "json list",
    "trainer-state",
    "easyr1",
    "fairseq",
    "key-value",
    "sb3",
    "llmc",
}
"""Formats into whose events nothing else is printed here."""


def table(run: Run, line: int = 0, *, ends: bool = False) -> tuple[object, ...]:
    """What a run holds: steps, cells with their lines counted from a line on, and what is missing.

    Without its last row's if the text ends there.
    """
    last = len(run.steps) - 1 if ends else -1
    cells = {
        (key, row): (repr(value), at - line)
        for key, column in run.columns.items()
        for row, value, at in zip(column.rows, column.values, column.lines, strict=True)
        if row != last
    }
    gaps = {
        (gap.metric, gap.step, gap.line - line, gap.reason)
        for gap in run.missing
        if not ends or gap.line < run.row_lines[last]
    }
    return run.step_axis, run.steps, tuple(at - line for at in run.row_lines), cells, gaps


def runs_of(lines: Sequence[str]) -> tuple[Run, ...]:
    return harm.read([*lines, ""]).runs


def codes(run: Run) -> set[str]:
    return {note.code for note in run.warnings}


@pytest.mark.parametrize("kind", ALL)
@given(seed=st.integers(0, 10**6), noise=st.booleans())
@settings(max_examples=8, deadline=None)
def test_parse_two_runs_of_any_format_are_each_read_as_alone(kind: str, seed: int, noise: bool) -> None:
    rng = random.Random(seed)
    parts = [ALL[kind](seed + at, rng.randrange(30, 60)) for at in (0, 1)]
    if noise and kind not in NO_NOISE:
        parts = [harm.interleave(rng, part, 0.2) for part in parts]
    one, other = map(runs_of, parts)
    found = runs_of([*parts[0], *parts[1]])
    # the last line of a text that ends there is judged by all others, be they of another run
    assert [table(run, ends=True) for run in found[: len(one)]] == [table(run, ends=True) for run in one]
    behind = [table(run, len(parts[0]), ends=True) for run in found[len(one) :]]
    assert behind == [table(run, ends=True) for run in other]
    assert [run.id for run in found] == [f"r{at}" for at in range(len(found))]
    assert len({run.name for run in found}) == len(found)
    assert {run.format for run in found} == {run.format for run in one}
    assert not any("restart" in codes(run) for run in found)


@given(
    seed=st.integers(0, 10**6),
    how=st.fixed_dictionaries({name: st.booleans() for name in ("old", "ray", "colour", "noise", "crlf", "wide")}),
    cut=st.sampled_from([0, 0, 420]),
)
@settings(max_examples=80, deadline=None)
def test_parse_two_damaged_runs_of_verl_are_each_read_as_alone(seed: int, how: dict[str, bool], cut: int) -> None:
    rng = random.Random(seed)
    parts = []
    for at in (0, 1):
        lines = real(seed + at, rng.randrange(12, 40), old=how["old"])
        lines = [line[:cut] if cut and rng.random() < 0.1 and at_line else line for at_line, line in enumerate(lines)]
        lines = [verl_log.ray(line, 7 + at, colour=how["colour"]) if how["ray"] else line for line in lines]
        parts.append(harm.interleave(rng, lines, 0.2) if how["noise"] else lines)
    if how["wide"]:
        parts = [harm.wrap(part, 190) for part in parts]
    end = "\r\n" if how["crlf"] else "\n"
    found = harm.read([*parts[0], *parts[1], ""], end).runs
    alone = [harm.read([*part, ""], end).runs[0] for part in parts]
    assert [run.steps for run in found] == [run.steps for run in alone]
    assert [table(found[0]), table(found[1], len(parts[0]))][:: 2 if cut else 1] == list(map(table, alone))[
        :: 2 if cut else 1
    ]
    for run, own, line in zip(found, alone, (0, len(parts[0])), strict=True):
        assert table(run, line)[:4] == table(own)[:4]


def real(seed: int, steps: int, *, old: bool = False) -> list[str]:
    """A log whose epoch and global step are those of a training."""
    rng = random.Random(seed)
    lines = []
    for step in range(1, steps + 1):
        row = verl_log.random_row(rng, step, validate=step % 5 == 0)
        if "training/epoch" in row:
            row |= {"training/epoch": 0, "training/global_step": step}
        lines.append(verl_log.step_line(step, row, rng, old=old))
    return lines


def test_parse_two_runs_notes_tell_where_and_why_on_both_sides() -> None:
    first, second = parse_text("\n".join([*real(1, 60), *real(2, 40)]), name="train.log").runs
    assert (first.name, second.name) == ("train.log #1", "train.log #2")
    assert (len(first.steps), len(second.steps)) == (60, 40)
    (told,) = (note for note in first.warnings if note.code == "another_run")
    assert told.en == "Line 61: the step goes back from 60 to 1: what follows is taken as another run."
    (why,) = (note for note in second.warnings if note.code == "another_run")
    assert (why.en, why.line) == ("Line 61: the step goes back from 60 to 1: taken as another run.", 61)
    assert why.zh == "第 61 行：步数从 60 退回到 1，算作另一个 run。"
    assert min(second.row_lines) == 61


def test_parse_run_after_one_that_was_taken_up_again_keeps_its_restart() -> None:
    one = real(1, 60)
    runs = parse_text("\n".join([*one, *real(3, 70)[50:], *real(2, 40)])).runs
    assert [len(run.steps) for run in runs] == [80, 40]
    assert ["restart" in codes(run) for run in runs] == [True, False]


def test_parse_validation_before_the_first_step_belongs_to_its_own_run() -> None:
    validated = verl_log.random_row(random.Random(5), 0, validate=True, train=False)
    parts = [[verl_log.step_line(0, validated), *real(seed, 20)] for seed in (1, 2)]
    parts[1][0] = verl_log.step_line(0, dict(list(validated.items())[1:]))
    runs = parse_text("\n".join(line for part in parts for line in part)).runs
    assert [(run.steps[0], len(run.steps)) for run in runs] == [(0, 21), (0, 21)]


def test_parse_size_of_the_validation_goes_to_the_run_that_follows_it() -> None:
    parts = [[f"len reward_extra_infos_dict['acc']: {size}", *real(size, 9)] for size in (480, 960, 1440)]
    runs = parse_text("\n".join(line for part in parts for line in part)).runs
    assert [run.extras for run in runs] == [
        {"validation_samples": (480, 1)},
        {"validation_samples": (960, 11)},
        {"validation_samples": (1440, 21)},
    ]


def test_parse_metric_of_another_run_is_not_missing_from_a_cut_line() -> None:
    shape = "step:{0} - a/x:{0}.5 - a/y:{0}.25 - actor/z:0.125"
    one = [shape.format(step) for step in range(1, 9)]
    one[3] = one[3][: one[3].index("a/y")] + "a/"
    other = [shape.format(step).replace(".", ".7") + " - actor/only_here:0.75" for step in range(1, 9)]
    first, second = parse_text("\n".join([*one, *other, ""])).runs
    assert {gap.metric for gap in first.missing if gap.metric} <= set(first.metrics) | {"a/"}
    assert [bool(run.missing) for run in (first, second)] == [True, False]
    assert ["line_cut" in codes(run) for run in (first, second)] == [True, False]


def test_parse_copies_are_counted_in_the_run_that_has_them() -> None:
    one, other = real(1, 20), real(2, 20)
    other.insert(5, other[4])
    first, second = parse_text("\n".join([*one, *other])).runs
    assert "duplicate_lines" not in codes(first)
    (note,) = (note for note in second.warnings if note.code == "duplicate_lines")
    assert note.en.startswith("1 lines repeat")
    assert note.line == 26


def test_parse_supervised_run_before_a_reinforced_one_is_told_by_its_format() -> None:
    runs = parse_text("\n".join([*MORE["verl-sft"](1, 20), *real(2, 20)])).runs
    assert [run.format for run in runs] == ["verl-sft", "verl"]


def test_parse_large_log_of_two_runs_reads_as_the_small_one_does() -> None:
    parts = real(1, 400), real(2, 300)
    text = "\n".join(line for part in parts for line in part) + "\n"
    assert len(text) > 1 << 18
    fast = parse_bytes(text.encode(), name="x").runs
    careful = parse_text(text, name="x").runs
    assert [table(run) for run in fast] == [table(run) for run in careful]
    assert [run.warnings for run in fast] == [run.warnings for run in careful]
    assert [len(run.steps) for run in fast] == [400, 300]


def test_parse_trainings_dated_by_bars_of_different_length_are_two_runs_with_their_own_steps() -> None:
    parts = [MAKERS["trl bars"](seed, count) for seed, count in ((1, 40), (2, 30))]
    alone = [runs_of(part)[0] for part in parts]
    found = runs_of([line for part in parts for line in part])
    assert [run.step_axis for run in found] == ["step", "step"]
    assert [run.steps for run in found] == [run.steps for run in alone]


def test_parse_rows_without_steps_are_two_runs_where_the_epoch_begins_anew() -> None:
    events = [[{"loss": seed + n / 7, "epoch": round(n / 10, 2)} for n in range(1, 31)] for seed in (0, 5)]
    text = "\n".join(str(event) for part in events for event in part)
    first, second = parse_text(text).runs
    assert (first.step_axis, first.steps, second.steps) == ("index", tuple(range(30)), tuple(range(30)))
    assert second.cell("loss", 0) == replace(second.cells("loss")[0], value=5 + 1 / 7, line=31)
    assert "another_run" in codes(second)
    assert "restart" not in codes(second)


@pytest.mark.parametrize("name", ["51-grpo-resumed.log", "51-grpo-resumed.history.jsonl"])
def test_parse_training_that_was_really_taken_up_again_is_one_run(name: str) -> None:
    with tarfile.open(PACKED) as archive:
        member = archive.extractfile(name)
        assert member is not None
        (run,) = parse_bytes(member.read(), name=name).runs
    assert run.distinct_steps == tuple(range(1, 81))
    assert len(run.steps) > 80
    assert "restart" in codes(run)


@pytest.mark.parametrize("framework", ["verl", "ROLL"])
@pytest.mark.parametrize("label", ["restarts_back", "FM-38", "FM-40"])
def test_parse_simulated_restart_is_one_run(label: str, framework: str) -> None:
    for seed in range(3):
        (run,) = parse_text(make(label, seed, framework, "strong" if label[0] == "F" else None).text).runs
        assert "another_run" not in codes(run)
