"""Prints what the Hugging Face Trainer, TRL, LLaMA-Factory and ms-swift print, with the truth at hand."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

Value = int | float
Row = dict[str, Value]

SFT_KEYS = ("loss", "grad_norm", "learning_rate")
GRPO_KEYS = (
    "loss",
    "grad_norm",
    "learning_rate",
    "num_tokens",
    "completions/mean_length",
    "completions/clipped_ratio",
    "rewards/format_reward/mean",
    "reward",
    "reward_std",
    "frac_reward_zero_std",
    "kl",
    "clip_ratio/high_max",
    "step_time",
)
DPO_KEYS = (
    "loss",
    "grad_norm",
    "learning_rate",
    "rewards/chosen",
    "rewards/margins",
    "logps/rejected",
    "logits/chosen",
)
PPO_KEYS = (
    "eps",
    "objective/kl",
    "objective/scores",
    "policy/approxkl_avg",
    "loss/value_avg",
    "val/ratio",
    "val/num_eos_tokens",
    "lr",
)
EVAL_KEYS = ("eval_loss", "eval_runtime", "eval_samples_per_second", "eval_steps_per_second")
WHOLE = {"eps", "val/num_eos_tokens", "num_tokens"}


@dataclass
class Log:
    """A generated log: its lines, and the rows a reader must find: step, line, values."""

    lines: list[str] = field(default_factory=list)
    rows: list[tuple[int, int, Row]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def random_event(rng: random.Random, keys: tuple[str, ...]) -> Row:
    """Values as trainers compute them: a rounded loss, float32 widened to double, zeros, tiny rates."""
    event: Row = {}
    for key in keys:
        if key in WHOLE:
            event[key] = rng.randrange(0, 10**6)
        elif key == "loss":
            event[key] = round(rng.gauss(0, 1), 4)
        elif key == "learning_rate":
            event[key] = rng.uniform(0, 1e-5)
        else:
            event[key] = rng.choice([rng.gauss(0, 50), rng.random(), 0.0, 1.0, rng.uniform(0, 1e-6)])
    return event


def plain(event: Row) -> str:
    """``print(logs)``: shortest decimal forms, bare ``nan`` and ``inf``."""
    return str(event)


def quoted(event: Row) -> str:
    """As transformers 5 prints: floats are texts of four significant digits."""
    return str({key: f"{value:.4g}" if isinstance(value, float) else value for key, value in event.items()})


def as_quoted(event: Row) -> Row:
    """The values that :func:`quoted` leaves."""
    shown: Row = {}
    for key, value in event.items():
        text = f"{value:.4g}"
        shown[key] = value if isinstance(value, int) else int(text) if text.lstrip("-").isdigit() else float(text)
    return shown


def bar(step: int, total: int, name: str = "") -> str:
    """One drawing of a ``tqdm`` bar."""
    filled = "█" * (10 * step // total)
    return f"{name}{100 * step // total:3d}%|{filled:<10}| {step}/{total} [{step:02d}:11<1:05:03, 12.34s/it]"


def console(
    seed: int,
    keys: tuple[str, ...],
    events: int,
    *,
    every: int = 10,
    bars: bool = True,
    eval_every: int = 0,
    text5: bool = False,
) -> Log:
    """A Trainer's console: bars behind carriage returns, the dictionary, the bar again, evaluations."""
    rng = random.Random(seed)
    log = Log()
    total = every * (events + 1)
    show, shown = (quoted, as_quoted) if text5 else (plain, dict)
    for index in range(1, events + 1):
        step = index * every
        epoch = round(2 * step / total, 4)
        event = random_event(rng, keys) | {"epoch": epoch}
        front = ""
        if bars:
            front = (
                "\r".join(bar(at, total) for at in range(step - min(every, 3) + 1, step + 1)) + "\r" + " " * 40 + "\r"
            )
        log.lines.append(front + show(event))
        row = shown(event)
        log.rows.append((step if bars else len(log.rows), len(log.lines), row))
        if eval_every and index % eval_every == 0:
            if bars:
                log.lines.append("\r" + "\r".join(bar(at, 7) for at in range(1, 8)))
            evaluated = random_event(rng, EVAL_KEYS) | {"epoch": epoch}
            log.lines.append(("\r" if bars else "") + show(evaluated))
            row.update(shown(evaluated))
        if bars:
            log.lines.append("")
            log.lines.append("\r" + bar(step, total))
    return log


