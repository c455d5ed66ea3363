"""What is learnt of intents: the shipped table, its features, and that it moves what the patterns leave open."""

from __future__ import annotations

import math

import pytest

from assistant.ask.learnt import Table, features, shipped
from assistant.ask.query import Query
from assistant.ask.understand import understand
from assistant.ask.wording import language_of
from assistant.knowledge import Mentioned, Resolver, library
from tests.ask.test_understand_wordings import agentic

RESOLVER = Resolver(library())


def test_shares_any_features_sum_to_one() -> None:
    table = shipped()
    for found in (frozenset[str](), frozenset({"M", "steps=single"}), frozenset({"no such feature"})):
        shares = table.shares(found)
        assert set(shares) == set(table.intents)
        assert math.isclose(sum(shares.values()), 1.0)
        assert min(shares.values()) >= 0


def test_of_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 numbers"):
        Table.of({"intents": ["a", "b"], "scale": 1, "bias": [0, 0], "weights": {"x": "1"}})


def test_features_names_and_figures_do_not_matter() -> None:
    def of(name: str, step: int) -> frozenset[str]:
        text = f"{name} at step {step}"
        return features(Query(text, "en", "explain", (Mentioned(0, len(name), name, name),)), text, 1)

    assert of("entropy", 3) == of("grad_norm", 417)
    assert "M at" in of("entropy", 3)


def test_features_several_runs_are_told_apart() -> None:
    query = Query("A 还是 B", "zh", "explain")
    assert "runs" in features(query, query.text, 2)
    assert "runs" not in features(query, query.text, 1)


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("which knob would you turn first here", "advice"),
        ("what do you suggest we try after this", "advice"),
        ("is the training blowing up?", "health"),
    ],
)
def test_understand_wording_without_a_strong_pattern_is_told_by_its_words(question: str, intent: str) -> None:
    assert understand(question, RESOLVER, [agentic()], language=language_of(question)).intent == intent
