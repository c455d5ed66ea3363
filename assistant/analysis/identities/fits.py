"""Coefficients that a log implies: a column that is a fixed combination of others, found although some rows are odd."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from assistant.analysis.identities.constants import Constants, evaluate
from assistant.analysis.identities.formula import Measured
from assistant.analysis.identities.grid import Grid, Values
from assistant.analysis.identities.registry import Relation

if TYPE_CHECKING:
    from assistant.analysis.identities.relations import Outcome

ROUNDS: Final = 12


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient.

    Attributes:
        value: the shortest decimal within its error.
        fitted: as fitted; ``error`` how far the printed digits leave it open.
        rows: rows that agree; ``first`` and ``last`` their steps.
    """

    value: float
    fitted: float
    error: float
    rows: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted combination: coefficients in order, and per row what is left and what rounding allows."""

    coefficients: tuple[Coefficient, ...]
    residual: Values
    allowed: Values


def shortest(value: float, error: float) -> float:
    """The decimal with the fewest digits within ``error`` of ``value``."""
    if not math.isfinite(value) or value == 0:
        return value
    for digits in range(1, 16):
        short = float(f"{value:.{digits}g}")
        if abs(short - value) <= error:
            return short
    return value


def combine(target: Measured, terms: Sequence[Measured], steps: Values) -> Fit | None:
    """Fits ``target = Σ c_k · terms_k`` without a constant, by least absolute differences.

    Rows that the printed digits cannot explain weigh little, so some edited rows do not move the result.

    Args:
        target: shape (n,); NaN where a row has no value.
        terms: each of shape (n,).
        steps: shape (n,), for the coefficients.

    Returns:
        ``None`` if there are fewer rows than terms, or if the digits leave some coefficient open by a fifth.
    """
    with np.errstate(all="ignore"):
        columns = np.stack([np.asarray(term.value, float) for term in terms], axis=1)
        errors = np.stack([np.asarray(term.error, float) for term in terms], axis=1)
        rows = np.isfinite(target.value) & np.isfinite(columns).all(axis=1)
        if rows.sum() < len(terms):
            return None
        y, x = np.asarray(target.value)[rows], columns[rows]
        scale = np.abs(x).max(axis=0)
        if not (scale > 0).all():
            return None
        floor = np.maximum(np.asarray(target.error)[rows], 1e-15)
        weights = 1 / floor
        solved = np.zeros(len(terms))
        for _ in range(ROUNDS):
            solved, _, rank, _ = np.linalg.lstsq(x / scale * weights[:, None], y * weights, rcond=1e-10)
            if rank < len(terms):
                return None
            solved = solved / scale
            off = np.abs(y - x @ solved)
            weights = 1 / np.sqrt(floor * np.maximum(off, floor))
        allowed = np.asarray(target.error) + np.abs(errors) @ np.abs(solved) + 1e-15
        residual = np.where(rows, np.asarray(target.value) - columns @ solved, np.nan)
        good = rows & (np.abs(residual) <= allowed)
        if good.sum() < len(terms):
            return None
        # What is left open: the error of a row over the size of the term, less for many rows that agree.
        strength = np.sqrt((np.square(columns[good]) / np.square(allowed[good])[:, None]).sum(axis=0))
        open_ = 2 / np.maximum(strength, 1e-300) * (1 if good.sum() > len(terms) else 0.5)
        if (open_ > 0.2 * np.abs(solved)).any():
            return None
    first, last = int(steps[good][0]), int(steps[good][-1])
    coefficients = tuple(
        Coefficient(shortest(float(c), float(e)), float(c), float(e), int(good.sum()), first, last)
        for c, e in zip(solved, open_, strict=True)
    )
    return Fit(coefficients, residual, allowed)


def fit_relation(grid: Grid, relation: Relation, found: Constants, relative: float) -> Fit | None:
    """The fit of a ``linear`` relation; ``None`` if a metric is not there or nothing is determined."""
    names = found.names()
    target = evaluate(grid, relation.left, relative, names)
    terms = [evaluate(grid, text, relative, names) for _, text in relation.terms]
    if target is None or any(term is None for term in terms):
        return None
    return combine(target, [term for term in terms if term is not None], grid.steps.astype(float))


def linear(grid: Grid, relation: Relation, found: Constants, relative: float) -> Outcome | None:
    """A ``linear`` relation as an outcome: rows that the fitted coefficients do not explain are broken."""
    from assistant.analysis.identities.relations import Outcome, keys_of

    fit = fit_relation(grid, relation, found, relative)
    if fit is None or np.isfinite(fit.residual).sum() < len(fit.coefficients) + 3:
        return None
    with np.errstate(all="ignore"):
        tested = np.isfinite(fit.residual)
        ratio = np.where(tested, np.abs(fit.residual) / (fit.allowed * 1.5), 0.0)
    metrics = keys_of(relation.left, *(text for _, text in relation.terms))
    shown = f"{relation.left} = " + " + ".join(f"{name} × {text}" for name, text in relation.terms)
    return Outcome(relation, metrics, tested, tested & (ratio > 1), fit.residual, ratio, shown)
