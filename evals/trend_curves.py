"""Curves that look straight for a while: what forecasts are measured on beside straight lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from evals.trend_calibration import noise

Array = NDArray[np.float64]
Curve = Callable[[Array], Array]

#: Curves, and the lengths at which they are cut.
CURVES: dict[str, tuple[Curve, tuple[int, ...]]] = {
    "2e^(−t/15) + 0.5": (lambda t: 2 * np.exp(-t / 15) + 0.5, (30, 40, 60, 80)),
    "2e^(−t/40) + 0.5": (lambda t: 2 * np.exp(-t / 40) + 0.5, (40, 60, 80)),
    "1 − e^(−t/30)": (lambda t: 1 - np.exp(-t / 30), (40, 60, 90)),
    "logistic, 1/(1 + e^((40 − t)/8))": (lambda t: 1 / (1 + np.exp((40 - t) / 8)), (30, 40, 50, 60)),
    "3/√(t + 1)": (lambda t: 3 / np.sqrt(t + 1), (40, 60, 100)),
    "1/(1 + t/20)": (lambda t: 1 / (1 + t / 20), (40, 60, 80)),
    "1 + 0.3 sin(2πt/80)": (lambda t: 1 + 0.3 * np.sin(2 * np.pi * t / 80), (20, 30, 40, 60)),
    "(t/60)²": (lambda t: (t / 60) ** 2, (40, 60)),
    "0.3 log(t + 1)": (lambda t: 0.3 * np.log(t + 1), (60, 100)),
}
#: Deviations of the noise about them.
SCATTERS = (0.03, 0.1)

#: How a log of a drawn curve may be: its length, its noise in ranges of the curve so far, the correlation of that.
LENGTHS, NOISE, RHOS = (12, 150), (0.03, 0.4), (0.0, 0.0, 0.3, 0.6)


def _saturates(rng: np.random.Generator) -> Curve:
    tau = _between(rng, 0.2, 4)
    return lambda u: 1 - np.exp(-u / tau)


def _decays(rng: np.random.Generator) -> Curve:
    tau, floor = _between(rng, 0.2, 4), float(rng.choice([0, 0.1, 0.5]))
    return lambda u: np.exp(-u / tau) + floor


def _logistic(rng: np.random.Generator) -> Curve:
    centre, width = rng.uniform(0.2, 1.6), _between(rng, 0.08, 0.5)
    return lambda u: 1 / (1 + np.exp((centre - u) / width))


def _falls(rng: np.random.Generator) -> Curve:
    power, start = float(rng.choice([-1, -0.5, -0.25])), rng.uniform(0.03, 2)
    return lambda u: (u + start) ** power


def _power(rng: np.random.Generator) -> Curve:
    power = float(rng.choice([0.3, 0.5, 0.7, 1.3, 2, 3]))
    return lambda u: u**power


def _sine(rng: np.random.Generator) -> Curve:
    period, phase = _between(rng, 1.5, 12), rng.uniform(0, 2 * np.pi)
    return lambda u: 1.5 + np.sin(2 * np.pi * u / period + phase)


def _log(rng: np.random.Generator) -> Curve:
    start = rng.uniform(0.02, 1)
    return lambda u: np.log(u / start + 1)


def _grows(rng: np.random.Generator) -> Curve:
    tau = _between(rng, 0.4, 3)
    return lambda u: np.exp(u / tau)


#: Curves drawn at random, of steps in lengths of the log.
KINDS: dict[str, Callable[[np.random.Generator], Curve]] = {
    "saturates, 1 − e^(−u/τ), τ 0.2 to 4": _saturates,
    "decays, e^(−u/τ) + c, τ 0.2 to 4, c 0 to 0.5": _decays,
    "logistic, centre 0.2 to 1.6, width 0.08 to 0.5": _logistic,
    "falls, (u + c)^p, p −1 to −0.25": _falls,
    "power, u^p, p 0.3 to 3": _power,
    "sine, period 1.5 to 12": _sine,
    "logarithm, log(u/c + 1), c to 1": _log,
    "grows, e^(u/τ), τ 0.4 to 3": _grows,
}


def drawn(kind: str, repeats: int, rng: np.random.Generator) -> Iterator[tuple[int, Array]]:
    """Lengths of logs, and their values with those of half as many steps more: a curve with AR(1) noise."""
    for _ in range(repeats):
        n = round(_between(rng, *LENGTHS))
        curve = KINDS[kind](rng)(np.arange(n + n // 2) / n)
        scatter = float(np.ptp(curve[:n])) * _between(rng, *NOISE)
        yield n, curve + scatter * noise(rng, 1, len(curve), float(rng.choice(RHOS)))[0]


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    """Evenly spread on the logarithmic scale."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))
