"""Exact binomial intervals (Clopper–Pearson) without further packages."""

from __future__ import annotations

import math

ALPHA = 0.05


def tail(k: int, n: int, p: float) -> float:
    """P(X ≤ k) for X ~ Binomial(n, p), summed from its largest term outwards.

    Raises:
        ValueError: unless 0 ≤ k ≤ n and 0 ≤ p ≤ 1.
    """
    if not 0 <= k <= n or not 0.0 <= p <= 1.0:
        raise ValueError(f"no binomial probability of at most {k} in {n} at p = {p}")
    if k == n or p == 0.0:
        return 1.0
    if p == 1.0:
        return 0.0
    if k > n * p:  # the shorter sum, so that nothing cancels
        return 1.0 - tail(n - k - 1, n, 1.0 - p)
    log_term = (
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) + (n - k) * math.log1p(-p)
    )
    term = total = 1.0
    for i in range(k, 0, -1):
        term *= i * (1 - p) / ((n - i + 1) * p)
        total += term
        if term < 1e-17 * total:
            break
    return math.exp(log_term) * total


def interval(k: int, n: int, alpha: float = ALPHA) -> tuple[float, float]:
    """The Clopper–Pearson interval of a share: k of n, coverage at least 1 − alpha (Clopper & Pearson 1934).

    Raises:
        ValueError: unless 0 ≤ k ≤ n and n > 0.
    """
    if n <= 0 or not 0 <= k <= n:
        raise ValueError(f"no share: {k} of {n}")
    low = 0.0 if k == 0 else _solve(lambda p: 1.0 - tail(k - 1, n, p) - alpha / 2)
    high = 1.0 if k == n else _solve(lambda p: alpha / 2 - tail(k, n, p))
    return low, high


def _solve(rising: object) -> float:
    """The root in [0, 1] of a function that rises, by bisection to the last digit."""
    assert callable(rising)
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
