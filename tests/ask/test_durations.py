"""Where time goes in logs that time groups of work, or a step beside its parts."""

from __future__ import annotations

import pytest

from tests.ask.test_pasted_logs import lead, paste

GROUPS = """=== [main_r0] - METRICS STEP 6 ===
  perf/training/train_step/duration_avg_s: 9.0
  perf/training/push_weights/duration_avg_s: 21.0
  perf/training/total_duration_avg_s: 120.0
  perf/rollouts/policy_generation/duration_avg_s: 72.0
  perf/rollouts/policy_generation/duration_max_s: 95.0
  perf/rollouts/total_duration_avg_s: 80.0"""


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("[GRPO app] training takes 120 s but train_step only 9 s, where does the rest go?", "The other 90 s (75.0%)"),
        ("训练一步 120 秒，时间花在哪？", "其余 90 秒（75.0%）"),
    ],
)
def test_what_no_part_of_a_group_holds_is_told(question: str, rest: str) -> None:
    said = paste(f"{question}\n```\n{GROUPS}\n```").answer
    first = said.split("\n", 1)[0]
    assert "`push_weights` 21" in first
    assert rest in first
    assert "90.0%" in said  # generation of the rollouts


TABLE = """├──────────────── Metric Table ───────────────┤
│ Global Step:   20/120 │ Progress: ██░░░░ │   3.0% │
│ Elapsed: 00:51:04 │ Step Time: 110.5s  │
├──────────────────── Time ───────────────────┤
│actor/run_training=60.0     │sync_weights=2.0     │step=100.0    │
│generate_rollouts=36.0     │                     │            │
├───────────────── Environment ───────────────┤
│reward=0.0                  │success_once=0.0     │            │
╰─────────────────────────────────────────────╯"""


def test_largest_part_is_told_as_a_share_of_the_step() -> None:
    first = lead(f"{TABLE}\nWhere does the time go?")
    assert "`time/actor/run_training`" in first
    assert "60.0%" in first


def test_time_left_takes_the_total_of_the_table() -> None:
    first = lead(f"{TABLE}\n还要跑多久？")
    assert "100 步" in first
    assert "10,000 秒" in first


def test_title_behind_a_tag_asks() -> None:
    assert "`success_once` is 0" in lead(f"[Troubleshoot]: low success_once and reward\n{TABLE}")


def test_question_that_says_what_it_supposes_needs_no_title() -> None:
    log = "perf 4: {'perf/train_wait_time': 9.0, 'perf/train_time': 3.0, 'perf/step_time': 12.0}"
    first = lead(f"RL training is slow\n{log}\nHow much faster could a step get if the waiting were gone?")
    assert "about 3 s" in first
    assert "75.0%" in first
