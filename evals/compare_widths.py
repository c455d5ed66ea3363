"""Intervals of comparisons: what they hold, and the factors that make it 95 %, or at least that.

``python -m evals.compare_widths`` prints how often the interval of a difference holds the truth, in Markdown;
``--fit`` prints the tables ``FACTORS`` of ``assistant/analysis/compare_averaged.py`` and ``WIDENED`` of
``assistant/analysis/compare_noise.py``. Series are drawn from a fixed seed.

Of sides of ten points or more, a search looks for the factors, as a function of the mean correlation, with which noise
of every ρ misses as close to 5 % as can be, for each number of points that tell ρ. The table in use is of 1000 draws a
cell (``--fit averaged``).

Of fewer points, the interval allows for the strongest correlation ρ̄ that a log leaves plausible. Where that is the
strongest that is considered, nothing is left to spare, and what is estimated beside it makes noise of ρ = 0.9 miss a
little more often than 5 %. ``--fit widened`` finds, for each number of points a side, the least factor with which it
misses ``AIM`` in logs of several lengths, and of that and its neighbours' the largest. The table in use is of 2500
draws.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from assistant.analysis import compare_averaged, compare_noise
from assistant.analysis.compare_averaged import KNOTS, Averaged, average, averaged, difference
from assistant.analysis.compare_noise import LARGEST, Level, Noise, between, level
from assistant.analysis.noise import same_gap_noise
from evals.trend_calibration import noise

Array = NDArray[np.float64]
#: Points a side, and points of the log beside both sides, of which the widening is fitted.
SIZES = (1, 2, 4, 7, 8, 11, 15, 25, 50, 100)
BESIDE = (30, 90)
#: Share of noise of ρ = 0.9 that the fit lets miss.
AIM = 0.046
RHOS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9)
#: Sides and logs that are measured: points of a side and of the log.
STEPS = ((1, 10), (1, 20), (1, 100), (2, 20), (2, 40), (5, 40), (5, 100), (10, 40), (10, 100), (30, 100), (90, 100))
WINDOWS = ((5, 5, 10), (5, 5, 30), (5, 5, 100), (5, 50, 100), (10, 10, 20), (10, 10, 30), (10, 10, 60), (10, 10, 200),
           (10, 50, 100), (15, 15, 30), (20, 20, 40), (20, 20, 100), (50, 50, 100), (100, 100, 300))  # fmt: skip
RUNS = (20, 40, 60, 80, 200, 400)
Drawn = tuple[float, Noise | Averaged | None]
#: Windows of one series (w) or last quarters of two (r) of which factors are fitted: points a side and of the log, by
#: the points that tell the correlation.
FITTED = {
    20: (("w", 10, 20),),
    40: (("w", 20, 40),),
    80: (("w", 10, 60), ("w", 10, 200), ("r", 10, 40), ("w", 20, 100), ("r", 20, 80)),
    100: (("w", 50, 100), ("r", 50, 200)),
    200: (("w", 100, 300), ("r", 100, 400)),
}
#: Share that is held, as the search wants it: with what distance costs nothing, tries, and how smooth factors are.
WANTED, SLACK, TRIES, SMOOTH = 0.952, 0.008, 4000, 1.0


def levels(series: Array, first: tuple[int, int], second: tuple[int, int]) -> tuple[Level, Level] | None:
    """Both sides of one series, as ``compare`` reads them."""
    a, b = level(series, first, (0, second[0])), level(series, second, (first[1], len(series)))
    return None if a is None or b is None else (a, b)


def mean_difference(x: Array, first: tuple[int, int], second: tuple[int, int]) -> float:
    return abs(float(x[slice(*second)].mean() - x[slice(*first)].mean()))


# -- the fit ----------------------------------------------------------------------------------------------------------
def far_draw(n: int, beside: int, repeats: int, rng: np.random.Generator) -> list[tuple[float, Level, Level]]:
    """Differences of the first and the last n points of noise of ρ = 0.9, and their levels."""
    length = 2 * n + beside
    sides = (0, n), (length - n, length)
    found = []
    for series in noise(rng, repeats, length, LARGEST):
        both = levels(series, *sides)
        if both is not None:
            found.append((mean_difference(series, *sides), *both))
    return found


def missed(draws: list[tuple[float, Level, Level]], factor: float) -> float:
    """Share of the draws that an interval misses where a strongly correlated side's deviation is so much larger."""
    count = 0
    for delta, *sides in draws:
        wide = [compare_noise.widened(side, factor) for side in sides]
        found = between(wide[0], wide[1])
        count += found is None or delta > found.half_width()
    return count / len(draws)


