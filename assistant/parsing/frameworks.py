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
_SLIME: Final = re.compile(
    r"train/(?:ppo_kl|train_rollout_logprob_abs_diff|lr-pg_[0-9]+|tis(?:_\w+)?|ois)$"
    r"|rollout/(?:raw_reward|rollout_log_probs|response_len/\w+|zero_std/\S+|truncated_ratio)$"
    r"|perf/(?:(?:actor_train|train_wait|rollout|step|train|sleep|wake_up|update_weights)_time|wait_time_ratio|\w+_tflops)$"
)
_SKYRL: Final = re.compile(
    r"timing/(?:policy_train|fwd_logprobs_values_reward|train_critic_and_policy)$|reward/avg_pass_at_[0-9]+$"
    r"|loss/avg_(?:raw|final)_(?:rewards|advantages)$|generate/avg_num_tokens$|policy/policy_entropy$"
)
_AREAL: Final = re.compile(r"ppo_(?:actor|critic)/|timeperf/|rollout/(?:ppo_actor|n_)")


def detect_framework(keys: Iterable[str]) -> str | None:
    """``verl``, ``ROLL``, ``slime``, ``SkyRL``, ``AReaL``, or ``None`` where the keys do not tell.

    The others share ``actor/``, ``critic/``, ``perf/`` and ``timing/`` with verl and are told by keys that verl never
    prints.
    """
    names = list(keys)
    if any(_AREAL.match(name) for name in names):
        return "AReaL"
    for framework, own in (("ROLL", _ROLL), ("slime", _SLIME), ("SkyRL", _SKYRL)):
        if any(own.search(name) for name in names):
            return framework
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
