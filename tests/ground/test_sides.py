"""Which of two metrics is the larger, and by how much one run's value is beyond the other's; true and false."""

# ruff: noqa: E501 (sentences stay on one line)

from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text

RESOLVER = Resolver(library())


def _run(name: str, less: float) -> Run:
    rows = [
        {
            "step": step,
            "timing_s/gen": round(60.2 - 1.3 * step, 2),
            "timing_s/update_actor": round(21.4 + 0.6 * step, 2),
            "prompt_length/mean": 210.0 + step,
            "response_length/mean": 640.0 + 7 * step,
            "val-core/math/acc/mean@4": round(0.48 + 0.005 * step, 4),
            "actor/grad_norm": round((0.52 - 0.01 * step) * less, 4),
            "critic/rewards/mean": round(0.31 + 0.02 * step * less, 4),
        }
        for step in range(1, 11)
    ]
    return parse_text("\n".join(map(json.dumps, rows)), name=name).runs[0]


ONE = Auditor([_run("train.log", 1.0)], RESOLVER)
TWO = Auditor([_run("baseline", 1.0), _run("lr5e-6", 0.5)], RESOLVER)


def _verdict(auditor: Auditor, text: str) -> str:
    found = [sentence.status for sentence in auditor.audit(text).sentences if sentence.status != "no_claim"]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Generation time and actor update time at step 4 are 55.0 s and 23.8 s, so the former dominates.", "Generation time and actor update time at step 4 are 55.0 s and 23.8 s, so the latter dominates."),
        ("Of generation and the actor update, generation takes longer at step 4.", "Of generation and the actor update, the actor update takes longer at step 4."),
        ("Prompts average 214 tokens at step 4, responses 668, which is more.", "Prompts average 214 tokens at step 4, responses 668, which is less."),
        ("At step 4 the model spends more time generating (55.0 s) than updating (23.8 s).", "At step 4 the model spends less time generating (55.0 s) than updating (23.8 s)."),
        ("Validation (50.0%) is higher than the training reward (0.390) at step 4.", "Validation (50.0%) is lower than the training reward (0.390) at step 4."),
        ("第 4 步的验证（50.0%）比训练奖励（0.390）高。", "第 4 步的验证（50.0%）比训练奖励（0.390）低。"),
        ("第 4 步的生成耗时和 actor 更新耗时分别是 55.0 秒和 23.8 秒，前者更大。", "第 4 步的生成耗时和 actor 更新耗时分别是 55.0 秒和 23.8 秒，后者更大。"),
        ("生成和 actor 更新相比，第 4 步更耗时的是生成。", "生成和 actor 更新相比，第 4 步更耗时的是 actor 更新。"),
        ("第 4 步的 prompt 平均 214 token，回答平均 668 token，回答更长。", "第 4 步的 prompt 平均 214 token，回答平均 668 token，回答更短。"),
        ("第 4 步的 `timing_s/gen` 比 `timing_s/update_actor` 多 31.2 秒。", "第 4 步的 `timing_s/gen` 比 `timing_s/update_actor` 少 31.2 秒。"),
    ],
)  # fmt: skip
def test_larger_of_two_metrics_is_looked_up(true: str, false: str) -> None:
    assert _verdict(ONE, true) == "supported"
    assert _verdict(ONE, false) in {"contradicted", "unsupported"}


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Gradient norm of baseline at step 4 is 100% above that of lr5e-6.", "Gradient norm of baseline at step 4 is 50% above that of lr5e-6."),
        ("Gradient norm of baseline at step 4 is 100% above that of lr5e-6.", "Gradient norm of lr5e-6 at step 4 is 100% above that of baseline."),
        ("第 4 步 lr5e-6 的梯度范数比 baseline 低 50%。", "第 4 步 lr5e-6 的梯度范数比 baseline 高 50%。"),
        ("The final gradient norm differs by 0.21 between baseline and lr5e-6.", "The final gradient norm differs by 0.31 between baseline and lr5e-6."),
        ("baseline 和 lr5e-6 最终的梯度范数相差 0.21。", "baseline 和 lr5e-6 最终的梯度范数相差 0.12。"),
        ("Mean reward goes from 0.33 to 0.51 in baseline, and from 0.32 to 0.41 in lr5e-6.", "Mean reward goes from 0.32 to 0.41 in baseline, and from 0.33 to 0.51 in lr5e-6."),
    ],
)  # fmt: skip
def test_values_of_two_runs_are_set_against_each_other(true: str, false: str) -> None:
    assert _verdict(TWO, true) == "supported"
    assert _verdict(TWO, false) in {"contradicted", "unsupported"}
