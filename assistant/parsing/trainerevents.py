"""What Trainer-like programs log, event by event, on its way to runs: the part that all their formats share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from assistant.model.run import Missing, Number
from assistant.parsing.eventdict import Item, Placed
from assistant.parsing.numbers import read_number

STEP_OF_MAX: Final = "global_step/max_steps"
"""ms-swift's step: the text ``9/547``."""

_TIMES: Final = frozenset({"elapsed_time", "remaining_time", "eta", "time_elapsed", "time_remaining"})
PROGRESS: Final = frozenset({"epoch", "total_steps", "percentage", "num_input_tokens_seen", "num_tokens"})
"""Keys that training and evaluation print alike."""
_TRL: Final = re.compile(
    r"reward$|reward_std$|frac_reward_zero_std$|mean_token_accuracy$|num_tokens$|"
    r"(?:eval_)?(?:rewards|completions|objective|logps|logits|clip_ratio|sampling)[/ ]|"
    r"completion_length$|(?:policy|val)/\w+_avg$"
)
_STEP_TEXT: Final = re.compile(r"\s*([0-9]{1,12})\s*/\s*([0-9]{1,12})\s*")
_PERCENT: Final = re.compile(r"([-+]?[0-9]{1,9}(?:\.[0-9]{1,12})?)\s?%")


@dataclass(slots=True)
class Event:
    """One printed dictionary.

    Attributes:
        kind: ``train``, ``eval`` (every metric is of the evaluation, or was logged beside training) or ``final``
            (averages over the run).
        line: 1-based line on which it begins.
        last_line: line on which it ends.
        values: its numbers, in order.
        lines: line of each number that does not stand on ``line``.
        step: the step it names, if it names one.
        bad: ``(key, text, line)`` of values that are no number.
        texts: keys and values as printed.
        cut: whether it stops before its end.
        half: the item in which it stops: key, reason and text.
        span: where it begins and ends in the document.
        tag: process that printed it, if the log tells.
    """

    kind: Literal["train", "eval", "final"]
    line: int
    last_line: int
    values: dict[str, Number]
    lines: dict[str, int]
    step: int | None
    bad: list[tuple[str, str, int]]
    texts: tuple[tuple[str, str], ...]
    cut: bool = False
    half: Missing | None = None
    span: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0))
    tag: str | None = None

    @property
    def epoch(self) -> Number | None:
        """The epoch it prints."""
        return self.values.get("epoch")


def item_number(item: Item) -> Number | None:
    """The value of an item: a number, a quoted number, or the number of a percentage (``"1.65%"`` is 1.65)."""
    if item.kind == "number":
        return read_number(item.text)
    if item.kind != "text":
        return None
    text = item.text.strip()
    value = read_number(text) if text and text[-1] != "%" else None
    if value is None:
        percent = _PERCENT.fullmatch(text)
        return read_number(percent[1]) if percent is not None else None
    return value


def make_event(placed: Placed, *, axis: str | None = None, tag: str | None = None) -> Event:
    """The event of a dictionary.

    Args:
        placed: a flat dictionary.
        axis: the key that holds the step; that item becomes the step and is no cell.
        tag: process that printed it.
    """
    flat = placed.flat
    line = placed.line(flat.start)
    values: dict[str, Number] = {}
    lines: dict[str, int] = {}
    bad: list[tuple[str, str, int]] = []
    step: int | None = None
    for item in flat.items:
        if item.key == axis:
            named = _STEP_TEXT.fullmatch(item.text)
            value = item_number(item)
            if named is not None:
                step = int(named[1])
            elif value is not None and abs(value) < 1e15 and value == int(value):
                step = int(value)
            continue
        if item.key in _TIMES:
            continue
        value = item_number(item)
        at = placed.line(item.at)
        if value is None:
            bad.append((item.key, item.text, at))
        elif item.key not in values:
            values[item.key] = value
            if at != line:
                lines[item.key] = at
    last_line = placed.numbers[len(placed.numbers) - 1] if flat.state == "open" else placed.line(max(0, flat.end - 1))
    half = None
    if flat.reason is not None and (flat.key is None or (flat.key not in _TIMES and flat.key != axis)):
        half = Missing(flat.key, 0, last_line, flat.reason, flat.rest)
    return Event(
        _kind(values),
        line,
        last_line,
        values,
        lines,
        step,
        bad,
        tuple((item.key, item.text) for item in flat.items),
        flat.state != "closed",
        half,
        ((placed.entry, placed.offset), (placed.last, placed.stop)),
        tag,
    )


def _kind(keys: Iterable[str]) -> Literal["train", "eval", "final"]:
    metrics = [key for key in keys if key not in PROGRESS and not key.startswith(("memory", "train_speed"))]
    if "train_runtime" in metrics or "total_flos" in metrics:
        return "final"
    if metrics and all(key.startswith(("eval_", "eval/", "test_")) for key in metrics):
        return "eval"
    return "train"


def flavour(keys: Iterable[str]) -> tuple[str, str]:
    """The format's name (``hf-dict``, ``trl-dict``) and the framework that the keys belong to."""
    names = list(keys)
    if any(_TRL.match(key) for key in names):
        return "trl-dict", "TRL"
    return "hf-dict", "HF Trainer"
