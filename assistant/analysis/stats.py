"""Robust statistics of a series: slope, trend test, scatter, autocorrelation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assistant.analysis.nulls import NORMAL

Array = NDArray[np.float64]

#: Standard deviation of normal values over their median absolute deviation.
MAD_TO_SD = 1.4826
#: Residuals are clipped at so many robust deviations before their correlation is taken.
CLIP = 2.5
#: Lags from which the fading of a correlation is told, and the fewest points for that.
LAGS, LEAST_FOR_LAGS = 4, 30


def middle(values: Array) -> float:
    """Median; on small arrays several times as fast as numpy's, which looks for NaN and axes first."""
    n = len(values)
    if n > 2000:
        return float(np.median(values))
    ordered = np.sort(values)
    return float(ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2)


# -- scatter and correlation ----------------------------------------------------------------------------------
def robust_scale(values: ArrayLike) -> float:
    """Standard deviation by the median absolute deviation (1.4826 × MAD), in the values' unit.

    Where more than half of the values are equal, their MAD is zero and the ordinary deviation is given instead.
    """
    x = np.asarray(values, dtype=np.float64)
    if len(x) < 2:
        return 0.0
    scale = MAD_TO_SD * middle(np.abs(x - middle(x)))
    return scale if scale > 0 else float(x.std(ddof=1))


def autocorrelation(rest: ArrayLike) -> float:
    """Lag-1 autocorrelation of residuals, clipped at 2.5 robust deviations so that single spikes do not hide it.

    Not corrected for its bias (see :func:`unbiased`); 0 for residuals without spread.
    """
    return _autocorrelations(np.asarray(rest, dtype=np.float64), 1)[0]


def persistence(rest: ArrayLike) -> float:
    """The ρ of the AR(1) noise that would blur a mean as much as these residuals do; at least r(1).

    Batch noise over a slow drift has a small r(1) and a long memory: r(k) = r(1) φ^(k−1), whose variance inflation
    1 + 2 r(1)/(1 − φ) is that of AR(1) noise with ρ = r(1)/(1 − φ + r(1)). φ is taken from the first four lags, where
    r(1) stands out; of AR(1) noise φ = ρ, and nothing changes but the scatter.

    Source: ARMA(1,1) autocorrelations (Box, Jenkins & Reinsel, ch. 3); inflation as in Yue & Wang 2004.
    """
    x = np.asarray(rest, dtype=np.float64)
    n = len(x)
    r = _autocorrelations(x, LAGS)
    if n < LEAST_FOR_LAGS or r[0] < 1 / math.sqrt(n) or r[0] >= 1:
        return r[0]
    fade = min(max(sum(r[1:]) / max(sum(r[:-1]), 1e-9), 0.0), 0.97)
    return min(max(r[0], r[0] / (1 - fade + r[0])), 1.0)


def _autocorrelations(x: Array, lags: int) -> list[float]:
    if len(x) < lags + 2:
        return [0.0] * lags
    x = x - middle(x)
    bound = CLIP * MAD_TO_SD * middle(np.abs(x))
    if bound > 0:
        x = np.minimum(np.maximum(x, -bound), bound)
    x = x - float(x.sum()) / len(x)
    total = float(x @ x)
    return [float(x[lag:] @ x[:-lag]) / total if total > 0 else 0.0 for lag in range(1, lags + 1)]


def unbiased(r: float, n: int, fitted: int = 2) -> float:
    """Lag-1 autocorrelation without its small-sample bias, within [−0.99, 0.99].

    Source: Marriott & Pope 1954, Kendall 1954: E r ≈ ρ − (1 + 3ρ)/n with an estimated mean; each further fitted
    parameter takes about (1 + ρ)/n more (for a line −(2 + 4ρ)/n: van Giersbergen 2005). Solved for ρ.
    """
    extra = max(fitted - 1, 0)
    return min(max((n * r + 1 + extra) / max(n - 3 - extra, 1), -0.99), 0.99)


