import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing import parse_text
from tests.parsing.generators import harm
from tests.parsing.generators import slime_log as gen


@given(
    seed=st.integers(0, 10**6),
    rollouts=st.integers(1, 4),
    per=st.integers(1, 3),
    prefix=st.booleans(),
    crlf=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_parse_text_generated_log_gives_a_run_of_steps_and_a_run_of_rollouts(
    seed: int, rollouts: int, per: int, prefix: bool, crlf: bool
) -> None:
    log = gen.random_log(seed, rollouts, per, prefix=prefix)
    steps, rolls = harm.read(log.lines, "\r\n" if crlf else "\n").runs
    assert harm.cells(steps) == harm.truth(log.steps)
    assert harm.cells(rolls) == harm.truth(log.rollouts)
    assert (steps.id, steps.step_axis, rolls.id, rolls.step_axis) == ("r0", "step", "r1", "rollout")
    assert (steps.name, rolls.name) == ("pasted text (train steps)", "pasted text (rollouts)")
    assert {run.framework for run in (steps, rolls)} == {"slime"}
    assert steps.missing == rolls.missing == ()
    assert all("two_axes" in [note.code for note in run.warnings] for run in (steps, rolls))


@given(seed=st.integers(0, 10**6), column=st.integers(60, 300), strip=st.booleans(), prefix=st.booleans())
@settings(max_examples=200, deadline=None)
def test_parse_text_wrapped_log_gives_the_same_cells(seed: int, column: int, strip: bool, prefix: bool) -> None:
    log = gen.random_log(seed, 3, prefix=prefix)
    steps, rolls = harm.read(harm.wrap(log.lines, column, strip=strip)).runs
    assert harm.cells(steps) == harm.truth(log.steps)
    assert harm.cells(rolls) == harm.truth(log.rollouts)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_parse_text_other_output_between_the_lines_changes_nothing(seed: int) -> None:
    log = gen.random_log(seed, 3)
    steps, rolls = harm.read(harm.interleave(random.Random(seed), log.lines)).runs
    assert harm.cells(steps) == harm.truth(log.steps)
    assert harm.cells(rolls) == harm.truth(log.rollouts)


@given(seed=st.integers(0, 10**6), cut=st.integers(0, 900), which=st.integers(0, 30))
@settings(max_examples=300, deadline=None)
def test_parse_text_line_cut_anywhere_takes_no_value_that_is_not_there(seed: int, cut: int, which: int) -> None:
    log = gen.random_log(seed, 3, prefix=False)
    which %= len(log.lines)
    lines = [*log.lines]
    lines[which] = lines[which][:cut]
    found = set().union(*(harm.cells(run) for run in harm.read(lines).runs))
    whole = harm.truth(log.steps) | harm.truth(log.rollouts)
    assert found <= whole
    assert {cell for cell in whole if cell not in found and f"'{cell[1]}'" not in log.lines[which]} == set()


def test_parse_text_cut_dict_lists_the_missing_metrics() -> None:
    lines = [
        f"step {step}: {{'train/loss': 0.25, 'train/ppo_kl': 0.125, 'train/grad_norm': 1.5}}" for step in (0, 1, 2)
    ]
    lines[1] = lines[1][: lines[1].index("125")]
    run = harm.read_one(lines)
    assert run.at(1).keys() == {"train/loss"}
    assert [(gap.metric, gap.reason) for gap in run.missing] == [
        ("train/ppo_kl", "half_value"),
        ("train/grad_norm", "line_cut"),
    ]


def test_parse_text_nan_none_and_nested_values() -> None:
    run = harm.read_one(
        ["rollout 7: {'rollout/raw_reward': nan, 'rollout/x': None, 'rollout/y': [1, 2], 'rollout/z': -inf}"]
    )
    assert harm.cells(run) == {(7, "rollout/raw_reward", "nan"), (7, "rollout/z", "-inf")}
    assert [(gap.metric, gap.reason) for gap in run.missing] == [("rollout/x", "not_a_number")]
    assert run.step_axis == "rollout"


def test_parse_text_several_ranks_that_print_the_same_are_one_row_with_a_note() -> None:
    line = "step 0: {'train/loss': 0.25, 'train/grad_norm': 1.5}"
    run = harm.read_one([harm.ray(line, 11), harm.ray(line, 12, colour=True), harm.ray(line, 13)])
    assert run.steps == (0,)
    assert [note.code for note in run.warnings] == ["duplicate_lines"]
    assert run.lines.taken == 3


def test_parse_text_critic_role_is_its_own_kind_of_line() -> None:
    run = harm.read_one(["critic-step 0: {'train/critic-value_loss': 0.5}", "step 0: {'train/loss': 0.25}"])
    assert harm.cells(run) == {(0, "train/critic-value_loss", "0.5"), (0, "train/loss", "0.25")}


def test_parse_text_restart_keeps_both_rows_and_notes_it() -> None:
    lines = [f"step {step}: {{'train/loss': 0.{n + 1}}}" for n, step in enumerate((0, 1, 2, 1, 2))]
    run = harm.read_one(lines)
    assert run.steps == (0, 1, 2, 1, 2)
    assert [(note.code, note.line) for note in run.warnings] == [("restart", 4)]


@pytest.mark.parametrize(
    "text",
    [
        "step 1: {'loss_coef': 0.1, 'lr': 1e-06}",
        "The model wrote step 1: {'train/loss': 0.1} in its answer.",
        "config rollout 0: {'rollout/batch': 32}",
        "text = \"step 1: {'train/loss': 0.1}\"",
        "rollout 1: {'prompt': 'a/b', 'answer': '4'}",
        "step 1: {}",
        "rollout 1: {'rollout/raw_reward': 0.",
    ],
)
def test_parse_text_foreign_line_is_not_read(text: str) -> None:
    assert [run for run in parse_text(text).runs if run.format == "slime"] == []
