"""True sentences that take more than one reading: extremes beside plain values, equal parts, exceptions, ends, shares."""

# ruff: noqa: E501 (sentences stay on one line)
from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text
from tests.ground.test_falsehoods import AUDITOR as STEPS

BAD = {"contradicted", "unsupported"}


def _row(step: int) -> dict[str, float]:
    """Grad norm: 9 at step 5, 0.1 at step 30, else 2 and falling; accuracy 1 in eight steps; reward falls below 0 at first."""
    return {
        "step": step,
        "reward": round(-0.5 + 0.05 * step, 4),
        "loss": round(1.0 - 0.01 * step, 4),
        "accuracy": 1.0 if step % 5 == 0 else 0.25,
        "grad_norm": 9.0 if step == 5 else 0.1 if step == 30 else round(2.0 - 0.02 * step, 4),
        "kl": round(0.2 - 0.004 * abs(step - 20), 4),
        "critic/grad_norm": round(50.0 - step, 2),
        "actor/grad_norm": round(5.0 - 0.1 * step, 2),
        "n_groups": float(40 - step),
        "total_steps": 400.0,
        "samples_seen": float(round(1000 * (1 - 0.8**step), 2)),
        "timing_s/step": 100.0 + step,
        "timing_s/gen": 60.0 + step,
        "timing_s/update_actor": 25.0,
    } | ({"eval_reward": round(0.5 + 0.002 * step if step < 30 else 0.53 - 0.001 * step, 4)} if step % 10 == 0 else {})


AUDITOR = Auditor(
    [parse_text("\n".join(json.dumps(_row(step)) for step in range(1, 41)), name="train.jsonl").runs[0]],
    Resolver(library()),
)
PAIRS = [
    # an extreme, and a plain value beside it
    ("`grad_norm` 最大值为 9（第 5 步），到第 40 步已降到 1.2。", "`grad_norm` 最大值为 9（第 5 步），到第 40 步已降到 1.4。"),
    ("`grad_norm` peaked at 9 (step 5) before hitting its low of 0.1 at step 30.", "`grad_norm` peaked at 9 (step 5) before hitting its low of 0.1 at step 20."),
    ("`grad_norm` peaks at 9 at step 5 and its low, 0.1, is at step 30.", "`grad_norm` peaks at 9 at step 5 and its low, 0.1, is at step 29."),
    ("The slowest step is 40 at 140 s, the fastest is 1 at 101 s.", "The slowest step is 39 at 140 s, the fastest is 1 at 101 s."),
    ("`kl` peaks at 0.2 (step 20) and finishes a little lower, at 0.12.", "`kl` peaks at 0.2 (step 20) and finishes a little lower, at 0.16."),
    # equal parts
    ("`loss` by quarter, on average: 0.945, 0.845, 0.745 and 0.645.", "`loss` by quarter, on average: 0.945, 0.815, 0.745 and 0.645."),
    ("把 40 步四等分，`loss` 的平均依次为 0.945、0.845、0.745、0.645。", "把 40 步四等分，`loss` 的平均依次为 0.945、0.845、0.745、0.695。"),
    ("The first 10 steps take 105.5 s on average, the remaining 30 take 125.5 s.", "The first 10 steps take 105.5 s on average, the remaining 30 take 135.5 s."),
    ("最后 10 条记录的平均 `loss` 是 0.645，最初 10 条是 0.945。", "最后 10 条记录的平均 `loss` 是 0.645，最初 10 条是 0.845。"),
    # all but some, always
    ("`grad_norm` reaches 9 in step 5 and never exceeds 2 in any other step.", "`grad_norm` reaches 9 in step 5 and never exceeds 1.9 in any other step."),
    ("`reward` 在第 10 步之后一直是正数。", "`reward` 在第 8 步之后一直是正数。"),
    ("`reward` stays negative until step 9.", "`reward` stays negative until step 12."),
    # shares of steps, and what is planned
    ("About 20% of the steps reach an `accuracy` of 1.", "About 50% of the steps reach an `accuracy` of 1."),
    ("`accuracy` 达到 1 的步占全部的 20%。", "`accuracy` 达到 1 的步占全部的 40%。"),
    ("So far 40 of 400 steps are logged.", "So far 40 of 500 steps are logged."),
    # two of the sentence before
    ("第 20 步：`reward` 0.5，`loss` 0.8。到第 40 步，前者为 1.5，后者为 0.6。", "第 20 步：`reward` 0.5，`loss` 0.8。到第 40 步，前者为 0.6，后者为 1.5。"),
    # factors, remainders, curves that level off
    ("`n_groups` 由第 1 步的 39 降到第 30 步的 10，不到原来的一半。", "`n_groups` 由第 1 步的 39 降到第 10 步的 30，不到原来的一半。"),
    ("Generation and actor update together take 125 s at step 40, which leaves 15 s for everything else.", "Generation and actor update together take 125 s at step 40, which leaves 35 s for everything else."),
    ("`samples_seen` levels off at 1,000.", "`reward` levels off at 1.5."),
    ("第 40 步的 `n_groups` 最少，只有 0 个。", "第 39 步的 `n_groups` 最少，只有 2 个。"),
    ("`loss` is down to 0.9 by step 10 and ends at 0.6.", "`loss` has risen to 0.9 by step 10 and ends at 0.6."),
    ("`total_steps` 每一步都是 400。", "`total_steps` 每一步都是 300。"),
    # bounds that hold, lists that are none, first and last records, two steps in the order of their comparison
    ("`loss` never leaves the band from 0.59 to 1.0.", "`loss` never leaves the band from 0.69 to 1.0."),
    ("`loss` 一直在 0.59 到 1.0 之间。", "`loss` 一直在 0.59 到 0.9 之间。"),
    ("Apart from step 5 (9.0), `grad_norm` never exceeds 2.", "Apart from step 5 (9.0), `grad_norm` never exceeds 1.5."),
    ("最后一条记录的 `loss` 是 0.6，约为第一条（0.99）的六成。", "最后一条记录的 `loss` 是 0.6，约为第一条（0.6）的六成。"),
    ("Compared with its first step, step 40 has a lower `loss` (0.6 vs 0.99).", "Compared with its first step, step 40 has a lower `loss` (0.99 vs 0.6)."),
    ("`loss` drops by 39% over the run, 0.99 → 0.6.", "`loss` drops by 39% over the run, 0.99 → 0.7."),
    ("到第 40 步，`loss`（0.6）已降到第 1 步（0.99）的六成。", "到第 40 步，`loss`（0.99）已降到第 1 步（0.6）的六成。"),
    ("step 40：生成 100 秒 + actor 更新 25 秒 = 125 秒。", "step 40：生成 100 秒 + actor 更新 25 秒 = 135 秒。"),
]  # fmt: skip


