"""How far two steps may differ by the luck of the batch alone, from what the log itself holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median, stdev

from assistant.model import Number, Run

MIN_DIFFERENCES = 4
#: The nearest step-to-step differences only: scatter early in a run says little about its end.
LOCAL_DIFFERENCES = 16


def change_noise(
    run: Run, metric: str, first: int, second: int, *, prompts: int | None
) -> tuple[float | None, str | None]:
    """Standard error of the difference of one metric between two steps.

    An estimate where there is one, else the smallest of the upper bounds that apply:

    * ``residual``: with enough other differences over the same gap, the robust standard deviation of the nearest
      sixteen (1.4826 × median absolute deviation), widened for their number.
    * ``walk_bound``: the same from one-step differences, times √gap: an upper bound.
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
    points = [(s, v) for s, v in zip(steps, values, strict=True) if math.isfinite(v)]
    residual = _residual_noise(points, first, second)
    if residual is not None and residual[1] == "residual":
        return residual
    bounds = [residual] if residual is not None else []
    if prompts:
        sampled = _sampling_bound(run, metric, first, second, prompts)
        bounds += [sampled] if sampled is not None else []
    return min(bounds) if bounds else (None, None)


def _sampling_bound(run: Run, metric: str, first: int, second: int, prompts: int) -> tuple[float, str] | None:
    """What drawing other prompts can do at most to a batch mean with its extremes beside it, or to a share."""
    parts = [_mean_variance_bound(run, metric, step) for step in (first, second)]
    if all(part is not None for part in parts):
        return math.sqrt(sum(part for part in parts if part is not None) / prompts), "bound"
    if metric.endswith(("clip_ratio", "aborted_ratio")):
        shares = [run.value(metric, step) for step in (first, second)]
        if all(share is not None and 0 <= share <= 1 for share in shares):
            total = sum(share * (1 - share) for share in shares if share is not None)
            if total > 0:
                return math.sqrt(total / prompts), "fraction_bound"
    return None


def sampling_variance(run: Run, metric: str, step: int, prompts: int) -> tuple[float, str] | None:
    """Largest variance that drawing ``prompts`` other prompts can give one step's value, and its basis.

    ``bound``: a batch mean with its minimum and maximum beside it (Bhatia–Davis); ``fraction_bound``: a share of
    trajectories, p(1 − p). Both count prompts, not trajectories: answers to one prompt resemble each other.
    """
    spread = _mean_variance_bound(run, metric, step)
    if spread is not None:
        return spread / prompts, "bound"
    share = run.value(metric, step)
    if metric.endswith(("clip_ratio", "aborted_ratio")) and share is not None and 0 < share < 1:
        return share * (1 - share) / prompts, "fraction_bound"
    return None


def same_gap_noise(values: Sequence[Number], first: int, second: int) -> tuple[float, float] | None:
    """Standard error of ``values[second] − values[first]`` from the other differences over the same gap nearby.

    Such differences carry whatever correlation the series has, so that none has to be assumed.

    Args:
        values: finite, in the order of steps.
        first: place of the earlier value.
        second: place of the later one.

    Returns:
        The standard deviation of the nearest 32 differences around their mean, and its degrees of freedom: as many
        as a random walk leaves, whose overlapping differences share most (their squared correlations add up to
        2·gap/3; Satterthwaite 1946), or independent values (1.5), whichever is less. ``None`` below four.
    """
    gap = second - first
    middle = (first + second) / 2
    places = sorted((i for i in range(len(values) - gap) if i != first), key=lambda i: abs(i + gap / 2 - middle))
    differences = [float(values[i + gap]) - float(values[i]) for i in places[: 2 * LOCAL_DIFFERENCES * gap]]
    freedom = (len(differences) - 1) / max(1.5, 2 * gap / 3 + 1 / (3 * gap))
    if gap < 1 or freedom < MIN_DIFFERENCES:
        return None
    spread = stdev(differences)
    return (spread, freedom) if spread > 0 else None


def _residual_noise(points: list[tuple[int, Number]], first: int, second: int) -> tuple[float, str] | None:
    """Noise from the differences of other pairs that lie as far apart, near the pair in question.

    Differences over the same gap carry whatever correlation the series has, and their median a steady trend. Where
    there are too few of them, one-step differences are widened by √gap, as in a random walk: an upper bound.
    """
    order = [step for step, _ in points]
    if first not in order or second not in order:
        return None
    gap = order.index(second) - order.index(first)
    if gap <= 0:
        return None
    middle = (order.index(first) + order.index(second)) / 2

    def spread(lag: int) -> float | None:
        near = sorted(
            (abs(i + lag / 2 - middle), float(points[i + lag][1]) - float(points[i][1]))
            for i in range(len(points) - lag)
            if (points[i][0], points[i + lag][0]) != (first, second)
        )[:LOCAL_DIFFERENCES]
        differences = [difference for _, difference in near]
        independent = len(differences) / lag
        if len(differences) < MIN_DIFFERENCES or independent < MIN_DIFFERENCES:
            return None
        centre = median(differences)
        scatter = 1.4826 * median(abs(d - centre) for d in differences)
        return scatter * _allowance(independent) if scatter > 0 else None

    own = spread(gap)
    if own is not None:
        return own, "residual"
    single = spread(1)
    return None if single is None else (single * math.sqrt(gap), "walk_bound")


def _allowance(independent: float) -> float:
    """Factor that makes 1.96 × the estimate hold 95 % although it rests on few differences.

    Student's quantile over the normal one, at half as many degrees of freedom as differences: successive
    differences share a value and the median absolute deviation uses little more than half of what they tell.
    """
    degrees = max(1.0, independent / 2)
    quantile = 1.96 + 2.4 / degrees + 4.2 / degrees**2 + 4.1 / degrees**3  # within 4 % of t(0.975) from 1 on
    return quantile / 1.96


def _mean_variance_bound(run: Run, metric: str, step: int) -> float | None:
    if not metric.endswith("/mean") or "advantages" in metric or "returns" in metric:
        return None
    stem = metric[: -len("mean")]
    mean, low, high = (run.value(stem + part, step) for part in ("mean", "min", "max"))
    if mean is None or low is None or high is None or not low <= mean <= high:
        return None
    return (high - mean) * (mean - low)
