"""Sentences drawn from a grammar (grammar.py, grammar.yaml): the true ones are borne out, those with one exchange are not."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

from functools import cache

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text
from tests.ground.grammar import SECTIONS, Case, cases, run_of

RESOLVER = Resolver(library())
SEEDS = (21,)
#: Of a section's sentences, how many may be wrong: true ones refused, false ones passing, in percent.
REFUSED = {"change": 2.5, "change2": 9, "respectively": 1, "factor": 1, "pair": 5, "share": 16, "derived": 0}
PASSING = {"change": 1.2, "change2": 0.9, "respectively": 1.2, "factor": 2, "pair": 0.8, "share": 2, "derived": 0}


@cache
def _judged() -> tuple[tuple[Case, bool], ...]:
    """Each case, and whether a claim of it was found and none was refused."""
    found = []
    for seed in SEEDS:
        auditor = Auditor([parse_text(run_of(seed)[0], name="run").runs[0]], RESOLVER)
        for case in cases(seed):
            statuses = {sentence.status for sentence in auditor.audit(case.text).sentences}
            found.append((case, not statuses & {"contradicted", "unsupported"}))
    return tuple(found)


@pytest.mark.parametrize("section", SECTIONS)
def test_true_sentence_of_the_grammar_is_supported(section: str) -> None:
    true = [fine for case, fine in _judged() if case.section == section and case.kind == "true"]
    assert true
    assert 100 * true.count(False) / len(true) <= REFUSED[section]


@pytest.mark.parametrize("section", SECTIONS)
def test_false_twin_of_the_grammar_is_refused(section: str) -> None:
    false = [fine for case, fine in _judged() if case.section == section and case.kind != "true"]
    assert false
    assert 100 * false.count(True) / len(false) <= PASSING[section]
