"""A mean or an extreme at the step told before: "那步工具平均等多久" is a value of that step, not of the run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.ask.query import Query
from assistant.ask.that_step import that_step
from assistant.model import Run, StepSlot

_LEAVES: Final = {"mean": "mean", "max": "max", "min": "min", "argmax": "max", "argmin": "min"}
#: A part of the run that the step bounds, or the whole of it.
_A_PART: Final = re.compile(
    r"(?i)(?:步|step|时候|行|次|时|那|此)\s*(?:之|以|往)?(?:前|后)|[步时候次]\s*(?:起|开始|为止|止)|到(?:那|这|该|此)|全程|整个|一路|前后"
    r"|\b(?:before|after|since|until|till|up to|from|whole|entire|overall)\b|哪|第几|\bwhich\b|\bwhen\b"
)


def at_that_step(own: Query, text: str, runs: Sequence[Run]) -> Query:
    """The query about the member of each family that the operation names, at a step to be told; others as they are."""
    leaf = _LEAVES.get(own.op or "")
    named = [mention.key for mention in own.mentions]
    if own.steps.kind != "all" or leaf is None or not runs or not named or None in named or own.threshold is not None:
        return own
    if not that_step(text) or _A_PART.search(text):
        return own
    mentions = []
    for mention in own.mentions:
        family, _, last = str(mention.key).rpartition("/")
        other = f"{family}/{leaf}" if last in {"mean", "max", "min"} else ""
        key = other if other in runs[0].columns else str(mention.key)
        mentions.append(replace(mention, key=key))
    return replace(
        own, mentions=tuple(mentions), steps=StepSlot(), all_steps=(), op=None, asked_op=None, topics=(),
        intent="lookup",
    )  # fmt: skip
