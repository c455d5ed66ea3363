"""When a run became slower: which stage, and whether it had more tokens to do or did each of them slower.

The change of a stage's mean seconds is split into parts that add up to it exactly, by the logarithmic mean Divisia
index (Ang, "Decomposition analysis for policymaking in energy", Energy Policy 32, 2004): with S = N·u (tokens times
seconds per token), ΔS = L·ln(N₂/N₁) + L·ln(u₂/u₁), L = (S₂ − S₁)/ln(S₂/S₁). For generation, u is split further into
the engine's seconds per token within a trajectory and the tail (stage time over a trajectory's mean time).
"""

from __future__ import annotations

import fnmatch
import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assistant.analysis.identities.constants import evaluate
from assistant.analysis.identities.formula import parse
from assistant.analysis.identities.grid import Grid, Values, grid_of
from assistant.analysis.identities.schedules import total_shift
from assistant.analysis.ledger import Ledger
from assistant.analysis.timing import Layout, layout_of, stage_keys, total_key
from assistant.model import Fact, Run

Mask = NDArray[np.bool_]
Cause = Literal["more_tokens", "slower_tokens", "tail", "other"]
LEAST: Final = 0.02
"""Relative change below which a step counts as no slower, however surely it was measured."""
MOST_INPUTS: Final = 12


@dataclass(frozen=True, slots=True)
class StageChange:
    """One stage between two windows; all facts in seconds a step.

    Attributes:
        stage: its key.
        before: mean of the first window.
        after: mean of the second.
        change: after − before.
        tokens: the part that more (or fewer) tokens explain; ``None`` where the log does not tell a stage's tokens.
        engine: the part that seconds per token explain.
        tail: the part that waiting for the slowest trajectory explains; ``None`` but for generation with its tail
            logged. ``tokens + engine + tail = change`` exactly.
        cause: the largest part in the direction of the change.
    """

    stage: str
    before: Fact
    after: Fact
    change: Fact
    tokens: Fact | None
    engine: Fact | None
    tail: Fact | None
    cause: Cause


@dataclass(frozen=True, slots=True)
class Slowdown:
    """What changed in a step's time between two windows.

    Attributes:
        slower: whether steps became slower by more than 2 % and more than their scatter explains (Welch's test, 99 %);
            ``None`` with fewer than three steps on a side.
        faster: the same the other way.
        before, after: mean seconds of a step; ``change`` their difference; ``relative`` the change over before.
        stages: by the size of their change, largest first.
        carrier: the stage that changed most in the direction of the whole.
        rest: the change of what no stage accounts for.
    """

    slower: bool | None
    faster: bool | None
    before: Fact
    after: Fact
    change: Fact
    relative: Fact
    stages: tuple[StageChange, ...]
    carrier: StageChange | None
    rest: Fact | None


def slowdown(ledger: Ledger, run: Run, window_a: tuple[int, int], window_b: tuple[int, int]) -> Slowdown | None:
    """Compares a step's time in two windows.

    Args:
        ledger: where the facts are entered.
        run: the run.
        window_a: first and last step of the first window, both included.
        window_b: of the second.

    Returns:
        ``None`` where the log has no times, or a window has none.
    """
    layout, grid = layout_of(run), grid_of(run)
    if layout is None:
        return None
    times = _times(grid, layout)
    if times is None:
        return None
    whole_key, whole, stages = times
    held = np.isfinite(whole)
    for values in stages.values():
        held &= np.isfinite(values) | ~np.isfinite(values).any()
    sides = [held & (grid.steps >= first) & (grid.steps <= last) for first, last in (window_a, window_b)]
    if not all(side.any() for side in sides):
        return None
    label = f"{window_a[0]}-{window_a[1]}/{window_b[0]}-{window_b[1]}"
    teller = _Teller(ledger, run, grid, label, (sides[0], sides[1]))
    before, after = teller.means(whole_key, whole)
    change = teller.part("change", whole_key, _value(after) - _value(before), [before, after], "after − before")
    relative = ledger.derived(
        f"slowdown/{label}/relative", _value(change) / _value(before), unit="fraction", run=run,
        formula=f"change / mean {whole_key} before", inputs=[change, before],
    )  # fmt: skip
    slower, faster = _differs(whole[sides[0]], whole[sides[1]])
    found = [
        teller.stage(key, values, layout)
        for key, values in stages.items()
        if np.isfinite(values[sides[0]]).all() and np.isfinite(values[sides[1]]).all()
    ]
    found.sort(key=lambda stage: -abs(_value(stage.change)))
    direction = 1 if _value(change) >= 0 else -1
    carrier = next((stage for stage in found if _value(stage.change) * direction > 0), None)
    rest = None
    if found and not layout.sum and whole_key not in stages:
        left = _value(change) - sum(_value(stage.change) for stage in found)
        rest = teller.part(
            "rest", whole_key, left, [change, *(s.change for s in found)], "change − Σ changes of stages"
        )
    return Slowdown(slower, faster, before, after, change, relative, tuple(found), carrier, rest)


