"""One relation over all steps: where it could be tested, where it fails, and by how much of what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.identities.constants import Constants, evaluate, whole
from assistant.analysis.identities.formula import Measured, parse
from assistant.analysis.identities.grid import Grid, Values
from assistant.analysis.identities.registry import RELATIVE, Identity, Relation

Mask = NDArray[np.bool_]
JOINED: Final = 5
"""Steps that must hold for a log to count as joined from one that has the identity and one that has not."""
FLOOR: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a relation says about a run.

    Attributes:
        relation: with keys filled in.
        metrics: the cells that it covers.
        tested: steps at which it says something, shape (n,).
        failed: steps at which it is broken, shape (n,).
        residual: left minus right (or distance to the integer), shape (n,).
        ratio: its size over what is allowed, shape (n,).
        formula: as tested, for display.
    """

    relation: Relation
    metrics: tuple[str, ...]
    tested: Mask
    failed: Mask
    residual: Values
    ratio: Values
    formula: str

    @property
    def applies(self) -> bool:
        """Whether the log has the identity at all: it holds by definition, or at nearly every step."""
        failed, held = int(self.failed.sum()), int((self.tested & ~self.failed).sum())
        if self.relation.always:
            return True
        if self.relation.joined and held >= JOINED and failed > 1 and self.one_side:
            return True
        allowed = max(1, (1 - self.relation.share) * (failed + held))
        return held >= self.relation.least and failed <= allowed

    @property
    def one_side(self) -> bool:
        """Whether the broken steps are the first or the last ones of those tested, without a gap."""
        order = self.failed[self.tested]
        return int(np.count_nonzero(order[1:] != order[:-1])) == 1

    @property
    def broken(self) -> bool:
        """Whether it is violated: at two steps, or grossly at one."""
        failed = int(self.failed.sum())
        return failed > 1 or (failed == 1 and bool((self.ratio[self.failed] >= self.relation.gross).any()))


def expand(grid: Grid, relation: Relation) -> Iterator[tuple[Relation, Mapping[str, str]]]:
    """The relation for every match of its pattern, or itself; none where a metric excludes it."""
    from dataclasses import replace

    matches: list[Mapping[str, str]] = [{}]
    if relation.each is not None:
        named = (metric for metric in grid.run.columns if not re.search(r"[{}]", metric))  # no formula can hold those
        found = (relation.each.fullmatch(metric) for metric in named)
        matches = [match.groupdict() for match in found if match is not None]
    for groups in matches:

        def fill(text: str, groups: Mapping[str, str] = groups) -> str:
            filled = re.sub(r"<(\w+)>", lambda match: groups.get(match[1]) or "", text)
            return re.sub(r"\{val-\?/([^{}]+)\}", lambda match: _validation(grid, match[1]), filled)

        without = fill(relation.without)
        if without and without in grid.run.columns:
            continue
        yield replace(
            relation, left=fill(relation.left), right=fill(relation.right), slack=fill(relation.slack),
            needs=fill(relation.needs), terms=tuple((name, fill(text)) for name, text in relation.terms),
        ), groups  # fmt: skip


def _validation(grid: Grid, rest: str) -> str:
    core = f"val-core/{rest}"
    return "{" + (core if core in grid.run.columns else f"val-aux/{rest}") + "}"


def outcomes(grid: Grid, identity: Identity, found: Constants) -> Iterator[Outcome]:
    """Every relation of an identity that the log can carry."""
    from assistant.analysis.identities.fits import linear
    from assistant.analysis.identities.laws import LAWS

    for general in identity.verifies:
        if general.kind == "call":
            yield from LAWS[general.left](grid, general, found)
            continue
        for relation, _ in expand(grid, general):
            if relation.kind == "linear":
                outcome = linear(grid, relation, found, RELATIVE[identity.tolerance])
            else:
                outcome = _compare(grid, relation, found, RELATIVE[identity.tolerance])
            if outcome is not None and outcome.tested.any():
                yield outcome


def keys_of(*texts: str) -> tuple[str, ...]:
    """The metrics of some formulas, each once."""
    return tuple(dict.fromkeys(key for text in texts if text for key in parse(text).keys))


def _compare(grid: Grid, relation: Relation, found: Constants, relative: float) -> Outcome | None:
    names = found.names()
    if relation.kind == "whole" and _dyadic(relation.left, found):
        relative = 1e-12
    left = evaluate(grid, relation.left, relative, names)
    right = evaluate(grid, relation.right, relative, names) if relation.right else Measured(0.0)
    if left is None or right is None or (relation.needs and evaluate(grid, relation.needs, relative, names) is None):
        return None
    slack = evaluate(grid, relation.slack, 0.0, names) if relation.slack else Measured(0.0)
    if slack is None:
        return None
    with np.errstate(all="ignore"):
        allowed = left.error + right.error + slack.value + FLOOR
        if relation.kind == "whole":
            residual, telling = whole(left)
            allowed = allowed + 1e-6
            tested = telling
            shown = f"{relation.left} ∈ ℤ"
        else:
            residual = left.value - right.value
            tested = np.isfinite(residual)
            if relation.kind == "at_most":
                residual = np.maximum(residual, 0.0)
            shown = f"{relation.left} {'≤' if relation.kind == 'at_most' else '='} {relation.right}"
        ratio = np.where(tested, np.abs(residual) / np.maximum(allowed, FLOOR), 0.0)
    metrics = keys_of(relation.left, relation.right)
    return Outcome(relation, metrics, tested, tested & (ratio > 1), np.asarray(residual), ratio, shown)


def _dyadic(text: str, found: Constants) -> bool:
    """Whether a mean times the batch is exact: the batch is a power of two, so float32 holds the quotient."""
    batch = found.found.get("trajectories_per_step")
    if batch is None or batch.at is not None or "/ " in text or "trajectories_per_step" not in text:
        return False
    return int(batch.value) & (int(batch.value) - 1) == 0
