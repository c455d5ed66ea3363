"""How far two metrics of a run go together: Spearman's rank correlation, of levels and of changes.

Source: C. Spearman, "The Proof and Measurement of Association between Two Things", American Journal of Psychology 15
(1904); G. U. Yule, "Why do we sometimes get nonsense-correlations between time-series?", Journal of the Royal
Statistical Society 89 (1926), for why two series that both drift correlate without having to do with each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assistant.analysis.ledger import Ledger
from assistant.analysis.series import series
from assistant.model import Fact, Run

#: Fewest common steps for which a correlation is told.
LEAST = 8


def ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Ranks from 1 on, shape (n,); equal values share the mean of their ranks."""
    y = np.asarray(values, dtype=np.float64)
    _, inverse, counts = np.unique(y, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts).astype(np.float64)
    middle: NDArray[np.float64] = ends - (counts - 1) / 2
    return middle[inverse]


def spearman(a: ArrayLike, b: ArrayLike) -> float | None:
    """Spearman's ρ of two sequences of equal length; ``None`` where either does not vary.

    Args:
        a: shape (n,), finite.
        b: shape (n,), finite.
    """
    ra, rb = ranks(a), ranks(b)
    ra, rb = ra - ra.mean(), rb - rb.mean()
    scale = float(np.sqrt((ra @ ra) * (rb @ rb)))
    return None if scale == 0 else float(ra @ rb) / scale


def correlation(
    ledger: Ledger, a: str, b: str, steps: set[int] | None = None, run: Run | None = None
) -> tuple[Fact | None, Fact | None, int]:
    """Spearman's ρ of two metrics over their common steps, and that of their changes from one common step to the next.

    Args:
        ledger: for the facts.
        a: key.
        b: key.
        steps: those to look at; ``None``: all.
        run: the first one by default.

    Returns:
        ρ of the levels, ρ of the changes (each ``None`` below eight points, or where a metric does not vary), and the
        number of common steps.
    """
    chosen = run or ledger.run
    if chosen is None:
        raise LookupError("this ledger has no run")
    one, other = series(chosen, a), series(chosen, b)
    common = np.intersect1d(one.steps, other.steps)
    if steps is not None:
        common = common[np.isin(common, np.fromiter(steps, dtype=np.int64))]
    if len(common) < LEAST:
        return None, None, len(common)
    x = one.values[np.isin(one.steps, common)]
    y = other.values[np.isin(other.steps, common)]
    span = f"step {int(common[0])} to {int(common[-1])}"
    facts: list[Fact | None] = []
    for name, u, v in (("levels", x, y), ("changes", np.diff(x), np.diff(y))):
        rho = spearman(u, v) if len(u) >= LEAST else None
        facts.append(
            None if rho is None else ledger.derived(
                f"spearman/{name}/{a}/{b}/{span}", rho, run=chosen, inputs=(),
                formula=f"Spearman's rho of {name} of {a} and {b}, {len(u)} points, {span}",
            )
        )  # fmt: skip
    return facts[0], facts[1], len(common)
