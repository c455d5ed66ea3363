import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing import parse_text
from tests.parsing.generators import harm
from tests.parsing.generators import openrlhf_log as gen


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 6), prefix=st.booleans())
@settings(max_examples=60, deadline=None)
def test_parse_text_generated_log_gives_the_same_cells(seed: int, steps: int, prefix: bool) -> None:
    log = gen.random_log(seed, steps, prefix=prefix)
    run = harm.read_one(log.lines)
    assert harm.cells(run) == harm.truth(log.rows)
    assert (run.steps, run.step_axis) == (tuple(range(1, steps + 1)), "global_step")
    assert (run.format, run.framework, run.missing) == ("openrlhf", "OpenRLHF", ())


@given(seed=st.integers(0, 10**6), column=st.integers(80, 300), strip=st.booleans())
@settings(max_examples=150, deadline=None)
def test_parse_text_wrapped_and_interleaved_log_gives_the_same_cells(seed: int, column: int, strip: bool) -> None:
    log = gen.random_log(seed, 4)
    noisy = harm.interleave(random.Random(seed), log.lines, 0.3)
    run = harm.read_one(harm.wrap(noisy, column, strip=strip))
    assert harm.cells(run) == harm.truth(log.rows)


@given(seed=st.integers(0, 10**6), cut=st.integers(0, 500), which=st.integers(0, 20))
@settings(max_examples=200, deadline=None)
def test_parse_text_line_cut_anywhere_takes_no_value_that_is_not_there(seed: int, cut: int, which: int) -> None:
    log = gen.random_log(seed, 4)
    lines = [*log.lines]
    lines[which % len(lines)] = lines[which % len(lines)][:cut]
    assert harm.cells(harm.read_one(lines)) <= harm.truth(log.rows)


@pytest.mark.parametrize("what", ["Train epoch [1/1]", "Episode [{}/{}]"])
@given(seed=st.integers(0, 10**6), rounds=st.integers(1, 3), total=st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_parse_text_progress_bars_give_one_row_a_batch(what: str, seed: int, rounds: int, total: int) -> None:
    log, text = gen.random_bars(seed, what, rounds, total)
    (run,) = parse_text(text).runs
    assert harm.cells(run) == harm.truth(log.rows)
    assert (run.format, run.step_axis) == ("openrlhf-bars", "batch")
    assert [note.code for note in run.warnings] == (["counted_on"] if rounds > 1 else [])


def test_parse_text_last_states_of_bars_count_the_batches_of_all_bars() -> None:
    lines = [gen.bar("Train epoch [1/1]", 16, 16, f"pg=0.{n}, kl=0.01") for n in (1, 2)]
    run = harm.read_one(lines)
    assert harm.cells(run) == {(16, "pg", "0.1"), (16, "kl", "0.01"), (32, "pg", "0.2"), (32, "kl", "0.01")}


def test_parse_text_bar_cut_in_a_value_leaves_the_value_out() -> None:
    lines = [gen.bar("Train epoch [1/1]", n, 3, f"pg=0.{n}, kl=0.01{n}") for n in (1, 2, 3)]
    lines[1] = lines[1][:-3]
    run = harm.read_one(lines)
    assert run.value("kl", 2) is None
    assert [(gap.metric, gap.reason) for gap in run.missing] == [("kl", "half_value")]


def test_parse_text_bars_beside_logged_dicts_are_noise() -> None:
    log = gen.random_log(1, 2)
    lines = [gen.bar("Train epoch [1/1]", 2, 2, "pg=0.5, kl=0.1"), *log.lines]
    assert harm.cells(harm.read_one(lines)) == harm.truth(log.rows)


@pytest.mark.parametrize(
    "text",
    [
        "Global step 1: done",
        "✨ Global step 1: {}",
        "Train epoch [1/1]: 100%|██████████| 16/16 [00:10<00:00,  1.5it/s]",
        "I saw 'Global step 1: {'kl': 0.5}' in the log",
    ],
)
def test_parse_text_foreign_line_is_not_read(text: str) -> None:
    assert parse_text(text).runs == ()


def test_parse_text_means_behind_the_bars_make_a_run() -> None:
    bar = (
        "Train epoch [1/1]: 100%|###| 16/16 [00:37<00:00,  2.37s/it, pg={}, lr=tensor(5.4e-07, device='cuda:0'), kl=0]"
    )
    dicts = [f"{{'policy_loss': {loss}, 'kl': nan, 'actor_lr': 5e-07}}" for loss in (-0.0078, 0.25)]
    means, batches = harm.read([bar.format(0.5), dicts[0], bar.format(0.25), dicts[1]]).runs
    assert harm.cells(means) == {
        (step, key, value)
        for step, loss in enumerate(("-0.0078", "0.25"))
        for key, value in (("policy_loss", loss), ("kl", "nan"), ("actor_lr", "5e-07"))
    }
    assert (means.step_axis, batches.step_axis, batches.steps) == ("index", "batch", (16, 32))
    assert {key: cell.value for key, cell in batches.at(32).items()} == {"pg": 0.25, "lr": 5.4e-07, "kl": 0}
