"""Intervals of comparisons: what they hold, and the factors that make it 95 %, or at least that.

``python -m evals.compare_widths`` prints how often the interval of a difference holds the truth, in Markdown
(``--only`` windows, unlike, families, steps or validations); ``--fit averaged`` and ``--fit unlike`` print the tables
of ``assistant/analysis/compare_factors.py`` (:mod:`evals.compare_fit`), ``--fit widened`` the table ``WIDENED`` of
``assistant/analysis/compare_noise.py``. Series are drawn from a fixed seed, apart from those of the fit.

Of single steps far apart, the interval allows for the strongest correlation ρ̄ that a log leaves plausible. Where that
is the strongest that is considered, nothing is left to spare, and what is estimated beside it makes noise of ρ = 0.9
miss a little more often than 5 %. ``--fit widened`` finds, for each number of points a side, the least factor with
which it misses ``AIM`` in logs of several lengths, and of that and its neighbours' the largest. The table in use is of
2500 draws.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from assistant.analysis import compare_noise
from assistant.analysis.compare_averaged import Averaged
from assistant.analysis.compare_noise import LARGEST, Level, Noise, between, level
from assistant.analysis.compare_validation import agreement
from assistant.analysis.noise import pair_noise
from evals.compare_fit import FAMILY, UNLIKE_MEASURED, Cell, draw, drawn_unlike, fit_averaged, fit_unlike
from evals.trend_calibration import noise

Array = NDArray[np.float64]
#: Points a side, and points of the log beside both sides, of which the widening is fitted.
SIZES = (1, 2, 4, 7, 8, 11, 15, 25, 50, 100)
BESIDE = (30, 90)
#: Share of noise of ρ = 0.9 that the fit lets miss.
AIM = 0.046
RHOS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9)
#: Sides and logs that are measured: points of a side and of the log.
STEPS = (
    (1, 10), (1, 20), (1, 100), (2, 20), (2, 40), (5, 20), (5, 40), (5, 100), (10, 40), (10, 100), (20, 40), (30, 100),
    (90, 100),
)  # fmt: skip
Drawn = tuple[float, Noise | Averaged | None]
#: Sides that are measured. None of the lengths in between was fitted (``evals/compare_fit.py``).
WINDOWS = (
    *(Cell("ends", n, n, length) for n, lengths in {
        3: (10, 20, 30, 40, 60, 100), 5: (10, 20, 30, 40, 60, 100), 7: (20, 50), 10: (20, 30, 40, 60, 100),
        15: (30, 50), 20: (40, 60, 100), 50: (100, 150), 100: (300,),
    }.items() for length in lengths),
    Cell("ends", 5, 50, 100), Cell("ends", 10, 50, 100), Cell("ends", 10, 20, 40),
    *(Cell("next", n, n, length) for n, length in ((3, 30), (5, 30), (10, 40), (10, 200), (20, 60), (30, 100))),
    *(Cell("runs", n, n, 4 * n) for n in (4, 8, 15, 30, 60)),
)  # fmt: skip
#: Sides of which many families are drawn, and at which correlations.
MANY = (
    *(Cell("ends", n, n, length) for n, length in (
        (3, 30), (3, 100), (5, 10), (5, 30), (8, 40), (10, 30), (10, 60), (15, 30), (50, 100),
    )),
    Cell("runs", 4, 4, 16), Cell("runs", 10, 10, 40), Cell("ends", 1, 1, 10), Cell("ends", 1, 1, 40),
    Cell("next", 1, 1, 40, 20), Cell("runs", 1, 1, 30),
)  # fmt: skip
STRONG = (0.0, 0.7, 0.9)
#: Problems and answers to each; how easily a problem is solved.
PROBLEMS = ((8, 4), (8, 16), (30, 2), (30, 4), (30, 32), (100, 4), (500, 4))
EASE = ((0.5, 1.0), (1.0, 1.0), (0.1, 3.0), (0.05, 5.0))
#: Pairs of unlike length furthest from 95 %, either way, that are drawn again.
OUTERMOST = 6
MEASURED = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9)


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
def step_pair(gap: int) -> Callable[[Array, Array, np.random.Generator], Drawn]:
    """Two steps of one series, anywhere in it, as ``compare`` judges them."""

    def drawn(x: Array, _: Array, rng: np.random.Generator) -> Drawn:
        i = int(rng.integers(0, len(x) - gap))
        found = pair_noise(x, i, i + gap)
        return mean_difference(x, (i, i + 1), (i + gap, i + gap + 1)), None if found is None else found[0]

    return drawn


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


def head(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |\n|" + " --- |" * len(cells))


def measure_steps(repeats: int) -> None:
    print(f"\n{repeats} series a cell, so that 95 % has a standard error of {100 * np.sqrt(0.0475 / repeats):.2f}.\n")
    head("sides", "points of the log", *(f"ρ = {rho:g}" for rho in RHOS))
    for gap, n in STEPS:
        parts = (cell(step_pair(gap), n, rho, repeats) for rho in RHOS)
        print(f"| steps, {gap} apart | {n} | " + " | ".join(parts) + " |", flush=True)


def measure_windows(repeats: int) -> None:
    """What the interval of two windows holds, and in brackets families of twenty metrics with a false call, in %."""
    repeats *= 10  # drawn all at once
    print(f"\n{repeats} series a cell, so that 95 % has a standard error of {100 * np.sqrt(0.0475 / repeats):.2f}.\n")
    head("sides", "points of the log", *(f"ρ = {rho:g}" for rho in MEASURED))
    least, most, far = 100.0, 0.0, 0.0
    for sides in WINDOWS:
        texts = []
        for rho in MEASURED:
            drawn = draw(sides, rho, repeats, 22)
            held, beyond = 100 * drawn.held(), 100 * drawn.families()
            least, most, far = min(least, held), max(most, held), max(far, beyond)
            texts.append(f"{held:.1f} ({beyond:.1f})")
        print(f"| {sides} | {sides.length} | " + " | ".join(texts) + " |", flush=True)
    print(f"\nHeld: {least:.1f} to {most:.1f} %; families with a false call: at most {far:.1f} %.")


def measure_unlike(repeats: int) -> None:
    """What the interval of two sides of unlike length holds, of pairs at random that were not fitted."""
    repeats *= 10
    rows = [(100 * found.held(), cell, rho) for cell, rho, found in drawn_unlike(UNLIKE_MEASURED, repeats)]
    rows.sort(key=lambda row: row[0])
    outer = [*rows[:OUTERMOST], *rows[-OUTERMOST:]]
    again = [100 * draw(cell, rho, 8 * repeats, 25).held() for _, cell, rho in outer]
    inside = sum(93 <= held <= 97 for held, _, _ in rows)
    print(f"\n{len(rows)} cells of {repeats} series: {rows[0][0]:.1f} to {rows[-1][0]:.1f} %, {inside} in 93 to 97 %.")
    print(f"The outermost again, with {8 * repeats} fresh series: {min(again):.1f} to {max(again):.1f} %.\n")
    head("sides", "points of the log", "ρ", "held", "held again")
    for (held, cell, rho), once_more in zip(outer, again, strict=True):
        print(f"| {cell} | {cell.length} | {rho:g} | {held:.1f} | {once_more:.1f} |")


def measure_families(repeats: int) -> None:
    """Of families of twenty metrics, those in which one is significant after Holm's correction, in %."""
    count = 5 * repeats
    print(f"\n{count} families a cell, so that 5 % has a standard error of {100 * np.sqrt(0.0475 / count):.2f}.\n")
    head("sides", "points of the log", *(f"ρ = {rho:g}" for rho in STRONG))
    for sides in MANY:
        texts = [f"{100 * draw(sides, rho, FAMILY * count, 24).families():.1f}" for rho in STRONG]
        print(f"| {sides} | {sides.length} | " + " | ".join(texts) + " |", flush=True)


