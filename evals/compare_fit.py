"""Draws of comparisons by the thousand, and the fit of their factors (``evals.compare_widths --fit averaged, unlike``).

Of AR(1) noise of known ρ, the product's own functions tell the mixture of each pair of sides; what the interval of 95 %
misses, and how often p falls below a twentieth of that, then hangs on two factors alone. Both tables of
``assistant/analysis/compare_factors.py`` are found over all sides and ρ at once by Levenberg's and Marquardt's steps:
a share of misses changes with a factor as fast as draws lie near the bound, which a kernel tells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, stdtr

from assistant.analysis.compare_averaged import Mixture, average, mixed
from assistant.analysis.compare_factors import FACTORS, KNOTS, LIKE, MOST_UNLIKE_SHORT, factor_logs, tail_logs
from evals.trend_calibration import noise

Array = NDArray[np.float64]
RHOS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
#: p-values whose half-widths are found: of one look, and of one look in twenty after the correction.
SHARE, FAR = 0.05, 0.0025
FAMILY = 20
CHUNK = 2000
#: Sides of which the factors are fitted: points a side and of the log.
FITTED = {
    "ends": (
        (1, 1, 10), (1, 1, 12), (1, 1, 16), (1, 1, 20), (1, 1, 30), (1, 1, 40), (1, 1, 60), (1, 1, 100), (1, 1, 200),
        (2, 2, 12), (2, 2, 20), (2, 2, 40), (2, 2, 100), (3, 3, 10),
        (3, 3, 14), (3, 3, 20), (3, 3, 30), (3, 3, 40), (3, 3, 60), (3, 3, 100), (5, 5, 12), (5, 5, 20), (5, 5, 30),
        (5, 5, 40), (5, 5, 60), (5, 5, 100), (7, 7, 20), (10, 10, 24), (10, 10, 30), (10, 10, 40), (10, 10, 60),
        (10, 10, 100), (20, 20, 50), (20, 20, 60), (20, 20, 80), (20, 20, 200), (40, 40, 200), (60, 60, 160),
        (100, 100, 300), (160, 160, 400), (300, 300, 1000), (1, 5, 40), (1, 10, 40), (1, 30, 100), (3, 10, 40),
        (3, 30, 100), (5, 10, 30), (5, 50, 100), (10, 20, 40), (10, 50, 100),
    ),
    "next": (
        # Single steps: so far apart that too few other differences over their gap tell their noise.
        (1, 1, 12, 4), (1, 1, 16, 5), (1, 1, 20, 6), (1, 1, 20, 10), (1, 1, 30, 9), (1, 1, 30, 16), (1, 1, 40, 12),
        (1, 1, 40, 20), (1, 1, 40, 30), (1, 1, 60, 18), (1, 1, 60, 40), (1, 1, 100, 29), (1, 1, 100, 60),
        (1, 1, 200, 60),
        (1, 3, 40), (2, 2, 20), (3, 3, 10), (3, 3, 20), (3, 3, 25), (3, 3, 30), (3, 3, 40), (3, 3, 100), (4, 4, 30),
        (5, 5, 10), (5, 5, 20), (5, 5, 40), (5, 5, 100), (5, 20, 40), (7, 7, 50), (10, 10, 20), (10, 10, 30),
        (10, 10, 60), (10, 10, 100), (10, 40, 80), (15, 15, 30), (15, 15, 100), (20, 20, 40), (20, 20, 100),
        (30, 30, 60), (40, 40, 80), (100, 100, 200),
    ),
    "runs": (
        (1, 1, 12), (1, 1, 20), (1, 1, 40), (1, 1, 100), (2, 2, 12), (3, 3, 12), (3, 3, 40), (4, 4, 16), (5, 5, 20),
        (5, 5, 40), (6, 6, 12), (7, 7, 28),
        (8, 8, 20), (10, 10, 20), (10, 10, 30), (10, 10, 40), (15, 15, 30), (20, 20, 40), (20, 20, 80), (50, 50, 200),
        (100, 100, 400),
    ),
}  # fmt: skip
#: What the search wants: the share that is held, and that of p < :data:`FAR`, which may rather be less than more.
HELD, PASSED = 0.951, 0.0014
#: By how much a share may be off at the cost of one; what a table costs: how bent it is over the knots, how large its
#: entries are, how far its factors are from one (where false calls are rare, the power need not be small).
OFF, OFF_FAR, LESS = 0.01, 0.0004, 0.25
#: In units of what the share held may be off: from here on an error grows with its third power.
WORSE = 1.0
BENT, LARGE = (4.0, 0.01, 0.0), (1.0, 0.01, 1.0)
BENT_UNLIKE = (1.0, 0.05, 0.0)
#: Pairs of unlike length that are drawn for the fit (seed, short sides or not, how many), and those that are measured.
UNLIKE_FITTED = (
    (11, False, 90), (12, False, 60), (13, False, 60), (14, True, 45), (15, False, 50), (16, True, 20), (17, False, 45),
    (18, True, 15), (19, False, 45), (20, True, 15),
)  # fmt: skip
UNLIKE_MEASURED = ((21, False, 45), (22, True, 15))
#: Half-widths of the kernels that tell how fast a share changes, in logarithms; steps of the search.
KERNEL, KERNEL_FAR, STEPS = 0.12, 0.3, 60


@dataclass(frozen=True, slots=True)
class Cell:
    """Two sides that are compared.

    Attributes:
        kind: first and last points of one series (``ends``), neighbouring windows in its middle (``next``), the last
            points of two (``runs``).
        n: points of the first side.
        m: points of the second.
        length: of a series.
        gap: points between neighbouring windows.
    """

    kind: Literal["ends", "next", "runs"]
    n: int
    m: int
    length: int
    gap: int = 0

    @property
    def windows(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """(start, stop) of each side."""
        if self.kind == "next":
            start = (self.length - self.n - self.gap - self.m) // 2
            then = start + self.n + self.gap
            return (start, start + self.n), (then, then + self.m)
        last = self.length - self.m, self.length
        return ((self.length - self.n, self.length) if self.kind == "runs" else (0, self.n)), last

    def __str__(self) -> str:
        sides = f"{self.n}" if self.n == self.m else f"{self.n} and {self.m}"
        names = {"ends": "windows of {}", "next": "neighbouring windows of {}", "runs": "last {} of two runs"}
        return names[self.kind].format(sides)


@dataclass(frozen=True, slots=True)
class Draws:
    """What of each draw the factors decide on.

    Attributes:
        size: log of the difference over the half-width that the mixture gives, shape (repeats,).
        reach: log of the half-width at :data:`FAR` over that.
        rho: mean correlation.
        sides: what the factors hang on, shape (features,).
    """

    size: Array
    reach: Array
    rho: Array
    sides: Array

    def over(self, factors: Array | None = None) -> Array:
        """Log of each difference over its half-width, with the table in use or another."""
        return self.size - np.interp(self.rho, KNOTS, factor_logs(self.sides, factors))

    def beyond(self, factors: Array | None = None, tails: Array | None = None) -> Array:
        """Log of how far each lies beyond its half-width over how far it must for p < :data:`FAR`."""
        return self.plain(factors) + np.interp(self.rho, KNOTS, tail_logs(self.sides, tails))

    def plain(self, factors: Array | None = None) -> Array:
        """As :meth:`beyond`, without the power."""
        return np.log(np.maximum(self.over(factors), 1e-300) / self.reach)

    def held(self) -> float:
        """Share of intervals that hold the truth."""
        return float((self.over() <= 0).mean())

    def far(self) -> float:
        """Share of p-values below :data:`FAR`."""
        return float((self.beyond() > 0).mean())

    def families(self) -> float:
        """Share of families of twenty metrics in which one is significant after Holm's correction."""
        some = self.beyond()[: len(self.size) // FAMILY * FAMILY].reshape(-1, FAMILY)
        return float((some.max(axis=1) > 0).mean())


def draw(cell: Cell, rho: float, repeats: int, seed: int) -> Draws:
    """Differences of nothing, in AR(1) noise of a correlation."""
    rng = np.random.default_rng([seed, cell.n, cell.m, cell.length, int(100 * rho), len(cell.kind)])
    parts = []
    for start in range(0, repeats, CHUNK):
        count = min(CHUNK, repeats - start)
        x = noise(rng, count, cell.length, rho)
        y = noise(rng, count, cell.length, rho) if cell.kind == "runs" else x
        first, second = cell.windows
        same = cell.kind != "runs"
        a = average(x, first, (0, second[0]) if same else None)
        b = average(y, second, (first[1], cell.length) if same else None)
        assert a is not None
        assert b is not None
        found = mixed(a, b, same=same)
        assert found is not None
        delta = np.abs(y[:, slice(*second)].mean(axis=1) - x[:, slice(*first)].mean(axis=1))
        half = quantile(found, SHARE)
        reach = np.log(quantile(found, FAR) / half)
        parts.append((np.log(np.maximum(delta, 1e-300) / half), reach, found.rho))
    size, reach, means = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Draws(size, reach, means, found.sides)


def quantile(found: Mixture, share: float) -> Array:
    """The size that each mixture passes with a probability, shape (repeats,); by Newton's steps in logarithms."""
    errors, freedom = np.sqrt(found.variance), found.freedom
    constant = gammaln((freedom + 1) / 2) - gammaln(freedom / 2) - np.log(freedom * np.pi) / 2
    size = 2 * np.sqrt((found.weights * found.variance).sum(axis=-1))
    for _ in range(12):
        t = size[:, None] / errors
        tail = (found.weights * 2 * stdtr(freedom, -t)).sum(axis=-1)
        density = np.exp(constant - (freedom + 1) / 2 * np.log1p(t * t / freedom)) / errors
        slope = -2 * (found.weights * density).sum(axis=-1) * size / tail
        step = np.log(tail / share) / slope
        size = size * np.exp(np.clip(-step, -0.7, 0.7))
        if float(np.abs(step).max()) < 1e-6:
            break
    return size


def unlike(seed: int, count: int, *, short: bool) -> list[Cell]:
    """Pairs of unlike length at random: each up to 160 points, logs of 10 to 600.

    Args:
        seed: of the draw.
        count: how many; those too short to tell a scatter are among them and are left out where they are drawn.
        short: whether one side has two points at most.
    """
    rng = np.random.default_rng(seed)
    # Pairs that are not averaged are drawn all the same, so that a seed gives the same pairs, and left out later.
    sizes = [1, 1, 2] if short else [1, 2, 3, 5, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80]
    ratios = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40, 60] if short else [1.3, 1.5, 2, 2, 3, 3, 4, 5, 8, 12, 20]
    assert max(ratios) <= MOST_UNLIKE_SHORT
    cells: list[Cell] = []
    while len(cells) < count:
        kind = str(rng.choice(["ends", "ends", "next", "runs"]))
        n = int(rng.choice(sizes))
        m = round(n * rng.choice(ratios))
        if m == n or m > 160:
            continue
        if rng.random() < 0.3:
            n, m = m, n
        length = int(max(n, m) * rng.choice([1, 1.5, 2, 4]) if kind == "runs" else (n + m) * rng.choice([1, 1.3, 2, 4]))
        if 10 <= length <= 600:
            cells.append(Cell("ends" if kind == "next" and length == n + m else kind, n, m, length))  # type: ignore[arg-type]
    return cells


