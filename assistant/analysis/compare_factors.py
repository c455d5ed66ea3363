"""By how much the averaged interval of a comparison must be wider or narrower to hold 95 %, from simulation.

``python -m evals.compare_widths --fit averaged`` draws AR(1) noise of every ρ from 0 to 0.9 in windows of 1 to 300
points of logs of 10 to 1000 and in the last points of two runs, and finds the two tables below by least squares, over
all of them at once: a factor of the half-width with which as near to 5 % of each are missed as can be, and a power of
what lies beyond that half-width with which p falls below a twentieth of that (the bound of one of twenty metrics after
Holm's correction) no more often than it says. Both are functions of the mean correlation, linear in their logarithms
between :data:`KNOTS`, and there of :func:`features` of the sides.

Sides of unlike length need more: ``--fit unlike`` draws 445 pairs of them at random and finds what is added for these,
in two tables, one of them for a single step or two against a window. For sides of one length nothing is added.
"""

from __future__ import annotations

import math
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
#: Logarithms of the factor of the half-width, at KNOTS (rows) by features (columns), of sides of one length.
LIKE: Final[Array] = np.array([
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
LIKE_TAILS: Final[Array] = np.array([
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

#: What is added for sides of unlike length, by the features of those.
UNLIKE: Final[Array] = np.array([
    [0.406, -0.627, -0.196, 0.312, -0.064, -0.122, 0.382, -0.521, 0.608, 1.613, -1.429, 0.731, -1.762],
    [-0.797, 0.620, 4.574, -1.409, -0.004, 0.171, 0.090, -0.220, -8.474, -1.112, 0.028, -0.411, 5.486],
    [-0.299, 1.346, 1.875, -1.372, 0.051, 0.072, -0.328, -0.689, -3.007, 0.352, -1.653, 2.840, 0.579],
    [2.140, -4.783, -7.634, 0.135, -0.171, -0.566, 0.914, 1.831, 10.238, -0.067, 3.489, -1.885, 1.509],
    [-0.725, -2.874, 5.871, 0.389, 0.184, 0.233, 0.436, -1.072, -8.086, 2.086, 4.661, -2.840, 1.829],
    [0.458, -0.388, -1.223, -0.896, -0.463, -0.067, -0.122, 0.107, 0.860, -4.257, 5.628, -0.747, 1.968],
    [0.193, -0.589, -7.551, 2.697, 0.588, 0.087, -1.347, 1.269, 11.919, 8.724, 3.910, 0.240, -11.811],
    [-1.236, -0.602, 7.618, -0.757, 0.297, 0.352, -0.251, -0.572, -5.990, -7.166, 6.913, -4.610, 10.628],
    [-3.167, 5.140, 5.528, 1.553, 0.468, 0.739, -1.696, 3.319, 7.121, -19.812, 7.385, -6.527, -0.608],
])  # fmt: skip
#: The same where one side has two points at most.
UNLIKE_SHORT: Final[Array] = np.array([
    [1.211, -2.932, -0.615, 1.473, 0.237, -0.507, 1.050, -1.168, -0.362, -0.864, 1.481, -2.051, 1.176],
    [-0.461, 0.289, 0.379, 0.405, -0.261, 0.227, -0.001, -0.921, 0.539, -0.132, 0.387, -1.025, -2.344],
    [-0.100, -0.635, 8.219, -0.840, 0.252, -0.015, 0.049, -0.938, -0.504, -6.645, 0.312, 1.009, 2.300],
    [-0.754, 0.379, 4.341, 0.692, 0.048, 0.285, -0.069, -2.663, -0.273, -3.418, 0.548, -0.466, 2.146],
    [1.261, -1.069, -8.079, 1.384, -0.293, -0.328, 0.068, 2.276, 1.883, 5.576, 0.685, -2.706, -0.674],
    [-0.168, 0.912, -1.935, 0.596, 0.351, -0.356, 0.877, -1.089, 0.971, 3.408, -0.991, -1.327, -5.546],
    [-0.674, 1.370, -0.130, 0.857, 0.920, -0.463, 1.389, -0.732, -0.170, -0.602, -1.611, -1.597, -0.655],
    [-0.399, 0.690, -0.198, 0.913, 1.310, -0.686, 2.020, -0.122, -0.123, -0.632, -2.144, -1.312, 0.007],
    [-0.266, 0.081, 0.064, 0.764, 1.672, -0.808, 2.588, 0.272, -0.002, -0.137, -2.730, -0.761, -0.020],
])  # fmt: skip
#: By all features.
FACTORS: Final[Array] = np.hstack([LIKE, UNLIKE, UNLIKE_SHORT])
TAILS: Final[Array] = np.hstack([LIKE_TAILS, np.zeros((len(KNOTS), UNLIKE.shape[1] + UNLIKE_SHORT.shape[1]))])
#: Points of a side that make it short, and the largest ratios of lengths that were drawn.
SHORT: Final = 2
MOST_UNLIKE: Final = 20.0
MOST_UNLIKE_SHORT: Final = 60.0


def features(pair: tuple[float, float], told: int, near: float, apart: float) -> Array:
    """What of two sides the factors hang on, shape (38,): of those of one length the last 26 are zero.

    Args:
        pair: points of each side.
        told: points that tell the correlation.
        near: correlation of the two means where that of neighbours is 0.9; 0 for two runs.
        apart: how much of what tells the correlation is a stretch of its own, 0 to 1.
    """
    points = 2 / (1 / pair[0] + 1 / pair[1])
    few, share = 20 / max(told, LEAST_TOLD), points / max(told, LEAST_TOLD)
    like = [1, few, few**2, share, near, near * few, near * share, share**2, few * share, near**2, apart, apart * few]
    short = min(pair) <= SHORT
    ratio = min(max(pair) / min(pair), MOST_UNLIKE_SHORT if short else MOST_UNLIKE)
    wide = math.log(ratio)
    ways = [1, few, share, near, apart, wide, wide * few, wide * share, share**2, few * share, few**2]
    unlike = wide * np.array([*ways, near * few, near * share])
    nothing = np.zeros(len(unlike))
    return np.concatenate([like, nothing, unlike] if short else [like, unlike, nothing])


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
