"""From verdicts to tables, and the command line with a check that is scripted."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from evals.faithfulness import __main__ as runner
from evals.faithfulness.cases import Case
from evals.faithfulness.score import Outcome, misses, outcome, tables


def case(truth: str, half: str = "open", falsehood: str | None = None, name: str = "en-x-0") -> Case:
    return Case(name, half, "en", (("example", "example"),), "value", truth, falsehood, "Entropy is 0.156 at step 1.")


def answer(*statuses: str) -> dict[str, Any]:
    claim = {"text": "0.156", "status": "contradicted", "reason": "the log says 0.157", "fact": "E1"}
    return {"sentences": [{"text": "Entropy …", "status": status, "claims": [claim]} for status in statuses]}


def test_outcome_false_sentence_contradicted_is_caught() -> None:
    found = outcome(case("false", falsehood="value"), answer("supported", "contradicted"))
    assert found.flagged
    assert found.contradicted
    assert not found.missed


def test_outcome_false_sentence_let_through_is_missed() -> None:
    assert outcome(case("false", falsehood="value"), answer("supported")).missed
    assert outcome(case("false", falsehood="value"), answer("no_claim")).missed


def test_outcome_true_sentence_unsupported_is_refused() -> None:
    found = outcome(case("true"), answer("supported", "unsupported"))
    assert found.flagged
    assert found.missed
    assert not found.supported


def test_outcome_check_that_fails_is_wrong_either_way() -> None:
    assert Outcome(case("true"), (), (), "ValueError: x").missed
    assert Outcome(case("false", falsehood="value"), (), (), "ValueError: x").missed


def test_outcome_status_outside_the_contract_is_an_error() -> None:
    with pytest.raises(ValueError, match="maybe"):
        outcome(case("true"), answer("maybe"))
    with pytest.raises(ValueError, match="no list"):
        outcome(case("true"), {})


def test_tables_counts_and_shares_are_those_of_the_outcomes() -> None:
    found = [
        outcome(case("false", falsehood="value"), answer("contradicted")),
        outcome(case("false", falsehood="value"), answer("unsupported")),
        outcome(case("false", falsehood="value"), answer("supported")),
        outcome(case("true"), answer("supported")),
        outcome(case("true"), answer("unsupported")),
        outcome(case("no_claim"), answer("no_claim")),
    ]
    text = tables(found)
    assert "| all | 2/3 (66.7%) | 1/3 (33.3%) | 1/2 (50.0%) | 1/2 (50.0%) | 0/1 (0.0%) |" in text
    assert "| zh | — |" in text
    assert "| value | — | 2/3 (66.7%) | 2/3 (66.7%) | 1/3 (33.3%) |" in text


def test_misses_held_case_is_never_shown() -> None:
    shown = misses([outcome(case("true", "held"), answer("unsupported"))])
    opened = misses([outcome(case("true"), answer("unsupported"))])
    assert not shown
    assert "Entropy is 0.156" in opened
    assert "the log says 0.157" in opened


def test_main_held_misses_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        runner.main(["--held", "--misses"])
    assert "never shown" in capsys.readouterr().err


def test_main_scripted_check_is_asked_and_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, str]] = []

    def verify(material: Any, text: str, language: str, resolver: Any) -> Any:
        asked.append((material.runs[0].name, text))
        return SimpleNamespace(to_json=lambda: answer("supported"))

    module = ModuleType("assistant.service.verifying")
    module.verify = verify  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "assistant.service.verifying", module)
    monkeypatch.setattr(runner, "cases", lambda: (case("true"), case("false", falsehood="value", name="en-x-0~value")))
    assert runner.main(["--misses"]) == 0
    printed = capsys.readouterr().out
    assert [name for name, _ in asked] == ["example", "example"]
    assert "en-x-0~value [example] false (value)" in printed
    assert "| en | 0/1 (0.0%) | 0/1 (0.0%) | 0/1 (0.0%) | 1/1 (100.0%) | — |" in printed
