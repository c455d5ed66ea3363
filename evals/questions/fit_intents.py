"""Fits the classifier of intents: ``assistant/ask/intent_words.json``.

python -m evals.questions.fit_intents             what it adds to the patterns, on folds that it has not seen
python -m evals.questions.fit_intents --write     and the table, fitted on all questions

A multinomial logistic regression with a quadratic penalty (A. Y. Ng, Feature selection, L1 vs. L2 regularization,
ICML 2004), by gradient descent with Nesterov's momentum from zero, so that the same questions give the same table. It
learns from the open and the fresh questions of one turn (of the later sets those that are no longer kept back) and from
``intent_wordings.yaml``, whose placeholders are filled twice with metrics of a log. No held question is read.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml

from assistant.ask import intents, learnt
from assistant.ask.query import Query
from assistant.ask.runs_named import runs_named
from assistant.ask.understand import evidence
from assistant.ask.wording import language_of, normalised, without_language
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.service.facade import Source, service
from evals.questions import logs
from evals.questions.expected import questions

WORDINGS: Final = Path(__file__).parent / "intent_wordings.yaml"
TABLE: Final = Path(intents.__file__).parent / "intent_words.json"
INTENTS: Final = (
    "explain", "define", "compare", "trend", "health", "lookup", "bottleneck", "validation", "derive", "advice",
    "forecast", "out_of_scope",
)  # fmt: skip
CHINESE: Final = (
    "熵", "奖励", "学习率", "梯度范数", "KL", "回答长度", "得分", "截断率", "loss", "吞吐", "显存占用", "clipfrac",
)  # fmt: skip
ENGLISH: Final = (
    "entropy", "the reward", "the learning rate", "grad norm", "kl", "response length", "the score", "the clip ratio",
    "loss", "throughput", "memory usage", "clipfrac",
)  # fmt: skip
KEYS: Final = (
    "actor/entropy", "actor/pg_clipfrac", "critic/rewards/mean", "perf/mfu/actor", "response_length/clip_ratio",
    "actor/ppo_kl", "ppo_kl", "grad_norm", "mean_ratio", "timing_s/update_actor", "zero_std_frac",
)  # fmt: skip
SEEN: Final = ("open", "fresh", "second", "third")
"""The sets whose questions may be learnt from, as far as they are not held."""
FILLINGS: Final = 2
FOLDS: Final = 5
LEAST_SEEN: Final = 2
PENALTY: Final = 1.0
ROUNDS: Final = 250
SCALE: Final = 20
FIRST_SHARE: Final = 0.6
"""What the first of several accepted intents counts; the others share the rest."""


@dataclass(frozen=True)
class Item:
    """One question to learn from.

    Attributes:
        group: whose fillings and repetitions stand in one fold.
        origin: ``open``, ``fresh``, ``second``, ``third`` or ``wordings``.
        accepted: its intents, the first the main one.
        query: its slots.
        text: normalised.
        scores: of the patterns.
        run: the first run asked about.
        n_runs: how many.
        features: of :mod:`assistant.ask.learnt`.
    """

    group: str
    origin: str
    accepted: tuple[str, ...]
    query: Query
    text: str
    scores: dict[str, float]
    run: Run | None
    n_runs: int
    features: frozenset[str]


def _item(group: str, origin: str, accepted: tuple[str, ...], question: str, runs: Sequence[Run]) -> Item | None:
    text = normalised(question)
    if not text:
        return None
    said, places = runs_named(text, runs)
    about = runs[places[0]] if places else runs[0] if runs else None
    asked = without_language(said)
    query, scores = evidence(said, asked, _resolver(), about, language=language_of(question))
    found = learnt.features(query, asked, len(runs))
    return Item(group, origin, accepted, query, asked, scores, about, len(runs), found)


_KNOWN: dict[str, Any] = {}


def _resolver() -> Resolver:
    resolver: Resolver = _KNOWN.setdefault("resolver", None) or Resolver(library())
    _KNOWN["resolver"] = resolver
    return resolver


def _runs(names: tuple[str, ...]) -> tuple[Run, ...]:
    if names not in _KNOWN:
        _KNOWN[names] = tuple(service().read([Source(f"{name}.log", logs.text(name)) for name in names]).runs)
    runs: tuple[Run, ...] = _KNOWN[names]
    return runs


def _filled(wording: str, rng: random.Random) -> str:
    metrics = CHINESE if re.search(r"[\u3400-\u9fff]", wording) and rng.random() < 0.6 else ENGLISH
    text = re.sub(r"\{m\}", lambda _: rng.choice(metrics), wording)
    text = re.sub(r"\{k\}", lambda _: rng.choice(KEYS), text)
    figures = {"{s}": "20", "{t}": "55", "{n}": "10", "{x}": "0.5", "{A}": "A", "{B}": "B"}
    for name, value in figures.items():
        text = text.replace(name, value)
    return text


def items() -> list[Item]:
    """Every question and wording to learn from, in a fixed order."""
    found: list[Item | None] = []
    for half in SEEN:
        for question in questions(half):
            if len(question.turns) == 1 and not question.held:
                runs = _runs(question.runs) if question.runs else ()
                found.append(_item(question.id, half, question.intents, question.turns[0], runs))
    one, two = _runs(("verl_longer",)), _runs(("verl_longer", "csv_wandb"))
    two_named = re.compile(r"\{[AB]\}|both|two |which (run|one|of|exp)|runs|两|俩|三个|哪(个|边|份|次)|谁的")
    for intent, block in yaml.safe_load(WORDINGS.read_text(encoding="utf-8")).items():
        for wording in block.splitlines():
            rng = random.Random(f"{intent} {wording}")
            runs = two if intent == "compare" and two_named.search(wording) else one
            texts = dict.fromkeys(_filled(wording, rng) for _ in range(FILLINGS))
            found.extend(_item(f"{intent} {wording}", "wordings", (intent,), text, runs) for text in texts)
    return [item for item in found if item is not None]


def fit(chosen: Sequence[Item], penalty: float = PENALTY) -> learnt.Table:
    """The table that a set of questions teaches."""
    counted = Counter(feature for item in chosen for feature in item.features)
    names = sorted(feature for feature, n in counted.items() if n >= LEAST_SEEN)
    place = {name: at for at, name in enumerate(names)}
    rows, columns = [], []
    target = np.zeros((len(chosen), len(INTENTS)))
    for at, item in enumerate(chosen):
        held = [place[feature] for feature in sorted(item.features) if feature in place]
        rows += [at] * len(held)
        columns += held
        for order, intent in enumerate(item.accepted):
            rest = (1 - FIRST_SHARE) / max(1, len(item.accepted) - 1)
            target[at, INTENTS.index(intent)] = 1.0 if len(item.accepted) == 1 else FIRST_SHARE if not order else rest
    matrix = np.zeros((len(chosen), len(names)), dtype=np.float32)
    matrix[rows, columns] = 1.0
    weights = np.zeros((len(names), len(INTENTS)), dtype=np.float32)
    bias = np.zeros(len(INTENTS), dtype=np.float32)
    ahead, ahead_bias = weights.copy(), bias.copy()
    step = 4.0 / float(matrix.sum(axis=1).max())
    for turn in range(ROUNDS):
        logits = matrix @ ahead + ahead_bias
        share = np.exp(logits - logits.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        error = (share - target).astype(np.float32)
        gradient = (matrix.T @ error + penalty * ahead) / len(chosen)
        new = ahead - step * 4 * gradient
        new_bias = ahead_bias - step * 4 * error.mean(axis=0)
        pace = turn / (turn + 3)
        ahead, ahead_bias = new + pace * (new - weights), new_bias + pace * (new_bias - bias)
        weights, bias = new, new_bias
    whole = np.rint(weights * SCALE).astype(int)
    kept = {name: tuple(int(v) for v in whole[at]) for name, at in place.items() if np.abs(whole[at]).max() > 1}
    return learnt.Table(INTENTS, float(SCALE), tuple(int(v) for v in np.rint(bias * SCALE)), kept)


def told(item: Item, table: learnt.Table | None) -> str:
    """The intent decided for a question, with or without what was learnt."""
    query, _ = intents.decided(
        item.query, item.text, dict(item.scores), run=item.run, n_runs=item.n_runs, table=table
    )  # fmt: skip
    return query.intent


def folds(found: Sequence[Item], penalty: float = PENALTY) -> dict[tuple[str, str], list[bool]]:
    """Right or wrong for each item of each origin: ``patterns``, ``learnt`` and ``both``, learnt from other folds."""
    groups = sorted({item.group for item in found})
    random.Random(0).shuffle(groups)
    fold_of = {group: at % FOLDS for at, group in enumerate(groups)}
    result: dict[tuple[str, str], list[bool]] = {}
    for fold in range(FOLDS):
        table = fit([item for item in found if fold_of[item.group] != fold], penalty)
        judge([item for item in found if fold_of[item.group] == fold], table, result)
    return result


def judge(chosen: Sequence[Item], table: learnt.Table, into: dict[tuple[str, str], list[bool]]) -> None:
    """Adds right or wrong of each item, by its origin."""
    for item in chosen:
        shares = table.shares(item.features)
        by_learnt = max(INTENTS, key=lambda intent: shares[intent])
        for name, intent in (("patterns", told(item, None)), ("learnt", by_learnt), ("both", told(item, table))):
            into.setdefault((item.origin, name), []).append(intent in item.accepted)


def report(result: dict[tuple[str, str], list[bool]], title: str) -> str:
    """Shares of right intents, as lines."""
    lines = [title]
    for (origin, name), right in sorted(result.items()):
        lines.append(f"  {origin:9} {name:9} {sum(right) / len(right):6.1%} of {len(right)}")
    return "\n".join(lines)


def write(table: learnt.Table) -> None:
    """Writes the table as the product reads it."""
    raw = {
        "intents": table.intents, "scale": table.scale, "bias": table.bias,
        "weights": {name: " ".join(map(str, row)) for name, row in table.weights.items()},
    }  # fmt: skip
    TABLE.write_text(json.dumps(raw, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m evals.questions.fit_intents", description="Fits the intents.")
    parser.add_argument("--write", action="store_true", help=f"writes {TABLE.name}, fitted on all")
    given = parser.parse_args(arguments)
    found = items()
    if given.write:
        write(fit(found))
        return 0
    print(report(folds(found), f"{FOLDS} folds by question"))
    for origin in (*SEEN, "wordings"):
        result: dict[tuple[str, str], list[bool]] = {}
        judge(
            [item for item in found if item.origin == origin],
            fit([item for item in found if item.origin != origin]), result,
        )  # fmt: skip
        print(report(result, f"learnt from the others than {origin}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
