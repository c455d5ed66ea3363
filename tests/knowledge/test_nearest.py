"""The names most like a text: as if each were compared, though only those that may be among them are."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.knowledge import library
from assistant.knowledge.nearest import LEAST_LIKENESS, alike_names, nearest_names

NAMES = list(dict.fromkeys(key.lower() for card in library() for key in card.keys if "{" not in key))[:400]


def compared(text: str, name: str, own: set[str]) -> float:
    """The likeness of a name without a field, told in one line."""
    tail, end = text.rsplit("/", 1)[-1], name.rsplit("/", 1)[-1]
    alike = SequenceMatcher(None, text, name).ratio()
    if tail not in {"mean", "max", "min", "std", "sum", "avg", "count", "total", "median"}:
        alike = max(alike, 0.9 * SequenceMatcher(None, tail, end).ratio())
    return alike + (0.05 if name in own else 0.0)


@given(
    st.one_of(st.sampled_from(NAMES), st.text(alphabet="aclmnoprst_/", max_size=20)),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from("abeklnr_/")), max_size=4),
    st.sets(st.sampled_from(NAMES), max_size=20),
    st.integers(1, 6),
)
def test_alike_names_are_those_that_comparing_each_gives(
    name: str, slips: list[tuple[int, str]], own: set[str], k: int
) -> None:
    text = name
    for at, char in slips:
        text = text[:at] + char + text[at + 1 :]
    whole = sorted(((other, compared(text, other, own)) for other in NAMES), key=lambda pair: -pair[1])
    assert alike_names(text, NAMES, own, k) == whole[:k]


def test_nearest_names_leaves_out_what_is_unlike_unless_nothing_is_like() -> None:
    names = ["actor/entropy", "critic/vf_loss", "zzz"]
    assert nearest_names("actor/entropi", names, (), 3) == ["actor/entropy"]
    assert len(nearest_names("qqqqqq", names, (), 2)) == 2


@pytest.mark.parametrize("names", [[], ["a/{n}"]])
def test_alike_names_of_nothing_to_compare_are_none_or_the_template(names: list[str]) -> None:
    assert [name for name, _ in alike_names("a/3", names, (), 3)] == names
    assert all(likeness >= LEAST_LIKENESS for _, likeness in alike_names("a/3", names, (), 3))
