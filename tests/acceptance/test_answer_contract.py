"""The answer object keeps the contract, and its facts say what the log says."""

import json
import math
from collections.abc import Callable
from importlib import resources
from typing import Any

import jsonschema
import pytest

from . import figures
from .figures import EXAMPLE, ROOT, example_rows, read_rows
from .questions import QUESTIONS, VERDICTS
from .support import SCHEMA_ID, Answer, facts_of

AnswerTo = Callable[[str], Answer]

TOP_FIELDS = {
    "schema": str,
    "question": str,
    "language": str,
    "engine": str,
    "intent": str,
    "slots": dict,
    "verdict": dict,
    "answer": str,
    "findings": list,
    "facts": list,
    "citations": list,
    "charts": list,
    "runs": list,
    "grounding": dict,
    "usage": dict,
    "warnings": list,
}
FACT_FIELDS = {
    "value": {"metric", "step", "value", "line"},
    "change": {"metric", "from_step", "to_step", "from", "to", "delta", "ratio", "noise", "significant"},
    "trend": {"metric", "first_step", "last_step", "direction", "slope_per_step", "p_value", "n"},
    "derived": {"name", "value", "formula", "inputs"},
    "missing": {"metric", "step", "reason"},
    "share": {"name", "step", "value", "of"},
}
STEP_KINDS = {"none", "single", "pair", "range", "last_n", "first", "last", "all"}
OPERATIONS = {None, "max", "min", "mean", "argmax", "argmin", "first_crossing", "count"}
DIRECTIONS = {"rising", "falling", "flat", "fluctuating", "inconclusive"}


def rows_of(name: str, logs: dict[str, str]) -> dict[int, figures.Row]:
    return read_rows((ROOT / logs[QUESTIONS[name].log]).read_text(encoding="utf-8"))


def test_answer_fields_present_and_typed(answer_to: AnswerTo, asked: str) -> None:
    got = answer_to(asked)
    assert {name: type(got.get(name)) for name in TOP_FIELDS} == TOP_FIELDS
    assert got["schema"] == SCHEMA_ID
    assert got["question"] == QUESTIONS[asked].text
    assert got["engine"] in ("offline", "llm")


