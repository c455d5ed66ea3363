"""What holds for a whole run: constants given once with the steps that agree, coefficients, schedules, windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from assistant.analysis.identities.constants import Constants, constants, evaluate
from assistant.analysis.identities.deriving import derive
from assistant.analysis.identities.grid import Grid, Values, grid_of
from assistant.analysis.identities.laws import denominator
from assistant.analysis.identities.registry import RELATIVE, identities
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run

RunDerivation = Callable[[Ledger, Run, Grid, Constants], "dict[str, Fact]"]
WHOLE_RUN: list[RunDerivation] = []
#: Constants that a derivation of a step gives, too: the step's fact is the source.
STEADY: Final = ("n_gpus", "trajectories_per_step", "data_parallel_ranks", "group_size", "roll_gpus", "nemo_gpus")


def derive_run(ledger: Ledger, run: Run | None = None) -> dict[str, Fact]:
    """Everything that the run as a whole implies, by name.

    A fact's ``n`` is the number of steps (rows) that agree, ``first_step`` and ``last_step`` the first and last of
    them. :func:`identity_of` tells the identity behind a name and what would invalidate it.
    """
    run = run or ledger.run
    if run is None or not run.steps:
        return {}
    grid, found = grid_of(run), constants(run)
    result: dict[str, Fact] = {}
    with np.errstate(all="ignore"):
        for function in WHOLE_RUN:
            result.update(function(ledger, run, grid, found))
    return result


def whole_run(function: RunDerivation) -> RunDerivation:
    """Registers a function that looks at a whole run."""
    WHOLE_RUN.append(function)
    return function


def give(
    ledger: Ledger, run: Run, name: str, value: Any, *, formula: str, inputs: Iterable[Fact | None], n: int,
    steps: tuple[int, int], unit: str | None = None,
) -> Fact:  # fmt: skip
    """A fact about the run as a whole."""
    return ledger.add(
        ("derived", run.id, name, "run"), kind="derived", run=run.id, name=name, value=value, unit=unit,
        formula=formula, inputs=tuple(fact.id for fact in inputs if fact is not None), n=n,
        first_step=steps[0], last_step=steps[1],
    )  # fmt: skip


def cells_at(ledger: Ledger, run: Run, keys: Iterable[str], step: int) -> list[Fact | None]:
    """The cells of some metrics at a step, as facts."""
    return [ledger.value(key, step, run) for key in keys]


@whole_run
def steady(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """Constants of the run, from the first step that shows each."""
    result: dict[str, Fact] = {}
    for name in STEADY:
        constant = found.found.get(name)
        if constant is None or constant.at is not None:
            continue
        source = derive(ledger, name, constant.first, run)
        result[name] = give(
            ledger, run, name, int(constant.value), n=constant.agree, steps=(constant.first, constant.last),
            formula=source.formula if source is not None and source.formula else name, inputs=[source],
        )  # fmt: skip
    if {"trajectories_per_step", "group_size"} <= set(result):
        total, size = result["trajectories_per_step"], result["group_size"]
        whole, n = int(found.found["trajectories_per_step"].value), int(found.found["group_size"].value)
        if whole % n == 0:
            result["prompts_per_step"] = give(
                ledger, run, "prompts_per_step", whole // n, formula="trajectories_per_step / group_size",
                inputs=[total, size], n=min(total.n or 0, size.n or 0),
                steps=(int(grid.steps[0]), int(grid.steps[-1])),
            )  # fmt: skip
    quantum = found.found.get("reward_quantum")
    if quantum is not None:
        inputs = [*cells_at(ledger, run, ["critic/score/mean"], quantum.first), result.get("trajectories_per_step")]
        result["reward_quantum"] = give(
            ledger, run, "reward_quantum", quantum.value, n=quantum.agree, steps=(quantum.first, quantum.last),
            formula="largest q with critic/score/mean × trajectories_per_step / q whole", inputs=inputs,
        )  # fmt: skip
    return result


@whole_run
def switches(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """Yes-or-no quantities that are the same at most steps."""
    result: dict[str, Fact] = {}
    for name, key in (
        ("group_relative", "critic/returns/mean"), ("kl_in_reward", "critic/rewards/mean"),
        ("critic_present", "critic/advantages/mean"), ("estimator_family", "critic/returns/mean"),
        ("advantages_whitened", "critic/advantages/mean"),
    ):  # fmt: skip
        values = grid.values(key)
        if values is None:
            continue
        steps = [int(step) for step in grid.steps[np.isfinite(values)]]
        # A sample of steps over the run tells as much as all of them, and enters fewer facts.
        sample = steps if len(steps) <= 24 else [steps[i * (len(steps) - 1) // 23] for i in range(24)]
        facts = [fact for step in sample if (fact := derive(ledger, name, step, run)) is not None]
        if not facts:
            continue
        said = [fact.value for fact in facts]
        usual = max(set(said), key=said.count)
        agree = [fact for fact in facts if fact.value == usual]
        if 10 * len(agree) >= 9 * len(facts):
            result[name] = give(
                ledger, run, name, usual, formula=agree[0].formula or name, inputs=[agree[0]], n=len(agree),
                steps=(agree[0].step or 0, agree[-1].step or 0),
            )  # fmt: skip
    return result


@whole_run
def usual_values(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """Median over the steps of every quantity that is a formula over cells and constants."""
    result: dict[str, Fact] = {}
    names = found.names()
    for identity in identities().values():
        if not identity.applies(run.framework):
            continue
        for quantity in identity.quantities:
            if quantity.whole or quantity.needs:
                continue
            measured = evaluate(grid, quantity.formula.text, RELATIVE[identity.tolerance], names)
            if measured is None:
                continue
            held = np.isfinite(measured.value)
            if not held.any():
                continue
            steps = grid.steps[held]
            shown = quantity.formula.text.replace("{", "").replace("}", "").replace("*", "×")
            result[quantity.name] = give(
                ledger, run, quantity.name, float(np.median(measured.value[held])), unit=quantity.unit,
                formula=f"median over the steps of {shown}", n=int(held.sum()),
                inputs=cells_at(ledger, run, quantity.formula.keys, int(steps[0])),
                steps=(int(steps[0]), int(steps[-1])),
            )  # fmt: skip
    return result


@whole_run
def restarts(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """How often a peak that cannot fall did: restarts of the process (I-36)."""
    values = grid.values("perf/max_memory_allocated_gb")
    if values is None or np.isfinite(values).sum() < 2:
        return {}
    there = np.isfinite(values)
    v, steps = values[there], grid.steps[there]
    falls = np.flatnonzero(v[1:] < v[:-1] * (1 - 1e-9))
    inputs = cells_at(
        ledger, run, ["perf/max_memory_allocated_gb"], int(steps[falls[0] + 1] if len(falls) else steps[0])
    )
    return {
        "process_restarts": give(
            ledger, run, "process_restarts", len(falls), n=len(v), inputs=inputs, steps=(int(steps[0]), int(steps[-1])),
            formula="times that perf/max_memory_allocated_gb fell",
        )
    }  # fmt: skip


@whole_run
def multiples(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """Numbers that divide the completions and prompts of TRL's generation batch (I-44)."""
    result: dict[str, Fact] = {}
    for name, key in (
        ("completions_multiple", "completions/clipped_ratio"), ("prompts_multiple", "frac_reward_zero_std"),
    ):  # fmt: skip
        values = grid.values(key)
        known = None if values is None else denominator(values, grid.rounding(key))
        if known is None or known[0] < 2:
            continue
        steps = grid.steps[known[1]]
        result[name] = give(
            ledger, run, name, known[0], formula=f"least D with {key} × D whole at every row", n=len(steps),
            inputs=cells_at(ledger, run, [key], int(steps[0])), steps=(int(steps[0]), int(steps[-1])),
        )  # fmt: skip
    return result


