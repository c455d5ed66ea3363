"""Fits the bounds for thirds that lie apart in ``assistant/analysis/nulls.py``: ``python -m evals.trend_thirds``.

As ``evals/trend_calibration.py`` does for the other statistics: AR(1) noise of many ρ is drawn, and a random search
with a fixed seed looks for the (a, b, k, cap) with the greatest power over ramps, turns and jumps whose false alarms
stay under ``LIMITS``. They are low, since a series has other tests too whose errors add to these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.moves import thirds_apart
from assistant.analysis.nulls import NORMAL
from evals.trend_calibration import noise

Array = NDArray[np.float64]
RHOS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
LIMITS = np.array((0.006, 0.008, 0.010, 0.012, 0.018, 0.035, 0.20))
SIZES = (20, 26, 34, 45, 60, 100, 160, 256)
REPEATS, TRIES = 2500, 6000


def shapes(n: int) -> tuple[Array, ...]:
    """A ramp, a rise with a fall after it, and a jump."""
    t = np.arange(n)
    ramp = 6 * np.clip((t - 0.4 * n) / (0.2 * n), 0, 1)
    return ramp, 6 * np.where(t < 0.5 * n, t / (0.5 * n), 2 - 2 * t / n), 4.0 * (t > n / 2)


def drawn(series: Array) -> Array:
    """Statistic and correlation of each series, shape (2, repeats)."""
    found = [thirds_apart(values) for values in series]
    return np.array([pair for pair in found if pair is not None]).T


def passed(draw: Array, a: float, b: float, k: float, cap: float) -> float:
    """Share of series whose statistic passes the bound."""
    q = np.clip(a + b * draw[1], 0, 0.9995)
    return float((draw[0] > np.minimum(cap, NORMAL * k * np.sqrt((1 + q) / (1 - q)))).mean())


def fit(rng: np.random.Generator, n: int) -> tuple[float, tuple[float, ...]] | None:
    """Power and row of a length; ``None`` where the search found none within the limits."""
    quiet = [drawn(noise(rng, REPEATS, n, rho)) for rho in RHOS]
    real = np.hstack([drawn(noise(rng, 200, n, rho) + shape) for shape in shapes(n) for rho in (0.0, 0.5)])
    best: tuple[float, tuple[float, ...]] | None = None
    for tried in range(TRIES):
        if best is not None and tried > TRIES // 2:
            row = tuple(np.array(best[1]) * (1 + 0.05 * rng.standard_normal(4)))
        else:
            row = (
                rng.uniform(-0.1, 1.4), rng.uniform(0.8, 2.6), rng.uniform(1, 3.2),
                rng.uniform(8, 18 if n < 40 else 120),
            )  # fmt: skip
        if all(passed(draw, *row) <= limit for draw, limit in zip(quiet, LIMITS, strict=True)):
            power = passed(real, *row)
            best = (power, row) if best is None or power > best[0] else best
    return best


def main() -> None:
    rng = np.random.default_rng(5)
    for n in SIZES:
        best = fit(rng, n)
        if best is not None:
            print(
                f"        {n}: ({', '.join(f'{value:.2f}' for value in best[1])}),  # power {best[0]:.2f}", flush=True
            )


if __name__ == "__main__":
    main()
