"""verl's console: ``step:12 - actor/entropy:0.31 - …`` in today's form and in the early one of three decimals.

``verl/utils/logger/aggregate_logger.py#concat_dict_to_str``; today numpy's scalars print as ``np.float64(0.31)``, early
ones as ``0.310``. Where stdout is a terminal's pipe, lines are cut at 4096 characters and what stood behind is lost.
"""

from __future__ import annotations

import pprint
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evals.diagnosis.simulate import Trace
from evals.diagnosis.world import Number, Record, Setup

Row = tuple[int, dict[str, Number]]
LIMIT: Final = 4096
NUMPY: Final = (
    "actor/pg_loss actor/pg_clipfrac actor/ppo_kl actor/pg_clipfrac_lower actor/kl_loss actor/kl_coef actor/grad_norm "
    "actor/lr critic/vf_loss critic/vf_clipfrac critic/vpred_mean critic/grad_norm critic/lr perf/mfu/ "
    "perf/max_memory perf/cpu_memory num_turns/ val- timing_s/agent_loop/"
)
STEMS: Final = tuple(NUMPY.split())


@dataclass(frozen=True, slots=True)
class Style:
    """How the console prints: numpy's wrappers, the cut, the early form, a launcher's prefix."""

    numpy: bool = True
    cut: bool = False
    early: bool = False
    prefix: str = ""


def keys(setup: Setup, record: Record) -> list[str]:
    """The keys of a step's line in verl's order."""
    stems = ["global_seqlen/", "actor/entropy"]
    if setup.mismatch_logged:
        stems += ["training/rollout_probs_diff", "training/rollout_actor", "rollout_corr/"]
    stems += ["actor/reward_kl_penalty", "critic/vf_loss", "critic/vf_clipfrac", "critic/vpred_mean"]
    stems += ["critic/grad_norm", "perf/mfu/critic", "critic/lr", "actor/pg_", "actor/ppo_kl", "actor/kl_"]
    stems += ["actor/grad_norm", "perf/mfu/actor", "perf/max_memory", "perf/cpu_memory", "actor/lr", "val-"]
    stems += ["training/global_step", "training/epoch", "critic/score/", "critic/rewards/", "critic/advantages/"]
    stems += ["critic/returns/", "critic/values/", "critic/vf_explained_var", "response_length/"]
    stems += ["response_length_non_aborted/", "response/", "prompt_length/", "num_turns/", "tool_call_counts/"]
    stems += ["timing_s/agent_loop/", "timing_s/gen", "timing_s/", "timing_per_token_ms/", "perf/"]
    if setup.asynchronous:
        stems += ["training/off_policy/"]
    if setup.moe:
        stems += ["rollout/moe/"]
    if "train/num_gen_batches" in record and record.get("sim/dynamic"):
        stems += ["train/num_gen_batches"]
    found: dict[str, None] = {}
    for stem in stems:
        for key in record:
            if key.startswith(stem):
                found.setdefault(key)
    drop = set() if setup.asynchronous else {key for key in found if key.startswith("rollout_corr/rollout_is")}
    return [key for key in found if key not in drop]


def _value(key: str, value: Number, style: Style) -> tuple[str, Number]:
    """The text of a value and the number that stands in it."""
    if not style.numpy or not key.startswith(STEMS):
        return repr(value), value
    if isinstance(value, int):
        return f"np.int32({value})", value
    return f"np.float64({value!r})", value


def _line(step: int, cells: list[tuple[str, str, Number]], style: Style) -> tuple[str, dict[str, Number]]:
    text = f"step:{step}"
    kept: dict[str, Number] = {}
    for key, shown, value in cells:
        text += f" - {key}:{shown}"
        # a wrapper shows where its number ends; a bare number at the cut may have gone on
        if not style.cut or len(text) + (0 if shown.endswith(")") else 2) <= LIMIT:
            kept[key] = value
    if style.cut and len(text) <= LIMIT:
        kept = {key: value for key, _, value in cells}
    return (text[:LIMIT] if style.cut else text), kept


