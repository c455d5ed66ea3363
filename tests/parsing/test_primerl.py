import random
from pprint import pformat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing import parse_text
from tests.parsing.generators import harm
from tests.parsing.generators.line_logs import prime, prime_first


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 8), trainer=st.booleans(), style=st.integers(0, 2))
@settings(max_examples=80, deadline=None)
def test_parse_text_generated_log_gives_the_same_cells(seed: int, steps: int, trainer: bool, style: int) -> None:
    log = prime(seed, steps, trainer=trainer, style=style)
    run = harm.read_one(harm.interleave(random.Random(seed), log.lines, 0.3))
    assert harm.cells(run) == harm.truth(log.rows)
    assert (run.format, run.framework, run.step_axis, run.missing) == ("prime-rl", "prime-rl", "step", ())


@given(seed=st.integers(0, 10**6), cut=st.integers(0, 220), which=st.integers(0, 5), trainer=st.booleans())
@settings(max_examples=300, deadline=None)
def test_parse_text_line_cut_anywhere_takes_no_value_that_is_not_there(
    seed: int, cut: int, which: int, trainer: bool
) -> None:
    log = prime(seed, 6, trainer=trainer)
    lines = [*log.lines]
    lines[which] = lines[which][:cut]
    run = harm.read_one(lines)
    last = lines[which].rpartition(" | ")[2].partition(":")[0]
    wrong = harm.cells(run) - harm.truth(log.rows)
    assert all(step == which and key == last == "Peak Mem." for step, key, _ in wrong)
    rest = [row for at, row in enumerate(log.rows) if at != which]
    assert harm.truth(rest) <= harm.cells(run)


def test_parse_text_orchestrator_and_trainer_are_two_runs() -> None:
    one, two = prime(1, 4), prime(2, 4, trainer=True)
    mixed = [line for pair in zip(one.lines, two.lines, strict=True) for line in pair]
    orchestrator, trainer = harm.read(mixed).runs
    assert harm.cells(orchestrator) == harm.truth(one.rows)
    assert harm.cells(trainer) == harm.truth(two.rows)
    assert (orchestrator.name, trainer.name) == ("pasted text (orchestrator)", "pasted text (trainer)")
    assert "two_processes" in [note.code for note in trainer.warnings]


def test_parse_text_words_without_colons_and_durations() -> None:
    run = harm.read_one(["16:00:21 SUCCESS Step 5 | 1h44m | Reward 0.43 | Mismatch KL 0.0035"])
    assert harm.cells(run) == {(5, "Reward", "0.43"), (5, "Mismatch KL", "0.0035")}


def test_parse_text_none_is_missing_not_a_number() -> None:
    run = harm.read_one(["SUCCESS Step 5 | Time: 5.23s | Reward: None | Throughput: 12.5 tokens/s"])
    assert [(gap.metric, gap.reason) for gap in run.missing] == [("Reward", "not_a_number")]


@pytest.mark.parametrize(
    "text",
    [
        "Step 1 | Install | Run",
        "| Step 5 | 0.35 | 0.1 |",
        "Step 3 | 12 apples | 5 pears",
        "We saw Step 5 | Reward: 0.5 in the log",
    ],
)
def test_parse_text_foreign_line_is_not_read(text: str) -> None:
    assert [run for run in parse_text(text).runs if run.format == "prime-rl"] == []


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 6), kind=st.sampled_from(["trainer", "orchestrator", "bars"]))
@settings(max_examples=60, deadline=None)
def test_parse_text_first_versions_give_the_same_cells(seed: int, steps: int, kind: str) -> None:
    log = prime_first(seed, steps, trainer=kind == "trainer", bars=kind == "bars")
    run = harm.read_one(harm.interleave(random.Random(seed), log.lines, 0.3))
    assert harm.cells(run) == harm.truth(log.rows)
    assert (run.format, run.missing) == ("prime-rl", ())


@given(
    seed=st.integers(0, 10**6),
    column=st.integers(60, 200),
    strip=st.booleans(),
    trainer=st.booleans(),
    style=st.integers(0, 2),
)
@settings(max_examples=200, deadline=None)
def test_parse_text_wrapped_lines_give_the_same_cells(
    seed: int, column: int, strip: bool, trainer: bool, style: int
) -> None:
    log = prime(seed, 5, trainer=trainer, style=style)
    run = harm.read_one(harm.wrap(log.lines, column, strip=strip))
    assert harm.cells(run) == harm.truth(log.rows)


def test_parse_text_micro_step_is_no_row() -> None:
    lines = [
        "16:43:08 DEBUG Micro Step 0/8 | Loss: 0.5 | Entropy: 0.25",
        "16:43:08 SUCCESS Step 3 | Time: 5.23s | Loss: 0.25",
    ]
    assert harm.cells(harm.read_one(lines)) == {(3, "Time", "5.23"), (3, "Loss", "0.25")}


@given(
    seed=st.integers(0, 10**6),
    steps=st.integers(1, 8),
    trainer=st.booleans(),
    front=st.sampled_from(["", "lines = ", "(Orchestrator pid=3) "]),
    pretty=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_parse_text_printed_list_of_lines_gives_the_same_cells(
    seed: int, steps: int, trainer: bool, front: str, pretty: bool
) -> None:
    log = prime(seed, steps, trainer=trainer, style=seed % 3)
    items = [f"\x1b[32m{line}\x1b[0m" if seed % 2 else line for line in ["it's a start", *log.lines]]
    shown = pformat(items, width=1000) if pretty else str(items)
    run = harm.read_one((front + shown).split("\n"))
    assert harm.cells(run) == harm.truth(log.rows)
    assert (run.format, run.lines.not_understood) == ("prime-rl", 0)
