"""Fits the widths of ``assistant/analysis/widths.py``: ``python -m evals.trend_widths`` prints its tables.

For each number of points n, AR(1) noise of many ρ is drawn about a line, and from each draw the
error in units of what the product takes for its deviation, and the residuals' lag-1 autocorrelation r as the product
sees it. A search with a fixed seed then looks for the width, as a function of r, with which each ρ misses as close to
5 % as can be; a little smoothness over r is asked for, and between two widths that do as well the narrower is taken.
Errors, deviations and r come from the product's own functions. ``python -m evals.trend_levels`` measures what holds.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.ar_line import fit_line
from assistant.analysis.nulls import critical
from assistant.analysis.pace import Curvature, curvature
from assistant.analysis.stats import pair_places, persistence, score_variance
from assistant.analysis.trend import trend_of
from assistant.analysis.widths import SEEN
from evals.trend_calibration import noise
from evals.trend_levels import steepness

Array = NDArray[np.float64]
RHOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
#: What a ρ counts for; the last is beyond what is promised.
WEIGHTS = np.array((1.5, 1, 1, 1, 1, 1, 1, 1.2, 1, 1.2, 0.15))
SIZES: dict[str, tuple[int, ...]] = {
    "slope": (10, 12, 14, 17, 20, 25, 30, 38, 48, 60, 80, 110, 160, 256),
    "line": (10, 12, 14, 17, 20, 25, 30, 40, 60, 100, 200, 400),
    "ahead": (10, 12, 14, 17, 20, 25, 30, 40, 60, 100, 200, 400),
}
REPEATS = {"slope": 6000, "line": 3000, "ahead": 3000}
#: Which errors of a draw make which table.
PARTS: dict[str, dict[str, slice]] = {
    "slope": {"slope": slice(0)},
    "line": {"line": slice(0, 3)},
    "ahead": {"course": slice(0, 3), "point_near": slice(3, 4), "point_far": slice(4, 6)},
}
#: Most points of a steep line of which more than a few have no interval of the slope, and therefore no forecast.
SELECTED = 40
TRIES, STEP = 1500, 0.35
#: Distance from 5 % that costs nothing, and what a width costs.
SLACK, NARROW = 0.013, 0.05
#: The least width, and that below so many points; and where a reach is added on one side, so that the other alone may
#: miss.
LEAST, FEW, LEAST_FEW, LEAST_AHEAD = 1.75, 14, 1.5, 1.3
#: Errors of the curvature by which the reach of the fit goes further, to the side to which the points bend.
FURTHER = 2.0
#: The largest width; of a slope, as Kendall's τ: beyond, an interval would hold zero beside steep rises. Ten points
#: need more, or strong correlation misses too often.
MOST = 40.0
MOST_TAU, MOST_TAU_FEW = 0.84, 0.88
Misses = Callable[[list[Array]], Array]


def slope_draw(n: int, rho: float, repeats: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """|artanh τ| over its deviation at the true slope (as ``nulls``), r, and the bound of the trend test there."""
    x, t = noise(rng, repeats, n, rho), np.arange(n)
    i, j = pair_places(n)
    score, seen = np.empty(repeats), np.empty(repeats)
    chunk = max(1, 4_000_000 // len(i))
    for start in range(0, repeats, chunk):
        part = x[start : start + chunk]
        rise = part[:, j] - part[:, i]
        score[start : start + chunk] = np.abs(np.sign(rise).sum(axis=1))
        rest = part - np.median(rise / (j - i), axis=1)[:, None] * t
        seen[start : start + chunk] = [persistence(row) for row in rest]
    deviation = math.sqrt(score_variance(t.astype(float)))
    statistic = len(i) / deviation * np.arctanh(np.minimum(np.maximum(score - 1, 0) / len(i), 1 - 1e-12))
    return statistic, seen, np.array([critical("trend", n, r) for r in seen])


def line_draw(n: int, rho: float, repeats: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Errors of the line a quarter, half and a whole length ahead over their deviations, shape (3, repeats), and r."""
    x, steps = noise(rng, repeats, 2 * n, rho), np.arange(n)
    found, seen = np.empty((3, repeats)), np.empty(repeats)
    for row, values in enumerate(x):
        line = fit_line(steps, values[:n])
        seen[row] = line.seen
        for k, distance in enumerate((max(n // 4, 2), n // 2, n)):
            step = n - 1 + distance
            found[k, row] = abs(line.at(step)) / line.deviation(step, point=False)
    return found, seen


def one_sided(bent: Curvature, step: float) -> float:
    """How far the parabola, and :data:`FURTHER` errors of the curvature more, lead away from the line at a step."""
    return bent.bow(step) * (1 + FURTHER / abs(bent.ratio)) if 0 < abs(bent.ratio) < math.inf else 0.0


def ahead_draw(n: int, rho: float, repeats: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """As :func:`line_draw`, of what is told of a steep line: errors beyond a reach to the side of its bend, and r.

    What is told reaches further, and to both sides, for the sake of curves: of a line it holds more than these widths.

    Shape (6, told): the line a quarter, half and the whole length ahead; the next point, those half and a whole length
    ahead. Draws that are refused are left out: those that seem to bend or to hold a change, and, up to
    :data:`SELECTED` points, those whose slope has no interval.
    """
    ahead = ((max(n // 4, 2), False), (n // 2, False), (n, False), (1, True), (n // 2, True), (n, True))
    slope, steps = steepness(rho) / n, np.arange(n)
    found, seen = [], []
    for values in noise(rng, repeats, 2 * n, rho) + slope * np.arange(2 * n):
        bent = curvature(steps, values[:n])
        if bent.bends():
            continue
        if n <= SELECTED:
            trend = trend_of(steps, values[:n])
            if trend.changes or trend.interval is None or trend.direction != "rising":
                continue
        line, errors = fit_line(steps, values[:n]), []
        for distance, point in ahead:
            step = n - 1 + distance
            error = (values[step] if point else slope * step) - line.at(step)
            bow = one_sided(bent, step)
            reach = abs(bow) if error * bow > 0 else 0.0
            errors.append(max(abs(error) - reach, 0.0) / line.deviation(step, point=point))
        found.append(errors)
        seen.append(line.seen)
    return np.array(found).T, np.array(seen)


DRAWS = {"line": line_draw, "ahead": ahead_draw}


@dataclass(frozen=True)
class Shape:
    """What widths may be: points, what each ρ counts for, their bounds, and whether they may fall with r."""

    n: int
    weights: Array
    most: float = MOST
    least: float | None = None
    falls: bool = False

    @property
    def logs(self) -> tuple[float, float]:
        """Bounds of log width."""
        return math.log(self.least or (LEAST if self.n >= FEW else LEAST_FEW)), math.log(self.most)


class Knots:
    """Width as a function of r: log width at ``SEEN``, linear between."""

    def __init__(self, seen: Sequence[Array], shape: Shape) -> None:
        self.shape = shape
        self.places: list[tuple[NDArray[np.intp], Array]] = []
        for r in seen:
            at = np.clip(np.searchsorted(SEEN, r) - 1, 0, len(SEEN) - 2)
            low, high = np.array(SEEN)[at], np.array(SEEN)[at + 1]
            self.places.append((at, np.clip((r - low) / (high - low), 0, 1)))
        #: How many draws, of all ρ, lie about each knot.
        self.counts = np.zeros(len(SEEN))
        for at, share in self.places:
            self.counts += np.bincount(at, 1 - share, len(SEEN)) + np.bincount(at + 1, share, len(SEEN))

    def widths(self, logs: Array) -> list[Array]:
        return [logs[at] * (1 - share) + logs[at + 1] * share for at, share in self.places]


def search(misses: Misses, knots: Knots, start: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Log widths that miss as near to 5 % as can be, never falling with r unless ``knots`` say so; and their misses."""
    shape, (least, most) = knots.shape, knots.shape.logs
    slack = SLACK * min(1.0, (15 / shape.n) ** 0.6)
    held = np.sqrt(knots.counts / knots.counts.sum())

    def loss(logs: Array) -> float:
        shares = misses(knots.widths(logs))
        off = np.maximum(np.abs(shares - 0.05) - slack, 0) / 0.01
        value = (shape.weights[:, None] * off**2).sum() / shares.shape[1]
        value += 0.3 * (np.diff(logs, 2) ** 2).sum() + 0.05 * ((logs - start) ** 2).sum() + NARROW * (held * logs).sum()
        return float(value)

    logs = np.clip(start, least, most)
    best = loss(logs)
    for attempt in range(TRIES):
        size = STEP * (1 - attempt / TRIES) + 0.01
        new = logs.copy()
        knot = int(rng.integers(len(new)))
        kind = rng.random()
        if kind < 0.3:
            new[knot:] += rng.normal() * size
        elif kind < 0.5:
            new += rng.normal() * size * 0.3
        else:
            new[knot] += rng.normal() * size
        new = np.clip(new, least, most)
        new = new if shape.falls else np.maximum.accumulate(new)
        value = loss(new)
        if value < best:
            best, logs = value, new
    return logs, misses(knots.widths(logs))


def fit_slope(n: int, start: Array, repeats: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Two columns of misses: about a steep line; and about none, where none is given that holds zero beside a trend."""
    draws = [slope_draw(n, rho, repeats, rng) for rho in RHOS]
    pairs, deviation = n * (n - 1) / 2, math.sqrt(score_variance(np.arange(n, dtype=float)))
    sizes = [(np.log(np.maximum(u, 1e-9)), np.log(test)) for u, _, test in draws]
    most = MOST_TAU_FEW if n <= SIZES["slope"][0] else MOST_TAU

    def misses(widths: list[Array]) -> Array:
        rows = []
        for (u, test), bound in zip(sizes, widths, strict=True):
            missed = u > bound
            rows.append([missed.mean(), missed.sum() / (missed | (u <= test)).sum()])
        return np.array(rows)

    shape = Shape(n, WEIGHTS, pairs / deviation * math.atanh(most))
    return search(misses, Knots([r for _, r, _ in draws], shape), start, rng)


def fit_errors(
    draws: Sequence[tuple[Array, Array]], start: Array, rng: np.random.Generator, shape: Shape
) -> tuple[Array, Array]:
    """Misses of errors of shape (kinds, repeats) for each ρ, with their r."""
    errors = [np.log(np.maximum(error, 1e-9)) for error, _ in draws]

    def misses(widths: list[Array]) -> Array:
        return np.array([(e > w).mean(axis=1) for e, w in zip(errors, widths, strict=True)])

    return search(misses, Knots([r for _, r in draws], shape), start, rng)


def beyond_near(errors: Array, seen: Array, n: int, near: Array) -> Array:
    """Errors half and a whole length ahead, the former such that it passes ``far`` where it passes the width there.

    That width lies between those of the next point and of one a whole length ahead (``widths.ahead_width``).
    """
    share = math.log(n // 2) / math.log(n)
    half = (errors[0] / np.exp(np.interp(seen, SEEN, near)) ** (1 - share)) ** (1 / share)
    return np.stack([half, errors[1]])


def line_of(n: int, logs: Array, shares: Array, weights: Array = WEIGHTS) -> str:
    """A line of the table; its comment is the least and the largest share missed at the ρ that count, in per cent."""
    shares = shares[weights > 0.2]
    row = ", ".join(f"{value:.2f}" for value in np.exp(logs))
    return f"        {n}: ({row}),  # {100 * shares.min():.1f} to {100 * shares.max():.1f}"


def tables(which: str, repeats: int) -> dict[str, list[str]]:
    """The lines of the tables that one kind of draw makes."""
    begin = np.linspace(math.log(2.1), math.log(4), len(SEEN))
    parts = PARTS[which]
    before, weights = dict.fromkeys(parts, begin), WEIGHTS
    least = LEAST_AHEAD if which == "ahead" else None
    lines: dict[str, list[str]] = {name: [] for name in parts}
    for n in SIZES[which]:
        rng = np.random.default_rng([7, n, len(which)])
        if which == "slope":
            drawn = max(1500, repeats * 60 // n) if n > 60 else repeats  # all pairs of 256 points take long
            before["slope"], shares = fit_slope(n, before["slope"], drawn, rng)
            lines["slope"].append(line_of(n, before["slope"], shares))
            continue
        draws = [DRAWS[which](n, rho, repeats, rng) for rho in RHOS]
        for name, part in parts.items():
            chosen = [(error[part], seen) for error, seen in draws]
            if name == "point_far":
                chosen = [(beyond_near(error, seen, n, before["point_near"]), seen) for error, seen in chosen]
            shape = Shape(n, weights, least=least, falls=name == "point_near")
            before[name], shares = fit_errors(chosen, before[name], rng, shape)
            lines[name].append(line_of(n, before[name], shares, weights))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", nargs="*", default=list(SIZES))
    parser.add_argument("--repeats", type=int, help="draws for each ρ; by default those of the tables that are in use")
    arguments = parser.parse_args()
    for which in arguments.which:
        for name, lines in tables(which, arguments.repeats or REPEATS[which]).items():
            print(f'    "{name}": {{', *lines, "    },", sep="\n", flush=True)


if __name__ == "__main__":
    main()
