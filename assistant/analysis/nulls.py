"""Critical values of four statistics under correlated noise, from simulated null distributions.

A statistic that is exact for independent values (Mann–Kendall's score, the largest jump, the largest bend) is far too
easily large when neighbouring values resemble each other. Dividing by a variance from a plug-in autocorrelation does
not mend it: in short series the estimate is low by about (1 + 4ρ)/n and the test keeps calling noise a trend. So the
bound depends on what is *seen*, the lag-1 autocorrelation r of the residuals, and is set by simulation such that AR(1)
noise of any ρ from 0 to 0.9 passes it at most about 6 % of the time, and a random walk at most about 10 %; a trend over
20 points or fewer is held to 8 % at ρ = .7 and 16 % at .9, since a bound against the worst calls a steady climb noise::

    c(n, r) = min(cap, 1.96 · k · √((1 + q)/(1 − q))),   q = a + b·r within [0, 0.9995]

``python -m evals.trend_calibration`` fits ``a``, ``b``, ``k`` and ``cap`` for each n (its docstring says how) and
prints the tables below; the row for 5 points, where only a perfect order may pass, is set by hand.
``python -m evals.trend_levels`` measures what they hold. The form is the AR(1) inflation of Yue & Wang 2004; bounding
by the worst case over the nuisance ρ follows Elliott, Müller & Watson 2015.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Final, Literal

Test = Literal["trend", "level", "slope", "thirds"]

NORMAL: Final = 1.959963984540054

#: n → (a, b, k, cap); between two n, log c is interpolated in log n; beyond them, the nearest holds.
TABLES: Final[dict[Test, dict[int, tuple[float, float, float, float]]]] = {
    "trend": {
        5: (1.02, 1.97, 1.50, 3.00),
        6: (0.05, 3.44, 1.53, 3.19),
        8: (0.04, 3.45, 1.55, 2.92),
        10: (0.22, 3.42, 1.48, 3.71),
        12: (0.68, 3.33, 1.26, 3.55),
        14: (0.50, 2.85, 1.00, 4.04),
        17: (0.02, 2.21, 1.20, 4.50),
        20: (0.03, 1.96, 1.11, 4.55),
        26: (0.02, 1.39, 1.14, 6.10),
        34: (-0.12, 1.51, 1.14, 9.03),
        45: (-0.12, 1.49, 1.09, 10.74),
        60: (-0.08, 1.41, 1.04, 12.97),
        100: (-0.13, 1.29, 1.07, 17.13),
        160: (-0.11, 1.23, 1.05, 18.63),
        256: (-0.01, 1.08, 1.00, 25.12),
    },
    "level": {
        9: (1.15, 1.13, 1.50, 6.72),
        12: (1.15, 1.85, 1.38, 8.86),
        16: (1.14, 2.84, 1.25, 9.40),
        20: (0.86, 2.82, 1.31, 9.79),
        26: (0.39, 2.55, 1.57, 11.03),
        34: (0.21, 1.76, 1.59, 13.78),
        45: (0.13, 1.50, 1.60, 16.13),
        60: (0.09, 1.33, 1.59, 18.33),
        100: (0.04, 1.20, 1.62, 24.12),
        160: (0.12, 1.02, 1.49, 29.29),
        256: (0.14, 0.95, 1.44, 36.67),
    },
    "slope": {
        12: (0.87, 1.01, 1.73, 8.00),
        16: (0.86, 1.15, 1.68, 8.41),
        20: (0.92, 2.03, 1.32, 9.64),
        26: (0.70, 2.44, 1.20, 10.54),
        34: (0.27, 2.17, 1.42, 12.79),
        45: (0.22, 1.50, 1.36, 15.86),
        60: (0.10, 1.45, 1.39, 16.19),
        100: (0.08, 1.28, 1.40, 18.26),
        160: (-0.01, 1.24, 1.44, 23.60),
        256: (0.02, 1.12, 1.38, 30.20),
    },
    # Passed by 0.6 % of white noise, 1.2 % at ρ = .7 and 3.5 % at .9 (``python -m evals.trend_thirds``).
    "thirds": {
        20: (1.13, 0.91, 2.06, 18.17),
        26: (1.51, 2.77, 2.01, 16.16),
        34: (0.78, 3.02, 2.41, 17.79),
        45: (0.36, 2.21, 2.05, 81.90),
        60: (0.18, 1.77, 2.10, 91.36),
        100: (0.35, 0.96, 1.54, 99.48),
        160: (-0.02, 1.26, 2.04, 90.88),
        256: (-0.06, 1.33, 2.71, 81.24),
    },
}


def critical(test: Test, n: int, r: float) -> float:
    """The value that the statistic must pass for p < 0.05.

    Args:
        test: which statistic.
        n: number of points.
        r: lag-1 autocorrelation of the residuals, or their :func:`assistant.analysis.stats.persistence`, which is that
            of AR(1) noise with the same effect and never lower.
    """
    table = TABLES[test]
    sizes = list(table)
    place = bisect_left(sizes, n)
    if place == 0 or place == len(sizes):
        return _bound(table[sizes[min(place, len(sizes) - 1)]], r)
    low, high = sizes[place - 1], sizes[place]
    share = math.log(n / low) / math.log(high / low)
    return float(_bound(table[low], r) ** (1 - share) * _bound(table[high], r) ** share)


def _bound(row: tuple[float, float, float, float], r: float) -> float:
    a, b, k, cap = row
    q = min(max(a + b * r, 0.0), 0.9995)
    return min(cap, NORMAL * k * math.sqrt((1 + q) / (1 - q)))
