"""What a run shows, told by explicit statistics of the values that its trainer logged: no diagnosis rule is asked.

A label says what the metrics show, whatever was done to the run: a fault that left no trace in them is no label, and a
healthy setting that went wrong by itself has one. ``head`` and ``tail`` below are means over the first and the last
twentieth of the logged steps (at least 4). Bounds are round numbers; none was fitted to a rule.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Any, Final

Row = Mapping[str, Any]


_SOLVED: Final = ("zero_signal", "entropy_collapse", "reward_constant")
"""What follows from a solved task, and is no fault there."""
_NOT_SOLVED: Final = ("length_growth", "length_collapse", "truncated", "kl_blowup", "no_update", "not_finite")
"""What is no solution, whatever the reward says."""


class Table:
    """A run's records, training ones apart from the rest."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self.sb3 = any("time/total_timesteps" in row for row in self.rows)
        held = [row for row in self.rows if self.sb3 or "loss" in row]
        last: dict[Any, Row] = {}
        for row in held:  # a step that was made again counts once
            last[row.get("step", row.get("time/iterations"))] = row
        self.train = list(last.values())
        self.repeats = len(held) > len(last)
        self.closed = self.sb3 or any("train_runtime" in row for row in self.rows)
        self.kind = "SB3" if self.sb3 else next((k for k, key in _KINDS for row in self.train if key in row), "SFT")

    def series(self, *keys: str) -> list[tuple[int, float]]:
        """Place and value of the first of the keys that is there; numbers only, nan among them."""
        for key in keys:
            found = [(place, row[key]) for place, row in enumerate(self.train) if _is_number(row.get(key))]
            if found:
                return found
        return []

    def values(self, *keys: str) -> list[float]:
        """Finite values of a series."""
        return [value for _, value in self.series(*keys) if math.isfinite(value)]

    def step(self, place: int) -> int:
        """The step of a record."""
        return int(self.train[place].get("step", self.train[place].get("time/iterations", place + 1)))