def _times(grid: Grid, layout: Layout) -> tuple[str, Values, dict[str, Values]] | None:
    """Key and seconds of the whole step and of its stages, rows aligned (ROLL's total lags by a row)."""
    key = total_key(grid.run, layout)
    names = stage_keys(grid.run, layout)
    names = tuple(n for n in names if not any(n == o and m in names for m, o in layout.instead.items()))
    stages = {name: values for name in names if (values := grid.values(name)) is not None}
    whole = None if key is None else grid.values(key)
    if whole is not None and key is not None:
        if layout.shifted and total_shift(grid) == 1:
            whole = np.append(whole[1:], np.nan)
        if not stages:
            stages = {key: whole}
        return key, whole, stages
    if not stages:
        return None
    summed = np.sum([np.nan_to_num(values) for values in stages.values()], axis=0)
    return "Σ " + names[0].split("/")[0] + "/*", np.where(summed > 0, summed, np.nan), stages


def _differs(a: Values, b: Values) -> tuple[bool | None, bool | None]:
    """Slower and faster: Welch's test at 99 % on the steps' seconds, and more than two percent.

    Steps that resemble the one before count for less: variances grow by (1 + r)/(1 − r), r the lag-one
    autocorrelation within the windows (where positive).
    """
    if len(a) < 3 or len(b) < 3:
        return None, None
    grow = _inflation([a, b])
    va, vb = grow * float(a.var(ddof=1)) / len(a), grow * float(b.var(ddof=1)) / len(b)
    delta, spread = float(b.mean() - a.mean()), math.sqrt(va + vb)
    large = abs(delta) > LEAST * float(a.mean())
    if spread == 0:
        sure = delta != 0
    else:
        degrees = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
        # Cornish and Fisher's expansion of Student's quantile t(0.995), within 4 % from three degrees of freedom on.
        quantile = 2.576 + 4.917 / degrees + 8.835 / degrees**2 + 12.15 / degrees**3
        sure = abs(delta) > quantile * spread
    return large and sure and delta > 0, large and sure and delta < 0


def _inflation(windows: list[Values]) -> float:
    rests = [window - window.mean() for window in windows]
    power = sum(float((rest * rest).sum()) for rest in rests)
    if power == 0 or min(map(len, windows)) < 6:
        return 1.0
    r = sum(float((rest[1:] * rest[:-1]).sum()) for rest in rests) / power
    r = min(max(r, 0.0), 0.9)
    return (1 + r) / (1 - r)


def _value(fact: Fact) -> float:
    assert isinstance(fact.value, (int, float))
    return float(fact.value)


def log_mean(a: float, b: float) -> float:
    """The logarithmic mean (b − a)/ln(b/a) of two positive numbers; a where they agree."""
    if a == b:
        return a
    ratio = math.log(b / a)
    return (b - a) / ratio if abs(ratio) > 1e-12 else (a + b) / 2


