"""Weights of the search's signs, fitted to wordings by other hands: `python -m evals.retrieval.fit [--few N]`.

A conditional logit: each question's right cards are to be the likeliest of its candidates. The index is built without
the wordings that are asked (:mod:`evals.retrieval.wordings`), and five folds tell how well the fit carries over to
questions it has not seen. Neither half of the evaluation's questions is read. The wordings name no keys, hold no typos
and hardly any symptoms, so that what is fitted for these signs is not to be taken over.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assistant.knowledge import library
from assistant.knowledge.finder import SIGNS, Finder
from assistant.knowledge.index import open_index
from evals.retrieval.wordings import Wording, development, field_wordings, without

Case = tuple[Any, Any, str]
"""Signs of the candidates (rows), whether each is right, and the question's language."""

PENALTY = 0.003
FOLDS = 5
FEW = 1600


def cases(finder: Finder, given: Sequence[Wording]) -> tuple[list[Case], list[Wording]]:
    """The questions that have a right card among their candidates, and those that have none."""
    made: list[Case] = []
    unfound = []
    for wording in given:
        features = finder.features(wording.text)
        labels = np.array([card in wording.right for card in features], dtype=bool)
        if not labels.any():
            unfound.append(wording)
            continue
        rows = np.array([[signs.get(sign, 0.0) for sign in SIGNS] for signs in features.values()])
        made.append((rows, labels, wording.language))
    return made, unfound


def fit(given: Sequence[Case], rounds: int = 300) -> Any:
    """The weights, by gradient ascent on the likelihood of the right cards, with a small penalty on their squares."""
    rows = np.vstack([case[0] for case in given])
    right = np.concatenate([case[1] for case in given])
    sizes = [len(case[1]) for case in given]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    group = np.repeat(np.arange(len(given)), sizes)
    weights = np.full(len(SIGNS), 0.5)
    momentum = np.zeros(len(SIGNS))
    for _ in range(rounds):
        total = rows @ weights
        likely = np.exp(total - np.maximum.reduceat(total, starts)[group])
        likely /= np.add.reduceat(likely, starts)[group]
        wanted = likely * right
        wanted /= np.add.reduceat(wanted, starts)[group]
        momentum = 0.9 * momentum + rows.T @ (wanted - likely) / len(given) - PENALTY * weights
        weights = weights + 0.5 * momentum
    return weights


def first(given: Sequence[Case], weights: Any) -> list[bool]:
    """For each question whether a right card is first."""
    return [bool(labels[np.argmax(rows @ weights)]) for rows, labels, _ in given]


def main(argv: list[str] | None = None) -> int:
    """Prints the weights and the share of first places: as the weights are, fitted and seen, fitted and unseen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", type=int, default=FEW, help=f"how many wordings (default {FEW}; 0: all)")
    options = parser.parse_args(argv)
    left_out = field_wordings()
    cards = library()
    questions = development(cards, left_out)[: options.few or None]
    with tempfile.TemporaryDirectory() as folder:
        finder = Finder(without(cards, left_out), lambda made: open_index(made, Path(folder)))
        given, unfound = cases(finder, questions)
        current = np.array([finder.weights.get(sign, 0.0) for sign in SIGNS])
    weights = fit(given)
    unseen: list[bool] = []
    for fold in range(FOLDS):
        trained = fit([case for at, case in enumerate(given) if at % FOLDS != fold])
        unseen += first([case for at, case in enumerate(given) if at % FOLDS == fold], trained)
    print(f"{len(questions)} wordings, {len(unfound)} without a right card among the candidates")
    print(
        f"right card first: {np.mean(first(given, current)):.3f} as the weights are, "
        f"{np.mean(first(given, weights)):.3f} fitted and seen, {np.mean(unseen):.3f} fitted and unseen"
    )
    for sign, weight, now in zip(SIGNS, weights, current, strict=True):
        print(f"  {sign}: {weight:.2f} (now {now:.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
