"""How wide 95 % intervals must be under correlated noise, from simulation.

An interval made of an estimate's standard error and Student's quantile misses far more than 5 % of the time when
neighbouring values resemble each other: their correlation ρ is itself estimated, and from twenty points it may be
anything. The width that is needed depends on what is *seen*, the number of points and the lag-1 autocorrelation r of
the residuals. ``python -m evals.trend_widths`` finds, for each n, widths as a function of r with which AR(1) noise of
every ρ from 0 to 0.9 misses about 5 % of the time, never widths that fall with r (but for the next
point's), and prints the tables below; ``python -m evals.trend_levels --only intervals`` measures what they hold.

The promise is about all series of one ρ. Of those, one whose residuals happen to look independent gets an interval that
is narrow, and one in which a short log shows much correlation an interval many deviations wide: from so few points, a
trend and a slow drift cannot be told apart.

The form is that of a similar test made from a conditional bound (Elliott, Müller & Watson 2015, *Econometrica* 83).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Final, Literal

Interval = Literal["slope", "line", "course", "point_near", "point_far"]

#: Fewest points of a slope that is given an interval. Fewer cannot tell weak from strong correlation, and no width
#: holds the slope in 93 to 97 % of both.
LEAST_SLOPE: Final = 10
#: Lag-1 autocorrelations at which the widths stand; between two, log width is interpolated, beyond them it stays.
SEEN: Final = (-0.4, -0.2, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

#: n → widths at ``SEEN``; between two n, log width is interpolated in log n; beyond them, the nearest holds. In units
#: of: the deviation of Mann–Kendall's score, on Fisher's scale (``slope``); the deviation of the error that
#: :mod:`assistant.analysis.ar_line` computes, of the line (``line``; ``course`` beside the reach towards a bend), of
#: the next value and of one as far ahead as the points reach (``point_near``, ``point_far``, both beside that reach).
#: Below 1.96 lie those whose misses come from one side alone. Comments: least and largest share of misses in the fit,
#: in %.
TABLES: Final[dict[Interval, dict[int, tuple[float, ...]]]] = {
    "slope": {
        10: (1.52, 5.54, 5.54, 5.54, 5.54, 5.54, 5.54, 5.54, 5.54, 5.54, 5.54, 5.54),  # 3.5 to 7.3
        12: (1.50, 3.23, 5.53, 5.53, 5.53, 5.53, 5.53, 5.53, 5.53, 5.53, 5.53, 5.53),  # 3.0 to 7.2
        14: (1.75, 1.98, 5.01, 6.08, 6.08, 6.08, 6.08, 6.08, 6.08, 6.08, 6.08, 6.08),  # 3.5 to 6.4
        17: (1.75, 1.75, 2.65, 5.40, 6.84, 6.84, 6.84, 6.84, 6.84, 6.84, 6.84, 6.84),  # 3.7 to 5.7
        20: (1.75, 1.77, 2.21, 3.56, 6.12, 7.51, 7.51, 7.51, 7.51, 7.51, 7.51, 7.51),  # 3.7 to 5.6
        25: (1.75, 1.86, 2.10, 2.56, 3.63, 5.57, 7.62, 8.45, 8.45, 8.45, 8.45, 8.45),  # 4.0 to 5.9
        30: (1.75, 1.84, 2.17, 2.43, 2.73, 3.49, 5.66, 8.34, 9.48, 9.48, 9.48, 9.48),  # 4.1 to 5.9
        38: (1.75, 1.91, 2.11, 2.33, 2.57, 2.94, 4.04, 5.64, 9.21, 10.79, 10.79, 10.79),  # 4.1 to 5.8
        48: (1.75, 1.88, 2.06, 2.27, 2.54, 2.82, 3.35, 4.55, 6.69, 9.33, 11.23, 12.24),  # 4.3 to 5.6
        60: (1.75, 1.86, 2.01, 2.23, 2.51, 2.80, 3.10, 3.66, 5.25, 8.59, 11.63, 13.79),  # 4.4 to 5.6
        80: (1.75, 1.75, 2.00, 2.12, 2.50, 2.86, 3.26, 3.73, 4.45, 5.76, 10.73, 16.03),  # 4.5 to 5.5
        110: (1.89, 1.95, 1.98, 2.08, 2.44, 2.69, 3.07, 3.52, 3.92, 5.26, 8.46, 16.26),  # 4.6 to 5.4
        160: (1.75, 1.87, 2.07, 2.15, 2.43, 2.59, 2.88, 3.60, 4.08, 4.85, 6.86, 12.81),  # 4.6 to 5.3
        256: (1.75, 1.77, 1.88, 2.23, 2.47, 2.59, 2.88, 3.54, 3.75, 5.11, 5.55, 11.62),  # 4.5 to 5.5
    },
    "line": {
        10: (1.60, 8.89, 13.33, 13.33, 13.33, 13.33, 13.33, 13.33, 13.33, 13.33, 13.33, 13.33),  # 3.6 to 6.5
        12: (1.50, 3.78, 11.26, 16.19, 16.19, 16.19, 16.19, 16.19, 16.19, 16.19, 16.19, 16.19),  # 3.5 to 5.6
        14: (1.75, 2.29, 5.32, 11.05, 15.37, 16.76, 16.76, 16.76, 16.76, 16.76, 16.76, 16.76),  # 3.6 to 5.7
        17: (1.75, 2.07, 3.11, 5.38, 8.73, 11.93, 14.16, 15.35, 15.83, 16.05, 16.21, 16.36),  # 3.8 to 5.0
        20: (1.75, 1.88, 2.18, 2.99, 5.19, 8.46, 12.04, 14.49, 15.56, 15.92, 15.95, 15.95),  # 3.6 to 6.0
        25: (1.88, 1.95, 1.99, 2.24, 2.74, 4.10, 6.89, 9.98, 12.56, 14.46, 15.87, 16.99),  # 4.0 to 6.0
        30: (1.89, 1.99, 2.09, 2.09, 2.21, 2.63, 4.01, 6.38, 9.21, 12.07, 14.82, 17.76),  # 4.1 to 5.9
        40: (1.76, 1.90, 2.01, 2.09, 2.11, 2.30, 2.44, 3.20, 4.88, 7.59, 11.55, 17.43),  # 4.2 to 5.8
        60: (1.75, 1.83, 1.97, 2.15, 2.20, 2.21, 2.21, 2.25, 2.65, 4.08, 7.06, 12.64),  # 4.5 to 5.6
        100: (1.86, 1.90, 1.92, 1.92, 1.98, 2.06, 2.06, 2.16, 2.16, 2.34, 3.30, 5.30),  # 4.6 to 5.4
        200: (1.75, 1.76, 1.91, 1.97, 1.97, 2.02, 2.03, 2.03, 2.03, 2.13, 2.13, 2.83),  # 4.5 to 5.4
        400: (1.79, 1.86, 1.93, 1.96, 1.96, 1.96, 1.96, 1.96, 2.03, 2.03, 2.03, 2.24),  # 4.6 to 5.5
    },
    "course": {
        10: (1.35, 5.09, 10.73, 10.75, 10.75, 10.75, 10.75, 10.75, 10.75, 10.75, 10.75, 10.75),  # 3.3 to 7.2
        12: (1.30, 2.21, 6.30, 12.22, 14.37, 14.37, 14.37, 14.37, 14.37, 14.37, 14.37, 14.37),  # 3.3 to 6.1
        14: (1.30, 1.74, 3.29, 6.46, 10.25, 13.29, 14.49, 14.66, 14.66, 14.66, 14.66, 14.66),  # 3.6 to 6.4
        17: (1.30, 1.55, 2.01, 2.98, 5.01, 8.25, 11.84, 14.14, 15.03, 15.17, 15.17, 15.17),  # 3.6 to 6.3
        20: (1.30, 1.45, 1.64, 2.04, 2.99, 4.84, 7.41, 10.13, 12.43, 14.19, 15.61, 16.88),  # 3.8 to 6.1
        25: (1.37, 1.47, 1.55, 1.63, 1.97, 2.58, 3.67, 6.25, 9.35, 12.52, 15.60, 19.02),  # 3.9 to 5.9
        30: (1.45, 1.56, 1.63, 1.68, 1.72, 1.92, 2.54, 4.22, 7.13, 10.93, 15.69, 21.92),  # 4.1 to 5.8
        40: (1.36, 1.54, 1.68, 1.74, 1.74, 1.74, 1.74, 2.08, 3.27, 6.07, 11.51, 21.65),  # 4.2 to 5.8
        60: (1.43, 1.54, 1.64, 1.69, 1.69, 1.69, 1.69, 1.69, 1.69, 2.01, 5.34, 14.86),  # 4.0 to 6.0
        100: (1.30, 1.46, 1.68, 1.72, 1.72, 1.72, 1.72, 1.72, 1.72, 1.72, 1.73, 4.78),  # 4.0 to 5.9
        200: (1.50, 1.60, 1.67, 1.67, 1.67, 1.67, 1.67, 1.67, 1.68, 1.73, 1.73, 1.73),  # 4.5 to 5.6
        400: (1.40, 1.52, 1.65, 1.67, 1.67, 1.67, 1.67, 1.67, 1.67, 1.67, 1.67, 1.67),  # 4.4 to 5.7
    },
    "point_near": {
        10: (1.71, 1.83, 1.98, 2.16, 2.30, 2.48, 2.67, 2.84, 3.06, 3.36, 3.67, 4.00),  # 4.1 to 6.3
        12: (1.76, 1.67, 1.66, 1.80, 1.97, 2.19, 2.37, 2.58, 2.86, 3.19, 3.56, 3.94),  # 4.0 to 6.2
        14: (1.62, 1.61, 1.63, 1.69, 1.79, 1.90, 2.06, 2.29, 2.59, 3.00, 3.46, 3.98),  # 3.9 to 6.3
        17: (1.67, 1.65, 1.64, 1.64, 1.64, 1.61, 1.60, 1.66, 1.93, 2.39, 3.03, 3.89),  # 3.8 to 6.2
        20: (1.89, 1.78, 1.65, 1.58, 1.59, 1.60, 1.51, 1.46, 1.60, 1.96, 2.57, 3.44),  # 3.9 to 6.1
        25: (1.84, 1.73, 1.65, 1.61, 1.60, 1.58, 1.49, 1.42, 1.43, 1.63, 2.06, 2.69),  # 4.1 to 5.9
        30: (1.65, 1.71, 1.77, 1.76, 1.67, 1.57, 1.47, 1.40, 1.41, 1.55, 1.81, 2.17),  # 4.2 to 5.8
        40: (1.72, 1.73, 1.73, 1.75, 1.76, 1.73, 1.60, 1.44, 1.31, 1.30, 1.42, 1.61),  # 4.3 to 5.7
        60: (1.75, 1.75, 1.67, 1.70, 1.74, 1.71, 1.66, 1.50, 1.60, 1.48, 1.30, 1.30),  # 4.3 to 5.7
        100: (2.14, 1.92, 1.71, 1.83, 1.73, 1.62, 1.63, 1.64, 1.62, 1.46, 1.31, 1.30),  # 4.5 to 5.4
        200: (2.21, 1.98, 1.83, 1.74, 1.73, 1.77, 1.72, 1.62, 1.64, 1.65, 1.60, 1.40),  # 4.5 to 5.5
        400: (1.87, 1.82, 1.80, 1.79, 2.00, 1.72, 1.69, 1.71, 1.72, 1.69, 1.63, 1.52),  # 4.8 to 5.3
    },
    "point_far": {
        10: (1.51, 3.04, 4.35, 4.35, 4.35, 4.35, 4.35, 4.35, 4.35, 4.35, 4.35, 4.35),  # 3.7 to 5.9
        12: (1.30, 2.12, 3.41, 4.49, 4.99, 5.01, 5.01, 5.01, 5.01, 5.01, 5.01, 5.01),  # 3.6 to 6.4
        14: (1.30, 1.72, 2.60, 3.64, 4.43, 4.76, 4.83, 4.83, 4.83, 4.84, 4.87, 4.90),  # 3.7 to 6.0
        17: (1.30, 1.48, 1.95, 2.70, 3.55, 4.23, 4.64, 4.75, 4.75, 4.75, 4.75, 4.76),  # 3.7 to 5.7
        20: (1.30, 1.41, 1.64, 2.01, 2.57, 3.16, 3.66, 4.02, 4.25, 4.41, 4.57, 4.73),  # 3.9 to 6.0
        25: (1.47, 1.51, 1.54, 1.58, 1.75, 2.23, 3.06, 3.76, 4.24, 4.46, 4.57, 4.68),  # 4.0 to 6.0
        30: (1.56, 1.56, 1.58, 1.60, 1.67, 1.89, 2.35, 3.21, 3.98, 4.46, 4.72, 4.90),  # 4.1 to 5.8
        40: (1.59, 1.61, 1.62, 1.65, 1.70, 1.70, 1.70, 1.91, 3.03, 4.33, 5.34, 6.23),  # 4.1 to 5.8
        60: (1.58, 1.58, 1.59, 1.63, 1.63, 1.63, 1.63, 1.63, 1.63, 1.97, 3.45, 5.95),  # 4.1 to 6.0
        100: (1.57, 1.60, 1.64, 1.65, 1.69, 1.69, 1.69, 1.69, 1.69, 1.69, 1.69, 4.12),  # 4.1 to 5.6
        200: (1.59, 1.61, 1.63, 1.64, 1.64, 1.64, 1.64, 1.65, 1.65, 1.68, 1.68, 1.76),  # 4.1 to 5.5
        400: (1.63, 1.64, 1.65, 1.65, 1.65, 1.65, 1.65, 1.67, 1.67, 1.67, 1.69, 1.79),  # 4.2 to 5.7
    },
}


def width(interval: Interval, n: int, seen: float) -> float:
    """Half-width of a 95 % interval, in the units of its table.

    Args:
        interval: of what.
        n: points that the estimate rests on.
        seen: lag-1 autocorrelation of their residuals.
    """
    table = TABLES[interval]
    sizes = list(table)
    place = bisect_left(sizes, n)
    if place == 0 or place == len(sizes):
        return math.exp(_log(table[sizes[min(place, len(sizes) - 1)]], seen))
    low, high = sizes[place - 1], sizes[place]
    share = math.log(n / low) / math.log(high / low)
    return math.exp((1 - share) * _log(table[low], seen) + share * _log(table[high], seen))


def ahead_width(n: int, seen: float, distance: float) -> float:
    """Half-width for a value that is ``distance`` points ahead.

    Between the next one and as many as were seen, log width is interpolated in log distance.
    """
    near, far = width("point_near", n, seen), width("point_far", n, seen)
    share = min(math.log(max(distance, 1.0)) / math.log(n), 1.0)
    return float(near ** (1 - share) * far**share)


def _log(row: tuple[float, ...], seen: float) -> float:
    place = bisect_left(SEEN, seen)
    if place == 0 or place == len(SEEN):
        return math.log(row[min(place, len(SEEN) - 1)])
    low, high = SEEN[place - 1], SEEN[place]
    share = (seen - low) / (high - low)
    return (1 - share) * math.log(row[place - 1]) + share * math.log(row[place])
