import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing import parse_text
from tests.parsing.generators import harm
from tests.parsing.generators.easyr1_log import random_log

CONFIG = """Config
algorithm:
  adv_estimator: grpo
  kl_coef: 0.01
  gamma: 1.0
worker:
  actor:
    clip_ratio: 0.2
    entropy_coeff: 0.001
    optim:
      lr: 1.0e-06
trainer:
  n_gpus_per_node: 8
  logger:
  - console
  - wandb"""
ASIDE = (
    "(WorkerDict pid=77) INFO 03-05 12:00:00 [block_pool.py:322] loss: 0.5",
    "(WorkerDict pid=77) Step 9",
    "(WorkerDict pid=77) critic:",
    "(WorkerDict pid=78)   mean: 0.75",
    "Running step:   1%|▏         | 1/60 [05:02<4:57:01, 302.06s/it]",
    "(raylet) Spilled 2048 MiB, 12 objects",
)


@given(seed=st.integers(0, 10**6), steps=st.integers(1, 6), val=st.integers(0, 2), ray=st.booleans())
@settings(max_examples=100, deadline=None)
def test_parse_text_generated_log_gives_one_row_a_step(seed: int, steps: int, val: int, ray: bool) -> None:
    log = random_log(seed, steps, val_every=val, process="Runner pid=4711" if ray else "")
    run = harm.read_one([*CONFIG.splitlines(), *log.lines])
    assert harm.cells(run) == harm.truth(log.rows)
    assert run.steps == tuple(step for step, _ in log.rows)
    assert (run.format, run.framework, run.step_axis, run.missing) == ("easyr1", "EasyR1", "step", ())


@given(seed=st.integers(0, 10**6), colour=st.booleans())
@settings(max_examples=100, deadline=None)
def test_parse_text_other_processes_between_the_lines_change_nothing(seed: int, colour: bool) -> None:
    rng = random.Random(seed)
    log = random_log(seed, 3)
    lines = []
    for line in log.lines:
        lines += rng.choices(ASIDE, k=rng.choice([0, 0, 1, 3]))
        lines.append(harm.ray(line, task="Runner", colour=colour))
    run = harm.read_one(lines)
    assert harm.cells(run) == harm.truth(log.rows)


@given(seed=st.integers(0, 10**6), cut=st.integers(1, 10**6), ray=st.booleans())
@settings(max_examples=200, deadline=None)
def test_parse_text_cut_anywhere_takes_no_value_that_is_not_there(seed: int, cut: int, ray: bool) -> None:
    log = random_log(seed, 3, process="Runner pid=4711" if ray else "")
    text = "\n".join(log.lines)
    first = text.index("Step 2")
    text = text[: first + cut % (len(text) - first)]
    (run,) = parse_text(text).runs
    last = text.rpartition("\n")[2].strip().partition(":")[0].rpartition(" ")[2]
    assert all(key == "timing_s/step" and last == "step" for _, key, _ in harm.cells(run) - harm.truth(log.rows))
    assert harm.truth(log.rows[:1]) <= harm.cells(run)
    read = sum(len(run.at(step)) for step in run.steps)
    assert run.missing or read in {len(log.rows[0][1]) * steps for steps in (1, 2, 3)} or text.endswith(("\n", " "))


def test_parse_text_question_behind_the_block_is_no_key() -> None:
    lines = ["Step 1", "critic:", "  advantages:", "    mean: 0.1"]
    for more in ([], ["What is this?"], ["thanks"]):
        run = harm.read_one([*lines, *more])
        assert harm.cells(run) == {(1, "critic/advantages/mean", "0.1")}
        assert run.missing == ()


def test_parse_text_value_that_is_no_number_is_missing() -> None:
    lines = [
        "Step 1",
        "actor:",
        "  pg_loss: !!python/object/apply:numpy.core.multiarray.scalar",
        "  - &id001 !!python/object/apply:numpy.dtype",
        "    args:",
        "    - f8",
        "  - !!binary |",
        "    mpmZmZmZuT8=",
        "  entropy_loss: 0.5",
    ]
    run = harm.read_one([*lines, ""])
    assert harm.cells(run) == {(1, "actor/entropy_loss", "0.5")}
    assert [(gap.metric, gap.reason) for gap in run.missing] == [("actor/pg_loss", "not_a_number")]


@pytest.mark.parametrize(
    "text",
    [
        CONFIG,
        CONFIG.replace("Config", "Step 1"),
        "Step 1\nactor:\n  lr: 1.0e-06\n  name: adam",
        "Step 1\nmodel:\n  loss: 0.5",
        "Step 1\nOpen the file\nactor:\n  entropy_loss: 0.5",
        "Step 1: actor\nactor:\n  entropy_loss: 0.5",
        "Step 1\n\nactor:\n  entropy_loss: 0.5",
    ],
)
def test_parse_text_configuration_or_instruction_is_not_read(text: str) -> None:
    assert [run for run in parse_text(text).runs if run.format == "easyr1"] == []
