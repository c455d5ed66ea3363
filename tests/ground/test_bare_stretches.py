"""Stretches and steps told in passing: the last ten values, the other half, a step behind its value, ever since."""

# ruff: noqa: E501 (sentences stay on one line)
from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text


def _auditor() -> Auditor:
    """Each tenth step: reward rises through zero at step 110, KL leaps at step 60 and stays, length 18,204 at step 150."""
    rows = [
        {
            "step": step,
            "reward": round(-1.0 + 0.0095 * step, 4),
            "kl": 0.02 if step < 60 else round(1.9 + 0.001 * step, 4),
            "grad_norm": round(0.5 + 0.002 * step, 4),
            "critic/grad_norm": round(90.0 - 0.2 * step, 2),
            "completion_length": 18204.0 if step == 150 else 17000.0 + step,
        }
        for step in range(10, 210, 10)
    ]
    return Auditor([parse_text("\n".join(map(json.dumps, rows)), name="train.jsonl").runs[0]], Resolver(library()))


AUDITOR = _auditor()


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("The last 10 logged values of grad_norm average 0.81, the first 10 averaged 0.61.", "The last 10 logged values of grad_norm average 0.81, the first 10 averaged 0.81."),
        ("最后 10 个记录点 grad_norm 平均 0.81，最初 10 个平均 0.61。", "最后 10 个记录点 grad_norm 平均 0.81，最初 10 个平均 0.51。"),
        ("On average grad_norm is higher in the second half of the run than in the first (0.81 against 0.61).", "On average grad_norm is higher in the second half of the run than in the first (0.81 against 0.71)."),
        ("grad_norm 在第 50 步是 0.6，下一个记录点涨到 0.62。", "grad_norm 在第 50 步是 0.6，下一个记录点涨到 0.72。"),
        ("最后一步（step 200）grad_norm 为 0.9，而起步时是 0.52。", "最后一步（step 200）grad_norm 为 0.9，而起步时是 0.62。"),
        ("训练结束时的 grad_norm 是开始时的 1.73 倍。", "训练结束时的 grad_norm 是开始时的 2.73 倍。"),
        ("`reward` goes from -0.905 at timestep 10 to 0.9 at timestep 200.", "`reward` goes from -0.905 at timestep 10 to 0.9 at timestep 190."),
        ("`reward` was -0.905 at step 10, -0.525 at 50 and 0.9 at 200.", "`reward` was -0.905 at step 10, -0.525 at 60 and 0.9 at 200."),
        ("Reward turns positive for the first time on step 110.", "Reward turns positive for the first time on step 90."),
        ("reward 在第 110 步首次转正。", "reward 在第 120 步首次转正。"),
        ("KL jumps to 1.96 at step 60 and has been between 1.9 and 2.1 ever since.", "KL jumps to 1.96 at step 60 and has been between 1.9 and 2.0 ever since."),
        ("grad_norm is 0.9 in the last row, and always between 0.5 and 0.91.", "grad_norm is 0.9 in the last row, and always between 0.6 and 0.91."),
        ("grad_norm is 0.9 at most (step 200) and 0.71 on average.", "grad_norm is 0.9 at most (step 200) and 0.81 on average."),
        ("grad_norm never again rises above 0.91.", "grad_norm never again rises above 0.81."),
        ("The critic's gradient norm ends at 50.", "The critic's gradient norm ends at 0.9."),
        ("- completion length: 17,140 at step 140, 18,204 at step 150", "- completion length: 17,140 at step 140, 18,304 at step 150"),
        ("20 个记录点中，有 4 个的 reward 高于 0.6。", "20 个记录点中，有 9 个的 reward 高于 0.6。"),
        ("With 50 steps done grad_norm was 0.6, with 190 steps done 0.88.", "With 50 steps done grad_norm was 0.6, with 190 steps done 0.98."),
        ("By step 200, the critic's gradient norm is down to about 57% of its step-10 value.", "By step 100, the critic's gradient norm is down to about 57% of its step-10 value."),
        ("By step 200, grad_norm had grown by 73% from its level at step 10.", "By step 200, grad_norm had shrunk by 73% from its level at step 10."),
        ("grad_norm 全程在 0.52 到 0.9 之间。", "grad_norm 全程在 0.52 到 0.973 之间。"),
        ("KL stands at 1.96 at step 60.", "KL ends at 1.96 by the last step."),
    ],
)  # fmt: skip
def test_audit_stretch_or_step_in_passing_true_is_supported_false_is_not(true: str, false: str) -> None:
    bad = {"contradicted", "unsupported"}
    statuses = {s.status for s in AUDITOR.audit(true).sentences}
    assert "supported" in statuses, AUDITOR.audit(true).to_json()
    assert not statuses & bad, AUDITOR.audit(true).to_json()
    assert {s.status for s in AUDITOR.audit(false).sentences} & bad, AUDITOR.audit(false).to_json()


@pytest.mark.parametrize("title", ["Suggested value", "Recommended", "建议取值", "目标"])
def test_audit_column_of_advice_claims_nothing(title: str) -> None:
    table = f"| Setting | {title} |\n|---|---|\n| `grad_norm` | 7.5 |"
    assert {s.status for s in AUDITOR.audit(table).sentences} == {"no_claim"}


def _phases() -> Auditor:
    """A step whose checkpoint and end-to-end latency are logged."""
    rows = [
        {"step": s, "timing_s/step": 600.0 + s, "timing_s/save_checkpoint": 40.0 + s, "E2E latency": 3.0 + s / 10}
        for s in range(1, 9)
    ]
    return Auditor([parse_text("\n".join(map(json.dumps, rows)), name="train.jsonl").runs[0]], Resolver(library()))


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("At step 7 saving the checkpoint took 47 s.", "At step 7 saving the checkpoint took 57 s."),
        ("第 7 步保存检查点用了 47 秒。", "第 7 步保存检查点用了 42 秒。"),
        ("End-to-end latency is 3.5 s at step 5.", "End-to-end latency is 3.9 s at step 5."),
        ("第 5 步的端到端延迟是 3.5 秒。", "第 5 步的端到端延迟是 3.1 秒。"),
    ],
)
def test_audit_phase_in_plain_words_is_known(true: str, false: str) -> None:
    auditor = _phases()
    assert auditor.audit(true).sentences[0].status == "supported", auditor.audit(true).to_json()
    assert auditor.audit(false).sentences[0].status in {"contradicted", "unsupported"}
