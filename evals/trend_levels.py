"""How often noise is called a trend, and real trends are missed: ``python -m evals.trend_levels`` prints Markdown.

Series are drawn from a fixed seed; nothing is read from disk. ``--repeats 2000`` takes about ten minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.forecast import forecast_at
from assistant.analysis.stats import mann_kendall
from assistant.analysis.trend import Trend, trend_of
from evals.trend_calibration import noise

Array = NDArray[np.float64]
SIZES = (10, 14, 20, 40, 60, 100, 200, 400)
RHOS = (0.0, 0.3, 0.5, 0.7, 0.9, 1.0)
#: Sizes at which effects, other noise and intervals are measured.
FEW = (20, 60, 200)


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


def coverage(repeats: int) -> None:
    print("\n95 % intervals that hold the truth, %: slope / value half the log's length ahead / a whole length ahead\n")
    rhos = (0.0, 0.3, 0.5, 0.7)
    head("points", *(f"ρ = {rho:g}" for rho in rhos))
    for n in (20, 30, 60, 200):
        cells = []
        for rho in rhos:
            slope = (12 if rho < 0.6 else 30) / n
            drawn = noise(rng_of(n, int(100 * rho)), repeats, 2 * n, rho) + slope * np.arange(2 * n)
            told = trends(drawn[:, :n])
            held = [t.interval is None or t.interval[0] <= slope <= t.interval[1] for t in told]
            parts = [share(held)]
            for ahead in (n // 2, n):
                hits = []
                for values in drawn:
                    f = forecast_at(np.arange(n), values[:n], n - 1 + ahead)
                    if f.low is not None and f.high is not None:
                        hits.append(bool(f.low <= values[n - 1 + ahead] <= f.high))
                parts.append(share(hits))
            cells.append(" / ".join(parts))
        row(n, *cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    repeats = parser.parse_args().repeats
    print(f"{repeats} series a cell; a share of 5 % is then known to ±{1.96 * np.sqrt(0.0475 / repeats) * 100:.1f}.")
    false_alarms(repeats)
    other_noise(repeats)
    power(repeats)
    coverage(max(200, repeats // 2))


if __name__ == "__main__":
    main()
