"""Sentences that say nothing of the log: each rule's examples, and what looks like them but is a claim."""

from __future__ import annotations

import pytest
import yaml

from assistant.ground.audit import Auditor
from assistant.ground.silence import RULES, Rule, _rule, rules
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text

LOG = "\n".join(
    f"step:{step} - actor/entropy:{0.3 - 0.001 * step} - critic/rewards/mean:{0.4 + 0.005 * step} - actor/grad_norm:0.4"
    for step in range(1, 41)
)


@pytest.fixture(scope="module")
def run() -> Run:
    """A run of forty steps."""
    return parse_text(LOG, name="train.log").runs[0]


@pytest.fixture(scope="module")
def auditor(run: Run) -> Auditor:
    """Audits sentences about it."""
    return Auditor([run], Resolver(library()))


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_rule_example_matches(rule: Rule) -> None:
    """Each example bears its own rule's mark."""
    assert [text for text in rule.examples if not rule.matches(text)] == []


@pytest.mark.parametrize("text", [text for rule in rules() for text in rule.examples])
def test_silent_example_claims_nothing(auditor: Auditor, text: str) -> None:
    """No example is refused for what it says of no log."""
    assert auditor.sentence(text).status in {"no_claim", "supported"}


@pytest.mark.parametrize("text", [text for rule in rules() for text in rule.claims])
def test_silent_claim_matches_no_rule(text: str) -> None:
    """What looks like a rule's example but speaks of the log bears no mark."""
    assert [rule.id for rule in rules() if rule.matches(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "A KL of 0.1 is usually fine, but entropy at step 3 was 0.9.",
        "By default we look at entropy, which rose from 0.1 to 0.9.",
        "一般来说熵在第 3 步是 0.9。",
    ],
)
def test_silent_mark_beside_a_claim_hides_nothing(auditor: Auditor, text: str) -> None:
    """A step, a word that points at the run or a change told makes it a claim after all."""
    assert auditor.sentence(text).status in {"contradicted", "unsupported"}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"id": "x", "text": "a(", "examples": ["a"]}, "no pattern"),
        ({"id": "x", "text": "a"}, "needs text and examples"),
        ({"id": "x", "text": "a", "examples": ["a"], "more": 1}, "unknown field more"),
    ],
)
def test_rule_malformed_is_refused(entry: dict[str, object], problem: str) -> None:
    """A wrong entry is named with its file and what is wrong."""
    with pytest.raises(ValueError, match=rf"silence\.yaml: x: {problem}"):
        _rule(entry)


def test_rules_file_holds_unique_names() -> None:
    """No two rules share an id."""
    names = [entry["id"] for entry in yaml.safe_load(RULES.read_text(encoding="utf-8"))["rules"]]
    assert len(names) == len(set(names))
