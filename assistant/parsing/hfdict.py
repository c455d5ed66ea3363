"""Dictionaries that the Hugging Face Trainer and TRL print: ``{'loss': 0.5, 'grad_norm': 7.1, 'epoch': 0.01}``.

One dictionary is one log event (huggingface/transformers, ``trainer_callback.py``: ``ProgressCallback.on_log``,
``PrinterCallback.on_log``); since transformers 5 every float comes as a quoted text. A dictionary counts only where a
program prints one: at the start of a line, behind a progress bar or a launcher's prefix. One that is quoted in a
sentence or in a sampled text does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from assistant.parsing.progress import find_bars
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading
from assistant.parsing.trainerevents import STEP_OF_MAX, Event, flavour, name_steps
from assistant.parsing.trainerfinds import Finds
from assistant.parsing.trainerruns import build_runs
from assistant.parsing.uncollected import uncollected


class HFDict:
    """Reads the dictionaries of the Hugging Face Trainer, TRL and ms-swift on a console."""

    name: Final = "hf-dict"
    strength: Final = 60

    def read(self, document: Document) -> Reading:
        """The runs of a document; no runs if no such dictionary is there."""
        with uncollected():
            return _read(document)


def _read(document: Document) -> Reading:
    finds = Finds(document)
    finds.search()
    events, bad = finds.settle()
    if not events:
        return Reading(not_understood=tuple(bad))
    axis = _axis(events)
    style = None
    if axis == "episode":
        style = ("trl-ppo", "TRL")
    elif axis == STEP_OF_MAX:
        style = (flavour({key for event in events for key in event.keys})[0], "ms-swift")
    weak = {id(event) for event in finds.weak}
    name_steps(events, axis)
    for event in events if weak else ():
        if id(event) in weak:
            event.kind = "eval"
    events, odd = _drop_odd(events)
    bars = find_bars(document) if axis is None else ()
    built = build_runs(events, name=document.name, axis=axis, bars=bars, style=style)
    bad.extend([*odd, *built.undated])
    return Reading(
        tuple(built.runs),
        frozenset(built.taken),
        tuple(sorted(set(bad) - built.taken)),
        tuple(line for line in finds.asking if line in built.taken),
    )


def _axis(events: Sequence[Event]) -> str | None:
    """The key that counts the events, if at least half of them hold it."""
    held: Counter[str] = Counter()
    for keys, times in Counter(event.keys for event in events).items():
        for key in keys:
            held[key] += times
    for key in (STEP_OF_MAX, "episode", "global_step", "step"):
        if 2 * held[key] >= len(events):
            return key
    return None


def _drop_odd(events: list[Event]) -> tuple[list[Event], list[int]]:
    """Leaves out a training event that lacks much of what all others hold: a sampled text imitating a log."""
    train = [event for event in events if event.kind == "train" and not event.cut]
    if len(train) < 3:
        return events, []
    shapes = Counter(map(tuple, (event.values for event in train)))
    held: Counter[str] = Counter()
    for keys, times in shapes.items():
        for key in keys:
            held[key] += times
    core = {key for key, times in held.items() if 2 * times > len(train)}
    rare = {keys for keys, times in shapes.items() if times <= 2 and 3 * len(core.difference(keys)) > len(core)}
    odd = {id(event) for event in train if tuple(event.values) in rare} if rare else set()
    if not odd:
        return events, []
    return [event for event in events if id(event) not in odd], [event.line for event in events if id(event) in odd]
