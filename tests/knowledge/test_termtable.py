"""The table of terms: how much of a question an entry holds, and which entry its words point to."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.knowledge.embedding import bag, line_terms
from assistant.knowledge.termtable import TermTable, build_table

TEXTS = ["gradient norm\nsize of the gradient", "gradient clipping threshold", "answer length in tokens"]
WORDINGS = [
    ["gradient norm", "length of the gradient"],
    ["gradient clipping"],
    ["answer length", "tokens an answer has"],
]


@pytest.fixture
def table() -> TermTable:
    return build_table(list(map(bag, TEXTS)), [[line_terms(wording) for wording in wordings] for wordings in WORDINGS])


def test_cover_entry_that_holds_every_word_is_one(table: TermTable) -> None:
    cover = table.ask("gradient norm").cover
    assert cover[0] == pytest.approx(1.0)
    assert 0.0 < cover[1] < 1.0  # the common word only
    assert cover[2] == 0.0


def test_cover_word_that_nothing_holds_counts_against_all(table: TermTable) -> None:
    assert table.ask("gradient norm of zebras").cover[0] < table.ask("gradient norm").cover[0]


def test_cover_rare_word_counts_more_than_common_one(table: TermTable) -> None:
    cover = table.ask("gradient clipping").cover
    assert cover[1] > 2 * cover[0]


def test_likely_words_point_to_the_entry_whose_wordings_hold_them(table: TermTable) -> None:
    likely = table.ask("answer tokens").likely
    assert likely.argmax() == 2
    assert likely[1] == 0.0
    assert (likely >= 0.0).all()


@pytest.mark.parametrize(
    ("entry", "said", "held"),
    [
        (0, "gradient norm", True),
        (0, "size", False),
        (1, "gradient norm", False),
        (2, "tokens", True),
        (0, "kiwi", False),
    ],
)
def test_is_said_wordings_count_and_not_the_text(table: TermTable, entry: int, said: str, held: bool) -> None:
    assert table.is_said(entry, line_terms(said)) is held


@pytest.mark.parametrize("question", ["", "？！", "zebra"])
def test_ask_nothing_known_is_no_evidence(table: TermTable, question: str) -> None:
    found = table.ask(question)
    assert not found.cover.any()
    assert not found.likely.any()


def test_load_what_was_saved_answers_alike(table: TermTable, tmp_path: Path) -> None:
    table.save(tmp_path / "terms.npz")
    other = TermTable.load(tmp_path / "terms.npz")
    for question in ("gradient norm", "tokens of zebras"):
        assert (other.ask(question).cover == table.ask(question).cover).all()
        assert (other.ask(question).likely == table.ask(question).likely).all()


def test_build_entry_without_wordings_has_no_evidence() -> None:
    table = build_table([["gradient", "norm"], ["answer", "length"]], [[], [line_terms("answer length")]])
    found = table.ask("gradient")
    assert found.cover[0] == pytest.approx(1.0)
    assert not found.likely.any()
