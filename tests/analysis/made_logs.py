"""Rows as the frameworks compute them, from samples drawn at random: what every identity holds for, with the truth."""

from __future__ import annotations

import math
import struct

import numpy as np

from assistant.model import Number, Run

from .support import run_of

STEPS = 14
Row = dict[str, Number]


def single(value: float) -> float:
    """The value as float32 holds it."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


def verl_rows(
    steps: int = STEPS, *, prompts: int = 32, group: int = 8, gpus: int = 16, seed: int = 3
) -> dict[int, Row]:
    """GRPO with validations, tools and rollout correction; every figure from the samples, as verl's metric_utils."""
    rng = np.random.default_rng(seed)
    batch, parts, problems, samples = prompts * group, gpus // 2, 40, 8
    rows: dict[int, Row] = {}
    peak = 60.0
    for step in range(1, steps + 1):
        length = np.clip(np.round(np.exp(rng.normal(6.2, 0.5, batch))), 8, 1024)
        prompt = np.repeat(np.round(rng.uniform(60, 300, prompts)), group)
        right = rng.random((prompts, group)) < rng.uniform(0.2, 0.7, (prompts, 1))
        right[0] = False
        right[0, 0] = True
        right[1] = True
        right[1, 0] = False
        score = np.where(right, 1.0, -1.0) + 0.1 * rng.integers(0, 4, right.shape)
        score[0, 1:] = -1.0
        deviation = score.std(axis=1, ddof=1, keepdims=True)
        advantage = ((score - score.mean(axis=1, keepdims=True)) / (deviation + 1e-6)).ravel()
        weights = length / length.sum()
        mean = float((advantage * weights).sum())
        tokens = int((length + prompt).sum())
        turns = 2 + 2 * rng.integers(0, 4, batch)
        own, wait = length / 40 * np.exp(0.05 * rng.standard_normal(batch)), 0.5 * (turns - 2)
        worst = int((own + wait).argmax())
        gen = float((own + wait).max()) * 1.01 + 0.3
        forward = tokens / 40_000
        stages = {"gen": gen, "reward": 0.2, "old_log_prob": forward, "ref": forward * 1.01, "adv": 0.05}
        stages |= {"update_actor": 3.3 * forward, "update_weights": 2.0}
        total = sum(stages.values()) * 1.0004
        # log-ratios of the training over the rollout policy, per token
        gap = 0.01 * rng.standard_normal(4096)
        peak = max(peak, 60 + 2 * rng.random())
        norm = single(0.3 + 0.02 * rng.random())
        kl, pg, entropy = single(1e-3 * step), single(-mean), single(0.4 - 0.005 * step)
        row: Row = {
            "global_seqlen/mean": tokens / parts, "actor/entropy": entropy, "actor/pg_loss": pg,
            "actor/pg_clipfrac": single(0.002 + 1e-4 * rng.random()),
            "actor/ppo_kl": single(1e-4 * rng.standard_normal()),
            "actor/kl_loss": kl, "actor/kl_coef": 0.01, "actor/entropy_loss": entropy,
            "actor/loss": single(pg + 0.01 * kl - 0.002 * entropy), "actor/grad_norm": norm, "actor/lr": 1e-6,
            "variance_proxy/proxy1": single(norm * norm),
            "variance_proxy/expected_a_squared": (group - 1) / group * 0.75,
            "rollout_corr/kl": -float(gap.mean()), "rollout_corr/k3_kl": float((np.exp(gap) - gap - 1).mean()),
            "rollout_corr/chi2_token": float((np.exp(gap) ** 2).mean()) - 1,
            "rollout_corr/training_log_ppl": 0.5, "rollout_corr/rollout_log_ppl": 0.498 + 1e-4 * step,
            "rollout_corr/log_ppl_diff": 0.5 - (0.498 + 1e-4 * step), "rollout_corr/log_ppl_abs_diff": 0.004,
            "perf/mfu/actor": 6 * 7.6e9 * tokens * 1.08 / (stages["update_actor"] * gpus * 989e12),
            "perf/max_memory_allocated_gb": peak, "perf/max_memory_reserved_gb": peak * 1.1,
            "training/global_step": step, "training/epoch": 0,
            "num_turns/min": int(turns.min()), "num_turns/max": int(turns.max()), "num_turns/mean": float(turns.mean()),
            "tool_call_counts/mean": float(turns.mean() - 2) / 2,
            "timing_s/agent_loop/generate_sequences/min": float(own.min()),
            "timing_s/agent_loop/generate_sequences/max": float(own.max()),
            "timing_s/agent_loop/generate_sequences/mean": float(own.mean()),
            "timing_s/agent_loop/tool_calls/mean": float(wait.mean()),
            "timing_s/agent_loop/tool_calls/max": float(wait.max()),
            "timing_s/agent_loop/slowest/generate_sequences": float(own[worst]),
            "timing_s/agent_loop/slowest/tool_calls": float(wait[worst]),
            "timing_s/agent_loop/slowest/response_length": int(length[worst]),
            "timing_s/generate_sequences": gen * 0.9, "timing_s/reshard": 0.4,
            **{f"timing_s/{name}": seconds for name, seconds in stages.items()},
            "timing_s/step": total, "timing_per_token_ms/gen": gen * 1000 / float(length.sum()),
            **{f"timing_per_token_ms/{k}": stages[k] * 1000 / tokens for k in ("ref", "adv", "update_actor")},
            "perf/total_num_tokens": tokens, "perf/time_per_step": total, "perf/throughput": tokens / (total * gpus),
            "response/aborted_ratio": 0.0, "prompt_length/clip_ratio": 0.0,
        }  # fmt: skip
        chunks = [int(part.sum()) for part in np.array_split(length + prompt, parts)]
        row |= {"global_seqlen/min": min(chunks), "global_seqlen/max": max(chunks)}
        row |= {"global_seqlen/minmax_diff": max(chunks) - min(chunks)}
        row |= {"global_seqlen/balanced_min": tokens // parts, "global_seqlen/balanced_max": -(-tokens // parts)}
        for name, values in (("score", score), ("rewards", score)):
            row |= {f"critic/{name}/mean": single(float(values.mean()))}
            row |= {
                f"critic/{name}/max": single(float(values.max())),
                f"critic/{name}/min": single(float(values.min())),
            }
        for name in ("advantages", "returns"):
            row |= {f"critic/{name}/mean": single(mean), f"critic/{name}/max": single(float(advantage.max()))}
            row |= {f"critic/{name}/min": single(float(advantage.min()))}
        for name in ("response_length", "response_length_non_aborted"):
            row |= {f"{name}/mean": single(float(length.mean())), f"{name}/max": float(length.max())}
            row |= {f"{name}/min": float(length.min()), f"{name}/clip_ratio": single(float((length >= 1024).mean()))}
        row |= {"prompt_length/mean": single(float(prompt.mean())), "prompt_length/max": float(prompt.max())}
        row |= {"prompt_length/min": float(prompt.min())}
        if step % 2 == 0:
            solved = rng.random((problems, samples)) < rng.beta(1, 2, (problems, 1))
            row |= validation(solved)
        rows[step] = row
    return rows


def validation(solved: np.ndarray) -> Row:
    """verl's statistics of 0/1 answers of shape (problems, samples), without the bootstrap's noise."""
    p, n = solved.mean(axis=1), solved.shape[1]
    row: Row = {f"val-core/bench/acc/mean@{n}": float(p.mean())}
    for size in (2, 4, n):
        kind = "core" if size == n else "aux"
        row[f"val-{kind}/bench/acc/best@{size}/mean"] = float((1 - (1 - p) ** size).mean())
        row[f"val-aux/bench/acc/worst@{size}/mean"] = float((p**size).mean())
        row[f"val-aux/bench/acc/worst@{size}/std"] = float(np.sqrt(p**size * (1 - p**size)).mean())
    row[f"val-aux/bench/acc/std@{n}"] = float(np.sqrt(p * (1 - p)).mean())
    for name in ("reward", "score"):
        row[f"val-aux/bench/{name}/mean@{n}"] = float((1.5 * p - 0.5).mean())
        row[f"val-aux/bench/{name}/best@2/mean"] = float((1.5 * (1 - (1 - p) ** 2) - 0.5).mean())
    return row


def critic_rows(steps: int = STEPS) -> dict[int, Row]:
    """PPO with a critic and the KL in the reward."""
    rng = np.random.default_rng(5)
    rows: dict[int, Row] = {}
    for step in range(1, steps + 1):
        rows[step] = {
            "critic/score/mean": single(0.3 + 0.01 * step), "critic/score/max": 1.0, "critic/score/min": 0.0,
            "critic/rewards/mean": single(0.25 + 0.01 * step), "critic/rewards/max": single(0.98),
            "critic/rewards/min": single(-0.1), "critic/advantages/mean": 1e-9 * float(rng.standard_normal()),
            "critic/advantages/max": single(3 + rng.random()), "critic/advantages/min": single(-3 - rng.random()),
            "critic/returns/mean": single(0.2), "critic/returns/max": 1.0, "critic/returns/min": single(-0.1),
            "critic/values/mean": single(0.2), "critic/vf_loss": single(0.1), "critic/vf_explained_var": single(0.5),
            "actor/ppo_kl": 0.0, "actor/pg_clipfrac": 0.0, "actor/kl_loss": 1e-4,
        }  # fmt: skip
    return rows


def trl_rows(steps: int = STEPS) -> dict[int, Row]:
    """GRPO of TRL with two reward functions (weights 1 and 0.5), G = 8, 12 prompts."""
    rng = np.random.default_rng(8)
    rows: dict[int, Row] = {}
    tokens = 0.0
    for step in range(1, steps + 1):
        length = np.round(rng.uniform(50, 180, 96))
        length[:9] = 200
        cut = np.zeros(96, dtype=bool)
        cut[: 4 + step % 5] = True
        ended = length[~cut]
        tokens += float(length.sum()) + 96 * 70
        low, high = single(0.001 * rng.random()), single(0.002 * rng.random())
        right, form = float(rng.integers(20, 60)) / 96, float(rng.integers(60, 96)) / 96
        kl = single(0.01 * step * (1 + 0.2 * rng.random()))
        rows[step] = {
            "loss": single(0.04 * kl), "grad_norm": 0.3, "learning_rate": 1e-6 * min(step, 4) / 4, "kl": kl,
            "reward": single(right + 0.5 * form), "rewards/accuracy/mean": single(right),
            "rewards/format/mean": single(form),
            "clip_ratio/low_mean": low, "clip_ratio/high_mean": high, "clip_ratio/region_mean": single(low + high),
            "completions/clipped_ratio": single(float(cut.mean())),
            "frac_reward_zero_std": single(float((step % 7) / 12)),
            "completions/mean_length": single(float(length.mean())), "completions/max_length": 200.0,
            "completions/min_length": float(length.min()),
            "completions/mean_terminated_length": single(float(ended.mean())),
            "completions/min_terminated_length": float(ended.min()),
            "completions/max_terminated_length": float(ended.max()),
            "num_tokens": tokens, "epoch": step / 250,
        }  # fmt: skip
    return rows


def ppo_rows(steps: int = STEPS) -> dict[int, Row]:
    """TRL's PPO: the KL term is −0.05 × kl."""
    rng = np.random.default_rng(2)
    rows: dict[int, Row] = {}
    for step in range(1, steps + 1):
        score, kl = single(0.1 * step + rng.random()), single(1 + rng.random())
        rows[step] = {
            "objective/scores": score, "objective/kl": kl, "objective/non_score_reward": single(-0.05 * kl),
            "objective/rlhf_reward": single(score - 0.05 * kl), "episode": 64 * step,
        }  # fmt: skip
    return rows


def dpo_rows(steps: int = STEPS, beta: float = 0.1) -> dict[int, Row]:
    """DPO with a fixed evaluation set, whose reference log-probabilities do not change; training batches differ."""
    rng = np.random.default_rng(4)
    rows: dict[int, Row] = {}
    for step in range(1, steps + 1):
        chosen, rejected = -220 + 3 * math.sqrt(step), -230 - 9 * math.log(step)
        train = rng.normal(-200, 30, 2)
        parts = {
            "eval_": (beta * (chosen + 221), beta * (rejected + 229), chosen, rejected),
            "": (0.02 * step + 0.01 * rng.random(), -0.03 * step, train[0], train[1]),
        }
        row: Row = {"loss": 0.6931 / step}
        for prefix, (good, bad, logp_good, logp_bad) in parts.items():
            row |= {f"{prefix}rewards/chosen": single(good), f"{prefix}rewards/rejected": single(bad)}
            row |= {f"{prefix}rewards/margins": single(good - bad)}
            row |= {
                f"{prefix}logps/chosen": single(float(logp_good)),
                f"{prefix}logps/rejected": single(float(logp_bad)),
            }
        rows[step] = row
    return rows


def roll_rows(steps: int = STEPS) -> dict[int, Row]:
    """ROLL's RLVR pipeline: batch 64, 8 GPUs, time/step_total one row late."""
    rng = np.random.default_rng(6)
    rows: dict[int, Row] = {}
    before = 0.0
    for step in range(steps):
        right = int(rng.integers(20, 50))
        prompt, response = float(rng.integers(6000, 7000)) / 64, float(rng.integers(30000, 40000)) / 64
        high, low = single(0.001 * rng.random()), single(0.002 * rng.random())
        pg, kl = single(0.01 * rng.standard_normal()), single(0.002 + 0.002 * rng.random())
        stages = {"step_generate": 60 + 5 * rng.random(), "step_train": 40.0, "old_log_probs": 10.0}
        rate = 64 * (prompt + response) / (sum(stages.values()) + 1)
        wins, losses = step % 3 / 8, (step + 1) % 3 / 8
        rows[step] = {
            "actor/ppo_ratio_high_clipfrac@sum": high, "actor/ppo_ratio_low_clipfrac@sum": low,
            "actor/ppo_ratio_clipfrac@sum": single(high + low), "actor/pg_loss@sum": pg, "actor/kl_loss@sum": kl,
            "actor/total_loss@sum": single(pg + 0.2 * kl), "critic/rewards/mean": 1e-8,
            "group/all_correct_groups_ratio": wins, "group/all_incorrect_groups_ratio": losses,
            "group/mixed_groups_ratio": 1 - wins - losses, "critic/correct/mean": right / 64,
            "group/correct_ratio/mean": right / 64, "critic/score/mean": right / 64,
            "critic/score_distribution/correct_samples_ratio": right / 64,
            "actor/samples_used": 60, "actor/samples_total": 64, "actor/final_mask_ratio": 60 / 64,
            "system/samples": 64 * (step + 1), "system/batch_size": 64,
            "token/prompt_length/mean": prompt, "token/response_length/mean": response,
            "token/total_length/mean": prompt + response, "token/response_length/max": 900,
            "token/response_length/min": 40,
            "token/response_length/diff": 860, "token/total_response_length/clip": 2,
            "system/tps/tps": rate, "system/tps_gpu": rate / 8,
            "system/actor_infer/tps_dp": rate, "system/actor_infer/tps_gpu": rate / 4,
            "memory/actor_train/train_step/end/onload/allocated/0": 30.0,
            "memory/actor_train/train_step/end/onload/max_allocated/0": 40.0 + 0.1 * rng.random(),
            "memory/actor_train/train_step/end/onload/reserved/0": 44.0,
            "memory/actor_train/train_step/end/onload/max_reserved/0": 48.0,
            "memory/actor_train/train_step/end/onload/max_reserved_frac/0": 48.0 / 79.25,
            "time/actor_train/train_step/total": 42.0, "time/actor_train/train_step/onload": 1.0,
            "time/actor_train/train_step/execute": 40.0, "time/actor_train/train_step/offload": 1.0,
            "critic/advantages/mean": 0.0, "actor/lr": 1e-6,
            "time/step_total": before, **{f"time/{name}": seconds for name, seconds in stages.items()},
        }  # fmt: skip
        before = sum(stages.values()) + 1
    return rows


def openrlhf_rows(steps: int = STEPS) -> dict[int, Row]:
    """OpenRLHF's synchronous trainer with the k1 estimator and evaluations."""
    rng = np.random.default_rng(1)
    rows: dict[int, Row] = {}
    for step in range(1, steps + 1):
        parts = [50 + rng.random(), 20 + rng.random(), 30 + rng.random(), 3.0]
        kl = single(0.001 * rng.standard_normal())
        names = ("generation", "make_experience", "ppo_train", "broadcast")
        rows[step] = {f"timing/{name}": seconds for name, seconds in zip(names, parts, strict=True)}
        rows[step] |= {"timing/step_total": sum(parts), "kl": kl, "logprobs_diff": kl}
        rows[step] |= {"eval_math_pass1": 0.3 + 0.001 * step, "eval_math_pass4": 0.5 + 0.001 * step}
    return rows


def slime_rows(steps: int = STEPS) -> dict[int, Row]:
    """slime with KL coefficient 0.01 and entropy coefficient 0.001."""
    rng = np.random.default_rng(9)
    rows: dict[int, Row] = {}
    for step in range(steps):
        pg, kl, entropy = (
            single(float(v)) for v in (0.01 * rng.standard_normal(), 0.02 * rng.random(), 0.3 + rng.random())
        )
        wait, train = 30 + rng.random(), 50 + rng.random()
        rows[step] = {
            "train/pg_loss": pg, "train/kl_loss": kl, "train/entropy_loss": entropy, "train/ppo_kl": 0.0,
            "train/loss": single(pg + 0.01 * kl - 0.001 * entropy), "perf/train_wait_time": wait,
            "perf/train_time": train,
            "perf/step_time": wait + train, "perf/wait_time_ratio": wait / (wait + train),
            "perf/actor_train_time": 40.0, "perf/actor_train_tflops": 3 * 150.0 * 12.0 / 40.0,
            "perf/log_probs_time": 12.0, "perf/log_probs_tflops": 150.0,
            "rollout/zero_std/count_0": 3 + step % 2, "rollout/zero_std/count_1": 4,
        }  # fmt: skip
    return rows


def nemo_rows(steps: int = STEPS) -> dict[int, Row]:
    """NeMo-RL on 16 GPUs, 128 samples a step."""
    rng = np.random.default_rng(12)
    rows: dict[int, Row] = {}
    for step in range(1, steps + 1):
        seconds, tokens = 90 + 5 * rng.random(), float(rng.integers(200_000, 300_000))
        right, wrong = 10.0 + step, 20.0
        rows[step] = {
            "train/baseline_reward/pct_0": wrong, "train/baseline_reward/pct_1": right,
            "train/baseline_reward/pct_mixed": 100 - right - wrong, "performance/tokens_per_sec": tokens / seconds,
            "performance/tokens_per_sec_per_gpu": tokens / seconds / 16, "performance/samples_per_sec": 128 / seconds,
            "timing/train/total_step_time": seconds, "timing/train/generation": 0.6 * seconds,
            "timing/train/policy_training": 0.3 * seconds, "train/total_num_tokens": tokens,
            "timing/train/valid_tokens_per_sec_per_gpu": 900.0,
            "train/token_mult_prob_error": 1.02 + 0.001 * rng.random(), "train/sampling_importance_ratio": 1.0,
            "train/gen_kl_error": 0.001,
        }  # fmt: skip
    return rows


def areal_rows(steps: int = STEPS) -> dict[int, Row]:
    """AReaL: 64 sequences a step, one mini-batch."""
    rng = np.random.default_rng(14)
    rows: dict[int, Row] = {}
    for step in range(1, steps + 1):
        right = int(rng.integers(10, 50))
        good, bad = np.round(rng.uniform(200, 400, right)), np.round(rng.uniform(300, 600, 64 - right))
        whole = float(good.sum() + bad.sum()) / 64
        rows[step] = {
            "ppo_actor/n_seqs": 64, "ppo_actor/correct_n_seqs": right, "ppo_actor/incorrect_n_seqs": 64 - right,
            "ppo_actor/seq_len/avg": single(whole), "ppo_actor/seq_len/min": 100.0, "ppo_actor/seq_len/max": 700.0,
            "ppo_actor/correct_seq_len/avg": single(float(good.mean())),
            "ppo_actor/incorrect_seq_len/avg": single(float(bad.mean())), "ppo_actor/prompt_len/avg": 80.0,
            "ppo_actor/n_valid_tokens": (whole - 81) * 64, "ppo_actor/update/importance_weight/avg": 1.0,
            "timeperf/rollout": 30 + rng.random(), "timeperf/train_step": 12.0, "timeperf/update_weights": 1.5,
        }  # fmt: skip
    return rows


def custom_rows(steps: int = STEPS, beta: float = 0.1) -> dict[int, Row]:
    """A hand-written GRPO: loss = policy_loss + β·kl_penalty, kl_penalty a difference of mean log-probabilities."""
    rng = np.random.default_rng(21)
    rows: dict[int, Row] = {}
    for step in range(1, steps + 1):
        policy, ref = single(float(rng.standard_normal())), single(-800 - 10 * float(rng.random()))
        current = single(ref + 2 * float(rng.standard_normal()))
        kl = single(current - ref)
        rows[step] = {
            "loss": single(policy + beta * kl), "policy_loss": policy, "kl_penalty": kl,
            "mean_log_prob_current": current, "mean_log_prob_ref": ref, "mean_reward": 0.5,
        }  # fmt: skip
    return rows


def made_runs() -> dict[str, Run]:
    """One run of each kind."""
    made = {
        "verl": (verl_rows(), "verl"), "critic": (critic_rows(), "verl"), "TRL": (trl_rows(), "TRL"),
        "PPO": (ppo_rows(), "TRL"), "DPO": (dpo_rows(), "TRL"), "ROLL": (roll_rows(), "ROLL"),
        "OpenRLHF": (openrlhf_rows(), "OpenRLHF"), "slime": (slime_rows(), "slime"),
        "NeMo-RL": (nemo_rows(), "NeMo-RL"),
        "AReaL": (areal_rows(), "AReaL"), "custom": (custom_rows(), None),
    }  # fmt: skip
    return {name: run_of(rows, framework=framework) for name, (rows, framework) in made.items()}
