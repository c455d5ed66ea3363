"""What is true of a run, computed from its table alone: the evaluation's own arithmetic, none of the product's.

A :class:`Truth` answers the functions that templates may use (:data:`FUNCTIONS`). Metrics are given as keys. A question
that the log cannot answer, or not clearly, is ``None``; a claim about it is then not drawn.
"""

from __future__ import annotations

import math
from functools import cache, cached_property
from typing import Final

import numpy as np
import pandas as pd

from assistant.model.run import Run
from assistant.parsing import parse_text
from evals.questions import logs

RISING: Final = 0.8
"""Rank correlation with the step from which a course is called rising (and its negative: falling)."""
FLAT: Final = 0.12
"""Rank correlation below which a course may be called flat."""
SHORTEST: Final = 10
"""Points that a course needs before a trend is claimed."""
WHOLE: Final = 2e-3
"""How far a derived whole number may lie from a whole one, relative."""
GROUPS: Final = range(2, 129)


class Truth:
    """One run's table and what follows from it.

    Attributes:
        run: the parsed run.
        frame: one row a step, ascending; a cell that a restart printed twice with two values is taken out.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        frame = run.to_pandas()
        grouped = frame.groupby(level=0)
        clear = grouped.nunique(dropna=True) <= 1
        self.frame: pd.DataFrame = grouped.last().where(clear).sort_index()
        self._keys = frozenset(run.metrics)
        self._finite: dict[str, pd.Series[float]] = {}
        self._printed: dict[str, dict[int, list[float]]] = {}
        for metric in run.metrics:
            cells: dict[int, list[float]] = {}
            for cell in run.cells(metric):
                cells.setdefault(cell.step, []).append(float(cell.value))
            self._printed[metric] = cells

    # -- cells ---------------------------------------------------------------------------------
    def v(self, metric: str, step: int) -> float | None:
        """The finite value at a step."""
        if metric not in self._keys or step not in self.frame.index:
            return None
        value = float(self.frame.at[step, metric])
        return value if math.isfinite(value) else None

    def series(self, metric: str, first: int | None = None, last: int | None = None) -> pd.Series[float]:
        """Finite values by step, within two steps (both included)."""
        column = self._finite.get(metric)
        if column is None:
            if metric not in self._keys:
                return pd.Series(dtype=float)
            column = self.frame[metric].replace([np.inf, -np.inf], np.nan).dropna().astype(float)
            self._finite[metric] = column
        return column if first is None and last is None else column.loc[first:last]

    def absent(self, metric: str, step: int) -> int | None:
        """1 where a step's line was printed and holds no value of the metric, 0 where it does."""
        if step not in self.frame.index:
            return None
        return int(step not in self._printed.get(metric, {}))

    def is_nan(self, metric: str, step: int) -> int | None:
        """1 where the log printed NaN, 0 where it printed a number."""
        printed = self._printed.get(metric, {}).get(step)
        return None if not printed else int(all(math.isnan(value) for value in printed))

    def nans(self, metric: str) -> int:
        """At how many steps the log printed NaN."""
        return sum(self.is_nan(metric, step) == 1 for step in self._printed.get(metric, {}))

    def first_nan(self, metric: str) -> int | None:
        """First step with a printed NaN."""
        return min((step for step in self._printed.get(metric, {}) if self.is_nan(metric, step)), default=None)

    # -- one metric over steps -----------------------------------------------------------------
    def mx(self, metric: str, first: int | None = None, last: int | None = None) -> float | None:
        """Largest value."""
        found = self.series(metric, first, last)
        return None if found.empty else float(found.max())

    def mn(self, metric: str, first: int | None = None, last: int | None = None) -> float | None:
        """Smallest value."""
        found = self.series(metric, first, last)
        return None if found.empty else float(found.min())

    def argmax(self, metric: str) -> int | None:
        """Step of the largest value, where it is reached once."""
        return _only(self.series(metric), self.mx(metric))

    def argmin(self, metric: str) -> int | None:
        """Step of the smallest value, where it is reached once."""
        return _only(self.series(metric), self.mn(metric))

    def mean(self, metric: str, first: int | None = None, last: int | None = None) -> float | None:
        """Mean over the steps that hold a value."""
        found = self.series(metric, first, last)
        return None if found.empty else float(found.mean())

    def total(self, metric: str, first: int | None = None, last: int | None = None) -> float | None:
        """Sum over the steps that hold a value."""
        found = self.series(metric, first, last)
        return None if found.empty else float(found.sum())

    def n(self, metric: str) -> int:
        """Number of steps that hold a finite value."""
        return len(self.series(metric))

    def above(self, metric: str, bound: float) -> int:
        """Number of steps with a value over a bound."""
        return int((self.series(metric) > bound).sum())

    def below(self, metric: str, bound: float) -> int:
        """Number of steps with a value under a bound."""
        return int((self.series(metric) < bound).sum())

    def first_above(self, metric: str, bound: float) -> int | None:
        """First step with a value over a bound."""
        found = self.series(metric)
        over = found[found > bound]
        return None if over.empty else int(over.index[0])

    def first_below(self, metric: str, bound: float) -> int | None:
        """First step with a value under a bound."""
        found = self.series(metric)
        under = found[found < bound]
        return None if under.empty else int(under.index[0])

    def first(self, metric: str) -> float | None:
        """Value at the first step that holds one."""
        found = self.series(metric)
        return None if found.empty else float(found.iloc[0])

    def last(self, metric: str) -> float | None:
        """Value at the last step that holds one."""
        found = self.series(metric)
        return None if found.empty else float(found.iloc[-1])

    def first_at(self, metric: str) -> int | None:
        """First step that holds a value."""
        found = self.series(metric)
        return None if found.empty else int(found.index[0])

    def last_at(self, metric: str) -> int | None:
        """Last step that holds a value."""
        found = self.series(metric)
        return None if found.empty else int(found.index[-1])

    def trend(self, metric: str, first: int | None = None, last: int | None = None) -> int | None:
        """1 rising, −1 falling, 0 flat; ``None`` where a careful reader would hesitate.

        Rising: rank correlation with the step over :data:`RISING`, and the last third lies above the first by more than
        twice the noise (standard deviation of first differences ÷ √2). Flat: correlation under :data:`FLAT`, and the
        means of the thirds within a third of that noise.
        """
        found = self.series(metric, first, last)
        if len(found) < SHORTEST:
            return None
        noise = float(found.diff().std()) / math.sqrt(2)
        third = len(found) // 3
        means = [found.iloc[:third].mean(), found.iloc[third : 2 * third].mean(), found.iloc[-third:].mean()]
        if found.nunique() == 1:
            return 0
        if noise == 0:
            return None
        ranks = found.rank()
        correlation = float(np.corrcoef(ranks, np.arange(len(found)))[0, 1])
        if abs(correlation) > RISING and abs(means[2] - means[0]) > 2 * noise:
            return 1 if correlation > 0 else -1
        if abs(correlation) < FLAT and max(means) - min(means) < noise / 3:
            return 0
        return None

    def still(self, metric: str) -> int | None:
        """1 where all values lie within 3 % of their mean, −1 where a trend moved them by over 30 %."""
        found, trend = self.series(metric), self.trend(metric)
        if len(found) < SHORTEST or not found.mean():
            return None
        if (found.max() - found.min()) / abs(found.mean()) < 0.03:
            return 1
        moved = bool(found.iloc[0]) and abs(found.iloc[-1] / found.iloc[0] - 1) > 0.3
        return -1 if trend in {-1, 1} and moved else None

    def restless(self, metric: str) -> int | None:
        """1 where positive values spread over 40 % of their mean with no trend, −1 where a trend moved them by 15 %."""
        found, trend = self.series(metric), self.trend(metric)
        if trend is None or found.min() <= 0:
            return None
        if trend == 0:
            return 1 if (found.max() - found.min()) / found.mean() > 0.4 else None
        return -1 if abs(found.iloc[-1] / found.iloc[0] - 1) > 0.15 else None

    # -- changes -------------------------------------------------------------------------------
    def diff(self, metric: str, first: int, last: int) -> float | None:
        """Value at the later step minus the earlier one."""
        a, b = self.v(metric, first), self.v(metric, last)
        return None if a is None or b is None else b - a

    def ratio(self, metric: str, first: int, last: int) -> float | None:
        """Value at the later step ÷ the earlier one, both of one sign."""
        a, b = self.v(metric, first), self.v(metric, last)
        return None if a is None or b is None or a * b <= 0 else b / a

    def pct(self, metric: str, first: int, last: int) -> float | None:
        """Relative change as a fraction of a positive starting value."""
        a, b = self.v(metric, first), self.v(metric, last)
        return None if a is None or b is None or a <= 0 else b / a - 1

    def share(self, part: str, whole: str, step: int) -> float | None:
        """One metric's value as a fraction of another's at a step."""
        a, b = self.v(part, step), self.v(whole, step)
        return None if a is None or b is None or b == 0 else a / b

    # -- what follows from the log -------------------------------------------------------------
    def steps(self) -> int:
        """Number of distinct steps."""
        return len(self.frame.index)

    def gpus(self) -> int | None:
        """GPUs, of a whole number on every step."""
        return self._gpus

    def batch(self) -> int | None:
        """Responses a step."""
        return self._batch

    def group(self) -> int | None:
        """Responses a prompt, from the largest advantage."""
        return self._group

    @cached_property
    def _gpus(self) -> int | None:
        """GPUs: tokens of a step ÷ (throughput of a GPU × seconds of the step), verl's metric_utils.py; ROLL: the
        ratio of the two throughputs."""
        if "system/tps/tps" in self._keys and "system/tps_gpu" in self._keys:
            return _whole(self.frame["system/tps/tps"] / self.frame["system/tps_gpu"])
        if not {"perf/throughput", "perf/time_per_step", "perf/total_num_tokens"} <= self._keys:
            return None
        a = self.frame
        return _whole(a["perf/total_num_tokens"] / (a["perf/throughput"] * a["perf/time_per_step"]))

    @cached_property
    def _batch(self) -> int | None:
        """Responses a step: all tokens ÷ (mean prompt + mean response length); ROLL prints it."""
        if "system/batch_size" in self._keys:
            return _whole(self.frame["system/batch_size"])
        if not {"perf/total_num_tokens", "prompt_length/mean", "response_length/mean"} <= self._keys:
            return None
        a = self.frame
        return _whole(a["perf/total_num_tokens"] / (a["prompt_length/mean"] + a["response_length/mean"]))

    @cached_property
    def _group(self) -> int | None:
        """Responses a prompt: the largest |advantage| is (n − 1)/√n (Samuelson, sample standard deviation)."""
        if not {"critic/advantages/max", "critic/advantages/min"} <= self._keys:
            return None
        if "critic/values/mean" in self._keys:
            return None
        largest = max(self.frame["critic/advantages/max"].max(), -self.frame["critic/advantages/min"].min())
        for size in GROUPS:
            if abs((size - 1) / math.sqrt(size) - largest) < 1e-4 * largest:
                return size
        return None

    def prompts(self) -> int | None:
        """Prompts a step."""
        batch, group = self.batch(), self.group()
        return None if not batch or not group or batch % group else batch // group


FUNCTIONS: Final = tuple(name for name in vars(Truth) if not name.startswith("_") and name != "series")


def _only(found: pd.Series[float], value: float | None) -> int | None:
    steps = found.index[found == value]
    return int(steps[0]) if len(steps) == 1 else None


def _whole(found: pd.Series[float]) -> int | None:
    found = found.dropna()
    if found.empty:
        return None
    whole = round(float(found.median()))
    return whole if whole and float((found / whole - 1).abs().max()) < WHOLE else None


@cache
def truth(run: str) -> Truth:
    """The table of a run of ``evals/questions/runs.yaml``."""
    return Truth(parse_text(logs.text(run), name=run).runs[0])
