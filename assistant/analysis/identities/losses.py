"""What the losses of a run tell: coefficients, weights of rewards, updates a step, KL estimators, DPO's β."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from assistant.analysis.identities.constants import Constants, cell
from assistant.analysis.identities.fits import Coefficient, combine, fit_relation
from assistant.analysis.identities.grid import Grid
from assistant.analysis.identities.laws import reward_parts
from assistant.analysis.identities.registry import RELATIVE, identities
from assistant.analysis.identities.relations import expand, keys_of
from assistant.analysis.identities.runs import cells_at, give, whole_run
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run


@whole_run
def coefficients(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """Coefficients of losses (KL, entropy), as fitted over all rows: value and sign are the data's."""
    result: dict[str, Fact] = {}
    for identity in identities().values():
        if not identity.applies(run.framework):
            continue
        for general in identity.verifies:
            if general.kind != "linear":
                continue
            for relation, _ in expand(grid, general):
                fit = fit_relation(grid, relation, found, RELATIVE[identity.tolerance])
                if fit is None:
                    continue
                rows = int(np.isfinite(fit.residual).sum())
                agree = fit.coefficients[0].rows
                # One row fixes one coefficient and proves nothing; more have to agree.
                if rows > len(fit.coefficients) and 4 * agree < 3 * rows:
                    continue
                keys = keys_of(relation.left, *(text for _, text in relation.terms))
                terms = " + ".join(f"{name} × {text}" for name, text in relation.terms)
                formula = f"{relation.left} = {terms}".replace("{", "").replace("}", "")
                for (name, _), coefficient in zip(relation.terms, fit.coefficients, strict=True):
                    if name not in result:
                        result[name] = _coefficient(ledger, run, name, coefficient, formula, keys)
    return result


def _coefficient(  # noqa: PLR0917
    ledger: Ledger, run: Run, name: str, found: Coefficient, formula: str, keys: Iterable[str]
) -> Fact:  # fmt: skip
    return give(
        ledger, run, name, found.value, formula=formula, n=found.rows, steps=(found.first, found.last),
        inputs=cells_at(ledger, run, keys, found.first),
    )  # fmt: skip


