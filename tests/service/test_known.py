"""The audit of the offline engine's own words: supported as they stand, refused with one digit changed."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest

from assistant.service import service
from assistant.service.facade import Material, Source
from assistant.service.verifying import verify
from tests.timing import assert_quick

LOG = (Path(__file__).resolve().parents[2] / "examples" / "verl-retool-steps-0-3.log").read_text(encoding="utf-8")


@cache
def material() -> Material:
    return service().read([Source("example.log", LOG)])


@pytest.mark.parametrize("question", ["瓶颈在哪", "where is the bottleneck"])
def test_own_answer_audited_nothing_refused(question: str) -> None:
    answer = service().explain(material(), question, engine="offline").answer
    audit = verify(material(), answer.answer)
    assert [s.text for s in audit.sentences if s.status in {"contradicted", "unsupported"}] == []
    assert audit.summary["supported"] >= 3
    known = {fact.id for fact in audit.facts}
    assert all(claim.fact in known for s in audit.sentences for claim in s.claims if claim.fact is not None)


@cache
def trained() -> Material:
    """Thirty steps: reward rises, entropy falls, one gradient is large."""
    rows = [
        {
            "step": step,
            "critic/rewards/mean": round(0.2 + 0.01 * step + 0.02 * (step % 3), 4),
            "actor/entropy": round(0.9 - 0.012 * step, 4),
            "actor/grad_norm": 1.9 if step == 17 else round(0.4 + 0.01 * (step % 5) - 0.0007 * step, 4),
            "response_length/mean": 300.0 + 7 * step + 11 * (step % 4),
            "response_length/clip_ratio": round(0.001 * step, 4),
            "timing_s/step": 80.0 + step % 7,
            "timing_s/gen": 50.0 + step % 5,
        }
        for step in range(1, 31)
    ]
    return service().read([Source("train.jsonl", "\n".join(map(json.dumps, rows)))])


@pytest.mark.parametrize(
    "question",
    [
        "正常吗", "Give me an overview", "actor/entropy 什么意思", "what does actor/entropy mean?",
        "step 3 到 9 之间 grad norm 的最大值", "highest grad_norm in the last 10 steps",
        "grad_norm 大于 0.5 的有几步", "how many steps have grad_norm over 0.45",
        "有没有 nan 啊", "where does the time go in step 12", "为什么后面变慢了", "is actor/entropy stable?",
    ],
)  # fmt: skip
def test_own_answer_of_any_kind_pasted_back_is_not_refused(question: str) -> None:
    answer = service().explain(trained(), question, engine="offline").answer.answer
    audit = verify(trained(), answer)
    assert [s.text for s in audit.sentences if s.status in {"contradicted", "unsupported"}] == []


@pytest.mark.parametrize("question", ["正常吗", "Give me an overview"])
def test_own_row_with_a_digit_changed_refused(question: str) -> None:
    answer = service().explain(trained(), question, engine="offline").answer.answer
    row = next(line for line in answer.split("\n") if line.startswith("| `actor/entropy` |"))
    number = re.findall(r"\d+\.\d+", row)[-1]
    changed = row.replace(number, f"{float(number) + 0.123:.3f}")
    audit = verify(trained(), answer.replace(row, changed))
    assert [s.text for s in audit.sentences if s.status in {"contradicted", "unsupported"}] == [changed]


def test_own_sentence_with_a_digit_changed_refused() -> None:
    answer = service().explain(material(), "瓶颈在哪", engine="offline").answer.answer
    changed = re.sub(r"(\d+)( 秒)", lambda m: f"{int(m[1]) + 17}{m[2]}", answer, count=1)
    assert changed != answer
    audit = verify(material(), changed)
    assert audit.summary["contradicted"] + audit.summary["unsupported"] >= 1


def test_refused_sentence_not_in_our_wording_costs_no_question() -> None:
    verify(material(), "The reward at step 2 is 0.9.")
    audits = []
    assert_quick(lambda: audits.append(verify(material(), "The reward at step 2 is 0.8.")), 0.5, tries=2)
    assert audits[0].summary["contradicted"] == 1
