"""Labelled cases: a mode or a kind of healthy run, simulated and written in a framework's log format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml

from evals.diagnosis import causes_data, causes_policy, causes_reward, causes_system
from evals.diagnosis.healthy import HEALTHY
from evals.diagnosis.modes import MODES, STRENGTHS, Strength, inject
from evals.diagnosis.simulate import Scenario, Trace, simulate
from evals.diagnosis.world import Setup
from evals.diagnosis.write import FRAMEWORKS, Row, write

SUITE: Final = Path(__file__).with_name("suite.yaml")
CAUSES: Final = (causes_data, causes_policy, causes_reward, causes_system)
"""Modules whose import registers the modes."""


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled log.

    Attributes:
        label: mode (``FM-01``) or kind of healthy run.
        healthy: whether nothing is wrong.
        onset: step from which the cause acts; None for healthy runs.
        strength: mild or strong; None for healthy runs.
        framework: verl, TRL or ROLL.
        text: the log.
        table: its cells as printed, (step, key → value) per row in the log's order; cells that a cut took away are
            not in it.
        seed: of the case.
        also: modes whose facts hold as well; reporting them is no false alarm.
        held: whether the case is kept back from tuning.
    """

    label: str
    healthy: bool
    onset: int | None
    strength: Strength | None
    framework: str
    text: str
    table: tuple[Row, ...]
    seed: int
    also: tuple[str, ...] = ()
    held: bool = False


def build(label: str, seed: int, strength: Strength = "strong", *, cause: bool = True) -> tuple[Scenario, int | None]:
    """The scenario of a label, and the onset. With ``cause=False``, a mode's settings without its cause."""
    rng = np.random.default_rng((seed, sum(label.encode())))
    if label in HEALTHY:
        return HEALTHY[label].build(rng), None
    mode = MODES[label]
    scenario = mode.build(rng)
    share = float(rng.uniform(0.3, 0.45))
    onset = 1 if mode.starts else max(8, round(scenario.setup.steps * share))
    return (inject(label, onset, strength)(scenario) if cause else scenario), onset


def suits(framework: str, setup: Setup) -> bool:
    """Whether a framework's log can hold the run: TRL's GRPO has no critic, no KL in the reward, and groups."""
    return framework != "TRL" or (setup.algorithm != "ppo" and setup.kl != "reward" and setup.group > 1)


def make(label: str, seed: int, framework: str, strength: Strength | None = None, *, held: bool = False) -> Case:
    """One case.

    Raises:
        ValueError: where the framework's log cannot hold such a run.
    """
    scenario, onset = build(label, seed, strength or "strong")
    if framework == "TRL" and scenario.setup.kl == "reward":
        scenario.setup = replace(scenario.setup, kl="loss")
    if not suits(framework, scenario.setup):
        raise ValueError(f"{framework} logs no run of kind {label}")
    trace: Trace = simulate(scenario, seed)
    text, table = write(trace, framework, label=label)
    if label in HEALTHY:
        return Case(label, True, None, None, framework, text, table, seed, HEALTHY[label].holds, held)
    return Case(label, False, onset, strength, framework, text, table, seed, MODES[label].implies, held)


def runs(
    seed: int,
    n: int,
    *,
    labels: Sequence[str] | None = None,
    frameworks: Sequence[str] = FRAMEWORKS,
    strengths: Sequence[Strength] = tuple(STRENGTHS),
) -> Iterator[Case]:
    """``n`` cases drawn at random over labels, strengths and frameworks; the same arguments give the same cases."""
    rng = np.random.default_rng(seed)
    chosen = list(labels if labels is not None else [*MODES, *HEALTHY])
    for _ in range(n):
        label = str(rng.choice(chosen))
        own = int(rng.integers(1, 2**31))
        able = [name for name in frameworks if name in able_frameworks(label)]
        if not able:
            raise ValueError(f"none of {', '.join(frameworks)} logs {label}")
        strength: Strength | None = None
        if label in MODES:
            strength = strengths[int(rng.integers(len(strengths)))]
        yield make(label, own, str(rng.choice(able)), strength)


def able_frameworks(label: str) -> tuple[str, ...]:
    """Frameworks whose logs can hold a label."""
    if label in MODES:
        return MODES[label].frameworks
    return ("verl", "ROLL") if label in {"ppo_critic", "critic_warmup", "kl_in_reward"} else FRAMEWORKS


def suite(*, held: bool | None = None, path: Path = SUITE) -> Iterator[Case]:
    """The frozen suite's cases, in its order; all of them, the open half or the held one."""
    for entry in entries(path):
        if held is None or entry["held"] == held:
            yield make(entry["label"], entry["seed"], entry["framework"], entry["strength"], held=entry["held"])


def entries(path: Path = SUITE) -> list[dict[str, Any]]:
    """The suite's lines: label, strength (None for healthy runs), framework, seed, held."""
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    fields = read["fields"]
    return [dict(zip(fields, line, strict=True)) for line in read["cases"]]