@whole_run
def reward_weights(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """Weights of the reward functions (I-42): ``reward_weights/<key>``."""
    parts = reward_parts(grid)
    if not parts or grid.values("reward") is None:
        return {}
    fit = combine(cell(grid, "reward", 3e-7), [cell(grid, part, 3e-7) for part in parts], grid.steps.astype(float))
    if fit is None or 4 * fit.coefficients[0].rows < 3 * int(np.isfinite(fit.residual).sum()):
        return {}
    formula = "reward = Σ weight × mean of the reward function"
    return {
        f"reward_weights/{part}": _coefficient(
            ledger, run, f"reward_weights/{part}", weight, formula, ("reward", *parts)
        )
        for part, weight in zip(parts, fit.coefficients, strict=True)
        if fit.coefficients[0].rows > len(parts)
    }


@whole_run
def updates(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """Updates a step (I-09) and what pg_loss was averaged over (I-10, I-11)."""
    result: dict[str, Fact] = {}
    kl, clip = grid.values("actor/ppo_kl"), grid.values("actor/pg_clipfrac")
    if kl is not None and clip is not None and run.framework == "verl":
        both = np.isfinite(kl) & np.isfinite(clip)
        still = both & (kl == 0) & (clip == 0)
        if both.any() and (still.sum() == both.sum() or not (both & (kl == 0)).any()):
            steps = grid.steps[both]
            inputs = cells_at(ledger, run, ("actor/ppo_kl", "actor/pg_clipfrac"), int(steps[0]))
            one = bool(still.any())
            result["single_update"] = give(
                ledger, run, "single_update", one, formula="actor/ppo_kl = actor/pg_clipfrac = 0 throughout",
                inputs=inputs, n=int(both.sum()), steps=(int(steps[0]), int(steps[-1])),
            )  # fmt: skip
            if not one:
                result["least_updates"] = give(
                    ledger, run, "least_updates", 2, formula="actor/ppo_kl or actor/pg_clipfrac differs from 0",
                    inputs=inputs, n=int(both.sum()), steps=(int(steps[0]), int(steps[-1])),
                )  # fmt: skip
    result.update(_loss_scale(ledger, run, grid, found))
    return result


def _loss_scale(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    mean, loss = grid.values("critic/advantages/mean"), grid.values("actor/pg_loss")
    if mean is None or loss is None or run.framework != "verl":
        return {}
    telling = np.isfinite(mean) & np.isfinite(loss) & (np.abs(mean) > 1e-3) & (loss != 0)
    if telling.sum() < 3:
        return {}
    steps = grid.steps[telling]
    span = (int(steps[0]), int(steps[-1]))
    keys = ("critic/advantages/mean", "actor/pg_loss")
    ratio = -mean[telling] / loss[telling]
    opposed = ratio > 0
    result = {
        "loss_opposes_advantage": give(
            ledger, run, "loss_opposes_advantage", bool(10 * opposed.sum() >= 9 * len(opposed)),
            formula="sign(actor/pg_loss) = −sign(critic/advantages/mean) at nine steps of ten", n=int(opposed.sum()),
            inputs=cells_at(ledger, run, keys, span[0]), steps=span,
        )
    }  # fmt: skip
    middle = float(np.median(ratio))
    near = np.abs(ratio / middle - 1) <= 0.25
    if middle <= 0 or 4 * near.sum() < 3 * len(ratio):
        return result
    scale = result["pg_loss_scale"] = give(
        ledger, run, "pg_loss_scale", middle, formula="median of −critic/advantages/mean / actor/pg_loss",
        n=int(near.sum()), inputs=cells_at(ledger, run, keys, span[0]), steps=span,
    )  # fmt: skip
    since, until = (run.version.since, run.version.until) if run.version else (None, None)
    in_window = (until is None or until > "2025-08-06") and (since is None or since < "2025-12-30")
    batch, parts = found.found.get("trajectories_per_step"), found.found.get("data_parallel_ranks")
    if not in_window or middle < 1.5 or batch is None or parts is None or batch.value % parts.value:
        return result
    share = int(batch.value / parts.value)
    fitting = [d for d in range(2, share + 1) if share % d == 0 and abs(d / middle - 1) <= 0.2]
    if len(fitting) == 1:
        result["micro_batches"] = give(
            ledger, run, "micro_batches", fitting[0], inputs=[scale], n=int(near.sum()), steps=span,
            formula="the divisor of a rank's trajectories within 20 % of pg_loss_scale "
            "(versions from 2025-08-06 to 2025-12-30 only)",
        )  # fmt: skip
    return result


@whole_run
def kl_families(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """Which estimator a KL is, from its sign (I-33, I-63), and whether ratios are exactly one (I-67, I-72)."""
    result: dict[str, Fact] = {}
    kl = grid.values("actor/kl_loss")
    if kl is not None and np.isfinite(kl).any():
        held = np.isfinite(kl)
        negative = held & (kl < 0)
        steps = grid.steps[negative if negative.any() else held]
        if negative.any() or held.sum() >= 20:
            family = "k1" if negative.any() else "k2, k3 or abs"
            result["kl_loss_family"] = give(
                ledger, run, "kl_loss_family", family,
                formula="actor/kl_loss < 0 somewhere: k1; never in 20 steps: not", n=len(steps),
                inputs=cells_at(ledger, run, ["actor/kl_loss"], int(steps[0])),
                steps=(int(steps[0]), int(steps[-1])),
            )  # fmt: skip
    one, other = grid.values("kl"), grid.values("logprobs_diff")
    if one is not None and other is not None and run.framework == "OpenRLHF":
        both = np.isfinite(one) & np.isfinite(other)
        same = both & (np.abs(one - other) <= 1e-9 + 1e-6 * np.abs(one))
        unlike = both & (one >= 0) & (other < 0)
        name = "k1" if same.sum() * 10 >= both.sum() * 9 else "k2 or k3" if unlike.any() and not (one < 0).any() else ""
        if name and both.any():
            steps = grid.steps[both]
            result["kl_estimator"] = give(
                ledger, run, "kl_estimator", name, formula="kl = logprobs_diff: k1; kl ≥ 0 > logprobs_diff: k2 or k3",
                n=int(both.sum()), inputs=cells_at(ledger, run, ("kl", "logprobs_diff"), int(steps[0])),
                steps=(int(steps[0]), int(steps[-1])),
            )  # fmt: skip
    for name, key, exact, allowed in (
        ("single_minibatch", "ppo_actor/update/importance_weight/avg", 1.0, 1e-7),
        ("on_policy_start", "train/ppo_kl", 0.0, 1e-8),
    ):
        values = grid.values(key)
        framework = "AReaL" if name == "single_minibatch" else "slime"
        if values is None or run.framework != framework or not np.isfinite(values).any():
            continue
        held = np.isfinite(values)
        equal = held & (np.abs(values - exact) <= allowed)
        steps = grid.steps[held]
        result[name] = give(
            ledger, run, name, bool(equal.sum() == held.sum()), formula=f"{key} = {exact:g} throughout",
            n=int(held.sum()), inputs=cells_at(ledger, run, [key], int(steps[0])),
            steps=(int(steps[0]), int(steps[-1])),
        )  # fmt: skip
    return result


@whole_run
def dpo_beta(ledger: Ledger, run: Run, grid: Grid, found: Constants) -> dict[str, Fact]:
    """DPO's β from a fixed evaluation set: Δrewards / Δlogps, chosen and rejected agreeing (I-51).

    Training rows hold other samples each time, whose reference log-probabilities differ, so they tell nothing.
    """
    slopes: list[float] = []
    first = last = 0
    for side in ("chosen", "rejected"):
        rewards, logps = grid.values(f"eval_rewards/{side}"), grid.values(f"eval_logps/{side}")
        if rewards is None or logps is None:
            return {}
        both = np.isfinite(rewards) & np.isfinite(logps)
        if both.sum() < 3:
            return {}
        up, across = np.diff(rewards[both]), np.diff(logps[both])
        slopes += [float(s) for s in (up / across)[across != 0]]
        first, last = int(grid.steps[both][0]), int(grid.steps[both][-1])
    if not slopes:
        return {}
    middle = float(np.median(slopes))
    agree = [slope for slope in slopes if abs(slope - middle) <= 0.02 * abs(middle)]
    if middle <= 0 or 4 * len(agree) < 3 * len(slopes):
        return {}
    inputs = cells_at(ledger, run, ("eval_rewards/chosen", "eval_logps/chosen"), last)
    value = float(f"{middle:.2g}") if math.isclose(float(f"{middle:.2g}"), middle, rel_tol=5e-3) else middle
    return {
        "dpo_beta": give(
            ledger, run, "dpo_beta", value, formula="median of Δeval_rewards / Δeval_logps, chosen and rejected",
            inputs=inputs, n=len(agree), steps=(first, last),
        )
    }  # fmt: skip
