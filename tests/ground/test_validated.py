"""Whether a step was validated, whether the log holds a metric: each true sentence is borne out, its twin is not."""

# ruff: noqa: E501 (sentences stay on one line)
from __future__ import annotations

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text

BAD = {"contradicted", "unsupported"}


def _line(step: int) -> str:
    """Step 0 holds validation alone; of the others, every tenth holds both."""
    trained = (
        f" - actor/entropy:{0.3 - 0.001 * step} - critic/score/mean:{0.4 + 0.005 * step} - timing_s/step:{90 + step}"
    )
    tested = f" - val-core/aime_2025/acc/mean@30:{0.2 + 0.004 * step} - val-aux/aime_2025/reward/mean@30:{-0.4 + 0.01 * step}"
    return f"step:{step}" + (trained if step else "") + (tested if step % 10 == 0 else "")


AUDITOR = Auditor([parse_text("\n".join(map(_line, range(41))), name="train.log").runs[0]], Resolver(library()))

PAIRS = [
    ("Step 7 was not validated.", "Step 7 was validated."),
    ("Step 7 was not validated.", "Step 10 was not validated."),
    ("Step 20 was validated.", "Step 21 was validated."),
    ("Evaluation did not run on step 13.", "Evaluation ran on step 13."),
    ("At step 13 there was no validation pass.", "At step 13 there was a validation pass."),
    ("There are no validation results at step 12.", "There are no validation results at step 20."),
    ("Step 13 carries no AIME result.", "Step 30 carries no AIME result."),
    ("Note that step 13 has no eval numbers.", "Note that step 13 has its eval numbers."),
    ("Step 0 only ran validation.", "Step 10 only ran validation."),
    ("No validation was run at step 7, so there is no eval score there.", "No validation was run at step 7, so there is an eval score there."),
    ("No validation was run at step 7, so there is no eval score there.", "No validation was run at step 7, so there is no entropy there."),
    ("Eval score at step 12: not available.", "Eval score at step 20: not available."),
    ("第 13 步没有做验证。", "第 13 步做了验证。"),
    ("第 13 步没有做验证。", "第 20 步没有做验证。"),
    ("第 20 步做了验证。", "第 21 步做了验证。"),
    ("step 12 不包含验证指标。", "step 12 包含验证指标。"),
    ("这一步（step 12）没有验证。", "这一步（step 12）有验证。"),
    ("step 12 没跑验证，所以没有验证得分。", "step 12 没跑验证，所以没有策略熵。"),
    ("step 12 只训练，没做验证。", "step 12 只训练，做了验证。"),
    ("step 0 只做了验证。", "step 20 只做了验证。"),
    ("step 12 没有 AIME 的验证分数。", "step 30 没有 AIME 的验证分数。"),
    ("This log has no `critic/vf_loss`.", "This log has a `critic/vf_loss`."),
    ("The log has an `actor/entropy`.", "The log has no `actor/entropy`."),
    ("MFU is not among the logged metrics.", "MFU is among the logged metrics."),
    ("We have no validation number for step 13.", "We have a validation number for step 13."),
    ("Step 13 did not run validation, so `val-core/aime_2025/acc/mean@30` is empty there.", "Step 13 did not run validation, so `actor/entropy` is empty there."),
    ("第 13 步不做验证。", "第 13 步做验证。"),
    ("第 20 步验证了一次。", "第 21 步验证了一次。"),
    ("这份日志里没有 `critic/vf_loss`。", "这份日志里有 `critic/vf_loss`。"),
    ("日志里记录了 `actor/entropy`。", "日志里记录了 `actor/kl_loss`。"),
    ("Nothing is logged for `actor/entropy` at step 0.", "Nothing is logged for `actor/entropy` at step 3."),
]  # fmt: skip


@pytest.mark.parametrize(("true", "false"), PAIRS)
def test_validated_step_is_read(true: str, false: str) -> None:
    """What is there, and what is not, decides."""
    assert (AUDITOR.sentence(true).status, AUDITOR.sentence(false).status in BAD) == ("supported", True)


@pytest.mark.parametrize(
    "text",
    [
        "Validation runs whenever a multiple of ten is reached.",
        "The next validation will tell whether it generalises.",
        "单步的变化多半是批次噪声，等下一次验证再下结论。",
        "Run a validation before deciding.",
    ],
)
def test_validated_plan_claims_nothing(text: str) -> None:
    """A plan, or how validation works, says of no step that it was validated."""
    assert AUDITOR.sentence(text).status not in BAD


def test_validated_long_text_is_left_alone() -> None:
    """A text of no sentence's length is not searched."""
    text = "validation no eval 没有 " * 4000
    assert AUDITOR.sentence(text).status not in {"contradicted"}
