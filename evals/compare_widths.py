"""Intervals of comparisons: what they hold, and the widening that makes it at least 95 %.

``python -m evals.compare_widths`` prints how often the interval of a difference holds the truth, in Markdown;
``--fit`` prints the table ``WIDENED`` of ``assistant/analysis/compare_noise.py``. Series are drawn from a fixed seed.

The interval allows for the strongest correlation ρ̄ that a log leaves plausible. Where that is the strongest that is
considered, nothing is left to spare, and what is estimated beside it makes noise of ρ = 0.9 miss a little more often
than 5 %. ``--fit`` finds, for each number of points a side, the least factor with which it misses ``AIM`` in logs of
several lengths, and of that and its neighbours' the largest. The table in use is of 2500 draws.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from assistant.analysis import compare_noise
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
WINDOWS = ((5, 5, 10), (5, 5, 30), (5, 5, 100), (10, 10, 20), (10, 10, 60), (10, 10, 200), (20, 20, 40), (20, 20, 100),
           (50, 50, 100), (100, 100, 300), (5, 50, 100))  # fmt: skip
RUNS = (20, 40, 80, 200, 400)


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
def step_pair(gap: int) -> Callable[[Array, Array, np.random.Generator], tuple[float, Noise | None]]:
    """Two steps of one series, anywhere in it; far apart by the scatter around each, as ``compare_rows`` does."""

    def drawn(x: Array, _: Array, rng: np.random.Generator) -> tuple[float, Noise | None]:
        i = int(rng.integers(0, len(x) - gap))
        first, second = (i, i + 1), (i + gap, i + gap + 1)
        direct = same_gap_noise(x.tolist(), i, i + gap)
        if direct is not None:
            return mean_difference(x, first, second), Noise(*direct)
        both = levels(x, first, second)
        return mean_difference(x, first, second), None if both is None else between(*both)

    return drawn


def windows(n: int, m: int) -> Callable[[Array, Array, np.random.Generator], tuple[float, Noise | None]]:
    """The first n and the last m points of one series."""

    def drawn(x: Array, _: Array, rng: np.random.Generator) -> tuple[float, Noise | None]:
        sides = (0, n), (len(x) - m, len(x))
        both = levels(x, *sides)
        return mean_difference(x, *sides), None if both is None else between(*both)

    return drawn


def runs(x: Array, y: Array, rng: np.random.Generator) -> tuple[float, Noise | None]:
    """The last quarters of two series."""
    part = (len(x) - len(x) // 4, len(x))
    a, b = level(x, part), level(y, part)
    delta = abs(float(x[slice(*part)].mean() - y[slice(*part)].mean()))
    return delta, None if a is None or b is None else between(a, b)


def cell(
    draw: Callable[[Array, Array, np.random.Generator], tuple[float, Noise | None]], n: int, rho: float, repeats: int
) -> str:
    """Share of intervals that hold the truth, and in brackets the share refused where it is a per cent or more."""
    rng = np.random.default_rng([22, n, int(100 * rho)])
    one, two = noise(rng, repeats, n, rho), noise(rng, repeats, n, rho)
    hits = []
    for x, y in zip(one, two, strict=True):
        delta, found = draw(x, y, rng)
        if found is not None:
            hits.append(delta <= found.half_width())
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
    parser.add_argument("--fit", action="store_true", help="print the table WIDENED")
    parser.add_argument("--repeats", type=int, default=1000)
    arguments = parser.parse_args()
    (fit if arguments.fit else measure)(arguments.repeats)


if __name__ == "__main__":
    main()
