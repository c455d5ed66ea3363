"""From when on: the onset of a change in one series, by fitting level – ramp – level with least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from assistant.analysis.series import Steps, Values

Way = Literal["up", "down", "either"]

#: Points that the fit sees at most; longer series are thinned by medians of blocks.
FITTED: Final = 240
#: Lengths of the ramp that are tried, as shares of the series (0: a step).
RAMPS: Final = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
#: Scatters that a lone point may stand out by before it is drawn in.
OUTLIER: Final = 4.0


@dataclass(frozen=True, slots=True)
class Change:
    """A fitted change.

    Attributes:
        index: first point of the ramp (0: the change begins with the series).
        size: level after minus level before, in the units that were fitted.
        gain: share of the variance around the mean that the fit explains.
    """

    index: int
    size: float
    gain: float


def scatter(values: Values) -> float:
    """Robust standard deviation of a point about its neighbours (differences over √2); 0 for fewer than 3 points."""
    if len(values) < 3:
        return 0.0
    jumps = np.diff(values)
    spread = 1.4826 * float(np.median(np.abs(jumps - np.median(jumps)))) / 2**0.5
    return spread if spread > 0 else float(np.std(jumps)) / 2**0.5


def settled(values: Values) -> Values:
    """Lone outliers drawn in to ``OUTLIER`` scatters about the running median of five points."""
    if len(values) < 5:
        return values
    wide = np.concatenate([values[:1], values[:1], values, values[-1:], values[-1:]])
    middle = np.median(np.lib.stride_tricks.sliding_window_view(wide, 5), axis=1)
    reach = OUTLIER * scatter(values)
    return np.clip(values, middle - reach, middle + reach)


def change(values: Values, way: Way = "either") -> Change | None:
    """The change that explains a series best, in the wanted direction.

    Args:
        values: shape (n,), in the units in which the change is additive (logarithms for ratios).
        way: direction of the change.

    Returns:
        ``None`` below six points, or where no change in that direction improves on a constant.
    """
    n = len(values)
    if n < 6:
        return None
    data, width = thinned(settled(np.asarray(values, dtype=np.float64)))
    m = len(data)
    at = np.arange(m, dtype=np.float64)
    total = float(((data - data.mean()) ** 2).sum())
    if total <= 0:
        return None
    best: tuple[float, int, float] | None = None
    centred = data - data.mean()
    for share in RAMPS:
        length = max(1.0, share * m)
        starts = np.arange(0 if share else 1, m - 1, dtype=np.float64)
        shapes = np.clip((at[None, :] - starts[:, None] + 1) / length, 0.0, 1.0)
        shapes -= shapes.mean(axis=1, keepdims=True)
        norms = (shapes**2).sum(axis=1)
        products = shapes @ centred
        sizes = products / np.maximum(norms, 1e-12)
        gains = np.where(norms > 1e-9, products**2 / np.maximum(norms, 1e-12), 0.0)
        if way != "either":
            gains = np.where(sizes > 0 if way == "up" else sizes < 0, gains, 0.0)
        place = int(np.argmax(gains))
        if best is None or gains[place] > best[0] * 1.001:
            best = (float(gains[place]), int(starts[place]), float(sizes[place]))
    if best is None or best[0] <= 0:
        return None
    return Change(min(n - 1, best[1] * width), best[2], best[0] / total)


def thinned(values: Values, points: int = FITTED) -> tuple[Values, int]:
    """Medians of blocks, so that at most ``points`` remain, and the length of a block."""
    width = -(-len(values) // points)
    if width == 1:
        return values, 1
    whole = len(values) // width * width
    blocks = np.median(values[:whole].reshape(-1, width), axis=1)
    return (np.append(blocks, np.median(values[whole:])) if whole < len(values) else blocks), width


def first_for_good(held: Values, *, share: float = 0.7) -> int | None:
    """First place from which a condition holds at a share of the points up to the end, itself and at the last two.

    Args:
        held: shape (n,), booleans.
        share: of the points from there to the end.
    """
    n = len(held)
    if n < 2 or not held[-2:].all():
        return None
    counts = np.cumsum(held[::-1])[::-1] / np.arange(n, 0, -1)
    able = np.flatnonzero((counts >= share) & held.astype(bool))
    return int(able[0]) if len(able) else None


def top(values: Values) -> int | None:
    """Place of the highest running median of three; ``None`` below five points."""
    if len(values) < 5:
        return None
    return int(np.argmax(np.median(np.lib.stride_tricks.sliding_window_view(values, 3), axis=1))) + 1


def lowest(values: Values) -> int | None:
    """Place of the lowest value within the lowest running median of three (all of those, of equals); as :func:`top`.

    A loss that is measured over many tokens hardly scatters, so its lowest value is where a reader sees the turn.
    """
    if len(values) < 5:
        return None
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(values, 3), axis=1)
    best = np.flatnonzero(smooth == smooth.min())
    near = np.unique(np.concatenate([best, best + 1, best + 2]))
    return int(near[np.argmin(values[near])])


def departs(steps: Steps, values: Values, *, share: float = 0.25, margin: float = 0.3) -> int | None:
    """First place from which a growing series stays above the straight line of its first ``share``.

    It must exceed the line by ``margin`` of the line's own growth and by three scatters. The place is moved back to
    where the excess began: the last point before it that lay on the line.
    """
    n = len(values)
    early = max(6, round(share * n))
    if n < early + 4:
        return None
    slope, base = np.polyfit(steps[:early].astype(np.float64), values[:early], 1)
    line = base + max(float(slope), 0.0) * steps
    noise = scatter(values[:early])
    grown = np.abs(line - values[0])
    above = values > line + margin * grown + 3 * noise
    place = first_for_good(above, share=0.9)
    if place is None:
        return None
    quiet = np.flatnonzero(values[:place] <= line[:place] + 0.1 * grown[:place] + noise)
    return int(quiet[-1]) + 1 if len(quiet) else place
