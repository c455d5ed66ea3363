"""Answers from the JSON that :meth:`assistant.model.Answer.to_json` made: for pages of what was answered before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from assistant.model import Answer, Chart, Fact, Finding, Number, Series, Slots, StepSlot, Verdict
from assistant.model.answer import Citation, Grounding, Mention, Usage

_NUMBERS: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_RENAMED: Final = {"from": "from_value", "to": "to_value"}
_FACT: Final = frozenset(field.name for field in fields(Fact))
_USAGE: Final = frozenset(field.name for field in fields(Usage))


def answer_from_json(data: Mapping[str, Any]) -> Answer:
    """The answer; fields that a later version added are left out.

    Raises:
        KeyError: a field that every version has is not there.
    """
    slots, verdict, grounding = data["slots"], data["verdict"], data["grounding"]
    return Answer(
        question=data["question"], language=data["language"], engine=data["engine"], intent=data["intent"],
        slots=Slots(
            tuple(slots["metrics"]), StepSlot(slots["steps"]["kind"], tuple(slots["steps"]["values"])), slots["op"]
        ),
        verdict=Verdict(verdict["code"], verdict["summary"], verdict["confidence"]),
        answer=data["answer"],
        findings=tuple(_finding(one) for one in data["findings"]),
        facts=tuple(_fact(one) for one in data["facts"]),
        citations=tuple(Citation(c["id"], c["card"], c["title"], c["source"]) for c in data["citations"]),
        charts=tuple(
            Chart(chart["title"], chart["kind"], tuple(_series(one) for one in chart["series"]))
            for chart in data["charts"]
        ),
        runs=tuple(dict(run) for run in data["runs"]),
        mentions=tuple(Mention(m["start"], m["end"], m["fact"]) for m in data.get("mentions", ())),
        grounding=Grounding(grounding["numbers"], grounding["supported"], tuple(grounding["unsupported"])),
        usage=Usage(**{name: value for name, value in data["usage"].items() if name in _USAGE}),
        warnings=tuple(data["warnings"]),
        suggestions=tuple(data.get("suggestions", ())),
    )  # fmt: skip


def _number(value: Any) -> Any:
    return _NUMBERS.get(value, value) if isinstance(value, str) else value


def _fact(data: Mapping[str, Any]) -> Fact:
    held = {_RENAMED.get(name, name): _number(value) for name, value in data.items()}
    if held.get("inputs") is not None:
        held["inputs"] = tuple(held["inputs"])
    return Fact(**{name: value for name, value in held.items() if name in _FACT})


def _finding(data: Mapping[str, Any]) -> Finding:
    return Finding(
        data["id"], data["rule"], data["severity"], tuple(data["metrics"]), tuple(data["steps"]), data["statement"],
        tuple(data["evidence"]), data.get("mode"), data.get("onset"), data.get("card"),
        tuple((data.get("considered") or {}).items()),
    )  # fmt: skip


def _series(data: Mapping[str, Any]) -> Series:
    values: list[Number] = [_number(value) for value in data["values"]]
    return Series(data["run"], data["metric"], tuple(data["steps"]), tuple(values))
