"""The audit of the offline engine's own words: supported as they stand, refused with one digit changed."""

from __future__ import annotations

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
