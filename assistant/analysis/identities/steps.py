"""What one step implies, where that takes more than a formula: GPUs, batch, group size, critic, counts.

Each derivation states its formula and inputs; one whose condition fails (a fraction where an integer must
come out) gives nothing rather than a rounded guess. Those that are one formula stand in ``data/*.yaml``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

from assistant.analysis.keeping import kept_with_run
from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run

Derivation = Callable[[Ledger, Run, int], "Fact | None"]
CODED: dict[str, Derivation] = {}


def derivation(name: str) -> Callable[[Derivation], Derivation]:
    """Registers a function under the name of the quantity it derives."""

    def register(function: Derivation) -> Derivation:
        CODED[name] = function
        return function

    return register


def number(fact: Fact | None) -> float | None:
    """The finite number of a fact, if it is one."""
    if fact is None or not isinstance(fact.value, (int, float)) or not math.isfinite(fact.value):
        return None
    return float(fact.value)


def values_of(ledger: Ledger, run: Run, step: int, *metrics: str) -> list[tuple[Fact, float]] | None:
    """Cells of a step with their numbers; ``None`` if one is missing or not finite."""
    result = []
    for metric in metrics:
        fact = ledger.value(metric, step, run)
        value = number(fact)
        if fact is None or value is None:
            return None
        result.append((fact, value))
    return result


def whole_number(value: float, tolerance: float = 1e-5) -> int | None:
    """The integer that a quotient of printed float32 means must come out as; ``None`` if it does not."""
    nearest = round(value)
    return nearest if nearest > 0 and abs(value - nearest) <= min(tolerance * nearest, 0.05) else None


@derivation("n_gpus")
def n_gpus(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """GPUs in all resource pools: ``perf/throughput`` is tokens/s **per GPU** (metric_utils.py)."""
    found = values_of(ledger, run, step, "perf/total_num_tokens", "perf/throughput", "perf/time_per_step")
    found = found or values_of(ledger, run, step, "perf/total_num_tokens", "perf/throughput", "timing_s/step")
    if found is None:
        return None
    (_, tokens), (_, rate), (_, seconds) = found
    count = whole_number(tokens / (rate * seconds), 2e-3) if rate > 0 and seconds > 0 else None
    if count is None:
        return None
    return ledger.derived(
        "n_gpus", count, step=step, run=run, inputs=[f for f, _ in found],
        formula="perf/total_num_tokens / (perf/throughput × perf/time_per_step)",
    )  # fmt: skip


@derivation("trajectories_per_step")
def trajectories(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Trajectories in a step: all tokens ÷ mean tokens of a trajectory (prompt + response)."""
    found = values_of(ledger, run, step, "perf/total_num_tokens", "prompt_length/mean", "response_length/mean")
    if found is None:
        return None
    (_, tokens), (_, prompt), (_, response) = found
    count = whole_number(tokens / (prompt + response)) if prompt + response > 0 else None
    if count is None or not _steady(run):
        return None
    return ledger.derived(
        "trajectories_per_step", count, step=step, run=run, inputs=[f for f, _ in found],
        formula="perf/total_num_tokens / (prompt_length/mean + response_length/mean)",
    )  # fmt: skip


@kept_with_run
def _steady(run: Run) -> bool:
    """Whether tokens ÷ length comes out whole at most of the first steps: one that does may do so by chance."""
    metrics = ("perf/total_num_tokens", "prompt_length/mean", "response_length/mean")
    rows = [[run.value(metric, step) for metric in metrics] for step in run.distinct_steps]
    whole = [
        whole_number(tokens / (prompt + response)) is not None
        for tokens, prompt, response in rows
        if tokens is not None and prompt is not None and response is not None and prompt + response > 0
    ][:12]
    return 2 * sum(whole) > len(whole)


