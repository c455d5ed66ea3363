"""JSON lines that trainers write beside their console: LLaMA-Factory's and ms-swift's.

LLaMA-Factory's ``trainer_log.jsonl`` counts in ``current_steps`` (hiyouga/LLaMA-Factory, ``train/callbacks.py``,
``LogCallback``), ms-swift's ``logging.jsonl`` in ``global_step/max_steps``, a text such as ``9/547``
(modelscope/ms-swift, ``trainers/callback.py``). Times in words (``elapsed_time``, ``remaining_time``) are no metrics;
a percentage is read as the number before its sign (``"1.65%"`` is 1.65, as LLaMA-Factory prints it).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.model.run import Note
from assistant.parsing.eventdict import Placed, place_dict
from assistant.parsing.quickdict import quick_dict
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading
from assistant.parsing.trainerevents import STEP_OF_MAX, TIMES, Event, make_event, name_steps, quick_event
from assistant.parsing.trainerruns import build_runs
from assistant.parsing.uncollected import uncollected

_CURRENT: Final = "current_steps"
_LONGEST: Final = 200_000
_MOST_TRIES: Final = 100


class TrainerJsonLines:
    """Reads ``{"current_steps": 1, …}`` and ``{…, "global_step/max_steps": "9/547", …}``, one object a line."""

    name: Final = "trainer-jsonl"
    strength: Final = 66

    def read(self, document: Document) -> Reading:
        """The runs of a document; no runs if no such line is there."""
        with uncollected():
            return _read(document)


def _read(document: Document) -> Reading:
    axis = _axis(document)
    if axis is None:
        return Reading()
    events: list[Event] = []
    bad: list[int] = []
    taken_to = -1
    for entry, line in enumerate(document.lines):
        if entry <= taken_to:
            continue
        at = 0 if line[:1] == "{" else len(line) - len(line.lstrip())
        if line[at : at + 2] != '{"' or len(line) > _LONGEST:
            continue
        quick = quick_dict(line, at, TIMES)
        if quick is not None and axis in quick.keys and len(quick.keys) > 1:
            events.append(quick_event(quick, document.numbers[entry], entry, at))
            continue
        placed = place_dict(document, entry, at, line)
        if _is_event(placed, axis):
            events.append(make_event(placed))
            taken_to = placed.last
        elif placed.flat.state != "nested" and f'"{axis}"' in line:
            bad.append(document.numbers[entry])
    name_steps(events, axis)
    _forget_empty(events)
    style = ("llamafactory-jsonl", "LLaMA-Factory") if axis == _CURRENT else ("ms-swift-jsonl", "ms-swift")
    worded = [key for key in sorted(TIMES) if any(key in event.keys for event in events)]
    built = build_runs(events, name=document.name, axis=axis, style=style)
    runs = [replace(run, warnings=(*run.warnings, _times_note(worded))) if worded else run for run in built.runs]
    return Reading(tuple(runs), frozenset(built.taken), tuple(sorted({*bad, *built.undated} - built.taken)))


def _times_note(keys: Sequence[str]) -> Note:
    shown = ", ".join(keys)
    return Note(
        "times_in_words",
        f"{shown} 是文字写的时间（如 0:01:03），不是数值，没有收进表里。",
        f"{shown} are times in words (such as 0:01:03), not numbers, and are not in the table.",
    )


def _axis(document: Document) -> str | None:
    """The key that counts the events; keys that a terminal broke are looked for in the first objects only."""
    tries = 0
    for entry, line in enumerate(document.lines):
        at = len(line) - len(line.lstrip())
        if line[at : at + 2] != '{"' or len(line) > _LONGEST:
            continue
        if '"current_steps"' in line and '"total_steps"' in line:
            return _CURRENT
        if '"global_step/max_steps"' in line:
            return STEP_OF_MAX
        if "}" not in line and tries < _MOST_TRIES:
            tries += 1
            keys = {item.key for item in place_dict(document, entry, at, line).flat.items}
            if _CURRENT in keys or STEP_OF_MAX in keys:
                return _CURRENT if _CURRENT in keys else STEP_OF_MAX
    return None


def _is_event(placed: Placed, axis: str) -> bool:
    flat = placed.flat
    keys = [item.key for item in flat.items]
    if flat.state == "nested" or len(keys) < 2:
        return False
    if axis in keys:
        return True
    return flat.state != "closed" and keys[0] in {"loss", "eval_loss", "train_loss"}


def _forget_empty(events: Sequence[Event]) -> None:
    """A ``null`` counts as missing only where most events hold a number: elsewhere it says "not this time"."""
    held: Counter[str] = Counter()
    for keys, times in Counter(map(tuple, (event.values for event in events))).items():
        for key in keys:
            held[key] += times
    for event in events:
        event.bad = event.bad and [gap for gap in event.bad if gap[1] != "null" or 2 * held[gap[0]] > len(events)]
