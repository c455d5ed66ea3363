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
        -0.022, -2.172, -0.385, -0.950, 0.691, -0.791, -1.430, 0.147,
        5.374, 0.013, -0.081, 0.618, -0.498, 2.846, 0.407, -1.153,
    ],
    [
        1.267, -2.098, 1.591, 2.569, -3.168, -0.533, 6.171, -5.105,
        -2.653, 4.056, -0.222, -0.833, 0.087, -0.191, -0.699, 0.578,
    ],
    [
        -0.414, -0.509, -0.359, -1.881, 1.302, 1.854, -4.518, 3.994,
        0.744, -2.513, 0.150, 0.382, 0.122, 0.230, 0.238, 1.809,
    ],
    [
        1.149, -2.231, 2.272, -4.692, 5.602, -8.864, -12.355, 4.724,
        9.311, 4.019, -0.305, -0.029, -0.673, 0.112, -0.171, -2.273,
    ],
    [
        -0.955, -2.852, 5.796, 2.831, 2.423, -10.786, 6.296, -3.839,
        -1.246, 5.042, 0.513, 0.519, 0.803, -0.645, -0.072, 4.852,
    ],
    [
        0.304, -0.908, 6.070, 0.623, -4.056, -6.978, 1.907, 2.484,
        -3.678, 5.821, -1.298, 2.332, -0.584, 1.506, 0.242, -3.481,
    ],
    [
        -4.303, 5.750, 4.096, 8.986, 3.849, -6.593, 1.542, -14.481,
        -0.161, -1.153, 2.573, 1.618, -0.498, 1.163, -0.191, 7.601,
    ],
    [
        -2.987, 5.614, 4.878, 10.761, 5.312, -4.954, -5.236, -17.625,
        3.081, -3.373, 1.163, 5.573, -0.102, -0.345, 0.432, 4.882,
    ],
    [
        -0.363, 6.691, 4.722, 2.938, 6.234, -3.578, -11.913, -15.054,
        10.191, -4.562, -0.503, 9.478, -1.433, -1.137, 1.193, 1.802,
    ],
])  # fmt: skip
#: The same of the power of what lies beyond it.
TAILS: Final[Array] = np.array([
    [
        -0.611, 1.565, -0.420, -2.230, -1.146, 0.084, 3.851, 4.361,
        -1.571, 0.836, 0.086, 0.113, -0.119, -0.114, -0.140, 1.247,
    ],
    [
        -0.400, -0.125, -0.303, -0.127, -0.265, 0.785, 0.735, 0.009,
        0.661, -0.009, 0.097, -0.133, -0.076, 0.452, 0.451, -1.318,
    ],
    [
        -0.066, -1.216, -0.058, -0.869, 0.404, 1.906, -2.256, 0.902,
        0.983, -1.041, 0.054, -0.055, 0.097, 0.180, 0.159, -0.082,
    ],
    [
        -0.215, -0.452, 0.154, -2.236, 1.059, 1.033, -2.783, 3.560,
        0.089, -1.115, 0.175, -0.214, 0.137, -0.516, -0.343, 3.380,
    ],
    [
        -0.440, 0.050, 0.204, -0.658, 0.728, 0.189, -1.027, 1.125,
        -0.374, -0.625, 0.070, -0.030, 0.219, -0.576, -0.168, 0.971,
    ],
    [
        -0.417, 0.355, -0.115, 0.485, 0.034, 0.463, -1.014, -0.791,
        0.117, -0.443, -0.093, 0.141, 0.153, -0.242, 0.143, -2.839,
    ],
    [
        -0.372, 0.512, -0.245, 0.267, 0.184, 0.327, -0.889, -0.670,
        0.358, -0.519, 0.058, -0.000, 0.021, -0.045, 0.173, -1.342,
    ],
    [
        -0.183, 0.299, -0.167, 0.215, 0.087, 0.146, -0.165, -0.690,
        0.232, -0.281, 0.062, -0.026, -0.015, 0.036, 0.076, -0.221,
    ],
    [
        0.043, -0.040, -0.052, 0.134, 0.019, 0.038, 0.357, -0.772,
        0.216, -0.116, -0.007, 0.044, -0.044, 0.102, 0.009, 0.215,
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
