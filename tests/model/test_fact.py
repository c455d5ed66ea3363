"""Facts, findings and answers as the contract's JSON; errors in two languages."""

from __future__ import annotations

import inspect
import json
import math

import pytest

from assistant.model import Answer, AssistantError, Chart, Fact, Finding, InputError, Series, Slots, StepSlot, Verdict
from assistant.model import errors as errors_module


def test_to_json_of_a_value_holds_only_what_is_known() -> None:
    fact = Fact("E1", "value", run="r0", metric="critic/rewards/mean", step=1, value=0.0469, line=79)
    assert fact.to_json() == {
        "id": "E1", "kind": "value", "run": "r0", "metric": "critic/rewards/mean", "step": 1, "value": 0.0469,
        "line": 79,
    }  # fmt: skip


def test_to_json_of_a_change_uses_from_and_to_and_says_what_is_unknown() -> None:
    fact = Fact("E2", "change", metric="m", from_step=1, to_step=2, from_value=0.0, to_value=0.1, delta=0.1)
    document = fact.to_json()
    assert (document["from"], document["to"]) == (0.0, 0.1)
    assert "from_value" not in document
    assert [document[name] for name in ("ratio", "noise", "significant")] == [None, None, None]


@pytest.mark.parametrize(("value", "text"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")])
def test_to_json_of_a_value_not_finite_is_strict(value: float, text: str) -> None:
    assert json.loads(json.dumps(Fact("E1", "value", value=value).to_json(), allow_nan=False))["value"] == text


def test_to_json_of_zero_and_false_keeps_them() -> None:
    assert Fact("E1", "derived", name="n", value=0).to_json()["value"] == 0
    assert Fact("E1", "derived", name="n", value=False).to_json()["value"] is False


def test_to_json_of_a_finding_is_the_contracts_object() -> None:
    finding = Finding("F1", "rule", "warning", ("actor/ppo_kl",), (3,), "so it is.", ("E4",))
    assert finding.to_json() == {
        "id": "F1", "rule": "rule", "severity": "warning", "metrics": ["actor/ppo_kl"], "steps": [3],
        "statement": "so it is.", "evidence": ["E4"],
    }  # fmt: skip


def test_to_json_of_an_answer_is_strict_and_complete() -> None:
    chart = Chart("t", "line", (Series("r0", "loss", (1, 2), (0.5, math.nan)),))
    slots = Slots(("loss",), StepSlot("pair", (1, 2)), "max")
    answer = Answer("q", "en", "offline", "trend", slots, Verdict("rising", "s"), "text", charts=(chart,))
    document = json.loads(json.dumps(answer.to_json(), allow_nan=False))
    assert document["schema"] == "metric-assistant/answer/1"
    assert document["slots"] == {"metrics": ["loss"], "steps": {"kind": "pair", "values": [1, 2]}, "op": "max"}
    assert document["charts"][0]["series"][0]["values"] == [0.5, "NaN"]
    assert set(document) >= {
        "question", "language", "engine", "intent", "verdict", "answer", "findings", "facts", "citations", "charts",
        "runs", "grounding", "usage", "warnings",
    }  # fmt: skip


def error_types() -> list[type[AssistantError]]:
    found = [t for _, t in inspect.getmembers(errors_module, inspect.isclass) if issubclass(t, AssistantError)]
    return sorted(found, key=lambda t: t.__name__)


@pytest.mark.parametrize("kind", error_types())
def test_error_says_its_message_in_both_languages(kind: type[AssistantError]) -> None:
    error = kind(zh="坏了", en="broken")
    assert (error.message("zh"), error.message("en"), str(error)) == ("坏了", "broken", "broken")
    assert error.code


def test_error_codes_of_input_are_each_their_own() -> None:
    codes = [kind.code for kind in error_types() if issubclass(kind, InputError)]
    assert len(codes) == len(set(codes))
