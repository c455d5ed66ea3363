"""Which words are names of metrics and which are settings."""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = frozenset(
    {
        "acc",
        "accuracy",
        "advantage",
        "advantages",
        "approx_kl",
        "approxkl",
        "auc",
        "clip_frac",
        "clipfrac",
        "entropy",
        "epoch",
        "eval_loss",
        "explained_variance",
        "f1",
        "grad_norm",
        "gradnorm",
        "kl",
        "kl_loss",
        "kld",
        "loss",
        "losses",
        "lr",
        "mfu",
        "objective",
        "pass@1",
        "perplexity",
        "pg_loss",
        "policy_gradient_loss",
        "policy_loss",
        "policykl",
        "ppl",
        "precision",
        "ratio",
        "recall",
        "return",
        "returns",
        "reward",
        "reward_std",
        "rewards",
        "score",
        "scores",
        "step_time",
        "success_rate",
        "throughput",
        "tps",
        "train_loss",
        "val_loss",
        "value_loss",
        "vf_loss",
        "win_rate",
    }
)
_SETTINGS: Final = frozenset(
    {
        "adam_beta1",
        "adam_beta2",
        "adam_epsilon",
        "batch_size",
        "bos_token_id",
        "clip_epsilon",
        "clip_ratio",
        "cliprange",
        "cliprange_value",
        "entropy_coef",
        "entropy_coeff",
        "eos_token_id",
        "eval_batch_size",
        "eval_steps",
        "gpu_memory_utilization",
        "gradient_accumulation_steps",
        "group_size",
        "hidden_size",
        "init_kl_coef",
        "kl_coef_init",
        "learning_rate",
        "logging_steps",
        "lora_alpha",
        "lora_dropout",
        "lora_rank",
        "max_grad_norm",
        "max_length",
        "max_model_len",
        "max_new_tokens",
        "max_prompt_length",
        "max_response_length",
        "max_steps",
        "max_tokens",
        "micro_batch_size",
        "min_p",
        "mini_batch_size",
        "n_gpus",
        "n_gpus_per_node",
        "nnodes",
        "num_attention_heads",
        "num_envs",
        "num_epochs",
        "num_generations",
        "num_gpus",
        "num_layers",
        "num_rollouts",
        "num_train_epochs",
        "num_workers",
        "pad_token_id",
        "ppo_epochs",
        "ppo_micro_batch_size",
        "ppo_mini_batch_size",
        "random_seed",
        "repetition_penalty",
        "save_freq",
        "save_steps",
        "tensor_model_parallel_size",
        "test_freq",
        "top_k",
        "top_p",
        "total_epochs",
        "total_steps",
        "total_training_steps",
        "train_batch_size",
        "value_loss_coef",
        "vf_coef",
        "vocab_size",
        "warmup_ratio",
        "warmup_steps",
        "weight_decay",
    }
)
_PATH: Final = re.compile(r"[A-Za-z][\w.@+()-]*(?:/[\w.@+()-]+)+")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9@]+)+")


def is_metric_name(key: str) -> bool:
    """Whether a key looks like a metric's: a path, a name with underscores, or a well-known word.

    Names of settings (``learning_rate``, ``batch_size`` …) are not metrics, nor are single common words.
    """
    lower = key.lower()
    if lower in _WORDS:
        return True
    if lower in _SETTINGS:
        return False
    return _PATH.fullmatch(key) is not None or _NAME.fullmatch(key) is not None