def drawn_unlike(groups: Sequence[tuple[int, bool, int]], repeats: int) -> list[tuple[Cell, float, Draws]]:
    """Draws of pairs of unlike length at every ρ; pairs whose scatter nothing tells are left out."""
    found = []
    for seed, short, count in groups:
        for cell in unlike(seed, count, short=short):
            try:
                found += [(cell, rho, draw(cell, rho, repeats, seed)) for rho in RHOS]
            except AssertionError:
                continue
    return found


def fit_tables(draws: Sequence[Draws]) -> tuple[Array, Array]:
    """Log factors and log powers of sides of one length at :data:`KNOTS` by features, each of shape (9, 12)."""
    draws = [replace(some, sides=some.sides[: LIKE.shape[1]]) for some in draws]
    unit = np.zeros((len(KNOTS), len(draws[0].sides)))
    places = [hats(some.rho) for some in draws]
    sides = np.unique([some.sides for some in draws], axis=0)[:, None, :]

    def misses(table: Array) -> tuple[Array, Array]:
        logs = [-some.over(table) for some in draws]
        return _errors(draws, places, table, logs, (HELD, OFF, OFF, KERNEL))

    factors = least(misses, unit, sides, BENT)
    begin = [some.plain(factors) for some in draws]

    def passes(table: Array) -> tuple[Array, Array]:
        powers = [np.interp(some.rho, KNOTS, tail_logs(some.sides, table)) for some in draws]
        logs = [lies + power for lies, power in zip(begin, powers, strict=True)]
        return _errors(draws, places, table, logs, (PASSED, OFF_FAR, OFF_FAR / LESS, KERNEL_FAR))

    return factors, least(passes, unit, sides, LARGE)


