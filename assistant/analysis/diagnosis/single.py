"""Rules that a single step can break: read from ``single.yaml``, evaluated over all steps of a run at once.

Three kinds need no table: numbers that are not finite, keys that vanish, and what the two are told by. An entry::

    - rule: large_step               # phrase finding.large_step
      mode: FM-12
      card: failure/excessive-policy-step
      severity: warning
      when: [{of: old_kl, beyond: 0.05}]      # all must hold at the step
      limit: {name: kl_step, value: 0.05, card: verl/actor/ppo_kl}   # a fact `limit` for the phrase
      shown: {value: old_kl}                  # names of facts → roles
      unless: [other_rule]                    # at the same step
      unless_found: [rule]                    # a failure mode's rule over the run, which reads the values otherwise
      alone: true                             # a diagnosis of a run even where it happens once
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.diagnosis.files import read_yaml
from assistant.analysis.diagnosis.model import NamedFacts
from assistant.analysis.diagnosis.roles import role, roles
from assistant.analysis.ledger import Ledger
from assistant.analysis.series import floats, series
from assistant.model import KnowledgeError, Run
from assistant.model.fact import Severity

PATH: Final = Path(__file__).with_name("single.yaml")
#: Values that describe the optimisation itself; NaN elsewhere may be a measure that has nothing to measure.
OPTIMISED: Final = re.compile(
    r"loss|grad|entropy|(?<![a-z])kl(?![a-z])|ratio_mean|mean_ratio|log_?p|perplexity|ppl", re.I
)
#: What training is for; its own name only (a single reward function of several may have nothing to judge in a batch).
CENTRAL: Final = re.compile(
    r"(?:^|/)(?:(?:mean_)?(?:reward|score|return)s?|(?:reward|score|return)s?[/_]mean|accuracy|ep_rew_mean)$", re.I
)
NOT_LOSS: Final = ("timing", "perf/", "val-", "training/", "memory/", "time/", "eval")
#: A loss on held-out data, which is a model's own as that of training is.
HELD_OUT: Final = re.compile(r"(?:eval|val|valid|validation|test)[_/](?:[\w-]{1,40}[_/])?loss", re.I)
#: Roles whose key must not vanish between two steps that print it, and rows before that must all hold it.
STEADY: Final = ("grad_norm", "policy_loss", "training_loss", "score_mean", "policy_entropy", "old_kl")
PRIOR_ROWS: Final = 5


@dataclass(frozen=True, slots=True)
class Condition:
    """One bound on a role's value at a step."""

    of: str
    equal: float | None = None
    above: float | None = None
    below: float | None = None
    beyond: float | None = None
    outside: tuple[float, float] | None = None

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Elementwise; shape (n,)."""
        held = np.ones(len(values), dtype=bool)
        if self.equal is not None:
            held &= values == self.equal
        if self.above is not None:
            held &= values > self.above
        if self.below is not None:
            held &= values < self.below
        if self.beyond is not None:
            held &= np.abs(values) > self.beyond
        if self.outside is not None:
            held &= (values < self.outside[0]) | (values > self.outside[1])
        return held


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound as a fact for the sentence, with the card that states it."""

    name: str
    value: float
    card: str
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class SingleRule:
    """One entry of ``single.yaml``."""

    rule: str
    mode: str
    card: str
    severity: Severity
    when: tuple[Condition, ...]
    shown: Mapping[str, str]
    limit: Limit | None = None
    unless: tuple[str, ...] = ()
    unless_found: tuple[str, ...] = ()
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that some steps break.

    Attributes:
        rule: stable id.
        mode: failure mode that it belongs to; empty where it belongs to none.
        card: the mode's card.
        severity: of each step.
        shown: names of facts → roles, or key itself where ``keys`` holds.
        limit: bound for the sentence.
        keys: step → keys, for rules on whatever key.
        alone: whether one step is enough for a diagnosis.
        unless_found: rules over the run that tell what these values are.
    """

    rule: str
    mode: str
    card: str
    severity: Mapping[int, Severity]
    shown: Mapping[str, str]
    limit: Limit | None = None
    keys: Mapping[int, tuple[str, ...]] | None = None
    alone: bool = False
    unless_found: tuple[str, ...] = ()

    def facts(self, ledger: Ledger, run: Run, step: int) -> NamedFacts:
        """The facts of one step, by the names that the phrase uses."""
        if self.keys is not None:
            key = self.keys[step][0]
            found = ledger.value(key, step, run) if run.cell(key, step) else ledger.missing(key, step, run)
            return () if found is None else (("value", found),)
        pairs = []
        for name, of in self.shown.items():
            series_of = role(run, of)
            fact = None if series_of is None else series_of.fact(ledger, step)
            if fact is not None:
                pairs.append((name, fact))
        if self.limit is not None:
            limit = self.limit
            pairs.append(("limit", ledger.constant(limit.name, limit.value, limit.card, limit.unit)))
        return tuple(pairs)


_KEPT: WeakKeyDictionary[Run, tuple[Broken, ...]] = WeakKeyDictionary()


def broken(run: Run) -> tuple[Broken, ...]:
    """Every single-step rule that the run breaks, with the steps at which it does. Kept as long as the run."""
    if run not in _KEPT:
        _KEPT[run] = _broken(run)
    return _KEPT[run]


def _broken(run: Run) -> tuple[Broken, ...]:
    found: dict[str, Broken] = {}
    for rule in single_rules():
        steps = _steps(run, rule)
        steps -= set().union(*(set(found[name].severity) for name in rule.unless if name in found))
        if steps:
            severity: dict[int, Severity] = dict.fromkeys(sorted(steps), rule.severity)
            found[rule.rule] = Broken(
                rule.rule, rule.mode, rule.card, severity, rule.shown, rule.limit, alone=rule.alone,
                unless_found=rule.unless_found,
            )  # fmt: skip
    extra = [one for one in (not_finite(run), vanished(run)) if one is not None]
    return (*extra, *found.values())


def _steps(run: Run, rule: SingleRule) -> set[int]:
    held: set[int] | None = None
    for condition in rule.when:
        values = role(run, condition.of)
        if values is None:
            return set()
        mine = set(values.steps[condition.holds(values.values)].tolist())
        held = mine if held is None else held & mine
    return held or set()


def not_finite(run: Run) -> Broken | None:
    """NaN and infinities: critical where two optimised values of a step are, information where none is.

    A reward counts as a single optimised value. The keys of a step begin with the optimised ones.
    """
    at: dict[int, list[str]] = {}
    for key, column in run.columns.items():
        if (key.startswith(NOT_LOSS) and not HELD_OUT.fullmatch(key)) or not series(run, key).dropped:
            continue
        values = floats(column.values)
        for place in np.flatnonzero(~np.isfinite(values)):
            step = run.steps[column.rows[int(place)]]
            cell = run.cell(key, step)
            # A restart may have printed the step again; an integer beyond the largest float is no NaN.
            if cell is not None and isinstance(cell.value, float) and not np.isfinite(cell.value):
                at.setdefault(step, []).append(key)
    if not at:
        return None
    severity: dict[int, Severity] = {}
    keys: dict[int, tuple[str, ...]] = {}
    for step in sorted(at):
        core = [key for key in at[step] if OPTIMISED.search(key)]
        central = [key for key in at[step] if CENTRAL.search(key)]
        severity[step] = "critical" if len(core) > 1 else "warning" if core or central else "info"
        keys[step] = tuple(dict.fromkeys([*core, *central, *at[step]]))
    return Broken("not_finite", "FM-15", "failure/non-finite-gradient", severity, {}, keys=keys, alone=True)


def vanished(run: Run) -> Broken | None:
    """Keys of the optimisation that every one of the rows before held and this row, otherwise complete, does not.

    What the parser knows to be cut is no such key, nor is one that is missing from then on to the end together with
    most others (another kind of row).
    """
    rows = len(run.steps)
    if rows <= PRIOR_ROWS:
        return None
    width = np.zeros(rows, dtype=np.int64)
    for column in run.columns.values():
        width[np.asarray(column.rows, dtype=np.int64)] += 1
    usual = float(np.median(width))
    keys: dict[int, tuple[str, ...]] = {}
    cut = {(gap.metric, gap.step) for gap in run.missing}
    watched = {key for name in STEADY if (found := role(run, name)) is not None for key in found.metrics}
    for key in watched:
        present = np.zeros(rows + 1, dtype=bool)
        present[np.asarray(run.columns[key].rows, dtype=np.int64)] = True
        if present[:rows].all():
            continue
        before = np.asarray(np.lib.stride_tricks.sliding_window_view(present[:rows], PRIOR_ROWS).all(axis=1))
        for row in np.flatnonzero(~present[PRIOR_ROWS:rows] & before[: rows - PRIOR_ROWS]) + PRIOR_ROWS:
            step = run.steps[int(row)]
            complete = width[row] >= 0.5 * usual and run.cell(key, step) is None
            if complete and not cut & {(key, step), (None, step)}:
                keys[step] = (*keys.get(step, ()), key)
    if not keys:
        return None
    severity: dict[int, Severity] = dict.fromkeys(sorted(keys), "warning")
    return Broken("vanished_key", "FM-15", "failure/non-finite-gradient", severity, {}, keys=keys)


@lru_cache(maxsize=4)
def single_rules(path: Path = PATH) -> tuple[SingleRule, ...]:
    """The table.

    Raises:
        KnowledgeError: an entry breaks the form; names file, rule and key.
    """
    found = []
    for entry in read_yaml(path):
        where = f"{path.name}: {entry.get('rule', '?')}"
        allowed = {field.name for field in fields(SingleRule)}
        if odd := sorted(set(entry) - allowed):
            raise KnowledgeError(zh=f"{where}：不认识的键 {odd[0]}。", en=f"{where}: unknown key {odd[0]}.")
        given = dict(entry)
        try:
            given["when"] = tuple(_condition(where, one) for one in entry["when"])
            given["limit"] = Limit(**entry["limit"]) if "limit" in entry else None
            given |= {name: tuple(entry.get(name, ())) for name in ("unless", "unless_found")}
            found.append(SingleRule(**given))
        except (KeyError, TypeError) as error:
            raise KnowledgeError(zh=f"{where}：{error}。", en=f"{where}: {error}.") from None
        for name in given["shown"].values():
            _known_role(where, name)
    return tuple(found)


def _condition(where: str, given: Mapping[str, Any]) -> Condition:
    entry = {("equal" if key == "is" else key): value for key, value in given.items()}
    if "outside" in entry:
        entry["outside"] = (float(entry["outside"][0]), float(entry["outside"][1]))
    _known_role(where, entry["of"])
    if len(entry) < 2:
        raise KnowledgeError(zh=f"{where}：条件没有界限。", en=f"{where}: a condition without a bound.")
    return Condition(**entry)


def _known_role(where: str, name: str) -> None:
    if name not in roles():
        raise KnowledgeError(zh=f"{where}：没有角色 {name}。", en=f"{where}: no role {name}.")
