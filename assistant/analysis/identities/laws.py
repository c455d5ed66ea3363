"""Checks of identities that are no single formula: counters, peaks, sums over many keys, bootstrap orders."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np

from assistant.analysis.identities.constants import Constants, cell
from assistant.analysis.identities.fits import combine
from assistant.analysis.identities.grid import Grid, Values
from assistant.analysis.identities.registry import Relation
from assistant.analysis.identities.relations import FLOOR, Outcome

REST_SIGMAS: Final = 25.0
"""Robust standard deviations of the remainder that count as not adding up: stalls of the driver lie within."""
MOST_FRACTIONS: Final = 4000
Law = Callable[[Grid, Relation, Constants], Iterator[Outcome]]
#: verl/trainer/ppo/ray_trainer.py#fit: what adds up to ``timing_s/step``; the rest of ``timing_s/*`` is nested.
STAGES: Final = (
    "gen", "reward", "old_log_prob", "ref", "values", "adv", "update_critic", "update_actor", "update_weights",
    "dump_rollout_generations",
)  # fmt: skip


def _outcome(
    relation: Relation, metrics: tuple[str, ...], residual: Values, allowed: Values | float, formula: str
) -> Outcome:
    with np.errstate(all="ignore"):
        tested = np.isfinite(residual)
        ratio = np.where(tested, np.abs(residual) / (np.asarray(allowed) + FLOOR), 0.0)
    return Outcome(relation, metrics, tested, tested & (ratio > 1), residual, ratio, formula)


def stages_fit(grid: Grid, relation: Relation, found: Constants) -> Iterator[Outcome]:
    """The stages sum to no more than the step (I-12), and to nearly all of it at a step like its others."""
    step = grid.values("timing_s/step")
    parts = [f"timing_s/{name}" for name in STAGES if grid.values(f"timing_s/{name}") is not None]
    if step is None or not {"timing_s/gen", "timing_s/update_actor"} <= set(parts):
        return
    columns = [grid.values(part) for part in parts]
    with np.errstate(all="ignore"):
        spent = np.sum([np.nan_to_num(column) for column in columns if column is not None], axis=0)
        gen = grid.values("timing_s/gen")
        assert gen is not None
        rest = np.where(np.isfinite(gen), step - spent, np.nan)
        error = np.sum([np.asarray(grid.rounding(part)) for part in [*parts, "timing_s/step"]], axis=0)
        allowed = error + 0.005 * step
    formula = "timing_s/step − (" + " + ".join(parts) + ") ≥ 0"
    metrics = ("timing_s/step", *parts)
    strict = _with(relation, share=0.9, least=3)
    yield _outcome(
        strict, metrics, np.where(rest < 0, rest, np.where(np.isfinite(rest), 0.0, np.nan)), allowed, formula
    )
    # The remainder is the driver's work: where it is small and steady, a step with another one does not add up,
    # unless a validation or a checkpoint falls into that step.
    plain = np.isfinite(rest)
    for column in [grid.values(f"timing_s/{name}") for name in ("testing", "save_checkpoint")]:
        if column is not None:
            plain &= ~np.isfinite(column)
    if plain.sum() >= 8:
        share = rest / step
        usual = float(np.median(share[plain]))
        scatter = 1.4826 * float(np.median(np.abs(share[plain] - usual)))
        limit = max(0.008, REST_SIGMAS * scatter) + float(np.median((error / step)[plain]))
        if 0 <= usual < 0.02 and limit < 0.1:
            off = np.where(plain, np.where(np.abs(share - usual) > limit, share - usual, 0.0), np.nan)
            yield _outcome(strict, metrics, off, limit / relation.gross, formula.replace("≥ 0", "≈ 0"))


def _with(relation: Relation, **fields: object) -> Relation:
    from dataclasses import replace

    return replace(relation, **fields)  # type: ignore[arg-type]


def peaks(grid: Grid, relation: Relation, found: Constants) -> Iterator[Outcome]:
    """A peak since the process started never falls: a dip or a spike that is gone at the next row is no peak (I-36).

    A fall that stays is a restart, which is no breach.
    """
    for metric in ("perf/max_memory_allocated_gb", "perf/max_memory_reserved_gb"):
        values = grid.values(metric)
        if values is None:
            continue
        there = np.flatnonzero(np.isfinite(values))
        residual = np.full(len(values), np.nan)
        if len(there) >= 4:
            v = values[there]
            before, own, after = v[:-2], v[1:-1], v[2:]
            rounding = np.asarray(grid.rounding(metric))[there][1:-1] * 2
            dip = (own < before - rounding) & (after >= before - rounding)
            spike = (own > after + rounding) & (np.abs(after - before) <= rounding)
            residual[there[1:-1]] = np.where(dip, own - before, np.where(spike, own - after, 0.0))
            yield _outcome(
                _with(relation, share=0.9, least=3), (metric,), residual, 1e-9 * np.abs(values) + grid.rounding(metric),
                f"{metric}(t) ≥ {metric}(t − 1)",
            )  # fmt: skip


def cumulative(grid: Grid, relation: Relation, found: Constants) -> Iterator[Outcome]:
    """A cumulative count never falls (unless a restart went back), nor jumps ahead of the rows that follow."""
    values = grid.values(relation.of)
    if values is None:
        return
    there = np.flatnonzero(np.isfinite(values))
    if len(there) < 4:
        return
    v = values[there]
    before, own, after = v[:-2], v[1:-1], v[2:]
    slack = np.asarray(grid.rounding(relation.of))[there][1:-1] * 2 + 1e-9 * np.abs(own)
    off = np.where(own < before - slack, own - before, np.where(own > after + slack, own - after, 0.0))
    off = np.where(after >= before - slack, off, 0.0)  # a restart: all that follows is lower
    odd = off != 0
    crowd = odd.copy()  # rows odd side by side are two runs interleaved, not an edit
    crowd[1:] &= odd[:-1]
    crowd[:-1] |= crowd[1:]
    off = np.where(crowd, 0.0, off)
    residual = np.full(len(values), np.nan)
    residual[there[1:-1]] = off
    allowed = np.zeros(len(values))
    allowed[there[1:-1]] = slack
    yield _outcome(
        _with(relation, share=0.9, least=3),
        (relation.of,),
        residual,
        allowed,
        f"{relation.of}(t) ≥ {relation.of}(t − 1)",
    )


def increments(grid: Grid, relation: Relation, found: Constants) -> Iterator[Outcome]:
    """A cumulative count grows by another metric from row to row."""
    values, by = grid.values(relation.of), grid.values(relation.by)
    if values is None or by is None or len(values) < 4:
        return
    residual = np.full(len(values), np.nan)
    apart = np.diff(grid.steps)
    residual[1:] = np.where(apart == 1, np.diff(values) - by[1:], np.nan)
    allowed = np.asarray(grid.rounding(relation.of)) * 2 + np.asarray(grid.rounding(relation.by)) + 1e-6
    formula = f"{relation.of}(t) − {relation.of}(t − 1) = {relation.by}(t)"
    yield _outcome(relation, (relation.of, relation.by), residual, allowed, formula)


def counter(grid: Grid, relation: Relation, found: Constants) -> Iterator[Outcome]:
    """A counter is the row's step plus the same offset throughout."""
    values = grid.values(relation.of)
    if values is None:
        return
    offset = values - grid.steps
    usual = float(np.nanmedian(offset))
    yield _outcome(relation, (relation.of,), offset - usual, 1e-6, f"{relation.of} = step")