def _increments(values: Values, steps: Values) -> tuple[Values, Values]:
    held = np.isfinite(values)
    return np.diff(values[held]), np.diff(steps[held])


@whole_run
def growth(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """Tokens a step, episodes a row, steps an epoch, and the window of a row (I-46, I-48, I-50, I-75)."""
    result: dict[str, Fact] = {}
    steps = grid.steps.astype(float)
    span = (int(grid.steps[0]), int(grid.steps[-1]))
    if len(steps) < 3:
        return result
    for name, key, unit in (("tokens_per_step", "num_tokens", "tokens"), ("episodes_per_row", "episode", None)):
        values = grid.values(key)
        if values is None or np.isfinite(values).sum() < 3:
            continue
        rise, apart = _increments(values, steps)
        per = rise / (apart if name == "tokens_per_step" else 1)
        result[name] = give(
            ledger, run, name, float(np.median(per)), unit=unit, n=len(per), steps=span,
            formula=f"median of Δ{key}" + (" / Δstep" if name == "tokens_per_step" else " from row to row"),
            inputs=cells_at(ledger, run, [key], span[1]),
        )  # fmt: skip
    epoch = grid.values("epoch")
    rising = epoch is not None and np.isfinite(epoch).sum() >= 3
    if epoch is not None and rising:
        held = np.isfinite(epoch)
        total, ran = float(epoch[held][-1] - epoch[held][0]), float(steps[held][-1] - steps[held][0])
        off = float(np.max(grid.rounding("epoch"))) * 2
        if total > 20 * off and total > 0 and run.step_axis != "index":
            result["steps_per_epoch"] = give(
                ledger, run, "steps_per_epoch", ran / total, n=int(held.sum()), steps=span,
                formula="Δstep / Δepoch, from the first row to the last",
                inputs=cells_at(ledger, run, ["epoch"], span[1]),
            )  # fmt: skip
    if run.framework in {"TRL", "ms-swift", "HF Trainer", "LLaMA-Factory"} and run.step_axis != "index":
        gaps, counts = np.unique(np.diff(grid.steps), return_counts=True)
        agree = int(counts.max())
        if 2 * agree >= len(grid.steps):
            result["logging_window"] = give(
                ledger, run, "logging_window", int(gaps[counts.argmax()]), formula="usual Δstep between rows",
                inputs=(), n=agree, steps=span,
            )  # fmt: skip
    return result


@whole_run
def other_signs(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """A gradient without any reward difference (I-49), rewards normalised before logging (I-61)."""
    result: dict[str, Fact] = {}
    flat, norm = grid.values("frac_reward_zero_std"), grid.values("grad_norm")
    if flat is not None and norm is not None:
        moved = np.isfinite(norm) & (flat == 1) & (norm != 0)
        if moved.any():
            steps = grid.steps[moved]
            result["other_gradient"] = give(
                ledger, run, "other_gradient", True, formula="frac_reward_zero_std = 1 and grad_norm ≠ 0",
                n=int(moved.sum()), inputs=cells_at(ledger, run, ("frac_reward_zero_std", "grad_norm"), int(steps[0])),
                steps=(int(steps[0]), int(steps[-1])),
            )  # fmt: skip
    rewards = grid.values("critic/rewards/mean")
    if rewards is not None and run.framework == "ROLL" and np.isfinite(rewards).sum() >= 3:
        held = np.isfinite(rewards)
        near = held & (np.abs(rewards) <= 1e-3)
        steps = grid.steps[held]
        result["rewards_normalised"] = give(
            ledger, run, "rewards_normalised", bool(10 * near.sum() >= 9 * held.sum()), n=int(held.sum()),
            formula="|critic/rewards/mean| ≤ 1e-3",
            inputs=cells_at(ledger, run, ["critic/rewards/mean"], int(steps[0])),
            steps=(int(steps[0]), int(steps[-1])),
        )  # fmt: skip
    return result


def _load_others() -> None:
    from assistant.analysis.identities import losses, schedules  # noqa: F401  (they register themselves)


_load_others()
