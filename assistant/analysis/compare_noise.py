"""How far means of a series may differ by chance alone, when neighbouring values resemble each other.

Steps, windows and runs are judged alike: each side is a mean of points that scatter around their level with a spread of
the side's own, and with correlation ρ between neighbours (AR(1)). A run's scatter at its start says nothing of that at
its end, so nothing is shared between the sides.

ρ is not known. Short series estimate it too low, so its restricted likelihood is used, which has nearly no such bias
(Cooper & Thompson 1977), and of it not the peak but the upper end of what it leaves plausible (one-sided 95 %), at most
:data:`LARGEST`. That bound is a choice, and it is said wherever the interval is shown: a slow random drift
has ρ = 1, and no two windows of it could ever be told apart; here they can be, for the log did move. What that
costs is measured in ``tests/analysis/test_compare_simulation.py``.

The interval and the test are one, and the interval holds the truth at least 95 % of the time: at ρ = 0.9 by a simulated
widening (:data:`WIDENED`), below it with room to spare.

Given ρ, the expected residual sum of squares and its degrees of freedom are exact (moments of a quadratic form, Box
1954, Satterthwaite 1946), and so is the variance of the mean; two sides are joined after Welch 1947.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Correlations of neighbours that are considered.
RHOS: Array = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9])
#: The largest of them: what a difference of levels is tested against at worst.
LARGEST = 0.9
#: From this correlation on, a side's deviation is widened by :data:`WIDENED`.
STRONG = 0.85
#: Points of a side → factor of its deviation with which an interval holds noise of ρ = 0.9 at least 95 % of the time
#: (``python -m evals.compare_widths --fit``); between two, it is interpolated in log n; beyond them, the nearest holds.
#: Comments: what is missed without it.
WIDENED: Final[dict[int, float]] = {
    1: 1.11,  # 5.6 to 6.4 % without
    2: 1.14,  # 5.4 to 6.1 % without
    4: 1.14,  # 6.2 to 6.8 % without
    7: 1.16,  # 6.5 to 6.6 % without
    8: 1.16,  # 6.2 to 6.5 % without
    11: 1.16,  # 5.8 to 6.2 % without
    15: 1.17,  # 5.9 to 6.5 % without
    25: 1.17,  # 6.0 to 6.7 % without
    50: 1.17,  # 5.5 to 6.0 % without
    100: 1.09,  # 4.8 to 4.9 % without
}
#: χ²₁ quantile at 0.9: the upper limit of ρ is one-sided, only a ρ that is too small does harm.
CUT = 2.7055
#: Fewest points from which ρ is taken; with fewer the largest is assumed.
MIN_POINTS = 6
#: Share of a series' variance below which what remains beside the curve is rounding.
NOTHING = 1e-18
#: A side of fewer points takes its scatter from so many nearest ones.
FEW, NEAREST = 8, 12
#: Lengths of the stretches from which ρ is taken, where a side is shorter.
AROUND = (10, 20, 40, 80)
#: Most points that are worked with one by one; beyond, means of neighbours are.
MAX_POINTS = 160
#: Differences over which the spread of a single one is taken, and the multiple of it at which one is cut off.
REACH, CUT_OFF = 15, 4.0


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

    @property
    def upper(self) -> int:
        """Place in :data:`RHOS` of the largest correlation that the series does not exclude (:data:`CUT`)."""
        return int(np.flatnonzero(self.support <= CUT)[-1])


def degree_for(n: int) -> int:
    """Degree of the curve: what so few points can carry, at most a cubic."""
    return 1 if n < 20 else 2 if n < 50 else 3


def fit(values: Array, degree: int | None = None, *, rhos: Array = RHOS) -> Fit | None:
    """Restricted likelihood of AR(1) noise around a curve, for each of some correlations.

    Args:
        values: shape (n,), finite, in the order of steps.
        degree: of the polynomial; by :func:`degree_for` where not given.
        rhos: the correlations; :data:`RHOS` where ``rho`` and ``upper`` of the result are to be read.

    Returns:
        ``None`` below six points, or where the values lie on the curve exactly (a schedule has no noise).

    Source: Harville 1974 (restricted likelihood); Cooper & Thompson 1977 (for ARMA errors).
    """
    n = len(values)
    if n < MIN_POINTS:
        return None
    degree = degree_for(n) if degree is None else degree
    found = likelihoods(values, degree, rhos)
    if found is None:
        return None
    support, rest = found
    freedom = n - degree - 1
    return Fit(n, freedom, support, float(np.abs(values - values.mean()).max()) * np.sqrt(rest / freedom))


def likelihoods(values: Array, degree: int, rhos: Array) -> tuple[Array, Array] | None:
    """Restricted likelihoods of one series or of many at once (simulations draw thousands).

    Args:
        values: shape (…, n), finite, in the order of steps.
        degree: of the polynomial around which they scatter.
        rhos: correlations, shape (r,).

    Returns:
        2·(largest log restricted likelihood − that of each), shape (…, r), and the residual sums of squares of the
        prewhitened series in units of its largest distance from its mean; ``None`` where a series lies on the curve.
    """
    n = values.shape[-1]
    curve, log_size = _prewhitened(n, degree, tuple(map(float, rhos)))
    centre = values - values.mean(axis=-1, keepdims=True)
    size = np.abs(centre).max(axis=-1, keepdims=True)
    if float(size.min()) == 0.0:
        return None
    plain = (centre / size)[..., None, :]
    white = np.concatenate(
        [plain[..., :1] * np.sqrt(1 - rhos**2)[:, None], plain[..., 1:] - rhos[:, None] * plain[..., :-1]], axis=-1
    )
    left = white - np.einsum("...rk,rnk->...rn", np.einsum("...rn,rnk->...rk", white, curve), curve)
    rest = (left * left).sum(axis=-1)
    if float(rest.max(axis=-1).min()) < NOTHING * n:
        return None
    rest = np.maximum(rest, NOTHING * n)
    support = 2 * log_size + (n - degree - 1) * np.log(rest) - np.log(1 - rhos**2)
    return support - support.min(axis=-1, keepdims=True), rest


@lru_cache(maxsize=64)
def _prewhitened(n: int, degree: int, rhos: tuple[float, ...]) -> tuple[Array, Array]:
    """Orthonormal bases of the polynomials prewhitened by each ρ, shape (r, n, degree + 1), and the logarithms of the
    volume that each spans."""
    plain, _ = np.linalg.qr(np.vander(np.linspace(-1.0, 1.0, n), degree + 1, increasing=True))
    each = np.array(rhos)
    white = np.broadcast_to(plain, (len(each), n, degree + 1)).copy()
    white[:, 1:] -= each[:, None, None] * plain[:-1]
    white[:, 0] *= np.sqrt(1 - each**2)[:, None]
    curve, upper = np.linalg.qr(white)
    return curve, np.log(np.abs(np.diagonal(upper, axis1=1, axis2=2))).sum(axis=1)


# -- one side ---------------------------------------------------------------------------------------------------------
def steadied(values: Array) -> Array:
    """The series with its differences in units of the spread nearby, jumps cut off: for the correlation alone.

    Neither a change of spread nor a jump of the level leaves the correlation of neighbours to be seen otherwise.

    Args:
        values: shape (…, n), finite.

    Returns:
        Shape (…, n), without unit.
    """
    steps = np.diff(values)
    n = steps.shape[-1]
    if n < MIN_POINTS:
        return values
    size, reach = np.abs(steps), min(REACH, n)
    starts = np.clip(np.arange(n) - reach // 2, 0, n - reach)
    near = np.sort(np.lib.stride_tricks.sliding_window_view(size, reach, axis=-1), axis=-1)
    spread = (1.4826 * (near[..., (reach - 1) // 2] + near[..., reach // 2]) / 2)[..., starts]
    spread = np.where(spread > 0, spread, near.mean(axis=-1)[..., starts])
    spread = np.where(spread > 0, spread, 1.0)
    cut: Array = np.clip(steps / spread, -CUT_OFF, CUT_OFF)
    return np.concatenate([np.zeros((*cut.shape[:-1], 1)), np.cumsum(cut, axis=-1)], axis=-1)


@lru_cache(maxsize=4096)
def _moments(places: tuple[int, ...], window: tuple[int, int], degree: int, rho: float) -> tuple[float, float, float]:
    """Of noise of variance one at some places: the expected residual sum of squares around a polynomial, the degrees
    of freedom that go with it, and the variance of the mean over a window."""
    at = np.array(places, dtype=np.float64)
    basis, _ = np.linalg.qr(np.vander(at - at.mean(), degree + 1))
    product = (np.eye(len(at)) - basis @ basis.T) @ rho ** np.abs(at[:, None] - at)
    expected = float(np.trace(product))
    lags = np.arange(1, n := window[1] - window[0], dtype=np.float64)
    mean = (n + 2 * float(((n - lags) * rho**lags).sum())) / n**2
    return expected, expected**2 / float((product * product.T).sum()), mean


@dataclass(frozen=True, slots=True)
class Level:
    """The mean of one side as a measurement.

    Attributes:
        variance: of the mean, in the metric's unit squared; 0 where nothing scatters.
        freedom: degrees of freedom of that estimate.
        rho: the correlation of neighbours that it allows for.
    """

    variance: float
    freedom: float
    rho: float


def widened(side: Level, factor: float) -> Level:
    """A side whose deviation is larger by a factor where it is strongly correlated: there ρ is at its limit, and what
    else is estimated has nothing to spare."""
    return side if side.rho < STRONG else replace(side, variance=side.variance * factor**2)


def widening(n: int) -> float:
    """The factor of :data:`WIDENED` for a side of n points."""
    return float(np.interp(math.log(n), np.log(list(WIDENED)), list(WIDENED.values())))


def level(values: Array, window: tuple[int, int], limits: tuple[int, int] | None = None) -> Level | None:
    """How well a window's mean is known, from its own scatter.

    The scatter is that around the window's own line (around the mean below eight points); a window of fewer than eight
    points takes it from the nearest twelve, of which one or two points that are judged are left out.

    Args:
        values: the whole series, shape (n,), finite, in the order of steps.
        window: (start, stop) in points.
        limits: (start, stop) beyond which no scatter is taken, since the other side begins there.

    Returns:
        ``None`` where fewer than four points tell the scatter.
    """
    points = window[1] - window[0]
    values, start, stop, limits = in_blocks(values, *window, limits or (0, len(values)))
    places = near_places((start, stop), limits)
    if places is None:
        return None
    rho = plausible(values, start, stop)
    variance, freedom = scatter(values, places, (start, stop), (rho,))
    return widened(Level(float(variance[0]), float(freedom[0]), rho), widening(points))


def near_places(window: tuple[int, int], limits: tuple[int, int]) -> tuple[int, ...] | None:
    """The points whose scatter tells how well a window's mean is known (:func:`level`); ``None`` below four."""
    start, stop = window
    low, high = window
    if stop - start < FEW:
        low = max(limits[0], min(start - (NEAREST - (stop - start)) // 2, limits[1] - NEAREST))
        high = min(limits[1], low + NEAREST)
    places = tuple(i for i in range(low, high) if stop - start > 2 or not start <= i < stop)
    return None if len(places) < 4 else places


def scatter(
    values: Array, places: tuple[int, ...], window: tuple[int, int], rhos: Iterable[float]
) -> tuple[Array, Array]:
    """Variance of a window's mean under each correlation, from the scatter at some places, and degrees of freedom.

    The scatter is that around a line, around the mean below eight places; a variance of zero is that of rounding.

    Args:
        values: one series or many, shape (…, n).
        places: of points in it.
        window: (start, stop) in points.
        rhos: correlations.

    Returns:
        Variances of shape (…, correlations), in the metric's unit squared; degrees of freedom, shape (correlations,).
    """
    degree = 1 if len(places) >= FEW else 0
    at = np.array(places, dtype=np.float64)
    basis, _ = np.linalg.qr(np.vander(at - at.mean(), degree + 1))
    centre = values[..., list(places)] - values[..., places[:1]]
    rest = centre - (centre @ basis) @ basis.T
    total = (rest * rest).sum(axis=-1)
    total = np.where(total <= NOTHING * len(at) * np.abs(centre).max(axis=-1) ** 2, 0.0, total)
    first = places[0]
    near, window = tuple(i - first for i in places), (window[0] - first, window[1] - first)
    moments = np.array([_moments(near, window, degree, rho) for rho in rhos])
    return total[..., None] / moments[:, 0] * moments[:, 2], moments[:, 1]


def plausible(values: Array, start: int, stop: int) -> float:
    """The largest correlation of neighbours that the points in and around a window leave plausible.

    Told by stretches of several lengths, of which the mildest counts: a long one tells it better where the level keeps
    still, and where it moves, a short one sees less of that.
    """
    uppers = []
    for size in AROUND:
        left, right = start, stop
        if right - left < size:
            left = max(0, min(start - (size - (stop - start)) // 2, len(values) - size))
            right = min(len(values), max(left + size, stop))
        found = fit(steadied(values[left:right]))
        uppers.append(len(RHOS) - 1 if found is None else found.upper)
    return float(RHOS[min(uppers)])


def in_blocks(values: Array, start: int, stop: int, limits: tuple[int, int]) -> tuple[Array, int, int, tuple[int, int]]:
    """Means of neighbours where a window is long: the same mean, from fewer points (some at the end may be left)."""
    size = -(-(stop - start) // MAX_POINTS)
    if size == 1:
        return values, start, stop, limits
    shift = start % size  # a block begins where the window does
    count = (values.shape[-1] - shift) // size
    blocks = values[..., shift : shift + count * size].reshape(*values.shape[:-1], count, size).mean(axis=-1)
    first = (start - shift) // size
    return blocks, first, min(count, first + (stop - start) // size), (0, count)


# -- the noise of a difference ----------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of a difference.

    Attributes:
        error: standard error, in the metric's unit.
        freedom: degrees of freedom; infinite where the error is known.
        rho: the largest correlation of neighbours that it allows for; ``None`` where none was assumed.
    """

    error: float
    freedom: float = math.inf
    rho: float | None = None

    def p_value(self, delta: float) -> float:
        """Two-sided p-value of a difference of ``delta`` against none."""
        return t_tail(abs(delta) / self.error, self.freedom)

    def half_width(self, share: float = 0.05) -> float:
        """The difference that must be passed for p < ``share``: half of an interval at confidence 1 − ``share``."""
        return self.error * t_quantile(1 - share / 2, self.freedom)


def between(a: Level, b: Level) -> Noise | None:
    """Noise of the difference of two levels; ``None`` where neither scatters.

    Degrees of freedom after Welch 1947 and Satterthwaite 1946. Of one series, the levels hang together and their
    difference varies less than this says: on the safe side.
    """
    variance = a.variance + b.variance
    if variance <= 0:
        return None
    freedom = variance**2 / sum(one.variance**2 / one.freedom for one in (a, b))
    return Noise(math.sqrt(variance), round(freedom, 2), max(one.rho for one in (a, b) if one.variance > 0))


# -- Student's t ------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=4096)
def t_tail(t: float, freedom: float) -> float:
    """P(\\|T\\| > t) for Student's t; the normal's for infinite degrees of freedom.

    By the incomplete beta function's continued fraction (DLMF 8.17.22, evaluated after Lentz).
    """
    if t <= 0 or math.isnan(t):
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
