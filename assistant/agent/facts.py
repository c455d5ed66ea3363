"""Facts as a model reads them: one short line each, best first, and an account of all that one answer collects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from assistant.agent import cleaning
from assistant.analysis import Ledger
from assistant.model import Answer, Fact

#: Fields that tell one fact from another; ids and inputs do not.
_SAME = [f.name for f in fields(Fact) if f.name not in {"id", "inputs"}]
DIGITS = 4


def number(value: object) -> str:
    """A value at four digits, whole numbers in full; other things as they are."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return cleaning.name(str(value))
    if isinstance(value, int) or (abs(value) < 1e15 and value == int(value) and abs(value) >= 10**DIGITS):
        return str(int(value))
    return f"{value:.{DIGITS}g}"


def line(fact: Fact, *, with_run: bool = False) -> str:
    """A fact as ``E3 actor/entropy step 2: 0.1562``: names cleaned, numbers at four digits."""
    what = cleaning.name(fact.metric or fact.name or "")
    if with_run and fact.run:
        what = f"{cleaning.name(fact.run)} {what}"
    at = "" if fact.step is None else f" step {fact.step}"
    if fact.kind == "change":
        tail = "noise unknown"
        if fact.significant is not None:
            tail = "beyond noise" if fact.significant else "within noise"
        ratio = "" if fact.ratio is None else f" ×{number(fact.ratio)}"
        values = f"{number(fact.from_value)} → {number(fact.to_value)} (Δ {number(fact.delta)}{ratio}; {tail})"
        return f"{fact.id} {what} step {fact.from_step}→{fact.to_step}: {values}"
    if fact.kind == "trend":
        slope = "" if fact.slope_per_step is None else f", slope {number(fact.slope_per_step)}/step"
        ends = "" if fact.from_value is None else f", {number(fact.from_value)} → {number(fact.to_value)}"
        chance = "" if fact.p_value is None else f", p {fact.p_value:.2g}"
        return f"{fact.id} {what} steps {fact.first_step}–{fact.last_step}: {fact.direction}{ends}{slope}{chance}"
    if fact.kind == "missing":
        return f"{fact.id} {what}{at}: missing ({cleaning.quoted(fact.reason or '', 60)})"
    if fact.kind == "share":
        return f"{fact.id} {what}{at}: {number(fact.value)} of {cleaning.name(fact.of or '')}"
    unit = f" {cleaning.name(fact.unit)}" if fact.unit else ""
    return f"{fact.id} {what}{at}: {number(fact.value)}{unit}"


def ranked(answer: Answer) -> list[Fact]:
    """The answer's facts: those that its text states, then those its findings rest on, then their inputs."""
    stated = dict.fromkeys(mention.fact for mention in answer.mentions)
    of_findings = dict.fromkeys(one for finding in answer.findings for one in finding.evidence)
    order = {fact_id: place for place, fact_id in enumerate([*stated, *of_findings])}
    return sorted(answer.facts, key=lambda fact: order.get(fact.id, len(order)))


class Account:
    """Every fact that an answer may use, under ids that do not change: the offline answer's, then what is found."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._facts: dict[str, Fact] = {fact.id: fact for fact in facts}
        self._ids: dict[tuple[Any, ...], str] = {}  # filled when the first fact is taken
        self._next = 1 + max((int(i[1:]) for i in self._facts if i[1:].isdigit()), default=0)
        self.used: set[str] = set(self._facts)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Those that the answer holds: the offline answer's, and what was used beside them, with their inputs."""
        wanted, pending = set(), list(self.used)
        while pending:
            one = pending.pop()
            if one in self._facts and one not in wanted:
                wanted.add(one)
                pending.extend(self._facts[one].inputs or ())
        return tuple(fact for fact in self._facts.values() if fact.id in wanted)

    @property
    def known(self) -> tuple[Fact, ...]:
        """All of them, used or not."""
        return tuple(self._facts.values())

    def get(self, fact_id: str) -> Fact | None:
        """A fact by id."""
        return self._facts.get(fact_id)

    def take(self, fact: Fact, source: Mapping[str, Fact]) -> Fact:
        """A fact of another ledger under an id of this account; its inputs come with it.

        Args:
            fact: the fact.
            source: the other ledger's facts by id, in which its inputs are looked up.
        """
        if not self._ids:
            self._ids = {_content(known): known.id for known in self._facts.values()}
        key = _content(fact)
        if key in self._ids:
            return self._facts[self._ids[key]]
        inputs = None
        if fact.inputs is not None:
            inputs = tuple(self.take(source[one], source).id for one in fact.inputs if one in source)
        taken = replace(fact, id=f"E{self._next}", inputs=inputs)
        self._next += 1
        self._facts[taken.id] = taken
        self._ids[key] = taken.id
        return taken

    def take_all(self, facts: Sequence[Fact], ledger: Ledger) -> list[Fact]:
        """Several facts of a ledger."""
        source = {fact.id: fact for fact in ledger.facts}
        return [self.take(fact, source) for fact in facts]


def _content(fact: Fact) -> tuple[Any, ...]:
    return tuple(repr(getattr(fact, name)) for name in _SAME)