def weighted_rewards(grid: Grid, relation: Relation, found: Constants) -> Iterator[Outcome]:
    """``reward`` is one combination of the reward functions' means throughout (I-42)."""
    parts = reward_parts(grid)
    if not parts or grid.values("reward") is None:
        return
    fit = combine(cell(grid, "reward", 3e-7), [cell(grid, part, 3e-7) for part in parts], grid.steps.astype(float))
    if fit is None or np.isfinite(fit.residual).sum() < len(parts) + 3:
        return
    formula = "reward = " + " + ".join(f"{c.value:g} × {part}" for c, part in zip(fit.coefficients, parts, strict=True))
    yield _outcome(relation, ("reward", *parts), fit.residual, fit.allowed * 1.5, formula)


def reward_parts(grid: Grid) -> tuple[str, ...]:
    """Means of the reward functions: ``rewards/k/mean``, ``rewards/k`` in older versions, spaced in notebooks."""
    named = [metric for metric in grid.run.columns if re.fullmatch(r"rewards/.+/mean", metric)]
    if named:
        return tuple(named)
    dpo = {"rewards/chosen", "rewards/rejected", "rewards/margins", "rewards/accuracies"}
    return tuple(m for m in grid.run.columns if re.fullmatch(r"rewards ?/ ?[^/]+", m) and m not in dpo)