def measure_validations(repeats: int) -> None:
    """Two validations of the same problems with the same model; how hard these are is drawn anew twenty times."""
    print(f"\n{20 * repeats} pairs a cell. In brackets: bounded, since the answers to every problem agreed, %.\n")
    head("problems", "answers to each", *(f"ease from Beta({a:g}, {b:g})" for a, b in EASE))
    for problems, samples in PROBLEMS:
        texts = [validation_cell(problems, samples, ease, repeats) for ease in EASE]
        print(f"| {problems} | {samples} | " + " | ".join(texts) + " |", flush=True)


def validation_cell(problems: int, samples: int, ease: tuple[float, float], repeats: int) -> str:
    """Share of intervals that hold, of those from re-sampling; in brackets, that of pairs without one."""
    rng = np.random.default_rng([23, problems, samples, int(100 * ease[0])])
    hits: list[bool] = []
    for _ in range(20):
        chance = rng.beta(*ease, problems)
        shares = rng.binomial(samples, chance, (2, repeats, problems)) / samples
        means = shares.mean(axis=2)
        errors = np.sqrt((shares * (1 - shares)).mean(axis=2) / ((samples - 1) * problems))
        for delta, pair in zip(np.abs(means[1] - means[0]), errors.T, strict=True):
            if pair.min() > 0:
                freedoms = [agreement(float(error), problems, samples) for error in pair]
                freedom = (pair**2).sum() ** 2 / sum(
                    error**4 / free for error, free in zip(pair, freedoms, strict=True)
                )
                hits.append(Noise(float(np.sqrt((pair**2).sum())), round(float(freedom), 2)).p_value(delta) >= 0.05)
    refused = 100 * (1 - len(hits) / (20 * repeats))
    return (f"{100 * np.mean(hits):.1f}" if len(hits) >= 500 else "–") + (f" ({refused:.0f})" if refused >= 1 else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", choices=["averaged", "unlike", "widened"], help="print the factors, or WIDENED")
    parser.add_argument("--only", choices=["windows", "unlike", "families", "steps", "validations"], help="a part")
    parser.add_argument("--repeats", type=int, default=400)
    arguments = parser.parse_args()
    if arguments.fit is not None:
        {"averaged": fit_averaged, "unlike": fit_unlike, "widened": fit}[arguments.fit](arguments.repeats)
        return
    parts = {
        "windows": measure_windows, "unlike": measure_unlike, "families": measure_families,
        "steps": measure_steps, "validations": measure_validations,
    }  # fmt: skip
    for name, part in parts.items():
        if arguments.only in {None, name}:
            part(arguments.repeats)


if __name__ == "__main__":
    main()
