"""Further quantities of a step: counts with exact intervals, gaps between rewards, moments of a validation."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import cast

from assistant.analysis.identities.steps import (
    critic_present,
    derivation,
    group_relative,
    group_size,
    largest_advantage,
    number,
    trajectories,
    values_of,
)
from assistant.analysis.ledger import Ledger
from assistant.analysis.validation import ValidationSet, validation_sets
from assistant.model import Fact, Run

EPSILON = 1e-6
"""Added to a group's deviation (verl core_algos.py#compute_grpo_outcome_advantage)."""
MANTISSA = 2**24


@derivation("batch_multiple")
def batch_multiple(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """The largest power of two that the means of counts over the batch prove to divide it (I-04).

    A float32 mean over B samples is a fraction; with 2^j under the line in lowest terms, 2^j divides B.
    """
    best: tuple[int, Fact] | None = None
    keys = ("response_length/clip_ratio", "response_length/mean", "prompt_length/mean", "num_turns/mean")
    for key in keys:
        found = values_of(ledger, run, step, key)
        if found is None or found[0][1] == 0:
            continue
        # A mean that was rounded to decimals, or to float32, is a fraction with some other number under the line.
        base = Fraction(found[0][1]).denominator
        if base < 2 or abs(found[0][1]) * base >= MANTISSA:
            continue
        if best is None or base > best[0]:
            best = (base, found[0][0])
    if best is None:
        return None
    return ledger.derived(
        "batch_multiple", best[0], step=step, run=run, inputs=[best[1]],
        formula=f"{best[1].metric} = a / 2^j in lowest terms",
    )  # fmt: skip


def _clipped(ledger: Ledger, run: Run, step: int, side: int, name: str) -> Fact | None:
    from assistant.analysis.identities.binomial import interval
    from assistant.analysis.identities.steps import clipped_trajectories

    total, count = trajectories(ledger, run, step), clipped_trajectories(ledger, run, step)
    if total is None or count is None:
        return None
    k, n = cast("int", count.value), cast("int", total.value)
    if not 0 <= k <= n:
        return None
    return ledger.derived(
        name, interval(k, n)[side], unit="fraction", step=step, run=run, inputs=[count, total],
        formula="Clopper–Pearson 95 % of clipped_trajectories / trajectories_per_step",
    )  # fmt: skip


@derivation("clipped_share_low")
def clipped_share_low(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Lower end of the exact 95 % interval of the share that reached the length limit (I-05)."""
    return _clipped(ledger, run, step, 0, "clipped_share_low")


@derivation("clipped_share_high")
def clipped_share_high(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Upper end of the exact 95 % interval of the share that reached the length limit (I-05)."""
    return _clipped(ledger, run, step, 1, "clipped_share_high")


@derivation("estimator_family")
def estimator_family(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """``outcome`` (GRPO, RLOO …: returns are advantages), ``value`` (a critic) or ``discounted`` (neither) (I-21)."""
    relative, critic = group_relative(ledger, run, step), critic_present(ledger, run, step)
    if relative is None:
        return None
    if relative.value is True:
        family = "outcome"
    else:
        family = "value" if critic is not None and critic.value is True else "discounted"
    return ledger.derived(
        "estimator_family", family, step=step, run=run, inputs=[relative, critic],
        formula="returns = advantages: outcome; else a critic's keys: value; else discounted",
    )  # fmt: skip


@derivation("advantages_whitened")
def advantages_whitened(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Whether the mean advantage is nothing beside its extremes, as after whitening (I-22)."""
    found = values_of(ledger, run, step, "critic/advantages/mean", "critic/advantages/max", "critic/advantages/min")
    if found is None:
        return None
    mean, high, low = (value for _, value in found)
    span = max(abs(high), abs(low))
    if span == 0:
        return None
    return ledger.derived(
        "advantages_whitened", abs(mean) < 1e-4, step=step, run=run, inputs=[f for f, _ in found],
        formula="|critic/advantages/mean| < 1e-4",
    )  # fmt: skip


def _gap(ledger: Ledger, run: Run, step: int, part: str, name: str) -> Fact | None:
    size, found = group_size(ledger, run, step), values_of(ledger, run, step, f"critic/advantages/{part}")
    if size is None or found is None:
        return None
    n = cast("int", size.value)
    bound, reached = largest_advantage(n), abs(found[0][1])
    short = bound - reached
    # Below some units of the last place of a float32 nothing is resolved; beyond 1e-4 no reward stands alone.
    if not 8 * 2.0**-24 * bound < short < 1e-4:
        return None
    deviation = EPSILON * reached / short
    return ledger.derived(
        name, deviation * math.sqrt(n), step=step, run=run, inputs=[found[0][0], size],
        formula=f"√n · 1e-6·|A| / ((n − 1)/√n − |A|), A = critic/advantages/{part}",
    )  # fmt: skip


@derivation("reward_gap_low")
def reward_gap_low(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """How far the lone lowest reward lies below the others of its group, within a tenth (I-24)."""
    return _gap(ledger, run, step, "min", "reward_gap_low")


@derivation("reward_gap_high")
def reward_gap_high(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """How far the lone highest reward lies above the others of its group, within a tenth (I-24)."""
    return _gap(ledger, run, step, "max", "reward_gap_high")


def _accuracy(ledger: Ledger, run: Run, step: int, name: str) -> Fact | None:
    found = values_of(ledger, run, step, "critic/score/mean", "critic/score/max", "critic/score/min")
    if found is None:
        return None
    mean, right, low = (value for _, value in found)
    if right <= low or not low <= mean <= right:
        return None
    inputs = [fact for fact, _ in found]
    if name == "accuracy_high":
        value = (mean - low) / (right - low)
        formula = "(score/mean − score/min) / (score/max − score/min)"
    else:
        gap = reward_gap_high(ledger, run, step)
        distance = number(gap)
        if gap is None or distance is None or not 0 < distance <= (right - low) * 1.1:
            return None
        wrong = max(low, right - 0.9 * distance)  # float32 leaves the gap open by a tenth
        value = max(0.0, (mean - wrong) / (right - wrong))
        inputs.append(gap)
        formula = "(score/mean − b) / (score/max − b), b = score/max − 0.9 · reward_gap_high"
    return ledger.derived(name, value, unit="fraction", step=step, run=run, inputs=inputs, formula=formula)


@derivation("accuracy_low")
def accuracy_low(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """At least this share is right, if right answers earn the maximum and no wrong one comes nearer (I-27)."""
    return _accuracy(ledger, run, step, "accuracy_low")


@derivation("accuracy_high")
def accuracy_high(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """At most this share is right, if right answers earn the maximum (I-27)."""
    return _accuracy(ledger, run, step, "accuracy_high")


# --- validation ------------------------------------------------------------------------------------------


def _accuracy_table(run: Run, step: int) -> ValidationSet | None:
    return next((table for table in validation_sets(run, step) if table.variable == "acc"), None)


def _moments(ledger: Ledger, run: Run, step: int, *kinds: tuple[str, int | None]) -> list[tuple[Fact, float]] | None:
    table = _accuracy_table(run, step)
    if table is None:
        return None
    keys = [table.key(kind, n) for kind, n in kinds]
    return None if any(key is None for key in keys) else values_of(ledger, run, step, *cast("list[str]", keys))


@derivation("within_variance")
def within_variance(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Mean variance of one answer within a problem, for the first accuracy table: (best@2 − worst@2)/2 (I-40)."""
    found = _moments(ledger, run, step, ("best", 2), ("worst", 2))
    if found is None:
        return None
    return ledger.derived(
        "within_variance", max(0.0, (found[0][1] - found[1][1]) / 2), step=step, run=run,
        inputs=[f for f, _ in found], formula="(best@2/mean − worst@2/mean) / 2",
    )  # fmt: skip


@derivation("between_variance")
def between_variance(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Variance of the problems' accuracies, for the first accuracy table: worst@2 − mean² (I-40)."""
    found = _moments(ledger, run, step, ("worst", 2), ("mean", None))
    if found is None:
        return None
    value = found[0][1] - found[1][1] ** 2
    if value < 0:
        return None
    return ledger.derived(
        "between_variance", value, step=step, run=run, inputs=[f for f, _ in found],
        formula="worst@2/mean − (mean@N)²",
    )  # fmt: skip


@derivation("problem_multiple")
def problem_multiple(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """A number that divides the problems times samples: the denominator of mean@N in lowest terms (I-38)."""
    found = _moments(ledger, run, step, ("mean", None))
    table = _accuracy_table(run, step)
    if found is None or table is None:
        return None
    value = found[0][1]
    fraction = Fraction(value).limit_denominator(20_000)
    if abs(float(fraction) - value) > 1e-12 or fraction.denominator < 2:
        return None
    multiple = fraction.denominator // math.gcd(fraction.denominator, table.samples)
    return ledger.derived(
        "problem_multiple", multiple, step=step, run=run, inputs=[found[0][0]],
        formula=f"denominator of {found[0][0].metric} in lowest terms, without what N = {table.samples} gives",
    )  # fmt: skip


def _at_most(ledger: Ledger, run: Run, step: int, kind: str, name: str) -> Fact | None:
    from assistant.analysis.validation import problem_count

    table, found = _accuracy_table(run, step), _moments(ledger, run, step, (kind, None))
    problems = None if table is None else problem_count(run, table, step, {})
    if found is None or not problems or not 0 <= found[0][1] <= 1:
        return None
    share = 1 - found[0][1] if kind == "best" else found[0][1]
    formula = "⌊P · (1 − best@N)⌋" if kind == "best" else "⌊P · worst@N⌋"
    return ledger.derived(
        name, math.floor(problems * share + 1e-9), step=step, run=run, inputs=[found[0][0]],
        formula=f"{formula}, P = {problems}",
    )  # fmt: skip


@derivation("never_solved_at_most")
def never_solved_at_most(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """At most so many problems were never solved: one that was not adds 1 to 1 − best@N (I-40)."""
    return _at_most(ledger, run, step, "best", "never_solved_at_most")


@derivation("always_solved_at_most")
def always_solved_at_most(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """At most so many problems were solved in every try: one that was adds 1 to worst@N (I-40)."""
    return _at_most(ledger, run, step, "worst", "always_solved_at_most")


@derivation("reward_of_wrong")
def reward_of_wrong(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Mean reward of wrong answers in a validation, if right ones earn the training maximum or 1 (I-41)."""
    tables = {table.variable: table for table in validation_sets(run, step)}
    if "acc" not in tables or "reward" not in tables or tables["acc"].source != tables["reward"].source:
        return None
    keys = [tables[name].key("mean") for name in ("acc", "reward")]
    if None in keys:
        return None
    found = values_of(ledger, run, step, *cast("list[str]", keys))
    if found is None or not 0 <= found[0][1] < 1:
        return None
    acc, reward = found[0][1], found[1][1]
    return ledger.derived(
        "reward_of_wrong", (reward - acc) / (1 - acc), step=step, run=run, inputs=[f for f, _ in found],
        formula="(reward/mean@N − acc/mean@N × 1) / (1 − acc/mean@N)",
    )  # fmt: skip


# --- other frameworks ------------------------------------------------------------------------------------


@derivation("flat_groups")
def flat_groups(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Groups whose rewards are all the same, summed over the rewards' values (slime, I-68)."""
    keys = [m for m in run.columns if re.fullmatch(r"(?:rollout/)?zero_std/count_.+", m)]
    held = [fact for key in keys if (fact := ledger.value(key, step, run)) is not None and number(fact) is not None]
    if not held:
        return None
    total = float(sum(float(cast("float", fact.value)) for fact in held))
    if not total.is_integer():
        return None
    return ledger.derived(
        "flat_groups", int(total), step=step, run=run, inputs=held, formula=" + ".join(str(f.metric) for f in held)
    )


@derivation("device_memory")
def device_memory(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Memory of a GPU: a peak over the share that it is of the device (ROLL, I-60)."""
    for key in run.columns:
        match = re.fullmatch(r"(memory/.+)/(max_allocated|max_reserved)(/\d+|)", key)
        share = match and f"{match[1]}/{match[2]}_frac{match[3]}"
        if not share or share not in run.columns:
            continue
        found = values_of(ledger, run, step, key, share)
        if found is not None and 0 < found[1][1] <= 1:
            return ledger.derived(
                "device_memory", found[0][1] / found[1][1], step=step, run=run, inputs=[f for f, _ in found],
                formula=f"{key} / {share}",
            )  # fmt: skip
    return None
