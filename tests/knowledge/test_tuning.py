"""Axes turned by wordings: each nearer to its own card than before, the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from assistant.knowledge.embedding import Axes, LatentEmbedding, bag, learn_axes, line_terms
from assistant.knowledge.tuning import tune

TEXTS = [
    "gradient norm before clipping\nsize of the policy gradient",
    "share of the gradient that is clipped\nclipping of the policy",
    "answer length in tokens\nhow long answers are",
]
WORDINGS = [["how big is the gradient", "policy gradient size"], ["how much is clipped"], ["how long do answers get"]]


def terms_of(wordings: list[list[str]]) -> list[list[dict[str, float]]]:
    return [[line_terms(wording) for wording in own] for own in wordings]


def margin(axes: Axes, vectors: list[list[float]], wording: str, card: int) -> float:
    """By how much a wording's own card is nearer than the nearest other one."""
    cosines = np.array(vectors) @ np.array(LatentEmbedding(axes).embed_query(wording))
    return float(cosines[card] - np.delete(cosines, card).max())


@pytest.fixture
def untuned() -> tuple[Axes, list[list[float]]]:
    axes = learn_axes([bag(text) for text in TEXTS])
    return axes, LatentEmbedding(axes).embed_documents(TEXTS)


def test_tune_wordings_come_nearer_to_their_cards(untuned: tuple[Axes, list[list[float]]]) -> None:
    axes, vectors = tune(*untuned, terms_of(WORDINGS))
    before = [margin(*untuned, wording, card) for card, own in enumerate(WORDINGS) for wording in own]
    after = [margin(axes, vectors, wording, card) for card, own in enumerate(WORDINGS) for wording in own]
    assert sum(after) > sum(before)


def test_tune_vectors_have_unit_length(untuned: tuple[Axes, list[list[float]]]) -> None:
    _, vectors = tune(*untuned, terms_of(WORDINGS))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_tune_twice_gives_the_same(untuned: tuple[Axes, list[list[float]]]) -> None:
    first, second = tune(*untuned, terms_of(WORDINGS)), tune(*untuned, terms_of(WORDINGS))
    assert (first[0].rows == second[0].rows).all()
    assert first[1] == second[1]


@pytest.mark.parametrize("wordings", [[[], [], []], [["zebra"], [], []]])
def test_tune_without_known_words_changes_nothing(
    untuned: tuple[Axes, list[list[float]]], wordings: list[list[str]]
) -> None:
    axes, vectors = tune(*untuned, terms_of(wordings))
    assert axes is untuned[0]
    assert vectors == untuned[1]
