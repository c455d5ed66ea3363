"""Advice in the words of the log's own trainer."""

from __future__ import annotations

import re

import pytest

from assistant.ask.spelt import fitted, table
from assistant.knowledge import library
from assistant.parsing import parse_text
from evals.diagnosis.cases import make
from tests.ask.support import answerer

LABELS = ("FM-01", "FM-02", "FM-07", "FM-08", "FM-12", "FM-16", "FM-19")
CARDS = [card for card in library() if card.framework == "failure"]
NAME = re.compile(r"`([^`\n]+)`")


@pytest.mark.parametrize("framework", ["TRL", "ROLL"])
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("question", ["怎么办", "what should I do?"])
def test_advice_names_no_key_that_the_log_does_not_hold(label: str, framework: str, question: str) -> None:
    run = parse_text(make(label, 3, framework, "strong").text).runs[0]
    answer = answerer().ask(question, (run,))[0]
    options = {entry[framework] for entry in table().values() if framework in entry}
    named = set(NAME.findall(answer.answer)) - set(run.columns) - options - {"beta", "eval_strategy", "eval_steps"}
    assert not {name for name in named if "/" in name or "_" in name or "@" in name}, named
    assert not answer.grounding.unsupported


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.id)
def test_every_name_of_a_card_has_plain_words_for_other_trainers(card, language: str) -> None:  # type: ignore[no-untyped-def]
    run = parse_text("step: 1 - loss: 0.5 - custom_gap: 0.1\nstep: 2 - loss: 0.4 - custom_gap: 0.2").runs[0]
    text = card.section(language, "next")
    told = "".join(said for said, _ in fitted(text, run, language, remarks=False))
    left = {name for name in NAME.findall(told) if name in table()}
    assert not left
    assert all(said in text for said, own in fitted(text, run, language, remarks=False) if own)


def test_remarks_on_keys_of_another_trainer_are_left_out() -> None:
    card = next(card for card in CARDS if card.id == "failure/truncation-noise")
    roll = parse_text(make("FM-07", 3, "ROLL", "strong").text).runs[0]
    verl = parse_text(make("FM-07", 3, "verl", "strong").text).runs[0]
    for run, there in ((roll, False), (verl, True)):
        told = "".join(said for said, _ in fitted(card.section("en", "not"), run, "en", remarks=True))
        assert ("V1" in told) is there
        assert "end-of-sequence" in told


@pytest.mark.parametrize(("framework", "option"), [("TRL", "`beta`"), ("verl", "`kl_loss_coef`")])
@pytest.mark.parametrize(("question", "words"), [("怎么办", "已经开着"), ("what should I do?", "rather than add")])
def test_advice_on_drift_sees_that_the_kl_term_is_on(framework: str, option: str, question: str, words: str) -> None:
    told = 0
    for seed in range(1, 7):
        run = parse_text(make("FM-19", seed, framework, "strong").text).runs[0]
        answer = answerer().ask(question, (run,))[0]
        drift = any(citation.card == "failure/reference-drift" for citation in answer.citations)
        printed = {"TRL": "kl", "verl": "actor/kl_loss"}[framework] in run.columns
        if drift and printed:
            told += 1
            assert words in answer.answer
            assert option in answer.answer
    assert told
