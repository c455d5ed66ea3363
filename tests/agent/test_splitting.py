from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.agent.splitting import Piece, Splitter, Unthinking

MARKDOWN = st.lists(
    st.sampled_from(
        ["Reward is 0.156. ", "It fell!", "第 2 步是 0.15。", "下降了；", "\n", "\n\n", "- ", "1. ", "### Head\n",
         "| a | 1 |\n", "|---|---|\n", "**bold. text** ", "`k/ey.x` ", "(e.g. 3.5) ", "vs. ", "a b ", "  "]
    ),
    max_size=30,
).map("".join)  # fmt: skip


def pieces(text: str, cuts: list[int]) -> list[Piece]:
    splitter, found, start = Splitter(), [], 0
    for cut in sorted({*(c % (len(text) + 1) for c in cuts), len(text)}):
        found += splitter.feed(text[start:cut])
        start = cut
    return found + splitter.close()


@given(MARKDOWN, st.lists(st.integers(0, 10_000), max_size=12))
def test_splitter_pieces_join_to_the_text_however_it_comes(text: str, cuts: list[int]) -> None:
    found = pieces(text, cuts)
    assert "".join(piece.text for piece in found) == text
    assert found == pieces(text, list(range(len(text))))


@pytest.mark.parametrize(
    ("text", "bodies"),
    [
        ("It is 0.156. Then 3.5 e.g. two. End", ["It is 0.156.", "Then 3.5 e.g. two.", "End"]),
        ("第 1 步为 0.15。第 2 步下降！“好。”完", ["第 1 步为 0.15。", "第 2 步下降！", "“好。”", "完"]),
        ("第 2 步 `a` 为 1。`b` 为 2。", ["第 2 步 `a` 为 1。", "`b` 为 2。"]),
        ('**One.** **Two.** "Three." Four.', ["**One.**", "**Two.**", '"Three."', "Four."]),
        ("**One. Two.** Three.", ["**One. Two.**", "Three."]),
        ("- one. two.\n- three", ["one.", "two.", "three"]),
        ("| a. b | 1 |\n|---|---|\n", ["| a. b | 1 |", "|---|---|"]),
        ("## Head\n\nText: 1 vs. 2.", ["Head", "Text: 1 vs. 2."]),
        ("(a. b) c. d", ["(a. b) c.", "d"]),
    ],
)
def test_splitter_ends_a_piece_where_a_sentence_ends(text: str, bodies: list[str]) -> None:
    assert [piece.body for piece in pieces(text, []) if piece.body] == bodies


def test_splitter_text_without_an_end_is_cut_all_the_same() -> None:
    found = pieces("word " * 2000, [])
    assert max(len(piece.text) for piece in found) < 1500


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>42</think>\nAnswer", "Answer"),
        ("a <THINKING>no</thinking> b", "a  b"),
        ("<think>never closed 42", ""),
        ("thought 42</think>Answer", "Answer"),
        ("1 < 2 and a<b", "1 < 2 and a<b"),
        ("ends with <th", "ends with <th"),
    ],
)
def test_unthinking_leaves_out_thought_in_any_pieces(text: str, shown: str) -> None:
    for size in (1, 3, 100):
        out, filtered = "", Unthinking()
        for start in range(0, len(text), size):
            part = filtered.feed(text[start : start + size])
            out = part if filtered.forget else out + part
            filtered.forget = False
        assert (out + filtered.close()).lstrip("\n") == shown
