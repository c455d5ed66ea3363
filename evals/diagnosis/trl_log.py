"""TRL's GRPOTrainer on a console: a dictionary every ``logging_steps``, between the progress bar's drawings.

``trl/trainer/grpo_trainer.py#log`` averages a metric over the window; transformers rounds the loss to 4 decimals, and
its version 5 prints every value as a quoted text of 4 significant digits. Evaluations print ``eval_*``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evals.diagnosis.simulate import Trace
from evals.diagnosis.verl_log import Row
from evals.diagnosis.world import Number, Record, Setup

Cells = dict[str, Number]


@dataclass(frozen=True, slots=True)
class Style:
    """Steps a log event, and whether values are quoted (transformers 5)."""

    every: int = 1
    quoted: bool = False


def _step_cells(setup: Setup, record: Record) -> Cells:
    """One step under TRL's keys."""
    kl = float(record.get("actor/kl_loss", 0.0))
    loss = float(record["actor/pg_loss"]) + setup.kl_coef * kl
    cells: Cells = {
        "loss": loss,
        "grad_norm": record["actor/grad_norm"],
        "learning_rate": record["actor/lr"],
        "num_tokens": float(record["sim/tokens_seen"]),
        "completions/mean_length": record["response_length/mean"],
        "completions/min_length": record["response_length/min"],
        "completions/max_length": record["response_length/max"],
        "completions/clipped_ratio": record["sim/unstopped"],
        "completions/mean_terminated_length": record["sim/ended_mean"],
        "completions/min_terminated_length": record["sim/ended_min"],
        "completions/max_terminated_length": record["sim/ended_max"],
    }
    if setup.agentic:
        cells["tools/call_frequency"] = record["tools/call_frequency"]
        cells["tools/failure_frequency"] = record["tools/failure_frequency"]
    cells["rewards/accuracy_reward/mean"] = record["sim/paid"]
    cells["rewards/accuracy_reward/std"] = record["sim/paid_sd"]
    if setup.format_weight:
        cells["rewards/format_reward/mean"] = record["sim/form"]
        cells["rewards/format_reward/std"] = record["sim/form_sd"]
    cells["reward"] = record["critic/score/mean"]
    cells["reward_std"] = record["sim/reward_sd"]
    cells["frac_reward_zero_std"] = record["sim/zero_share"]
    if setup.mismatch_logged:
        cells["sampling/sampling_logp_difference/mean"] = record["rollout_corr/log_ppl_abs_diff"]
        cells["sampling/sampling_logp_difference/max"] = record["rollout_corr/log_ppl_diff_max"]
        cells["sampling/importance_sampling_ratio/min"] = max(0.0, 1 - 12 * float(record["rollout_corr/k3_kl"]) ** 0.5)
        cells["sampling/importance_sampling_ratio/mean"] = record["sim/is_mean"]
        cells["sampling/importance_sampling_ratio/max"] = min(2.0, 1 + 12 * float(record["rollout_corr/k3_kl"]) ** 0.5)
    if setup.kl != "none":
        cells["kl"] = record["sim/kl_ref"]
    cells["entropy"] = record["actor/entropy"]
    cells["clip_ratio/low_mean"] = record["sim/clip_low"]
    cells["clip_ratio/low_min"] = 0.6 * float(record["sim/clip_low"])
    cells["clip_ratio/high_mean"] = record["sim/clip_high"]
    cells["clip_ratio/high_max"] = 1.5 * float(record["sim/clip_high"])
    cells["clip_ratio/region_mean"] = record["actor/pg_clipfrac"]
    cells["step_time"] = record["timing_s/step"]
    return cells


def _window(many: list[Cells], epoch: float) -> Cells:
    """Means over a window; gradient norm, learning rate and tokens are the last step's."""
    last = {"grad_norm", "learning_rate", "num_tokens"}
    cells: Cells = {
        key: many[-1][key] if key in last else float(np.mean([cells[key] for cells in many])) for key in many[-1]
    }
    cells["loss"] = round(float(cells["loss"]), 4)
    cells["epoch"] = round(epoch, 2)
    return cells


def _show(cells: Cells, quoted: bool) -> tuple[str, Cells]:
    if not quoted:
        return repr(cells), cells
    texts = {key: f"{value:.4g}" for key, value in cells.items()}
    numbers = {key: int(text) if text.lstrip("-").isdigit() else float(text) for key, text in texts.items()}
    return repr(texts), numbers


def _clock(seconds: float) -> str:
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60:02d}:{rest % 60:02d}"


def _bar(step: int, total: int, spent: float, pace: float) -> str:
    """One drawing of ``tqdm``."""
    share = step / total
    eighths = int(share * 80)
    filled = "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")
    left = _clock(pace * (total - step))
    return f"{int(100 * share):3d}%|{filled:<10}| {step}/{total} [{_clock(spent)}<{left}, {pace:5.2f}s/it]"


def _evaluation(setup: Setup, record: Record, epoch: float) -> Cells:
    accuracy = float(record["sim/val_acc"])
    runtime = round(float(record["timing_s/testing"]), 4)
    answers = setup.validation.problems * setup.validation.samples
    return {
        "eval_loss": 0.0,
        "eval_runtime": runtime,
        "eval_samples_per_second": round(answers / runtime, 3),
        "eval_steps_per_second": round(answers / runtime / 8, 3),
        "eval_rewards/accuracy_reward/mean": setup.low + (setup.high - setup.low) * accuracy,
        "eval_reward": setup.low + (setup.high - setup.low) * accuracy,
        "epoch": round(epoch, 2),
    }


def write_trl(trace: Trace, style: Style) -> tuple[str, tuple[Row, ...]]:
    """The console's text and the cells in it."""
    setup, total = trace.setup, trace.setup.steps
    text = f"  0%|          | 0/{total} [00:00<?, ?it/s]"
    rows: list[Row] = []
    window: list[Cells] = []
    spent, last = 0.0, 0
    for step, record in zip(trace.steps, trace.records, strict=True):
        if step == 0:
            continue
        if step <= last:
            text += (
                f"\nResuming training from outputs/checkpoint-{step - 1}\n  0%|          | 0/{total} [00:00<?, ?it/s]"
            )
            window, spent = [], 0.0
        last = step
        pace = float(record["timing_s/step"])
        spent += pace
        window.append(_step_cells(setup, record))
        bar = _bar(step, total, spent, pace)
        text += "\r" + bar
        if step % style.every:
            continue
        epoch = float(record["sim/epoch"])
        shown, cells = _show(_window(window, epoch), style.quoted)
        window = []
        text += "\r" + " " * 54 + "\r" + shown + "\n\n\r" + bar
        if "sim/val_acc" in record:
            tested, scores = _show(_evaluation(setup, record, epoch), style.quoted)
            text += "\n\n  0%|          | 0/8 [00:00<?, ?it/s]\r100%|██████████| 8/8 [00:07<00:00,  1.12it/s]\r"
            text += " " * 54 + "\r" + tested + "\n\n\r" + bar
            cells = cells | scores
        rows.append((step, cells))
    return text + "\n", tuple(rows)