def denominator(values: Values, error: Values | float, most: int = 65536) -> tuple[int, np.ndarray] | None:
    """The smallest whole D for which (almost) every value times D is whole, by more than chance.

    Returns:
        D and the values that agree, or ``None`` if there is no such D up to ``most``.
    """
    finite = np.isfinite(values)
    uncertain = np.asarray(np.broadcast_to(error, values.shape)) + 6e-8 * np.abs(values)
    lowest = float(np.median(uncertain[finite])) if finite.any() else 1.0
    least = max(lowest, 1e-12)
    fractions: Counter[int] = Counter()
    for value, times in zip(*np.unique(values[finite], return_counts=True), strict=True):
        if len(fractions) > MOST_FRACTIONS:
            break
        tolerance = max(6e-8 * abs(float(value)), least)
        fraction = Fraction(float(value)).limit_denominator(max(1, min(most, math.isqrt(int(0.05 / tolerance)))))
        if abs(float(fraction) - float(value)) <= tolerance:
            fractions[fraction.denominator] += int(times)
    common = 1
    for own, times in sorted(fractions.items()):
        # A prime that one row alone brings in is no property of the batch.
        new = own // math.gcd(own, common**16) if common > 1 else own
        if (times > 1 or new == 1 or sum(fractions[d] for d in fractions if d % new == 0) > 1) and (
            math.lcm(common, own) <= most
        ):
            common = math.lcm(common, own)
    off = np.abs(values * common - np.round(values * common))
    good = finite & (off <= uncertain * common + 1e-9)
    # By chance a value fits with probability 2 · error · D: it must say something.
    held, odd = int(good.sum()), int(finite.sum() - good.sum())
    if common * lowest > 0.02 or held < 3 or odd > max(1, 0.1 * (held + odd)):
        return None
    return common, good


def common_denominator(grid: Grid, relation: Relation, found: Constants) -> Iterator[Outcome]:
    """A share of a fixed number of samples is a multiple of one over it (I-44)."""
    values = grid.values(relation.of)
    if values is None or np.isfinite(values).sum() < 6:
        return
    error = np.asarray(grid.rounding(relation.of))
    known = denominator(values, error)
    if known is None or known[0] < 2 or known[0] > 4096:
        return
    scaled = values * known[0]
    residual = scaled - np.round(scaled)
    allowed = (error + 1e-7 * np.abs(values)) * known[0] + 1e-6
    # A sixteenth is what a batch sixteen times as large would leave: the batch is larger than the digits tell.
    finer = np.abs(residual * 16 - np.round(residual * 16)) <= allowed * 16
    residual = np.where(finer & np.isfinite(residual), 0.0, residual)
    yield _outcome(
        _with(relation, share=0.9, least=6), (relation.of,), residual, allowed, f"{relation.of} × {known[0]} ∈ ℤ"
    )


_VALIDATION: Final = re.compile(
    r"(?P<p>val-(?:core|aux))/(?P<s>[^@]+)/(?P<v>[^/@]+)/(?P<k>mean|std|best|worst|maj)@(?P<n>\d+)(?:/(?P<t>mean|std))?"
)


def validation_tables(grid: Grid) -> dict[tuple[str, str], dict[tuple[str, int], str]]:
    """Keys of the means by (source, variable), then (kind, n)."""
    tables: dict[tuple[str, str], dict[tuple[str, int], str]] = {}
    for metric in grid.run.columns:
        match = _VALIDATION.fullmatch(metric) if metric.startswith("val-") else None
        if match is not None and match["t"] != "std":
            tables.setdefault((match["s"], match["v"]), {})[match["k"], int(match["n"])] = metric
    return tables


def validation_order(grid: Grid, relation: Relation, found: Constants) -> Iterator[Outcome]:
    """best@n rises with n, worst@n falls, the mean lies between, each up to the bootstrap's error (I-40)."""
    relation = _with(relation, share=0.9, least=1)
    for keys in validation_tables(grid).values():
        means = [key for (kind, _), key in keys.items() if kind == "mean"]
        chain = [keys["worst", n] for n in sorted({n for k, n in keys if k == "worst"}, reverse=True)]
        chain += means[:1]
        chain += [keys["best", n] for n in sorted({n for k, n in keys if k == "best"})]
        ends = [grid.values(chain[0]), grid.values(chain[-1])] if len(chain) > 2 else [None, None]
        if ends[0] is None or ends[1] is None:
            continue
        spread = np.abs(ends[1] - ends[0])
        for low, high in pairwise(chain):
            a, b = grid.values(low), grid.values(high)
            if a is None or b is None:
                continue
            over = np.where(np.isfinite(a) & np.isfinite(b), np.maximum(a - b, 0.0), np.nan)
            allowed = 0.01 * np.nan_to_num(spread) + 1e-6 + grid.rounding(low) + grid.rounding(high)
            yield _outcome(relation, (low, high), over, allowed, f"{low} ≤ {high}")