@derivation("group_relative")
def group_relative(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Whether the advantage estimator is group-relative or outcome-only: returns equal advantages."""
    pairs = [(f"critic/advantages/{part}", f"critic/returns/{part}") for part in ("mean", "max", "min")]
    found = [values_of(ledger, run, step, *pair) for pair in pairs]
    if any(pair is None for pair in found):
        return None
    complete = cast("list[list[tuple[Fact, float]]]", found)
    equal = all(pair[0][1] == pair[1][1] for pair in complete)
    return ledger.derived(
        "group_relative", equal, step=step, run=run, inputs=[fact for pair in complete for fact, _ in pair],
        formula="critic/returns/{mean,max,min} = critic/advantages/{mean,max,min}",
    )  # fmt: skip


@derivation("critic_present")
def critic_present(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Whether a value network is trained: ``critic/values/*``, ``critic/vf_*`` or ``timing_s/values`` exist."""
    cells = run.at(step)
    own = [m for m in cells if m.startswith(("critic/values/", "critic/vf_", "critic/vpred", "timing_s/values"))]
    own += [m for m in cells if m in {"critic/lr", "critic/grad_norm", "timing_s/update_critic"}]
    if own:
        inputs = [ledger.value(m, step, run) for m in own[:3]]
        formula = "critic/values/*, critic/vf_* present"
        return ledger.derived("critic_present", True, step=step, run=run, inputs=inputs, formula=formula)
    relative = group_relative(ledger, run, step)
    if relative is None or relative.value is not True:
        return None
    return ledger.derived(
        "critic_present", False, step=step, run=run, inputs=[relative],
        formula="no critic/values/*, critic/vf_*, timing_s/values; returns = advantages",
    )  # fmt: skip


def largest_advantage(n: int) -> float:
    """(n−1)/√n: the largest |advantage| in a group of n under z-scores with ddof = 1 (Samuelson 1968)."""
    return (n - 1) / math.sqrt(n)


@derivation("group_size")
def group_size(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Responses per prompt, from the largest |advantage|: (n−1)/√n when one reward of n stands alone.

    Nothing where the extreme is not such a bound: a step may hold no group with a lone outlier.
    """
    relative = group_relative(ledger, run, step)
    if relative is None or relative.value is not True:
        return None
    extremes = values_of(ledger, run, step, "critic/advantages/max", "critic/advantages/min")
    if extremes is None:
        return None
    bound = max(abs(value) for _, value in extremes)
    if bound <= 0:
        return None
    exact = ((bound + math.sqrt(bound * bound + 4)) / 2) ** 2
    size = whole_number(exact, 2e-3)
    if size is None or size < 2 or abs(largest_advantage(size) - bound) > 2e-4 * bound:
        return None
    total = trajectories(ledger, run, step)
    if total is not None and isinstance(total.value, int) and total.value % size:
        return None
    top = ledger.derived(
        "largest_abs_advantage", bound, step=step, run=run, inputs=[f for f, _ in extremes],
        formula="max(|critic/advantages/max|, |critic/advantages/min|)",
    )  # fmt: skip
    return ledger.derived(
        "group_size", size, step=step, run=run, inputs=[top, relative],
        formula="n with (n − 1)/√n = largest_abs_advantage",
    )  # fmt: skip


@derivation("prompts_per_step")
def prompts(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Prompts in a step: trajectories ÷ group size."""
    total, size = trajectories(ledger, run, step), group_size(ledger, run, step)
    if total is None or size is None:
        return None
    whole, n = cast("int", total.value), cast("int", size.value)
    return ledger.derived(
        "prompts_per_step", whole // n, step=step, run=run, inputs=[total, size],
        formula="trajectories_per_step / group_size",
    )  # fmt: skip


@derivation("data_parallel_ranks")
def ranks(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Partitions of the batch: all tokens ÷ ``global_seqlen/mean`` (ranks of the actor, or data-parallel ones)."""
    found = values_of(ledger, run, step, "perf/total_num_tokens", "global_seqlen/mean")
    if found is None or found[1][1] <= 0:
        return None
    count = whole_number(found[0][1] / found[1][1], 1e-6)
    if count is None:
        return None
    return ledger.derived(
        "data_parallel_ranks", count, step=step, run=run, inputs=[f for f, _ in found],
        formula="perf/total_num_tokens / global_seqlen/mean",
    )  # fmt: skip


@derivation("cluster_throughput")
def cluster_throughput(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Tokens per second of the whole cluster: ``perf/throughput`` × GPUs."""
    gpus, found = n_gpus(ledger, run, step), values_of(ledger, run, step, "perf/throughput")
    if gpus is None or found is None:
        return None
    return ledger.derived(
        "cluster_throughput", found[0][1] * cast("int", gpus.value), unit="tokens/s", step=step, run=run,
        inputs=[found[0][0], gpus], formula="perf/throughput × n_gpus",
    )  # fmt: skip


@derivation("response_token_share")
def response_share(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Share of all tokens that are response tokens."""
    found = values_of(ledger, run, step, "prompt_length/mean", "response_length/mean")
    if found is None:
        return None
    (_, prompt), (_, response) = found
    if prompt + response <= 0:
        return None
    return ledger.derived(
        "response_token_share", response / (prompt + response), unit="fraction", step=step, run=run,
        inputs=[f for f, _ in found], formula="response_length/mean / (prompt_length/mean + response_length/mean)",
    )  # fmt: skip


@derivation("kl_in_reward")
def kl_in_reward(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Whether a KL penalty is inside the reward: scores differ from rewards."""
    pairs = [values_of(ledger, run, step, f"critic/score/{p}", f"critic/rewards/{p}") for p in ("mean", "max", "min")]
    if any(pair is None for pair in pairs):
        return None
    complete = cast("list[list[tuple[Fact, float]]]", pairs)
    differs = any(pair[0][1] != pair[1][1] for pair in complete)
    if not differs and "actor/reward_kl_penalty" in run.columns:
        return None  # logged only with a penalty in the reward, which is zero while the policy is the reference
    return ledger.derived(
        "kl_in_reward", differs, step=step, run=run, inputs=[fact for pair in complete for fact, _ in pair],
        formula="critic/score/{mean,max,min} ≠ critic/rewards/{mean,max,min}",
    )  # fmt: skip


@derivation("imbalance_before")
def imbalance_before(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """The gap between ranks *had the batch not been balanced*, relative to the mean."""
    found = values_of(ledger, run, step, "global_seqlen/minmax_diff", "global_seqlen/mean")
    if found is None or found[1][1] <= 0:
        return None
    return ledger.derived(
        "imbalance_before", found[0][1] / found[1][1], unit="fraction", step=step, run=run,
        inputs=[f for f, _ in found], formula="global_seqlen/minmax_diff / global_seqlen/mean",
    )  # fmt: skip


@derivation("imbalance_after")
def imbalance_after(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """The imbalance that was realised: how far the fullest rank is above the mean."""
    found = values_of(ledger, run, step, "global_seqlen/balanced_max", "global_seqlen/mean")
    if found is None or found[1][1] <= 0:
        return None
    return ledger.derived(
        "imbalance_after", found[0][1] / found[1][1] - 1, unit="fraction", step=step, run=run,
        inputs=[f for f, _ in found], formula="global_seqlen/balanced_max / global_seqlen/mean − 1",
    )  # fmt: skip


@derivation("excess_tokens")
def excess_tokens(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Tokens that the fullest rank holds above the mean, after balancing."""
    found = values_of(ledger, run, step, "global_seqlen/balanced_max", "global_seqlen/mean")
    if found is None:
        return None
    return ledger.derived(
        "excess_tokens", found[0][1] - found[1][1], unit="tokens", step=step, run=run, inputs=[f for f, _ in found],
        formula="global_seqlen/balanced_max − global_seqlen/mean",
    )  # fmt: skip


@derivation("clipped_trajectories")
def clipped_trajectories(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """How many trajectories reached the length limit: clip ratio × trajectories (an integer)."""
    total, found = trajectories(ledger, run, step), values_of(ledger, run, step, "response_length/clip_ratio")
    if total is None or found is None:
        return None
    exact = found[0][1] * cast("int", total.value)
    if abs(exact - round(exact)) > 0.01:
        return None
    return ledger.derived(
        "clipped_trajectories", round(exact), step=step, run=run, inputs=[found[0][0], total],
        formula="response_length/clip_ratio × trajectories_per_step",
    )  # fmt: skip


@derivation("tail_utilisation")
def tail_utilisation(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Share of the batch in flight on average: a trajectory's mean time over the stage's (Little's law)."""
    stem = "timing_s/agent_loop/"
    found = values_of(ledger, run, step, stem + "generate_sequences/mean", "timing_s/gen", stem + "tool_calls/mean")
    found = found or values_of(ledger, run, step, stem + "generate_sequences/mean", "timing_s/gen")
    if found is None or found[1][1] <= 0:
        return None
    busy = found[0][1] + (found[2][1] if len(found) > 2 else 0.0)
    return ledger.derived(
        "tail_utilisation", busy / found[1][1], unit="fraction", step=step, run=run,
        inputs=[f for f, _ in found],
        formula="(timing_s/agent_loop/generate_sequences/mean + tool_calls/mean) / timing_s/gen",
    )  # fmt: skip


@derivation("generation_rate")
def generation_rate(ledger: Ledger, run: Run, step: int) -> Fact | None:
    """Response tokens generated per second, cluster-wide: 1000 ÷ ``timing_per_token_ms/gen``."""
    found = values_of(ledger, run, step, "timing_per_token_ms/gen")
    if found is None or found[0][1] <= 0:
        return None
    return ledger.derived(
        "generation_rate", 1000 / found[0][1], unit="tokens/s", step=step, run=run, inputs=[found[0][0]],
        formula="1000 / timing_per_token_ms/gen",
    )  # fmt: skip