def fit_added(draws: Sequence[Draws]) -> Array:
    """What is added for sides of unlike length, at :data:`KNOTS` by the features of these, shape (9, 26)."""
    places, own = [hats(some.rho) for some in draws], LIKE.shape[1]
    sides = np.unique([some.sides[own:] for some in draws], axis=0)[:, None, :]

    def misses(added: Array) -> tuple[Array, Array]:
        table = np.hstack([LIKE, added])
        logs = [-some.over(table) for some in draws]
        errors, slopes = _errors(draws, places, table, logs, (HELD, OFF, OFF, KERNEL))
        return errors, slopes.reshape(len(errors), *table.shape)[:, :, own:].reshape(len(errors), -1)

    return least(misses, np.zeros((len(KNOTS), FACTORS.shape[1] - own)), sides, BENT_UNLIKE)


def hats(rho: Array, at_knots: Sequence[float] = KNOTS) -> tuple[NDArray[np.intp], Array]:
    """The knot below each mean correlation, and how much of the next one counts."""
    knots = np.array(at_knots)
    at = np.clip(np.searchsorted(knots, rho) - 1, 0, len(knots) - 2)
    return at, np.clip((rho - knots[at]) / (knots[at + 1] - knots[at]), 0, 1)


def _errors(
    draws: Sequence[Draws], places: Sequence[tuple[NDArray[np.intp], Array]], table: Array, logs: Sequence[Array],
    wanted: tuple[float, float, float, float],
) -> tuple[Array, Array]:  # fmt: skip
    """By how much the share of positive logs is off for each draw, and how that changes with the table.

    Args:
        draws: for each ρ and pair of sides.
        places: knots of each.
        table: by knots and features.
        logs: grow as the table does.
        wanted: share, what it may be off above and below, half-width of the kernel.
    """
    share, above, below, kernel = wanted
    errors, slopes = [], []
    for some, (at, part), log in zip(draws, places, logs, strict=True):
        found = float((log >= 0).mean()) - share
        off = above if found > 0 else below
        worse = (found / off / WORSE) ** 2 if kernel == KERNEL else 0.0
        near = (np.abs(log) < kernel) / (2 * kernel * len(log))
        knots = np.bincount(at, near * (1 - part), len(KNOTS)) + np.bincount(at + 1, near * part, len(KNOTS))
        clipped = factor_logs(some.sides, table) if kernel == KERNEL else tail_logs(some.sides, table)
        past = table @ some.sides - clipped
        knots *= past * found >= 0  # a bound moves only where the table is led back to it
        errors.append(found / off * (1 + worse))
        slopes.append(np.outer(knots, some.sides).ravel() / off * (1 + 3 * worse))
    return np.array(errors), np.array(slopes)


