"""Failure modes: a cause that acts on the dynamics from an onset on, and the signature that then follows.

The signature is for tests of this simulator: statistics of one run around the onset that the mode's description names.
It is no diagnosis rule. Strengths: strong (1.0) and mild (0.45).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from evals.diagnosis.simulate import Scenario, Trace
from evals.diagnosis.world import World

Strength = Literal["mild", "strong"]
STRENGTHS: Final[dict[Strength, float]] = {"mild": 0.45, "strong": 1.0}
Cause = Callable[[World, int, float], None]
"""(world, steps since the onset, strength); called before every step from the onset on."""
Builder = Callable[[np.random.Generator], Scenario]
Prepare = Callable[[Scenario, int, float], None]

NOT_SHOWN: Final = {
    "FM-36": "a mistake of the reader, not of the run: validation noise taken for a change. Nothing in the dynamics "
    "causes it; the healthy kinds `tiny_validation` and `frequent_validation` hold it.",
}
"""Modes that no injected cause can show, and why."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One element of a signature: ``stat`` of the series ``key`` is above or below ``value``.

    Statistics compare the window before the onset with the late half of what follows: ``ratio``, ``diff``, ``shift``
    (absolute difference), ``fold`` (ratio or its inverse, whichever is larger), ``level`` (late mean), ``start`` (first
    three values), ``drift`` (last third less first third after the onset), ``bend`` (absolute drift), ``next`` (first
    four after the onset over before), ``jump`` (fold of the first three after over the last three before), ``peak``
    (largest after over median before), ``nan`` (share after).
    """

    key: str
    stat: str
    above: bool
    value: float


@dataclass(frozen=True, slots=True)
class Mode:
    """A failure mode.

    Attributes:
        frameworks: those that log the metrics its signature needs.
        build: settings under which it can happen.
        prepare: what must be arranged before the run begins (restarts, where an epoch ends).
        starts: whether it is there from the first step, as a wrong configuration is.
        implies: modes whose facts then hold as well.
    """

    id: str
    title: str
    frameworks: tuple[str, ...]
    build: Builder
    cause: Cause
    signature: tuple[Sign, ...]
    prepare: Prepare | None = None
    starts: bool = False
    implies: tuple[str, ...] = ()


MODES: dict[str, Mode] = {}


def signs(*texts: str) -> tuple[Sign, ...]:
    """Reads ``"actor/entropy ratio < 0.3"``."""
    found = []
    for text in texts:
        key, stat, operator, value = text.split()
        found.append(Sign(key, stat, operator == ">", float(value)))
    return tuple(found)


def mode(
    id: str,
    title: str,
    frameworks: str,
    build: Builder,
    *signature: str,
    prepare: Prepare | None = None,
    starts: bool = False,
    implies: str = "",
) -> Callable[[Cause], Cause]:
    """Registers a cause."""

    def register(cause: Cause) -> Cause:
        also = tuple(f"FM-{int(number):02d}" for number in implies.split())
        MODES[id] = Mode(id, title, tuple(frameworks.split()), build, cause, signs(*signature), prepare, starts, also)
        return cause

    return register


def inject(mode: str, onset_step: int, strength: Strength) -> Callable[[Scenario], Scenario]:
    """A change of a scenario: the mode's cause acts from ``onset_step`` (1-based) on.

    Raises:
        KeyError: for a mode that is not in :data:`MODES` (see :data:`NOT_SHOWN`).
    """
    found = MODES[mode]
    power = STRENGTHS[strength]

    def change(scenario: Scenario) -> Scenario:
        if found.prepare is not None:
            found.prepare(scenario, onset_step, power)

        def tick(world: World) -> None:
            if world.step >= onset_step:
                found.cause(world, world.step - onset_step, power)

        scenario.ticks.append(tick)
        return scenario

    return change


def measure(trace: Trace, sign: Sign, onset: int) -> float:
    """The statistic of one element around an onset; NaN where the series does not reach."""
    steps, values = trace.series(sign.key)
    data = np.asarray(values)
    at = np.asarray(steps)
    earlier = np.concatenate([[0], at[:-1]])
    passed = np.flatnonzero((at >= onset) & ((earlier < onset) | (earlier >= at)))
    if not len(passed):
        return float("nan")
    first = int(passed[-1])  # a restart prints steps again: what counts is the process after it
    before, after = data[max(0, first - 25) : first], data[first:]
    if sign.stat == "nan":
        return float(np.isnan(after).mean())
    if sign.stat == "start":
        return float(np.mean(data[:3]))
    before, after = before[np.isfinite(before)], after[np.isfinite(after)]
    third = max(1, len(after) // 3)
    late = after[len(after) // 2 :]
    if not len(late):
        return float("nan")
    if sign.stat == "level":
        return float(late.mean())
    if sign.stat in {"drift", "bend"}:
        change = float(after[-third:].mean() - after[:third].mean())
        return abs(change) if sign.stat == "bend" else change
    if not len(before):
        return float("nan")
    base = float(before.mean())
    return _against(sign.stat, base, before, after, float(late.mean()))


def _against(
    stat: str,
    base: float,
    before: np.ndarray,
    after: np.ndarray,
    late: float,
) -> float:
    if stat == "diff":
        return late - base
    if stat == "shift":
        return abs(late - base)
    if stat == "peak":
        middle = float(np.median(before))
        return float(after.max()) / middle if middle else float("nan")
    top = float(after[:4].mean()) if stat == "next" else late
    if stat == "jump":
        top, base = float(after[:3].mean()), float(before[-3:].mean())
    if base == 0 or (stat in {"fold", "jump"} and top == 0):
        return float("inf") if top or base else 1.0
    ratio = top / base
    return max(ratio, 1 / ratio) if stat in {"fold", "jump"} else ratio


def shown(signature: Sequence[Sign], values: Sequence[float]) -> bool:
    """Whether every element holds; one that cannot be measured does not."""
    return all(
        value > sign.value if sign.above else value < sign.value for sign, value in zip(signature, values, strict=True)
    )
