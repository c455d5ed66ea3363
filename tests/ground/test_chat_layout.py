"""Texts as chat models lay them out: tables with marks, steps in a row's label or a row of their own, arrows, a bottom line."""

# ruff: noqa: E501 (sentences stay on one line)

from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text


def _run() -> Run:
    """Two GPUs, 40 responses a step of which an eighth are cut at step 4; entropy falls, reward rises."""
    rows = []
    for step in range(1, 13):
        prompt, response, seconds = 100.0, 300.0 + 5 * step, 40.0
        tokens = round(40 * (prompt + response))
        rows.append(
            {
                "step": step,
                "actor/entropy": round(0.913 - 0.0407 * step, 4),
                "critic/rewards/mean": round(0.212 + 0.0313 * step, 4),
                "actor/grad_norm": "NaN" if step == 12 else round(0.5 - 0.01 * step, 3),
                "prompt_length/mean": prompt,
                "response_length/mean": response,
                "response_length/clip_ratio": 0.125 if step == 4 else 0.05,
                "perf/total_num_tokens": tokens,
                "perf/time_per_step": seconds,
                "timing_s/step": seconds,
                "perf/throughput": tokens / (2 * seconds),
            }
        )
    return parse_text("\n".join(map(json.dumps, rows)).replace('"NaN"', "NaN"), name="run").runs[0]


AUDITOR = Auditor([_run()], Resolver(library()))
HEAD, HEAD_ZH = "| Metric | Value | Verdict |\n|---|---|---|\n", "| 指标 | 数值 | 判断 |\n|---|---|---|\n"


def _fine(text: str) -> bool:
    """Whether everything that is claimed is borne out, and something is."""
    found = {sentence.status for sentence in AUDITOR.audit(text).sentences} - {"no_claim"}
    return found == {"supported"}


@pytest.mark.parametrize(
    ("true", "false"),
    [
        # the steps in a row's label
        (f"{HEAD}| Reward (step 2 → 9) | 0.275 → 0.494 | ✅ up |", f"{HEAD}| Reward (step 2 → 9) | 0.494 → 0.275 | ✅ up |"),
        (f"{HEAD_ZH}| 奖励（step 2 → 9） | 0.275 → 0.494 | ✅ 上升 |", f"{HEAD_ZH}| 奖励（step 2 → 9） | 0.275 → 0.494 | ❌ 下降 |"),
        # an extreme with its step in a row, the last value of a mean, the whole of a share, the step told below
        ("| What | Where | Value |\n|---|---|---|\n| Highest mean reward | step 12 | 0.588 |", "| What | Where | Value |\n|---|---|---|\n| Highest mean reward | step 11 | 0.588 |"),
        ("| phase | time | share of step 4 |\n|---|---|---|\n| timing_s/step | 40.0 s | 100% |", "| phase | time | share of step 4 |\n|---|---|---|\n| timing_s/step | 40.0 s | 90% |"),
        ("| metric | value |\n|---|---|\n| entropy | 0.750 |\n\nAll at step 4.", "| metric | value |\n|---|---|\n| entropy | 0.750 |\n\nAll at step 5."),
        # what a metric is about throughout
        ("The mean prompt length stays flat for the whole run, at about 100.", "The mean prompt length stays flat for the whole run, at about 120."),
        ("resp len 310 → 340 (step 2→8)", "resp len 340 → 310 (step 2→8)"),
        # the step in a row of its own
        ("| Metric | Value |\n|---|---|\n| Step | 3 |\n| Entropy | 0.791 |", "| Metric | Value |\n|---|---|\n| Step | 8 |\n| Entropy | 0.791 |"),
        ("| 指标 | 值 |\n|---|---|\n| 步数 | 3 |\n| 熵 | 0.791 |", "| 指标 | 值 |\n|---|---|\n| 步数 | 3 |\n| 熵 | 0.587 |"),
        # a mark that says which way it went
        ("| Metric | Start | End | Change |\n|---|---|---|---|\n| Entropy | 0.872 | 0.425 | 🔻 51% |", "| Metric | Start | End | Change |\n|---|---|---|---|\n| Entropy | 0.872 | 0.425 | 🔺 51% |"),
        ("| 指标 | 起点 | 终点 | 变化 |\n|---|---|---|---|\n| 奖励 | 0.243 | 0.588 | 🔺 142% |", "| 指标 | 起点 | 终点 | 变化 |\n|---|---|---|---|\n| 奖励 | 0.243 | 0.588 | 🔻 142% |"),
        # an arrow as a picture
        ("- Reward: 0.275 ➡️ 0.494\n\n_(step 2 ➡️ step 9)_", "- Reward: 0.494 ➡️ 0.275\n\n_(step 2 ➡️ step 9)_"),
        # figures of speech
        ("**Bottom line:** entropy went down by **34%** between steps 2 and 9 (0.832 → 0.547).", "**Bottom line:** entropy went up by **34%** between steps 2 and 9 (0.832 → 0.547)."),
        ("At step 12, grad norm is NaN, i.e. training has broken down.", "At step 11, grad norm is NaN, i.e. training has broken down."),
        # where a course starts
        ("Entropy starts the run at 0.872 and finishes at 0.425.", "Entropy starts the run at 0.425 and finishes at 0.872."),
        # responses of a step
        ("At step 4, 5 of 40 responses were truncated.", "At step 4, 5 of 80 responses were truncated."),
        ("At step 4, 5 of 40 responses were truncated.", "At step 4, 8 of 40 responses were truncated."),
        ("That's 40 rollouts a step, or 20 per GPU.", "That's 40 rollouts a step, or 10 per GPU."),
        ("That's 40 rollouts a step, or 20 per GPU.", "That's 20 rollouts a step, or 20 per GPU."),
        # a rate as a factor
        ("16,800 个 token ÷（210 token/s × 40.0 秒）= 2 张卡（step 4）。", "16,800 个 token ÷（420 token/s × 40.0 秒）= 2 张卡（step 4）。"),
    ],
)  # fmt: skip
def test_layout_of_a_chat_is_read_and_what_it_tells_wrong_refused(true: str, false: str) -> None:
    assert _fine(true)
    assert not _fine(false)
