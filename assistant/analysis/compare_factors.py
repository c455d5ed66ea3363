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
    [-0.093, -0.517, -0.173, -1.082, 1.858, 0.305, -3.234, 0.600, 2.154, -1.105, -0.029, 0.407],
    [0.353, -0.550, 0.200, -0.291, -2.468, 1.246, 1.638, 2.743, -2.472, 1.372, -0.212, -0.060],
    [0.305, -1.018, -0.059, -2.573, 3.375, 0.443, -6.607, 3.506, 2.088, -3.002, -0.051, 0.277],
    [-0.522, -0.536, 1.662, -0.108, 2.873, -5.586, 0.194, -0.856, 2.348, 1.391, 0.557, -0.479],
    [-0.504, -0.267, 2.588, -1.494, 0.117, -3.219, -4.923, 4.343, 2.053, 1.337, 0.008, 0.568],
    [0.181, -1.718, 5.526, 4.132, -4.353, -7.255, 13.838, -6.224, -4.318, 7.073, -0.682, 1.214],
    [0.076, -1.637, 5.054, 0.496, 1.609, -3.238, -1.668, -1.097, 2.229, -0.836, -0.263, 2.066],
    [-1.967, 1.996, 3.354, 0.216, 3.467, -0.212, -12.708, -2.073, 8.979, -4.017, 1.636, 0.310],
    [-4.230, 5.281, 2.696, 3.822, 2.898, 0.269, -17.004, -6.610, 12.071, -2.991, 3.878, -2.510],
])  # fmt: skip
#: The same of the power of what lies beyond it.
TAILS: Final[Array] = np.array([
    [-0.588, 1.266, -0.666, 0.361, -0.431, 0.662, 1.484, -0.376, -0.418, -0.346, -0.121, 0.511],
    [0.053, -0.346, 0.064, 0.418, -1.818, 0.726, 3.151, -0.913, -1.250, 1.352, -0.143, 0.042],
    [0.589, -1.996, 0.199, -2.435, 1.535, 2.331, -3.758, 3.055, 0.881, -2.277, -0.152, 0.375],
    [-0.164, -0.551, -0.312, -2.682, 2.341, 1.916, -4.898, 3.862, 1.392, -2.680, 0.217, 0.091],
    [-0.819, 0.943, -0.364, -0.145, 0.126, 0.176, -0.463, 1.112, -0.321, 0.330, 0.285, -0.254],
    [-0.676, 1.014, -0.326, 0.525, -0.318, -0.175, 0.629, -0.315, -0.351, 0.608, 0.105, -0.058],
    [-0.336, 0.571, -0.291, 0.058, 0.303, 0.039, -0.089, -0.665, 0.447, -0.332, -0.021, 0.206],
    [-0.178, 0.288, -0.201, -0.041, 0.462, 0.048, -0.367, -0.710, 0.631, -0.494, 0.026, 0.130],
    [-0.097, 0.093, -0.063, 0.102, 0.275, -0.103, -0.233, -0.641, 0.436, -0.175, 0.109, -0.065],
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
