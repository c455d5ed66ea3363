"""The table of names: how like a question is to what an entry goes by."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.knowledge.nametable import NameTable, build_names

NAMES = [
    ["timing_s/gen", "generation time", "生成耗时"],
    ["response_length/mean", "mean answer length"],
    ["response_length/clip_ratio", "truncation rate"],
    [],
]


@pytest.fixture
def table() -> NameTable:
    return build_names(NAMES)


@pytest.mark.parametrize(
    ("question", "entry"), [("gen secs", 0), ("avg resp len", 1), ("截断占比", 2), ("secs gen", 0)]
)
def test_ask_same_words_in_any_order_are_wholly_alike(table: NameTable, question: str, entry: int) -> None:
    likeness = table.ask(question)
    assert likeness[entry] == pytest.approx(1.0)
    assert all(value < 0.9 for at, value in enumerate(likeness) if at != entry)


def test_ask_word_besides_makes_less_alike(table: NameTable) -> None:
    assert 0.5 < table.ask("generation time of zebras")[0] < table.ask("generation time")[0]


def test_ask_rare_word_counts_more_than_one_of_many_names(table: NameTable) -> None:
    likeness = table.ask("response truncation")
    assert likeness[2] > likeness[1] > 0.0


@pytest.mark.parametrize("question", ["", "？！", "zebra"])
def test_ask_nothing_known_is_like_nothing(table: NameTable, question: str) -> None:
    assert not table.ask(question).any()


def test_holds_words_of_one_name_only(table: NameTable) -> None:
    assert table.holds(["generation", "time"])
    assert not table.holds(["generation", "length"])
    assert not table.holds(["generation", "zebra"])
    assert not table.holds([])


def test_entry_without_names_is_like_nothing(table: NameTable) -> None:
    assert table.ask("generation time")[3] == 0.0


def test_load_what_was_saved_answers_alike(table: NameTable, tmp_path: Path) -> None:
    table.save(tmp_path / "names.npz")
    other = NameTable.load(tmp_path / "names.npz")
    for question in ("gen secs", "response truncation", "zebra"):
        assert (other.ask(question) == table.ask(question)).all()
