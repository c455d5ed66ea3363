"""Tokens per second of one GPU or of all, what falls to each GPU, and sizes told in other words; true and false."""

# ruff: noqa: E501 (sentences stay on one line)

from __future__ import annotations

import json
import math

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text

RESOLVER = Resolver(library())


def _run() -> Run:
    """Four GPUs, 64 responses a step in groups of 8: throughput of a GPU, times and tokens fit together."""
    rows = []
    for step in range(1, 13):
        prompt, response, seconds = 100.0 + step, 300.0 + 5 * step, 40.0 + step
        tokens = round(64 * (prompt + response))
        rows.append(
            {
                "step": step,
                "prompt_length/mean": prompt,
                "response_length/mean": response,
                **{f"critic/{what}/max": 7 / math.sqrt(8) for what in ("advantages", "returns")},
                **{f"critic/{what}/min": -1.2 for what in ("advantages", "returns")},
                **{f"critic/{what}/mean": 0.0 for what in ("advantages", "returns")},
                "perf/total_num_tokens": tokens,
                "perf/time_per_step": seconds,
                "timing_s/step": seconds,
                "perf/throughput": tokens / (4 * seconds),
            }
        )
    return parse_text("\n".join(map(json.dumps, rows)), name="run").runs[0]


AUDITOR = Auditor([_run()], RESOLVER)
EACH = 64 * (105 + 325) / (4 * 45)  # step 5: 152.9


def _statuses(text: str) -> list[str]:
    return [sentence.status for sentence in AUDITOR.audit(text).sentences if sentence.status != "no_claim"]


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("All 4 GPUs together process 612 tokens per second at step 5.", "All 4 GPUs together process 153 tokens per second at step 5."),
        ("All 4 GPUs together process 612 tokens per second at step 5.", "All 4 GPUs together process 642 tokens per second at step 5."),
        ("At step 5 the cluster does 612 tokens/s (153 per GPU × 4).", "At step 5 the cluster does 612 tokens/s (163 per GPU × 4)."),
        ("At step 5 the cluster does 612 tokens/s (153 per GPU × 4).", "At step 5 the cluster does 153 tokens/s (612 per GPU × 4)."),
        ("Each GPU processed 153 tokens per second at step 5.", "Each GPU processed 173 tokens per second at step 5."),
        ("第 5 步每张卡每秒处理 153 个 token。", "第 5 步每张卡每秒处理 612 个 token。"),
        ("第 5 步 4 张卡一共每秒处理 612 个 token。", "第 5 步 4 张卡一共每秒处理 153 个 token。"),
        ("So each GPU handles 16 responses per step.", "So each GPU handles 64 responses per step."),
        ("按每组 8 条算，64 条回答来自 8 个 prompt。", "按每组 16 条算，64 条回答来自 8 个 prompt。"),
        ("每个训练步 64 条 rollout，用 4 卡。", "每个训练步 8 条 rollout，用 4 卡。"),
        ("The group size is 8, computed from the maximum advantage.", "The group size is 16, computed from the maximum advantage."),
        ("组大小是 8，由优势的最大值推出。", "组大小是 4，由优势的最大值推出。"),
        ("Number of responses per step: 64 (total tokens divided by mean length).", "Number of responses per step: 128 (total tokens divided by mean length)."),
    ],
)  # fmt: skip
def test_rate_or_size_is_held_against_one_gpu_or_all_as_it_is_told(true: str, false: str) -> None:
    assert pytest.approx(152.9, abs=0.1) == EACH
    assert _statuses(true) == ["supported"]
    assert _statuses(false)[0] in {"contradicted", "unsupported"}
