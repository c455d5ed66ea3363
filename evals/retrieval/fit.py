"""Weights of the search's signs, fitted to unseen questions: `python -m evals.retrieval.fit [--few N]`.

A conditional logit: each question's right cards are to be the likeliest of its candidates. Two kinds of questions are
asked. Wordings of the cards: a fifth of them at a time is left out of the index and asked, those of frameworks other
than verl mostly with the framework's name, as people ask who do not use verl. And whole questions, which name keys,
hold typos and describe what goes wrong: the open half, those of the second
hand, half of those of the third, and ``questions_tuning.yaml``; they
are asked of the whole index. As they are few, each counts as four, and the weights are held to those of
``knowledge/search.yaml`` by a small penalty. Five folds, by card, tell how well the fit carries over. The held-out
half is not read.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from assistant.knowledge import Library, library
from assistant.knowledge.finder import Finder
from assistant.knowledge.finder_signs import SIGNS
from assistant.knowledge.index import open_index
from assistant.knowledge.questions import asked_framework
from assistant.knowledge.terms import fold
from evals.retrieval.__main__ import HERE, questions, right_cards
from evals.retrieval.wordings import GENERAL, twins, without

FOLDS = 5
PARTS = 5
FEW = 400
PENALTY = 0.004
COUNTED = {"wording": 1.0, "question": 4.0}
_CANDIDATES = 30
_NAMED = 0.8
"""Share of the wordings of other frameworks that are asked with the framework's name."""

_PLACES = (1, 3)


@dataclass(frozen=True, slots=True)
class Case:
    """A question's candidates: their signs (candidates × signs), which are right, and where the question is from."""

    rows: Any
    right: Any
    source: str
    language: str
    card: str


def tuning_questions(cards: Library) -> list[dict[str, Any]]:
    """The questions of ``questions_tuning.yaml``, with the ids of the cards that are right."""
    entries: list[dict[str, Any]] = yaml.safe_load((HERE / "questions_tuning.yaml").read_text(encoding="utf-8"))
    alike = twins(cards)
    for entry in entries:
        right = {card.id for card in cards for pattern in entry["cards"] if fnmatchcase(card.id, pattern)}
        if entry["kind"] == "paraphrase" and entry.get("framework") is None:
            right |= {other for card in right for other in alike[card]}
        entry["right"] = right
    return entries


def case(finder: Finder, text: str, framework: str | None, right: set[str], of: tuple[str, str, str]) -> Case:
    """A question's signs; ``of`` is its source, its language and its card."""
    features = finder.features(text, framework)
    best = sorted(features, key=lambda card: -sum(features[card].get(s, 0.0) * w for s, w in finder.weights.items()))
    kept = best[:_CANDIDATES]
    rows = np.array([[features[card].get(sign, 0.0) for sign in SIGNS] for card in kept], dtype=np.float32)
    return Case(rows.reshape(-1, len(SIGNS)), np.array([card in right for card in kept], dtype=bool), *of)


def cases(cards: Library, few: int) -> list[Case]:
    """Wordings asked of indexes without them, then the whole questions."""
    alike = twins(cards)
    owners: dict[str, set[str]] = defaultdict(set)
    asks = [(ask, language, card) for card in cards for language in ("zh", "en") for ask in card.asks(language)]
    for ask, _, card in asks:
        owners[fold(ask)].add(card.id)
    rng = random.Random(3)
    rng.shuffle(asks)
    made = []
    for part in range(FOLDS):
        mine = [entry for entry in asks if zlib.crc32(entry[0].encode()) % FOLDS == part]
        gone: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for ask, language, card in mine:
            gone[card.id][language].append(ask)
        with tempfile.TemporaryDirectory() as folder:
            finder = _finder(without(cards, gone), folder)
            for ask, language, card in [entry for entry in mine if len(owners[fold(entry[0])]) == 1][:few]:
                text = ask
                named = card.framework in {*GENERAL, "general", "verl"} or asked_framework(fold(ask)) is not None
                if not named and rng.random() < _NAMED:
                    text = f"{card.framework}: {ask}"
                right = {card.id} | (alike[card.id] if asked_framework(fold(text)) is None else set())
                made.append(case(finder, text, None, right, ("wording", language, card.id)))
    with tempfile.TemporaryDirectory() as folder:
        finder = _finder(cards, folder)
        for entry in (
            *questions("open"), *questions("second"), *questions("third", "a"),
        ):  # fmt: skip
            if entry["kind"] != "unknown":
                of = ("question", entry["lang"], entry["q"])
                made.append(case(finder, entry["q"], entry["framework"], right_cards(entry, cards), of))
        for entry in tuning_questions(cards):
            if entry["kind"] != "unknown":
                of = ("question", "en", entry["q"])
                made.append(case(finder, entry["q"], entry.get("framework"), entry["right"], of))
    return made


