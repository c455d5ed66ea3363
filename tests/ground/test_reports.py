"""How reports speak of a run: stretches of steps, parts in words, extremes in pairs, counts; true and false."""

# ruff: noqa: E501 (sentences stay on one line)

from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text

RESOLVER = Resolver(library())


def _run() -> Run:
    """Forty steps: reward rises with a peak at 30, entropy falls to a third, length halves at step 21, times double."""
    rows = []
    for step in range(1, 41):
        rows.append(
            {
                "step": step,
                "critic/rewards/mean": round(0.1 + 0.02 * step if step != 30 else 0.95, 4),
                "actor/entropy": round(0.9 - 0.015 * step, 4),
                "actor/grad_norm": 5.0 if step == 7 else 0.5 + 0.01 * (step % 3),
                "actor/pg_loss": -0.01 if step < 20 else 0.02,
                "response_length/mean": 800.0 if step <= 20 else 400.0,
                "response_length/max": 2048.0,
                "timing_s/step": 120.0 if step <= 20 else 240.0,
                "timing_s/gen": 60.0 if step <= 20 else 180.0,
            }
        )
    return parse_text("\n".join(map(json.dumps, rows)), name="run").runs[0]


AUDITOR = Auditor([_run()], RESOLVER)


def statuses(text: str) -> set[str]:
    return {sentence.status for sentence in AUDITOR.audit(text).sentences}


PAIRS = [
    # stretches of steps
    ("From step 21 onwards the mean response length is 400 tokens.", "From step 20 onwards the mean response length is 400 tokens."),
    ("第 21 步往后，平均回复长度始终不超过 401 token。", "第 19 步往后，平均回复长度始终不超过 401 token。"),
    ("After step 20 entropy is never above 0.6.", "After step 20 entropy is never above 0.5."),
    ("Mean response length goes from 800 tokens over the first ten steps to 400 over the last ten.",
     "Mean response length goes from 800 tokens over the first ten steps to 480 over the last ten."),
    ("后 20 步的平均回复长度是前 20 步的 0.5 倍（800 → 400）。", "后 20 步的平均回复长度是前 20 步的 0.8 倍（800 → 400）。"),
    ("最后 10 步平均每步 240 秒。", "最后 10 步平均每步 180 秒。"),
    ("In the first half the mean response length was 800 tokens.", "In the second half the mean response length was 800 tokens."),
    # parts and factors in words
    ("By step 40 entropy has dropped to about a third of its value at step 1.",
     "By step 40 entropy has dropped to about a tenth of its value at step 1."),
    ("从 step 1 到 step 40，熵降到原来的三分之一左右。", "从 step 1 到 step 40，熵降到原来的三分之二左右。"),
    ("Between step 20 and step 21 the mean response length fell by a half (800 → 400).",
     "Between step 20 and step 21 the mean response length fell by a fifth (800 → 400)."),
    ("Generation takes half of the step at step 1.", "Generation takes half of the step at step 40."),
    # extremes told in pairs
    ("Grad norm is highest at step 7 (5.0), and the reward peaks at step 30 with 0.95.",
     "Grad norm is highest at step 7 (5.0), and the reward peaks at step 31 with 0.95."),
    ("最高的熵在第 1 步（0.885），最低在第 40 步（0.3）。", "最高的熵在第 1 步（0.885），最低在第 39 步（0.3）。"),
    ("The highest grad norm (5.0) is roughly ten times the lowest (0.50).",
     "The highest grad norm (5.0) is roughly three times the lowest (0.50)."),
    # counts
    ("40 步里 `actor/pg_loss` 为负的共 19 步。", "40 步里 `actor/pg_loss` 为负的共 21 步。"),
    ("There are 19 steps with negative `actor/pg_loss`.", "There are 20 steps with negative `actor/pg_loss`."),
    ("Entropy is logged every step, and of the 40 steps, 19 have it above 0.6.",
     "Entropy is logged every step, and of the 40 steps, 25 have it above 0.6."),
    # the times of a step that no name introduces
    ("Steps take 2 min at first: step 5 took 120 s.", "Steps take 2 min at first: step 5 took 150 s."),
    ("The forty steps add up to 2 hours.", "The forty steps add up to 3 hours."),
    ("第 30 步总共 4 分钟，其中生成 3 分钟。", "第 30 步总共 5 分钟，其中生成 3 分钟。"),
    # what is said of two numbers, by the numbers themselves
    ("At step 21 the step time is 240 s instead of 120.", "At step 21 the step time is 240 s instead of 150."),
    ("Reward peaks at 0.95 on step 30, up from 0.12 at step 1.", "Reward peaks at 0.95 on step 30, down from 0.12 at step 1."),
    ("`actor/pg_loss` turns positive at step 20 (0.02).", "`actor/pg_loss` turns negative at step 20 (0.02)."),
    ("Reward never goes beyond 0.96 (max 0.95).", "Reward never goes beyond 0.8 (max 0.95)."),
    ("Grad norm exceeds 1 once.", "Entropy exceeds 1 once."),
    ("熵降（0.885 → 0.3），奖励升（0.12 → 0.9）。", "熵升（0.885 → 0.3），奖励降（0.12 → 0.9）。"),
    ("Mean response length does not collapse but halves: 800 tokens at the start, 400 tokens by the end.",
     "Mean response length does not collapse but halves: 800 tokens at the start, 480 tokens by the end."),
    ("回复长度和熵都在下降，前者从 800 到 400 token，后者从 0.885 到 0.3。",
     "回复长度和熵都在下降，前者从 800 到 500 token，后者从 0.885 到 0.3。"),
    ("Reward first clears 0.5 at step 21.", "Reward first clears 0.5 at step 25."),
    ("Reward improved by 0.78 points from step 1 to step 40.", "Reward improved by 0.98 points from step 1 to step 40."),
]  # fmt: skip


@pytest.mark.parametrize(("true", "false"), PAIRS)
def test_report_true_is_not_refused_and_its_twin_is(true: str, false: str) -> None:
    assert not statuses(true) & {"contradicted", "unsupported"}
    assert statuses(false) & {"contradicted", "unsupported"}


def test_report_metric_of_the_heading_is_that_of_this_log() -> None:
    text = "**`actor/entropy`: how evenly the policy chooses.**\n\n### Reading\n\n**In this log**: {} at step 1."
    assert "contradicted" not in statuses(text.format(0.885))
    assert statuses(text.format(0.685)) & {"contradicted", "unsupported"}


def test_report_bound_has_no_slack_of_a_digit() -> None:
    assert statuses("Entropy exceeds 1 on several steps.") & {"contradicted", "unsupported"}
