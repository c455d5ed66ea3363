from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.model.run import Run
from assistant.parsing import parse_text

from .generators.trainer_log import Log, llama_factory, swift
from .generators.verl_log import wrap


def only_run(text: str) -> Run:
    (run,) = parse_text(text).runs
    return run


def assert_rows(run: Run, log: Log) -> None:
    assert [(step, line, repr(values)) for step, line, values in run.rows()] == [
        (step, line, repr(values)) for step, line, values in log.rows
    ]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), events=st.integers(1, 20))
def test_parse_text_llama_factory_log_gives_every_cell(seed: int, events: int) -> None:
    log = llama_factory(seed, events)
    run = only_run(log.text)
    assert_rows(run, log)
    assert (run.format, run.framework, run.step_axis) == ("llamafactory-jsonl", "LLaMA-Factory", "current_steps")
    assert run.missing == ()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), events=st.integers(1, 20))
def test_parse_text_ms_swift_log_gives_every_cell(seed: int, events: int) -> None:
    log = swift(seed, events)
    run = only_run(log.text)
    assert_rows(run, log)
    assert (run.format, run.framework, run.step_axis) == ("ms-swift-jsonl", "ms-swift", "global_step/max_steps")
    assert run.missing == ()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), width=st.integers(40, 200))
def test_parse_text_hard_wrapped_json_lines_give_every_cell(seed: int, width: int) -> None:
    log = swift(seed, 5)
    run = only_run("\n".join(piece for line in log.lines for piece in wrap(line, width)))
    assert [repr(values) for _, _, values in run.rows()] == [repr(row) for _, _, row in log.rows]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.floats(0, 0.999))
def test_parse_text_cut_last_line_gives_no_wrong_cell(seed: int, share: float) -> None:
    log = llama_factory(seed, 4)
    log.lines[-1] = log.lines[-1][: int(share * len(log.lines[-1]))]
    run = only_run(log.text)
    truth = {line: row for _, line, row in log.rows}
    for _, line, values in run.rows():
        assert all(repr(truth[line][key]) == repr(value) for key, value in values.items())
    assert len(run.steps) >= 3


def test_parse_text_null_is_missing_only_where_a_number_is_usual() -> None:
    rows = [{"current_steps": at, "total_steps": 9, "loss": at / 7, "eval_loss": None} for at in (1, 2, 3)]
    rows[1]["loss"] = None
    run = only_run("\n".join(map(json.dumps, rows)))
    assert [(gap.metric, gap.step, gap.reason, gap.detail) for gap in run.missing] == [
        ("loss", 2, "not_a_number", "null")
    ]
    assert run.metrics == ("total_steps", "loss")


def test_parse_text_nan_ellipsis_and_evaluation_lines_understood() -> None:
    text = (
        '{"current_steps": 5, "total_steps": 10, "loss": NaN, "lr": 1e-05, "epoch": 0.5}\n...\n'
        '{"current_steps": 10, "total_steps": 10, "loss": 0.25, "lr": 0.0, "epoch": 1.0}\n'
        '{"current_steps": 10, "total_steps": 10, "eval_loss": 0.5, "epoch": 1.0}\n'
    )
    run = only_run(text)
    assert repr(list(run.rows())) == (
        "[(5, 1, {'total_steps': 10, 'loss': nan, 'lr': 1e-05, 'epoch': 0.5}), "
        "(10, 3, {'total_steps': 10, 'loss': 0.25, 'lr': 0.0, 'epoch': 1.0, 'eval_loss': 0.5})]"
    )
    cell = run.cell("eval_loss", 10)
    assert cell is not None
    assert cell.line == 4


def test_parse_text_ms_swift_summary_is_no_row() -> None:
    log = swift(3, 3)
    closing = {"train_runtime": 12.5, "train_loss": 0.5, "epoch": 1.0, "global_step/max_steps": "3/3"}
    history = {"best_metric": 0.5, "log_history": [{"loss": 9.0, "step": 1}], "memory": 3.5}
    run = only_run(log.text + json.dumps(closing) + "\n" + json.dumps(history) + "\n")
    assert_rows(run, log)
    assert run.extras["train_loss"] == (0.5, 4)


@pytest.mark.parametrize(
    "text", ['{"current_steps": 1', '"current_steps" "total_steps"', '{"a": {"current_steps": 1}}']
)
def test_parse_text_no_event_gives_no_run(text: str) -> None:
    assert parse_text(text).runs == ()