# -- slope and trend ------------------------------------------------------------------------------------------
@lru_cache(maxsize=8)
def pair_places(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and second place of all pairs of n points, each of shape (n(n − 1)/2,)."""
    return np.triu_indices(n, 1)


def pair_slopes(steps: ArrayLike, values: ArrayLike) -> Array:
    """Slopes of all n(n − 1)/2 pairs of points, ascending."""
    x, y = np.asarray(steps, dtype=np.float64), np.asarray(values, dtype=np.float64)
    i, j = pair_places(len(x))
    slopes = (y[j] - y[i]) / (x[j] - x[i])
    slopes.sort()
    return slopes


def theil_sen(
    steps: ArrayLike, values: ArrayLike, *, score: float | None = None
) -> tuple[float, tuple[float, float] | None]:
    """Median slope of all pairs in units per step, and its interval.

    Args:
        steps: ascending, all different.
        values: as many.
        score: half-width of the interval on the scale of Mann–Kendall's score, √var S × 1.96 by default: 95 % for
            independent values. A larger one allows for autocorrelation (:func:`interval_score`).

    Returns:
        The slope, and its interval; ``None`` where no order of so few points could exclude anything.

    Source: Sen 1968, section 4. O(n²) in time and memory.
    """
    slopes = pair_slopes(steps, values)
    return median_slope(slopes, NORMAL * math.sqrt(score_variance(np.asarray(values))) if score is None else score)


def median_slope(slopes: Array, score: float) -> tuple[float, tuple[float, float] | None]:
    """As :func:`theil_sen`, from the sorted slopes of all pairs."""
    n = len(slopes)
    middle = float(slopes[n // 2] if n % 2 else (slopes[n // 2 - 1] + slopes[n // 2]) / 2)
    low = math.floor((n - score) / 2)
    return middle, None if low < 0 else (float(slopes[low]), float(slopes[n - 1 - low]))


def score_variance(values: Array) -> float:
    """Variance of Mann–Kendall's score for independent values (Kendall 1975, with the correction for ties)."""
    n = len(values)
    _, counts = np.unique(values, return_counts=True)
    t = counts[counts > 1].astype(np.float64)
    return (n * (n - 1) * (2 * n + 5) - float((t * (t - 1) * (2 * t + 5)).sum())) / 18


def kendall_score(values: ArrayLike) -> int:
    """Mann–Kendall's S: pairs that rise less pairs that fall, in O(n log n).

    Falling pairs are counted by sorting blocks of doubling length, all blocks of one length at once.
    """
    y = np.asarray(values, dtype=np.float64)
    n = len(y)
    if n < 2:
        return 0
    order, ranks, counts = np.unique(y, return_inverse=True, return_counts=True)
    distinct = len(order)
    size = 1 << (n - 1).bit_length()
    # Padding above all ranks at the end falls against nothing.
    x = np.full(size, distinct, dtype=np.int64)
    x[:n] = ranks
    falling, width = 0, 1
    while width < size:
        halves = x.reshape(-1, 2, width)
        blocks = len(halves)
        # Shifted by block, one search in one ascending array serves all blocks.
        shift = np.arange(blocks, dtype=np.int64)[:, None] * (distinct + 1)
        left, right = halves[:, 0, :] + shift, halves[:, 1, :] + shift
        below = np.searchsorted(left.ravel(), right.ravel(), side="right").reshape(blocks, width)
        # In the left half of a block, those not ≤ a right value are above it.
        falling += int((width * np.arange(1, blocks + 1)[:, None] - below).sum())
        x = np.sort(x.reshape(-1, 2 * width), axis=1).ravel()
        width *= 2
    tied = int((counts * (counts - 1) // 2).sum())
    return n * (n - 1) // 2 - tied - 2 * falling


def mann_kendall(values: Sequence[float] | Array, *, inflation: float = 1.0) -> float:
    """Two-sided p-value of the Mann–Kendall test against no trend (normal approximation, tie-corrected).

    ``inflation`` multiplies the variance of the score, to allow for autocorrelation. O(n log n).

    Source: Mann 1945; Kendall 1975.
    """
    y = np.asarray(values, dtype=np.float64)
    variance, score = score_variance(y), abs(kendall_score(y))
    if variance <= 0 or score == 0:
        return 1.0
    return math.erfc((score - 1) / math.sqrt(variance * inflation) / math.sqrt(2))


def interval_score(variance: float, pairs: float, bound: float) -> float:
    """The score |S| up to which a slope is held by an interval whose width is ``bound`` (``widths``), + 1."""
    return pairs * math.tanh(bound * math.sqrt(variance) / pairs) + 1


def correlated_p(score: int, variance: float, pairs: float, bound: float) -> float:
    """Two-sided p-value of a score where the statistic of ``nulls`` must pass ``bound`` for p = 0.05.

    The score is put on Fisher's scale (artanh τ), on which its tail stays close to normal also for series so
    correlated that τ itself fills [−1, 1]; never below the p-value for independent values.
    """
    if variance <= 0 or score == 0:
        return 1.0
    deviation, size = math.sqrt(variance), abs(score) - 1
    statistic = math.atanh(min(size / pairs, 1 - 1e-12)) * pairs / deviation
    return math.erfc(min(size / deviation, statistic * NORMAL / bound) / math.sqrt(2))


# -- jumps and bends ------------------------------------------------------------------------------------------
@lru_cache(maxsize=32)
def scan_basis(n: int, kind: str) -> tuple[Array, Array]:
    """What a jump (``level``) or a bend (``slope``) at each place looks like, free of what is there without it.

    Returns:
        Rows of an orthonormal basis without a change (a constant; a constant and a line), and one row of unit
        length for each place, orthogonal to them; row k is for the place ``edge(n, kind) + k``.
    """
    t = np.arange(n, dtype=np.float64)
    null = np.ones((1, n)) / math.sqrt(n)
    if kind == "slope":
        line = t - t.mean()
        null = np.vstack([null, line / math.sqrt(line @ line)])
    margin = edge(n, kind)
    places = np.arange(margin, n - margin + 1, dtype=np.float64)[:, None]
    rows = (t >= places).astype(np.float64) if kind == "level" else np.maximum(t - places, 0.0)
    rows -= (rows @ null.T) @ null
    rows /= np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return null, rows


def edge(n: int, kind: str) -> int:
    """Points that a change must have on each side: three, and a twentieth of all (four for a bend)."""
    return max(3 if kind == "level" else 4, n // 20)


def without_spikes(values: ArrayLike) -> Array:
    """Values with single spikes replaced by the median of the five around them (Hampel's filter).

    A spike lies five robust deviations from that median, measured on all distances from it; jumps and slopes stay.
    """
    y = np.asarray(values, dtype=np.float64)
    if len(y) < 7:
        return y
    centre = _running_median(np.concatenate([y[1:3][::-1], y, y[-3:-1][::-1]]))
    far = np.abs(y - centre)
    bound = 5 * MAD_TO_SD * middle(far) / 0.7
    return np.where(far > bound, centre, y) if bound > 0 else y


def _running_median(y: Array) -> Array:
    """Medians of five neighbours, by comparisons of whole arrays (ten times as fast as sorting each five)."""
    a, b, c, d, e = y[:-4], y[1:-3], y[2:-2], y[3:-1], y[4:]
    low = np.maximum(np.minimum(a, b), np.minimum(d, e))
    high = np.minimum(np.maximum(a, b), np.maximum(d, e))
    return np.maximum(np.minimum(low, high), np.minimum(np.maximum(low, high), c))


def block_means(values: Array, width: int) -> Array:
    """Means of consecutive blocks; the last may be shorter, down to half a block (fewer points are left out)."""
    if width <= 1:
        return values
    whole = len(values) // width
    result = values[: whole * width].reshape(whole, width).mean(axis=1)
    rest = values[whole * width :]
    return np.append(result, rest.mean()) if 2 * len(rest) >= width else result
