"""How often noise is called a trend, and real trends are missed: ``python -m evals.trend_levels`` prints Markdown.

Series are drawn from a fixed seed; nothing is read from disk. ``--repeats 2000`` takes about ten minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.forecast import forecasts_at, steps_until
from assistant.analysis.stats import mann_kendall
from assistant.analysis.trend import Trend, trend_of
from evals.trend_calibration import noise
from evals.trend_curves import CURVES, KINDS, SCATTERS, drawn

Array = NDArray[np.float64]
SIZES = (10, 14, 20, 40, 60, 100, 200, 400)
RHOS = (0.0, 0.3, 0.5, 0.7, 0.9, 1.0)
#: Sizes at which effects and other noise are measured.
FEW = (20, 60, 200)
#: Lengths and correlations at which intervals are measured.
LENGTHS = (10, 12, 16, 20, 30, 60, 100, 200)
COVERED = (0.0, 0.3, 0.5, 0.7, 0.9)
#: Lengths at which the step is measured at which a value is reached.
REACHED = (10, 15, 20, 30, 60, 100)


def rng_of(*key: int) -> np.random.Generator:
    return np.random.default_rng([20, *key])


def mixed(rng: np.random.Generator, repeats: int, n: int) -> Array:
    """Batch noise over a slow drift: white noise and AR(1) noise of ρ = 0.9, of equal variance."""
    return rng.standard_normal((repeats, n)) + noise(rng, repeats, n, 0.9)


OTHERS: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
    "Student's t, 2 degrees of freedom": lambda rng, repeats, n: rng.standard_t(2, (repeats, n)),
    "AR(1) 0.5 with 5 % spikes of 10 σ": lambda rng, repeats, n: (
        noise(rng, repeats, n, 0.5) + 10 * (rng.random((repeats, n)) < 0.05)
    ),
    "shares of 32 (ties)": lambda rng, repeats, n: rng.binomial(32, 0.2, (repeats, n)) / 32.0,
    "spread grows threefold": lambda rng, repeats, n: rng.standard_normal((repeats, n)) * np.linspace(1, 3, n),
    "white + AR(1) 0.9, equal variance": mixed,
}
EFFECTS: dict[str, Callable[[int], Array]] = {
    "line, rises by 3 σ": lambda n: 3 * np.arange(n) / n,
    "jump of 3 σ in the middle": lambda n: 3.0 * (np.arange(n) >= n // 2),
    "rises by 6 σ, levels off (1 − e^(−6t/n))": lambda n: 6 * (1 - np.exp(-6 * np.arange(n) / n)),
    "two jumps of 2.5 σ": lambda n: 2.5 * (np.arange(n) >= 0.3 * n) + 2.5 * (np.arange(n) >= 0.7 * n),
    "up by 3 σ and down again": lambda n: 3.0 * ((np.arange(n) >= 0.4 * n) & (np.arange(n) < 0.6 * n)),
}


#: Most series of a curve, length and deviation.
MOST_CURVES = 200
#: Series of each kind of drawn curve for each one of a fixed curve, length and deviation.
OF_KIND = 20


def trends(series: Array) -> list[Trend]:
    steps = np.arange(series.shape[1])
    return [trend_of(steps, values) for values in series]


def share(hits: Sequence[bool]) -> str:
    return f"{100 * sum(hits) / max(len(hits), 1):.1f}"


def goes(trend: Trend) -> bool:
    return trend.direction in {"rising", "falling"}


def row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def head(*cells: object) -> None:
    row(*cells)
    row(*["---"] * len(cells))


def false_alarms(repeats: int) -> None:
    print(
        "\nSeries of AR(1) noise called rising or falling, % (in brackets: by the textbook test); random walk: ρ = 1\n"
    )
    head("points", *(f"ρ = {rho:g}" for rho in RHOS))
    found: dict[int, list[str]] = {}
    for n in SIZES:
        cells = []
        for rho in RHOS:
            drawn = noise(rng_of(n, int(100 * rho)), repeats, n, rho)
            told = trends(drawn)
            plain = [mann_kendall(values) < 0.05 for values in drawn]
            cells.append(f"{share([goes(t) for t in told])} ({share(plain)})")
            found.setdefault(n, []).append(share([bool(t.changes) for t in told]))
        row(n, *cells)
    print("\nSeries of AR(1) noise in which a change point is told, %\n")
    head("points", *(f"ρ = {rho:g}" for rho in RHOS))
    for n, shares in found.items():
        row(n, *shares)


def other_noise(repeats: int) -> None:
    print("\nOther noise without a trend: called rising or falling / a change point told, %\n")
    head("noise", *(f"{n} points" for n in FEW))
    for name, draw in OTHERS.items():
        cells = []
        for n in FEW:
            told = trends(draw(rng_of(n, len(name)), repeats, n))
            cells.append(f"{share([goes(t) for t in told])} / {share([bool(t.changes) for t in told])}")
        row(name, *cells)


def power(repeats: int) -> None:
    print("\nReal effects: called rising / told by a change point, %\n")
    head("effect", *(f"{n} points, ρ = {rho:g}" for n in FEW for rho in (0.0, 0.5)))
    for name, shape in EFFECTS.items():
        cells = []
        for n in FEW:
            for rho in (0.0, 0.5):
                told = trends(noise(rng_of(n, len(name)), repeats, n, rho) + shape(n))
                cells.append(
                    f"{share([t.direction == 'rising' for t in told])} / {share([bool(t.changes) for t in told])}"
                )
        row(name, *cells)


def held(interval: tuple[float, float] | None, value: float) -> bool | None:
    """Whether an interval holds a value; ``None`` where none is given."""
    return None if interval is None else interval[0] <= value <= interval[1]


def foreseen(values: Array, trend: Trend, ahead: Sequence[int]) -> list[bool | None]:
    """Whether forecasts so many steps ahead, from the first values, whose trend is known, hold what comes."""
    n = trend.n
    told = forecasts_at(np.arange(n), values[:n], [n - 1 + h for h in ahead], known=trend)
    return [
        None if f.low is None or f.high is None else bool(f.low <= values[n - 1 + h] <= f.high)
        for f, h in zip(told, ahead, strict=True)
    ]


def among(hits: Sequence[bool | None]) -> str:
    """Share of those given that hold, and in brackets the share that is refused where it is a per cent or more."""
    refused = 100 * (1 - sum(hit is not None for hit in hits) / len(hits))
    return among_told(hits) + (f" ({refused:.0f})" if refused >= 1 else "")


def steepness(rho: float) -> float:
    """Rise over a log's length that is seen in practically every draw."""
    return 12.0 if rho < 0.6 else 30.0


