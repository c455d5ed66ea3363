from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.model.run import Run
from assistant.parsing import parse_text

from .generators.trainer_log import trainer_state


def only_run(text: str) -> Run:
    (run,) = parse_text(text).runs
    return run


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    events=st.integers(1, 12),
    eval_every=st.sampled_from([0, 2]),
    indent=st.sampled_from([None, 2]),
)
def test_parse_text_trainer_state_gives_every_cell(seed: int, events: int, eval_every: int, indent: int | None) -> None:
    log = trainer_state(seed, events, eval_every=eval_every, indent=indent)
    run = only_run(log.text)
    assert (run.format, run.framework, run.step_axis) == ("trainer-state", "TRL", "step")
    assert [(step, repr(values)) for step, _, values in run.rows()] == [
        (step, repr(values)) for step, _, values in log.rows
    ]
    assert run.extras["train_loss"][0] == 0.5
    for metric in run.metrics:
        for cell in run.cells(metric):
            text = log.lines[cell.line - 1]
            assert f'"{metric}": {cell.value!r}' in text


def test_parse_text_bare_nan_and_infinity_are_values() -> None:
    run = only_run('{"log_history": [{"loss": NaN, "grad_norm": Infinity, "kl": -Infinity, "x": null, "step": 3}]}')
    assert repr(list(run.rows())) == "[(3, 1, {'loss': nan, 'grad_norm': inf, 'kl': -inf})]"
    assert [(gap.metric, gap.reason) for gap in run.missing] == [("x", "not_a_number")]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.floats(0, 1))
def test_parse_text_cut_file_gives_no_wrong_cell(seed: int, share: float) -> None:
    log = trainer_state(seed, 4)
    runs = parse_text(log.text[: int(share * len(log.text))]).runs
    truth = {step: values for step, _, values in log.rows}
    for run in (run for run in runs if run.format == "trainer-state"):
        for step, _, values in run.rows():
            assert all(repr(truth[step][key]) == repr(value) for key, value in values.items())


@pytest.mark.parametrize(
    "text",
    ['{"log_history": []}', '"log_history": [', '{"log_history": [{"a": {}}]}', '"log_history": [[[[', "log_history"],
)
def test_parse_text_empty_history_gives_no_run(text: str) -> None:
    assert parse_text(text).runs == ()


def test_parse_text_part_of_the_list_pasted_alone_is_read() -> None:
    text = (
        '"grad_norm": 0.5, "epoch": 0.1, "step": 5}, {"loss": 0.75, "grad_norm": 0.25, "epoch": 0.2, "step": 10}, '
        '{"eval_loss": 0.5, "epoch": 0.2, "step": 10}, {"loss": 0.625, "epoch": 0.3, "step": 15}, {"lo'
    )
    run = parse_text(text).runs[0]
    assert [(c.step, c.value) for c in run.cells("loss")] == [(10, 0.75), (15, 0.625)]
    assert [(c.step, c.value) for c in run.cells("eval_loss")] == [(10, 0.5)]


def test_parse_text_objects_without_training_keys_are_no_part_of_the_list() -> None:
    text = 'items = [{"step": 1, "title": "a"}, {"step": 2, "title": "b"}, {"step": 3, "epoch": "x"}]'
    assert not any(run.format == "trainer-state" for run in parse_text(text).runs)
