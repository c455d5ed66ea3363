"""How far means of a series may differ by chance alone, when neighbouring values resemble each other.

One model serves steps, windows and runs: a smooth curve (a polynomial in the number of the point) plus noise with
correlation ρ between neighbours, from independent values (ρ = 0) to a random walk (ρ → 1). Every statistic is a
contrast: a weighted sum of points whose noise has a variance that ρ and the scatter determine.

ρ is not known, and an estimate that is plugged in calls noise a change far too often in short series. So the noise is
the largest over all ρ that the series allows, at a confidence that is paid for (Berger & Boos 1994): with β the chance
that ρ lies outside, p = β + max p(ρ), the smallest over a few β. What the series allows is told by the restricted
likelihood, whose ratio keeps its χ² law close to a unit root too (Chen & Deo 2009, J. Econometrics 152), and which no
polynomial curve disturbs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Correlations that are considered; the last cannot be told from a random walk in any log.
RHOS: Array = np.array(
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98, 0.99, 0.997, 0.9999, 0.999999]
)
#: Chances that ρ lies outside of what is allowed for, smallest last: only they reach a p-value after many looks.
BETAS = (0.02, 0.004, 0.0005, 0.00005)
#: χ²₁ quantiles at 1 − 2β: the limit is one-sided, only a ρ that is too small does harm.
CUTS = (4.2179, 7.0335, 10.8276, 15.1367)
#: What taking the smallest over all β costs: measured on random walks, where nearly nothing else is to spare.
CHOICE = 1.2
#: Fewest points from which the model's scatter is taken.
MIN_POINTS = 6
#: Points of a series beyond which windows far apart are judged by their neighbourhoods alone (a matter of time).
MAX_POINTS = 2000
#: Share of a series' variance below which what remains beside the curve is rounding.
NOTHING = 1e-18


@dataclass(frozen=True, slots=True)
class Fit:
    """What a series says of its noise.

    Attributes:
        n: points.
        df: degrees of freedom of the scatter.
        support: 2·(largest log restricted likelihood − that of each of :data:`RHOS`), 0 for the likeliest.
        scale: standard deviation of the innovations under each of :data:`RHOS`, in the metric's unit.
    """

    n: int
    df: int
    support: Array
    scale: Array

    @property
    def rho(self) -> float:
        """The likeliest correlation of neighbours."""
        return float(RHOS[int(np.argmin(self.support))])

    def allowed(self, cut: float) -> NDArray[np.bool_]:
        """Which of :data:`RHOS` the series does not exclude; everything below the likeliest is left out as milder."""
        return self.support <= cut


def degree_for(n: int) -> int:
    """Degree of the curve: what so few points can carry, at most a cubic."""
    return 1 if n < 20 else 2 if n < 50 else 3


@lru_cache(maxsize=64)
def _curve(n: int, degree: int) -> Array:
    """Orthonormal polynomials over n equidistant points, shape (n, degree + 1)."""
    basis, _ = np.linalg.qr(np.vander(np.linspace(-1.0, 1.0, n), degree + 1, increasing=True))
    return np.ascontiguousarray(basis)


def fit(values: Array, degree: int | None = None) -> Fit | None:
    """Restricted likelihood of AR(1) noise around a curve, for each of :data:`RHOS`.

    Args:
        values: shape (n,), finite, in the order of steps.
        degree: of the polynomial; by :func:`degree_for` where not given.

    Returns:
        ``None`` below six points, or where the values lie on the curve exactly (a schedule has no noise).

    Source: Harville 1974 (restricted likelihood); Cooper & Thompson 1977 (for ARMA errors).
    """
    n = len(values)
    if n < MIN_POINTS:
        return None
    degree = degree_for(n) if degree is None else degree
    curve = _curve(n, degree)
    columns = degree + 1
    centre = values - values.mean()
    size = float(np.abs(centre).max())
    if size == 0.0:
        return None
    # Prewhitened by each ρ, all at once: shape (ρ, n, columns + 1), the curve first, the values last.
    plain = np.column_stack([curve, centre / size])
    white = np.broadcast_to(plain, (len(RHOS), n, columns + 1)).copy()
    white[:, 1:] -= RHOS[:, None, None] * plain[:-1]
    white[:, 0] *= np.sqrt(1 - RHOS**2)[:, None]
    upper = np.abs(np.diagonal(np.linalg.qr(white, mode="r"), axis1=1, axis2=2))
    rest, freedom = upper[:, columns] ** 2, n - columns
    if float(rest.max()) < NOTHING * n:
        return None
    rest = np.maximum(rest, NOTHING * n)
    support = 2 * np.log(upper[:, :columns]).sum(axis=1) + freedom * np.log(rest) - np.log(1 - RHOS**2)
    scale = size * np.sqrt(rest / freedom)
    return Fit(n, n - columns, support - support.min(), scale)


# -- variances of contrasts, per unit variance of the innovations -----------------------------------------------------
def window_variance(first: tuple[int, int], second: tuple[int, int]) -> Array:
    """Variance of mean(second) − mean(first) for each of :data:`RHOS`; windows are (start, stop), disjoint, in points.

    Stationary noise; the limit ρ → 1 is the random walk's, since the level cancels.
    """
    (a, b), (c, d) = sorted((first, second))
    m, n = b - a, d - c
    cross = RHOS ** (c - b + 1) * _geometric(m) * _geometric(n) / (m * n)
    total = _within(m) / m**2 + _within(n) / n**2 - 2 * cross
    variance: Array = np.maximum(total, 0.0) / (1 - RHOS**2)
    return variance


def level_variance(window: tuple[int, int], *, started: bool) -> Array:
    """Variance of one window's mean for each of :data:`RHOS`.

    Args:
        window: (start, stop) in points.
        started: the series begins where its noise begins (a run from its first step on), so that even a random walk
            has only wandered since; else it is stationary, and a random walk may be anywhere.
    """
    a, b = window
    m = b - a
    mean_square = _within(m) / m**2
    if started:
        mean_square = mean_square - (RHOS ** (a + 1) * _geometric(m) / m) ** 2
    variance: Array = np.maximum(mean_square, 0.0) / (1 - RHOS**2)
    return variance


def _geometric(m: int) -> Array:
    """1 + ρ + … + ρ^(m−1) for each of :data:`RHOS`."""
    total: Array = (1 - RHOS**m) / (1 - RHOS)
    return total


def _within(m: int) -> Array:
    """Sum of ρ^|i − j| over all pairs of m points, for each of :data:`RHOS`."""
    lags = np.arange(1, m, dtype=np.float64)
    total: Array = m + 2 * ((m - lags) * RHOS[:, None] ** lags).sum(axis=1)
    return total


# -- the noise of a contrast ------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of one contrast: standard errors under each pair of correlations that must be allowed for.

    Attributes:
        errors: one array a choice of β, of the standard errors allowed.
        freedoms: degrees of freedom that go with them.
        betas: the choices of β; a single 0 where nothing has to be allowed for.
        choice: what choosing among them costs, a factor of the p-value.
    """

    errors: tuple[Array, ...]
    freedoms: tuple[Array, ...]
    betas: tuple[float, ...] = BETAS
    choice: float = CHOICE

    def p_value(self, delta: float) -> float:
        """Two-sided p-value of a difference of ``delta`` against none."""
        best = 1.0
        for beta, errors, freedoms in zip(self.betas, self.errors, self.freedoms, strict=True):
            ratios = abs(delta) / errors
            # The largest p is that of the smallest ratio unless the degrees of freedom differ much.
            worst = max(t_tail(float(r), float(f)) for r, f in _hardest(ratios, freedoms))
            best = min(best, self.choice * (beta + worst))
        return best

    def half_width(self, level: float = 0.05) -> float:
        """The difference that must be passed for p < ``level``: half of an interval at confidence 1 − ``level``."""
        widths = []
        level /= self.choice
        for beta, errors, freedoms in zip(self.betas, self.errors, self.freedoms, strict=True):
            if beta < level:
                quantiles = {f: t_quantile(1 - (level - beta) / 2, float(f)) for f in np.unique(freedoms)}
                widths.append(max(float(e) * quantiles[f] for e, f in zip(errors, freedoms, strict=True)))
        return min(widths)


