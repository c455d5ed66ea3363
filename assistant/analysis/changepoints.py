"""Where a series changed its level or its slope, honest under correlated noise.

One change is looked for at a time: the largest jump (a constant before and after) and the sharpest bend (a line before,
another after), each against a bound that AR(1) noise seldom passes (:mod:`assistant.analysis.nulls`), then the parts on
both sides again (binary segmentation: Scott & Knott 1974; Vostrikova 1981). Which of constant, line, jump and bend
describes a part is chosen by the Schwarz criterion, so that a steady rise is not cut into stairs, nor a jump taken for
a slope. A change that a later one undoes is weak seen from the whole, so overlapping halves, quarters and eighths are
looked at too, at a much stricter level (seeded binary segmentation: Kovács, Bühlmann, Li & Munk 2023).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assistant.analysis.nulls import NORMAL, critical
from assistant.analysis.stats import block_means, edge, persistence, robust_scale, scan_basis, without_spikes

Array = NDArray[np.float64]
Kind = Literal["level", "slope"]
Found = tuple[int, Kind, float, bool]
"""Place, kind, p-value, certain."""
KINDS: tuple[Kind, ...] = ("level", "slope")

#: Fewest points for a jump and for a bend.
LEAST = {"level": 9, "slope": 12}
#: Longer series are searched by means of blocks; the step is then found among all points.
LONGEST, BLOCKS = 256, 128
#: p-values: of a change in the whole series, in a part of it, and in one of the overlapping parts.
WHOLE, PART, HIDDEN = 0.006, 0.004, 0.0001
#: Fewest points of a part that is searched for a change which the whole does not show.
LEAST_PART = 20
#: How far beyond the bound, at an autocorrelation 1.5 standard errors above the one seen, a change is certain.
SURE = 1.4
#: Below so many points the bounds are too coarse in their tails, and the p-value must be smaller by this share: there,
#: strongly correlated noise bends like a curve.
FEW = {20: 0.5, 30: 0.15, 45: 0.4}
#: Multiple of their robust scale at which differences are cut off; largest correlation that is taken from them.
CUT_OFF, MOST_LEAST = 4.0, 0.9


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """One change.

    Attributes:
        step: first step of the new level or slope.
        kind: ``level`` (a jump) or ``slope`` (a bend).
        before: median level, or slope per step, from the change before (or the start) up to this one.
        after: the same from this one on to the next (or the end).
        strength: size over the noise of single points: of the jump, or of how far the series would have moved
            otherwise by the end of the part, had the slope not changed.
        p_value: against no change in noise of the autocorrelation seen.
        certain: whether it would still stand out if the noise were correlated as strongly as it could be, given what
            is seen.
    """

    step: int
    kind: Kind
    before: float
    after: float
    strength: float
    p_value: float
    certain: bool = False


@dataclass(frozen=True, slots=True)
class Scan:
    """The best change of one kind in a series: its place (index of the first point after it), and what is left."""

    place: int
    size: float
    statistic: float
    p_value: float
    left: float
    certain: bool


def scan(values: Array, kind: Kind, least: float = -1.0) -> Scan | None:
    """The most likely single change of a kind; ``None`` for too short or constant series.

    ``statistic`` is the change over its standard error for independent noise, ``left`` the residual sum of squares;
    ``least`` is the lag-1 autocorrelation that it is judged at where the residuals show less
    (:func:`least_correlation`).
    """
    n = len(values)
    if n < LEAST[kind]:
        return None
    null, basis = scan_basis(n, kind)
    rest = values - (values @ null.T) @ null
    found = basis @ rest
    place = int(np.abs(found).argmax())
    rest = rest - found[place] * basis[place]
    left, size = float(rest @ rest), float(found[place])
    if size * size + left <= 1e-18 * float(values @ values):
        return None
    spread = math.sqrt(left / (n - len(null) - 1))
    statistic = abs(size) / spread if spread > 0 else math.inf
    r = max(persistence(rest), least)
    p_value = math.erfc(statistic * NORMAL / critical(kind, n, r) / math.sqrt(2))
    most = critical(kind, n, min(r + 1.5 * math.sqrt((1 - r * r) / n), 1.0))
    return Scan(place + edge(n, kind), size, statistic, p_value, left, statistic > SURE * most)


def least_correlation(values: Array) -> float:
    """The correlation of neighbours that a series has at least, from its differences; −1 where they are few.

    The residuals of a short part look independent however strongly the noise is correlated: a change in the part has
    taken up what wanders. Differences of AR(1) noise have the lag-1 autocorrelation −(1 − ρ)/2, whatever the level does
    between a few jumps; two standard errors are left (Bartlett 1946).
    """
    steps = np.diff(values)
    bound = CUT_OFF * robust_scale(steps)
    if len(steps) < LEAST_PART or bound <= 0:
        return -1.0
    steps = np.clip(steps, -bound, bound)
    seen = float(steps[1:] @ steps[:-1]) / float(steps @ steps)
    return min(max(1 + 2 * seen - 4 / math.sqrt(len(steps)), -1.0), MOST_LEAST)


def best_shape(values: Array, least: float = -1.0) -> tuple[str, dict[Kind, Scan]]:
    """``constant``, ``line``, ``level`` or ``slope``: what describes a series best, and the scans of changes.

    Schwarz's criterion with 1, 2, 4 and 5 parameters: a place, searched for among all, counts as two (Zhang & Siegmund
    2007).
    """
    n = len(values)
    scans: dict[Kind, Scan] = {}
    for kind in KINDS:
        found = scan(values, kind, least)
        if found is not None:
            scans[kind] = found
    centred = values - values.mean()
    t = np.arange(n) - (n - 1) / 2
    total = float(centred @ centred)
    lefts = {"constant": (total, 1), "line": (total - float(centred @ t) ** 2 / float(t @ t), 2)}
    lefts |= {kind: (found.left, 4 if kind == "level" else 5) for kind, found in scans.items()}
    floor = 1e-12 * total
    return min(
        lefts, key=lambda name: n * math.log(max(lefts[name][0], floor, 1e-300)) + lefts[name][1] * math.log(n)
    ), scans


def change_points(
    steps: ArrayLike, values: ArrayLike, *, most: int = 5, clean: Array | None = None
) -> tuple[ChangePoint, ...]:
    """The most likely changes of a series, by step.

    Args:
        steps: ascending, shape (n,).
        values: finite, shape (n,).
        most: at most so many, the most certain ones.
        clean: the values without spikes, where the caller has them.

    Returns:
        None below nine points, and none in noise: a series of AR(1) noise with ρ ≤ 0.7 gets one in about 5 % of all
        cases or fewer (``python -m evals.trend_levels`` measures it). O(n log n).
    """
    x, y = np.asarray(steps), np.asarray(values, dtype=np.float64)
    if len(y) < LEAST["level"]:
        return ()
    clean = without_spikes(y) if clean is None else clean
    clean = clean / (float(np.abs(clean).max()) or 1.0)
    width = 1 if len(y) <= LONGEST else -(-len(y) // BLOCKS)
    small = block_means(clean, width)
    least = least_correlation(small)
    found = sorted(_search(small, 0, WHOLE, least, guard=int(width > 1)), key=lambda change: change[2])[:most]
    if not found:
        return ()
    places = sorted((_refined(clean, place * width, kind, width), kind, p, sure) for place, kind, p, sure in found)
    bounds = [0, *(place for place, *_ in places), len(y)]
    return tuple(
        _described(x, y, (bounds[i], place, bounds[i + 2]), kind, (p, sure))
        for i, (place, kind, p, sure) in enumerate(places)
    )


def likeliest(steps: ArrayLike, values: Array, p_value: float) -> ChangePoint | None:
    """The jump or bend that describes a series best which changed by other evidence, of that p-value.

    ``None`` where a line or a constant describes it better.
    """
    shape, scans = best_shape(values)
    for kind, found in scans.items():
        if kind == shape:
            place = min(found.place, len(values) - 1)
            return _described(np.asarray(steps), values, (0, place, len(values)), kind, (p_value, True))
    return None


def _search(values: Array, offset: int, level: float, least: float, guard: int) -> Iterator[Found]:
    """Changes of a series, then of the parts on both sides; ``guard`` blocks at a split hold points of both sides."""
    found = _single(values, level)
    if found is None:
        found = min(filter(None, _hidden(values, least)), key=lambda change: change[2], default=None)
    if found is None:
        return
    place, kind, p_value, sure = found
    yield offset + place, kind, p_value, sure
    yield from _search(values[: place - guard], offset, PART, least, guard)
    yield from _search(values[place + guard :], offset + place + guard, PART, least, guard)


def _single(values: Array, level: float, least: float = -1.0) -> Found | None:
    if len(values) < LEAST["level"]:
        return None
    shape, scans = best_shape(values, least)
    level *= next((share for fewer, share in FEW.items() if len(values) < fewer), 1.0)
    for kind, found in scans.items():
        if kind == shape and found.p_value < level:
            return found.place, kind, found.p_value, found.certain
    return None


def _hidden(values: Array, least: float) -> Iterator[Found | None]:
    """Changes that others nearby undo: the most striking of overlapping parts of a half, a quarter, an eighth."""
    n = len(values)
    for share in (2, 4, 8):
        length = n // share
        if length < LEAST_PART:
            return
        starts = np.arange(0, n - length + 1, max(1, length // 2))
        parts = values[starts[:, None] + np.arange(length)]
        for kind in KINDS:
            null, basis = scan_basis(length, kind)
            rest = parts - (parts @ null.T) @ null
            size = np.abs(rest @ basis.T).max(axis=1)
            left = np.maximum((rest * rest).sum(axis=1) - size * size, 1e-300)
            striking = int((size * size / left).argmax())
            statistic = size[striking] * math.sqrt((length - len(null) - 1) / left[striking])
            if statistic < critical(kind, length, 0.0):  # most often, and it saves the rest
                continue
            start = int(starts[striking])
            found = _single(parts[striking], HIDDEN, least)
            yield (start + found[0], *found[1:]) if found is not None and found[3] else None


def _refined(values: Array, place: int, kind: Kind, width: int) -> int:
    """The place of a change among all points, near where blocks have it."""
    if width == 1 or kind == "slope":
        return min(place, len(values) - 1)
    low, high = max(3, place - width), min(len(values) - 3, place + width)
    reach = 8 * width
    before, after = np.median(values[max(0, low - reach) : low]), np.median(values[high : high + reach])
    # The sum of squares left and right as a function of the place changes by this at each point.
    gain = (values[low:high] - before) ** 2 - (values[low:high] - after) ** 2
    return low + int(np.concatenate([[0.0], np.cumsum(gain)]).argmin())


def _described(
    steps: NDArray[np.int64], values: Array, stretch: tuple[int, int, int], kind: Kind, sureness: tuple[float, bool]
) -> ChangePoint:
    start, place, end = stretch
    left, right = values[start:place], values[place:end]
    if kind == "level":
        before, after = float(np.median(left)), float(np.median(right))
        noise = robust_scale(np.concatenate([left - before, right - after]))
        size = abs(after - before)
    else:
        lines = [_line(steps[a:b], values[a:b]) for a, b in ((start, place), (place, end))]
        (before, first), (after, second) = lines
        noise = robust_scale(np.concatenate([first, second]))
        size = abs(after - before) * float(steps[end - 1] - steps[place])
    strength = size / noise if noise > 0 else math.inf
    return ChangePoint(int(steps[place]), kind, before, after, strength, *sureness)


def _line(steps: NDArray[np.int64], values: Array) -> tuple[float, Array]:
    """Slope per step by least squares on values without spikes, and the residuals."""
    x, y = steps - steps.mean(), without_spikes(values)
    slope = float(x @ (y - y.mean()) / (x @ x)) if len(x) > 1 else 0.0
    return slope, y - y.mean() - slope * x


def segments(steps: Sequence[int], changes: Sequence[ChangePoint]) -> list[tuple[int, int]]:
    """First and last step of each stretch between changes."""
    starts = [steps[0], *(change.step for change in changes)]
    ends = [max(s for s in steps if s < change.step) for change in changes]
    return list(zip(starts, [*ends, steps[-1]], strict=True))