def least(
    found: Callable[[Array], tuple[Array, Array]], begin: Array, sides: Array, costs: tuple[float, float, float]
) -> Array:
    """The table whose errors and costs have the least sum of squares (Marquardt 1963)."""
    bends = np.diff(np.eye(len(begin)), 2, axis=0) * np.sqrt(costs[0])
    away = np.eye(len(begin)) * np.sqrt(costs[2])
    rows = [np.kron(cost, one) for one in sides for cost in (bends, away)]
    extra = np.vstack([*rows, np.eye(begin.size) * np.sqrt(costs[1])])
    best, least, damping, table = begin, np.inf, 1.0, begin
    errors = slopes = np.zeros(0)
    for _ in range(STEPS):
        these, along = found(table)
        these = np.concatenate([these, extra @ table.ravel()])
        loss = float(these @ these)
        if loss < least:
            best, least, damping = table, loss, max(damping / 2, 1e-3)
            errors, slopes = these, np.vstack([along, extra])
        else:
            damping *= 4
        step = np.linalg.solve(slopes.T @ slopes + damping * np.eye(begin.size), -slopes.T @ errors)
        table = best + step.reshape(begin.shape)
    return best


def fit_averaged(repeats: int) -> None:
    """Prints the tables of ``assistant/analysis/compare_factors.py`` for sides of one length."""
    cells = [Cell(kind, *sides) for kind, found in FITTED.items() for sides in found]  # type: ignore[arg-type]
    tables = fit_tables([draw(cell, rho, repeats, 31) for cell in cells for rho in RHOS])
    for name, table in zip(("LIKE", "LIKE_TAILS"), tables, strict=True):
        _print(name, table)


def fit_unlike(repeats: int) -> None:
    """Prints the tables of ``assistant/analysis/compare_factors.py`` for sides of unlike length."""
    added = fit_added([some for _, _, some in drawn_unlike(UNLIKE_FITTED, repeats)])
    for name, table in zip(("UNLIKE", "UNLIKE_SHORT"), np.hsplit(added, 2), strict=True):
        _print(name, table)


def _print(name: str, table: Array) -> None:
    print(f"{name}: Final[Array] = np.array([")
    for row in table:
        print("    [" + ", ".join(f"{value:.3f}" for value in row) + "],")
    print("])")
