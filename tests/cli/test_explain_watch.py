"""``explain --watch`` over a pipe that ends, and what it refuses."""

import io
import json
import sys

import pytest

from assistant.cli.main import main

LOG = "".join(f"step:{s} - actor/ppo_kl:{0.001 * s:.4f} - actor/entropy:0.5\n" for s in range(1, 9))


def test_explain_watch_answers_what_came_through_a_pipe(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOG.encode()), encoding="utf-8"))
    question = "What is actor/ppo_kl at step 8?"
    assert main(["explain", "-", "--watch", "--every", "0.01", "-q", question, "--format", "json"]) == 0
    out = capsys.readouterr().out
    decoder, last, place = json.JSONDecoder(), {}, 0
    while place < len(out.rstrip()):
        last, end = decoder.raw_decode(out[place:].lstrip())
        place = len(out) - len(out[place:].lstrip()) + end
    assert any(fact.get("value") == 0.008 for fact in last["facts"])


@pytest.mark.parametrize("more", [[], ["a.log", "b.log"], ["a.log", "-q", "x?", "-q", "y?"], ["a.log", "--clipboard"]])
def test_explain_watch_takes_one_log_and_one_question(more, capsys):
    assert main(["explain", "--watch", *more]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