def least_factor(draws: list[list[tuple[float, Level, Level]]], aim: float = AIM) -> float:
    """The least factor, in hundredths, with which none of the draws misses more often than ``aim``."""
    return next(f for f in 1 + np.arange(100) / 100 if all(missed(some, float(f)) <= aim for some in draws))


def unfitted(kind: str, n: int, length: int, rho: float, repeats: int) -> tuple[Array, Array]:
    """Log of differences over the half-width that an average without a factor gives, and its mean correlation."""
    rng = np.random.default_rng([31, n, length, int(100 * rho), kind == "r"])
    one = noise(rng, repeats, length, rho)
    two = noise(rng, repeats, length, rho) if kind == "r" else one
    last = (length - n, length)
    first = last if kind == "r" else (0, n)
    ratios, means = np.empty(repeats), np.empty(repeats)
    for row, (x, y) in enumerate(zip(one, two, strict=True)):
        a, b = average(x, first), average(y, last)
        assert a is not None
        assert b is not None
        found = averaged(a, b, same=kind == "w")
        assert found is not None
        delta = abs(float(y[slice(*last)].mean() - x[slice(*first)].mean()))
        ratios[row], means[row] = math.log(max(delta, 1e-300) / found.half_width()), found.rho
    return ratios, means


def factors(draws: list[list[tuple[Array, Array]]]) -> tuple[Array, Array]:
    """Log factors at ``KNOTS`` and what is held with them, shape (cells, ρ), by a random search with a fixed seed."""
    rng = np.random.default_rng(0)

    def held(logs: Array) -> Array:
        return np.array([[(ratio <= np.interp(mean, KNOTS, logs)).mean() for ratio, mean in cell] for cell in draws])

    def loss(logs: Array) -> float:
        off = np.maximum(np.abs(held(logs) - WANTED) - SLACK, 0) / 0.01
        bent = SMOOTH * (np.diff(logs, 2) ** 2).sum() + 0.02 * (logs**2).sum()
        return float((off**2).sum() / len(draws) + bent)

    logs = np.zeros(len(KNOTS))
    best = loss(logs)
    for attempt in range(TRIES):
        size, new = 0.3 * (1 - attempt / TRIES) + 0.01, logs.copy()
        knot, kind = int(rng.integers(len(new))), rng.random()
        if kind < 0.3:
            new[knot:] += rng.normal() * size
        elif kind < 0.5:
            new += rng.normal() * size * 0.3
        else:
            new[knot] += rng.normal() * size
        value = loss(new)
        if value < best:
            best, logs = value, new
    return logs, held(logs)


def fit_averaged(repeats: int) -> None:
    """Prints the table ``FACTORS``."""
    compare_averaged.FACTORS.update(dict.fromkeys(compare_averaged.FACTORS, (1.0,) * len(KNOTS)))
    for points, cells in FITTED.items():
        logs, held = factors([[unfitted(*cell, rho, repeats) for rho in RHOS] for cell in cells])
        row = ", ".join(f"{value:.2f}" for value in np.exp(logs))
        print(f"    {points}: ({row}),  # {100 * (1 - held.max()):.1f} to {100 * (1 - held.min()):.1f}", flush=True)


