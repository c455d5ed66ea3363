"""A word of direction that no reader rests on bears nothing out: its opposite would have passed as well."""

# ruff: noqa: E501 (sentences stay on one line)
from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.ground.audit import Auditor
from assistant.ground.turning import _turns
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text

RESOLVER = Resolver(library())
BAD = {"contradicted", "unsupported"}


def _row(step: int) -> dict[str, float]:
    """KL rises; the loss is greatest at step 12 and least at step 21; length falls; the score is greatest at step 24."""
    return {
        "step": step,
        "actor/kl_loss": round(0.010 + 0.004 * step, 4),
        "actor/pg_loss": {12: 0.9120, 21: 0.1040}.get(step, round(0.4 + 0.01 * (step % 7), 4)),
        "critic/score/mean": {24: 0.8110}.get(step, round(0.30 + 0.01 * step, 4)),
        "critic/advantages/min": round(-22.0 + 0.5 * step, 3),
        "response_length/mean": 900.0 - 10 * step,
        "critic/returns/mean": round(0.5 - 0.04 * step, 3),
        "timing_s/step": {9: 301.0}.get(step, 120.0 - step),
    }


AUDITOR = Auditor(
    [parse_text("\n".join(json.dumps(_row(step)) for step in range(1, 31)), name="train.jsonl").runs[0]], RESOLVER
)


def _bad(text: str) -> bool:
    return any(sentence.status in BAD for sentence in AUDITOR.audit(text).sentences)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("第 21 步的 pg_loss 最低，是 0.104。", "第 21 步的 pg_loss 最高，是 0.104。"),
        ("第 12 步的 pg_loss 是全程最大的，0.912。", "第 12 步的 pg_loss 是全程最小的，0.912。"),
        ("第 12 步的 pg_loss 是峰值，0.912。", "第 12 步的 pg_loss 是谷值，0.912。"),
        ("pg_loss is smallest at step 21, 0.104.", "pg_loss is largest at step 21, 0.104."),
        ("By step 12 pg_loss had reached its high of 0.912.", "By step 12 pg_loss had reached its low of 0.912."),
        ("critic/score/mean is at its best at step 24, 0.811.", "critic/score/mean is at its worst at step 24, 0.811."),
        ("Step 12 reports a pg_loss of 0.912, the largest value logged.", "Step 12 reports a pg_loss of 0.912, the smallest value logged."),
        ("第 12 步的 pg_loss 为 0.912，是全程最高；最低出现在第 21 步，为 0.104。", "第 12 步的 pg_loss 为 0.912，是全程最低；最低出现在第 21 步，为 0.104。"),
        ("第 24 步的得分比第 30 步好：0.811 对 0.60。", "第 24 步的得分比第 30 步差：0.811 对 0.60。"),
        ("第 3 步的 KL 是 0.022，第 20 步更高到 0.09。", "第 3 步的 KL 是 0.022，第 20 步更低到 0.09。"),
        ("The pg_loss at step 13 is back down at 0.46.", "The pg_loss at step 13 is back up at 0.46."),
        ("critic/returns/mean swings from positive to negative between step 3 (0.38) and step 20 (-0.3).", "critic/returns/mean swings from negative to positive between step 3 (0.38) and step 20 (-0.3)."),
        ("pg_loss blows up to 0.912 at step 12.", "pg_loss dips to 0.912 at step 12."),
        ("最小优势的绝对值变小了：第 3 步为 -20.5，第 20 步为 -12。", "最小优势的绝对值变大了：第 3 步为 -20.5，第 20 步为 -12。"),
        ("KL moves away from zero, from 0.022 at step 3 to 0.090 at step 20.", "KL moves towards zero, from 0.022 at step 3 to 0.090 at step 20."),
    ],
)  # fmt: skip
def test_audit_direction_word_that_says_the_opposite_is_not_supported(true: str, false: str) -> None:
    assert AUDITOR.audit(true).sentences[0].status == "supported", AUDITOR.audit(true).to_json()
    assert not _bad(true), AUDITOR.audit(true).to_json()
    assert _bad(false), AUDITOR.audit(false).to_json()


@pytest.mark.parametrize(
    "text",
    [
        "KL never rises above 0.2.",
        "An answer of 600 tokens turns up at step 30.",
        "Reward is not higher at step 3 than at step 20.",
        "第 9 步最慢，用了 301 秒，综上无需处理。",
        "第 20 步的 KL 是第 3 步的四倍多：0.022 → 0.090。",
    ],
)
def test_audit_set_phrases_and_denials_are_not_turned(text: str) -> None:
    claims = [claim for sentence in AUDITOR.audit(text).sentences for claim in sentence.claims]
    assert not [
        claim for claim in claims if claim.text in {"rises", "up", "higher", "最慢", "0.090"} and claim.status in BAD
    ]


@given(
    step=st.sampled_from((12, 21)),
    words=st.sampled_from(
        (("highest", "lowest"), ("largest", "smallest"), ("greatest", "smallest"), ("最高", "最低"), ("最大", "最小"))
    ),
)
def test_audit_extreme_beside_its_value_holds_in_one_way_alone(step: int, words: tuple[str, str]) -> None:
    value = _row(step)["actor/pg_loss"]
    right, wrong = words if step == 12 else words[::-1]
    shape = (
        f"第 {step} 步的 pg_loss 是 {value}，全程{{}}。"
        if words[0] in {"最高", "最大"}
        else f"pg_loss reads {value} at step {step}, the {{}} of the run."
    )
    assert not _bad(shape.format(right))
    assert _bad(shape.format(wrong))


def test_turns_every_word_has_an_opposite_that_is_a_word() -> None:
    words = _turns().words
    assert len(words) > 150
    for word, (kind, more, other) in words.items():
        assert other in words, word
        assert words[other][0] == kind, word
        assert words[other][1] != more, word


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("By step 20 the KL is up to about four times its value at step 3 (0.090 vs 0.022).", "By step 20 the KL is up to about four times its value at step 3 (0.022 vs 0.090)."),
        ("第 20 步之后平均每步 94.5 秒，之前 119 秒。", "第 20 步之后平均每步 119 秒，之前 94.5 秒。"),
    ],
)  # fmt: skip
def test_audit_values_in_each_others_place_are_not_supported(true: str, false: str) -> None:
    assert not _bad(true), AUDITOR.audit(true).to_json()
    assert _bad(false), AUDITOR.audit(false).to_json()
