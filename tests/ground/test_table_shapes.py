"""Shapes of tables: columns that tell steps, changes, remarks, short headings, captions behind; true and false."""

# ruff: noqa: E501 (tables stay on one line)

from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text

RESOLVER = Resolver(library())


def _run() -> Run:
    """Twenty steps: entropy falls, the norm peaks at step 7, lengths grow, generation takes a part of the step."""
    rows = [
        {
            "step": step,
            "critic/rewards/mean": round(0.11 + 0.023 * step, 4),
            "actor/entropy": round(0.913 - 0.031 * step, 4),
            "actor/grad_norm": 4.73 if step == 7 else round(0.612 + 0.017 * (step % 4), 4),
            "response_length/mean": 412.0 + 13 * step,
            "timing_s/step": 120.0 + 3 * step,
            "timing_s/gen": 66.0 + step,
            "timing_s/update_actor": 21.0 + step,
        }
        for step in range(1, 21)
    ]
    return parse_text("\n".join(map(json.dumps, rows)), name="run").runs[0]


AUDITOR = Auditor([_run()], RESOLVER)


def _statuses(text: str) -> list[str]:
    return [sentence.status for sentence in AUDITOR.audit(text).sentences if sentence.status != "no_claim"]


PAIRS = [
    # the column that tells an extreme's step, in any words
    ("| Metric | Peak | At step |\n|---|---|---|\n| Grad norm | 4.73 | 7 |", "| Metric | Peak | At step |\n|---|---|---|\n| Grad norm | 4.73 | 9 |"),
    ("| 指标 | 峰值 | 出现步数 |\n|---|---|---|\n| 梯度范数 | 4.73 | 7 |", "| 指标 | 峰值 | 出现步数 |\n|---|---|---|\n| 梯度范数 | 4.73 | 8 |"),
    ("| Metric | Highest value | Step of peak |\n|---|---|---|\n| Mean response length | 672 | 20 |", "| Metric | Highest value | Step of peak |\n|---|---|---|\n| Mean response length | 672 | 19 |"),
    # ends in other words, of a metric whose name holds a statistic
    ("| 指标 | 开头 | 结尾 |\n|---|---|---|\n| 平均回复长度 | 425 | 672 |", "| 指标 | 开头 | 结尾 |\n|---|---|---|\n| 平均回复长度 | 672 | 425 |"),
    ("| Metric | Starting value | Ending value |\n|---|---|---|\n| Average response length | 425 | 672 |", "| Metric | Starting value | Ending value |\n|---|---|---|\n| Average response length | 438 | 672 |"),
    # a peak of a metric that is called a mean
    ("| Metric | Peak |\n|---|---|\n| Mean training reward | 0.57 |", "| Metric | Peak |\n|---|---|\n| Mean training reward | 0.35 |"),
    # changes against the row before, with their sign
    ("| step | actor/entropy | 较上一行 |\n|---|---|---|\n| 4 | 0.789 | — |\n| 9 | 0.634 | -0.155 |", "| step | actor/entropy | 较上一行 |\n|---|---|---|\n| 4 | 0.789 | — |\n| 9 | 0.634 | 0.155 |"),
    ("| Step | entropy | Δ |\n|---|---|---|\n| 4 | 0.789 | — |\n| 9 | 0.634 | -0.155 |", "| Step | entropy | Δ |\n|---|---|---|\n| 4 | 0.789 | — |\n| 9 | 0.634 | 0.155 |"),
    ("| Step | entropy | drop |\n|---|---|---|\n| 4 | 0.789 | — |\n| 9 | 0.634 | 0.155 |", "| Step | entropy | drop |\n|---|---|---|\n| 4 | 0.789 | — |\n| 9 | 0.634 | 0.255 |"),
    # words in a column of remarks
    ("| Step | Entropy | Comment |\n|---|---|---|\n| 4 | 0.789 | starting point |\n| 9 | 0.634 | lower |", "| Step | Entropy | Comment |\n|---|---|---|\n| 4 | 0.789 | starting point |\n| 9 | 0.634 | higher |"),
    ("| 步数 | 回复长度 | 备注 |\n|---|---|---|\n| 4 | 464 | 起点 |\n| 9 | 529 | 上升 |", "| 步数 | 回复长度 | 备注 |\n|---|---|---|\n| 4 | 464 | 起点 |\n| 9 | 529 | 下降 |"),
    # short headings
    ("| step | ent | gnorm | len |\n|---|---|---|---|\n| 7 | 0.696 | 4.73 | 503 |", "| step | ent | gnorm | len |\n|---|---|---|---|\n| 8 | 0.696 | 4.73 | 503 |"),
    # a caption behind the table or the list
    ("| Component | Time (s) | Share |\n|---|---|---|\n| Rollout | 71.0 | 53% |\n| Actor update | 26.0 | 19% |\n\n(step 5)", "| Component | Time (s) | Share |\n|---|---|---|\n| Rollout | 71.0 | 53% |\n| Actor update | 26.0 | 19% |\n\n(step 6)"),
    ("| 环节 | 时间（秒） |\n|---|---|\n| rollout | 71.0 |\n| actor 更新 | 26.0 |\n\n以上为第 5 步的数据。", "| 环节 | 时间（秒） |\n|---|---|\n| rollout | 71.0 |\n| actor 更新 | 26.0 |\n\n以上为第 9 步的数据。"),
    ("- `actor/entropy`: 0.789 → 0.634 (-20%)\n- `response_length/mean`: 464 → 529 (+14%)\n\n(step 4 → step 9)", "- `actor/entropy`: 0.789 → 0.634 (-20%)\n- `response_length/mean`: 464 → 529 (+14%)\n\n(step 4 → step 12)"),
    # rows of nothing that the log holds
    ("| Metric | Step 4 | Step 9 |\n|---|---|---|\n| Entropy | 0.789 | 0.634 |", "| Metric | Step 4 | Step 9 |\n|---|---|---|\n| Repetition rate | 0.789 | 0.634 |"),
    ("| Metric | Step 4 | Step 9 |\n|---|---|---|\n| Entropy | 0.789 | 0.634 |", "| Metric | Step 4 | Step 9 |\n|---|---|---|\n| Curiosity of it | 0.177 | 0.131 |"),
    # rows of an extreme, with the column of its step
    ("| | step | mean reward |\n|---|---|---|\n| best | 20 | 0.57 |\n| worst | 1 | 0.133 |", "| | step | mean reward |\n|---|---|---|\n| best | 20 | 0.57 |\n| worst | 2 | 0.133 |"),
    ("| | step | grad norm |\n|---|---|---|\n| 最大 | 7 | 4.73 |", "| | step | grad norm |\n|---|---|---|\n| 最大 | 8 | 4.73 |"),
    # a first column of steps under another title
    ("| Logged at step | Entropy |\n|---|---|\n| 4 | 0.789 |\n| 9 | 0.634 |", "| Logged at step | Entropy |\n|---|---|\n| 4 | 0.789 |\n| 8 | 0.634 |"),
    # one character of direction
    ("| 项目 | 第 4 步 | 第 9 步 | 方向 |\n|---|---|---|---|\n| 熵 | 0.789 | 0.634 | 降 |", "| 项目 | 第 4 步 | 第 9 步 | 方向 |\n|---|---|---|---|\n| 熵 | 0.789 | 0.634 | 升 |"),
    # from, to: the ends of the run
    ("| Metric | Trend | From | To |\n|---|---|---|---|\n| Entropy | ⬇️ | 0.882 | 0.293 |", "| Metric | Trend | From | To |\n|---|---|---|---|\n| Entropy | ⬇️ | 0.293 | 0.882 |"),
    # a column of the best of nothing that the log holds
    ("| Range | Mean entropy |\n|---|---|\n| steps 4–9 | 0.712 |", "| Range | Mean repetition rate |\n|---|---|\n| steps 4–9 | 0.712 |"),
    # rows that are counted before they tell their step; a step in brackets
    ("| # | Step | Entropy |\n|---|---|---|\n| 1 | 4 | 0.789 |\n| 2 | 9 | 0.634 |", "| # | Step | Entropy |\n|---|---|---|\n| 1 | 4 | 0.789 |\n| 2 | 8 | 0.634 |"),
    ("| step | 熵 |\n|---|---|\n| 起点（1） | 0.882 |\n| 终点（20） | 0.293 |", "| step | 熵 |\n|---|---|\n| 起点（1） | 0.882 |\n| 终点（12） | 0.293 |"),
    # changes against one step or the first row
    ("| Step | Entropy | Δ from step 4 |\n|---|---|---|\n| 4 | 0.789 | n/a |\n| 9 | 0.634 | -20% |\n| 16 | 0.417 | -47% |", "| Step | Entropy | Δ from step 4 |\n|---|---|---|\n| 4 | 0.789 | n/a |\n| 9 | 0.634 | -20% |\n| 16 | 0.417 | -34% |"),
    ("| Step | Entropy | Δ vs first |\n|---|---|---|\n| 4 | 0.789 | — |\n| 9 | 0.634 | -20% |\n| 16 | 0.417 | -47% |", "| Step | Entropy | Δ vs first |\n|---|---|---|\n| 4 | 0.789 | — |\n| 9 | 0.634 | -20% |\n| 16 | 0.417 | -34% |"),
    # the share of the phase in the column before
    ("| step | time | generation | share |\n|---|---|---|---|\n| 5 | 135 s | 71 s | 53% |", "| step | time | generation | share |\n|---|---|---|---|\n| 5 | 135 s | 71 s | 63% |"),
    ("| step | 耗时 | 生成 | 占比 |\n|---|---|---|---|\n| 5 | 135 秒 | 71 秒 | 53% |", "| step | 耗时 | 生成 | 占比 |\n|---|---|---|---|\n| 5 | 135 秒 | 71 秒 | 35% |"),
    # means over stretches
    ("| metric | first 10 steps | last 10 steps |\n|---|---|---|\n| actor/entropy | 0.743 | 0.433 |", "| metric | first 10 steps | last 10 steps |\n|---|---|---|\n| actor/entropy | 0.433 | 0.743 |"),
]  # fmt: skip


@pytest.mark.parametrize("true", sorted({true for true, _ in PAIRS}))
def test_table_of_this_shape_true_is_supported(true: str) -> None:
    assert set(_statuses(true)) == {"supported"}


@pytest.mark.parametrize("false", [false for _, false in PAIRS])
def test_table_of_this_shape_false_is_refused(false: str) -> None:
    assert set(_statuses(false)) & {"contradicted", "unsupported"}
