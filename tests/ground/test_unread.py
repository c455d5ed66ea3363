"""What the words of a sentence say must be borne out: directions in any words, steps, orders, metrics that are none."""

# ruff: noqa: E501 (sentences stay on one line)
from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.ground.audit import Auditor
from assistant.ground.cues import cue
from assistant.ground.thesaurus import SENSES, directions, forms
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text

RESOLVER = Resolver(library())


def _auditor() -> Auditor:
    """Reward rises throughout, entropy falls, grad norm peaks at step 12 and then falls, generation doubles to step 11."""
    rows = [
        {
            "step": step,
            "critic/rewards/mean": round(0.10 + 0.02 * step, 4),
            "actor/entropy": round(0.90 - 0.02 * step, 4),
            "actor/grad_norm": round(1.5 - abs(step - 12) * 0.05, 4),
            "timing_s/step": 100.0 + step,
            "timing_s/gen": 50.0 + 5 * (step - 1),
        }
        for step in range(1, 31)
    ]
    return Auditor([parse_text("\n".join(map(json.dumps, rows)), name="train.jsonl").runs[0]], RESOLVER)


AUDITOR = _auditor()


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Entropy drifted a bit lower between step 3 and step 20.", "Entropy crept up between step 3 and step 20."),
        ("From step 3 to step 20 mean reward picked up.", "From step 3 to step 20 mean reward came off."),
        ("Mean reward leapt to 0.5 by step 20, having been 0.16 at step 3.", "Mean reward nosedived to 0.5 by step 20, having been 0.16 at step 3."),
        ("策略熵从第 3 步的 0.84 一路滑到第 20 步的 0.5。", "策略熵从第 3 步的 0.84 一路爬到第 20 步的 0.5。"),
        ("越往后策略熵越小。", "越往后策略熵越大。"),
        ("Grad norm topped out on step 12 and has been falling ever since.", "Grad norm topped out on step 12 and has been climbing ever since."),
        ("第 12 步见顶之后，grad norm 一路下滑。", "第 9 步见顶之后，grad norm 一路下滑。"),
        ("No other step has grad norm as high as step 12.", "No other step has grad norm as high as step 13."),
        ("没有哪一步的 grad norm 比第 12 步更高。", "没有哪一步的 grad norm 比第 14 步更高。"),
        ("策略熵的最大值落在第 1 步，最小值落在第 30 步。", "策略熵的最大值落在第 30 步，最小值落在第 1 步。"),
        ("Grad norm is above 1.42 only at steps 11, 12 and 13.", "Grad norm is above 1.42 only at steps 11, 12 and 15."),
        ("Generation time at step 1 is only half of what step 11 had.", "Generation time at step 1 is only half of what step 26 had."),
    ],
)  # fmt: skip
def test_audit_direction_or_step_against_the_log_is_caught(true: str, false: str) -> None:
    assert AUDITOR.audit(true).sentences[0].status == "supported", AUDITOR.audit(true).to_json()
    assert AUDITOR.audit(false).sentences[0].status in {"contradicted", "unsupported"}, AUDITOR.audit(false).to_json()


@pytest.mark.parametrize(
    "text",
    [
        "Perplexity nosedived over the course of the run.",
        "Parameter-update norm barely budged from step 5 to step 16.",
        "越往后困惑度越小。",
        "No sign of perplexity going up.",
    ],
)
def test_audit_course_of_a_metric_the_log_lacks_is_not_borne_out(text: str) -> None:
    assert AUDITOR.audit(text).sentences[0].status in {"contradicted", "unsupported"}


@pytest.mark.parametrize("text", ["Perplexity is not logged.", "MFU is the achieved FLOPs divided by the peak FLOPs."])
def test_audit_metric_denied_or_defined_is_no_falsehood(text: str) -> None:
    assert AUDITOR.audit(text).sentences[0].status in {"supported", "no_claim"}


def test_audit_leading_minus_of_a_text_is_a_sign_and_no_bullet() -> None:
    assert AUDITOR.audit("-0.84: entropy at step 3.").sentences[0].status == "contradicted"


def test_audit_row_cell_under_an_unknown_title_must_be_held_by_its_step() -> None:
    table = "| step | entropy | wobble |\n|---|---|---|\n| 3 | 0.84 | {} |"
    assert AUDITOR.audit(table.format("0.8400")).sentences[-1].status == "supported"
    assert AUDITOR.audit(table.format("7.1234")).sentences[-1].status == "unsupported"


def test_audit_two_runs_the_one_named_is_compared_with_the_other() -> None:
    texts = [json.dumps({"step": s, "actor/entropy": v - 0.01 * s}) for s in range(1, 6) for v in (0.9,)]
    lower = [json.dumps({"step": s, "actor/entropy": 0.4 - 0.01 * s}) for s in range(1, 6)]
    runs = [parse_text("\n".join(texts), name="alpha").runs[0], parse_text("\n".join(lower), name="beta").runs[0]]
    auditor = Auditor(runs, RESOLVER)
    assert (
        auditor.audit("Of the two, alpha is the one that finishes with the higher entropy.").sentences[0].status
        == "supported"
    )
    assert (
        auditor.audit("Of the two, alpha is the one that finishes with the lower entropy.").sentences[0].status
        == "contradicted"
    )


@pytest.mark.parametrize("sense", sorted(SENSES.values()))
def test_directions_of_every_sense_is_a_pattern(sense: str) -> None:
    assert re.compile(directions(sense), re.IGNORECASE).groups >= 0


@given(st.sampled_from(["creep crept", "slip", "inch", "intensify", "fade", "sink sank sunk", "soften", "nudge"]))
def test_forms_of_a_verb_are_read_whole(entry: str) -> None:
    found = forms(entry)
    assert found[0] == entry.split(maxsplit=1)[0]
    assert len(found) == len(set(found)) >= 4
    assert any(form.endswith("ing") for form in found)


@pytest.mark.parametrize("words", ["crept up", "drifted a bit higher", "ballooned", "节节攀升", "冲高", "picked up"])
def test_cue_up_holds_the_thesaurus(words: str) -> None:
    assert cue("up").search(f"entropy {words} then")
    assert not cue("down").search(f"entropy {words} then")
