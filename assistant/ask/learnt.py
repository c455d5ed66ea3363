"""What a question's words say about its intent, learnt from questions: evidence beside the patterns.

A multinomial logistic regression, fitted by ``python -m evals.questions.fit_intents`` and shipped as whole numbers in
``intent_words.json``. Its features are words, pairs of neighbours and runs of one to three Chinese characters, in which
metrics, figures and runs stand as ``M``, ``N`` and ``R``, the classes of words of ``intent_classes.yaml`` and their
pairs, and what else was understood (steps, limit, operation). At run time a question costs some hundred additions.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from assistant import resources
from assistant.ask.query import Query

_FILE: Final = Path(__file__).parent / "intent_words.json"
_TOKEN: Final = re.compile(r"[MNR](?![A-Za-z])|[a-z]+(?:'[a-z]+)?|[\u3400-\u9fff]|[?!@<>]")
_RUN: Final = re.compile(r"(?<![A-Za-z0-9_/])[A-F](?![A-Za-z0-9_/])")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*(?:e-?\d+)?%?")
_VALIDATED: Final = re.compile(r"(?i)val|eval|test")
_TIMED: Final = re.compile(r"(?i)tim(?:e|ing)")


@dataclass(frozen=True, slots=True)
class Table:
    """The learnt weights.

    Attributes:
        intents: their order.
        scale: what a shipped whole number is to be divided by.
        bias: one per intent.
        weights: of each feature, one per intent.
    """

    intents: tuple[str, ...]
    scale: float
    bias: tuple[int, ...]
    weights: Mapping[str, tuple[int, ...]]

    def shares(self, features: Iterable[str]) -> dict[str, float]:
        """The probability of each intent, summing to 1."""
        sums = list(self.bias)
        places = range(len(sums))
        for feature in features:
            row = self.weights.get(feature)
            if row is not None:
                for place in places:
                    sums[place] += row[place]
        top = max(sums)
        exponentials = [math.exp((value - top) / self.scale) for value in sums]
        whole = sum(exponentials)
        return {intent: value / whole for intent, value in zip(self.intents, exponentials, strict=True)}

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Table:
        """From the shipped form.

        Raises:
            ValueError: a row has not one number for each intent.
        """
        intents = tuple(raw["intents"])
        weights = {feature: tuple(map(int, row.split())) for feature, row in raw["weights"].items()}
        if any(len(row) != len(intents) for row in (*weights.values(), raw["bias"])):
            raise ValueError(f"{_FILE.name}: each row needs {len(intents)} numbers")
        return cls(intents, float(raw["scale"]), tuple(raw["bias"]), weights)


@lru_cache(maxsize=1)
def shipped() -> Table:
    """The table of ``intent_words.json``."""
    return Table.of(json.loads(_FILE.read_text(encoding="utf-8")))


def features(query: Query, text: str, n_runs: int) -> frozenset[str]:
    """The features of a question.

    Args:
        query: its slots as understood; its intent is not looked at.
        text: the question, normalised, in which the mentions have their places.
        n_runs: how many runs it is asked about.
    """
    found = _slots(query, n_runs)
    masked = _masked(query, text)
    found |= _classes(masked)
    tokens = ["^", *_TOKEN.findall(masked), "$"]
    for place, token in enumerate(tokens):
        found.add(token)
        if place:
            found.add(f"{tokens[place - 1]} {token}")
        chinese = token > "\u3400"
        if place > 1 and (chinese or tokens[place - 2] > "\u3400" or tokens[place - 1].isalpha()):
            found.add(" ".join(tokens[place - 2 : place + 1]))
    return frozenset(found)


@lru_cache(maxsize=1)
def classes() -> Mapping[str, re.Pattern[str]]:
    """The classes of words of ``intent_classes.yaml``, by name."""
    path = Path(__file__).parent / "intent_classes.yaml"
    return {name: re.compile(words, re.IGNORECASE) for name, words in resources.yaml_table(path).items()}


def _classes(masked: str) -> set[str]:
    """The classes of which a question holds a word, and each pair of them."""
    held = sorted(name for name, words in classes().items() if words.search(masked))
    return {f"c:{name}" for name in held} | {f"c:{a}+{b}" for a, b in combinations(held, 2)}


def _masked(query: Query, text: str) -> str:
    """The text with a sign in place of each metric, figure and run, in small letters."""
    pieces, at = [], 0
    for mention in sorted(query.mentions, key=lambda one: one.start):
        if mention.start >= at and mention.end > mention.start:
            pieces += [text[at : mention.start], "\x00"]
            at = mention.end
    rest = _RUN.sub("\x01", "".join(pieces) + text[at:]).lower()
    return _NUMBER.sub(" N ", rest).replace("\x00", " M ").replace("\x01", " R ")


def _slots(query: Query, n_runs: int) -> set[str]:
    keys = [mention.key or mention.text for mention in query.mentions]
    found = {f"steps={query.steps.kind}", f"op={query.asked_op}", f"metrics={min(len(keys), 2)}"}
    if query.threshold is not None:
        found.add("limit")
    if n_runs > 1:
        found.add("runs")
    if keys and all(_VALIDATED.search(key) for key in keys):
        found.add("validated")
    if keys and all(_TIMED.search(key) for key in keys):
        found.add("timed")
    return found
