"""Which framework a set of metric keys belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_VERL: Final = (
    "actor/",
    "critic/",
    "timing_s/",
    "timing_per_token_ms/",
    "timing/",
    "perf/",
    "val-core/",
    "val-aux/",
    "val/test_score",
    "global_seqlen/",
    "response_length/",
    "prompt_length/",
    "training/global_step",
)
_SFT: Final = re.compile(r"train/(?:loss|lr(?:\(1e-3\))?|time\(s\)|grad_norm|global_tokens)$|val/loss$")
_ROLL: Final = re.compile(
    r"@sum$|time/.+/total$|memory/.+/(?:start|end)/(?:offload|onload)|system/tps$|tokens/response_length"
)


def detect_framework(keys: Iterable[str]) -> str | None:
    """``verl``, ``ROLL``, or ``None`` where the keys do not tell.

    ROLL shares ``actor/`` and ``critic/`` with verl and is told by keys that verl never prints.
    """
    names = list(keys)
    if any(_ROLL.search(name) for name in names):
        return "ROLL"
    if any(name.startswith(_VERL) for name in names) or is_verl_sft(names):
        return "verl"
    return None


def is_verl_sft(keys: Iterable[str]) -> bool:
    """Whether all keys are those of verl's supervised trainer: ``train/loss``, ``train/lr(1e-3)`` …"""
    names = list(keys)
    return bool(names) and all(_SFT.match(name) for name in names)


def is_validation(key: str) -> bool:
    """Whether a verl key belongs to the validation block."""
    return key.startswith(("val-", "val/", "test_score/"))
