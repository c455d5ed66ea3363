"""By how much the averaged interval of a comparison must be wider or narrower to hold 95 %, from simulation.

``python -m evals.compare_widths --fit averaged`` draws AR(1) noise of every ρ from 0 to 0.9 in windows of 1 to 300
points of logs of 10 to 1000 and in the last points of two runs, and finds the two tables below by least squares, over
all of them at once, beginning at the tables as they are: a factor of the half-width with which as near to 5 % of each
are missed as can be, and a power of what lies beyond that half-width with which p falls below a twentieth of that (the
bound of one of twenty metrics after Holm's correction) no more often than it says. Both are functions of the mean
correlation, linear in their logarithms between :data:`KNOTS`, and there of :func:`features` of the sides.
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
    [
        -0.436, -0.345, -2.004, -0.682, 1.596, -0.834, -3.187, 0.463,
        3.534, -1.259, 0.088, 0.347, -0.489, 2.593, 0.319, -0.116,
    ],
    [
        0.592, -1.319, 1.591, 5.219, -3.686, -1.943, 10.774, -8.536,
        -3.602, 6.192, -0.053, -1.256, 0.552, -0.448, -0.408, -1.309,
    ],
    [
        -0.221, -0.748, -0.303, -2.334, 1.160, 2.225, -5.060, 4.531,
        0.753, -2.700, 0.066, 0.506, 0.023, 0.246, 0.150, 1.012,
    ],
    [
        1.128, -2.436, 2.593, -4.671, 6.409, -10.782, -12.442, 4.171,
        9.582, 6.017, -0.149, -0.342, -0.688, 0.200, 0.052, -0.516,
    ],
    [
        -0.927, -2.479, 5.632, 1.862, 2.305, -10.811, 5.778, -1.619,
        -1.607, 4.899, 0.406, 0.736, 0.684, -0.659, -0.363, 4.510,
    ],
    [
        0.419, -1.701, 7.501, 0.818, -4.352, -9.138, 3.488, 1.019,
        -1.745, 7.001, -1.086, 1.268, -0.636, 2.193, 0.507, -3.676,
    ],
    [
        -3.708, 4.227, 6.785, 8.693, 4.088, -5.738, 3.146, -13.776,
        -2.103, -2.196, 2.027, 2.169, 0.063, -1.249, -0.379, 5.506,
    ],
    [
        -1.452, 3.342, 7.785, 10.780, 4.425, -5.187, -5.673, -18.101,
        3.053, -3.843, -0.044, 4.857, 0.084, -1.636, 1.753, 3.589,
    ],
    [
        0.395, 7.549, 6.026, 2.436, 6.445, -4.780, -11.738, -14.434,
        8.360, -4.976, -0.871, 6.452, -2.286, -0.853, 2.913, 1.028,
    ],
])  # fmt: skip
#: The same of the power of what lies beyond it.
TAILS: Final[Array] = np.array([
    [
        -0.488, 1.105, -0.089, -1.777, -0.337, 0.175, 1.847, 3.494,
        -1.949, -0.292, 0.035, 0.285, -0.088, -0.362, 0.019, 0.718,
    ],
    [
        -0.303, -0.521, -0.106, 0.086, 0.244, 1.003, -0.652, -0.212,
        0.627, -0.795, -0.038, 0.208, -0.019, 0.291, 0.447, -1.370,
    ],
    [
        -0.101, -1.131, -0.057, -0.576, 0.210, 1.930, -1.962, 0.721,
        0.746, -1.012, -0.022, 0.027, 0.125, 0.125, 0.177, -0.586,
    ],
    [
        -0.158, -0.625, 0.138, -2.030, 0.746, 1.339, -2.581, 3.293,
        0.174, -1.082, 0.092, -0.081, 0.186, -0.452, -0.265, 3.388,
    ],
    [
        -0.412, -0.135, 0.190, -0.345, 0.547, 0.460, -0.696, 0.374,
        -0.278, -0.657, 0.038, 0.106, 0.191, -0.433, -0.077, 0.590,
    ],
    [
        -0.410, 0.186, -0.078, 0.655, 0.096, 0.420, -0.875, -1.516,
        0.365, -0.451, -0.030, 0.150, 0.070, -0.097, 0.135, -2.895,
    ],
    [
        -0.317, 0.372, -0.200, 0.190, 0.352, 0.213, -0.803, -0.898,
        0.541, -0.566, 0.083, 0.038, -0.068, 0.035, 0.149, -1.611,
    ],
    [
        -0.143, 0.242, -0.151, 0.091, 0.187, 0.072, -0.189, -0.677,
        0.356, -0.297, 0.057, 0.011, -0.063, 0.067, 0.066, -0.314,
    ],
    [
        0.039, -0.002, -0.077, 0.098, -0.005, 0.005, 0.290, -0.807,
        0.323, -0.049, -0.020, 0.047, -0.049, 0.115, 0.015, 0.298,
    ],
])  # fmt: skip


def features(points: float, told: int, near: float, apart: float, unlike: float) -> Array:
    """What of two sides the factors hang on, shape (16,).

    Args:
        points: of a side, the harmonic mean of the two.
        told: points that tell the correlation.
        near: correlation of the two means where that of neighbours is 0.9; 0 for two runs.
        apart: how much of what tells the correlation is a stretch of its own, 0 to 1.
        unlike: how unlike the sides are in length: 1 − 4nm/(n + m)², 0 to 1.
    """
    few, share, alone = 20 / max(told, LEAST_TOLD), points / max(told, LEAST_TOLD), 1 / points
    return np.array([
        1, few, few**2, share, near, near * few, near * share, share**2, few * share, near**2, apart, apart * few,
        alone, alone * few, unlike, unlike * share,
    ])  # fmt: skip


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
