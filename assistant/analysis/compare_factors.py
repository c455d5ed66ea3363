"""By how much the averaged interval of a comparison must be wider or narrower to hold 95 %, from simulation.

``python -m evals.compare_widths --fit averaged`` draws AR(1) noise of every ρ from 0 to 0.9 in windows of 1 to 300
points of logs of 10 to 1000 and in the last points of two runs, and finds the two tables below by least squares, over
all of them at once: a factor of the half-width with which as near to 5 % of each are missed as can be, and a power of
what lies beyond that half-width with which p falls below a twentieth of that (the bound of one of twenty metrics after
Holm's correction) no more often than it says. Both are functions of the mean correlation, linear in their logarithms
between :data:`KNOTS`, and there of :func:`features` of the sides.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Mean correlations at which the factors stand; between two, the logarithm is interpolated, beyond them it stays.
KNOTS: Final = (0.05, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.88, 0.95)
#: Fewest points that tell the correlation for which factors were fitted; fewer count as these.
LEAST_TOLD: Final = 10
#: Largest logarithm of a factor, either way: an interval five times as wide says nothing that one of four does not.
BOUND: Final = 1.6
#: Logarithms of the factor of the half-width, at KNOTS (rows) by features (columns).
FACTORS: Final[Array] = np.array([
    [-0.235, -0.621, 0.509, -0.434, 1.899, -1.578, -3.365, -0.656, 2.427, 0.029, 0.094, 0.095],
    [0.639, -0.956, 0.446, -1.905, -2.121, 1.312, 1.945, 5.902, -2.762, 0.869, -0.293, 0.237],
    [0.187, -0.816, -0.359, -1.838, 3.554, 1.786, -7.411, 2.690, 1.543, -4.218, -0.113, 0.436],
    [-0.358, -1.149, 2.236, 0.278, 2.997, -8.351, -0.634, -2.250, 4.076, 4.030, 0.545, -0.836],
    [-0.283, -0.845, 2.712, -2.094, -0.590, -3.019, -3.894, 5.179, 2.617, 2.028, -0.130, 1.085],
    [0.139, -2.353, 5.309, 3.422, 0.019, -5.147, 5.447, -5.325, -2.307, 1.643, -0.565, 1.368],
    [-0.631, -0.947, 5.729, 2.638, 1.687, -6.264, 0.249, -5.684, 2.491, 0.926, 0.595, 0.208],
    [-1.046, 1.175, 5.095, -1.471, 0.507, -3.740, -5.134, -0.470, 7.947, -0.122, 1.272, -0.211],
    [-0.870, 1.853, 5.046, -4.315, -0.735, -0.433, -9.371, 5.359, 11.089, -1.459, 1.607, -0.213],
])  # fmt: skip
#: The same of the power of what lies beyond it.
TAILS: Final[Array] = np.array([
    [-0.673, 1.310, -0.456, 1.220, -1.357, -0.103, 2.129, -2.117, -0.540, 1.435, -0.006, -0.029],
    [0.056, -0.482, -0.017, 0.123, -1.042, 1.476, 2.399, -0.137, -1.491, 0.126, -0.148, 0.014],
    [0.267, -1.429, 0.124, -1.444, 0.598, 1.811, -1.374, 1.730, 0.103, -1.101, 0.043, -0.116],
    [-0.047, -0.775, 0.095, -2.651, 0.881, 0.094, -2.544, 3.466, 1.855, 0.060, 0.178, -0.162],
    [-0.673, 0.662, -0.428, -1.057, 0.765, 0.502, -2.466, 2.387, 0.736, -0.439, 0.166, 0.070],
    [-0.630, 0.888, -0.460, 0.190, 0.440, 0.512, -1.891, 0.484, 0.191, -0.492, -0.026, 0.267],
    [-0.340, 0.545, -0.300, 0.342, 0.399, 0.351, -0.615, -0.723, 0.150, -0.689, -0.111, 0.340],
    [-0.102, 0.156, -0.127, 0.258, 0.360, 0.258, 0.309, -1.029, 0.077, -0.795, -0.086, 0.264],
    [0.071, -0.143, 0.030, 0.088, 0.230, 0.117, 0.696, -0.728, -0.020, -0.601, -0.038, 0.138],
])  # fmt: skip


def features(points: float, told: int, near: float, apart: float) -> Array:
    """What of two sides the factors hang on, shape (12,).

    Args:
        points: of a side, the harmonic mean of the two.
        told: points that tell the correlation.
        near: correlation of the two means where that of neighbours is 0.9; 0 for two runs.
        apart: how much of what tells the correlation is a stretch of its own, 0 to 1.
    """
    few, share = 20 / max(told, LEAST_TOLD), points / max(told, LEAST_TOLD)
    return np.array(
        [1, few, few**2, share, near, near * few, near * share, share**2, few * share, near**2, apart, apart * few]
    )  # fmt: skip


def factor_logs(sides: Array, table: Array | None = None) -> Array:
    """Logarithms of the factors at :data:`KNOTS`, shape (9,), for the :func:`features` of two sides."""
    found: Array = np.clip((FACTORS if table is None else table) @ sides, -BOUND, BOUND)
    return found


def tail_logs(sides: Array, table: Array | None = None) -> Array:
    """The same of the powers, which are one at most: beyond what was simulated, p is no smaller than the mixture's."""
    found: Array = np.clip((TAILS if table is None else table) @ sides, -BOUND, 0.0)
    return found


def at_mean(logs: Array, rho: float) -> float:
    """A factor or power at a mean correlation, from its logarithms at :data:`KNOTS`."""
    return float(np.exp(np.interp(rho, KNOTS, logs)))