def fit(repeats: int) -> None:
    # Found without the widening that is in use.
    compare_noise.WIDENED.update(dict.fromkeys(compare_noise.WIDENED, 1.0))
    factors, shares = [], []
    for n in SIZES:
        drawn = [far_draw(n, beside, repeats, np.random.default_rng([21, n, beside])) for beside in BESIDE]
        shares.append([100 * missed(some, 1.0) for some in drawn])
        factors.append(least_factor(drawn))
    for place, n in enumerate(SIZES):
        low, high = min(shares[place]), max(shares[place])
        print(f"    {n}: {largest_near(factors, place):.2f},  # {low:.1f} to {high:.1f} % without")


def largest_near(factors: list[float], place: int) -> float:
    """The largest of a factor and its neighbours: each is known to about 0.03 only, and too small a one does harm."""
    return max(factors[max(place - 1, 0) : place + 2])


# -- what is held -----------------------------------------------------------------------------------------------------
def step_pair(gap: int) -> Callable[[Array, Array, np.random.Generator], Drawn]:
    """Two steps of one series, anywhere in it; far apart by the scatter around each, as ``compare_rows`` does."""

    def drawn(x: Array, _: Array, rng: np.random.Generator) -> Drawn:
        i = int(rng.integers(0, len(x) - gap))
        first, second = (i, i + 1), (i + gap, i + gap + 1)
        direct = same_gap_noise(x.tolist(), i, i + gap)
        if direct is not None:
            return mean_difference(x, first, second), Noise(*direct)
        both = levels(x, first, second)
        return mean_difference(x, first, second), None if both is None else between(*both)

    return drawn


def windows(n: int, m: int) -> Callable[[Array, Array, np.random.Generator], Drawn]:
    """The first n and the last m points of one series."""

    def drawn(x: Array, _: Array, rng: np.random.Generator) -> Drawn:
        sides = (0, n), (len(x) - m, len(x))
        return mean_difference(x, *sides), difference((x, x), sides, same=True)

    return drawn


def runs(x: Array, y: Array, rng: np.random.Generator) -> Drawn:
    """The last quarters of two series."""
    part = (len(x) - len(x) // 4, len(x))
    delta = abs(float(x[slice(*part)].mean() - y[slice(*part)].mean()))
    return delta, difference((x, y), (part, part), same=False)


def cell(draw: Callable[[Array, Array, np.random.Generator], Drawn], n: int, rho: float, repeats: int) -> str:
    """Share of intervals that hold the truth, and in brackets the share refused where it is a per cent or more."""
    rng = np.random.default_rng([22, n, int(100 * rho)])
    one, two = noise(rng, repeats, n, rho), noise(rng, repeats, n, rho)
    hits = []
    for x, y in zip(one, two, strict=True):
        delta, found = draw(x, y, rng)
        if found is not None:
            hits.append(found.p_value(delta) >= 0.05)  # the same as a half-width of at least that, and sooner found
    refused = 100 * (1 - len(hits) / repeats)
    return (f"{100 * np.mean(hits):.1f}" if hits else "–") + (f" ({refused:.0f})" if refused >= 1 else "")


def measure(repeats: int) -> None:
    error = 100 * np.sqrt(0.0475 / repeats)
    print(f"{repeats} series a cell, so that 95 % has a standard error of {error:.2f}.\n")
    print("| sides | points of the log | " + " | ".join(f"ρ = {rho:g}" for rho in RHOS) + " |")
    print("| --- | --- |" + " --- |" * len(RHOS))
    lines = [(f"steps, {gap} apart", n, step_pair(gap)) for gap, n in STEPS]
    lines += [(f"windows of {a}" + (f" and {b}" if a != b else ""), n, windows(a, b)) for a, b, n in WINDOWS]
    lines += [("last quarters of two runs", n, runs) for n in RUNS]
    for name, n, draw in lines:
        print(f"| {name} | {n} | " + " | ".join(cell(draw, n, rho, repeats) for rho in RHOS) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", choices=["averaged", "widened"], help="print the table FACTORS, or WIDENED")
    parser.add_argument("--repeats", type=int, default=1000)
    arguments = parser.parse_args()
    {"averaged": fit_averaged, "widened": fit, None: measure}[arguments.fit](arguments.repeats)


if __name__ == "__main__":
    main()
