"""Where a log breaks off and goes on: restarts of the process, and schedules that begin anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from assistant.analysis.diagnosis.onset import thinned
from assistant.analysis.diagnosis.roles import RoleSeries, role
from assistant.analysis.series import Values, floats

#: A restart is told by a peak since the process began that falls by more than this share (print precision apart).
FALL: Final = 1e-4
#: A learning rate that goes back up by more than this share after it had fallen by as much began anew.
REBOUND: Final = 0.02
#: Values that a series must have to be called idle: a warm-up begins with one zero.
LEAST: Final = 3
#: Frameworks whose logs print significant digits, so that a zero is a zero.
EXACT: Final = frozenset({
    "TRL", "HF Trainer", "LLaMA-Factory", "ms-swift", "Stable-Baselines3", "OpenRLHF", "ROLL", "slime", "NeMo-RL",
    "AReaL",
})  # fmt: skip
#: Decimals of a console that rounds.
DECIMALS: Final = 4
#: Values after which a key that is gone has vanished, and before which it was there.
GONE: Final = 5


def restart(series: RoleSeries) -> int | None:
    """First step after a restart; ``None`` where the log shows none.

    Told by step numbers that go back, by a counter within the process (tokens seen, passes over the data) that goes
    back, or by the peak of device memory that falls: the peak is that of the process and cannot fall within it.
    """
    back = repeats(series)
    if back is not None:
        return back
    for name, share in (("progress", 0.0), ("peak_memory", FALL)):
        found = role(series.run, name)
        if found is None or len(found) < 3:
            continue
        drops = np.flatnonzero(found.values[1:] < found.values[:-1] * (1 - share))
        if len(drops):
            return int(found.steps[drops[0] + 1])
    return None


def repeats(series: RoleSeries) -> int | None:
    """First step at which the step numbers go back; ``None`` where they never do.

    A validation may share the step of the training row before it: that does not count.
    """
    steps = np.asarray(series.run.steps)
    places = np.flatnonzero(steps[1:] <= steps[:-1])
    back = [int(at) for at in places if steps[at + 1] < steps[at] or _trained_twice(series, int(steps[at]))]
    return int(steps[back[0] + 1]) if back else None


def idle(series: RoleSeries) -> int | None:
    """First step of a series that is exactly zero throughout; ``None`` where it is not, or may be rounded to zero.

    Logs of verl, and of unknown make, may print a fixed number of decimals: there a zero counts only if some other
    value of the log has more of them.
    """
    if len(series) < LEAST or series.values.any():
        return None
    run = series.run
    if run.framework in EXACT or any(_fine(floats(column.values)) for column in run.columns.values()):
        return int(series.steps[0])
    return None


def _fine(values: Values) -> bool:
    finite = values[np.isfinite(values)]
    return bool((np.abs(finite - np.round(finite, DECIMALS)) > 1e-12 * np.abs(finite)).any())


def vanishes(series: RoleSeries) -> int | None:
    """First step of the run without a value that nearly every step had held before; ``None`` where it stays.

    At least ``GONE`` times the usual distance between two values must follow.
    """
    if len(series) < GONE:
        return None
    steps = np.asarray(series.run.distinct_steps, dtype=np.int64)
    held = np.flatnonzero(np.isin(steps, series.steps))
    usual = int(np.median(np.diff(held)))
    if len(steps) - 1 - held[-1] < GONE * usual:
        return None
    return int(steps[held[-1] + 1])


def _trained_twice(series: RoleSeries, step: int) -> bool:
    """Whether the role's own metric stands at a step more than once."""
    column = series.run.columns.get(series.metrics[0]) if series.metrics else None
    return column is not None and sum(series.run.steps[row] == step for row in column.rows) > 1


def rebound(series: RoleSeries) -> int | None:
    """First step at which a series rises again after it had fallen from its highest value; ``None`` if it never does.

    For learning rates: warm-up rises before the highest value, and a schedule falls after it.
    """
    values = series.values
    highest = np.maximum.accumulate(values)
    fallen = np.minimum.accumulate(np.where(values < highest, values, np.inf))
    low = values[:-1] < highest[:-1] * (1 - REBOUND)
    up = values[1:] > values[:-1] * (1 + REBOUND)
    places = np.flatnonzero(low & up & np.isfinite(fallen[:-1]))
    return int(series.steps[places[0] + 1]) if len(places) else None


def drop_to_zero(series: RoleSeries) -> int | None:
    """Step of the largest fall of a quantity that only zero bounds, where it falls to less than half."""
    values: Values = series.values
    if len(values) < 6 or not (values > 0).any():
        return None
    floor = float(np.median(values[values > 0])) / 100
    logs = np.log(np.maximum(values, floor))
    place = int(np.argmin(np.diff(logs)))
    return int(series.steps[place + 1]) if logs[place + 1] - logs[place] < np.log(0.5) else None


def upturn(series: RoleSeries) -> int | None:
    """Step from which a quantity that was levelling off begins to rise in a straight line; ``None`` where none does.

    Memory fills caches along a saturating curve. The fit is level + saturating exponential + a line from the upturn on,
    by least squares over time constants and places; the line must rise and explain most of what the curve leaves over.
    """
    if len(series) < 16:
        return None
    values, width = thinned(series.values, 160)
    n = len(values)
    at = np.arange(n, dtype=np.float64)
    places = np.arange(max(4, n // 10), n - max(4, n // 10))
    lines = np.maximum(at[None, :] - places[:, None], 0.0)
    alone = best = np.inf
    step: int | None = None
    paces = np.geomspace(0.015 * n, 1000 * n, 48)  # the slowest is as good as a straight line
    for turn in range(3):  # a curve fitted badly leaves a kink, so its grid is refined twice around the best
        fits = [_curve(at, pace, values) for pace in paces]
        place = int(np.argmin([float((rest**2).sum()) for _, rest in fits]))
        alone = min(alone, float((fits[place][1] ** 2).sum()))
        for base, rest in fits if turn == 0 else ():
            free = lines - (lines @ base) @ base.T
            products = free @ rest
            gains = np.where(products > 0, products**2 / np.maximum((free**2).sum(axis=1), 1e-12), 0.0)
            top = int(np.argmax(gains))
            left = float((rest**2).sum() - gains[top])
            if left < best:
                best, step = left, int(series.steps[places[top] * width])
        paces = np.geomspace(paces[max(0, place - 1)], paces[min(len(paces) - 1, place + 1)], 24)
    return step if best < 0.5 * alone else None


def _curve(at: Values, pace: float, values: Values) -> tuple[Values, Values]:
    """Orthonormal base of a level and a saturating exponential, shape (n, 2), and what it leaves over, shape (n,)."""
    base = np.linalg.qr(np.stack([np.ones(len(at)), 1 - np.exp(-at / pace)], axis=1))[0]
    return base, values - base @ (base.T @ values)


FINDERS: Final[Mapping[str, Callable[[RoleSeries], int | None]]] = {
    "restart": restart,
    "rebound": rebound,
    "drop": drop_to_zero,
    "upturn": upturn,
    "repeats": repeats,
    "idle": idle,
    "vanishes": vanishes,
}
"""``onset.how`` → where a series breaks."""
