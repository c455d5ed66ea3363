"""GPUs of the actor from how many parts a batch's tokens are split into, where the log lacks its throughput (verl)."""

from __future__ import annotations

import math
from statistics import median
from typing import Final

from assistant.ask.context import Context
from assistant.ask.parts import number
from assistant.model import Fact

#: Since 2025-12-31 (commit b16e0488a) verl splits tokens over data-parallel ranks; before, over the actor's GPUs
#: (verl/utils/seqlen_balancing.py#log_seqlen_unbalance).
OF_RANKS: Final = "2025-12-31"
_KEYS: Final = ("prompt_length/mean", "response_length/mean", "global_seqlen/mean")
_GENERATION: Final = ("timing_s/gen", "timing_per_token_ms/gen")
#: Steps looked at, how many at least must show it, how near to a whole number.
MOST, LEAST, WHOLE = 20, 3, 1e-4


def gpus(context: Context) -> tuple[list[str], list[str]]:
    """The item and the line that tell the parts; empty where the log does not settle them.

    The trajectories of a step follow from the time of generation and the time per token, nearly; that their tokens
    over the mean of a part come out whole at the steps settles both.
    """
    if context.run.framework != "verl":
        return [], []
    rows = [row for step in context.train_steps[:MOST] if (row := _row(context, step)) is not None]
    if len(rows) < LEAST:
        return [], []
    batch = round(median(gen * 1000 / each / response for _, response, _, gen, each in _numbers(rows)))
    parts = [batch * (prompt + response) / mean for prompt, response, mean, *_ in _numbers(rows)]
    count = round(median(parts))
    if batch < 1 or count < 1 or not all(abs(part - count) <= WHOLE * count for part in parts):
        return [], []
    prompt, response, mean, gen, each = rows[0]
    trajectories = context.ledger.derived(
        "trajectories_by_rate", batch, inputs=[gen, each, response], step=gen.step,
        formula="1000 × timing_s/gen / timing_per_token_ms/gen / response_length/mean, rounded",
    )  # fmt: skip
    version = context.run.version
    old = version is not None and version.until is not None and version.until < OF_RANKS
    fact = context.ledger.derived(
        "actor_gpus" if old else "token_partitions", count, inputs=[trajectories, prompt, response, mean],
        step=gen.step, formula="trajectories × (prompt_length/mean + response_length/mean) / global_seqlen/mean",
    )  # fmt: skip
    context.metrics.append("global_seqlen/mean")
    name = "gpus" if old else "ranks"
    line = context.say(
        f"partitions.{name}", v=fact, batch=trajectories, prompt=prompt, response=response, mean=mean,
        n=context.ledger.count("steps that show it", len(rows)),
    )  # fmt: skip
    return [context.say(f"partitions.item_{name}", v=fact)], [line]


def _row(context: Context, step: int) -> list[Fact] | None:
    facts = [context.value(key, step) for key in (*_KEYS, *_GENERATION)]
    held = [fact for fact in facts if fact is not None and math.isfinite(number(fact)) and number(fact) > 0]
    return held if len(held) == len(facts) else None


def _numbers(rows: list[list[Fact]]) -> list[list[float]]:
    """Prompt, response, mean of a part, seconds of generation, milliseconds a token."""
    return [[number(fact) for fact in row] for row in rows]
