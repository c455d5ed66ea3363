"""Fits the critical values of ``assistant/analysis/nulls.py``: ``python -m evals.trend_calibration``.

For each length n, AR(1) noise of many ρ is drawn; the statistic u and the residuals' lag-1 autocorrelation r are taken
from each draw, and from draws with a real trend (jump, bend) in white and in correlated noise. A random search with a
fixed seed then looks for the (a, b, k, cap) with the greatest power whose false alarms stay under ``LIMITS``. Rows of
neighbouring n are held close to each other, so that lengths in between can be interpolated.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.stats import scan_basis

Array = NDArray[np.float64]
Draw = tuple[Array, Array]

RHOS = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: The same for the trend of short series (20 points or fewer; between 20 and 60 the limits are interpolated): twelve
#: points that climb from end to end are a trend to any reader although noise of ρ = .9 could draw them, so that the
#: bound protects against the correlation that step-to-step metrics have, and less against the worst there is.
SHORT = (0.052, 0.058, 0.058, 0.060, 0.068, 0.085, 0.11, 0.16, 0.30)
#: The largest share of false alarms at each ρ; white noise may have less (short series cannot tell ρ).
LIMITS = {
    "trend": (0.052, 0.058, 0.058, 0.058, 0.058, 0.058, 0.060, 0.063, 0.10),
    "level": (0.045, 0.045, 0.045, 0.045, 0.045, 0.045, 0.050, 0.060, 0.10),
    "slope": (0.045, 0.045, 0.045, 0.045, 0.045, 0.045, 0.050, 0.060, 0.10),
}
#: Size of the real effect (in standard errors of white noise) and ρ of the noise it hides in.
EFFECTS = ((0.0, 2.8), (0.0, 4.5), (0.0, 7.0), (0.3, 4.5), (0.6, 7.0))
SIZES = {
    "trend": (6, 8, 10, 12, 14, 17, 20, 26, 34, 45, 60, 100, 160, 256),
    "level": (9, 12, 16, 20, 26, 34, 45, 60, 100, 160, 256),
    "slope": (12, 16, 20, 26, 34, 45, 60, 100, 160, 256),
}


def limits_at(test: str, n: int) -> Array:
    """The largest share of false alarms at each ρ for series of n points."""
    limits = np.array(LIMITS[test])
    if test != "trend" or n >= 60:
        return limits
    share = min(1.0, np.log(60 / n) / np.log(60 / 20))
    return limits ** (1 - share) * np.array(SHORT) ** share


def noise(rng: np.random.Generator, repeats: int, n: int, rho: float) -> Array:
    """Gaussian AR(1) series of unit variance, shape (repeats, n); a random walk for ρ = 1."""
    x = rng.standard_normal((repeats, n))
    scale = np.sqrt(1 - rho * rho) if rho < 1 else 1.0
    for t in range(1, n):
        x[:, t] = rho * x[:, t - 1] + scale * x[:, t]
    return x


def lag_one(rest: Array) -> Array:
    """As ``stats.autocorrelation``, row by row."""
    rest = rest - np.median(rest, axis=1, keepdims=True)
    bound = 2.5 * 1.4826 * np.median(np.abs(rest), axis=1, keepdims=True)
    rest = np.clip(rest, -bound, bound)
    rest = rest - rest.mean(axis=1, keepdims=True)
    return (rest[:, 1:] * rest[:, :-1]).sum(axis=1) / (rest * rest).sum(axis=1)


def trend_statistic(x: Array) -> Draw:
    """Mann–Kendall's score on Fisher's scale, and r of the residuals of the Theil–Sen line."""
    repeats, n = x.shape
    i, j = np.triu_indices(n, 1)
    score, slope = np.empty(repeats), np.empty(repeats)
    chunk = max(1, 20_000_000 // len(i))
    for start in range(0, repeats, chunk):
        part = slice(start, start + chunk)
        rise = x[part][:, j] - x[part][:, i]
        score[part] = np.sign(rise).sum(axis=1)
        slope[part] = np.median(rise / (j - i), axis=1)
    pairs, deviation = n * (n - 1) / 2, np.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    tau = np.maximum(np.abs(score) - 1, 0) / pairs
    return pairs / deviation * np.arctanh(tau), lag_one(x - slope[:, None] * np.arange(n))


def scan_statistic(kind: str) -> Callable[[Array], Draw]:
    """The largest jump or bend over its standard error, and r of what it leaves."""

    def statistic(x: Array) -> Draw:
        n = x.shape[1]
        null, basis = scan_basis(n, kind)
        rest = x - (x @ null.T) @ null
        found = rest @ basis.T
        best = np.abs(found).argmax(axis=1)
        size = found[np.arange(len(x)), best]
        rest = rest - size[:, None] * basis[best]
        spread = np.sqrt((rest * rest).sum(axis=1) / (n - len(null) - 1))
        return np.abs(size) / spread, lag_one(rest)

    return statistic


def effect(test: str, n: int) -> Array:
    """A real trend, jump or bend of unit length over the steps."""
    t = np.arange(n)
    shape = {"trend": t, "level": t >= n // 2, "slope": np.maximum(t - n // 2, 0)}[test].astype(float)
    null = scan_basis(n, "level" if test == "trend" else test)[0]
    rest = shape - (shape @ null.T) @ null
    return np.asarray(shape / np.sqrt(rest @ rest))


def fit(test: str, n: int, before: Array | None, repeats: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """The row for one n, its false alarms at each ρ, and its power for each effect."""
    statistic = trend_statistic if test == "trend" else scan_statistic(test)
    nulls = [statistic(noise(rng, repeats, n, rho)) for rho in RHOS]
    real = [statistic(noise(rng, repeats // 2, n, rho) + size * effect(test, n)) for rho, size in EFFECTS]
    limits = limits_at(test, n)
    walk = nulls[-1][0]
    caps = np.quantile(walk, 1 - limits[-1] * np.array([1.0, 0.8, 0.6, 0.4]))

    def rates(row: Array, draws: list[Draw]) -> Array:
        a, b, k, cap = row
        result = []
        for u, r in draws:
            q = np.clip(a + b * r, 0, 0.9995)
            result.append(np.mean(u > np.minimum(cap, 1.96 * k * np.sqrt((1 + q) / (1 - q)))))
        return np.array(result)

    def worth(row: Array) -> float:
        size = rates(row, nulls)
        value = rates(row, real).sum() + np.minimum(size, limits).sum() - 60 * np.maximum(size - limits, 0).sum()
        if before is not None:
            value -= 0.05 * np.abs(row[:3] - before[:3]).sum()
        return float(value)

    best, score = None, -np.inf
    for attempt in range(700):
        if best is None or (attempt < 250 and (before is None or attempt % 2)):
            row = np.array([rng.uniform(-0.3, 1.0), rng.uniform(0.8, 4), rng.uniform(1.0, 1.9), rng.choice(caps)])
        elif attempt < 250 and before is not None:
            row = np.append(before[:3] + rng.normal(size=3) * (0.08, 0.2, 0.05), rng.choice(caps))
        else:
            row = best + rng.normal(size=4) * (0.05, 0.12, 0.03, 0.02 * best[3])
        row[2] = max(row[2], 1.0)
        value = worth(row)
        if value > score:
            best, score = row, value
    assert best is not None
    return best, rates(best, nulls), rates(best, real)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("test", nargs="*", default=["trend", "level", "slope"])
    parser.add_argument("--repeats", type=int, default=6000)
    arguments = parser.parse_args()
    for test in arguments.test:
        before = None
        print(f'    "{test}": {{', flush=True)
        for n in SIZES[test]:
            rng = np.random.default_rng(n)
            few = test == "trend" and n > 60
            repeats = max(1500, int(arguments.repeats * 60 / n)) if few else arguments.repeats
            before, size, power = fit(test, n, before, repeats, rng)
            numbers = ", ".join(f"{v:.2f}" for v in before)
            print(
                f"        {n}: ({numbers}),  # false {np.round(size * 100, 1)} power {np.round(power * 100)}",
                flush=True,
            )
        print("    },", flush=True)


if __name__ == "__main__":
    main()
