"""Schedules and clocks of a run: the learning rate (I-74), ROLL's late step time (I-57), what a step holds (I-12)."""

from __future__ import annotations

import numpy as np

from assistant.analysis.identities.constants import Constants
from assistant.analysis.identities.grid import Grid, Values
from assistant.analysis.identities.runs import give, whole_run
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run

MOST_POINTS = 200
RATES = ("actor/lr", "learning_rate", "actor_lr", "lr", "train/lr", "train/lr-pg_0", "train/lr(1e-3)")


@whole_run
def lr_schedule(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """``lr_schedule`` (constant, linear, cosine, other) and ``warmup_steps`` where the rate first rises."""
    key = next((key for key in RATES if grid.values(key) is not None), None)
    if key is None:
        return {}
    values = grid.values(key)
    assert values is not None
    held = np.isfinite(values)
    if held.sum() < 4:
        return {}
    steps, rates = grid.steps[held].astype(float), values[held]
    # A rate such as 1e-06 is short, not rounded, in a log that prints in full; three digits and more are rounded.
    unit = 0.0 if grid.style[0] == "full" and grid.digits(key) < 3 else grid.rounding(key)
    rounding = np.broadcast_to(np.asarray(unit), values.shape)[held]
    top = float(rates.max())
    if top <= 0:
        return {}
    error = np.maximum(rounding, 1e-9 * top)
    peak = int(np.flatnonzero(rates >= top - error)[0])
    result: dict[str, Fact] = {}
    inputs = [ledger.value(key, int(steps[at]), run) for at in (0, peak, len(steps) - 1)]
    warm = None if peak == len(rates) - 1 else _warmup(steps[: peak + 1], rates[: peak + 1], error[: peak + 1], top)
    span = (int(steps[0]), int(steps[-1]))
    if warm is not None:
        result["warmup_steps"] = give(
            ledger, run, "warmup_steps", warm, formula=f"max {key} / slope of its rise", inputs=inputs, n=peak + 1,
            steps=span,
        )  # fmt: skip
    shape = schedule_shape(steps[peak:], rates[peak:], error[peak:])
    if shape == "other":  # so few digits that rounding might make it so?
        rounded = np.broadcast_to(np.asarray(grid.rounding(key)), values.shape)[held]
        if schedule_shape(steps[peak:], rates[peak:], np.maximum(error, rounded)[peak:]) != "other":
            shape = None
    if shape is not None:
        result["lr_schedule"] = give(
            ledger, run, "lr_schedule", shape, formula=f"{key} after its maximum against a constant, a line, a cosine",
            inputs=inputs, n=len(rates) - peak, steps=span,
        )  # fmt: skip
    return result


def _warmup(steps: Values, rates: Values, error: Values, top: float) -> int | None:
    """Steps of a linear rise: peak over slope, 0 for none; ``None`` where the rise is no line."""
    if len(rates) == 1:
        return 0 if steps[0] <= 1 else None  # what went before the first row is not in the log
    if len(rates) == 2:
        slope = (rates[1] - rates[0]) / (steps[1] - steps[0])
        return round(top / slope) if slope > 0 and rates[0] > 0 else None
    if steps[-1] - steps[-2] > 2 * float(np.median(np.diff(steps))):
        return None  # the peak fell into a gap of the log
    # The last point may lie past the end of the warm-up, where rows are further apart than a step.
    x, y, near = steps[:-1], rates[:-1], error[:-1]
    slope = (y[-1] - y[0]) / (x[-1] - x[0])
    if slope <= 0 or (np.abs(y - (y[0] + slope * (x - x[0]))) > 2 * near + 1e-3 * top).any():
        return None
    return round(float(top / slope))


def schedule_shape(steps: Values, rates: Values, error: Values) -> str | None:
    """``constant``, ``linear``, ``cosine`` or ``other``, for rates from their maximum on.

    A line and a half cosine (its start, length and lowest rate left open) are fitted; the closer one is it, if it is
    within rounding and at least twice as close.

    Args:
        steps: shape (n,).
        rates: shape (n,), the first the largest.
        error: shape (n,), half a printed unit.

    Returns:
        ``None`` below three points or where the digits do not tell a line from a cosine.
    """
    if len(rates) < 3:
        return None
    if (np.abs(rates - rates[0]) <= 2 * error).all():
        return "constant"
    if len(rates) > MOST_POINTS:
        chosen = np.linspace(0, len(rates) - 1, MOST_POINTS).astype(int)
        steps, rates, error = steps[chosen], rates[chosen], error[chosen]
    line = np.abs(_straight(steps, rates) - rates)
    best = np.full(len(rates), np.inf)
    for top in rates[0] * np.concatenate([[1.0], 1 + np.geomspace(1e-5, 0.1, 40)]):
        for low in top * np.array([0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5]):
            if low > rates[-1] + error[-1]:
                break
            # On a cosine from top to low the angle is a straight line in the step.
            angle = np.arccos(np.clip(2 * (rates - low) / (top - low) - 1, -1, 1))
            off = np.abs(low + (top - low) * (1 + np.cos(_straight(steps, angle))) / 2 - rates)
            if off.max() < best.max():
                best = off
    worst_line, worst_cosine = float(line.max()), float(best.max())
    allowed = 3 * float(error.max()) + 2e-3 * float(rates[0])
    if min(worst_line, worst_cosine) > allowed:
        return "other"
    if max(worst_line, worst_cosine) <= 2 * min(worst_line, worst_cosine) + float(error.max()):
        return None
    return "linear" if worst_line < worst_cosine else "cosine"


def _straight(steps: Values, values: Values) -> Values:
    """The least-squares line through points, at their steps."""
    x = steps - steps.mean()
    return np.asarray(values.mean() + x * float((x * (values - values.mean())).sum() / (x * x).sum()))


@whole_run
def shifted_total(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """Whether ROLL's ``time/step_total`` is that of the step before (its RLVR pipeline) (I-57)."""
    shift = total_shift(grid)
    if shift is None:
        return {}
    total = grid.values("time/step_total")
    assert total is not None
    first = int(grid.steps[np.isfinite(total)][0])
    return {
        "step_total_shift": give(
            ledger, run, "step_total_shift", shift, n=int(np.isfinite(total).sum()),
            formula="rows by which time/step_total lags behind the stages of its row",
            inputs=[ledger.value("time/step_total", first, run)], steps=(first, int(grid.steps[-1])),
        )
    }  # fmt: skip


@whole_run
def validation_inside(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """Whether ``timing_s/testing`` is part of ``timing_s/step`` (I-12)."""
    from assistant.analysis.timing import inside_step

    key = "timing_s/testing"
    inside = inside_step(run, key) if key in run.columns and "timing_s/step" in run.columns else None
    if inside is None:
        return {}
    steps, _ = run.series(key)
    inputs = [ledger.value(name, steps[0], run) for name in (key, "timing_s/step")]
    return {
        "validation_inside_step": give(
            ledger, run, "validation_inside_step", inside, n=len(steps), steps=(steps[0], steps[-1]), inputs=inputs,
            formula="timing_s/step − Σ stages is as small as at other steps with timing_s/testing, or without it",
        )
    }  # fmt: skip


def total_shift(grid: Grid) -> int | None:
    """0 or 1: at which lag the stages of a row explain ``time/step_total``; ``None`` if the log cannot tell."""
    total = grid.values("time/step_total")
    if total is None:
        return None
    stages = [key for key in grid.run.columns if key.startswith("time/step_") and key != "time/step_total"]
    stages += [
        key for key in ("time/old_log_probs", "time/ref_log_probs_values", "time/adv") if key in grid.run.columns
    ]
    columns = [grid.values(key) for key in stages]
    if not columns or len(total) < 3:
        return None
    spent = np.sum([np.nan_to_num(column) for column in columns if column is not None], axis=0)
    if total[0] == 0 and spent[0] > 0:
        return 1
    same, lagged = np.abs(total - spent), np.abs(total[1:] - spent[:-1])
    near, behind = float(np.nanmedian(same)), float(np.nanmedian(lagged))
    if near == behind:
        return None
    return 0 if near < behind else 1
