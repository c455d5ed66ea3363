"""Metric tables that trainers print by themselves: sections of cells, and blocks below a banner of metrics."""

from __future__ import annotations

import pytest

from assistant.parsing import parse_text
from assistant.parsing.prose import is_prose

TABLE = """╭─────────────────────────────────────────────╮
├──────────────── Metric Table ───────────────┤
│ Global Step:   {0}/400 │ Progress: ██░░░░ │   3.0% │
│ Elapsed: 00:51:04 │ ETA: 20:16:12 │ Step Time: {1}s  │
├──────────────────── Time ───────────────────┤
│                                             │
│actor/run_training=80.5     │sync_weights=2.25     │step={2}    │
├───────────────── Environment ───────────────┤
│reward=0.5                  │success_once=0.25     │            │
├─────────────────── Rollout ─────────────────┤
│returns_min=-0.75           │advantages_mean=-6.5e-08 │         │
╰─────────────────────────────────────────────╯"""


def test_metric_table_is_read_by_its_global_step() -> None:
    text = "\n".join(TABLE.format(step, whole, whole - 5) for step, whole in ((12, 150.5), (13, 149.5)))
    (run,) = parse_text(text).runs
    assert run.distinct_steps == (12, 13)
    assert tuple(run.series("Step Time")[1]) == (150.5, 149.5)
    assert tuple(run.series("time/step")[1]) == (145.5, 144.5)
    assert tuple(run.series("time/actor/run_training")[1]) == (80.5, 80.5)
    assert tuple(run.series("success_once")[1]) == (0.25, 0.25)
    assert tuple(run.series("advantages_mean")[1]) == (-6.5e-08, -6.5e-08)
    assert run.extras["total_steps"][0] == 400


@pytest.mark.parametrize("banner", ["=== [global_reduce] - METRICS STEP {0} ===", "=== METRICS STEP {0} ==="])
def test_metrics_below_their_banner_take_its_step(banner: str) -> None:
    text = "\n".join(
        f"{banner.format(step)}\n  perf/push/duration_avg_s: {step}.5\n  buffer/added: 16.0" for step in (4, 5)
    )
    (run,) = parse_text(text).runs
    assert run.distinct_steps == (4, 5)
    assert tuple(run.series("perf/push/duration_avg_s")[1]) == (4.5, 5.5)


@pytest.mark.parametrize(
    ("line", "prose"),
    [
        ("[GRPO app] the step takes 90 s, where does the time go?", True),
        ("[Troubleshoot]: low success_once and success_at_end", True),
        ("[rank0]: is this the port?", False),
        ("[Rank] zero ready", False),
        ("[INFO] starting the workers now?", False),
    ],
)
def test_title_behind_a_tag_is_prose(line: str, prose: bool) -> None:
    assert is_prose(line) is prose
