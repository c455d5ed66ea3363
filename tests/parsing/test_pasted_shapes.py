"""Shapes in which people paste what a trainer printed: dicts broken by hand, lines that grep numbered."""

from __future__ import annotations

import pytest

from assistant.parsing import parse_text
from assistant.parsing.frameworks import detect_framework

BROKEN = """step 0: {'train/loss': -3.1e-07,
         'train/pg_loss': -3.1e-07,
         'train/grad_norm': 12.33173561096191,
         'train/lr-pg_0': 1e-06}
saved a checkpoint
step 1: {'train/loss': 2.4e-07,
         'train/pg_loss': 2.4e-07,
         'train/grad_norm': 14.142637252807617,
         'train/lr-pg_0': 1e-06}"""


def test_parse_dict_with_an_entry_a_line_is_read_whole() -> None:
    (run,) = parse_text(BROKEN).runs
    assert set(run.metrics) == {"train/loss", "train/pg_loss", "train/grad_norm", "train/lr-pg_0"}
    assert run.series("train/grad_norm") == ([0, 1], [12.33173561096191, 14.142637252807617])
    assert not run.missing


@pytest.mark.parametrize("mark", [":", "-"])
@pytest.mark.parametrize(
    ("line", "metric", "value"),
    [
        ("(TrainActor pid=77) [2026-07-20 17:53:24] data.py:193 - rollout 0: {'rollout/raw_reward': 0.25}",
         "rollout/raw_reward", 0.25),
        ("(TaskRunner pid=77) step:3 - actor/pg_loss:0.5 - actor/grad_norm:0.25 - critic/score/mean:0.75",
         "critic/score/mean", 0.75),
    ],
)  # fmt: skip
def test_parse_line_that_grep_numbered_is_read(line: str, metric: str, value: float, mark: str) -> None:
    (run,) = parse_text(f"4995{mark}{line}").runs
    assert run.series(metric)[1] == [value]


@pytest.mark.parametrize(
    ("keys", "framework"),
    [
        (["perf/step_time", "perf/train_wait_time"], "slime"),
        (["train/loss", "train/train_rollout_logprob_abs_diff"], "slime"),
        (["timing/step", "timing/policy_train"], "SkyRL"),
        (["ppo_actor/update/entropy/avg", "timeperf/rollout"], "AReaL"),
        (["perf/mfu/actor", "perf/throughput", "perf/max_memory_allocated_gb"], "verl"),
        (["timing/gen", "timing/update_actor"], "verl"),
        (["train/entropy_loss", "rollout/ep_rew_mean"], None),
    ],
)
def test_detect_framework_of_keys_that_share_their_paths_with_verl(keys: list[str], framework: str | None) -> None:
    assert detect_framework(keys) == framework


def test_parse_times_before_a_step_after_left_out_lines_belong_to_the_step_before_it() -> None:
    def step(n: int, loss: float) -> str:
        return (
            f"|E2E latency={n % 7 + 1}.50s |Gather latency=0.00s (0.00%) |Generate time=1.00s (40.00%) "
            f"|Training time=1.25s (50.00%) |Others=0.25 (10.00%)|CurSamplesPerSec=1.00 |AvgSamplesPerSec=1.00\n"
            f"Epoch: 0 | Step: {n} | PPO Epoch: 1 | Actor Loss: {loss} | Critic Loss: 0.1 | Unsupervised Loss: 0.0\n"
            f"Average reward score: 0.5 | EMA reward score: 0.25"
        )

    (run,) = parse_text("\n".join(step(n, n / 1000) for n in (8, 9, 400))).runs
    assert run.series("E2E latency") == ([7, 8, 399], [2.5, 3.5, 2.5])


def test_parse_list_items_of_several_pairs_below_headings_that_name_the_step() -> None:
    log = "\n\n".join(
        f"### Detailed Step {n} Metrics\n- batch/solve_none: {50 - n}, solve_all: 0, solve_partial: {14 + n}\n"
        f"- actor/grad_norm: {n}.5\n- response_length/mean: {100 + n}, response_length/max: 32768"
        for n in (1, 2)
    )
    (run,) = parse_text(log).runs
    assert run.steps == (1, 2)
    assert run.series("batch/solve_none") == ([1, 2], [49, 48])
    assert run.series("response_length/max") == ([1, 2], [32768, 32768])
    assert run.series("actor/grad_norm") == ([1, 2], [1.5, 2.5])
