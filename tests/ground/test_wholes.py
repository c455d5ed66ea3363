"""Sentences read as a whole: halves of the steps, trends, turns, signs; true ones pass, false ones are caught."""

from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text

RESOLVER = Resolver(library())


def _run() -> Run:
    """Reward rises to step 20 and falls after, entropy falls throughout, grad norm goes to and fro."""
    rows = []
    for step in range(1, 41):
        rows.append(
            {
                "step": step,
                "critic/rewards/mean": 0.1 + 0.02 * min(step, 40 - step) + 0.001 * (step % 3),
                "actor/entropy": 0.9 - 0.015 * step,
                "actor/grad_norm": 0.20 + 0.30 * (step % 2),
                "actor/pg_loss": -0.012,
                "timing_s/step": 100.0,
                "timing_s/gen": 60.0 + step % 4,
            }
        )
    return parse_text("\n".join(map(json.dumps, rows)), name="run").runs[0]


AUDITOR = Auditor([_run()], RESOLVER)


def status(text: str) -> str:
    found = [sentence.status for sentence in AUDITOR.audit(text).sentences]
    assert len(found) == 1, found
    return found[0]


PAIRS = [
    ("actor/entropy shows a clear trend.", "There is plenty of noise in actor/entropy, but no trend underneath it."),
    ("`actor/grad_norm` 波动很大，但没有趋势。", "`actor/grad_norm` 虽有波动，趋势却很明显。"),
    (
        "Generation is more than half of step 11.",
        "Generation is less than half of step 11.",
    ),
    ("生成时间超过第 8 步总时间的一半。", "生成时间不到第 8 步总时间的一半。"),
    (
        "In more than half of the steps actor/entropy was over 0.5.",
        "In fewer than half of the steps actor/entropy was over 0.5.",
    ),
    ("Reward climbed until step 20 and then fell.", "Reward climbed until step 20 and then kept climbing."),
    (
        "By step 40 actor/entropy had fallen to 34% of what it was at step 1.",
        "By step 40 actor/entropy had fallen to 80% of what it was at step 1.",
    ),
    ("第 9 步 `actor/pg_loss` 为负（-1.2e-2）。", "第 9 步 `actor/pg_loss` 为正（-1.2e-2）。"),
    ("reward 最高的一步是 step 20，达到 0.502。", "reward 最高的一步是 step 1，达到 0.121。"),
    ("`actor/entropy`：开头 0.885，结尾 0.300。", "`actor/entropy`：开头 0.300，结尾 0.885。"),
    ("actor/entropy（5→25）：-36%", "actor/entropy（5→25）：-46%"),
]


@pytest.mark.parametrize(("true", "false"), PAIRS)
def test_whole_true_supported_and_its_contrary_refused(true: str, false: str) -> None:
    assert status(true) == "supported"
    assert status(false) in {"contradicted", "unsupported"}


@pytest.mark.parametrize(
    "text",
    [
        "Perplexity is rising steadily.",
        "有效秩一路下降。",
        "The critic's value estimates are accurate.",
        "critic 的价值估计很准确。",
    ],
)
def test_whole_about_what_the_log_does_not_hold_refused(text: str) -> None:
    assert status(text) in {"contradicted", "unsupported"}


def test_figure_of_another_dimension_never_contradicted() -> None:
    assert status("actor/entropy is 150 tokens/s at step 3.") == "unsupported"
