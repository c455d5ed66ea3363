"""ROLL's log: ``logger.info(json.dumps(metrics))`` once a step between the pipeline's lines.

``roll/pipeline/rlvr/rlvr_pipeline.py``: steps count from 0; ``time/step_total`` of a row is the step before it (first
row 0); validations stand in the row of their step; ``actor/*`` keys carry their reduction (``@sum``, ``@max``).
"""

from __future__ import annotations

import json
import math
from typing import Final

from evals.diagnosis.simulate import Trace
from evals.diagnosis.verl_log import Row
from evals.diagnosis.world import Number, Record, Setup

HEAD: Final = "[2025-11-20 12:34:56,123] [rlvr_pipeline.py (651)] [INFO] "
SAME: Final = (
    ("actor/pg_loss@sum", "actor/pg_loss"),
    ("actor/weighted_pg_loss@sum", "actor/pg_loss"),
    ("actor/kl_loss@sum", "actor/kl_loss"),
    ("actor/approxkl@sum", "actor/ppo_kl"),
    ("actor/policykl@sum", "actor/ppo_kl"),
    ("actor/clipfrac@sum", "actor/pg_clipfrac"),
    ("actor/ppo_ratio_high_clipfrac@sum", "sim/clip_high"),
    ("actor/ppo_ratio_low_clipfrac@sum", "sim/clip_low"),
    ("actor/ppo_ratio_clipfrac@sum", "actor/pg_clipfrac"),
    ("actor/ratio_mean@sum", "sim/ratio_mean"),
    ("actor/ratio_max@max", "sim/ratio_max"),
    ("actor/ratio_min@min", "sim/ratio_min"),
    ("actor/grad_norm", "actor/grad_norm"),
    ("actor/lr", "actor/lr"),
    ("critic/kl", "sim/kl_ref"),
    ("critic/entropy/mean", "actor/entropy"),
    ("critic/correct/mean", "sim/right"),
    ("critic/score/mean", "critic/score/mean"),
    ("critic/score/max", "critic/score/max"),
    ("critic/score/min", "critic/score/min"),
    ("critic/advantages/mean", "critic/advantages/mean"),
    ("critic/advantages/max", "critic/advantages/max"),
    ("critic/advantages/min", "critic/advantages/min"),
    ("critic/returns/mean", "critic/returns/mean"),
    ("critic/returns/max", "critic/returns/max"),
    ("critic/returns/min", "critic/returns/min"),
    ("token/response_length/mean", "response_length/mean"),
    ("token/response_length/max", "response_length/max"),
    ("token/response_length/min", "response_length/min"),
    ("token/prompt_length/mean", "prompt_length/mean"),
    ("token/prompt_length/max", "prompt_length/max"),
    ("token/prompt_length/min", "prompt_length/min"),
    ("token/total_response_length/clip", "sim/cut_count"),
    ("token/right_response_length/mean", "sim/right_length"),
    ("token/error_response_length/mean", "sim/error_length"),
    ("group/all_correct_groups_ratio", "sim/all_correct"),
    ("group/all_incorrect_groups_ratio", "sim/all_wrong"),
    ("group/correct_ratio/mean", "sim/right"),
    ("group/correct_ratio/std", "sim/right_sd"),
    ("group/advantage_diff/mean", "sim/adv_diff"),
    ("group/response_length_diff/mean", "sim/length_diff"),
    ("critic/loss", "critic/vf_loss"),
    ("critic/value", "critic/values/mean"),
    ("critic/vpred", "critic/vpred_mean"),
    ("critic/clipfrac", "critic/vf_clipfrac"),
    ("critic/grad_norm", "critic/grad_norm"),
    ("scheduler/math/score/mean", "sim/raw_score"),
    ("scheduler/math/time/generate/mean", "timing_s/agent_loop/generate_sequences/mean"),
    ("scheduler/math/time/generate/max", "timing_s/agent_loop/generate_sequences/max"),
    ("scheduler/math/time/generate/min", "timing_s/agent_loop/generate_sequences/min"),
    ("val_correct/all/mean", "sim/val_acc"),
    ("time/val_step", "timing_s/testing"),
    ("time/step_generate", "timing_s/gen"),
    ("time/step_model_update", "timing_s/update_weights"),
    ("time/old_log_probs", "timing_s/old_log_prob"),
    ("time/ref_log_probs_values", "timing_s/ref"),
    ("time/step_train", "timing_s/update_actor"),
)
MEMORY: Final = "memory/actor_train/train_step"