@pytest.mark.parametrize(("true", "false"), PAIRS)
def test_audit_part_told_true_is_supported_false_is_not(true: str, false: str) -> None:
    said, twin = AUDITOR.audit(true), AUDITOR.audit(false)
    assert {s.status for s in said.sentences} - {"no_claim"} == {"supported"}, said.to_json()
    assert {s.status for s in twin.sentences} & BAD, twin.to_json()


def test_audit_table_head_with_a_head_in_brackets_is_that_heads_metric() -> None:
    rows = "| step | grad norm (critic) | grad norm (actor) |\n|---|---|---|\n| 10 | {} | {} |"
    assert {s.status for s in AUDITOR.audit(rows.format(40, 4)).sentences} - {"no_claim"} == {"supported"}
    assert {s.status for s in AUDITOR.audit(rows.format(4, 40)).sentences} & BAD


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("第 20 步有 64 条轨迹中的 8 条触顶。", "第 20 步有 64 条轨迹中的 12 条触顶。"),
        ("一共有 3 次计了时的验证（`timing_s/testing`）。", "一共有 4 次计了时的验证（`timing_s/testing`）。"),
        ("单步耗时 step：20 为 120 秒。", "单步耗时 step：20 为 130 秒。"),
    ],
)
def test_audit_count_among_trajectories_and_timed_validations(true: str, false: str) -> None:
    assert {s.status for s in STEPS.audit(true).sentences} == {"supported"}, STEPS.audit(true).to_json()
    assert {s.status for s in STEPS.audit(false).sentences} & BAD, STEPS.audit(false).to_json()