def final(rng: random.Random) -> Row:
    """The dictionary that ends a training."""
    keys = ("train_runtime", "train_samples_per_second", "train_steps_per_second", "train_loss", "reward")
    return random_event(rng, keys) | {"epoch": 2.0}


def trainer_state(seed: int, events: int, *, eval_every: int = 0, indent: int | None = 2) -> Log:
    """``trainer_state.json``; the rows' lines are those on which their objects begin."""
    rng = random.Random(seed)
    log = Log()
    history: list[Row] = []
    for index in range(1, events + 1):
        event = {"epoch": index / 7} | random_event(rng, DPO_KEYS) | {"step": index * 5}
        history.append(event)
        row = {key: value for key, value in event.items() if key != "step"}
        log.rows.append((index * 5, 0, row))
        if eval_every and index % eval_every == 0:
            evaluated = {"epoch": index / 7} | random_event(rng, EVAL_KEYS) | {"step": index * 5}
            history.append(evaluated)
            row.update({key: value for key, value in evaluated.items() if key != "step"})
    history.append({"epoch": 3.0, "step": events * 5, "total_flos": 1e17, "train_loss": 0.5, "train_runtime": 12.5})
    state = {"best_metric": None, "global_step": events * 5, "log_history": history, "max_steps": 999, "x": {"y": True}}
    log.lines = json.dumps(state, indent=indent).split("\n")
    return log


def llama_factory(seed: int, events: int) -> Log:
    """``trainer_log.jsonl``."""
    rng = random.Random(seed)
    log = Log()
    for step in range(1, events + 1):
        row: Row = {"total_steps": events, "loss": round(rng.random(), 4), "lr": rng.uniform(0, 1e-8)}
        row |= {"epoch": step / 510.5, "percentage": round(100 * step / events, 2)}
        event = {"current_steps": step, **row, "elapsed_time": "0:01:03", "remaining_time": "3 days, 17:51:32"}
        log.lines.append(json.dumps(event))
        log.rows.append((step, len(log.lines), row))
    return log


def swift(seed: int, events: int) -> Log:
    """ms-swift's ``logging.jsonl``: keys change from row to row."""
    rng = random.Random(seed)
    log = Log()
    for step in range(1, events + 1):
        row = random_event(rng, GRPO_KEYS if step % 2 else SFT_KEYS) | {"epoch": step / 50}
        percentage = f"{100 * step / events:.2f}"
        speed = rng.random()
        event = {**row, "global_step/max_steps": f"{step}/{events}", "percentage": f"{percentage}%"}
        event |= {"elapsed_time": "1h 2m 3s", "train_speed(iter/s)": speed}
        log.lines.append(json.dumps(event))
        log.rows.append((step, len(log.lines), row | {"percentage": float(percentage), "train_speed(iter/s)": speed}))
    return log


NOTEBOOK_KEYS = ("Training Loss", "reward", "rewards / match_format_exactly", "completions / mean_length")


def notebook_rows(seed: int, events: int) -> list[tuple[int, dict[str, str]]]:
    """Cells as the notebook callback formats them."""
    rng = random.Random(seed)
    rows = []
    for step in range(1, events + 1):
        rows.append((step, {key: f"{rng.gauss(0, 100):.6f}" for key in NOTEBOOK_KEYS}))
    rows[0][1]["Training Loss"] = "No Log"
    return rows


def notebook_tsv(rows: list[tuple[int, dict[str, str]]]) -> str:
    """The table as a browser copies it."""
    lines = ["\t".join(("Step", *NOTEBOOK_KEYS))]
    return "\n".join([*lines, *("\t".join((str(step), *cells.values())) for step, cells in rows)]) + "\n"


def notebook_html(rows: list[tuple[int, dict[str, str]]]) -> str:
    """The table as the notebook holds it."""
    head = "".join(f"\n      <th>{key}</th>" for key in ("Step", *NOTEBOOK_KEYS))
    body = "".join(
        "\n    <tr>" + "".join(f"\n      <td>{cell}</td>" for cell in (step, *cells.values())) + "\n    </tr>"
        for step, cells in rows
    )
    return (
        '<table border="1" class="dataframe">\n  <thead>\n <tr style="text-align: left;">'
        f"{head}\n    </tr>\n  </thead>\n  <tbody>{body}\n  </tbody>\n</table>"
    )