_KINDS: Final = (("GRPO", "reward_std"), ("GRPO", "completions/mean_length"), ("DPO", "rewards/margins"))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def ends(values: Sequence[float]) -> tuple[float, float]:
    """Means of the first and of the last twentieth, at least 4 values each; nan where there are fewer than 12."""
    if len(values) < 12:
        return math.nan, math.nan
    size = max(4, len(values) // 20)
    return fmean(values[:size]), fmean(values[-size:])


def rolling(values: Sequence[float], size: int) -> list[float]:
    """Means of ``size`` neighbours."""
    return [fmean(values[place : place + size]) for place in range(len(values) - size + 1)]


Check = Callable[[Table], str | None]


def _not_finite(table: Table) -> str | None:
    watched = ("loss", "grad_norm", "entropy", "kl", "logps/chosen", "logps/rejected", "train/loss", "train/approx_kl")
    for key in watched:
        for place, value in table.series(key):
            if not math.isfinite(value):
                return f"{key} is {value} at step {table.step(place)}"
    return None


def _no_update(table: Table) -> str | None:
    for key in ("learning_rate", "train/learning_rate", "grad_norm"):
        values = table.values(key)
        if len(values) >= 10 and sum(v == 0 for v in values) >= 0.9 * len(values) and not any(values[-4:]):
            return f"{key} is 0 in {sum(v == 0 for v in values)} of {len(values)} steps"
    return None


def _reward_constant(table: Table) -> str | None:
    rewards, spreads = table.values("reward", "rollout/ep_rew_mean"), table.values("reward_std")
    count = 0
    for reward in reversed(rewards):
        if reward != rewards[-1]:
            break
        count += 1
    if count < 10 or (spreads and any(spreads[-10:])):
        return None
    return f"the reward is {rewards[-1]:g} for the last {count} steps"


def _reward_missing(table: Table) -> str | None:
    if table.kind != "GRPO":
        return None
    asked = [row["reward"] for row in table.train if "reward" in row]  # not in the later passes over one batch
    gone = sum(not _is_number(value) or math.isnan(value) for value in asked)
    return f"{gone} steps without a reward" if gone >= 5 else None


def _zero_signal(table: Table) -> str | None:
    values = table.values("frac_reward_zero_std")
    late = values[-(len(values) // 3) :]
    if len(values) < 12 or fmean(late) < 0.75 or _reward_constant(table):
        return None
    return f"{fmean(late):.2f} of the groups of the last third have no spread"


def _reward_jump(table: Table) -> str | None:
    values = table.values("reward")
    if len(values) < 20:
        return None
    moves = [abs(b - a) for a, b in pairwise(values)]
    for place in range(10, len(values) - 9):
        usual = median([*moves[place - 10 : place - 1], *moves[place : place + 9]])
        size = median(values[place : place + 5]) - median(values[place - 5 : place])
        if min(abs(size), moves[place - 1]) > 8 * usual > 0:
            return f"the reward moves by {size:.3g} at step {table.step(table.series('reward')[place][0])}"
    return None


def _collapse(table: Table) -> str | None:
    if table.kind in ("GRPO", "SB3"):
        values = table.values("reward", "rollout/ep_rew_mean")
        means = rolling(values, 8) if len(values) >= 16 else []
        low, tail = (min(0.0, *values), ends(values)[1]) if means else (0.0, 0.0)
        if means and max(means) - low > 0 and (tail - low) < 0.5 * (max(means) - low):
            return f"the reward ends at {tail:.3g}, its best mean of 8 was {max(means):.3g}"
        return None
    losses = table.values("loss")
    best, tail = min(rolling(losses, 4), default=math.nan), ends(losses)[1]
    if tail > 1.5 * best > 0 and tail > losses[0]:
        return f"the loss ends at {tail:.3g}, it began at {losses[0]:.3g} and had been {best:.3g}"
    for name, key in (("preferences", "rewards/accuracies"), ("tokens", "mean_token_accuracy")):
        right = table.values(key)
        means = rolling(right, 8) if len(right) >= 16 else []
        if means and ends(right)[1] < 0.5 * max(*means, right[0]):
            return f"the share of right {name} ends at {ends(right)[1]:.3g}, it had been {max(*means, right[0]):.3g}"
    return None


def _kl_blowup(table: Table) -> str | None:
    values = table.series("kl")
    for place in range(len(values) - 4):
        if all(value > 2 for _, value in values[place : place + 5]):
            return f"kl exceeds 2 from step {table.step(values[place][0])} on"
    return None


def _step_too_large(table: Table) -> str | None:
    large = [value for value in table.values("train/approx_kl") if value > 0.1]
    return f"approx_kl of {len(large)} updates exceeds 0.1, up to {max(large):.3g}" if len(large) >= 4 else None


def _entropy(table: Table) -> tuple[float, float]:
    if table.kind == "SB3":  # entropy_loss is minus the entropy
        head, tail = ends(table.values("train/entropy_loss"))
        return -head, -tail
    return ends(table.values("entropy"))


def _entropy_collapse(table: Table) -> str | None:
    head, tail = _entropy(table)
    return f"entropy from {head:.3g} to {tail:.3g}" if tail < 0.1 * head else None


def _entropy_explosion(table: Table) -> str | None:
    head, tail = _entropy(table)
    return f"entropy from {head:.3g} to {tail:.3g}" if tail > 2 * head and table.kind != "SFT" else None


def _length_growth(table: Table) -> str | None:
    head, tail = ends(table.values("completions/mean_length"))
    return f"mean length from {head:.3g} to {tail:.3g}" if tail > 2 * head else None


def _length_collapse(table: Table) -> str | None:
    head, tail = ends(table.values("completions/mean_length"))
    return f"mean length from {head:.3g} to {tail:.3g}" if tail < 0.5 * head else None


def _truncated(table: Table) -> str | None:
    values = table.values("completions/clipped_ratio")
    late = values[-(len(values) // 3) :]
    return f"{fmean(late):.2f} cut off in the last third" if len(values) >= 12 and fmean(late) > 0.3 else None


def _slow_down(table: Table) -> str | None:
    times = table.values("step_time")[2:]  # the first steps warm up
    rates = table.values("time/fps")[2:]
    values = times or [1 / rate for rate in rates if rate > 0]
    if len(values) < 12:
        return None
    early, late = median(values[: len(values) // 3]), median(values[-(len(values) // 5) :])
    head, tail = ends(table.values("completions/mean_length"))
    if late <= 2 * early or tail > 1.3 * head:
        return None
    return f"a step takes {late / early:.1f} times as long as at first"


def _overfit(table: Table) -> str | None:
    held = [row["eval_loss"] for row in table.rows if _is_number(row.get("eval_loss"))]
    head, tail = ends(table.values("loss"))
    if table.kind != "SFT" or len(held) < 4 or held[-1] < 1.2 * min(held) or not tail < head:
        return None
    return f"held-out loss ends at {held[-1]:.3g}, its lowest was {min(held):.3g}"


def _no_progress(table: Table) -> str | None:
    values = table.values("rewards/accuracies")
    late = values[len(values) // 3 :]
    if len(values) < 12 or not 0.4 < fmean(late) < 0.65 or _no_update(table):
        return None
    return f"{fmean(late):.2f} right preferences after the first third"


def _resumed(table: Table) -> str | None:
    return "a step is logged twice" if table.repeats else None


def _interrupted(table: Table) -> str | None:
    return None if table.closed else f"ends at step {table.step(len(table.train) - 1)} without a closing record"


def _solved(table: Table) -> str | None:
    rewards = table.values("reward")
    tail = ends(rewards)[1]
    return f"the reward ends at {tail:.3g}" if table.kind == "GRPO" and 0.95 < tail <= 1 else None


CHECKS: Final[dict[str, Check]] = {
    "not_finite": _not_finite,
    "no_update": _no_update,
    "reward_constant": _reward_constant,
    "reward_missing": _reward_missing,
    "zero_signal": _zero_signal,
    "reward_jump": _reward_jump,
    "collapse": _collapse,
    "kl_blowup": _kl_blowup,
    "step_too_large": _step_too_large,
    "entropy_collapse": _entropy_collapse,
    "entropy_explosion": _entropy_explosion,
    "length_growth": _length_growth,
    "length_collapse": _length_collapse,
    "truncated": _truncated,
    "slow_down": _slow_down,
    "overfit": _overfit,
    "no_progress": _no_progress,
    "resumed": _resumed,
    "interrupted": _interrupted,
    "solved": _solved,
}


def label(rows: Iterable[Row]) -> dict[str, str]:
    """Labels of a run, each with what shows it; none for a run that shows nothing."""
    table = Table(rows)
    found = {name: check(table) for name, check in CHECKS.items()}
    if any(found[name] for name in _NOT_SOLVED):
        found["solved"] = None
    explained = _SOLVED if found["solved"] else ()
    return {name: text for name, text in found.items() if text is not None and name not in explained}


def read_records(data: bytes) -> list[Row]:
    """The records of a ``.history.jsonl``."""
    return [json.loads(line) for line in data.decode("utf-8").splitlines()]
