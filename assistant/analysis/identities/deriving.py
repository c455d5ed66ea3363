"""Derived quantities of a step by name: coded ones and those that are a formula in ``data/*.yaml``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from assistant.analysis.identities import extra  # noqa: F401  (registers its derivations)
from assistant.analysis.identities.steps import CODED, Derivation, number, whole_number
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run

if TYPE_CHECKING:
    from assistant.analysis.identities.registry import Quantity


class Derivations(Mapping[str, Derivation]):
    """Every derivation by the name of its quantity; the YAML files are read on first use."""

    @cached_property
    def _all(self) -> dict[str, Derivation]:
        from assistant.analysis.identities.registry import identities

        formulas = {q.name: from_formula(q) for identity in identities().values() for q in identity.quantities}
        return {**CODED, **formulas}

    def __getitem__(self, name: str) -> Derivation:
        if name in CODED:
            return CODED[name]
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


DERIVATIONS = Derivations()


def derive(ledger: Ledger, name: str, step: int, run: Run | None = None) -> Fact | None:
    """One derived quantity at a step; ``None`` if the log does not hold what it needs, or contradicts it."""
    run = run or ledger.run
    return None if run is None else DERIVATIONS[name](ledger, run, step)


def derive_all(ledger: Ledger, step: int, run: Run | None = None) -> dict[str, Fact]:
    """Every quantity that can be derived at a step."""
    found = {name: derive(ledger, name, step, run) for name in DERIVATIONS}
    return {name: fact for name, fact in found.items() if fact is not None}


def from_formula(quantity: Quantity) -> Derivation:
    """The derivation of a quantity that is one formula over cells and other quantities."""
    from assistant.analysis.identities.formula import Measured

    def function(ledger: Ledger, run: Run, step: int) -> Fact | None:
        formula = quantity.formula
        if any(key not in run.columns for key in formula.keys):
            return None
        facts: list[Fact] = []
        cells: dict[str, Measured] = {}
        names: dict[str, float | Measured] = {}
        for key in formula.keys:
            fact = ledger.value(key, step, run)
            held = number(fact)
            if fact is None or held is None:
                return None
            facts.append(fact)
            cells[key] = Measured(held)
        for name in (*formula.names, *([quantity.needs] if quantity.needs else [])):
            fact = derive(ledger, name, step, run)
            held = number(fact)
            if fact is None or held is None or (name == quantity.needs and not fact.value):
                return None
            facts.append(fact)
            names[name] = held
        value: Any = float(formula.evaluate(cells.__getitem__, names).value)
        if not math.isfinite(value):
            return None
        if quantity.whole:
            value = 0 if abs(value) < 1e-6 else whole_number(value)
            if value is None:
                return None
        shown = formula.text.replace("{", "").replace("}", "").replace("*", "×").replace(" - ", " − ")
        return ledger.derived(quantity.name, value, unit=quantity.unit, step=step, run=run, inputs=facts, formula=shown)

    return function