class _Teller:
    """Enters the facts of one comparison."""

    def __init__(self, ledger: Ledger, run: Run, grid: Grid, label: str, sides: tuple[Mask, Mask]) -> None:
        self.ledger = ledger
        self.run = run
        self.grid = grid
        self.label = label
        self.sides = sides

    def means(self, name: str, values: Values) -> tuple[Fact, Fact]:
        """Means of a column over the two windows, as facts."""
        return self._mean("before", name, values, 0), self._mean("after", name, values, 1)

    def _mean(self, which: str, name: str, values: Values, side: int) -> Fact:
        steps = self.grid.steps[self.sides[side]]
        chosen = steps if len(steps) <= MOST_INPUTS else steps[[0, -1]]
        inputs = [self.ledger.value(name, int(step), self.run) for step in chosen] if name in self.run.columns else []
        return self.ledger.derived(
            f"slowdown/{self.label}/{name}/{which}", float(values[self.sides[side]].mean()), unit="s", run=self.run,
            formula=f"mean of {name} over steps {int(steps[0])} to {int(steps[-1])} ({len(steps)})", inputs=inputs,
        )  # fmt: skip

    def part(self, what: str, stage: str, value: float, inputs: list[Fact], formula: str) -> Fact:
        """A change in seconds, as a fact."""
        return self.ledger.derived(
            f"slowdown/{self.label}/{stage}/{what}", value, unit="s", run=self.run, formula=formula, inputs=inputs
        )

    def stage(self, key: str, values: Values, layout: Layout) -> StageChange:
        """One stage's change with its parts."""
        before, after = self.means(key, values)
        a, b = _value(before), _value(after)
        both = [before, after]
        change = self.part("change", key, b - a, both, "after − before")
        tokens = self._tokens(key, layout)
        if tokens is None or a <= 0 or b <= 0 or min(tokens) <= 0:
            return StageChange(key, before, after, change, None, None, None, "other")
        weight = log_mean(a, b)
        work = weight * math.log(tokens[1] / tokens[0])
        shown = "L · ln(tokens after / before), L the logarithmic mean of the seconds"
        own = self.part("tokens", key, work, both, shown)
        waits = self._waits(key, layout, values)
        if waits is None:
            pace = self.part("engine", key, b - a - work, [change, own], "change − tokens: seconds per token")
            return _named(StageChange(key, before, after, change, own, pace, None, "other"))
        lag = weight * math.log(waits[1] / waits[0])
        tail = self.part("tail", key, lag, both, "L · ln(stage time over a trajectory's mean time, after / before)")
        shown = "change − tokens − tail: seconds per token within a trajectory"
        pace = self.part("engine", key, b - a - work - lag, [change, own, tail], shown)
        return _named(StageChange(key, before, after, change, own, pace, tail, "other"))

    def _tokens(self, key: str, layout: Layout) -> tuple[float, float] | None:
        kind = next((kind for kind, keys in layout.stage_tokens.items() if key in keys), None)
        return None if kind is None else self._both(layout.tokens[kind])

    def _waits(self, key: str, layout: Layout, values: Values) -> tuple[float, float] | None:
        """Stage time over the mean time of a trajectory, in both windows."""
        if layout.tail.get("stage") != key:
            return None
        means = self._both(tuple(layout.tail["mean"]))
        if means is None or min(means) <= 0:
            return None
        seconds = [float(values[side].mean()) for side in self.sides]
        return seconds[0] / means[0], seconds[1] / means[1]

    def _both(self, formulas: tuple[str, ...]) -> tuple[float, float] | None:
        """Means over the two windows of the first formula that the log can fill at every step of both."""
        for text in formulas:
            filled = self._filled(text)
            measured = None if filled is None else evaluate(self.grid, filled, 0.0, {})
            if measured is None:
                continue
            found = [measured.value[side] for side in self.sides]
            if all(np.isfinite(part).all() for part in found):
                return float(found[0].mean()), float(found[1].mean())
        return None

    def _filled(self, text: str) -> str | None:
        for key in parse(text).keys:
            if "*" in key:
                held = [metric for metric in self.run.columns if fnmatch.fnmatchcase(metric, key)]
                if len(held) != 1:
                    return None
                text = text.replace("{" + key + "}", "{" + held[0] + "}")
        return text


def _named(stage: StageChange) -> StageChange:
    """The stage with its cause: the largest part in the direction of its change."""
    from dataclasses import replace

    direction = 1 if _value(stage.change) >= 0 else -1
    parts: list[tuple[float, Cause]] = []
    for fact, cause in ((stage.tokens, "more_tokens"), (stage.engine, "slower_tokens"), (stage.tail, "tail")):
        if fact is not None:
            parts.append((_value(fact) * direction, cause))  # type: ignore[arg-type]
    size, cause = max(parts)
    return replace(stage, cause=cause) if size > 0 else stage