def _hardest(ratios: Array, freedoms: Array) -> list[tuple[float, float]]:
    """The smallest ratio for each number of degrees of freedom."""
    return [(float(ratios[freedoms == f].min()), float(f)) for f in np.unique(freedoms)]


def within_series(found: Fit, variance: Array) -> Noise:
    """Noise of a contrast within one series; ``variance`` as :func:`window_variance` gives it."""
    errors = found.scale * np.sqrt(variance)
    parts = [errors[found.allowed(cut)] for cut in CUTS]
    return Noise(tuple(parts), tuple(np.full(len(part), float(found.df)) for part in parts))


def between_series(found: tuple[Fit, Fit], variances: tuple[Array, Array]) -> Noise:
    """Noise of a difference between two independent series, each with correlation and scatter of its own.

    Degrees of freedom after Welch 1947 and Satterthwaite 1946, in whole numbers, rounded down.
    """
    squares = [one.scale**2 * variance for one, variance in zip(found, variances, strict=True)]
    errors, freedoms = [], []
    for cut in CUTS:
        # Each series may leave its own range: half of β each, so the cut is that of a slightly smaller β.
        a, b = (square[one.allowed(cut + 1.2)] for one, square in zip(found, squares, strict=True))
        worst = np.array([a.max() + b.max()])
        freedom = worst**2 / (a.max() ** 2 / found[0].df + b.max() ** 2 / found[1].df)
        errors.append(np.sqrt(worst))
        freedoms.append(np.floor(freedom))
    return Noise(tuple(errors), tuple(freedoms))


def known(error: float) -> Noise:
    """Noise whose standard error is known from counts or bounds: normal, nothing to allow for."""
    return single(error, math.inf)


def single(error: float, freedom: float) -> Noise:
    """Noise whose standard error was estimated directly, with degrees of freedom."""
    return Noise((np.array([error]),), (np.array([freedom]),), (0.0,), 1.0)


# -- Student's t ------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=4096)
def t_tail(t: float, freedom: float) -> float:
    """P(\\|T\\| > t) for Student's t; the normal's for infinite degrees of freedom.

    By the incomplete beta function's continued fraction (DLMF 8.17.22, evaluated after Lentz).
    """
    if t <= 0:
        return 1.0
    if math.isinf(t):
        return 0.0
    if math.isinf(freedom):
        return math.erfc(t / math.sqrt(2))
    return _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )  # fmt: skip
    if x > (a + 1) / (a + b + 2):
        return 1 - front * _fraction(1 - x, b, a) / b
    return front * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 300):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + step * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + step / c
            c = c if abs(c) > tiny else tiny
            value *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return value


@lru_cache(maxsize=1024)
def t_quantile(probability: float, freedom: float) -> float:
    """The value that Student's t stays below with a probability above one half; by bisection."""
    tail = 2 * (1 - probability)
    low, high = 0.0, 2.0
    while t_tail(high, freedom) > tail:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        if t_tail(middle, freedom) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2
