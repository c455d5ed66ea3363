"""Weights of the search's signs, fitted to the open questions: `python -m evals.retrieval.fit`.

A conditional logit: each question's right cards are to be the likeliest of its candidates. Five folds tell how well
the fit carries over to questions it has not seen; the held-out half is never read.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from assistant.knowledge import library
from assistant.knowledge.finder import SIGNS, Finder
from assistant.knowledge.index import open_index
from evals.retrieval.__main__ import questions, right_cards

Case = tuple[Any, Any, str]
"""Signs of the candidates (rows), whether each is right, and the question's kind."""

PENALTY = 0.02


def cases(finder: Finder) -> tuple[list[Case], list[float]]:
    """The questions that have a right card among their candidates, and how many have none."""
    made = []
    unfound = []
    for entry in questions(held=False):
        features = finder.features(entry["q"], entry["framework"])
        right = right_cards(entry, finder.library)
        if entry["kind"] == "unknown" or not right:
            continue
        rows = np.array([[signs.get(sign, 0.0) for sign in SIGNS] for signs in features.values()]).reshape(
            -1, len(SIGNS)
        )
        labels = np.array([card in right for card in features])
        if labels.any():
            made.append((rows, labels, entry["kind"]))
        else:
            unfound.append(entry["id"])
    return made, unfound


def fit(given: list[Case], rounds: int = 1500) -> Any:
    """The weights, by gradient ascent; none is negative but that of the other framework."""
    weights = np.full(len(SIGNS), 0.5)
    momentum = np.zeros(len(SIGNS))
    for _ in range(rounds):
        slope = -PENALTY * weights * len(given)
        for rows, labels, _ in given:
            likely = np.exp(rows @ weights - (rows @ weights).max())
            likely /= likely.sum()
            right = likely * labels
            slope += rows.T @ (right / right.sum() - likely)
        momentum = 0.9 * momentum + slope / len(given)
        weights = weights + 0.3 * momentum
    return weights


def first(given: list[Case], weights: Any) -> list[bool]:
    """For each question whether a right card is first."""
    return [bool(labels[np.argmax(rows @ weights)]) for rows, labels, _ in given]


def main() -> int:
    """Prints the weights and the share of first places, seen and unseen."""
    with tempfile.TemporaryDirectory() as folder:
        finder = Finder(library(), lambda made: open_index(made, Path(folder)))
        given, unfound = cases(finder)
    weights = fit(given)
    unseen: list[bool] = []
    for fold in range(5):
        trained = fit([case for at, case in enumerate(given) if at % 5 != fold])
        unseen += first([case for at, case in enumerate(given) if at % 5 == fold], trained)
    seen = first(given, weights)
    print(f"{len(given)} questions, right card first: {np.mean(seen):.3f} seen, {np.mean(unseen):.3f} unseen")
    print(f"no right card among the candidates: {', '.join(unfound) or 'never'}")
    for sign, weight in zip(SIGNS, weights, strict=True):
        print(f"  {sign}: {weight:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