def validation_bends(grid: Grid, relation: Relation, found: Constants) -> Iterator[Outcome]:
    """The expected best of n bends downwards in n and the worst upwards, so no point lies beyond a chord (I-40).

    E[max of n + 1] − E[max of n] falls with n for any distribution; the mean is n = 1.
    """
    relation = _with(relation, share=0.9, least=1, gross=4.0)
    for keys in validation_tables(grid).values():
        means = [key for (kind, _), key in keys.items() if kind == "mean"]
        for kind, sign in (("best", 1.0), ("worst", -1.0)):
            sizes = sorted({n for k, n in keys if k == kind})
            chain = [(1, means[0])] if means else []
            chain += [(n, keys[kind, n]) for n in sizes]
            columns = [grid.values(key) for _, key in chain]
            if len(chain) < 3 or any(column is None for column in columns):
                continue
            y = [np.asarray(column) * sign for column in columns]
            allowed = 0.01 * np.nan_to_num(np.abs(y[-1] - y[0])) + 1e-6
            for at in range(1, len(chain) - 1):
                (a, low), (b, mid), (c, high) = chain[at - 1 : at + 2]
                chord = y[at - 1] + (y[at + 1] - y[at - 1]) * (b - a) / (c - a)
                off = np.where(np.isfinite(chord + y[at]), np.maximum(chord - y[at], 0.0), np.nan)
                spread = sum(np.asarray(grid.rounding(key)) for key in (low, mid, high))
                shown = f"{mid} {'≥' if sign > 0 else '≤'} chord of {low} and {high}"
                yield _outcome(relation, (low, mid, high), off, allowed + spread, shown)


def validation_counts(grid: Grid, relation: Relation, found: Constants) -> Iterator[Outcome]:
    """mean@N of an accuracy times the answers is whole: with one number of problems at every validation (I-38)."""
    for (source, variable), keys in validation_tables(grid).items():
        if variable != "acc":
            continue
        for (kind, n), key in keys.items():
            values = grid.values(key)
            if kind != "mean" or values is None or np.isfinite(values).sum() < 4:
                continue
            known = denominator(values, grid.rounding(key))
            if known is None or known[0] > 65536:
                continue
            answers = math.lcm(known[0], n)
            residual = values * answers - np.round(values * answers)
            shown = f"{key} × {answers} ∈ ℤ"
            yield _outcome(_with(relation, share=0.9, least=4), (key,), residual, answers * 1e-7 + 1e-6, shown)
        del source


def schedule(grid: Grid, relation: Relation, found: Constants) -> Iterator[Outcome]:
    """A learning rate follows a smooth schedule: a single row off the line of its neighbours is not of it (I-74)."""
    for metric in ("actor/lr", "critic/lr", "learning_rate", "lr", "actor_lr", "train/lr"):
        values = grid.values(metric)
        if values is None:
            continue
        there = np.flatnonzero(np.isfinite(values))
        if len(there) < 7:
            continue
        v = values[there]
        off = np.zeros(len(v))
        # Two neighbours on either side that lie on one line among themselves, and not with the row between.
        a, b, own, c, d = v[:-4], v[1:-3], v[2:-2], v[3:-1], v[4:]
        # A rate such as 1e-06 is short, not rounded.
        unit = np.zeros(len(values)) if grid.style[0] == "full" else np.asarray(grid.rounding(metric))
        rounding = unit[there][2:-2] * 4
        slack = rounding + 1e-9 * np.abs(own) + 0.02 * (np.abs(b - a) + np.abs(d - c))
        smooth = (np.abs((c - b) - 2 * (b - a)) <= slack) & (np.abs((d - c) - (b - a)) <= slack)
        middle = (b + c) / 2
        off[2:-2] = np.where(smooth & (np.abs(own - middle) > 3 * slack + 1e-4 * np.abs(middle)), own - middle, 0.0)
        residual = np.full(len(values), np.nan)
        residual[there] = off
        allowed = unit * 4 + 1e-9 * np.abs(values)
        yield _outcome(_with(relation, share=0.9, least=5), (metric,), residual, allowed, f"{metric} smooth")


LAWS: Final[dict[str, Law]] = {
    "stages_fit": stages_fit, "peaks": peaks, "cumulative": cumulative, "increments": increments, "counter": counter,
    "weighted_rewards": weighted_rewards, "common_denominator": common_denominator,
    "validation_order": validation_order,
    "validation_bends": validation_bends, "validation_counts": validation_counts, "schedule": schedule,
}  # fmt: skip