def coverage(repeats: int) -> None:
    print(
        "\n95 % intervals: how many of those given hold the truth, %, and in brackets the share refused. "
        f"{repeats} series a cell, so that 95 % has a standard error of {100 * np.sqrt(0.0475 / repeats):.2f}."
    )
    columns = [f"ρ = {rho:g}" for rho in COVERED]
    steep: dict[int, list[str]] = {}
    quiet: dict[int, list[str]] = {}
    print("\nThe slope: of a steep line / of none\n")
    head("points", *columns)
    for n in LENGTHS:
        cells = []
        for rho in COVERED:
            slope, ahead = steepness(rho) / n, (1, n // 4, n // 2)
            drawn = noise(rng_of(n, int(100 * rho)), repeats, 2 * n, rho)
            lines = drawn + slope * np.arange(2 * n)
            rises, stays = trends(lines[:, :n]), trends(drawn[:, :n])
            parts = [among([held(t.interval, s) for t in told]) for told, s in ((rises, slope), (stays, 0.0))]
            cells.append(" / ".join(parts))
            found = [foreseen(values, t, ahead) for values, t in zip(lines, rises, strict=True)]
            steep.setdefault(n, []).append(" / ".join(among(hits) for hits in zip(*found, strict=True)))
            guesses = [foreseen(values, t, ahead[2:])[0] for values, t in zip(drawn, stays, strict=True)]
            wrong = [hit is False for hit in guesses]
            quiet.setdefault(n, []).append(f"{share([hit is not None for hit in guesses])} / {share(wrong)}")
        row(n, *cells)
    print(
        "\nA value ahead of a steep line, at least 95 %: the next step / a quarter of the log's length / half of it\n"
    )
    head("points", *columns)
    for n, texts in steep.items():
        row(n, *texts)
    print("\nA value half the length ahead where there is no slope: forecasts told / told and wrong, % of all series\n")
    head("points", *columns)
    for n, texts in quiet.items():
        row(n, *texts)


def bends(repeats: int) -> None:
    """Forecasts of curves: what is told, and how much of that holds the value that comes."""
    print(
        f"\nForecasts of curves with independent noise, {repeats} series a length and deviation: "
        "the next step / a quarter of the length ahead / half of it\n"
    )
    head("curve", "told, %", "of those hold the value that comes, %", "all of them, %")
    fixed: list[list[list[bool | None]]] = []
    for name, (curve, cuts) in CURVES.items():
        found: list[list[bool | None]] = [[], [], []]
        for n in cuts:
            level = curve(np.arange(float(n + n // 2)))
            for scatter in SCATTERS:
                rng = rng_of(n, int(100 * scatter), len(name))
                for values in level + scatter * rng.standard_normal((repeats, len(level))):
                    look_ahead(found, values, n)
        of_curve(name, found)
        fixed.append(found)
    of_curve("all", [[hit for found in fixed for hit in found[k]] for k in range(3)])
    print(
        f"\nThe same of curves u = t/n drawn at random, with noise of ρ up to 0.6, {OF_KIND * repeats} series a kind\n"
    )
    head("curve", "told, %", "of those hold the value that comes, %", "all of them, %")
    for number, name in enumerate(KINDS):
        found = [[], [], []]
        for n, values in drawn(name, OF_KIND * repeats, rng_of(6, number)):
            look_ahead(found, values, n)
        of_curve(name, found)


def look_ahead(found: list[list[bool | None]], values: Array, n: int) -> None:
    """Whether forecasts from the first n values hold: the next one, a quarter and half of the length ahead."""
    told = foreseen(values, trend_of(np.arange(n), values[:n]), (1, max(n // 4, 2), n // 2))
    for hits, hit in zip(found, told, strict=True):
        hits.append(hit)


def of_curve(name: str, found: list[list[bool | None]]) -> None:
    whole = [hit for hits in found for hit in hits]
    row(name, told_share(whole), " / ".join(among_told(hits) for hits in found), among_told(whole))


def told_share(hits: Sequence[bool | None]) -> str:
    return share([hit is not None for hit in hits])


def among_told(hits: Sequence[bool | None]) -> str:
    given = [hit for hit in hits if hit is not None]
    return share(given) if given else "–"


def reaches(repeats: int) -> None:
    """The step at which a steep line reaches a value: how often its interval holds the true step."""
    print(
        f"\nThe step at which a value is reached that a steep line reaches an eighth / a quarter / three eighths of "
        f"the log's length ahead, {repeats} series a cell\n"
    )
    head("points", *(f"ρ = {rho:g}" for rho in COVERED))
    for n in REACHED:
        cells = []
        for rho in COVERED:
            slope, ahead = steepness(rho) / n, (n // 8, n // 4, 3 * n // 8)
            lines = noise(rng_of(n, int(100 * rho), 5), repeats, n, rho) + slope * np.arange(n)
            hits: list[list[bool | None]] = [[] for _ in ahead]
            for values, trend in zip(lines, trends(lines), strict=True):
                for held_so_far, distance in zip(hits, ahead, strict=True):
                    true = n - 1 + distance
                    told = steps_until(np.arange(n), values, slope * (true - 0.5), known=trend)
                    last = np.inf if told.high is None else told.high
                    held_so_far.append(None if told.low is None else bool(told.low <= true <= last))
            cells.append(" / ".join(among(part) for part in hits))
        row(n, *cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--only", choices=["levels", "intervals", "reaches", "bends"], help="a part of the tables")
    arguments = parser.parse_args()
    repeats = arguments.repeats
    if arguments.only in {None, "levels"}:
        deviation = 1.96 * np.sqrt(0.0475 / repeats) * 100
        print(f"{repeats} series a cell; a share of 5 % is then known to ±{deviation:.1f}.")
        false_alarms(repeats)
        other_noise(repeats)
        power(repeats)
    if arguments.only in {None, "intervals"}:
        coverage(repeats)
    if arguments.only in {None, "reaches"}:
        reaches(repeats)
    if arguments.only in {None, "bends"}:
        bends(min(repeats, MOST_CURVES))


if __name__ == "__main__":
    main()
