"""What Trainer-like programs log, event by event, on its way to runs: the part that all their formats share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from assistant.model.run import Missing, Number
from assistant.parsing.dictscan import Item, text_number
from assistant.parsing.eventdict import Placed
from assistant.parsing.numbers import read_number
from assistant.parsing.quickdict import QuickDict

STEP_OF_MAX: Final = "global_step/max_steps"
"""ms-swift's step: the text ``9/547``."""

TIMES: Final = frozenset({"elapsed_time", "remaining_time", "eta", "time_elapsed", "time_remaining"})
"""Keys whose values are times in words, which are no metrics."""
PROGRESS: Final = frozenset({"epoch", "total_steps", "percentage", "num_input_tokens_seen", "num_tokens"})
"""Keys that training and evaluation print alike."""
_TRL: Final = re.compile(
    r"reward$|reward_std$|frac_reward_zero_std$|mean_token_accuracy$|num_tokens$|"
    r"(?:eval_)?(?:rewards|completions|objective|logps|logits|clip_ratio|sampling)[/ ]|"
    r"completion_length$|(?:policy|val)/\w+_avg$"
)
_ON_THAT_LINE: Final[dict[str, int]] = {}
_STEP_TEXT: Final = re.compile(r"\s*([0-9]{1,12})\s*/\s*([0-9]{1,12})\s*")


def item_number(item: Item) -> Number | None:
    """The value of an item: a number, a quoted number, or the number of a percentage (``"1.65%"`` is 1.65)."""
    if item.kind == "number":
        return read_number(item.text)
    return text_number(item.text) if item.kind == "text" else None


@dataclass(slots=True)
class Event:
    """One printed dictionary.

    Attributes:
        line: 1-based line on which it begins.
        last_line: line on which it ends.
        keys: all its keys, in order.
        values: its numbers, in order.
        lines: line of each number that does not stand on ``line``.
        bad: ``(key, text, line)`` of values that are no number.
        raw: its text.
        span: where it begins and ends in the document.
        cut: whether it stops before its end.
        half: the item in which it stops: key, reason and text.
        tag: process that printed it, if the log tells.
        step: the step it names, if it names one.
        kind: ``train``, ``eval`` (every metric is of the evaluation, or was logged beside training) or ``final``
            (averages over the run).
    """

    line: int
    last_line: int
    keys: tuple[str, ...]
    values: dict[str, Number]
    lines: dict[str, int]
    bad: Sequence[tuple[str, str, int]]
    raw: str
    span: tuple[tuple[int, int], tuple[int, int]]
    cut: bool = False
    half: Missing | None = None
    tag: str | None = None
    step: int | None = None
    kind: Literal["train", "eval", "final"] = "train"

    @property
    def epoch(self) -> Number | None:
        """The epoch it prints."""
        return self.values.get("epoch")


def make_event(placed: Placed) -> Event:
    """The event of a flat dictionary."""
    flat = placed.flat
    line = placed.line(flat.start)
    values: dict[str, Number] = {}
    lines: dict[str, int] = {}
    bad: list[tuple[str, str, int]] = []
    for item in flat.items:
        value = item_number(item)
        at = placed.line(item.at)
        if value is None:
            bad.append((item.key, item.text, at))
        elif item.key not in values:
            values[item.key] = value
            if at != line:
                lines[item.key] = at
    last_line = placed.numbers[len(placed.numbers) - 1] if flat.state == "open" else placed.line(max(0, flat.end - 1))
    half = Missing(flat.key, 0, last_line, flat.reason, flat.rest) if flat.reason is not None else None
    return Event(
        line,
        last_line,
        tuple(item.key for item in flat.items),
        values,
        lines,
        bad,
        placed.raw,
        ((placed.entry, placed.offset), (placed.last, placed.stop)),
        flat.state != "closed",
        half,
    )


def quick_event(quick: QuickDict, number: int, entry: int, offset: int) -> Event:
    """The event of a plain dictionary on one line.

    Args:
        quick: what it holds.
        number: 1-based line number.
        entry: index of the line in the document.
        offset: where it begins on the line.
    """
    bad = [(key, text, number) for key, text in quick.rest] if quick.rest else ()
    span = ((entry, offset), (entry, quick.end))
    return Event(number, number, quick.keys, quick.cells, _ON_THAT_LINE, bad, quick.raw, span)


def name_steps(events: Iterable[Event], axis: str | None) -> None:
    """Takes the step out of each event's values, and times in words; tells what kind of event it is.

    Args:
        events: as read.
        axis: the key that holds the step, if one does.
    """
    kinds: dict[tuple[str, ...], Literal["train", "eval", "final"]] = {}
    for event in events:
        values = event.values
        if axis is not None:
            value = values.pop(axis, None)
            if value is not None and abs(value) < 1e15 and value == int(value):
                event.step = int(value)
        if event.bad:
            named = next((_STEP_TEXT.fullmatch(text) for key, text, _ in event.bad if key == axis), None)
            if named is not None:
                event.step = int(named[1])
            event.bad = [gap for gap in event.bad if gap[0] not in TIMES and gap[0] != axis]
        if not TIMES.isdisjoint(values):
            for key in TIMES & values.keys():
                del values[key]
        if event.half is not None and event.half.metric is not None:
            event.half = event.half if event.half.metric not in TIMES and event.half.metric != axis else None
        kind = kinds.get(event.keys)
        if kind is None or event.bad:
            kind = _kind(values)
            if not event.bad:
                kinds[event.keys] = kind
        event.kind = kind


def _kind(keys: Iterable[str]) -> Literal["train", "eval", "final"]:
    metrics = [key for key in keys if key not in PROGRESS and not key.startswith(("memory", "train_speed"))]
    if "train_runtime" in metrics or "total_flos" in metrics:
        return "final"
    if metrics and all(key.startswith(("eval_", "eval/", "test_")) for key in metrics):
        return "eval"
    return "eval" if "eval_loss" in metrics and "loss" not in metrics else "train"


def flavour(keys: Iterable[str]) -> tuple[str, str]:
    """The format's name (``hf-dict``, ``trl-dict``) and the framework that the keys belong to."""
    names = list(keys)
    if any(_TRL.match(key) for key in names):
        return "trl-dict", "TRL"
    return "hf-dict", "HF Trainer"