def _row(setup: Setup, record: Record, samples: int, before: float) -> dict[str, Number]:
    group_only = setup.algorithm == "ppo"
    cells: dict[str, Number] = {}
    for key, source in SAME:
        if source in record and not (group_only and key.startswith("group/")):
            cells[key] = record[source]
    if "actor/pg_loss" in record:
        cells["actor/total_loss@sum"] = float(record["actor/pg_loss"]) + setup.kl_coef * float(
            record.get("actor/kl_loss", 0.0)
        )
    if not group_only:  # rewards are normalised within groups before they are logged
        cells["critic/rewards/mean"] = float(record["sim/adv_mean"])
        cells["group/mixed_groups_ratio"] = 1.0 - float(record["sim/all_correct"]) - float(record["sim/all_wrong"])
    cells["token/total_length/mean"] = float(record["response_length/mean"]) + float(record["prompt_length/mean"])
    if setup.kl == "reward":
        cells["critic/kl_coef"] = record["actor/reward_kl_penalty_coeff"]
        if group_only:
            cells["critic/rewards/mean"] = record["critic/rewards/mean"]
    if setup.mismatch_logged:
        mean = float(record["sim/is_mean"])
        cells["actor/train_infer_ratio_token_mean@sum"] = mean
        cells["actor/train_infer_ratio_geometric_mean@sum"] = math.exp(-float(record["rollout_corr/kl"]))
        cells["actor/train_infer_ratio_sequence_mean@sum"] = mean**3
    tokens = float(record["perf/total_num_tokens"])
    cells["system/batch_size"] = record["sim/size"]
    cells["system/samples"] = samples
    cells["system/tps/tps"] = tokens / float(record["timing_s/step"])
    cells["system/tps_gpu"] = float(cells["system/tps/tps"]) / setup.gpus
    if "timing_s/update_actor" in record:
        cells["system/actor_train/tps_gpu"] = tokens / float(record["timing_s/update_actor"]) / setup.gpus
    cells["system/actor_infer/tps_gpu"] = tokens / float(record["timing_s/gen"]) / setup.gpus
    cells["time/step_total"] = before
    if setup.debug_memory:
        cells[f"{MEMORY}/start/offload/allocated/0"] = record["sim/start_allocated"]
        cells[f"{MEMORY}/end/onload/max_allocated/0"] = record["perf/max_memory_allocated_gb"]
        cells[f"{MEMORY}/end/onload/max_reserved/0"] = record["perf/max_memory_reserved_gb"]
        cells[f"{MEMORY}/end/onload/max_reserved_frac/0"] = record["sim/reserved_frac"]
        cells["memory/cpu/actor_train/train_step/start/rss"] = float(record["perf/cpu_memory_used_gb"]) / 8
    return cells


def write_roll(trace: Trace) -> tuple[str, tuple[Row, ...]]:
    """The log's text and the cells in it; a validation before the first step stands in the first row."""
    lines: list[str] = []
    rows: list[Row] = []
    samples: dict[int, int] = {}
    before, first = 0.0, 0.0
    for step, record in zip(trace.steps, trace.records, strict=True):
        if step == 0:
            first = float(record["sim/val_acc"])
            continue
        samples[step] = samples.get(step - 1, 0) + int(record["sim/size"])
        cells = _row(trace.setup, record, samples[step], before)
        before = float(record["timing_s/step"])
        if step == 1 and trace.steps[0] == 0:
            cells.setdefault("val_correct/all/mean", first)
        lines.append(f"{HEAD}pipeline step {step - 1} start...")
        lines.append(HEAD + json.dumps(cells))
        lines.append(f"{HEAD}pipeline step {step - 1} finished")
        rows.append((step - 1, cells))
    return "\n".join(lines) + "\n", tuple(rows)
