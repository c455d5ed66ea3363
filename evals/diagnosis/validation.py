"""A validation as verl computes it: ``mean@N``, ``std@N`` and 1000 bootstrap draws for best, worst and maj.

``verl/trainer/ppo/metric_utils.py#process_validation_metrics``: seed 42 for every problem, so all problems share the
draws; hence ``best@2 + worst@2 = 2 mean@N`` up to the draws. Problems are fixed for the whole run; their answers are
binomial, so the noise is that of the benchmark's size and samples.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from evals.diagnosis.world import Floats, Record, World, sigmoid, sigmoids

DRAWS = 1000
KINDS = 6
"""Wrong answers a problem has beside the right one, for the majority vote."""


@lru_cache(maxsize=64)
def _counts(samples: int, size: int) -> tuple[Floats, Floats]:
    """Distinct draws as (rows, samples) counts of how often each sample was drawn, and each row's share of draws."""
    draws = np.random.RandomState(42).choice(samples, size=(DRAWS, size), replace=True)
    counts = np.zeros((DRAWS, samples))
    for column in range(size):
        np.add.at(counts, (np.arange(DRAWS), draws[:, column]), 1.0)
    rows, times = np.unique(counts, axis=0, return_counts=True)
    return rows, times / DRAWS


def sizes(samples: int) -> list[int]:
    """Subset sizes 2, 4, 8 … below N, and N itself."""
    found = []
    size = 2
    while size < samples:
        found.append(size)
        size *= 2
    return [*found, samples] if samples > 1 else []


def validate(world: World, rng: np.random.Generator) -> Record:
    """Validation metrics of the current policy under verl's keys, and ``sim/val_acc``."""
    setup, policy, knobs = world.setup, world.policy, world.knobs
    bench = setup.validation
    fixed = np.random.default_rng((world.seed, 77)).standard_normal(bench.problems)
    able = policy.val_skill - 0.5 * knobs.mislead
    logit = policy.sharpness * (able - bench.difficulty - bench.spread * fixed)
    if setup.agentic:
        logit = logit + (knobs.tool_gain if policy.tool > 0 else -knobs.tool_gain) * (1 - 2.5 * knobs.tool_fail)
    fine = (1 - sigmoid(policy.corrupt)) * (1 - knobs.engine_damage) * (1 - sigmoid(policy.loop))
    fine *= (1 - 0.7 * sigmoid(policy.short)) * (1 - 0.6 * sigmoid(policy.hack))
    fine *= 1 - sigmoid(policy.void) if setup.agentic else 1.0
    over = policy.log_length + knobs.length_demand - float(np.log(setup.cap))
    fine *= 1 - sigmoid(over / max(setup.length_sd, 0.1) * 1.7)
    chance = sigmoids(logit) * (0.0 if policy.dead else fine)
    right = rng.random((bench.problems, bench.samples)) < chance[:, None]
    answers = np.where(right, 0, 1 + np.minimum(rng.geometric(0.45, right.shape) - 1, KINDS - 1))
    return _block(bench.name, right.astype(np.float64), answers, setup.low, setup.high)


def _block(name: str, right: Floats, answers: np.ndarray, low: float, high: float) -> Record:
    samples = right.shape[1]
    acc: dict[str, float] = {f"mean@{samples}": float(right.mean(axis=1).mean())}
    if samples > 1:
        acc[f"std@{samples}"] = float(right.std(axis=1).mean())
    votes = np.stack([(answers == kind).astype(np.float64) for kind in range(KINDS + 1)])
    tie = np.random.default_rng(5).random((KINDS + 1, 1, 1)) * 0.5
    for size in sizes(samples):
        counts, shares = _counts(samples, size)
        hits = np.einsum("ps,ds->pd", right, counts)  # no BLAS: its threads cost more than they save
        if size == 2:  # a tie goes to the answer drawn first: by symmetry, either one
            major = hits / 2
        else:
            ballot = np.einsum("kps,ds->kpd", votes, counts) + tie
            major = (ballot.argmax(axis=0) == 0).astype(np.float64)
        for kind, values in (("best", hits > 0), ("worst", hits >= size), ("maj", major)):
            chance = np.einsum("pd,d->p", values, shares)
            acc[f"{kind}@{size}/mean"] = float(chance.mean())
            acc[f"{kind}@{size}/std"] = float(np.sqrt(np.clip(chance * (1 - chance), 0, None)).mean())
    record: Record = {}
    span = high - low
    for variable in ("reward", "acc"):
        for key, value in acc.items():
            spreads = key.startswith("std@") or key.endswith("/std")
            shown = value if variable == "acc" else (span * value if spreads else low + span * value)
            core = (
                variable == "acc"
                and not spreads
                and "worst" not in key
                and (key.startswith("mean@") or f"@{samples}/" in key)
            )
            record[f"val-{'core' if core else 'aux'}/{name}/{variable}/{key}"] = shown
    record["sim/val_acc"] = acc[f"mean@{samples}"]
    if samples > 1:
        record["sim/val_best"] = acc[f"best@{samples}/mean"]
        record["sim/val_worst"] = acc[f"worst@{samples}/mean"]
    return record
