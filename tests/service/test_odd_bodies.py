"""Logs and texts that a fuzzing run found to break an answer."""

from __future__ import annotations

import json

import pytest

from assistant.model.jsontext import json_bytes
from assistant.service.checking import check_runs
from assistant.service.facade import Source, service
from assistant.service.verifying import verify

HUGE = "1" * 40


def test_parsed_integers_beyond_64_bits_are_written_whole() -> None:
    material = service().read([Source("log", f"step:1 - timing_s/gen:{HUGE}\nstep:2 - timing_s/gen:2\n".encode())])
    document = json.loads(json_bytes({"runs": [run.to_json() for run in material.runs]}))
    assert document["runs"][0]["rows"][0]["values"]["timing_s/gen"] == int(HUGE)


def test_explain_of_integers_beyond_64_bits_can_be_written() -> None:
    rows = "\n".join(f"step:{n} - critic/score/mean:{HUGE}{n} - actor/entropy:0.5" for n in range(1, 8))
    answer = service().explain(service().read([Source("log", rows.encode())]), "score 多少").answer
    assert json.loads(json_bytes(answer.to_json()))["intent"] == answer.intent


@pytest.mark.parametrize("text", ["İ actor/entropy is 0.5 at step 1 İ", "İİİİ entropyİ 0.5"])
def test_audit_of_letters_whose_small_form_is_longer_keeps_its_places(text: str) -> None:
    material = service().read([Source("log", b"step:1 - actor/entropy:0.5\nstep:2 - actor/entropy:0.4\n")])
    audit = verify(material, text)
    assert "".join(text[s.start : s.end] for s in audit.sentences).strip() == text.strip()


def test_check_of_a_chain_with_a_missing_link_passes_over_it() -> None:
    row = "val-aux/aime/acc/best@2/mean:{} - val-core/aime/acc/mean@8:0.2 - val-core/aime/acc/best@8/mean:0.5"
    rows = [
        f"step:{n} - {row.format(value)} - critic/score/mean:0.3" for n, value in enumerate(("inf", "1e999", "nan"))
    ]
    material = service().read([Source("log", "\n".join(rows).encode())])
    assert check_runs(material.runs, service().resolver).to_json()["findings"] is not None
