"""A loss formula that somebody wrote down, against what the logged columns say."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from assistant.analysis.identities.constants import cell
from assistant.analysis.identities.fits import combine
from assistant.analysis.identities.formula import Measured, parse
from assistant.analysis.identities.grid import grid_of
from assistant.analysis.identities.runs import give
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run

RELATIVE: Final = 3e-7
FREE: Final = re.compile(r"[A-Za-zα-ωΑ-Ω_][\wα-ω]*")


@dataclass(frozen=True, slots=True)
class FormulaCheck:
    """What the data say about a formula with one free coefficient.

    Attributes:
        target: the metric on the left.
        agrees: whether some coefficient makes the formula hold; with one row, whether it needs one of another order
            than the data's own combination does. ``None`` where the log cannot tell.
        stated: the coefficient that the formula would need (median over the rows), or NaN.
        signs: metric → sign with which the formula takes it, for a positive coefficient.
        found: metric → factor with which the data take it (rounded), empty where no combination fits.
        facts: the factors as facts, and the cells of the first row.
    """

    target: str
    agrees: bool | None
    stated: float
    signs: Mapping[str, int]
    found: Mapping[str, float]
    facts: tuple[tuple[str, Fact], ...]


def check_formula(ledger: Ledger, run: Run, text: str) -> FormulaCheck | None:
    """Tests a formula such as ``loss = -(policy_loss - β * kl_penalty)`` on a run.

    Names that are metrics of the run are columns; one other name is the free coefficient. What the data themselves
    hold is looked for with the sign of the base term and of the other one left open.

    Returns:
        ``None`` where the text is no such formula, or a metric of it is not in the log.
    """
    left, mark, right = text.partition("=")
    target = left.strip()
    if not mark or target not in run.columns:
        return None
    names = list(dict.fromkeys(FREE.findall(right)))
    metrics = [name for name in names if name in run.columns]
    free = [name for name in names if name not in run.columns]
    if len(metrics) != 2 or len(free) > 1:
        return None
    filled = re.sub(FREE, lambda m: "{" + m[0] + "}" if m[0] in metrics else "beta", right)
    try:
        formula = parse(filled.replace("−", "-").replace("×", "*").replace("·", "*").strip())
    except (ValueError, RecursionError):
        return None
    grid = grid_of(run)
    cells = {metric: cell(grid, metric, RELATIVE) for metric in (target, *metrics)}

    def at(values: Mapping[str, float], beta: float) -> float:
        return float(formula.evaluate(lambda key: Measured(values[key]), {"beta": beta}).value)

    unit = {metric: at({m: float(m == metric) for m in metrics}, 1.0) for metric in metrics}
    signs = {metric: int(math.copysign(1, value)) if value else 0 for metric, value in unit.items()}
    none = {metric: at({m: float(m == metric) for m in metrics}, 0.0) for metric in metrics}
    base = next((metric for metric in metrics if none[metric] != 0), None)
    other = next((metric for metric in metrics if metric != base), None)
    if base is None or other is None or none[other] != 0 or not _linear(formula.tree):
        return None
    found, facts = _found(ledger, run, cells, target, base, other)
    with np.errstate(all="ignore"):
        y, x, z = (np.asarray(cells[metric].value, float) for metric in (target, base, other))
        needed = (y - none[base] * x) / (unit[other] * z)
        allowed = (cells[target].error + np.abs(none[base]) * cells[base].error) / np.abs(unit[other] * z)
        held = np.isfinite(needed)
    if not held.any():
        return None
    middle = float(np.median(needed[held]))
    agrees: bool | None = None
    if held.sum() >= 3:
        fits = np.abs(needed[held] - middle) <= allowed[held] * 1.5 + 1e-9 * abs(middle)
        agrees = bool(4 * fits.sum() >= 3 * held.sum() and middle >= 0)
    elif found:
        same = {metric: math.copysign(1, value) for metric, value in found.items()}
        fitted = abs(found[other])
        agrees = all(same[metric] == signs[metric] for metric in metrics) and abs(middle - fitted) <= 0.05 * fitted
    return FormulaCheck(target, agrees, middle, signs, found, facts)


def _linear(tree: ast.expr) -> bool:
    """Whether a formula only adds, subtracts and multiplies."""
    return not any(isinstance(node, (ast.Div, ast.Call)) for node in ast.walk(tree))


def _found(  # noqa: PLR0917
    ledger: Ledger, run: Run, cells: Mapping[str, Measured], target: str, base: str, other: str
) -> tuple[dict[str, float], tuple[tuple[str, Fact], ...]]:
    """Factors of base (+1 or −1) and other (free) that make up the target, whichever sign fits with less."""
    grid = grid_of(run)
    best: tuple[float, float, float, int, int] | None = None
    for sign in (1.0, -1.0):
        own = cells[base]
        aim = Measured(cells[target].value - sign * own.value, cells[target].error + own.error)
        fit = combine(aim, [cells[other]], grid.steps.astype(float))
        if fit is None:
            continue
        coefficient = fit.coefficients[0]
        # One row fits either sign; the smaller coefficient is the one that a person would choose.
        key = (-coefficient.rows, abs(coefficient.value))
        if best is None or key < (-best[3], abs(best[1])):
            best = (sign, coefficient.value, coefficient.fitted, coefficient.rows, coefficient.first)
    if best is None:
        return {}, ()
    sign, value, _, rows, first = best
    inputs = [ledger.value(metric, first, run) for metric in (target, base, other)]
    shown = f"{target} = {'' if sign > 0 else '−'}{base} + coefficient × {other}"
    fact = give(
        ledger, run, f"coefficient/{target}/{other}", value, formula=shown, inputs=inputs, n=rows, steps=(first, first)
    )
    named = [("coefficient", fact), *((m, f) for m, f in zip((target, base, other), inputs, strict=True) if f)]
    return {base: sign, other: value}, tuple((name, item) for name, item in named if item is not None)
