"""What a model may call: typed tools over the runs, each returning facts as compact JSON.

Every fact that a tool returns is entered into the answer's account, under the id by which the answer will cite it.
Arguments are checked here, so that a wrong one comes back as a line that says what is right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.agent import cleaning, facts
from assistant.agent.facts import Account
from assistant.analysis import Ledger, derive_all, time_shares
from assistant.analysis.checks import check_all
from assistant.analysis.thresholds import check_thresholds, given
from assistant.knowledge import Finder, Resolver
from assistant.model import AssistantError, Fact, Run

MOST_FACTS = 24
MOST_NAMES = 80
LONGEST_RESULT = 4000
#: Steps that are looked at for one that holds enough, where none is named.
LOOKED_AT = 12
_METRIC = {"type": "string"}
_STEP = {"type": "integer"}

#: Tool → (what it does, its arguments, which of them are required).
TOOLS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "parse": ("Runs: format, steps, sizes, missing cells.", {}, ()),
    "list_metrics": ("Keys of the log.", {"contains": {"type": "string"}}, ()),
    "get_values": (
        "Values of a metric at steps (none: spread over the run).",
        {"metric": _METRIC, "steps": {"type": "array", "items": _STEP}}, ("metric",),
    ),
    "compute_trend": (
        "Direction, slope and significance over steps.",
        {"metric": _METRIC, "first": _STEP, "last": _STEP}, ("metric",),
    ),
    "compare_steps": (
        "Changes between two steps, with their noise.",
        {"a": _STEP, "b": _STEP, "metrics": {"type": "array", "items": _METRIC}}, ("a", "b"),
    ),
    "check_thresholds": (
        "Whether conditions like 'actor/ppo_kl < 0.05' hold at all steps.",
        {"conditions": {"type": "array", "items": {"type": "string"}}}, ("conditions",),
    ),
    "derive": ("What a step implies: GPUs, batch, group size.", {"step": _STEP}, ()),
    "diagnose": ("Failure modes the run is consistent with.", {}, ()),
    "timing": ("Shares of a step's time.", {"step": _STEP}, ()),
    "look_up_definition": ("A metric's definition.", {"name": {"type": "string"}}, ("name",)),
    "search_documents": ("Definitions and documents by any words.", {"query": {"type": "string"}}, ("query",)),
}  # fmt: skip
_TYPES: dict[str, type | tuple[type, ...]] = {"string": str, "integer": int, "array": list}


class WrongArguments(ValueError):
    """Arguments that a tool cannot take; the message tells the model what it can."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool found: facts of the account, and further fields for the model."""

    facts: tuple[Fact, ...] = ()
    more: Mapping[str, Any] | None = None


