"""How often the interval of the time left holds what comes, and the factors that make it 95 %.

``python -m evals.trend_time_left`` prints coverage in Markdown: step times about a level, of AR(1) noise that is
normal, log-normal (as step times are), or normal with an occasional slow step (``--only`` one of them). ``--fit``
prints the table of ``assistant/analysis/level_ahead.py``: of the draws of AR(1) noise of every ρ from 0 to 0.9 whose
step times are not told to be moving, as near to 95 % of each length, reach and ρ are held as can be (the search is that
of :mod:`evals.compare_fit`). What is measured is drawn apart from the fit, in part at lengths between its own.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.level_ahead import BOUND, KNOTS, RECENT, averaged_ahead, features, level_intervals
from assistant.analysis.time_left import drifting, remaining_seconds
from assistant.analysis.trend import trend_of
from evals.compare_fit import hats, least
from evals.trend_calibration import noise

Array = NDArray[np.float64]
#: Lengths (and draws) and correlations of the fit, and how far it reaches, in lengths.
FITTED = {**dict.fromkeys((10, 12, 14, 17, 20, 25, 32, 40, 60), 2200), 120: 1500}
RHOS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9)
REACHES = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0)
#: What is measured.
LENGTHS = (10, 15, 20, 30, 60, 100)
MEASURED = (0.0, 0.3, 0.6, 0.7, 0.9)
AHEAD = (0.25, 1.0, 4.0, 10.0)
#: Most series a cell that may be drifting and are measured one by one, and fewest of which a share is told.
MOVING, FEWEST = 500, 100
#: Share that the search wants to be held, by how much it may be off at the cost of one, and the kernel's half-width.
HELD, OFF, KERNEL = 0.951, 0.005, 0.12
#: What a table costs: how bent it is over the knots, how large its entries are, how far its factors are from one.
COSTS = (15.0, 0.003, 0.01)
LEVEL = 100.0


def log_normal(rng: np.random.Generator, repeats: int, n: int, rho: float) -> Array:
    """Step times whose logarithms are AR(1) noise: a tenth up or down, and further up than down."""
    return np.asarray(LEVEL * np.exp(0.15 * noise(rng, repeats, n, rho)))


def slow_steps(rng: np.random.Generator, repeats: int, n: int, rho: float) -> Array:
    """AR(1) noise of 10 %, and one step in twenty that takes half as long again (a checkpoint, a validation)."""
    slow = 0.5 * LEVEL * (rng.random((repeats, n)) < 0.05)
    return np.asarray(LEVEL + 0.1 * LEVEL * noise(rng, repeats, n, rho) + slow)


SHAPES: dict[str, Callable[[np.random.Generator, int, int, float], Array]] = {
    "normal": lambda rng, repeats, n, rho: LEVEL + 0.1 * LEVEL * noise(rng, repeats, n, rho),
    "log-normal": log_normal,
    "with slow steps": slow_steps,
}


@dataclass(frozen=True, slots=True)
class Sums:
    """Draws of one length, reach and ρ.

    Attributes:
        over: log of the error over the half-width before its factor, shape (draws,).
        rho: mean correlation.
        sides: what the factors hang on.
    """

    over: Array
    rho: Array
    sides: Array


def sums(n: int, rho: float, repeats: int, seed: int) -> Iterator[Sums]:
    """Of step times that do not seem to move, the sums of those to come."""
    rng = np.random.default_rng([seed, n, int(100 * rho)])
    times = noise(rng, repeats, 11 * n, rho)
    still = np.array([not drifting(trend_of(np.arange(n), values[:n])) for values in times])
    times = times[still]
    for reach in REACHES:
        count = max(1, round(reach * n))
        used = min(n, max(RECENT, count))
        found = averaged_ahead(times[:, n - used : n], count)
        assert found is not None
        error = np.abs(times[:, n : n + count].sum(axis=1) - found.expected)
        yield Sums(np.log(np.maximum(error, 1e-300) / found.half), found.rho, features(used, count))


def table_of(draws: list[Sums]) -> Array:
    """The log factors that hold as near to 95 % of each as can be, at KNOTS (rows) by features (columns)."""
    places = [hats(some.rho, KNOTS) for some in draws]

    def misses(table: Array) -> tuple[Array, Array]:
        errors, slopes = [], []
        for some, (at, part) in zip(draws, places, strict=True):
            plain = table @ some.sides
            logs = np.clip(plain, -BOUND, BOUND)
            beyond = np.interp(some.rho, KNOTS, logs) - some.over
            found = float((beyond >= 0).mean()) - HELD
            near = (np.abs(beyond) < KERNEL) / (2 * KERNEL * len(beyond))
            knots = np.bincount(at, near * (1 - part), len(KNOTS)) + np.bincount(at + 1, near * part, len(KNOTS))
            knots *= (plain - logs) * found >= 0  # a bound moves only where the table is led back to it
            worse = (found / OFF) ** 2 / 4
            errors.append(found / OFF * (1 + worse))
            slopes.append(np.outer(knots, some.sides).ravel() / OFF * (1 + 3 * worse))
        return np.array(errors), np.array(slopes)

    sides = np.unique([some.sides for some in draws], axis=0)[:, None, :]
    return least(misses, np.zeros((len(KNOTS), len(draws[0].sides))), sides, COSTS)


def held(some: Sums, table: Array) -> float:
    """The share of draws that intervals with a table of factors hold."""
    logs = np.clip(table @ some.sides, -BOUND, BOUND)
    return float((np.interp(some.rho, KNOTS, logs) >= some.over).mean())


def fit() -> None:
    """Prints ``FACTORS``."""
    draws = [some for n, repeats in FITTED.items() for rho in RHOS for some in sums(n, rho, repeats, 41)]
    table = table_of(draws)
    print("FACTORS: Final[Array] = np.array([")
    for row in table:
        print("    [" + ", ".join(f"{value:.3f}" for value in row) + "],")
    print("])  # fmt: skip")
    shares = [100 * held(some, table) for some in draws]
    print(f"# held in the fit: {min(shares):.1f} to {max(shares):.1f} %")


def cell(times: Array, n: int, moving: int = MOVING) -> tuple[list[float], list[float], float]:
    """What is held, in %: of level step times for each of :data:`AHEAD`, of those that may be drifting, their share."""
    trends = [trend_of(np.arange(n), values[:n]) for values in times]
    drifts = np.array([drifting(trend) for trend in trends])
    still, some = times[~drifts], np.flatnonzero(drifts)[:moving]
    of_level, of_drift = [], []
    for reach in AHEAD:
        count = max(1, round(reach * n))
        expected, half = level_intervals(still[:, :n], count)
        error = np.abs(still[:, n : n + count].sum(axis=1) - expected)
        of_level.append(100 * float((error <= half).mean()))
        hits = []
        for place in some:
            told = remaining_seconds(times[place, :n], count, trends[place])
            assert told is not None
            hits.append(told.low <= times[place, n : n + count].sum() <= told.high)
        of_drift.append(100 * float(np.mean(hits)) if len(hits) >= min(moving, FEWEST) else math.nan)
    return of_level, of_drift, 100 * float(drifts.mean())


def measure(repeats: int, shapes: Sequence[str]) -> None:
    """What intervals of 95 % hold, and what those of at least 95 % do where step times may be drifting."""
    for shape in shapes:
        level, drift, every, least_held = [], [], [], 100.0
        for n in LENGTHS:
            cells, others = [], []
            for rho in MEASURED:
                rng = np.random.default_rng([42, n, int(100 * rho), len(shape)])
                of_level, of_drift, share = cell(SHAPES[shape](rng, repeats, 11 * n, rho), n)
                every += of_level
                cells.append(" / ".join(f"{held:.1f}" for held in of_level))
                seen = [held for held in of_drift if not math.isnan(held)]
                least_held = min([least_held, *seen])
                others.append(f"{min(seen):.1f} ({share:.0f})" if seen else f"– ({share:.0f})")
            level.append(f"| {n} | " + " | ".join(cells) + " |")
            drift.append(f"| {n} | " + " | ".join(others) + " |")
        heads = (
            "| step times | "
            + " | ".join(f"ρ = {rho:g}" for rho in MEASURED)
            + " |\n|"
            + " --- |" * (len(MEASURED) + 1)
        )
        print(
            f"\nStep times {shape}, {repeats} series a cell: a quarter as many / as many / four / ten times as many\n"
        )
        print(heads, *level, f"\nHeld: {min(every):.1f} to {max(every):.1f} %.", sep="\n")
        print("\nThe same where they may be drifting: least held of the four reaches, and their share, %\n")
        print(heads, *drift, f"\nLeast held: {least_held:.1f} %.", sep="\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true", help="print the table of factors")
    parser.add_argument("--only", choices=list(SHAPES), help="one kind of step times")
    parser.add_argument("--repeats", type=int, default=4000)
    arguments = parser.parse_args()
    if arguments.fit:
        fit()
    else:
        measure(arguments.repeats, [arguments.only] if arguments.only else list(SHAPES))


if __name__ == "__main__":
    main()
