"""Broken identities as findings: the statement, the numbers, the cell to check, and why it may be."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.analysis import Ledger
from assistant.analysis.identities import identities, verify
from assistant.ask.context import Context
from assistant.ask.understand import Query
from assistant.ask.violations import broken
from assistant.knowledge import library
from assistant.knowledge.resolver import Resolver
from assistant.model import Run
from assistant.parsing import parse_text
from assistant.write.document import unmark

RESOLVER = Resolver(library())
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "verl-retool-steps-0-3.log"


@pytest.fixture(scope="module")
def edited() -> Run:
    text = EXAMPLE.read_text(encoding="utf-8")
    changed = re.sub(r"perf/time_per_step:(np\.float64\()?4334\.19", r"perf/time_per_step:\g<1>4434.19", text, count=1)
    assert changed != text
    return parse_text(changed).runs[0]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_broken_states_the_law_the_numbers_and_the_suspect(edited: Run, language: str) -> None:
    context = Context(Query("", language, "health"), (edited,), RESOLVER, Ledger([edited]))
    violations = verify(context.ledger, edited)
    assert {violation.identity for violation in violations} == {"I-01", "I-02"}
    for violation in violations:
        sentence = unmark(broken(context, violation))
        finding = context.findings[-1]
        assert identities()[violation.identity].says(language) in sentence
        assert finding.rule == f"identity/{violation.identity}"
        assert finding.statement == sentence
        assert (finding.severity, finding.steps) == ("warning", (1,))
        assert "`perf/time_per_step`" in sentence
        assert all(context.ledger.get(fact) is not None for fact in finding.evidence)


def test_broken_every_reason_has_its_sentence(edited: Run) -> None:
    said = set()
    for reason in ("truncated", "edited", "mixed_versions", "other"):
        context = Context(Query("", "zh", "health"), (edited,), RESOLVER, Ledger([edited]))
        violation = replace(verify(context.ledger, edited)[0], reasons=(reason,))
        said.add(unmark(broken(context, violation)))
    assert len(said) == 4
