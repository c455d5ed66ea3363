"""How far two steps may differ by the luck of the batch alone, from what the log itself holds."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median

from assistant.model import Run

MIN_DIFFERENCES = 4
#: The nearest step-to-step differences only: scatter early in a run says little about its end.
LOCAL_DIFFERENCES = 16


def change_noise(
    run: Run, metric: str, first: int, second: int, *, prompts: int | None
) -> tuple[float | None, str | None]:
    """Standard error of the difference of one metric between two steps.

    Three sources, the first that applies:

    * ``residual``: with at least four other step-to-step differences, the robust standard deviation of the
      nearest sixteen (1.4826 × median absolute deviation from the median difference).
    * ``bound``: the metric is a batch mean with its minimum and maximum beside it; a variable within
      [m, M] with mean μ has variance at most (M − μ)(μ − m) (Bhatia–Davis), and the batch holds ``prompts``
      independent draws. An upper bound: the true error is smaller.
    * ``fraction_bound``: the metric is a share of trajectories; variance at most p(1 − p) a prompt.

    Args:
        run: the run.
        metric: key.
        first: step before.
        second: step after.
        prompts: independent prompts in a batch, where it could be derived.

    Returns:
        ``(standard error in the metric's unit, basis)``; ``(None, None)`` where the log cannot tell.
    """
    steps, values = run.series(metric)
    middle = (first + second) / 2
    near = [
        (abs((s + t) / 2 - middle), after - before)
        for (s, before), (t, after) in pairwise(zip(steps, values, strict=True))
        if math.isfinite(before) and math.isfinite(after) and not (s == first and t == second)
    ]
    differences = [difference for _, difference in sorted(near)[:LOCAL_DIFFERENCES]]
    if len(differences) >= MIN_DIFFERENCES:
        centre = median(differences)
        spread = 1.4826 * median(abs(d - centre) for d in differences)
        if spread > 0:
            return spread, "residual"
    if not prompts:
        return None, None
    parts = [_mean_variance_bound(run, metric, step) for step in (first, second)]
    if all(part is not None for part in parts):
        return math.sqrt(sum(part for part in parts if part is not None) / prompts), "bound"
    if metric.endswith(("clip_ratio", "aborted_ratio")):
        shares = [run.value(metric, step) for step in (first, second)]
        if all(share is not None and 0 <= share <= 1 for share in shares):
            total = sum(share * (1 - share) for share in shares if share is not None)
            if total > 0:
                return math.sqrt(total / prompts), "fraction_bound"
    return None, None


def _mean_variance_bound(run: Run, metric: str, step: int) -> float | None:
    if not metric.endswith("/mean") or "advantages" in metric or "returns" in metric:
        return None
    stem = metric[: -len("mean")]
    mean, low, high = (run.value(stem + part, step) for part in ("mean", "min", "max"))
    if mean is None or low is None or high is None or not low <= mean <= high:
        return None
    return (high - mean) * (mean - low)
