"""A dictionary on one line beside a list of paths: one row."""

from __future__ import annotations

import pytest

from assistant.model import Run
from assistant.service import Source, service

DICT = "{'timing_s/step': '200.0', 'timing_s/gen': '50.0', 'timing_s/update_actor': '120.0'}"
LIST = "critic/rewards/mean: 0.31\nactor/pg_loss: 0.02\nactor/grad_norm: 0.8\nresponse_length/mean: 640.5"


def runs(text: str) -> tuple[Run, ...]:
    return tuple(service().read([Source("paste.txt", text)]).runs)


@pytest.mark.parametrize(
    "text", [f"{LIST}\n{DICT}", f"{DICT}\n\n{LIST}\n", f"my step:\n\n```text\n{LIST}\n```\n{DICT}"]
)
def test_list_beside_a_dictionary_is_the_same_row(text: str) -> None:
    (run,) = runs(text)
    assert run.value("timing_s/gen", 0) == 50.0
    assert run.value("response_length/mean", 0) == 640.5
    assert len(run.metrics) == 7


def test_pairs_on_one_line_beside_a_dictionary() -> None:
    timed = "{'timing/step': '200.0', 'timing/generate': '50.0', 'timing/policy_train': '120.0'}"
    (run,) = runs(f"reward/avg_pass_at_4: 0.7, reward/avg_raw_reward: -0.1, reward/mean_positive_reward: 0.4\n{timed}")
    assert run.value("reward/avg_raw_reward", 0) == -0.1
    assert run.value("timing/step", 0) == 200.0


def test_list_with_a_step_dates_a_validation_without_one() -> None:
    (run,) = runs(f"Final validation metrics: {{'val/test_score/nq': 0.25}}\n\ntraining/global_step: 8\n{LIST}")
    assert run.value("val/test_score/nq", 8) == 0.25
    assert run.value("critic/rewards/mean", 8) == 0.31


@pytest.mark.parametrize("beside", ["lr: 1e-6\nbatch_size: 64\nreward: 1.0", "note: 3\nscore: 2"])
def test_plain_names_beside_a_dictionary_are_no_metrics(beside: str) -> None:
    (run,) = runs(f"{beside}\n{DICT}")
    assert set(run.metrics) == {"timing_s/step", "timing_s/gen", "timing_s/update_actor"}


def test_list_beside_a_dated_row_is_left() -> None:
    found = runs(f"step:5 - critic/score/mean:0.4 - actor/lr:1e-06\n{LIST}")
    assert all(run.value("response_length/mean", 5) is None for run in found)