def _finder(cards: Library, folder: str) -> Finder:
    return Finder(cards, lambda entries: open_index(entries, Path(folder)))


def fit(given: Sequence[Case], prior: Any, rounds: int = 120) -> Any:
    """The weights, by gradient ascent on the likelihood of the right cards, held to some weights by a small penalty."""
    given = [one for one in given if one.right.any()]
    rows = np.vstack([one.rows for one in given])
    right = np.concatenate([one.right for one in given])
    sizes = [len(one.right) for one in given]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    group = np.repeat(np.arange(len(given)), sizes)
    counted = np.array([COUNTED[one.source] for one in given])
    counted = (counted / counted.sum())[group]
    weights = prior.copy()
    momentum = np.zeros(len(SIGNS))
    for _ in range(rounds):
        total = rows @ weights
        likely = np.exp(total - np.maximum.reduceat(total, starts)[group])
        likely /= np.add.reduceat(likely, starts)[group]
        wanted = likely * right
        wanted /= np.add.reduceat(wanted, starts)[group]
        momentum = 0.9 * momentum + rows.T @ ((wanted - likely) * counted) - PENALTY * (weights - prior)
        weights = weights + 0.3 * momentum
    return weights


def rank(one: Case, weights: Any) -> int:
    """Place of the first right card; a large number if there is none among the candidates."""
    order = np.argsort(-(one.rows @ weights), kind="stable")
    places = np.flatnonzero(one.right[order])
    return int(places[0]) + 1 if len(places) else len(SIGNS) * _CANDIDATES


def table(ranked: Sequence[tuple[Case, int]]) -> str:
    """Shares of the first place and of the first three, by source and language."""
    groups: Mapping[tuple[str, str], list[int]] = defaultdict(list)
    for one, place in ranked:
        groups[one.source, one.language].append(place)
    return "  ".join(
        f"{source} {language} "
        + "/".join(f"{sum(place <= least for place in places) / len(places):.3f}" for least in _PLACES)
        for (source, language), places in sorted(groups.items())
    )


def main(argv: list[str] | None = None) -> int:
    """Prints the shares as the weights are, fitted and unseen, and the fitted weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", type=int, default=FEW, help=f"wordings of each fifth (default {FEW})")
    options = parser.parse_args(argv)
    cards = library()
    given = cases(cards, options.few)
    weights = _finder(cards, "").weights
    current = np.array([weights.get(sign, 0.0) for sign in SIGNS])
    print(f"{len(given)} questions, {sum(not one.right.any() for one in given)} without a right card")
    print("as the weights are:", table([(one, rank(one, current)) for one in given]))
    unseen: list[tuple[Case, int]] = []
    for part in range(PARTS):
        own = [zlib.crc32(one.card.encode()) % PARTS == part for one in given]
        trained = fit([one for one, out in zip(given, own, strict=True) if not out], current)
        unseen += [(one, rank(one, trained)) for one, out in zip(given, own, strict=True) if out]
    print("fitted and unseen: ", table(unseen))
    for sign, weight, now in zip(SIGNS, fit(given, current), current, strict=True):
        print(f"  {sign}: {weight:.2f} (now {now:.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