EARLY: Final = (
    ("global_seqlen/", "global_seqlen/"),
    ("critic/kl", "critic/kl"),
    ("critic/vf_", "critic/vf_"),
    ("critic/vpred_mean", "critic/vpred_mean"),
    ("critic/grad_norm", "critic/grad_norm"),
    ("critic/lr", "critic/lr"),
    ("actor/entropy", "actor/entropy_loss"),
    ("actor/pg_loss", "actor/pg_loss"),
    ("actor/pg_clipfrac", "actor/pg_clipfrac"),
    ("actor/ppo_kl", "actor/ppo_kl"),
    ("actor/kl_", "actor/kl_"),
    ("actor/grad_norm", "actor/grad_norm"),
    ("perf/mfu/", "mfu/"),
    ("actor/lr", "actor/lr"),
    ("critic/score/", "critic/score/"),
    ("critic/rewards/", "critic/rewards/"),
    ("critic/advantages/", "critic/advantages/"),
    ("critic/returns/", "critic/returns/"),
    ("critic/values/", "critic/values/"),
    ("response_length/", "response_length/"),
    ("prompt_length/", "prompt_length/"),
    ("timing_s/", "timing_s/"),
    ("timing_per_token_ms/", "timing_per_token_ms/"),
)
NOT_EARLY: Final = ("timing_s/agent_loop", "timing_s/update_weights", "actor/pg_clipfrac_lower")


def _early(setup: Setup, record: Record) -> dict[str, Number]:
    """The early form's keys: few decimals, no wrappers, ``val/test_score``."""
    held = dict(record)
    if setup.kl == "reward" and "actor/reward_kl_penalty" in record:
        held["critic/kl"] = record["actor/reward_kl_penalty"]
        held["critic/kl_coeff"] = record["actor/reward_kl_penalty_coeff"]
    cells: dict[str, Number] = {}
    if "sim/val_acc" in record:
        cells[f"val/test_score/{setup.validation.name}"] = record["sim/val_acc"]
    for stem, shown in EARLY:
        for key, value in held.items():
            if key.startswith(stem) and not key.startswith(NOT_EARLY):
                cells.setdefault(shown + key[len(stem) :], value)
    return cells


def write_verl(trace: Trace, style: Style) -> tuple[str, tuple[Row, ...]]:
    """The console's text and the cells in it."""
    setup = trace.setup
    lines: list[str] = ["Checkpoint tracker file does not exist: checkpoints/latest_checkpointed_iteration.txt"]
    lines.append("Training from scratch")
    rows: list[Row] = []
    last = -1
    for step, record in zip(trace.steps, trace.records, strict=True):
        if step <= last:
            lines.append(f"Load from checkpoint folder: checkpoints/global_step_{step - 1}")
            lines.append(f"Setting global step to {step - 1}")
        last = step
        if "sim/val_acc" in record:
            lines.append(
                "test_gen_batch meta info: {'recompute_log_prob': False, 'do_sample': False, 'validate': True}"
            )
            lines.append("validation generation end")
        cells: list[tuple[str, str, Number]] = []
        if style.early:
            for key, value in _early(setup, record).items():
                shown = f"{value:.3f}"
                cells.append((key, shown, float(shown)))
        else:
            cells = [(key, *_value(key, record[key], style)) for key in keys(setup, record)]
        if step == 0 and not style.early:
            lines.extend(_initial(cells, style))
        text, kept = _line(step, cells, style)
        if step == 0:  # printed whole just above
            kept = {key: value for key, _, value in cells}
        lines.append(style.prefix + text)
        rows.append((step, kept))
    return "\n".join(lines) + "\n", tuple(rows)


def _initial(cells: list[tuple[str, str, Number]], style: Style) -> list[str]:
    """``pprint(f"Initial validation metrics: {...}")`` of ``ray_trainer.py#fit``."""
    metrics: dict[str, Any] = {
        key: np.float64(value) if style.numpy else float(value) for key, _, value in cells if key.startswith("val-")
    }
    return pprint.pformat(f"Initial validation metrics: {metrics}").split("\n")
