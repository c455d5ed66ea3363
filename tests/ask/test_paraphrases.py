"""Classes of wordings, in tables: how steps, limits and metrics are named, what is asked, how a talk goes on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from assistant.ask.engine import Answerer
from assistant.ask.query import Query, State
from assistant.ask.understand import continued_language, language_of, understand
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text
from evals.questions import logs

RESOLVER = Resolver(library())


def table(name: str) -> list[dict[str, Any]]:
    """The entries of one of the tables beside this file."""
    entries: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    return entries


@cache
def runs(names: str) -> tuple[Run, ...]:
    return tuple(parse_text(logs.text(name), name=f"{name}.log").runs[0] for name in names.split(","))


def understood(entry: dict[str, Any]) -> Query:
    """The last turn's query; the turns before are answered, so that what they found is carried on."""
    about: Sequence[Run] = runs(entry.get("run", "verl_agentic"))
    *before, last = entry.get("turns") or [entry["q"]]
    state: State | None = None
    for turn in before:
        _, state = Answerer(RESOLVER).ask(turn, about, state=state)
    language = continued_language(last, state, language_of(last))
    return understand(last, RESOLVER, about, language=language, state=state)


def mistakes(entry: dict[str, Any], query: Query) -> list[str]:
    """Where a query differs from what an entry says it means."""
    found = []
    keys = [m.key or f"?{m.text}" for m in query.mentions]
    steps = " ".join(map(str, [query.steps.kind, *query.steps.values]))
    fair = {name: str(entry[name]).split("|") for name in ("intent", "metric", "steps", "op") if name in entry}
    if "intent" in fair and query.intent not in fair["intent"]:
        found.append(f"intent {query.intent}")
    if "metric" in fair and not (len(set(keys)) == 1 and keys[0] in fair["metric"]):
        found.append(f"metrics {keys}")
    if "metrics" in entry and set(keys) != set(entry["metrics"]):
        found.append(f"metrics {keys}")
    if "steps" in fair and steps not in fair["steps"] and not (steps == "last_n 1" and "last" in fair["steps"]):
        found.append(f"steps {steps}")
    if not set(entry.get("has", ())) <= set(query.all_steps):
        found.append(f"steps {query.all_steps}")
    if "op" in fair and str(query.op or "none") not in fair["op"]:
        found.append(f"op {query.op}")
    if "limit" in entry:
        side, value = entry["limit"].split()
        if query.threshold != (side, float(value)):
            found.append(f"limit {query.threshold}")
    return found


def name_of(entry: dict[str, Any]) -> str:
    return " / ".join(entry.get("turns") or [entry["q"]])


@pytest.mark.parametrize("entry", table("paraphrases.yaml"), ids=name_of)
def test_understand_steps_limits_operations_in_other_words(entry: dict[str, Any]) -> None:
    assert mistakes(entry, understood(entry)) == []


@pytest.mark.parametrize("entry", table("paraphrases_metrics.yaml"), ids=name_of)
def test_understand_metric_described_names_its_key(entry: dict[str, Any]) -> None:
    assert mistakes(entry, understood(entry)) == []


@pytest.mark.parametrize("entry", table("paraphrases_intents.yaml"), ids=name_of)
def test_understand_request_in_other_words_has_its_intent(entry: dict[str, Any]) -> None:
    assert mistakes(entry, understood(entry)) == []


@pytest.mark.parametrize("entry", table("paraphrases_turns.yaml"), ids=name_of)
def test_understand_follow_up_takes_what_it_leaves_open(entry: dict[str, Any]) -> None:
    assert mistakes(entry, understood(entry)) == []


@pytest.mark.parametrize("entry", table("paraphrases_mixed.yaml"), ids=name_of)
def test_understand_mixed_and_misspelt_questions_as_the_plain_ones(entry: dict[str, Any]) -> None:
    assert mistakes(entry, understood(entry)) == []


@pytest.mark.parametrize("entry", table("paraphrases_spoken.yaml"), ids=name_of)
def test_understand_spoken_chinese_and_mixed(entry: dict[str, Any]) -> None:
    assert mistakes(entry, understood(entry)) == []