def test_answer_shipped_schema_satisfied(answer_to: AnswerTo, asked: str) -> None:
    shipped = resources.files("assistant") / "schemas" / "answer.schema.json"
    assert shipped.is_file()
    schema = json.loads(shipped.read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    assert not list(validator(schema).iter_errors(answer_to(asked)))


def test_verdict_code_is_one_of_its_intent(answer_to: AnswerTo, asked: str) -> None:
    got = answer_to(asked)
    verdict = got["verdict"]
    assert verdict["code"] in VERDICTS[got["intent"]]
    assert verdict["summary"].strip()
    assert "\n" not in verdict["summary"].strip()
    assert verdict["confidence"] in ("high", "medium", "low")


def test_slots_structure_kept(answer_to: AnswerTo, asked: str) -> None:
    slots = answer_to(asked)["slots"]
    assert all(isinstance(metric, str) for metric in slots["metrics"])
    assert slots["steps"]["kind"] in STEP_KINDS
    assert all(isinstance(step, int) for step in slots["steps"]["values"])
    assert slots["op"] in OPERATIONS


@pytest.mark.parametrize(
    ("name", "step"),
    [("validation-in-log", 0), ("explain-step-1", 1), ("step-2", 2), ("step-3", 3)],
)
def test_slots_single_step_named_understood(answer_to: AnswerTo, name: str, step: int) -> None:
    assert answer_to(name)["slots"]["steps"] == {"kind": "single", "values": [step]}


def test_slots_two_steps_named_understood(answer_to: AnswerTo) -> None:
    steps = answer_to("improved-en")["slots"]["steps"]
    assert steps["kind"] == "pair"
    assert sorted(steps["values"]) == [0, 2]


def test_slots_metric_named_by_its_short_name_resolved(answer_to: AnswerTo) -> None:
    assert answer_to("ppo-kl")["slots"]["metrics"] == ["actor/ppo_kl"]


def test_facts_ids_unique_and_fields_of_their_kind_present(answer_to: AnswerTo, asked: str) -> None:
    got = answer_to(asked)
    ids = [fact["id"] for fact in got["facts"]]
    assert len(set(ids)) == len(ids)
    runs = {run["id"] for run in got["runs"]}
    for fact in got["facts"]:
        assert fact["kind"] in FACT_FIELDS, fact
        assert FACT_FIELDS[fact["kind"]] <= fact.keys(), fact
        assert fact["run"] in runs


def test_facts_values_stand_in_the_log_at_their_line(answer_to: AnswerTo, logs: dict[str, str], asked: str) -> None:
    rows = rows_of(asked, logs)
    for fact in facts_of(answer_to(asked), "value"):
        row = rows[fact["step"]]
        assert fact["value"] == row.cells[fact["metric"]], fact
        assert fact["line"] == row.line, fact


def test_facts_changes_follow_from_the_log(answer_to: AnswerTo, logs: dict[str, str], asked: str) -> None:
    rows = rows_of(asked, logs)
    for fact in facts_of(answer_to(asked), "change"):
        before = rows[fact["from_step"]].cells[fact["metric"]]
        after = rows[fact["to_step"]].cells[fact["metric"]]
        assert (fact["from"], fact["to"]) == (before, after), fact
        assert math.isclose(fact["delta"], after - before, rel_tol=1e-9, abs_tol=1e-15), fact
        if before:
            assert math.isclose(fact["ratio"], after / before, rel_tol=1e-9), fact
        assert fact["noise"] is None or fact["noise"] >= 0
        assert fact["significant"] in (True, False, None)


def test_facts_shares_follow_from_the_log(answer_to: AnswerTo, logs: dict[str, str], asked: str) -> None:
    rows = rows_of(asked, logs)
    for fact in facts_of(answer_to(asked), "share"):
        cells = rows[fact["step"]].cells
        if fact["name"] in cells:
            assert math.isclose(fact["value"], cells[fact["name"]] / cells[fact["of"]], rel_tol=1e-9), fact


def test_facts_trends_well_formed(answer_to: AnswerTo, asked: str) -> None:
    for fact in facts_of(answer_to(asked), "trend"):
        assert fact["direction"] in DIRECTIONS
        assert fact["first_step"] <= fact["last_step"]
        assert fact["n"] >= 1


def test_facts_referred_to_exist(answer_to: AnswerTo, asked: str) -> None:
    got = answer_to(asked)
    ids = {fact["id"] for fact in got["facts"]}
    for fact in facts_of(got, "derived"):
        assert fact["formula"].strip()
        assert set(fact["inputs"]) <= ids, fact
    for finding in got["findings"]:
        assert set(finding["evidence"]) <= ids, finding


def test_facts_missing_are_missing_in_the_log(answer_to: AnswerTo, logs: dict[str, str], asked: str) -> None:
    rows = rows_of(asked, logs)
    for fact in facts_of(answer_to(asked), "missing"):
        assert fact["reason"].strip()
        assert fact["step"] not in rows or fact["metric"] not in rows[fact["step"]].cells, fact


def test_findings_well_formed(answer_to: AnswerTo, asked: str) -> None:
    findings = answer_to(asked)["findings"]
    assert len({finding["id"] for finding in findings}) == len(findings)
    for finding in findings:
        assert finding["severity"] in ("info", "ok", "warning", "critical")
        assert finding["rule"].strip()
        assert finding["statement"].strip()
        assert isinstance(finding["metrics"], list)
        assert set(finding["steps"]) <= set(figures.STEPS)


def test_grounding_every_number_supported(answer_to: AnswerTo, asked: str) -> None:
    grounding = answer_to(asked)["grounding"]
    assert grounding["unsupported"] == []
    assert grounding["numbers"] == grounding["supported"] > 0


def test_citations_well_formed(answer_to: AnswerTo, asked: str) -> None:
    citations = answer_to(asked)["citations"]
    assert len({citation["id"] for citation in citations}) == len(citations)
    for citation in citations:
        assert citation["card"].strip()
        assert citation["title"].strip()
        assert citation["source"].strip()


def test_charts_draw_what_the_log_holds(answer_to: AnswerTo, logs: dict[str, str], asked: str) -> None:
    rows = rows_of(asked, logs)
    for chart in answer_to(asked)["charts"]:
        assert chart["title"]
        assert chart["kind"]
        for series in chart["series"]:
            assert len(series["steps"]) == len(series["values"])
            cells: list[Any] = [rows[step].cells.get(series["metric"]) for step in series["steps"]]
            assert all(cell in (value, None) for cell, value in zip(cells, series["values"], strict=True))


def test_runs_example_described(answer_to: AnswerTo) -> None:
    (run,) = answer_to("step-2")["runs"]
    assert run["format"] == "verl"
    assert run["steps"] == [0, 3]
    assert run["n_steps"] == 4
    assert run["n_metrics"] == len(set().union(*(row.cells for row in example_rows().values())))
    assert isinstance(run["warnings"], list)


def test_explain_without_a_question_explains_what_matters(ask: Callable[..., Any]) -> None:
    done = ask("explain", EXAMPLE, "--lang", "en", "--format", "json")
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert got["intent"] in ("explain", "health")
    assert got["facts"]
    assert got["grounding"]["unsupported"] == []