class Toolbox:
    """The tools of one answer.

    Args:
        runs: what they read.
        account: receives the facts.
        resolver: from names to cards.
        finder: for search; without one, ``search_documents`` finds by name only.
        language: of definitions.
        on_facts: is told the facts that a call added.
    """

    def __init__(
        self, runs: Sequence[Run], account: Account, resolver: Resolver, *, finder: Finder | None = None,
        language: str = "en", on_facts: Callable[[Sequence[Fact]], None] | None = None,
    ) -> None:  # fmt: skip
        self.runs = {run.id: run for run in runs}
        self.account = account
        self.resolver = resolver
        self.finder = finder
        self.language = language
        self.ledger = Ledger(runs)
        self.cards: dict[str, str] = {}
        """Definitions shown to the model: card id → its text, which the answer may quote."""
        self.documents: list[str] = []
        """Passages of the team's own documents shown to the model: anybody's text."""
        self._on_facts = on_facts

    # -- as a model sees them --------------------------------------------------------------------
    def schemas(self) -> list[dict[str, Any]]:
        """Name, description and JSON schema of each tool; a ``run`` where there are several."""
        run = {"run": {"type": "string", "enum": list(self.runs)}} if len(self.runs) > 1 else {}
        return [
            {
                "name": name,
                "description": what,
                "parameters": {
                    "type": "object",
                    "properties": {**arguments, **run},
                    **({"required": list(required)} if required else {}),
                },
            }
            for name, (what, arguments, required) in TOOLS.items()
        ]

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """A tool's result as JSON, errors included; never more than :data:`LONGEST_RESULT` characters."""
        try:
            checked = _checked(name, arguments, set(self.runs))
            run = self.runs[checked.pop("run", None) or next(iter(self.runs))]
            result: Result = getattr(self, f"_{name}")(run, **checked)
        except WrongArguments as problem:
            return json.dumps({"error": str(problem)}, ensure_ascii=False)
        except AssistantError as problem:
            return json.dumps({"error": cleaning.quoted(problem.message("en"), 300)}, ensure_ascii=False)
        except Exception as problem:  # a fault of ours costs the call, not the answer
            return json.dumps({"error": f"{name} failed ({type(problem).__name__}); go on without it"})
        if result.facts and self._on_facts is not None:
            self._on_facts(result.facts)
        return self._json(result)

    def _json(self, result: Result) -> str:
        body: dict[str, Any] = dict(result.more or {})
        told = [_told(fact, several=len(self.runs) > 1) for fact in result.facts[:MOST_FACTS]]
        if told or "error" not in body:
            body["facts"] = told
        if len(result.facts) > MOST_FACTS:
            body["left_out"] = len(result.facts) - MOST_FACTS
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        while len(text) > LONGEST_RESULT and told:
            del told[-max(1, len(told) // 4) :]
            body["left_out"] = len(result.facts) - len(told)
            text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        return text[:LONGEST_RESULT]

    def _take(self, found: Sequence[Fact | None]) -> tuple[Fact, ...]:
        taken = self.account.take_all([fact for fact in found if fact is not None], self.ledger)
        return tuple({fact.id: fact for fact in taken}.values())

    def _key(self, run: Run, named: str) -> str:
        """A metric of the run by what the model calls it."""
        text = named.strip().strip("`'\"")
        if text in run.columns:
            return text
        clean = cleaning.name(text)
        same = [key for key in run.metrics if cleaning.name(key) == clean]
        if len(same) == 1:
            return same[0]
        mentioned = self.resolver.mentions(text[:200], run.metrics, run.framework)
        found = next((m.key for m in mentioned if m.key is not None), None)
        if found is not None:
            return found
        near = [cleaning.name(key) for key in self.resolver.nearest(text[:200], 5, keys=run.metrics, only_keys=True)]
        raise WrongArguments(f"the log has no metric {clean}; nearest: {', '.join(near) or 'none'}")

    # -- what they do ----------------------------------------------------------------------------
    def _parse(self, run: Run) -> Result:
        del run
        told = [
            {
                "run": run.id, "format": cleaning.name(run.format), "framework": cleaning.name(run.framework or ""),
                "steps": [*run.distinct_steps[:1], *run.distinct_steps[-1:]], "n_steps": len(run.distinct_steps),
                "n_metrics": len(run.columns), "missing_cells": len(run.missing),
            }
            for run in self.runs.values()
        ]  # fmt: skip
        return Result(more={"runs": told})

    def _list_metrics(self, run: Run, contains: str = "") -> Result:
        wanted = contains.strip().lower()
        names = [cleaning.name(key) for key in run.metrics if wanted in key.lower()]
        more: dict[str, Any] = {"metrics": names[:MOST_NAMES]}
        if len(names) > MOST_NAMES:
            more["left_out"] = len(names) - MOST_NAMES
        return Result(more=more)

    def _get_values(self, run: Run, metric: str, steps: Sequence[int] = ()) -> Result:
        key = self._key(run, metric)
        held = run.series(key)[0]
        wanted = list(dict.fromkeys(steps)) or _spread(held, MOST_FACTS // 2)
        found = [self.ledger.value(key, s, run) or self.ledger.missing(key, s, run) for s in wanted[:MOST_FACTS]]
        return Result(self._take(found))

    def _compute_trend(self, run: Run, metric: str, first: int | None = None, last: int | None = None) -> Result:
        key = self._key(run, metric)
        held = run.series(key)[0]
        chosen = [s for s in held if (first is None or s >= first) and (last is None or s <= last)]
        if not chosen:
            raise WrongArguments(f"{cleaning.name(key)} has no value there; steps {held[0]} to {held[-1]}")
        whole = len(chosen) == len(held)
        found: list[Fact | None] = [self.ledger.trend(key, None if whole else chosen, run)]
        found += [self.ledger.value(key, step, run) for step in (chosen[0], chosen[-1])]
        return Result(self._take(found))

    def _compare_steps(self, run: Run, a: int, b: int, metrics: Sequence[str] = ()) -> Result:
        absent = [step for step in (a, b) if step not in set(run.steps)]
        if absent or a == b:
            steps = run.distinct_steps
            raise WrongArguments(f"needs two different steps of the log; it has {len(steps)}: {_listed(steps)}")
        both = [key for key in run.metrics if {a, b} <= set(run.series(key)[0])]
        told = {fact.metric for fact in self.account.known}
        both.sort(key=lambda key: key not in told)
        keys = [self._key(run, name) for name in metrics] or both[: MOST_FACTS // 2]
        found = [self.ledger.change(key, a, b, run) for key in keys]
        gone = [(key, s) for key in keys for s in (a, b) if run.value(key, s) is None]
        found += [self.ledger.missing(key, step, run) for key, step in gone]
        note = {} if both else {"note": "the two steps share no metric: they are not comparable"}
        return Result(self._take(found), note)

    def _check_thresholds(self, run: Run, conditions: Sequence[str]) -> Result:
        thresholds = [given(text, place) for place, text in enumerate(conditions[:8], 1)]
        breaches, unchecked = check_thresholds(self.ledger, thresholds, run)
        found = [fact for breach in breaches for fact in (breach.first, breach.worst)]
        told = [
            {"condition": cleaning.quoted(b.threshold.text, 120), "fails_at": len(b.steps), "of_steps": b.checked}
            for b in breaches
        ]
        open_ = [cleaning.quoted(one.threshold.text, 120) for one in unchecked]
        return Result(self._take(found), {"broken": told, "undecided": open_})

    def _derive(self, run: Run, step: int | None = None) -> Result:
        steps = run.distinct_steps[:LOOKED_AT] if step is None else (step,)
        found = max((derive_all(self.ledger, one, run) for one in steps), key=len, default={})
        if found:
            return Result(self._take(list(found.values())))
        return Result(more={"note": "nothing follows from what the log holds there"})

    def _diagnose(self, run: Run) -> Result:
        found = check_all(self.ledger, list(run.distinct_steps), run)[:8]
        told = [
            {"rule": one.rule, "severity": one.severity, "metrics": [cleaning.name(m) for m in one.metrics[:4]],
             "since": one.steps[0] if one.steps else None}
            for one in found
        ]  # fmt: skip
        return Result(self._take([fact for one in found for _, fact in one.facts]), {"consistent_with": told})

    def _timing(self, run: Run, step: int | None = None) -> Result:
        steps = [step] if step is not None else list(reversed(run.distinct_steps))[:LOOKED_AT]
        for one in steps:
            shares, rest = time_shares(self.ledger, one, run)
            if shares:
                return Result(self._take([*shares[:10], rest]))
        return Result(more={"note": "the log holds no times of stages there"})

    def _look_up_definition(self, run: Run, name: str) -> Result:
        found = self.resolver.name(name[:200], run.framework)
        if not found:
            near = ", ".join(cleaning.name(one) for one in self.resolver.nearest(name[:200]))
            raise WrongArguments(f"no definition; nearest names: {near}")
        return self._cards([found[0].card])

    def _search_documents(self, run: Run, query: str) -> Result:
        text = query[:300]
        if self.finder is None:
            return self._cards([one.card for one in self.resolver.name(text, run.framework)[:3]])
        cards = [one.card for one in self.finder.find(text, run.framework, 3)]
        result = self._cards(cards)
        passages = self.finder.find_passages(text, 2)
        told = [
            {"title": cleaning.quoted(p.passage.title, 120), "excerpt": cleaning.quoted(p.excerpt)} for p in passages
        ]
        self.documents += [one.passage.text for one in passages]
        return Result(more={**(result.more or {}), "documents": told})

    def _cards(self, cards: Sequence[Any]) -> Result:
        told = []
        for card in cards:
            text = " ".join([card.short(self.language), *(body for _, body in card.sections(self.language)[:2])])
            self.cards[card.id] = " ".join([text, card.formula, card.unit])
            told.append(
                {"card": card.id, "keys": [cleaning.name(key) for key in card.keys[:4]],
                 "formula": cleaning.quoted(card.formula, 160), "excerpt": cleaning.quoted(text)}
            )  # fmt: skip
        return Result(more={"definitions": told})


def _checked(name: str, arguments: Mapping[str, Any], runs: set[str]) -> dict[str, Any]:
    """The arguments that the tool takes, of the right types.

    Raises:
        WrongArguments: one is missing or of another type; a number in quotes is taken, a single item for a list too.
    """
    if name not in TOOLS:
        raise WrongArguments(f"no tool is called {cleaning.name(name)}; there are {', '.join(TOOLS)}")
    _, known, required = TOOLS[name]
    absent = [one for one in required if arguments.get(one) is None]
    if absent:
        raise WrongArguments(f"{name} needs {', '.join(absent)}; it takes {', '.join(known) or 'nothing'}")
    result: dict[str, Any] = {}
    for key, value in arguments.items():
        if key == "run" and value in runs:
            result[key] = value
        if key in known and value is not None:
            result[key] = _typed(key, known[key], value)
    return result


def _typed(key: str, schema: Mapping[str, Any], value: Any) -> Any:
    kind = schema["type"]
    if kind == "array":
        items = value if isinstance(value, list) else [value]
        return [_typed(key, schema["items"], item) for item in items[:64]]
    if kind == "integer" and not isinstance(value, bool):
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and value.strip().lstrip("-").isdigit() and len(value) < 12:
            return int(value)
    if isinstance(value, bool) or not isinstance(value, _TYPES[kind]):
        raise WrongArguments(f"{key} must be of type {kind}")
    return value


def _told(fact: Fact, *, several: bool) -> dict[str, Any]:
    """A fact as the model reads it: names cleaned, four digits, nothing that only a program needs."""
    kept: dict[str, Any] = {}
    left_out = {"line", "inputs", "noise_basis", "low", "high", "growth_low", "growth_high", "card", "form", "formula"}
    for name, value in fact.to_json().items():
        if name in left_out or (name == "run" and not several):
            continue
        if isinstance(value, str):
            kept[name] = cleaning.name(value) if name in {"metric", "name", "of"} else cleaning.quoted(value, 80)
        elif isinstance(value, float):
            kept[name] = float(facts.number(value))
        else:
            kept[name] = value
    return kept


def _spread(steps: Sequence[int], most: int) -> list[int]:
    """At most so many of the steps, the first and last among them, evenly spaced."""
    if len(steps) <= most:
        return list(steps)
    return [steps[round(i * (len(steps) - 1) / (most - 1))] for i in range(most)]


def _listed(steps: Sequence[int]) -> str:
    return ", ".join(map(str, steps)) if len(steps) <= 12 else f"{steps[0]} to {steps[-1]}"
