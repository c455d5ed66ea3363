"""Replies cut to a number of tokens: whole items and lines, nothing made up, what is left out counted."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from assistant.service.brevity import by_mention, clipped, fitted, lines_of, shortened, tokens

SHARES = {"findings": 0.4, "answer": 0.6, "facts": 0.9, "rows": 0.5}
LINES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), max_size=30).map("\n".join)
ITEMS = st.lists(
    st.dictionaries(st.sampled_from(["a", "b"]), st.integers() | st.text(max_size=30), max_size=2), max_size=40
)


@given(answer=LINES, rows=ITEMS, budget=st.integers(200, 2000))
def test_fitted_is_within_the_budget_and_only_leaves_out(answer: str, rows: list[Any], budget: int) -> None:
    document = {"id": "x", "answer": answer, "rows": rows, "facts": [], "findings": []}
    kept, left_out = fitted(document, budget, SHARES, text="answer")
    assert kept.keys() == document.keys()
    assert tokens(kept | {"left_out": left_out}) <= budget + 60 or kept == document
    assert kept["rows"] == rows[: len(kept["rows"])]
    assert len(rows) - len(kept["rows"]) == left_out.get("rows", 0)
    if tokens(document) <= budget:
        assert (kept, left_out) == (document, {})


@given(LINES, st.integers(10, 400))
@example(text="\n" * 18 + "0:0\n0\n" + "0 " * 40, budget=68)
def test_lines_of_keeps_whole_first_lines(text: str, budget: int) -> None:
    kept = lines_of(text, budget)
    whole, shown = text.split("\n"), kept.split("\n")
    assert shown == whole[: len(shown)] or len(shown) == 1


def test_lines_of_ends_neither_in_a_heading_nor_in_the_head_of_a_table() -> None:
    text = "First.\n\n### Values\n\n| a | b |\n| --- | --- |\n" + "| 1 | 2 |\n" * 200
    for budget in range(8, 60):
        last = lines_of(text, budget).split("\n")[-1]
        assert not last.startswith("#")
        assert last not in {"| a | b |", "| --- | --- |", ""}


def test_by_mention_facts_of_kept_findings_come_first() -> None:
    facts = [{"id": f"E{i}"} for i in range(1, 6)]
    kept = {"findings": [{"evidence": ["E4", "E2"]}], "rows": [{"fact": "E5"}, {"fact": None}]}
    assert [fact["id"] for fact in by_mention("facts", facts, kept)] == ["E4", "E2", "E5", "E1", "E3"]


def test_clipped_ends_at_a_blank_and_says_so() -> None:
    assert clipped("one two three", 20) == "one two three"
    assert clipped("value is 0.123456789 or more", 18) == "value is …"
    assert clipped("x" * 50, 10) == "x" * 10 + " …"


def test_shortened_clips_keys_and_texts_and_leaves_numbers() -> None:
    short = shortened({"k" * 2000: ["v" * 2000, 1.5, None, True]})
    assert json.dumps(short)
    ((key, value),) = short.items()
    assert len(key) < 700
    assert len(value[0]) < 700
    assert value[1:] == [1.5, None, True]
