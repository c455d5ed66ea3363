"""How far two steps may differ by the luck of the batch alone, from what the log itself holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median, stdev

import numpy as np

from assistant.analysis.compare_averaged import Averaged, difference
from assistant.analysis.compare_noise import STRONG, Noise, plausible, t_quantile
from assistant.analysis.series import Series, Values, series
from assistant.model import Number, Run

MIN_DIFFERENCES = 4
#: The nearest step-to-step differences only: scatter early in a run says little about its end.
LOCAL_DIFFERENCES = 16
#: Points around two steps from which differences over the same gap are taken.
NEIGHBOURHOOD = 120
#: Values from which their range says how far a bound from the batch may reach.
LEAST_RANGE = 10
#: Values before a break and from it on, and the share of the latter that lie beyond the range before.
LEAST_BEFORE_BREAK, LEAST_BROKEN, MOSTLY_BROKEN = 6, 3, 0.9
#: Basis of a change whose noise is bounded, but more widely than the metric ever moved: nothing is told by it.
TOO_WIDE = "too_wide"


def change_noise(
    run: Run, metric: str, first: int, second: int, *, prompts: int | None
) -> tuple[float | None, str | None]:
    """Standard error of the difference of one metric between two steps, such that 1.96 of it are half of an interval
    of 95 %, or (``residual`` and the bounds) of at least that: the same that :mod:`assistant.analysis.compare` tells.

    The first of these that the log allows:

    * ``residual``: from the other differences over the same gap nearby (:func:`same_gap_noise`; of four to six of
      them, their robust standard deviation, widened for their number).
    * ``autocorrelated``: from the scatter around each step, averaged over what the correlation of neighbours may be
      (:mod:`assistant.analysis.compare_averaged`); where it may be so strong that a random walk is not excluded, at
      least what one with the log's one-step differences does (``compare`` says that it leaves it out).
    * ``bound``, also where the scatter is wider than the range: the metric is a batch mean with its minimum and
      maximum beside it; a variable within [m, M] with mean μ has variance at most (M − μ)(μ − m) (Bhatia–Davis), and
      the batch holds ``prompts`` independent draws. An upper bound: the true error is smaller.
    * ``fraction_bound``: the metric is a share of trajectories; variance at most p(1 − p) a prompt.

    Args:
        run: the run.
        metric: key.
        first: step before.
        second: step after.
        prompts: independent prompts in a batch, where it could be derived.

    Returns:
        ``(standard error in the metric's unit, basis)``; ``(None, "too_wide")`` where the interval is wider than the
        range that the metric had in the whole run; ``(None, None)`` where the log cannot tell.
    """
    points = series(run, metric)
    found = _scatter_noise(points, first, second)
    wide = found is not None and too_wide(1.96 * found[0], points.values)
    if (found is None or wide) and prompts:
        drawn = _sampling_bound(run, metric, first, second, prompts)
        if drawn is not None and not (too_wide(1.96 * drawn[0], points.values) and len(points) >= LEAST_RANGE):
            return drawn
        wide = wide or drawn is not None
    if wide:
        return None, TOO_WIDE
    return (None, None) if found is None else found


def too_wide(half: float, *values: Values) -> bool:
    """Whether half an interval is wider than the range that a metric had wherever it was seen."""
    low, high = min(float(part.min()) for part in values), max(float(part.max()) for part in values)
    return half > high - low > 0


def step_noise(points: Series, first: int, second: int) -> tuple[Noise | Averaged, str] | None:
    """Noise of the difference between two places of a series, and its basis; ``None`` where the scatter tells none.

    Args:
        points: the series.
        first: the earlier place.
        second: the later one.
    """
    return pair_noise(points.values, first, second)


def pair_noise(values: Values, first: int, second: int) -> tuple[Noise | Averaged, str] | None:
    """As :func:`step_noise`, of values in the order of steps."""
    end = break_after(values, first, second)
    if end is not None:
        calm = same_gap_noise(values[max(0, first - NEIGHBOURHOOD) : end].tolist(), *_shifted(first, second))
        if calm is not None:
            return Noise(*calm), "residual"
    shift = max(0, first - NEIGHBOURHOOD)
    around = values[shift : second + 1 + NEIGHBOURHOOD]
    direct = same_gap_noise(around.tolist(), first - shift, second - shift)
    if direct is not None:
        return Noise(*direct), "residual"
    found = difference((values, values), ((first, first + 1), (second, second + 1)), same=True)
    return None if found is None else (found, "autocorrelated")


def _shifted(first: int, second: int) -> tuple[int, int]:
    shift = max(0, first - NEIGHBOURHOOD)
    return first - shift, second - shift


def break_after(values: Values, first: int, second: int) -> int | None:
    """The place up to which values tell the noise of a step before a break: a collapse or an explosion that follows
    says nothing of it.

    Returns:
        The end (excluded) of the values before the break, or just after ``second`` where the break is that value;
        ``None`` without one. A break leaves the range of the values up to ``first`` by more than that range, and at
        most a tenth of those from it on, three or more of them, lie elsewhere.
    """
    if first + 1 < LEAST_BEFORE_BREAK:
        return None
    low, high = float(values[: first + 1].min()), float(values[: first + 1].max())
    out = (values > high + (high - low)) | (values < low - (high - low))
    beyond = np.flatnonzero(out[second:])
    if not len(beyond):
        return None
    at = second + int(beyond[0])
    rest = out[at:]
    return max(at, second + 1) if len(rest) >= LEAST_BROKEN and rest.mean() >= MOSTLY_BROKEN else None


def _scatter_noise(points: Series, first: int, second: int) -> tuple[float, str] | None:
    places = np.searchsorted(points.steps, (first, second))
    held = [int(at) for at in places if at < len(points)]
    if len(held) < 2 or [int(points.steps[at]) for at in held] != [first, second] or held[0] >= held[1]:
        return None
    found = step_noise(points, *held)
    if found is None:
        few = _few_differences(points, *held)
        return None if few is None else (few, "residual")
    noise, basis = found[0].half_width() / 1.96, found[1]
    strongest = max(plausible(points.values, at, at + 1) for at in held) if basis == "autocorrelated" else 0.0
    if strongest >= STRONG:  # a random walk is not excluded
        noise = max(noise, _walk_noise(points, *held) or 0.0)
    return noise, basis


def _few_differences(points: Series, first: int, second: int) -> float | None:
    """From four other differences over the same gap on: their robust standard deviation, widened for their number.

    A log of few steps holds too few for :func:`same_gap_noise`; ``None`` below four independent ones.
    """
    gap = second - first
    middle = (first + second) / 2
    near = sorted((i for i in range(len(points) - gap) if i != first), key=lambda i: abs(i + gap / 2 - middle))
    differences = [float(points.values[i + gap] - points.values[i]) for i in near[:LOCAL_DIFFERENCES]]
    independent = len(differences) / gap
    if independent < MIN_DIFFERENCES:
        return None
    centre = median(differences)
    scatter = 1.4826 * median(abs(d - centre) for d in differences)
    return scatter * _allowance(independent) if scatter > 0 else None


def _walk_noise(points: Series, first: int, second: int) -> float | None:
    """What a random walk with the one-step differences of the series does over the gap; ``None`` for few of them.

    Steps far apart have no other differences over the same gap to go by, and a strong correlation of neighbours cannot
    be told from a walk: the scatter around either step would then be far too small.
    """
    steps = np.diff(points.values)
    steps = steps[max(0, first - NEIGHBOURHOOD) : second + NEIGHBOURHOOD]
    freedom = (len(steps) - 1) / 1.5
    if freedom < MIN_DIFFERENCES:
        return None
    return float(steps.std(ddof=1)) * math.sqrt(second - first) * t_quantile(0.975, round(freedom, 1)) / 1.96


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
